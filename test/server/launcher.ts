/**
 * Runs commands as a person or a script would: most in this process, some by starting the launcher.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { runLine } from '../../server/cli/run-line.js'
import { hearErrors, hearStream } from './process-errors.js'

/** The launcher is bundled beside the suites. */
export const LAUNCHER = fileURLToPath(new URL('./quartermaster.mjs', import.meta.url))

export interface Run {
  status: number
  out: string
  err: string
}

/**
 * Runs a command in this process, in a twentieth of the time that starting one takes. What ends a
 * process, serves, or comes from its surroundings is for `runProcess`.
 */
export function run(dir: string, ...args: string[]): Promise<Run> {
  return runWords(...args, '--dir', dir)
}

/** As `run`, with these words and no others. */
export async function runWords(...words: string[]): Promise<Run> {
  let [out, err] = ['', '']
  const status = await runLine(words, {
    stdout: {
      write: (text) => {
        out += text
      },
    },
    stderr: {
      write: (text) => {
        err += text
      },
    },
  })
  return { status, out, err }
}

/** Starts the launcher as a process of its own. */
export function runProcess(dir: string, ...args: string[]): Promise<Run> {
  return startProcess([...args, '--dir', dir])
}

/** As `runProcess`, with these words and no others. */
export function startProcess(
  words: readonly string[],
  { env = {}, input }: { env?: Record<string, string>; input?: string | Buffer } = {},
): Promise<Run> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [LAUNCHER, ...words],
      { env: { ...process.env, ...env } },
      (_error, out, err) => {
        hearErrors(err)
        resolve({ status: child.exitCode ?? -1, out, err })
      },
    )
    child.stdin!.end(input)
  })
}

/** The last line of standard output. */
export function lastLine({ out }: Run) {
  return JSON.parse(out.trim().split('\n').at(-1)!) as Record<string, never>
}

/** The last line of a --json run that is done. */
export async function json(dir: string, ...args: string[]) {
  const done = await run(dir, ...args, '--json')
  assert.equal(done.status, 0, done.err)
  return lastLine(done)
}

/** Starts a serving command and waits for its first line of JSON. */
export async function start(
  dir: string,
  command: string,
  ...args: string[]
): Promise<{
  child: ChildProcess
  first: { url: string; admin: string; key: string; subscriber: string }
}> {
  const child = spawn(
    process.execPath,
    [LAUNCHER, '--dir', dir, command, '--admin', '127.0.0.1:0', ...args, '--port', '0', '--json'],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  hearStream(child.stderr)
  const first = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`ended with ${code}`)))
  })
  return {
    child,
    first: JSON.parse(first) as { url: string; admin: string; key: string; subscriber: string },
  }
}

export async function stop(child: ChildProcess): Promise<number | null> {
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  return ended
}

/**
 * A connection of its own: one that was kept open may end, after a minute of other suites, in the
 * moment in which it is used again.
 */
export const FRESH = { connection: 'close' }

export const get = async (url: string, key: string) => {
  const response = await fetch(url, { headers: { ...FRESH, 'x-api-key': key } })
  return {
    status: response.status,
    body: (await response.json()) as { success: boolean; data: never; error: { code: string } },
  }
}

/**
 * Every file of a folder, the databases as their rows; without locks and the reserve, which a
 * server makes in its own time.
 */
export function contents(dir: string): Record<string, unknown> {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter(
      (file) =>
        !/-(wal|shm)$|\.lock(-journal)?$|^reserve$/.test(file) &&
        statSync(join(dir, file)).isFile(),
    )
    .sort()
  return Object.fromEntries(
    files.map((file) => [
      file,
      file.endsWith('.db') ? rowsOf(join(dir, file)) : readFileSync(join(dir, file), 'utf8'),
    ]),
  )
}

function rowsOf(file: string): Record<string, unknown[]> {
  const raw = openFile(file, { synchronous: 'NORMAL', readonly: true })
  try {
    const tables = raw
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      .pluck()
      .all() as string[]
    return Object.fromEntries(
      tables.map((name) => [name, raw.prepare(`SELECT * FROM "${name}"`).all()]),
    )
  } finally {
    raw.close()
  }
}
