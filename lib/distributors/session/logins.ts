/**
 * Logins that a distributor refused. An account that is tried with a wrong password again and again
 * gets locked, so after two refusals nobody tries for an hour.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { HOUR } from '../../core/clock.js'
import type { Mode } from '../../db/tables/column-types.js'
import type { Known, LoginGate } from './session.js'

/** Refusals in a row after which nobody tries. */
const MOST = 2
const SHUT = HOUR
/** Logins that are remembered. */
const ACCOUNTS = 10_000
/** Things that were read with them and are remembered. */
const READ = 10_000

export class Logins {
  readonly #now: () => number
  readonly #refusals = new LRUCache<string, { count: number; at: number }>({ max: ACCOUNTS })

  readonly #known = new LRUCache<string, object>({ max: READ })

  /** `now` in milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** The gate of a login; another password is another login. */
  of(distid: string, mode: Mode, login: readonly string[]): LoginGate {
    const account = createHash('sha256')
      .update(JSON.stringify([distid, mode, login]))
      .digest('base64url')
    return {
      reason: () => {
        const known = this.#refusals.get(account)
        if (!known || known.count < MOST || this.#now() - known.at >= SHUT) return null
        return (
          `the login was refused ${known.count} times and is not tried for an hour, so that the ` +
          'account is not locked'
        )
      },
      accepted: () => void this.#refusals.delete(account),
      refused: () => {
        const count = (this.#refusals.get(account)?.count ?? 0) + 1
        this.#refusals.set(account, { count, at: this.#now() })
      },
      known: this.#knownOf(account),
    }
  }

  #knownOf(account: string): Known {
    return {
      get: (key) => this.#known.get(`${account} ${key}`),
      set: (key, value) => this.#known.set(`${account} ${key}`, value),
    }
  }
}

/** The gates of a distributor's logins, for a session of it. */
export const loginsOf =
  (
    { logins }: { logins: Logins },
    { distid, mode }: { distid: string; mode: Mode },
  ): ((credentials: readonly string[]) => LoginGate) =>
  (credentials) =>
    logins.of(distid, mode, credentials)
