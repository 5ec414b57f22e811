/** What is counted of each key's calls. Days are ms, seconds are of 1970. */
import type { Kysely } from 'kysely'
import type { RawHandle } from '../../db/metered.js'
import type { UsageTable } from '../../db/tables/meter.js'
import type { MeterTables } from '../../db/tables/tables.js'

export type EndpointCount = Pick<UsageTable, 'endpoint' | 'requests'>

/** Calls by day, from one on; of all keys, or of one. */
export async function dailyRequests(
  db: Kysely<MeterTables>,
  from: number,
  keyId?: string,
): Promise<{ day: number; requests: number }[]> {
  return db
    .selectFrom('usage')
    .select(({ fn }) => ['day', fn.sum<number>('requests').as('requests')])
    .where('day', '>=', from)
    .$if(keyId !== undefined, (query) => query.where('key_id', '=', keyId!))
    .groupBy('day')
    .orderBy('day')
    .execute()
}

/** Calls of a day by endpoint, most first. */
export async function endpointsOf(
  db: Kysely<MeterTables>,
  keyId: string,
  day: number,
): Promise<EndpointCount[]> {
  return db
    .selectFrom('usage')
    .select(['endpoint', 'requests'])
    .where('key_id', '=', keyId)
    .where('day', '=', day)
    .orderBy('requests', 'desc')
    .orderBy('endpoint')
    .execute()
}

/** What meter.db is asked within a turn, by the one process that counts. */
export function usageQueries({ prepare }: RawHandle) {
  const requests = prepare('SELECT sum(requests) FROM usage WHERE key_id = ? AND day = ?').pluck()
  const recent = prepare(
    'SELECT second, requests FROM recent WHERE key_id = ? AND second > ? ORDER BY second',
  )
  const addUsage = prepare(`INSERT INTO usage VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET requests = requests + excluded.requests`)
  const addRecent = prepare(`INSERT INTO recent VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET requests = requests + excluded.requests`)
  const forget = prepare('DELETE FROM recent WHERE second < ?')
  return {
    /** Calls of a key on a day. */
    requestsOf: (keyId: string, day: number): number =>
      (requests.get(keyId, day) as number | null) ?? 0,
    /** Calls of each second after one. */
    recentOf: (keyId: string, after: number) =>
      recent.all(keyId, after) as { second: number; requests: number }[],
    addUsage: (keyId: string, day: number, endpoint: string, count: number): void =>
      void addUsage.run(keyId, day, endpoint, count),
    addRecent: (keyId: string, second: number, count: number): void =>
      void addRecent.run(keyId, second, count),
    forgetRecent: (before: number): void => void forget.run(before),
  }
}
