/** Whether a call is let in, and what its caller is told of that. Times are milliseconds. */
import { DAY, MINUTE, SECOND, startOfDay } from '../../core/clock.js'
import type { CountedCall } from '../../db/metered.js'
import type { Key } from '../caller.js'
import { TIERS } from '../tiers.js'

export interface Admission {
  allowed: boolean
  /** Whole seconds until a call can succeed, never too early; 0 when allowed. */
  retryAfter: number
  /** `RateLimit-Policy` and `RateLimit` (IETF draft, named policies). */
  policy: string
  state: string
}

export interface Counter {
  /**
   * Counts one call under its route, or refuses it; a refused call does not count. At once, but
   * where several nodes count together.
   */
  admit(key: Key, endpoint: string): Admission | Promise<Admission>
  /** Writes what is not written yet; what cannot be written is kept. */
  flush(): void
}

export function admission(
  tier: Key['tier'],
  { isAllowed: allowed, at, recent, today, wait }: CountedCall,
): Admission {
  const { per_minute: perMinute, per_day: perDay } = TIERS[tier]
  const dayLeft = startOfDay(at) + DAY - at
  const dayWait = !allowed && today >= perDay ? dayLeft : 0
  const minute = `"minute";r=${Math.max(0, perMinute - recent)};t=${seconds(wait || MINUTE)}`
  const day = `"day";r=${perDay - today};t=${seconds(dayLeft)}`
  return {
    allowed,
    retryAfter: allowed ? 0 : Math.max(1, seconds(Math.max(wait, dayWait))),
    policy: `"minute";q=${perMinute};w=60, "day";q=${perDay};w=86400`,
    state: `${minute}, ${day}`,
  }
}

const seconds = (ms: number) => Math.ceil(ms / SECOND)
