/** Secrets that were typed and are not saved yet: dots in the form, and so in the JSON beside it. */
import { soundsSecret } from '../../../lib/configuration/secret-names.js'
import { MASK, isRecord } from './schema.js'
import type { Json } from './schema.js'

/** Stands for one. It is not the mask, which keeps what is saved. */
export const TYPED = '••••••••'

/**
 * The document, or the member of that name, as it may be shown. Lists are left as they are: after
 * a change of their order nobody could tell whose secret it was.
 */
export function withoutSecrets(value: Json, name = ''): Json {
  if (isRecord(value))
    return Object.fromEntries(
      Object.entries(value).map(([member, inner]) => [member, withoutSecrets(inner, member)]),
    )
  const isTyped = typeof value === 'string' && value !== '' && value !== MASK
  return isTyped && soundsSecret(name) ? TYPED : value
}

/**
 * What was shown and perhaps changed, with the secrets that stand behind it. Throws where nothing
 * does.
 */
export function withSecrets(shown: Json, behind: Json | undefined): Json {
  if (shown === TYPED) {
    if (typeof behind !== 'string') throw new Error('nothing was typed here')
    return behind
  }
  if (!isRecord(shown)) return shown
  const record = isRecord(behind) ? behind : {}
  return Object.fromEntries(
    Object.entries(shown).map(([name, value]) => [
      name,
      withSecrets(value, Object.hasOwn(record, name) ? record[name] : undefined),
    ]),
  )
}
