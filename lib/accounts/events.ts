/**
 * What an operator should hear of: each event once, however often it is noticed, and its end once.
 * It stands in the log when it is told, and in a list.
 */
import { invalid } from '../core/errors.js'
import type { DbCtx } from '../db/ctx.js'

/** `subject` tells one event of a kind from another. */
export interface EventInput {
  readonly kind: 'license_expiring'
  readonly subject: string
  /** One sentence. */
  readonly message: string
}

export interface ListedEvent {
  kind: string
  subject: string
  message: string
  /** RFC 3339. */
  at: string
}

const MOST = 1_000

type EventsCtx = Pick<DbCtx, 'db' | 'now' | 'log'>

/** Tells of something, unless it was told before; whether it was new. */
export async function tellEvent(
  { db, now, log }: EventsCtx,
  { kind, subject, message }: EventInput,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows: inserted = 0n } = await db
    .insertInto('event')
    .values({ kind, subject, message, at: now() })
    .onConflict((conflict) => conflict.columns(['kind', 'subject']).doNothing())
    .executeTakeFirst()
  if (inserted > 0n) log.warn({ event: kind, subject }, message)
  return inserted > 0n
}

/** The newest events first. Throws 400 for a limit that is no whole number from 1 to 1,000. */
export async function listEvents(
  { read }: Pick<DbCtx, 'read'>,
  { limit = 100 }: { limit?: number } = {},
): Promise<ListedEvent[]> {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MOST)
    throw invalid('limit', `must be a whole number from 1 to ${MOST}`)
  const rows = await read
    .selectFrom('event')
    .select(['kind', 'subject', 'message', 'at'])
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ at, ...row }) => ({ ...row, at: new Date(at).toISOString() }))
}
