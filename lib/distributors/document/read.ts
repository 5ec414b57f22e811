/** Reads a document, and tells every fault of it at once, in words. */
import type { z } from 'zod'
import type { Distributor } from '../distributor.js'
import { faultsBetween } from './faults.js'
import { Document } from './schema.js'
import type { DistributorDocument } from './schema.js'

/** What is wrong with a document; each with where. */
export interface DocumentFault {
  /** Such as `feeds.0.map.price`. */
  readonly at: string
  readonly message: string
}

export type DocumentReading =
  | { readonly document: DistributorDocument; readonly faults: readonly [] }
  | { readonly document: null; readonly faults: readonly DocumentFault[] }

/**
 * `presets` are the ids of those that come with the program, `known` its distributors: a document
 * may add to one of them.
 */
export function readDocument(
  text: string,
  presets: ReadonlySet<string>,
  known: readonly Distributor[] = [],
): DocumentReading {
  let value: unknown
  try {
    // Some editors begin a file with a mark.
    value = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { document: null, faults: [{ at: '', message: `this is not JSON: ${message}` }] }
  }
  const parsed = Document.safeParse(value, { reportInput: true })
  if (!parsed.success) return { document: null, faults: parsed.error.issues.flatMap(faultsOf) }
  const own = known.find(({ distid }) => distid === parsed.data.distid)
  const faults = [...faultsBetween(parsed.data, presets, Object.keys(own?.settings ?? {}))]
  return faults.length > 0 ? { document: null, faults } : { document: parsed.data, faults: [] }
}

type Issue = z.core.$ZodIssue

/** Of several forms that a value may have, that which it is nearest to. */
function faultsOf(issue: Issue): DocumentFault[] {
  const at = issue.path.join('.')
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const nearest = issue.errors.toSorted((a, b) => depthOf(b) - depthOf(a) || a.length - b.length)
    return nearest[0]!
      .flatMap((one) => faultsOf(one as Issue))
      .map((fault) => ({ ...fault, at: [at, fault.at].filter((part) => part !== '').join('.') }))
  }
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      at: [at, key].filter((part) => part !== '').join('.'),
      message: 'is not known here',
    }))
  return [{ at, message: wordsOf(issue) }]
}

const depthOf = (issues: readonly { path: readonly PropertyKey[] }[]) =>
  Math.max(0, ...issues.map(({ path }) => path.length))

const TYPES: Readonly<Record<string, string>> = {
  array: 'a list in [ ]',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number, without quotation marks',
  object: 'an object in { }',
  record: 'an object in { }',
  string: 'a text in quotation marks',
}

function wordsOf(issue: Issue): string {
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'is required'
  if (issue.code === 'invalid_type') {
    const isWhole = issue.path.length === 0
    return `must be ${TYPES[issue.expected] ?? issue.expected}${isWhole ? ': that is what a document is' : ''}`
  }
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`
  // Of several kinds, one that is none of them.
  if (issue.code === 'invalid_union' && 'options' in issue)
    return `must be one of ${(issue.options as unknown[]).map(String).join(', ')}`
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message
  const isBare = /^Too (small|big): /.test(issue.message)
  if (isBare && issue.code === 'too_small')
    return issue.origin === 'number' ? `must be ${issue.minimum} or more` : 'must not be empty'
  if (isBare && issue.code === 'too_big') return `must be ${issue.maximum} or less`
  return issue.message[0]!.toLowerCase() + issue.message.slice(1)
}
