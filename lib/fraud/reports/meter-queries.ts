/** What is counted of fraud calls: checks of a key, and what was tried with a signal. */
import type { Insertable, Kysely } from 'kysely'
import type { FraudTryTable } from '../../db/tables/meter.js'
import type { MeterTables } from '../../db/tables/tables.js'

type Meter = Kysely<MeterTables>

/**
 * When the `nth` of a key's checks was made, counted from the newest; undefined where there are not
 * so many after `since`. Older ones are forgotten, and those after `latest`, which come from a clock
 * that was wrong, count as made `at`.
 */
export async function checkBefore(
  meter: Meter,
  keyId: string,
  { nth, at, since, latest }: { nth: number; at: number; since: number; latest: number },
): Promise<number | undefined> {
  const { newest, oldest, wanted } = await checksOf(meter, keyId, nth)
  const [isAhead, isOld] = [(newest ?? at) > latest, (oldest ?? at) <= since]
  // Mostly there is nothing to put right, and one look does.
  if (!isAhead && !isOld) return wanted ?? undefined
  if (isAhead)
    await meter
      .updateTable('fraud_check')
      .set({ at })
      .where('key_id', '=', keyId)
      .where('at', '>', latest)
      .execute()
  if (isOld)
    await meter
      .deleteFrom('fraud_check')
      .where('key_id', '=', keyId)
      .where('at', '<=', since)
      .execute()
  return (await checksOf(meter, keyId, nth)).wanted ?? undefined
}

/** Times of a key's checks, each by one step into the index; null for none. */
async function checksOf(meter: Meter, keyId: string, nth: number) {
  const one = (order: 'asc' | 'desc', offset = 0) =>
    meter
      .selectFrom('fraud_check')
      .select('at')
      .where('key_id', '=', keyId)
      .orderBy('at', order)
      .limit(1)
      .offset(offset)
  return meter
    .selectNoFrom([
      one('desc').as('newest'),
      one('asc').as('oldest'),
      // Counted from the newest.
      one('desc', nth - 1).as('wanted'),
    ])
    .executeTakeFirstOrThrow()
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

export async function addCheck(meter: Meter, keyId: string, at: number): Promise<void> {
  await meter.insertInto('fraud_check').values({ key_id: keyId, at }).execute()
}

/** What an asker tried with a signal that matched. */
export type Tried = Omit<FraudTryTable, 'asker' | 'signal'>

export async function triedWith(
  meter: Meter,
  asker: string,
  signal: string,
): Promise<Tried | undefined> {
  return meter
    .selectFrom('fraud_try')
    .select(['at', 'overlap', 'similar', 'free', 'later'])
    .where('asker', '=', asker)
    .where('signal', '=', signal)
    .executeTakeFirst()
}

export async function saveLater(
  meter: Meter,
  asker: string,
  signal: string,
  later: string,
): Promise<void> {
  await meter
    .updateTable('fraud_try')
    .set({ later })
    .where('asker', '=', asker)
    .where('signal', '=', signal)
    .execute()
}

export async function insertTry(
  meter: Meter,
  tried: Omit<Insertable<FraudTryTable>, 'later'>,
): Promise<void> {
  await meter
    .insertInto('fraud_try')
    .values({ ...tried, later: '[]' })
    .execute()
}

/** Signals with which an asker began up to `since`, or after `latest`. */
export async function triesOutside(
  meter: Meter,
  asker: string,
  { since, latest }: { since: number; latest: number },
): Promise<string[]> {
  const rows = await meter
    .selectFrom('fraud_try')
    .select('signal')
    .where('asker', '=', asker)
    .where((where) => where.or([where('at', '<=', since), where('at', '>', latest)]))
    .execute()
  return rows.map(({ signal }) => signal)
}

export async function deleteTry(meter: Meter, asker: string, signal: string): Promise<void> {
  await meter
    .deleteFrom('fraud_try')
    .where('asker', '=', asker)
    .where('signal', '=', signal)
    .execute()
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
  for (const row of rows) if (!except(row)) await deleteTry(meter, row.asker, row.signal)
}
