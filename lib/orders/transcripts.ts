/**
 * What went over the wire for purchase orders: sealed as the orders are, with its secrets hidden,
 * and kept for 90 days.
 */
import { DAY } from '../core/clock.js'
import type { Job } from '../core/async/job.js'
import type { Exchange, Transcript } from '../distributors/session/transcript.js'
import { pipelined } from '../db/together.js'
import type { OrdersCtx } from './ctx.js'
import type { StoredPo } from './stored.js'

const KEPT = 90 * DAY
/** Searches of one order that are kept: an order may be looked for every minute of a day. */
const SEARCHES = 10

/** The calls of one send, or of one search for the order. */
export interface KeptTranscript {
  kind: 'send' | 'search'
  at: string
  exchanges: Exchange[]
}

type Owned = Pick<StoredPo, 'subscriber_id' | 'client_ref'>

const placeOf = ({ client_ref: ref }: Pick<Owned, 'client_ref'>) => `transcript of ${ref}`

/** Rows of one send or search. */
type Sealed = {
  purchase_order_id: number
  kind: KeptTranscript['kind']
  at: number
  payload: string
}

/**
 * What was recorded, ready to be written; null where nothing went over a wire. Throws nothing: an
 * order that is placed is not lost because of what is kept beside it.
 */
export function sealTranscript(
  { secrets, now, log }: Pick<OrdersCtx, 'secrets' | 'now' | 'log'>,
  order: Owned & Pick<StoredPo, 'id'>,
  kind: KeptTranscript['kind'],
  transcript: Transcript,
): Sealed | null {
  try {
    const exchanges = transcript.told()
    if (exchanges.length === 0) return null
    const payload = secrets.of(order.subscriber_id).seal(JSON.stringify(exchanges), placeOf(order))
    return { purchase_order_id: order.id, kind, at: now(), payload }
  } catch (error) {
    log.warn({ err: error, ref: order.client_ref }, 'a transcript could not be kept')
    return null
  }
}

/** Writes it down. */
export async function keepTranscript(
  { db }: Pick<OrdersCtx, 'db'>,
  sealed: Sealed | null,
): Promise<void> {
  if (sealed === null) return
  await pipelined(db, [db.insertInto('transcript').values(sealed)])
  if (sealed.kind === 'send') return
  const { purchase_order_id: id } = sealed
  await db
    .deleteFrom('transcript')
    .where('purchase_order_id', '=', id)
    .where('kind', '=', 'search')
    .where('id', 'not in', (query) =>
      query
        .selectFrom('transcript')
        .select('id')
        .where('purchase_order_id', '=', id)
        .where('kind', '=', 'search')
        .orderBy('id', 'desc')
        .limit(SEARCHES),
    )
    .execute()
}

/** The transcripts of a purchase order, oldest first. */
export async function transcriptsOf(
  ctx: Pick<OrdersCtx, 'read' | 'secrets'>,
  order: Owned & Pick<StoredPo, 'id'>,
): Promise<KeptTranscript[]> {
  const rows = await ctx.read
    .selectFrom('transcript')
    .select(['kind', 'at', 'payload'])
    .where('purchase_order_id', '=', order.id)
    .orderBy('id')
    .execute()
  return rows.map(({ kind, at, payload }) => ({
    kind,
    at: new Date(at).toISOString(),
    exchanges: openTranscript(ctx, order, payload),
  }))
}

/** The calls of a kept payload. */
export function openTranscript(
  { secrets }: Pick<OrdersCtx, 'secrets'>,
  order: Owned,
  payload: string,
): Exchange[] {
  return JSON.parse(secrets.of(order.subscriber_id).open(payload, placeOf(order))) as Exchange[]
}

/** Forgets what is older than 90 days. */
export const transcriptJob: Job<OrdersCtx> = {
  name: 'transcripts',
  every: DAY,
  run: async ({ db, now }) => {
    await db
      .deleteFrom('transcript')
      .where('at', '<', now() - KEPT)
      .execute()
  },
}
