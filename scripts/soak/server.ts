/** The server of a soak run: the command as it is delivered, in a process of its own. */
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** What is asked of a command that answers in JSON. */
export type Answer = Record<string, unknown>

export interface Place {
  launcher: string
  dir: string
}

/** Runs a command beside the server and returns what it printed as JSON. */
export async function command({ launcher, dir }: Place, ...words: string[]): Promise<Answer> {
  const { stdout } = await execute(process.execPath, [launcher, ...words, '--dir', dir, '--json'], {
    maxBuffer: 64 * 1_048_576,
  })
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Answer
}

export class SoakServer {
  readonly #place: Place
  readonly #log: (line: string) => void
  #child: ChildProcess | undefined
  url = ''
  admin = ''
  first: Answer = {}

  constructor(place: Place, log: (line: string) => void) {
    this.#place = place
    this.#log = log
  }

  /** Starts it on the port that it had before; what it logs goes to the run's own file. */
  async start(kind: 'demo' | 'serve'): Promise<void> {
    const { launcher, dir } = this.#place
    const portOf = (url: string) => (url === '' ? '0' : new URL(url).port)
    const child = spawn(
      process.execPath,
      [
        launcher,
        kind,
        '--dir',
        dir,
        '--json',
        '--port',
        portOf(this.url),
        '--admin',
        `127.0.0.1:${portOf(this.admin)}`,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, QUARTERMASTER_LOG: 'info' } },
    )
    this.#child = child
    createInterface({ input: child.stderr }).on('line', this.#log)
    const line = await new Promise<string>((done, fail) => {
      createInterface({ input: child.stdout }).once('line', done)
      child.once('exit', (code) => fail(new Error(`the server ended with ${code}`)))
    })
    this.first = JSON.parse(line) as Answer
    this.url = String(this.first['url'])
    this.admin = String(this.first['admin'])
  }

  /** SIGTERM, and waits for the end; returns the exit code. */
  async stop(): Promise<number | null> {
    const child = this.#child
    if (!child) return null
    const ended = new Promise<number | null>((done) => child.once('exit', done))
    child.kill('SIGTERM')
    return ended
  }

  kill(): void {
    this.#child?.kill('SIGKILL')
  }

  /** Resident memory of the process in bytes; null while there is none. */
  memory(): number | null {
    try {
      const status = readFileSync(`/proc/${this.#child?.pid}/status`, 'utf8')
      const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? []
      return kilobytes === undefined ? null : Number(kilobytes) * 1_024
    } catch {
      return null
    }
  }

  /** p99 of the event loop's delay since the last look, in milliseconds; null where none answers. */
  async loopDelay(): Promise<number | null> {
    try {
      const response = await fetch(`${this.admin}/metrics`, { signal: AbortSignal.timeout(5_000) })
      const [, seconds] =
        /^quartermaster_event_loop_delay_seconds\{percentile="99"\} (\S+)$/m.exec(
          await response.text(),
        ) ?? []
      return seconds === undefined ? null : Number(seconds) * 1_000
    } catch {
      return null
    }
  }
}
