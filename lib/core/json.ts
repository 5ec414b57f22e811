/**
 * Checks of JSON that no shape makes: depth, and the text rules of every string in it.
 */
import { figure } from './figures.js'
import type { Fault } from './errors.js'
import { MAX_FAULTS } from './errors.js'
import { shortName } from './pointer.js'
import { textFault } from './text.js'

/**
 * Deeper JSON than this is refused before it is parsed: parsing, checking and printing it would
 * each recurse.
 */
export const MAX_DEPTH = 64
/**
 * So is JSON with more members in all: objects of a hundred thousand members cost hundreds of
 * milliseconds at every step.
 */
export const MAX_MEMBERS = 25_000

/** Why a JSON text is not worth parsing, or null; read without parsing it. */
export function jsonExcess(json: string): string | null {
  let depth = 0
  let members = 0
  let inText = false
  for (let i = 0; i < json.length; i++) {
    const char = json.charCodeAt(i)
    if (inText) {
      if (char === 0x5c) i++
      else if (char === 0x22) inText = false
    } else if (char === 0x22) inText = true
    else if (char === 0x7b || char === 0x5b) {
      if (++depth > MAX_DEPTH) return `nests deeper than ${MAX_DEPTH} levels`
    } else if (char === 0x7d || char === 0x5d) depth--
    else if (char === 0x3a && ++members > MAX_MEMBERS)
      return `has more than ${figure(MAX_MEMBERS)} members`
  }
  return null
}

/**
 * The value with each CRLF in a text of it as a newline; itself where it has none.
 */
export function withNewlines<T>(value: T): T
export function withNewlines(value: unknown): unknown {
  if (typeof value === 'string')
    return value.includes('\r\n') ? value.replaceAll('\r\n', '\n') : value
  if (typeof value !== 'object' || value === null) return value
  let isSame = true
  const made = Object.entries(value).map(([name, member]: [string, unknown]): [string, unknown] => {
    const own = withNewlines(member)
    if (own !== member) isSame = false
    return [name, own]
  })
  if (isSame) return value
  return Array.isArray(value) ? made.map(([, member]) => member) : Object.fromEntries(made)
}

/** Whether a JSON text may write a CRLF. */
export function mayHoldCrLf(json: string): boolean {
  return /\\(?:r|u000d)/i.test(json)
}

/** Where a text has its character `at`, as a person counts: `line 2, column 5`. */
export function lineAndColumn(text: string, at: number): string {
  const before = text.slice(0, at)
  return `line ${before.split('\n').length}, column ${before.length - before.lastIndexOf('\n')}`
}

/** Adds a fault for every text and member name that breaks the text rules. */
export function checkTexts(value: unknown, faults: Fault[]): void {
  // The way to what is looked at; it becomes text only for a fault.
  const way: (string | number)[] = []
  const add = (message: string) => faults.push({ path: pathText(way), message })
  const walk = (at: unknown): void => {
    if (faults.length >= MAX_FAULTS) return
    if (typeof at === 'string') {
      const fault = textFault(at)
      if (fault) add(fault)
    } else if (Array.isArray(at)) {
      for (let i = 0; i < at.length; i++) {
        way.push(i)
        walk(at[i])
        way.pop()
      }
    } else if (typeof at === 'object' && at !== null) {
      for (const [name, member] of Object.entries(at)) {
        // At the root nobody else would see it: a shape drops it.
        const fault =
          name === '__proto__' && way.length === 0 ? 'must not be __proto__' : textFault(name)
        if (fault) add(`a member name ${fault}`)
        else {
          way.push(name)
          walk(member)
          way.pop()
        }
      }
    }
  }
  walk(value)
}

/** `['items', 0, 'qty']` -> `items[0].qty`; long names are cut. */
export function pathText(path: readonly PropertyKey[]): string {
  return (
    path
      .map((part, i) =>
        typeof part === 'number'
          ? `[${part}]`
          : i === 0
            ? shortName(String(part))
            : `.${shortName(String(part))}`,
      )
      .join('') || 'body'
  )
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
