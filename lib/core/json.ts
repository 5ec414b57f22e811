/** Checks of JSON that no shape makes: depth, and the text rules of every string in it (decisions 2.9). */
import type { Fault } from './errors.js'
import { MAX_FAULTS } from './errors.js'
import { textFault } from './text.js'

/** Deeper JSON than this is refused before it is parsed: parsing, checking and printing it would each recurse. */
export const MAX_DEPTH = 64
/** So is JSON with more members in all: objects of a hundred thousand members cost hundreds of milliseconds at every step. */
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
    else if (char === 0x3a && ++members > MAX_MEMBERS) return `has more than ${MAX_MEMBERS.toLocaleString('en-US')} members`
  }
  return null
}

/** Adds a fault for every text and member name that breaks the text rules. */
export function checkTexts(value: unknown, path: string, faults: Fault[]): void {
  if (faults.length >= MAX_FAULTS) return
  if (typeof value === 'string') {
    const fault = textFault(value)
    if (fault) faults.push({ path: path || 'body', message: fault })
  } else if (Array.isArray(value)) {
    value.forEach((item, i) => checkTexts(item, `${path}[${i}]`, faults))
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      // At the root nobody else would see it: a shape drops it.
      const fault = name === '__proto__' && path === '' ? 'must not be __proto__' : textFault(name)
      if (fault) faults.push({ path: path || 'body', message: `a member name ${fault}` })
      else checkTexts(member, path ? `${path}.${name}` : name, faults)
    }
  }
}
