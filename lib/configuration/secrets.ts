/**
 * Which members of a document are secret, how they are sealed for the database and masked for the
 * reader.
 */
import { isObject } from '../core/json.js'
import type { Subscriber } from '../accounts/caller.js'
import type { ConfigurationCtx } from './ctx.js'
import type { Sealer } from '../core/storage/secrets.js'
import { pointerStep } from '../core/pointer.js'
import type { Registry } from '../distributors/registry.js'
import type { Distributor, Setting } from '../distributors/distributor.js'
import { isBlank, settingsOf } from '../distributors/distributor.js'
import type { ConfigurationDocument } from './document/document.js'
import { soundsSecret } from './secret-names.js'

export const MASK = '********'
/** Sections that are open to anything. */
const OPEN = new Set(['targets', 'fulfillment', 'bound_book', 'POS', 'payment_processor'])
/**
 * Marks sealed text in the stored document; no document can hold it, since U+0000 is refused in
 * every text.
 */
const SEALED = '\u0000sealed:'
export type Json = Record<string, unknown>

/** What to do with a secret; `pointer` is where it stands. */
type Change = (value: unknown, pointer: string) => unknown

/**
 * A document with every secret replaced by what `change` makes of it. Only what lies on the way to
 * a changed secret is copied. Takes a document of any shape: it may be a candidate that nobody has
 * checked.
 */
export function mapSecrets<T>(document: T, registry: Registry, change: Change): T {
  if (!isObject(document)) return document
  const walk = new Walk(change)
  return mapValues(document, (value, name) => {
    if (name === 'distributors' && isObject(value)) {
      return walk.into(name, () =>
        mapValues(value, (entry, key) =>
          walk.into(key, () => mapEntry(walk, entry, entryDistributor(key, entry, registry))),
        ),
      )
    }
    return OPEN.has(name) ? walk.into(name, () => walk.members(value)) : value
  }) as T
}

/**
 * A copy of an object with changed members; the object itself where none changes. Members are
 * defined, not assigned: one may be called __proto__.
 */
function mapValues(value: Json, map: (member: unknown, name: string) => unknown): Json {
  let copy: [string, unknown][] | undefined
  const entries = Object.entries(value)
  entries.forEach(([name, member], i) => {
    const mapped = map(member, name)
    if (mapped !== member) (copy ??= [...entries])[i] = [name, mapped]
  })
  return copy ? Object.fromEntries(copy) : value
}

/** Goes through a document; the way to where it is becomes a pointer only for a secret. */
class Walk {
  readonly #change: Change
  readonly #way: (string | number)[] = []

  constructor(change: Change) {
    this.#change = change
  }

  into<T>(name: string | number, step: () => T): T {
    this.#way.push(name)
    const result = step()
    this.#way.pop()
    return result
  }

  /** A value that is a secret, unless it is a blank. */
  secret(value: unknown): unknown {
    return isBlank(value)
      ? value
      : this.#change(value, this.#way.map((step) => pointerStep(String(step))).join(''))
  }

  /**
   * Every secret member of a value, however deep; whatever stands under a secret's name is one
   * secret.
   */
  members(value: unknown): unknown {
    if (Array.isArray(value)) {
      let copy: unknown[] | undefined
      for (let i = 0; i < value.length; i++) {
        const item: unknown = value[i]
        // A document may hold hundreds of thousands of empty lists.
        if (typeof item !== 'object' || (Array.isArray(item) && item.length === 0)) continue
        const mapped = this.into(i, () => this.members(item))
        if (mapped !== item) (copy ??= [...value])[i] = mapped
      }
      return copy ?? value
    }
    return isObject(value)
      ? mapValues(value, (member, name) =>
          this.into(name, () =>
            isSecretMember(name, member) ? this.secret(member) : this.members(member),
          ),
        )
      : value
  }
}

/** A switch is not a credential, whatever it is called. */
function isSecretMember(name: string, member: unknown): boolean {
  return typeof member !== 'boolean' && !isBlank(member) && soundsSecret(name)
}

/** The distributor of an entry: by the name that it stands under, else by its distid. */
export function entryDistributor(
  name: string,
  entry: unknown,
  registry: Registry,
): Distributor | undefined {
  return (
    registry.byName(name) ??
    (isObject(entry) && typeof entry['distid'] === 'string'
      ? registry.byDistid(entry['distid'])
      : undefined)
  )
}

/** The settings that an entry gives a value, in the order in which the distributor has them. */
export function givenSettings(
  distributor: Distributor,
  entry: unknown,
): { name: string; setting: Setting; value: unknown }[] {
  const values = settingsOf(distributor, entry)
  return Object.entries(distributor.settings).flatMap(([name, setting]) =>
    Object.hasOwn(values, name) ? [{ name, setting, value: values[name] }] : [],
  )
}

function mapEntry(walk: Walk, entry: unknown, distributor: Distributor | undefined): unknown {
  if (!distributor) return walk.members(entry)
  return Object.values(distributor.settings)
    .filter(({ secret }) => secret)
    .reduce((changed, { path }) => mapPath(walk, changed, path.split('-')), entry)
}

function mapPath(walk: Walk, value: unknown, [name, ...rest]: string[]): unknown {
  if (name === undefined) return walk.secret(value)
  if (!isObject(value) || !Object.hasOwn(value, name)) return value
  return { ...value, [name]: walk.into(name, () => mapPath(walk, value[name], rest)) }
}

export const isSealed = (value: unknown): value is string =>
  typeof value === 'string' && value.startsWith(SEALED)
/** A sealed text belongs to one version of one document, and to its place in it. */
const placeOf = (version: number, pointer: string) => `configuration ${version} ${pointer}`

/** The document as it is stored: every secret sealed to its version and place. */
export function sealDocument(
  document: ConfigurationDocument,
  version: number,
  registry: Registry,
  sealer: Sealer,
): ConfigurationDocument {
  return mapSecrets(
    document,
    registry,
    (value, pointer) => SEALED + sealer.seal(JSON.stringify(value), placeOf(version, pointer)),
  )
}

/** The inverse of `sealDocument`. */
export function openDocument(
  stored: ConfigurationDocument,
  version: number,
  registry: Registry,
  sealer: Sealer,
): ConfigurationDocument {
  return mapSecrets(stored, registry, (value, pointer) =>
    isSealed(value)
      ? JSON.parse(sealer.open(value.slice(SEALED.length), placeOf(version, pointer)))
      : value,
  )
}

/**
 * A stored document with each secret replaced by its keyed fingerprint: equal for equal content,
 * however often it was saved.
 */
export function fingerprintDocument(
  stored: ConfigurationDocument,
  version: number,
  registry: Registry,
  sealer: Sealer,
): unknown {
  const textOf = (value: unknown, pointer: string) =>
    isSealed(value)
      ? sealer.open(value.slice(SEALED.length), placeOf(version, pointer))
      : JSON.stringify(value)
  // In a list, so that no text of a document looks like one.
  return mapSecrets(stored as unknown, registry, (value, pointer) => [
    SEALED,
    sealer.fingerprint(textOf(value, pointer)),
  ])
}

/**
 * A subscriber's saved document with its secrets opened, for whoever compares or uses them; never
 * for an answer.
 */
export function openSaved(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  { document, version }: { document: ConfigurationDocument; version: number },
): ConfigurationDocument {
  return openDocument(document, version, ctx.distributors, ctx.secrets.of(subscriber.id))
}

/**
 * The document as it is read back: every secret as `********`. Works on the stored form, without
 * opening anything.
 */
export function maskDocument(
  document: ConfigurationDocument,
  registry: Registry,
): ConfigurationDocument {
  return maskSealed(mapSecrets(document, registry, () => MASK)) as ConfigurationDocument
}

/** A secret of a distributor that this process was not told of is sealed where nobody looked. */
export function maskSealed(value: unknown): unknown {
  if (isSealed(value)) return MASK
  if (Array.isArray(value))
    return value.some(
      (item) => isSealed(item) || (typeof item === 'object' && maskSealed(item) !== item),
    )
      ? value.map(maskSealed)
      : value
  return isObject(value) ? mapValues(value, maskSealed) : value
}
