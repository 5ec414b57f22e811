/** One JSON line for each request: who asked for what, and what came of it. */
import { closeSync, openSync } from 'node:fs'
import { pino } from 'pino'
import { inTime } from '../lib/core/async/wait.js'
import type { Log } from '../lib/core/log.js'
import { UsageError } from './cli/command.js'
import type { Observe } from './http/observe.js'

export interface AccessLog {
  observe: Observe
  /** Writes what is left, and ends; a disk that does not take it is not waited for. */
  close(): Promise<void>
}

/** Bytes that wait to be written; beyond it lines are dropped rather than memory filled. */
const MOST_WAITING = 16 * 1_048_576
/** Lines are written together, and after a second at the latest. */
const TOGETHER = 4_096
const FLUSH_EVERY = 1_000
/** Milliseconds for the last of them when the server ends. */
const LAST = 2_000

/**
 * Opens it: a file, appended to, or `-` for standard output. Throws a UsageError for one that
 * cannot be written. After SIGHUP the file is opened anew, so that a program that rotates logs may
 * have renamed it; one that copies and truncates needs no signal. An answer never waits for it.
 */
export function openAccessLog(
  path: string,
  { now, log }: { now: () => number; log: Log },
): AccessLog {
  const isFile = path !== '-'
  if (isFile) check(path)
  const destination = pino.destination({
    dest: isFile ? path : 1,
    append: true,
    sync: false,
    minLength: TOGETHER,
    maxLength: MOST_WAITING,
    periodicFlush: FLUSH_EVERY,
  })
  let isTold = false
  destination.on('error', (error: unknown) => {
    if (!isTold) log.warn({ err: error }, 'the access log cannot be written; lines may be lost')
    isTold = true
  })
  const reopen = () => destination.reopen()
  if (isFile) process.on('SIGHUP', reopen)
  let closing: Promise<void> | undefined
  const ended = () =>
    new Promise<void>((resolve) => {
      process.off('SIGHUP', reopen)
      destination.once('close', resolve)
      destination.end()
    })
  return {
    observe(served) {
      if (!closing) destination.write(lineOf(served, now()))
    },
    close: () =>
      (closing ??= inTime(() => ended(), {
        ms: LAST,
        late: () => log.warn({}, 'the end of the access log cannot be written'),
      })),
  }
}

/** Never a key, a body or a query: the route stands for the address. */
function lineOf(
  { requestId, keyId, method, route, status, code, milliseconds, bytes }: Parameters<Observe>[0],
  now: number,
): string {
  return `${JSON.stringify({
    time: new Date(now).toISOString(),
    request_id: requestId,
    key_id: keyId,
    method,
    route,
    status,
    ...(code !== null && { code }),
    ms: Math.round(milliseconds * 1_000) / 1_000,
    bytes,
  })}\n`
}

function check(path: string): void {
  try {
    closeSync(openSync(path, 'a'))
  } catch (error) {
    throw new UsageError(`--access-log: ${path} cannot be written: ${(error as Error).message}`)
  }
}
