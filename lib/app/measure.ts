/** Figures of an installation, for what watches it. Each is read when it is asked for, and cheap. */
import { existsSync, statSync } from 'node:fs'
import { filesIn } from '../db/sqlite/folder.js'
import type { PoState } from '../db/tables/orders.js'
import { feedStates } from '../feeds/findings.js'
import type { FeedState } from '../feeds/findings.js'
import { readPause } from '../orders/engine/pause.js'
import { isOpenPurchase } from '../orders/queries.js'
import { OPEN } from '../orders/stored.js'
import type { OperatorCtx } from './ctx.js'

export interface Measures {
  now: number
  feeds: FeedState[]
  /** Purchase orders that are open, by state. */
  orders: Map<PoState, number>
  /** Purchase orders that were ever written down. */
  ordersEver: number
  /** Lines of the order journal. */
  journalLines: number
  isPaused: boolean
  isBroken: boolean
  isSender: boolean
  /** Alarms that are raised, by kind. */
  alarms: Map<string, number>
  /** Events that wait for a receiver. */
  eventsWaiting: number
  /** Milliseconds since 1970 of the last end that was well, and failures in a row, by job. */
  jobs: { name: string; finishedAt: number | null; failures: number }[]
  /** Bytes of each database and of its write-ahead log, by file. */
  files: { file: string; bytes: number; walBytes: number }[]
  freeBytes: number
  catalog: ReturnType<OperatorCtx['catalog']['status']>
}

export async function measure(ctx: OperatorCtx): Promise<Measures> {
  const { read, engine, space, orders, catalog, now } = ctx
  const [feeds, open, last, line, pause, alarms, waiting, jobs] = await Promise.all([
    feedStates(ctx),
    read
      .selectFrom('purchase_order')
      .select(['state', ({ fn }) => fn.countAll<number>().as('count')])
      .where(isOpenPurchase)
      .groupBy('state')
      .execute(),
    read
      .selectFrom('purchase_order')
      .select(({ fn }) => fn.max('id').as('id'))
      .executeTakeFirst(),
    read
      .selectFrom('journal')
      .select(({ fn }) => fn.max('seq').as('seq'))
      .executeTakeFirst(),
    readPause(ctx),
    read
      .selectFrom('alarm')
      .select(['kind', ({ fn }) => fn.countAll<number>().as('count')])
      .groupBy('kind')
      .execute(),
    read
      .selectFrom('event_delivery')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('state', '=', 'waiting')
      .executeTakeFirst(),
    read.selectFrom('job').select(['name', 'last_finished_at', 'failures']).execute(),
  ])
  return {
    now: now(),
    feeds,
    orders: new Map(
      OPEN.map((state) => [state, open.find((row) => row.state === state)?.count ?? 0]),
    ),
    ordersEver: last?.id ?? 0,
    journalLines: line?.seq ?? 0,
    isPaused: pause !== null,
    isBroken: pause?.damage !== undefined,
    isSender: orders.isSender,
    alarms: new Map(alarms.map(({ kind, count }) => [kind, count])),
    eventsWaiting: waiting?.count ?? 0,
    jobs: jobs.map(({ name, last_finished_at: finishedAt, failures }) => ({
      name,
      finishedAt: failures === 0 ? finishedAt : null,
      failures,
    })),
    files: Object.entries(filesIn(engine.dir)).map(([file, path]) => ({
      file,
      bytes: sizeOf(path),
      walBytes: sizeOf(`${path}-wal`),
    })),
    freeBytes: space.free(),
    catalog: catalog.status(),
  }
}

const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0)
