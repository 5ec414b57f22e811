/** What is counted of fraud calls: checks of a key, and what was tried with a signal. */
import type { Kysely } from 'kysely'
import { meteredQuery } from '../../db/query.js'
import type { Work } from '../../db/query.js'
import { all, change, first } from '../../db/reading.js'
import type { FraudTryTable } from '../../db/tables/meter.js'
import type { MeterTables } from '../../db/tables/tables.js'

type Meter = Kysely<MeterTables>

/** Checks of a key within a day (contract "Limits"). */
export const CHECK_QUOTA = 1_000

/** Times of a key's checks, each by one step into the index; null for none. */
const checkTimes = meteredQuery((db, { keyId }: { keyId: string }) => {
  const one = (order: 'asc' | 'desc', offset = 0) =>
    db
      .selectFrom('fraud_check')
      .select('at')
      .where('key_id', '=', keyId)
      .orderBy('at', order)
      .limit(1)
      .offset(offset)
  return db.selectNoFrom([
    one('desc').as('newest'),
    one('asc').as('oldest'),
    // Counted from the newest.
    one('desc', CHECK_QUOTA - 1).as('nth'),
  ])
})

const setAhead = meteredQuery((db, given: { keyId: string; at: number; latest: number }) =>
  db
    .updateTable('fraud_check')
    .set({ at: given.at })
    .where('key_id', '=', given.keyId)
    .where('at', '>', given.latest),
)

const forgetChecks = meteredQuery((db, { keyId, since }: { keyId: string; since: number }) =>
  db.deleteFrom('fraud_check').where('key_id', '=', keyId).where('at', '<=', since),
)

const insertCheck = meteredQuery((db, { keyId, at }: { keyId: string; at: number }) =>
  db.insertInto('fraud_check').values({ key_id: keyId, at }),
)

/**
 * When the check was made with which a key's quota was used up, counted from the newest; undefined
 * where there are not so many after `since`. Older ones are forgotten, and those after `latest`,
 * which come from a clock that was wrong, count as made `at`.
 */
export function* checkBefore(
  keyId: string,
  { at, since, latest }: { at: number; since: number; latest: number },
): Work<number | undefined> {
  const known = yield* first(checkTimes, { keyId })
  const [isAhead, isOld] = [(known?.newest ?? at) > latest, (known?.oldest ?? at) <= since]
  // Mostly there is nothing to put right, and one look does.
  if (!isAhead && !isOld) return known?.nth ?? undefined
  if (isAhead) yield* change(setAhead, { keyId, at, latest })
  if (isOld) yield* change(forgetChecks, { keyId, since })
  return (yield* first(checkTimes, { keyId }))?.nth ?? undefined
}

export function* addCheck(keyId: string, at: number): Work<void> {
  yield* change(insertCheck, { keyId, at })
}

/** How many checks each key made after `since`. */
export async function checksByKey(
  meter: Meter,
  since: number,
): Promise<{ key_id: string; uses: number }[]> {
  return meter
    .selectFrom('fraud_check')
    .select(({ fn }) => ['key_id', fn.countAll<number>().as('uses')])
    .where('at', '>', since)
    .groupBy('key_id')
    .execute()
}

/** What an asker tried with a signal that matched. */
export type Tried = Omit<FraudTryTable, 'asker' | 'signal'>

export const triedWith = meteredQuery((db, { asker, signal }: { asker: string; signal: string }) =>
  db
    .selectFrom('fraud_try')
    .select(['at', 'overlap', 'similar', 'free', 'later'])
    .where('asker', '=', asker)
    .where('signal', '=', signal),
)

export const setLater = meteredQuery(
  (db, given: { asker: string; signal: string; later: string }) =>
    db
      .updateTable('fraud_try')
      .set({ later: given.later })
      .where('asker', '=', given.asker)
      .where('signal', '=', given.signal),
)

export const insertTry = meteredQuery((db, given: Omit<FraudTryTable, 'later'>) =>
  db.insertInto('fraud_try').values({
    asker: given.asker,
    signal: given.signal,
    at: given.at,
    overlap: given.overlap,
    similar: given.similar,
    free: given.free,
    later: '[]',
  }),
)

export const deleteTry = meteredQuery((db, { asker, signal }: { asker: string; signal: string }) =>
  db.deleteFrom('fraud_try').where('asker', '=', asker).where('signal', '=', signal),
)

const outside = meteredQuery((db, given: { asker: string; since: number; latest: number }) =>
  db
    .selectFrom('fraud_try')
    .select('signal')
    .where('asker', '=', given.asker)
    .where((where) => where.or([where('at', '<=', given.since), where('at', '>', given.latest)])),
)

/** Signals with which an asker began up to `since`, or after `latest`. */
export function* triesOutside(
  asker: string,
  { since, latest }: { since: number; latest: number },
): Work<string[]> {
  return (yield* all(outside, { asker, since, latest })).map(({ signal }) => signal)
}

/** Removes what was begun up to then, whoever did, but for what is excepted. */
export async function deleteTries(
  meter: Meter,
  { since, except }: { since: number; except: (row: { asker: string; signal: string }) => boolean },
): Promise<void> {
  const old = meter.selectFrom('fraud_try').select(['asker', 'signal']).where('at', '<=', since)
  const rows = await old.execute()
  if (!rows.some(except)) {
    await meter.deleteFrom('fraud_try').where('at', '<=', since).execute()
    return
  }
  for (const { asker, signal } of rows.filter((row) => !except(row)))
    await meter
      .deleteFrom('fraud_try')
      .where('asker', '=', asker)
      .where('signal', '=', signal)
      .execute()
}
