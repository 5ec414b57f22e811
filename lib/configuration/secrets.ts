/** Which members of a document are secret, how they are sealed for the database and masked for the reader (decisions 3.5). */
import type { Registry } from '../distributors/registry.js'
import type { Secrets } from '../core/secrets.js'
import type { Distributor } from '../distributors/distributor.js'
import type { ConfigurationDocument, DistributorEntry } from './document.js'

export const MASK = '********'
/** Members of a target that are secret wherever they stand in it. */
const TARGET_SECRETS = new Set(['consumer-key', 'consumer-secret', 'password', 'key'])
/** Marks sealed text in the stored document; no document can hold it, since U+0000 is refused in every text. */
const SEALED = '\u0000sealed:'

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What to do with a secret; `place` is its JSON Pointer. */
type Change = (value: unknown, place: string) => unknown

/** Members that are taken for secrets in an entry whose distributor nobody knows. */
const SOUNDS_SECRET = /pass(word|wd)?$|secret|token|api_?key|^key$/i

/** A copy of the document with every secret replaced by what `change` makes of it. */
function mapSecrets(document: ConfigurationDocument, registry: Registry, change: Change): ConfigurationDocument {
  const copy = structuredClone(document)
  for (const [name, entry] of Object.entries(copy.distributors)) {
    const place = `/distributors/${name}`
    const known = distributorOf(name, entry, registry)
    if (!known) mapMembers(entry, place, (member) => SOUNDS_SECRET.test(member), change)
    for (const setting of Object.values(known?.settings ?? {})) {
      if (!setting.secret) continue
      const found = memberAt(entry, setting.path)
      if (found) found.parent[found.name] = change(found.parent[found.name], `${place}/${setting.path.replaceAll('-', '/')}`)
    }
  }
  for (const [name, target] of Object.entries(copy.targets)) mapMembers(target, `/targets/${name}`, (member) => TARGET_SECRETS.has(member), change)
  return copy
}

function distributorOf(name: string, entry: DistributorEntry, registry: Registry): Distributor | undefined {
  return registry.byName(name) ?? registry.byDistid(entry.distid)
}

/** Where a setting stands in an entry; undefined when the entry does not have it. */
function memberAt(entry: DistributorEntry, path: string): { parent: Json; name: string } | undefined {
  const segments = path.split('-')
  const name = segments.pop()!
  const parent = segments.reduce<unknown>((at, segment) => isObject(at) && Object.hasOwn(at, segment) ? at[segment] : undefined, entry)
  return isObject(parent) && Object.hasOwn(parent, name) ? { parent, name } : undefined
}

function mapMembers(value: unknown, place: string, isSecret: (member: string) => boolean, change: Change): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    if (isSecret(name) && typeof member !== 'object') (value as Json)[name] = change(member, `${place}/${name}`)
    else mapMembers(member, `${place}/${name}`, isSecret, change)
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
  const masked = mapSecrets(document, registry, () => MASK)
  // A secret of a distributor that this process was not told of is sealed where nobody looked.
  return JSON.parse(JSON.stringify(masked, (_, value: unknown) => typeof value === 'string' && value.startsWith(SEALED) ? MASK : value)) as ConfigurationDocument
}

/** The credentials of one distributor's entry as text, to notice a change; empty when it has none. */
export function credentialsOf(document: ConfigurationDocument, name: string, registry: Registry): string {
  const entry = document.distributors[name]!
  const settings = Object.entries(distributorOf(name, entry, registry)?.settings ?? {}).filter(([, setting]) => setting.secret || setting.credential)
  const given = settings.map(([setting, { path }]) => [setting, memberAt(entry, path)] as const).filter(([, found]) => found !== undefined)
  return given.length === 0 ? '' : JSON.stringify(given.map(([setting, found]) => [setting, found!.parent[found!.name]]))
}
