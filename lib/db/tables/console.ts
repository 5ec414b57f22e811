/** Made from the migrations by `npm run tables`. */
import type { Generated } from 'kysely'

/** A person who may use the console. */
export interface ConsoleUserTable {
  id: string
  name: string
  role: 'operator' | 'viewer'
  /** scrypt, with its parameters and salt; null until it is set. */
  password: string | null
  /** The secret of the second factor, sealed; null where there is none. */
  totp: string | null
  /** The last step of 30 seconds whose code was taken: none is taken twice. */
  totp_step: Generated<number>
  created_at: number
}

/** A sign-in that holds until it expires or is revoked. */
export interface ConsoleSessionTable {
  id: string
  user_id: string
  /** SHA-256 of the token; the token itself is in the cookie alone. */
  hash: Buffer
  created_at: number
  expires_at: number
  seen_at: number
  /** Until then the password need not be given again. */
  confirmed_until: number
  address: string
  /** What the browser calls itself. */
  agent: string
}

/** A link that works once. */
export interface ConsoleLinkTable {
  /** SHA-256 of its token. */
  hash: Buffer
  user_id: string
  kind: 'sign_in' | 'set_password'
  expires_at: number
}

/** Wrong passwords since the last right one, by the name that was given. */
export interface ConsoleTryTable {
  name: string
  failures: number
  wait_until: number
}

/** Where the console was served last: one row. */
export interface ConsolePlaceTable {
  one: 1
  url: string
}
