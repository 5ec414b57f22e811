/** Keeps credentials out of what a distributor says. */
import { patternOf } from '../../../core/text.js'
import type { OpenedOrder } from './open-order.js'

/**
 * A distributor's own words without the credentials that they may repeat: as they are, in another
 * case, in an address, in Base64. Before the words are cut, or half of one would stay.
 */
export function withoutSecrets(text: string, { secrets }: Pick<OpenedOrder, 'secrets'>): string {
  if (secrets.length === 0) return text
  const spellings = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64'),
  ])
  // The longest first: one may be the beginning of another.
  const patterns = spellings.sort((a, b) => b.length - a.length).map(patternOf)
  return text.replaceAll(new RegExp(patterns.join('|'), 'gi'), '[credential]')
}
