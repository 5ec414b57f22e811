/** What meter.db counts of each key's calls. Days are ms, seconds are of 1970. */
import type { RawHandle } from '../db/engine.js'

export interface EndpointCount {
  endpoint: string
  requests: number
}

export function usageQueries({ prepare }: RawHandle) {
  const requests = prepare(
    'SELECT sum(requests) FROM usage WHERE key_id = ? AND day BETWEEN ? AND ?',
  ).pluck()
  const recent = prepare(
    'SELECT second, requests FROM recent WHERE key_id = ? AND second > ? ORDER BY second',
  )
  const endpoints = prepare(`SELECT endpoint, requests FROM usage WHERE key_id = ? AND day = ?
    ORDER BY requests DESC, endpoint`)
  const addUsage = prepare(`INSERT INTO usage VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET requests = requests + excluded.requests`)
  const addRecent = prepare(`INSERT INTO recent VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET requests = requests + excluded.requests`)
  const forget = prepare('DELETE FROM recent WHERE second < ?')
  return {
    /** Calls of a key on these days, both inclusive. */
    requestsOf: (keyId: string, from: number, to: number): number =>
      (requests.get(keyId, from, to) as number | null) ?? 0,
    /** Calls of each second after one. */
    recentOf: (keyId: string, after: number) =>
      recent.all(keyId, after) as { second: number; requests: number }[],
    /** Calls of a day by endpoint, most first. */
    endpointsOf: (keyId: string, day: number) => endpoints.all(keyId, day) as EndpointCount[],
    addUsage: (keyId: string, day: number, endpoint: string, count: number): void =>
      void addUsage.run(keyId, day, endpoint, count),
    addRecent: (keyId: string, second: number, count: number): void =>
      void addRecent.run(keyId, second, count),
    forgetRecent: (before: number): void => void forget.run(before),
  }
}

/** Calls of all keys by day (ms), from one on. */
export function requestsByDay({
  prepare,
}: RawHandle): (from: number) => { day: number; requests: number }[] {
  const requests = prepare(
    'SELECT day, sum(requests) AS requests FROM usage WHERE day >= ? GROUP BY day ORDER BY day',
  )
  return (from) => requests.all(from) as { day: number; requests: number }[]
}
