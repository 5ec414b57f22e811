/** Dealers of the directory, many at a time. */
import { isBusy } from '../db/faults.js'
import { nextTurn, pause } from '../core/async/wait.js'
import type { FflsCtx } from './ctx.js'
import { touch } from '../db/state.js'
import type { KnownDealer, OperatorsWord } from './lists/diff.js'
import type { ListedDealer } from './lists/rows.js'

/** Columns that a list decides. */
const LISTED: readonly (keyof ListedDealer)[] = [
  'id',
  'license_number',
  'license_type',
  'expires_on',
  'license_name',
  'business_name',
  'premise_street',
  'premise_city',
  'premise_state',
  'premise_zip',
  'mail_street',
  'mail_city',
  'mail_state',
  'mail_zip',
  'voice_phone',
]
const COLUMNS: readonly Exclude<keyof KnownDealer, keyof OperatorsWord>[] = [
  ...LISTED,
  'listed',
  'source',
  'updated_at',
]

/** Rows that are worked on at a time: they hold up everything else for some 30 ms. */
export const STEP = 4_000
/** Every dealer by identity. Read in pages, so that others have their turn. */
export async function knownDealers({ read }: FflsCtx): Promise<Map<string, KnownDealer>> {
  const known = new Map<string, KnownDealer>()
  for (let after = ''; ;) {
    const rows = (await read
      .selectFrom('dealer')
      .select([...COLUMNS, 'valid_until', 'own_phone'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(STEP)
      .execute()) as KnownDealer[]
    for (const row of rows) {
      known.set(row.id, row)
      after = row.id
    }
    if (rows.length < STEP) return known
    await nextTurn()
  }
}

/**
 * Rows of one transaction: it lasts some 20 ms, and a server beside it waits 200 ms for its own.
 */
const CHUNK = 400
/** Rows of one statement. */
const BATCH = 100
/** Milliseconds between two transactions, in which others get theirs. */
const PAUSE = 10

/**
 * Works through items in transactions of some hundred, each of which says that dealers changed.
 * What is left after a crash, the next run finds again.
 */
export async function inChunks<T>(
  ctx: FflsCtx,
  items: readonly T[],
  act: (tx: FflsCtx, chunk: readonly T[]) => Promise<void>,
  onChunk: (done: number) => void,
): Promise<void> {
  for (let at = 0; at < items.length; at += CHUNK) {
    const chunk = items.slice(at, at + CHUNK)
    await patiently(() =>
      ctx.engine.atomic(ctx, async (tx) => {
        for (let from = 0; from < chunk.length; from += BATCH)
          await act(tx, chunk.slice(from, from + BATCH))
        await touch(tx.db, 'dealers')
      }),
    )
    onChunk(chunk.length)
    await pause(PAUSE)
  }
  // Who wrote sees it at once.
  if (items.length > 0) await ctx.dealers.refresh()
}

const ATTEMPTS = 50

/** Comes back while another process writes: long work must not fail at a chunk in the middle. */
export async function patiently<T>(act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await act()
    } catch (error) {
      if (!isBusy(error) || attempt === ATTEMPTS) throw error
      await pause(PAUSE * 5)
    }
  }
}

/**
 * Adds dealers, or gives known ones these values. What the operator set stays as it is now,
 * whatever it was when the list was compared: a telephone number, and a later end as long as the
 * license is the one that it was given to.
 */
export async function putDealers({ db }: FflsCtx, dealers: readonly KnownDealer[]): Promise<void> {
  const rows = dealers.map(({ valid_until: _end, own_phone: _own, ...dealer }) => dealer)
  await db
    .insertInto('dealer')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((query) => ({
        ...Object.fromEntries(
          COLUMNS.slice(1).map((column) => [column, query.ref(`excluded.${column}`)]),
        ),
        valid_until: query
          .case()
          .when('dealer.license_number', '=', query.ref('excluded.license_number'))
          .then(query.ref('dealer.valid_until'))
          .end(),
        voice_phone: query
          .case()
          .when('dealer.own_phone', '=', 1)
          .then(query.ref('dealer.voice_phone'))
          .else(query.ref('excluded.voice_phone'))
          .end(),
      })),
    )
    .execute()
}

/** Takes dealers off the list. `asOf`: the time of the list that lacks them, ms. */
export async function delistDealers(
  { db }: FflsCtx,
  dealers: readonly KnownDealer[],
  asOf: number,
): Promise<void> {
  await db
    .updateTable('dealer')
    .set({ listed: 0, updated_at: asOf })
    .where(
      'id',
      'in',
      dealers.map(({ id }) => id),
    )
    .execute()
}
