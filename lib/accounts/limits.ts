/**
 * Request limits and usage (contract "Limits", decisions 2.3, 2.6). Counted in memory and written
 * every second, so a kill forgets one second at most. Times are milliseconds.
 */
import { DAY, MINUTE, SECOND, startOfDay } from '../core/clock.js'
import type { Log } from '../core/log.js'
import type { Engine } from '../db/engine.js'
import type { Key } from './caller.js'
import { SlidingWindow } from './sliding-window.js'
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
  byEndpointToday: { endpoint: string; requests: number }[]
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

/** Wrong keys a minute and address (decisions 2.3). */
const MAX_FAILURES = 20
/** Addresses with failures that are remembered; beyond it the oldest is forgotten. */
const MAX_FAILING = 10_000

interface KeyCounts {
  window: SlidingWindow
  limit: number
  day: number
  today: number
}

export function openLimits(engine: Engine, now: () => number, log: Log): Limits {
  const { prepare, raw } = engine.meter
  const byDay = prepare(
    'SELECT sum(requests) FROM usage WHERE key_id = ? AND day BETWEEN ? AND ?',
  ).pluck()
  const recent = prepare(
    'SELECT second, requests FROM recent WHERE key_id = ? AND second > ? ORDER BY second',
  )
  const keys = new Map<string, KeyCounts>()
  const failures = new Map<string, SlidingWindow>()
  const unwritten = { usage: new Map<string, number>(), recent: new Map<string, number>() }
  const add = (map: Map<string, number>, name: string) => map.set(name, (map.get(name) ?? 0) + 1)

  function load(key: Key, at: number): KeyCounts {
    const limit = TIERS[key.tier].per_minute
    const window = new SlidingWindow(limit)
    for (const row of recent.all(key.id, Math.floor((at - MINUTE) / SECOND) - 1) as {
      second: number
      requests: number
    }[]) {
      // The end of its second, or the window could be too wide by one.
      for (let i = 0; i < row.requests; i++) window.record(Math.min(row.second * SECOND + 999, at))
    }
    const day = startOfDay(at)
    return { window, limit, day, today: (byDay.get(key.id, day, day) as number | null) ?? 0 }
  }

  function countsOf(key: Key, at: number): KeyCounts {
    let counts = keys.get(key.id)
    // A changed tier changes the window's size.
    if (!counts || counts.limit !== TIERS[key.tier].per_minute) {
      flush()
      keys.set(key.id, (counts = load(key, at)))
    }
    if (counts.day !== startOfDay(at)) {
      flush()
      counts.day = startOfDay(at)
      counts.today = (byDay.get(key.id, counts.day, counts.day) as number | null) ?? 0
    }
    return counts
  }

  function admit(key: Key, endpoint: string): Admission {
    const at = now()
    const tier = TIERS[key.tier]
    const counts = countsOf(key, at)
    const minuteWait = counts.window.wait(at)
    const dayWait = counts.today >= tier.per_day ? counts.day + DAY - at : 0
    const allowed = minuteWait === 0 && dayWait === 0
    if (allowed) {
      counts.window.record(at)
      counts.today++
      add(unwritten.usage, `${key.id} ${counts.day} ${endpoint}`)
      add(unwritten.recent, `${key.id} ${Math.floor(at / SECOND)}`)
    }
    const minute = `"minute";r=${counts.window.remaining(at)};t=${Math.ceil((minuteWait || MINUTE) / SECOND)}`
    const day = `"day";r=${tier.per_day - counts.today};t=${Math.ceil((counts.day + DAY - at) / SECOND)}`
    return {
      allowed,
      retryAfter: allowed ? 0 : Math.max(1, Math.ceil(Math.max(minuteWait, dayWait) / SECOND)),
      policy: `"minute";q=${tier.per_minute};w=60, "day";q=${tier.per_day};w=86400`,
      state: `${minute}, ${day}`,
    }
  }

  const writeUsage = prepare(
    'INSERT INTO usage VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET requests = requests + excluded.requests',
  )
  const writeRecent = prepare(
    'INSERT INTO recent VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET requests = requests + excluded.requests',
  )
  const forgetRecent = prepare('DELETE FROM recent WHERE second < ?')
  const write = raw.transaction(() => {
    for (const [name, requests] of unwritten.usage) {
      const [keyId, day, ...endpoint] = name.split(' ') as [string, string, ...string[]]
      writeUsage.run(keyId, Number(day), endpoint.join(' '), requests)
    }
    for (const [name, requests] of unwritten.recent) {
      const [keyId, second] = name.split(' ') as [string, string]
      writeRecent.run(keyId, Number(second), requests)
    }
    forgetRecent.run(Math.floor((now() - 2 * MINUTE) / SECOND))
  })

  function flush(): void {
    if (unwritten.usage.size === 0) return
    try {
      write.immediate()
    } catch (error) {
      // Another process holds the file, or the disk is full: what was counted is kept for the next
      // time.
      return log.warn({ err: error }, 'usage could not be written')
    }
    unwritten.usage.clear()
    unwritten.recent.clear()
  }

  function allowFailure(address: string): boolean {
    let window = failures.get(address)
    if (!window) {
      if (failures.size >= MAX_FAILING) failures.delete(failures.keys().next().value!)
      failures.set(address, (window = new SlidingWindow(MAX_FAILURES)))
    }
    if (window.wait(now()) > 0) return false
    window.record(now())
    return true
  }

  const endpoints = prepare(
    'SELECT endpoint, requests FROM usage WHERE key_id = ? AND day = ? ORDER BY requests DESC, endpoint',
  )
  function usage(keyId: string): UsageCounts {
    flush()
    const today = startOfDay(now())
    const sum = (from: number, to: number) => (byDay.get(keyId, from, to) as number | null) ?? 0
    const month = new Date(today)
    return {
      today: sum(today, today),
      thisMonth: sum(Date.UTC(month.getUTCFullYear(), month.getUTCMonth(), 1), today),
      byEndpointToday: endpoints.all(keyId, today) as UsageCounts['byEndpointToday'],
      byDayLast7: Array.from({ length: 7 }, (_, i) => {
        const day = today - (6 - i) * DAY
        return { day, requests: sum(day, day) }
      }),
    }
  }

  return { admit, allowFailure, usage, flush }
}
