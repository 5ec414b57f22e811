/** Which members of a document are secret, how they are sealed for the database and masked for the reader (decisions 3.5). */
import type { Registry } from '../distributors/registry.js'
import type { Secrets } from '../core/secrets.js'
import type { ConfigurationDocument } from './document.js'

export const MASK = '********'
/** Members of a target that are secret wherever they stand in it. */
const TARGET_SECRETS = new Set(['consumer-key', 'consumer-secret', 'password', 'key'])
/** Marks sealed text in the stored document; no document can hold it, since U+0000 is refused in every text. */
const SEALED = '\u0000sealed:'

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A copy of the document with every secret replaced by what `change` makes of it; `place` is its JSON Pointer. */
function mapSecrets(document: ConfigurationDocument, registry: Registry, change: (value: unknown, place: string) => unknown): ConfigurationDocument {
  const copy = structuredClone(document)
  for (const [name, entry] of Object.entries(copy.distributors)) {
    const settings = Object.values(registry.byName(name)?.settings ?? {}).filter((setting) => setting.secret)
    for (const setting of settings) {
      const path = setting.path.split('-')
      const last = path.pop()!
      const parent = path.reduce<unknown>((at, segment) => isObject(at) ? at[segment] : undefined, entry)
      if (isObject(parent) && Object.hasOwn(parent, last)) parent[last] = change(parent[last], `/distributors/${name}/${[...path, last].join('/')}`)
    }
  }
  for (const [name, target] of Object.entries(copy.targets)) mapTarget(target, `/targets/${name}`, change)
  return copy
}

function mapTarget(value: unknown, place: string, change: (value: unknown, place: string) => unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    if (TARGET_SECRETS.has(name) && typeof member !== 'object') (value as Json)[name] = change(member, `${place}/${name}`)
    else mapTarget(member, `${place}/${name}`, change)
  }
}

/** The document as it is stored: every secret sealed to its subscriber and place. */
export function sealDocument(document: ConfigurationDocument, registry: Registry, secrets: Secrets, subscriberId: string): ConfigurationDocument {
  return mapSecrets(document, registry, (value, place) => SEALED + secrets.seal(JSON.stringify(value), `${subscriberId} ${place}`))
}

/** The inverse of `sealDocument`. */
export function openDocument(stored: ConfigurationDocument, registry: Registry, secrets: Secrets, subscriberId: string): ConfigurationDocument {
  return mapSecrets(stored, registry, (value, place) =>
    typeof value === 'string' && value.startsWith(SEALED) ? JSON.parse(secrets.open(value.slice(SEALED.length), `${subscriberId} ${place}`)) : value)
}

/** The document as it is read back: every secret as `********`. Works on the stored form, without opening anything. */
export function maskDocument(document: ConfigurationDocument, registry: Registry): ConfigurationDocument {
  return mapSecrets(document, registry, () => MASK)
}

/** The credentials of one distributor's entry, to notice a change; empty when it has none. */
export function credentialsOf(document: ConfigurationDocument, name: string, registry: Registry): string {
  const found: [string, unknown][] = []
  const only = { ...document, targets: {}, distributors: { [name]: document.distributors[name]! } }
  mapSecrets(only, registry, (value, place) => (found.push([place, value]), value))
  return found.length === 0 ? '' : JSON.stringify([found, document.distributors[name]?.fulfillment])
}
