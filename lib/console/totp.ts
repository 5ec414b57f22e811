/** The second factor: codes of six digits that change every 30 seconds (RFC 6238, RFC 4226). */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { SECOND } from '../core/clock.js'

const PERIOD = 30 * SECOND
const DIGITS = 6
const SECRET_BYTES = 20
/** Steps by which the clock of a telephone may differ. */
const DRIFT = 1

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** A new secret, in Base32 as programs for codes take it. */
export function newTotpSecret(random: (bytes: number) => Buffer): string {
  const bits = [...random(SECRET_BYTES)].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? []).map((five) => ALPHABET[parseInt(five, 2)]).join('')
}

function bytesOf(secret: string): Buffer {
  const bits = [...secret]
    .map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0'))
    .join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => parseInt(eight, 2)))
}

/** The step that a moment (ms) is in. */
export const stepAt = (ms: number): number => Math.floor(ms / PERIOD)

/** The code of a step: six digits unless more are asked for. */
export function codeAt(secret: string, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', bytesOf(secret)).update(counter).digest()
  const offset = mac[mac.length - 1]! & 15
  const number = mac.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** digits).padStart(digits, '0')
}

/**
 * The step whose code it is, near a moment and after the last one that was taken; null where it is
 * none.
 */
export function stepOfCode(
  secret: string,
  code: string,
  { now, after }: { now: number; after: number },
): number | null {
  const digits = code.replaceAll(/\s/g, '')
  if (!/^\d{6}$/.test(digits)) return null
  const step = stepAt(now)
  for (let at = step - DRIFT; at <= step + DRIFT; at++)
    if (at > after && timingSafeEqual(Buffer.from(codeAt(secret, at)), Buffer.from(digits)))
      return at
  return null
}

/** What a program for codes reads out of a picture. */
export function totpAddress(secret: string, name: string): string {
  return `otpauth://totp/${encodeURIComponent(`Quartermaster:${name}`)}?secret=${secret}&issuer=Quartermaster`
}
