/** Time for everything to settle: a server without callers and faults, and then the day after. */
import { DAY, HOUR } from '../../../lib/core/clock.js'
import { filesIn } from '../../../lib/db/sqlite/folder.js'
import { openFile } from '../../../lib/db/sqlite/sqlite.js'
import type { Raw } from '../../../lib/db/sqlite/sqlite.js'
import { OPEN_RECORDS } from '../../../lib/orders/tracking/queries.js'
import { OPEN } from '../../../lib/orders/stored.js'
import type { Arena } from './arena.js'
import { goOn, timeOf } from './clock.js'
import { liveAndStop } from './deaths.js'
import { natureOf } from './documents.js'
import { sleep } from './process.js'

/**
 * Speed of the clock meanwhile. A faster one outruns a machine that has other work as well: orders
 * would grow old unsent.
 */
const SPEED = 600
/**
 * Where news are all that is waited for: the patience with a look, two minutes and half a second
 * for each order, runs by the clock too, and would be over before a busy machine has answered.
 */
const SLOWER = 30
/**
 * Milliseconds of real time for what a distributor can be asked about, for the rest, for the day
 * after, and for the news of all that.
 */
const LONGEST = { askable: 80_000, others: 5_000, after: 20_000, news: 240_000 }

/** Where each order is asked for by itself, those with chaos may keep a look from ever succeeding. */
export const EACH_BY_ITSELF: readonly string[] = ['RSR', 'TSW', 'ZND']

/** Milliseconds for files and calls that tell nothing afterwards, where a run is to be short. */
export const SHORT = 500

/** Lets everything settle; what is still open afterwards will stay open. */
export async function drain(arena: Arena, others = LONGEST.others): Promise<void> {
  const { dir } = arena
  arena.house?.calm()
  arena.setClock(goOn(arena.clock(), { speed: SPEED }))
  await liveAndStop(
    arena,
    async () => {
      await until(
        () => openOrders(dir).every(({ distid, state }) => state === 'review' || isHard(distid)),
        LONGEST.askable,
      )
      await until(() => openOrders(dir).every(({ state }) => state === 'review'), others)
    },
    { serving: false, calm: true },
  )
  arena.setClock(goOn(arena.clock(), { ahead: DAY + HOUR }))
  await liveAndStop(
    arena,
    async () => {
      await until(() => openOrders(dir).every(({ state }) => state === 'review'), LONGEST.after)
    },
    { serving: false, calm: true },
  )
  // Every account is due by then.
  arena.setClock(goOn(arena.clock(), { speed: SLOWER, ahead: DAY }))
  await liveAndStop(
    arena,
    async () => {
      // All that ever became of an order has happened by now: once each account was asked, the
      // records say so.
      const began = timeOf(arena.clock())
      await until(() => isAsked(dir, began), LONGEST.news)
    },
    { serving: false, calm: true },
  )
}

async function until(isDone: () => boolean, ms: number): Promise<void> {
  const end = performance.now() + ms
  while (!isDone() && performance.now() < end) await sleep(100)
}

function isHard(distid: string): boolean {
  const { recovery } = natureOf(distid)!
  return recovery === 'file' || recovery === 'one_shot'
}

/** Every account with orders of which more may be heard was asked for its news after that time. */
function isAsked(dir: string, began: number): boolean {
  const each = EACH_BY_ITSELF.map((distid) => `'${distid}'`).join()
  const sql =
    'SELECT count(*) FROM (SELECT DISTINCT subscriber_id, distid, mode FROM ' +
    `fulfillment_order WHERE ${OPEN_RECORDS}) LEFT JOIN monitor USING (subscriber_id, distid,` +
    ` mode) WHERE coalesce(next_at, 0) <= ? OR (failures > 0 AND distid NOT IN (${each}))`
  return query(dir, (raw) => raw.prepare(sql).pluck().get(began) === 0)
}

function openOrders(dir: string): { distid: string; state: string }[] {
  return query(
    dir,
    (raw) =>
      raw
        .prepare(
          'SELECT DISTINCT distid, state FROM purchase_order WHERE state IN ' +
            `(${OPEN.map((state) => `'${state}'`).join(', ')})`,
        )
        .all() as { distid: string; state: string }[],
  )
}

function query<T>(dir: string, ask: (raw: Raw) => T): T {
  const raw = openFile(filesIn(dir).record, { synchronous: 'FULL', readonly: true })
  try {
    return ask(raw)
  } finally {
    raw.close()
  }
}
