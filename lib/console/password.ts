/** Passwords: what may be one, and how it is kept. */
import { scrypt, timingSafeEqual } from 'node:crypto'
import type { ScryptOptions } from 'node:crypto'
import { MB } from '../core/figures.js'
import { invalid } from '../core/errors.js'
import { textFault } from '../core/text.js'

const LEAST = 12
const MOST = 200

/** About 80 ms and 32 MB for each try. */
const COST = { N: 32_768, r: 8, p: 1 } as const
const BYTES = 32

/** Throws 400 for a text that is none. */
export function checkPassword(password: string, name: string): void {
  const length = [...password].length
  const fault =
    textFault(password) ??
    (length < LEAST
      ? `must have at least ${LEAST} characters`
      : length > MOST
        ? `must have at most ${MOST} characters`
        : password.toLowerCase().includes(name.toLowerCase())
          ? 'must not hold the name of its owner'
          : new Set(password).size < 5
            ? 'must have at least 5 different characters'
            : null)
  if (fault) throw invalid('password', fault)
}

/** `scrypt.<N>.<r>.<p>.<salt>.<hash>`: a later release may ask for more, and still reads this. */
export async function hashPassword(
  password: string,
  random: (bytes: number) => Buffer,
): Promise<string> {
  const salt = random(16)
  const { N, r, p } = COST
  const hash = await derive(password, salt, COST, BYTES)
  return ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('.')
}

/**
 * Whether it is the password that was kept. Without one it takes as long, so that nobody learns from
 * the time which names there are.
 */
export async function isPassword(password: string, kept: string | null): Promise<boolean> {
  const [, N, r, p, salt = '', hash = ''] = (kept ?? NOBODYS).split('.')
  const expected = Buffer.from(hash, 'base64url')
  const cost = { N: Number(N), r: Number(r), p: Number(p) }
  const found = await derive(password, Buffer.from(salt, 'base64url'), cost, expected.length)
  return timingSafeEqual(found, expected) && kept !== null
}

const NOBODYS = ['scrypt', COST.N, COST.r, COST.p, 'AAAA', 'A'.repeat(43)].join('.')

/** One spelling of a letter with an accent is as good as another. */
function derive(
  password: string,
  salt: Buffer,
  cost: ScryptOptions,
  bytes: number,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, bytes, { ...cost, maxmem: 128 * MB }, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}
