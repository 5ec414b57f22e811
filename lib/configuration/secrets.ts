/** Which members of a document are secret, how they are sealed for the database and masked for the reader (decisions 3.5). */
import type { Sealer } from '../core/secrets.js'
import { pointerStep } from '../core/pointer.js'
import type { Registry } from '../distributors/registry.js'
import type { Distributor } from '../distributors/distributor.js'
import { isBlank } from '../distributors/distributor.js'
import type { ConfigurationDocument } from './document.js'

export const MASK = '********'
/** Members of a target that are secret wherever they stand in it. */
const TARGET_SECRETS = new Set(['consumer-key', 'consumer-secret', 'password', 'key'])
/** Marks sealed text in the stored document; no document can hold it, since U+0000 is refused in every text. */
const SEALED = '\u0000sealed:'
/** Members that are taken for credentials where nobody says which are: in targets, in sections that are kept and not read, in an entry of an unknown distributor. */
const SOUNDS_SECRET = /(^|[_-])(pass|passwd|password|secret|token|api[_-]?key)$/i
/** Sections that are kept and not read. */
const KEPT = ['bound_book', 'POS', 'payment_processor']

export type Json = Record<string, unknown>

export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What to do with a secret; `pointer` is where it stands. */
type Change = (value: unknown, pointer: string) => unknown

/**
 * A document with every secret replaced by what `change` makes of it. Only what lies on the way to a secret is copied.
 * Takes a document of any shape: it may be a candidate that nobody has checked.
 */
export function mapSecrets<T>(document: T, registry: Registry, change: Change): T {
  if (!isObject(document)) return document
  const members: Json = {}
  if (isObject(document['distributors'])) {
    members['distributors'] = mapValues(document['distributors'], '/distributors', (entry, pointer, name) => mapEntry(entry, pointer, entryDistributor(name, entry, registry), change))
  }
  if (isObject(document['targets'])) {
    members['targets'] = mapValues(document['targets'], '/targets', (target, pointer) => mapMembers(target, pointer, isTargetSecret, change))
  }
  for (const name of KEPT) if (Object.hasOwn(document, name)) members[name] = mapMembers(document[name], `/${name}`, isTargetSecret, change)
  return { ...document, ...members }
}

const isTargetSecret = (member: string) => TARGET_SECRETS.has(member) || SOUNDS_SECRET.test(member)

/** The distributor of an entry: by the name that it stands under, else by its distid. */
export function entryDistributor(name: string, entry: unknown, registry: Registry): Distributor | undefined {
  return registry.byName(name) ?? (isObject(entry) && typeof entry['distid'] === 'string' ? registry.byDistid(entry['distid']) : undefined)
}

function mapEntry(entry: unknown, pointer: string, distributor: Distributor | undefined, change: Change): unknown {
  if (!distributor) return mapMembers(entry, pointer, isTargetSecret, change)
  return Object.values(distributor.settings).filter(({ secret }) => secret)
    .reduce((changed, { path }) => mapPath(changed, path.split('-'), pointer, change), entry)
}

function mapPath(value: unknown, [name, ...rest]: string[], pointer: string, change: Change): unknown {
  if (name === undefined) return isBlank(value) ? value : change(value, pointer)
  if (!isObject(value) || !Object.hasOwn(value, name)) return value
  return { ...value, [name]: mapPath(value[name], rest, pointer + pointerStep(name), change) }
}

/** Every secret member of a value, however deep; whatever stands under a secret's name is one secret. */
function mapMembers(value: unknown, pointer: string, isSecret: (member: string) => boolean, change: Change): unknown {
  if (Array.isArray(value)) {
    if (!value.some((item) => typeof item === 'object')) return value
    return value.map((item, i) => mapMembers(item, `${pointer}/${i}`, isSecret, change))
  }
  return isObject(value) ? mapValues(value, pointer, (member, place, name) => {
    if (!isSecret(name)) return mapMembers(member, place, isSecret, change)
    return isBlank(member) ? member : change(member, place)
  }) : value
}

function mapValues(value: Json, pointer: string, map: (member: unknown, pointer: string, name: string) => unknown): Json {
  // Defined, not assigned: a member may be called __proto__.
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, map(member, pointer + pointerStep(name), name)]))
}

export const isSealed = (value: unknown): value is string => typeof value === 'string' && value.startsWith(SEALED)
/** A sealed text belongs to one version of one document, and to its place in it. */
const placeOf = (version: number, pointer: string) => `configuration ${version} ${pointer}`

/** The document as it is stored: every secret sealed to its version and place. */
export function sealDocument(document: ConfigurationDocument, version: number, registry: Registry, sealer: Sealer): ConfigurationDocument {
  return mapSecrets(document, registry, (value, pointer) => SEALED + sealer.seal(JSON.stringify(value), placeOf(version, pointer)))
}

/** The inverse of `sealDocument`. */
export function openDocument(stored: ConfigurationDocument, version: number, registry: Registry, sealer: Sealer): ConfigurationDocument {
  return mapSecrets(stored, registry, (value, pointer) =>
    isSealed(value) ? JSON.parse(sealer.open(value.slice(SEALED.length), placeOf(version, pointer))) : value)
}

/** The document as it is read back: every secret as `********`. Works on the stored form, without opening anything. */
export function maskDocument(document: ConfigurationDocument, registry: Registry): ConfigurationDocument {
  return maskSealed(mapSecrets(document, registry, () => MASK)) as ConfigurationDocument
}

/** A secret of a distributor that this process was not told of is sealed where nobody looked. */
export function maskSealed(value: unknown): unknown {
  if (isSealed(value)) return MASK
  if (Array.isArray(value)) return value.some((item) => typeof item === 'object' || isSealed(item)) ? value.map(maskSealed) : value
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, maskSealed(member)])) : value
}
