/** What a distributor was asked for orders within the last day, and how that went. */
import { DAY } from '../../core/clock.js'
import type { OrdersCtx } from '../ctx.js'
import { openTranscript } from '../transcripts.js'

export interface ToldCall {
  at: string
  /** Reference of the purchase order that it was about. */
  ref: string
  kind: 'send' | 'search'
  method: string
  path: string
  /** Null where no answer came. */
  status: number | null
  /** Milliseconds. */
  took: number
  fault: string | null
}

export interface Activity {
  distid: string
  since: string
  /** Sends and searches of the day; of the newest of them, calls are told. */
  sends: number
  searches: number
  calls: number
  /** Calls without an answer, and with one from 400 on. */
  errors: number
  /** The newest calls first. */
  newest: ToldCall[]
}

/** Transcripts that are opened, and calls that are told. */
const OPENED = 200
const TOLD = 50

/** Counts what the transcripts of the last day have; those of orders that were forgotten are gone. */
export async function activityOf(ctx: OrdersCtx, distid: string): Promise<Activity> {
  const since = ctx.now() - DAY
  const all = ctx.read
    .selectFrom('transcript')
    .innerJoin('purchase_order', 'purchase_order.id', 'transcript.purchase_order_id')
    .where('transcript.at', '>=', since)
    .where('purchase_order.distid', '=', distid)
  const counts = await all
    .select((query) => ['transcript.kind', query.fn.countAll<number>().as('count')])
    .groupBy('transcript.kind')
    .execute()
  const rows = await all
    .select([
      'transcript.kind',
      'transcript.payload',
      'purchase_order.client_ref',
      'purchase_order.subscriber_id',
    ])
    .orderBy('transcript.id', 'desc')
    .limit(OPENED)
    .execute()
  const calls = rows.flatMap(({ payload, kind, ...order }) =>
    openTranscript(ctx, order, payload).map(
      ({ at, method, path, status, took, fault }): ToldCall => ({
        at: new Date(at).toISOString(),
        ref: order.client_ref,
        kind,
        method,
        path,
        status,
        took,
        fault,
      }),
    ),
  )
  const countOf = (wanted: ToldCall['kind']) =>
    counts.find(({ kind }) => kind === wanted)?.count ?? 0
  return {
    distid,
    since: new Date(since).toISOString(),
    sends: countOf('send'),
    searches: countOf('search'),
    calls: calls.length,
    errors: calls.filter(({ status }) => status === null || status >= 400).length,
    newest: calls.sort((a, b) => (a.at < b.at ? 1 : -1)).slice(0, TOLD),
  }
}
