/**
 * Calls that the one process of a folder counts in memory and writes every second, so that a kill
 * forgets one second at most.
 */
import { MINUTE, SECOND, startOfDay } from '../../core/clock.js'
import type { Log } from '../../core/log.js'
import { SlidingWindow } from '../../core/quota.js'
import type { RawHandle } from '../../db/metered.js'
import type { Key } from '../caller.js'
import { TIERS } from '../tiers.js'
import { admission } from './admission.js'
import type { Admission, Counter } from './admission.js'
import { countIn } from './key-counts.js'
import type { KeyCounts } from './key-counts.js'
import { usageQueries } from './queries.js'

/** `file` is meter.db. */
export function countHere(file: RawHandle, now: () => number, log: Log): Counter {
  const usage = new Usage(file, now, log)
  const counts = new Counts(usage, now)
  return { admit: (key, endpoint) => counts.admit(key, endpoint), flush: () => usage.flush() }
}

class Counts {
  readonly #usage: Usage
  readonly #now: () => number
  readonly #keys = new Map<string, KeyCounts>()

  constructor(usage: Usage, now: () => number) {
    this.#usage = usage
    this.#now = now
  }

  admit(key: Key, endpoint: string): Admission {
    const at = this.#now()
    const counts = this.#countsOf(key, at)
    const counted = countIn(counts, at, TIERS[key.tier].per_day)
    if (counted.isAllowed)
      this.#usage.add(key.id, endpoint, { day: counts.day, second: Math.floor(at / SECOND) })
    return admission(key.tier, counted)
  }

  #countsOf(key: Key, at: number): KeyCounts {
    let counts = this.#keys.get(key.id)
    // A changed tier changes the window's size.
    if (!counts || counts.limit !== TIERS[key.tier].per_minute) {
      this.#usage.flush()
      this.#keys.set(key.id, (counts = this.#load(key, at)))
    }
    if (counts.day !== startOfDay(at)) {
      this.#usage.flush()
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

  constructor(file: RawHandle, now: () => number, log: Log) {
    this.#meter = usageQueries(file)
    this.#write = file.raw.transaction(() => this.#writeAll())
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
    return this.#meter.requestsOf(keyId, day)
  }

  /** What is written of the last minute, and of the second before it. */
  recentOf(keyId: string, at: number): { second: number; requests: number }[] {
    return this.#meter.recentOf(keyId, Math.floor((at - MINUTE) / SECOND) - 1)
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
