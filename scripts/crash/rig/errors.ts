/**
 * What processes of the crash harness wrote to standard error, held against what the planned faults
 * bring about.
 */
import { existsSync, readFileSync } from 'node:fs'
import { errorText } from '../../../server/testing/error-watch.js'
import type { Fault } from './check.js'

/**
 * Lines of level error that killed processes and playing distributors are meant to bring about. Any
 * other is a fault.
 */
const EXPECTED: readonly RegExp[] = [
  // Distributors that tell too little of what they have.
  /^an order needs a person's decision: /,
  // The harness's bundle has no part for exports and analytics.
  /: duckdb\.mjs, which writes exports and analytics, is not beside this module$/,
]

/** Warnings stand in the log for whoever looks into a fault. */
const ERROR = 50

interface Line {
  level?: number
  msg?: string
  err?: { message?: string }
}

/** Each kind of line once, with how often it came. */
export function strayErrors(file: string): Fault[] {
  const strays = new Map<string, number>()
  for (const line of existsSync(file)
    ? readFileSync(file, 'utf8').split(/\n|(?=\{"level":)/)
    : []) {
    const text = textOf(line)
    if (text === null || EXPECTED.some((pattern) => pattern.test(text))) continue
    strays.set(text, (strays.get(text) ?? 0) + 1)
  }
  return [...strays].map(([text, times]) => ({
    kind: 'error',
    text: `in the log ${times} times: ${text}`,
  }))
}

/**
 * What is no line of our log, like the last words of a process that could not start, counts as
 * well.
 */
function textOf(line: string): string | null {
  if (line.trim() === '') return null
  if (!line.startsWith('{"level":')) return line
  try {
    const { msg = '', ...fields } = JSON.parse(line) as Line
    return (fields.level ?? ERROR) < ERROR ? null : errorText(fields, msg)
  } catch {
    // Its process was killed while it wrote.
    return null
  }
}
