/**
 * Masks that come back: a value of asterisks alone keeps the stored secret (contract
 * "Authentication" 9).
 */
import { isObject } from '../core/json.js'
import { MAX_FAULTS } from '../core/errors.js'
import type { Fault } from '../core/errors.js'
import { dotted, pointerStep, pointerSteps } from '../core/pointer.js'
import { isCredential, settingPointer } from '../distributors/distributor.js'
import type { Registry } from '../distributors/registry.js'
import type { ConfigurationDocument } from './document/document.js'
import { MASK, entryDistributor, givenSettings, mapSecrets } from './secrets.js'

const isMask = (value: unknown): boolean => typeof value === 'string' && /^\*+$/.test(value)

/** Secrets of one document; each is sealed anew with every save. */
const MOST_SECRETS = 500

/**
 * A candidate with the stored secrets in the place of its masks, and a fault for each mask that
 * stands where nothing is stored. A mask inside a list belongs to the entry that it was read from,
 * wherever that entry stands now.
 */
export function keepSecrets<T>(
  candidate: T,
  stored: ConfigurationDocument,
  registry: Registry,
): { document: T; faults: Fault[] } {
  const secrets = new Map<string, unknown>()
  mapSecrets(stored, registry, (value, pointer) => {
    secrets.set(pointer, value)
    return value
  })
  const faults = maskedCredentials(candidate, registry)
  const fault = (path: string, message: string) => {
    if (faults.length < MAX_FAULTS) faults.push({ path, message: `\`${dotted(path)}\` ${message}` })
  }
  let count = 0
  let places: ((pointer: string) => string | null) | undefined
  const document = mapSecrets(candidate, registry, (value, pointer) => {
    if (++count > MOST_SECRETS) return value
    if (!isMask(value)) {
      if (holdsMask(value))
        fault(
          pointer,
          'holds asterisks: send the whole secret, or asterisks alone in its place to keep ' +
            'the stored one',
        )
      return value
    }
    places ??= originalPlaces(
      mapSecrets(candidate, registry, () => MASK),
      mapSecrets(stored, registry, () => MASK),
    )
    const place = places(pointer)
    if (place !== null && secrets.has(place)) return secrets.get(place)
    fault(
      pointer,
      'stands for a stored secret, but ' +
        `${place === null ? 'it cannot be told which entry of the list it belongs to' : 'none is stored here'}: ` +
        'send the secret itself',
    )
    return value
  })
  if (count > MOST_SECRETS)
    return {
      document,
      faults: [{ path: '', message: `the document has more than ${MOST_SECRETS} credentials` }],
    }
  return { document, faults }
}

/** Asterisks in the place of a credential that is never masked, such as a user name. */
function maskedCredentials(candidate: unknown, registry: Registry): Fault[] {
  const entries =
    isObject(candidate) && isObject(candidate['distributors'])
      ? Object.entries(candidate['distributors'])
      : []
  return entries.flatMap(([name, entry]) => {
    const distributor = entryDistributor(name, entry, registry)
    return (distributor ? givenSettings(distributor, entry) : [])
      .filter(({ setting, value }) => !setting.secret && isCredential(setting) && isMask(value))
      .map(({ setting }) => {
        const path = settingPointer(name, setting.path)
        return {
          path,
          message: `\`${dotted(path)}\` is asterisks, but it is never masked: send the value itself`,
        }
      })
  })
}

function holdsMask(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isMask(value)
  return Object.values(value).some(holdsMask)
}

const onlyOne = (places: readonly number[]) => (places.length === 1 ? (places[0] ?? null) : null)

/** No secret stands at the root. */
const NOWHERE = ''
/** Lists in lists that are followed. */
const DEEPEST = 3

/**
 * Where a place of the candidate was in the stored document; null when an entry of a list on the
 * way cannot be told.
 */
function originalPlaces(candidate: unknown, stored: unknown): (pointer: string) => string | null {
  const aligned = new Map<unknown[], (number | null)[]>()
  return (pointer) => {
    let [from, to] = [candidate, stored]
    let place = ''
    let lists = 0
    for (const name of pointerSteps(pointer)) {
      // What became a list, or was one, is another thing now.
      if (Array.isArray(from) !== Array.isArray(to)) return NOWHERE
      if (Array.isArray(from) && Array.isArray(to)) {
        // Entries are compared as a whole: lists in lists in lists are nobody's, and would be
        // compared again and again.
        if (++lists > DEEPEST) return null
        let entries = aligned.get(from)
        if (!entries) aligned.set(from, (entries = align(from, to)))
        const index = entries[Number(name)]
        if (index === null || index === undefined) return null
        ;[from, to] = [from[Number(name)], to[index]]
        place += `/${index}`
      } else {
        ;[from, to] = [memberOf(from, name), memberOf(to, name)]
        place += pointerStep(name)
      }
    }
    return place
  }
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/**
 * The stored entry that each of a candidate's entries was read from, both masked: the one that is
 * equal, else the one of the same name, else, in lists of one entry, that one. Null where that is
 * not certain: entries may have been moved, removed, added and edited at once.
 */
function align(candidate: unknown[], stored: unknown[]): (number | null)[] {
  const texts = indexesBy(stored, (entry) => JSON.stringify(entry))
  const wanted = indexesBy(candidate, (entry) => JSON.stringify(entry))
  // Of several equal ones each is at its own place, as long as none was moved, removed or added.
  const unmoved = new Set(
    [...texts]
      .filter(([text, places]) => String(places) === String(wanted.get(text)))
      .map(([text]) => text),
  )
  const names = indexesBy(stored, nameOf)
  const found = candidate.map((entry, at) => {
    const text = JSON.stringify(entry)
    const equal = texts.get(text)
    if (equal) return onlyOne(equal) ?? (unmoved.has(text) ? at : null)
    const name = nameOf(entry)
    const same = name === null ? undefined : names.get(name)
    return same ? onlyOne(same) : null
  })
  if (
    candidate.length === 1 &&
    stored.length === 1 &&
    nameOf(candidate[0]) === null &&
    nameOf(stored[0]) === null
  )
    found[0] = 0
  return found
}

function indexesBy(
  entries: unknown[],
  key: (entry: unknown) => string | null,
): Map<string, number[]> {
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
  const members = TELLING.flatMap((name) =>
    memberOf(entry, name) === undefined ? [] : [[name, memberOf(entry, name)]],
  )
  return members.length > 0 ? JSON.stringify(members) : null
}
