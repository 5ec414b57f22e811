/** Texts of a query as values of their parameters' types. */
import * as z from 'zod'
import { unwrap } from '../../lib/core/endpoint/endpoint.js'
import type { Fault } from '../../lib/core/errors.js'

export type Kind = 'text' | 'whole' | 'number' | 'boolean'

/** How the text of a parameter is read. */
export function kindOf(shape: z.ZodType): Kind {
  const inner = unwrap(shape)
  if (inner instanceof z.ZodBoolean) return 'boolean'
  if (inner instanceof z.ZodNumber) return inner.isInt ? 'whole' : 'number'
  return 'text'
}

/**
 * Query texts as values of their parameters' types. Unknown parameters are ignored, a repeated one
 * is a fault.
 */
export function decodeQuery(
  search: URLSearchParams,
  kinds: ReadonlyMap<string, Kind>,
  faults: Fault[],
): Record<string, unknown> {
  const query: Record<string, unknown> = {}
  for (const [name, kind] of kinds) {
    const values = search.getAll(name)
    const [text] = values
    if (text === undefined) continue
    if (values.length > 1) {
      faults.push({ path: name, message: 'is given more than once; send it once' })
    } else if (kind === 'boolean') {
      if (!BOOLEANS.has(text)) faults.push({ path: name, message: 'must be true, false, 1 or 0' })
      else query[name] = BOOLEANS.get(text)
    } else if (kind === 'whole') {
      if (!/^\d+$/.test(text))
        faults.push({ path: name, message: 'must be a whole number, digits alone' })
      else query[name] = Number(text)
    } else if (kind === 'number') {
      if (!/^-?(\d+(\.\d+)?|\.\d+)(e[+-]?\d+)?$/i.test(text))
        faults.push({ path: name, message: 'must be a number' })
      else query[name] = Number(text)
    } else {
      query[name] = text
    }
  }
  return query
}

const BOOLEANS = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])
