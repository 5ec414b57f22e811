/** What values of PostgreSQL are in JavaScript: the same as SQLite's. */
import type { ClientOptions } from './driver.js'

const [BOOL, INT8, NUMERIC] = [16, 20, 1700]

/**
 * A whole number that JavaScript has as it is. The driver would hand 64 bits over as text; a number
 * that would come rounded throws.
 */
export function safeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value))
    throw new RangeError(`${text} does not fit into a number: it would be rounded`)
  return value
}

/** Sums of 64 bits come as decimals, of which ours are whole. */
const decimal = (text: string) => (/^-?\d+$/.test(text) ? safeInteger(text) : Number(text))

/** As SQLite says true and false. */
const bit = (text: string) => (text === 't' ? 1 : 0)

/** Parsers for our own types, and the driver's for the rest. */
export function typesOver(known: ClientOptions['types']): ClientOptions['types'] {
  const own = new Map<number, (text: never) => unknown>([
    [BOOL, bit],
    [INT8, safeInteger],
    [NUMERIC, decimal],
  ])
  return { getTypeParser: (oid, format) => own.get(oid) ?? known.getTypeParser(oid, format) }
}
