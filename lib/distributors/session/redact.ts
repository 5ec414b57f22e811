/** Keeps credentials out of what a distributor says, and of what was said to it. */
import { createHash } from 'node:crypto'
import { patternOf } from '../../core/text.js'
import { escapeXml } from './xml.js'

/** A shorter text stands in any sentence by chance, and is not a secret worth the name. */
const SHORTEST_SECRET = 4

/**
 * A text without secrets that it may repeat, in the ways in which protocols write them: as they are,
 * in another case, in JSON, in XML, in an address or a form, in Base64, as their MD5. Before the text is
 * cut, or half of one would stay.
 */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return hidingSecrets(secrets)(text)
}

/** The same for many texts, with the spellings worked out once. */
export function hidingSecrets(secrets: readonly string[]): (text: string) => string {
  const spellings = secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .flatMap((secret) => [
      secret,
      JSON.stringify(secret).slice(1, -1),
      escapeXml(secret),
      // As .NET writes JSON.
      secret.replaceAll(/[^\w .:/-]/g, inHex),
      // Half of a surrogate pair stands in no address.
      encodeURIComponent(secret.replaceAll(/\p{Cs}/gu, '')),
      new URLSearchParams({ '': secret }).toString().slice(1),
      Buffer.from(secret).toString('base64'),
      createHash('md5').update(secret).digest('hex'),
    ])
  if (spellings.length === 0) return (text) => text
  // The longest first: one may be the beginning of another.
  const patterns = [...new Set(spellings)].sort((a, b) => b.length - a.length).map(patternOf)
  const any = new RegExp(patterns.join('|'), 'gi')
  return (text) => text.replaceAll(any, HIDDEN)
}

/** What stands in place of a secret. */
export const HIDDEN = '[credential]'

const inHex = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
