/** Purchase order numbers (contract "Place order": PO rules). */
import { createHash } from 'node:crypto'

export interface PoParts {
  orderId: string
  /**
   * First two and last two characters of the calling key, upper-cased; null for a library caller
   * without a key.
   */
  poTag: string | null
  fflRequired: boolean
  shipToStore: boolean
}

const WITHOUT_KEY = 'LIB0'

/**
 * The PO of one distributor order that the caller gave none for: `<order_id>-<ABCD>-<f><m><s>`; `m`
 * is 1 for every API order.
 */
export function poNumber({ orderId, poTag, fflRequired, shipToStore }: PoParts): string {
  return `${orderId}-${poTag ?? WITHOUT_KEY}-${fflRequired ? 1 : 0}1${shipToStore ? 1 : 0}`
}

/** The PO of a placement after so many that were refused: the second sends `-2`. */
export function poOfAttempt(po: string, attempt: number): string {
  return attempt === 1 ? po : `${po}-${attempt}`
}

export interface PoLimits {
  /** Characters that the distributor takes. */
  max: number
  /** One character that it takes; any printable one by default. */
  chars?: RegExp
}

/** 65 bits: no two orders of any shop will ever share them. */
const DIGEST = 13
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/**
 * The PO as one distributor takes it: itself where it fits, else its beginning and a digest of what
 * it stands for, which is the same for the same `identity` (subscriber, order, group, attempt) and
 * differs for every other.
 */
export function fitPo(
  po: string,
  { max, chars = /[\x20-\x7e]/ }: PoLimits,
  identity: string,
): string {
  if (max < DIGEST) throw new Error(`a PO of ${max} characters cannot tell orders apart`)
  const taken = [...po]
    .filter((char) => new RegExp(`^(?:${chars.source})$`, chars.flags.replace('g', '')).test(char))
    .join('')
  if (taken === po && po.length <= max) return po
  const digest = base32(createHash('sha256').update(identity).digest())
  const room = max - DIGEST - 1
  return room > 0 && taken !== '' ? `${taken.slice(0, room)}-${digest}` : digest
}

function base32(bytes: Buffer): string {
  let text = ''
  for (let i = 0; i < DIGEST; i++) {
    const bit = i * 5
    const pair = (bytes[bit >> 3]! << 8) | bytes[(bit >> 3) + 1]!
    text += BASE32[(pair >> (11 - (bit & 7))) & 31]
  }
  return text
}
