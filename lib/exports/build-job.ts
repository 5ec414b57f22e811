/** What a build is told, and what it tells. It runs in a process of its own (child.ts), which is started here. */
import { fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { SECOND } from '../core/clock.js'
import type { Section, Totals } from './numbers.js'

export interface BuildJob {
  /** Path of catalog.db, which has the texts. */
  catalog: string
  /** The columns of numbers.ts, one after the other. */
  numbers: string
  rows: number
  /** With the files of texts that each is joined with; they are made where they are not there. */
  sections: (Section & { texts: string; attributes: string })[]
  /** A folder of this build alone. */
  work: string
  parquet: string
  /** Path of the attributes feed; null where none is asked for. */
  attributes: string | null
  hasRetail: boolean
  /** Megabytes for DuckDB. */
  memory: number
}

/** What was read back from the finished file. */
export interface BuildResult extends Totals {
  /** Offers by distributor. */
  byDistributor: Record<string, number>
  /** Lines of the attributes feed. */
  attributes: number
  /** The most bytes of memory that the process had. */
  peak: number
}

export type FromBuild = { result: BuildResult } | { error: string }

/** Milliseconds after which a build is killed. */
export const BUILD_LIMIT = 120 * SECOND
/** Megabytes of JavaScript that a build may hold. */
const HEAP = 192

/** The bundled file beside this module, or the source itself where that is run. */
function childFile(): string {
  const found = ['./duckdb.mjs', '../duckdb.mjs', './child.ts'].map((name) => fileURLToPath(new URL(name, import.meta.url))).find((path) => existsSync(path))
  if (found === undefined) throw new Error('duckdb.mjs, which writes the exports, is not beside this module')
  return found
}

/** What DuckDB and the loader of native parts may need; never a secret of ours. */
const PASSED_ON = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot', 'TZ', 'NODE_PATH']

/** A build that was stopped from outside: nothing speaks against what it worked on. */
export interface StoppedBuild extends Error {
  isStopped: boolean
}

/** Runs one build. Rejects when it fails, takes longer than `limit` milliseconds, or its process ends without a word. */
export function runBuild(job: BuildJob, { limit = BUILD_LIMIT, file = childFile(), signal }: { limit?: number; file?: string; signal: AbortSignal }): Promise<BuildResult> {
  return new Promise((resolve, reject) => {
    const child = fork(file, [], {
      execArgv: [...file.endsWith('.ts') ? process.execArgv : [], `--max-old-space-size=${HEAP}`], stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: Object.fromEntries(PASSED_ON.flatMap((name) => process.env[name] === undefined ? [] : [[name, process.env[name]!]])),
    })
    let said = ''
    let answer: FromBuild | undefined
    let cause: string | undefined
    const kill = (why: string) => {
      cause ??= why
      child.kill('SIGKILL')
    }
    const timer = setTimeout(() => kill(`it was not done after ${limit / SECOND} s`), limit)
    const close = () => kill('the app closes')
    signal.addEventListener('abort', close, { once: true })
    child.stderr!.on('data', (chunk: Buffer) => { said = (said + String(chunk)).slice(-2_000) })
    child.once('message', (message: FromBuild) => { answer = message })
    child.once('error', (error) => { cause ??= error.message })
    child.once('close', (code, killedBy) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', close)
      if (answer && 'result' in answer) resolve(answer.result)
      else {
        const why = cause ?? (answer && 'error' in answer ? answer.error : `its process ended with ${killedBy ?? code}${said && `: ${said.trim()}`}`)
        reject(Object.assign(new Error(`the export was not built: ${why}`), { isStopped: cause !== undefined }) satisfies StoppedBuild)
      }
    })
    child.send(job)
    if (signal.aborted) close()
  })
}
