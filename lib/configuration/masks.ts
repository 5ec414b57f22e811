/** Masks that come back: a value of asterisks alone keeps the stored secret (contract "Authentication" 9, decisions 3.5). */
import type { Fault } from '../core/errors.js'
import type { Registry } from '../distributors/registry.js'
import type { ConfigurationDocument } from './document.js'
import { MASK, isObject, mapSecrets } from './secrets.js'

const isMask = (value: unknown): boolean => typeof value === 'string' && /^\*+$/.test(value)

/**
 * A candidate with the stored secrets in the place of its masks, and a fault for each mask that stands where nothing is
 * stored. A mask inside a list belongs to the entry that it was read from, wherever that entry stands now.
 */
export function keepSecrets<T>(candidate: T, stored: ConfigurationDocument, registry: Registry): { document: T; faults: Fault[] } {
  const faults: Fault[] = []
  const secrets = new Map<string, unknown>()
  mapSecrets(stored, registry, (value, pointer) => {
    secrets.set(pointer, value)
    return value
  })
  const places = originalPlaces(mapSecrets(candidate, registry, () => MASK), mapSecrets(stored, registry, () => MASK))
  const document = mapSecrets(candidate, registry, (value, pointer) => {
    if (!isMask(value)) return value
    const place = places(pointer)
    if (place !== null && secrets.has(place)) return secrets.get(place)
    const message = place === null
      ? 'stands for a stored secret, but it cannot be told which entry of the list it belongs to: send the secret itself'
      : 'stands for a stored secret, but none is stored here: send the secret itself'
    faults.push({ path: pointer, message })
    return value
  })
  return { document, faults }
}

/** No secret stands at the root. */
const NOWHERE = ''

/** Where a place of the candidate was in the stored document; null when an entry of a list on the way cannot be told. */
function originalPlaces(candidate: unknown, stored: unknown): (pointer: string) => string | null {
  const aligned = new Map<unknown[], (number | null)[]>()
  return (pointer) => {
    let [from, to] = [candidate, stored]
    let place = ''
    for (const step of pointer.split('/').slice(1)) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
      // What became a list, or was one, is another thing now.
      if (Array.isArray(from) !== Array.isArray(to)) return NOWHERE
      if (Array.isArray(from) && Array.isArray(to)) {
        let entries = aligned.get(from)
        if (!entries) aligned.set(from, entries = align(from, to))
        const index = entries[Number(name)]
        if (index === null || index === undefined) return null
        ;[from, to] = [from[Number(name)], to[index]]
        place += `/${index}`
      } else {
        ;[from, to] = [memberOf(from, name), memberOf(to, name)]
        place += `/${step}`
      }
    }
    return place
  }
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/**
 * The stored entry that each of a candidate's entries was read from, both masked: the one that is equal, else the one of
 * the same name, else, when one nameless entry of either is left over, that one. Null where that is not certain: entries
 * may have been moved, removed, added and edited at once.
 */
function align(candidate: unknown[], stored: unknown[]): (number | null)[] {
  const texts = indexesBy(stored, (entry) => JSON.stringify(entry))
  const wanted = indexesBy(candidate, (entry) => JSON.stringify(entry))
  // Of several equal ones each is at its own place, as long as none was moved, removed or added.
  const unmoved = new Set([...texts].filter(([text, places]) => String(places) === String(wanted.get(text))).map(([text]) => text))
  const names = indexesBy(stored, nameOf)
  const found = candidate.map((entry, at) => {
    const text = JSON.stringify(entry)
    const equal = texts.get(text)
    if (equal) return equal.length === 1 ? equal[0]! : unmoved.has(text) ? at : null
    const name = nameOf(entry)
    const same = name === null ? undefined : names.get(name)
    return same?.length === 1 ? same[0]! : null
  })
  const taken = new Set(found)
  const open = candidate.flatMap((entry, at) => found[at] === null && nameOf(entry) === null ? [at] : [])
  const left = stored.flatMap((entry, at) => !taken.has(at) && nameOf(entry) === null ? [at] : [])
  if (open.length === 1 && left.length === 1) found[open[0]!] = left[0]!
  return found
}

function indexesBy(entries: unknown[], key: (entry: unknown) => string | null): Map<string, number[]> {
  const indexes = new Map<string, number[]>()
  entries.forEach((entry, i) => {
    const text = key(entry)
    if (text === null) return
    const known = indexes.get(text)
    if (known) known.push(i)
    else indexes.set(text, [i])
  })
  return indexes
}

/** Members by which a person tells one entry of a list from another. */
const TELLING = ['id', 'name', 'username', 'user', 'account', 'email', 'url']

function nameOf(entry: unknown): string | null {
  const members = TELLING.flatMap((name) => memberOf(entry, name) === undefined ? [] : [[name, memberOf(entry, name)]])
  return members.length > 0 ? JSON.stringify(members) : null
}
