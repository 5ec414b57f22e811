/**
 * Calls that several nodes count together, in their database. While that is away each node counts
 * for itself, in memory: what can be read goes on, and within the limits of one node.
 */
import { MINUTE, SECOND, startOfDay } from '../../core/clock.js'
import type { Log } from '../../core/log.js'
import { SlidingWindow } from '../../core/quota.js'
import type { CountedCall, SharedCalls } from '../../db/metered.js'
import type { Key } from '../caller.js'
import { isUnavailable } from '../../db/faults.js'
import { TIERS } from '../tiers.js'
import { admission } from './admission.js'
import type { Counter } from './admission.js'
import { countIn } from './key-counts.js'
import type { KeyCounts } from './key-counts.js'

/** Milliseconds for which a database that was away is not asked again: each question may hang. */
const AWAY = SECOND
/**
 * Milliseconds for which a node goes on alone: it does not hear that a key was cancelled, so that it
 * refuses everybody in the end.
 */
const LONGEST = 15 * MINUTE

export function countTogether(calls: SharedCalls, now: () => number, log: Log): Counter {
  const alone = new CountsAlone(now)
  /** When it was last asked in vain, and since when in vain. */
  let askedAt = -Infinity
  let awaySince: number | null = null

  async function count(key: Key, endpoint: string): Promise<CountedCall> {
    const { per_minute: perMinute, per_day: perDay } = TIERS[key.tier]
    if (awaySince !== null && Math.abs(now() - askedAt) < AWAY) return alone.count(key)
    try {
      const counted = await calls.count({ keyId: key.id, endpoint, perMinute, perDay })
      if (awaySince !== null) log.info({}, 'calls are counted over all nodes again')
      awaySince = null
      return counted
    } catch (error) {
      if (!isUnavailable(error)) throw error
      if (awaySince === null)
        log.warn({ err: error }, 'the database is away: this node counts calls by itself')
      askedAt = now()
      awaySince ??= askedAt
      if (Math.abs(askedAt - awaySince) > LONGEST) throw error
      return alone.count(key)
    }
  }

  return {
    admit: async (key, endpoint) => admission(key.tier, await count(key, endpoint)),
    // Each call is written as it is counted.
    flush() {},
  }
}

/** What is counted while nobody can write it; usage does not show it. */
class CountsAlone {
  readonly #now: () => number
  readonly #keys = new Map<string, KeyCounts>()

  constructor(now: () => number) {
    this.#now = now
  }

  count({ id, tier }: Key): CountedCall {
    const at = this.#now()
    const { per_minute: limit, per_day: perDay } = TIERS[tier]
    let counts = this.#keys.get(id)
    // A changed tier changes the window's size.
    if (counts?.limit !== limit)
      this.#keys.set(id, (counts = { window: new SlidingWindow(limit), limit, day: 0, today: 0 }))
    if (counts.day !== startOfDay(at)) Object.assign(counts, { day: startOfDay(at), today: 0 })
    return countIn(counts, at, perDay)
  }
}
