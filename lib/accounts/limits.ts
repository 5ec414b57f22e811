/**
 * Request limits and usage (contract "Limits"). Counted in memory and written
 * every second, so a kill forgets one second at most. Times are milliseconds.
 */
import { LRUCache } from 'lru-cache'
import { DAY, MINUTE, SECOND, startOfDay } from '../core/clock.js'
import type { Log } from '../core/log.js'
import type { Engine } from '../db/engine.js'
import type { Key } from './caller.js'
import { usageQueries } from './meter-queries.js'
import type { EndpointCount } from './meter-queries.js'
import { SlidingWindow } from '../core/quota.js'
import { TIERS } from './tiers.js'

export interface Admission {
  allowed: boolean
  /** Whole seconds until a call can succeed, never too early; 0 when allowed. */
  retryAfter: number
  /** `RateLimit-Policy` and `RateLimit` (IETF draft, named policies). */
  policy: string
  state: string
}

export interface UsageCounts {
  today: number
  thisMonth: number
  byEndpointToday: EndpointCount[]
  /** Seven entries, oldest first. */
  byDayLast7: { day: number; requests: number }[]
}

export interface Limits {
  /** Counts one call under its route, or refuses it; a refused call does not count. */
  admit(key: Key, endpoint: string): Admission
  /** False when this address has sent 20 wrong keys within a minute; otherwise counts one. */
  allowFailure(address: string): boolean
  usage(keyId: string): UsageCounts
  /** Writes what is not written yet; what cannot be written is kept. */
  flush(): void
}

/** Wrong keys a minute and address. */
const MAX_FAILURES = 20
/** Addresses with failures that are remembered; beyond it the one of longest ago is forgotten. */
const MAX_FAILING = 10_000

interface KeyCounts {
  window: SlidingWindow
  limit: number
  day: number
  today: number
}

export function openLimits(engine: Engine, now: () => number, log: Log): Limits {
  return new CountedLimits(new Usage(engine, now, log), now)
}

class CountedLimits implements Limits {
  readonly #usage: Usage
  readonly #now: () => number
  readonly #keys = new Map<string, KeyCounts>()
  readonly #failures = new LRUCache<string, SlidingWindow>({ max: MAX_FAILING })

  constructor(usage: Usage, now: () => number) {
    this.#usage = usage
    this.#now = now
  }

  admit(key: Key, endpoint: string): Admission {
    const at = this.#now()
    const tier = TIERS[key.tier]
    const counts = this.#countsOf(key, at)
    const minuteWait = counts.window.wait(at)
    const dayWait = counts.today >= tier.per_day ? counts.day + DAY - at : 0
    const allowed = minuteWait === 0 && dayWait === 0
    if (allowed) {
      counts.window.record(at)
      counts.today++
      this.#usage.add(key.id, endpoint, { day: counts.day, second: Math.floor(at / SECOND) })
    }
    const minuteLeft = Math.ceil((minuteWait || MINUTE) / SECOND)
    const dayLeft = Math.ceil((counts.day + DAY - at) / SECOND)
    const minute = `"minute";r=${counts.window.remaining(at)};t=${minuteLeft}`
    const day = `"day";r=${tier.per_day - counts.today};t=${dayLeft}`
    return {
      allowed,
      retryAfter: allowed ? 0 : Math.max(1, Math.ceil(Math.max(minuteWait, dayWait) / SECOND)),
      policy: `"minute";q=${tier.per_minute};w=60, "day";q=${tier.per_day};w=86400`,
      state: `${minute}, ${day}`,
    }
  }

  allowFailure(address: string): boolean {
    const at = this.#now()
    let window = this.#failures.get(address)
    if (!window) this.#failures.set(address, (window = new SlidingWindow(MAX_FAILURES)))
    if (window.wait(at) > 0) return false
    window.record(at)
    return true
  }

  usage(keyId: string): UsageCounts {
    return this.#usage.counts(keyId, startOfDay(this.#now()))
  }

  flush(): void {
    this.#usage.flush()
  }

  #countsOf(key: Key, at: number): KeyCounts {
    let counts = this.#keys.get(key.id)
    // A changed tier changes the window's size.
    if (!counts || counts.limit !== TIERS[key.tier].per_minute) {
      this.flush()
      this.#keys.set(key.id, (counts = this.#load(key, at)))
    }
    if (counts.day !== startOfDay(at)) {
      this.flush()
      counts.day = startOfDay(at)
      counts.today = this.#usage.requestsOf(key.id, counts.day)
    }
    return counts
  }

  #load(key: Key, at: number): KeyCounts {
    const limit = TIERS[key.tier].per_minute
    const window = new SlidingWindow(limit)
    for (const { second, requests } of this.#usage.recentOf(key.id, at)) {
      // The end of its second, or the window could be too wide by one.
      for (let i = 0; i < requests; i++) window.record(Math.min(second * SECOND + 999, at))
    }
    const day = startOfDay(at)
    return { window, limit, day, today: this.#usage.requestsOf(key.id, day) }
  }
}

/** Calls by key: what is written, and what is not yet. */
class Usage {
  readonly #meter: ReturnType<typeof usageQueries>
  readonly #write: { immediate(): void }
  readonly #now: () => number
  readonly #log: Log
  /** By key, day and endpoint, and by key and second, with spaces between. */
  readonly #unwritten = { usage: new Map<string, number>(), recent: new Map<string, number>() }

  constructor({ meter }: Engine, now: () => number, log: Log) {
    this.#meter = usageQueries(meter)
    this.#write = meter.raw.transaction(() => this.#writeAll())
    this.#now = now
    this.#log = log
  }

  add(keyId: string, endpoint: string, { day, second }: { day: number; second: number }): void {
    const { usage, recent } = this.#unwritten
    const [daily, now] = [`${keyId} ${day} ${endpoint}`, `${keyId} ${second}`]
    usage.set(daily, (usage.get(daily) ?? 0) + 1)
    recent.set(now, (recent.get(now) ?? 0) + 1)
  }

  /** What is written of a day. */
  requestsOf(keyId: string, day: number): number {
    return this.#meter.requestsOf(keyId, day, day)
  }

  /** What is written of the last minute, and of the second before it. */
  recentOf(keyId: string, at: number): { second: number; requests: number }[] {
    return this.#meter.recentOf(keyId, Math.floor((at - MINUTE) / SECOND) - 1)
  }

  counts(keyId: string, today: number): UsageCounts {
    this.flush()
    const month = new Date(today)
    const firstOfMonth = Date.UTC(month.getUTCFullYear(), month.getUTCMonth(), 1)
    return {
      today: this.requestsOf(keyId, today),
      thisMonth: this.#meter.requestsOf(keyId, firstOfMonth, today),
      byEndpointToday: this.#meter.endpointsOf(keyId, today),
      byDayLast7: Array.from({ length: 7 }, (_, i) => {
        const day = today - (6 - i) * DAY
        return { day, requests: this.requestsOf(keyId, day) }
      }),
    }
  }

  flush(): void {
    const { usage, recent } = this.#unwritten
    if (usage.size === 0) return
    try {
      this.#write.immediate()
    } catch (error) {
      // Another process holds the file, or the disk is full: what was counted is kept for the next
      // time.
      return this.#log.warn({ err: error }, 'usage could not be written')
    }
    usage.clear()
    recent.clear()
  }

  #writeAll(): void {
    for (const [name, requests] of this.#unwritten.usage) {
      const [keyId, day, ...endpoint] = name.split(' ') as [string, string, ...string[]]
      this.#meter.addUsage(keyId, Number(day), endpoint.join(' '), requests)
    }
    for (const [name, requests] of this.#unwritten.recent) {
      const [keyId, second] = name.split(' ') as [string, string]
      this.#meter.addRecent(keyId, Number(second), requests)
    }
    this.#meter.forgetRecent(Math.floor((this.#now() - 2 * MINUTE) / SECOND))
  }
}
