/** The doctor for a page: the command itself, so that what it reads for long keeps no caller waiting. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { MINUTE } from '../../lib/core/clock.js'
import type { ExamineOptions } from '../../lib/core/endpoint/operation.js'
import type { Examined } from '../../lib/core/finding.js'

/** The longest that it may take, and the most that it says, in bytes. */
const LIMIT = 10 * MINUTE
const MOST = 16 << 20

/**
 * Runs `doctor` on a state folder, with the environment of this process and more. Rejects where it
 * says nothing that could be read.
 */
export function examineBeside(
  dir: string,
  {
    offline,
    hasJournalCopy,
    signal,
    environment,
  }: ExamineOptions & { environment: Readonly<Record<string, string>> },
): Promise<Examined> {
  const { file, execArgv } = program()
  const line = [
    'doctor',
    '--dir',
    dir,
    '--json',
    ...(offline ? ['--offline'] : []),
    ...(hasJournalCopy ? ['--journal-copy'] : []),
  ]
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [...execArgv, file, ...line],
      {
        timeout: LIMIT,
        maxBuffer: MOST,
        signal,
        env: { ...process.env, ...environment },
      },
      (error, stdout, stderr) => {
        try {
          // It ends with 1 or 3 where something is not well.
          resolve(JSON.parse(stdout) as Examined)
        } catch {
          const why = stderr.trim() || error?.message || 'it said nothing'
          reject(new Error(`the doctor did not come to an end: ${why}`))
        }
      },
    )
  })
}

/** The program beside this module, or the source itself where that is run. */
function program(): { file: string; execArgv: readonly string[] } {
  const bundled = fileURLToPath(new URL('./quartermaster.mjs', import.meta.url))
  if (existsSync(bundled)) return { file: bundled, execArgv: [] }
  return {
    file: fileURLToPath(new URL('../cli/main.ts', import.meta.url)),
    execArgv: process.execArgv,
  }
}
