/**
 * Processes of the crash harness: loaded ahead, begun when they are needed, ended by signals, never
 * left behind.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { Life, Ready } from './life.js'

export interface Ending {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface Process {
  readonly pid: number
  readonly channel: ChildProcess
  readonly ended: Promise<Ending>
  /** Begins its life; null when it ends before it is ready. */
  begin(life: Life): Promise<Ready | null>
  kill(signal: NodeJS.Signals): void
}

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    console.error(`ended by ${signal}`)
    process.exit(130)
  })
}

/**
 * Starts a process that waits for its life. What it writes to standard error is appended to `log`.
 */
export function startProcess(script: string, log: string): Process {
  const errors = openSync(log, 'a')
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'ignore', errors, 'ipc'] })
  closeSync(errors)
  running.add(child)
  const ended = new Promise<Ending>((resolve) => {
    child.once('exit', (code, signal) => {
      running.delete(child)
      resolve({ code, signal })
    })
  })
  // A channel that breaks while something is written to it says nothing that its end does not say.
  child.on('error', () => {})
  return {
    pid: child.pid!,
    channel: child,
    ended,
    begin(life) {
      const ready = new Promise<Ready>((resolve) => {
        const hear = (message: unknown) => {
          if (!(message as Partial<Ready>).ready) return
          child.off('message', hear)
          resolve(message as Ready)
        }
        child.on('message', hear)
      })
      if (child.connected) child.send(life)
      return Promise.race([ready, ended.then(() => null)])
    },
    kill: (signal) => {
      child.kill(signal)
    },
  }
}

export const sleep = (ms: number) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, ms)
  })

/** Waits for work, but no longer than so many milliseconds. */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let clock: NodeJS.Timeout | undefined
  await Promise.race([
    work,
    new Promise((resolve) => {
      clock = setTimeout(resolve, ms)
    }),
  ])
  clearTimeout(clock)
}
