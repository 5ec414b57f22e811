/**
 * Errors in the logs of processes that a suite starts: one that it did not expect fails its file.
 */
import { after } from 'node:test'
import type { Readable } from 'node:stream'
import { createInterface } from 'node:readline'
import { watchErrors } from '../../server/testing/error-watch.js'

const watch = watchErrors()
after(watch.check)

/** Errors that the suite provokes in its processes, by message; each must really come. */
export const expectProcessErrors = watch.expect

/** Reads the log lines among what a process writes to its standard error. */
export function hearErrors(text: string): void {
  for (const line of text.split('\n')) {
    if (!line.startsWith('{"level":')) continue
    const { level, msg, ...fields } = JSON.parse(line) as { level: number; msg: string }
    if (level >= 50) watch.log.error(fields, msg)
  }
}

/** As `hearErrors`, of a stream; what is not a line of a log goes on to ours. */
export function hearStream(stream: Readable): void {
  createInterface({ input: stream }).on('line', (line) => {
    if (line.startsWith('{"level":')) hearErrors(line)
    else process.stderr.write(`${line}\n`)
  })
}
