/**
 * Request limits and usage (contract "Limits"). Where there is one folder, the process that serves
 * counts them; several nodes count together, in their database. Times are milliseconds.
 */
import { LRUCache } from 'lru-cache'
import { DAY, startOfDay } from '../../core/clock.js'
import type { Log } from '../../core/log.js'
import { SlidingWindow } from '../../core/quota.js'
import { present } from '../../core/present.js'
import type { Engine } from '../../db/engine.js'
import type { Counter } from './admission.js'
import { countHere } from './count-here.js'
import { countTogether } from './count-together.js'
import { dailyRequests, endpointsOf } from './queries.js'
import type { EndpointCount } from './queries.js'

export interface UsageCounts {
  today: number
  thisMonth: number
  byEndpointToday: EndpointCount[]
  /** Seven entries, oldest first. */
  byDayLast7: { day: number; requests: number }[]
}

export interface Limits extends Counter {
  /**
   * False when this address has sent 20 wrong keys within a minute. Each node counts for itself: to
   * guess a key stays hopeless, however many of them are asked.
   */
  mayGuess(address: string): boolean
  /** Counts a wrong key of this address. */
  noteWrongKey(address: string): void
  usage(keyId: string): Promise<UsageCounts>
}

/** Wrong keys a minute and address. */
const MAX_FAILURES = 20
/** Addresses with failures that are remembered; beyond it the one of longest ago is forgotten. */
const MAX_FAILING = 10_000

export function openLimits(engine: Engine, now: () => number, log: Log): Limits {
  const { admit, flush } = engine.calls
    ? countTogether(engine.calls, now, log)
    : countHere(present(engine.meter.file, 'meter.db'), now, log)
  const failures = new LRUCache<string, SlidingWindow>({ max: MAX_FAILING })
  return {
    admit,
    flush,
    mayGuess: (address) => (failures.get(address)?.wait(now()) ?? 0) <= 0,
    noteWrongKey(address) {
      let window = failures.get(address)
      if (!window) failures.set(address, (window = new SlidingWindow(MAX_FAILURES)))
      window.record(now())
    },
    async usage(keyId) {
      flush()
      return usageOf(engine, now, keyId)
    },
  }
}

async function usageOf(engine: Engine, now: () => number, keyId: string): Promise<UsageCounts> {
  const { db } = engine.meter
  const today = startOfDay(await engine.time({ db: engine.db, now }))
  const month = new Date(today)
  const firstOfMonth = Date.UTC(month.getUTCFullYear(), month.getUTCMonth(), 1)
  const week = Array.from({ length: 7 }, (_, i) => today - (6 - i) * DAY)
  const days = await dailyRequests(db, Math.min(firstOfMonth, week[0]!), keyId)
  const requestsOf = (wanted: number) => days.find(({ day }) => day === wanted)?.requests ?? 0
  return {
    today: requestsOf(today),
    thisMonth: days
      .filter(({ day }) => day >= firstOfMonth && day <= today)
      .reduce((sum, { requests }) => sum + requests, 0),
    byEndpointToday: await endpointsOf(db, keyId, today),
    byDayLast7: week.map((day) => ({ day, requests: requestsOf(day) })),
  }
}
