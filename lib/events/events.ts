/**
 * What an operator should hear of: each event once, however often it is noticed. An alarm is told
 * when it is raised, and when it has ended. It stands in the log and in a list, and waits for
 * whoever is to be told of it.
 */
import { invalid } from '../core/errors.js'
import type { Finding, Severity } from '../core/finding.js'
import type { DbCtx } from '../db/ctx.js'
import type { DeliveryState, EventState, EventTable } from '../db/tables/events.js'

/** `subject` tells one event of a kind from another. */
export interface EventInput {
  readonly kind: string
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
  /** By which a receiver knows one that it gets twice. */
  id: string
  /** `told` once; or an alarm was `raised`, or has `ended`. */
  state: EventState
  severity: Exclude<Severity, 'ok'>
  /** A command that mends it, or shows what to decide. */
  mend: string | null
  /** Whom it reached, and whom it has not. */
  deliveries: ListedDelivery[]
}

export interface ListedDelivery {
  receiver: string
  state: DeliveryState
  attempts: number
  /** When it is tried again, RFC 3339; null where it is not. */
  next_at: string | null
  /** Why the last attempt failed. */
  fault: string | null
}

const MOST = 1_000
const ID_BYTES = 12

export type EventsCtx = Pick<DbCtx, 'db' | 'read' | 'engine' | 'now' | 'random' | 'log'>

/** Tells of something, unless it was told before; whether it was new. */
export async function tellEvent(
  ctx: EventsCtx,
  { kind, subject, message }: EventInput,
): Promise<boolean> {
  const isNew = await ctx.engine.atomic(ctx, async (tx) => {
    const before = await tx.db
      .selectFrom('event')
      .select('id')
      .where('kind', '=', kind)
      .where('subject', '=', subject)
      .where('state', '=', 'told')
      .executeTakeFirst()
    if (before) return false
    await addEvent(tx, { kind, subject, message, state: 'told', severity: 'warn', mend: null })
    return true
  })
  if (isNew) ctx.log.warn({ event: kind, subject }, message)
  return isNew
}

/**
 * Raises an alarm for each finding that is not well and was not before, and ends those of `checks`
 * that are no longer found.
 */
export async function tellAlarms(
  ctx: EventsCtx,
  found: readonly Finding[],
  checks: ReadonlySet<string>,
): Promise<void> {
  const raised: Finding[] = []
  const ended: string[] = []
  await ctx.engine.atomic(ctx, async (tx) => {
    // The whole may run again.
    raised.length = ended.length = 0
    const open = await tx.db.selectFrom('alarm').selectAll().execute()
    const wrong = found.filter(({ severity }) => severity === 'warn' || severity === 'bad')
    for (const finding of wrong) {
      const { check, subject } = finding
      if (open.some((alarm) => alarm.kind === check && alarm.subject === subject)) continue
      if (await raise(tx, finding)) raised.push(finding)
    }
    for (const { kind, subject, message } of open) {
      const isStill = wrong.some((one) => one.check === kind && one.subject === subject)
      if (isStill || !checks.has(kind)) continue
      await end(tx, { kind, subject, message })
      ended.push(message)
    }
  })
  for (const { check, subject, severity, message, mend } of raised)
    // Whoever noticed an error has logged it as one.
    ctx.log.warn({ event: check, subject, severity, mend }, message)
  for (const message of ended) ctx.log.warn({}, `over: ${message}`)
}

/** False where it is raised already: a node that led before may still be at the same look. */
async function raise(tx: EventsCtx, finding: Finding): Promise<boolean> {
  const { check: kind, subject, message, mend } = finding
  const severity = finding.severity === 'bad' ? 'bad' : 'warn'
  const isNew = await tx.db
    .insertInto('alarm')
    .values({ kind, subject, message, raised_at: tx.now() })
    .onConflict((conflict) => conflict.doNothing())
    .returning('kind')
    .executeTakeFirst()
  if (!isNew) return false
  await addEvent(tx, { kind, subject, message, state: 'raised', severity, mend })
  return true
}

async function end(tx: EventsCtx, { kind, subject, message }: EventInput): Promise<void> {
  await tx.db.deleteFrom('alarm').where('kind', '=', kind).where('subject', '=', subject).execute()
  const over = `over: ${message}`
  await addEvent(tx, { kind, subject, message: over, state: 'ended', severity: 'info', mend: null })
}

/** The event, and a delivery of it to each receiver, in the transaction of whoever tells it; its id. */
async function addEvent(
  { db, now, random }: EventsCtx,
  event: Omit<EventTable, 'id' | 'uid' | 'at'>,
): Promise<string> {
  const at = now()
  const uid = random(ID_BYTES).toString('base64url')
  const { id } = await db
    .insertInto('event')
    .values({ ...event, uid, at })
    .returning('id')
    .executeTakeFirstOrThrow()
  await db
    .insertInto('event_delivery')
    .columns(['event_id', 'receiver_id', 'state', 'next_at'])
    .expression((from) =>
      from
        .selectFrom('event_receiver')
        .select(({ val }) => [
          val(id).as('event_id'),
          'event_receiver.id as receiver_id',
          val<DeliveryState>('waiting').as('state'),
          val(at).as('next_at'),
        ]),
    )
    .execute()
  return uid
}

/** An event that says nothing but that events arrive; its id. */
export async function tellTest(ctx: EventsCtx): Promise<{ id: string }> {
  const id = await ctx.engine.atomic(ctx, (tx) =>
    addEvent(tx, {
      kind: 'test',
      subject: tx.random(ID_BYTES).toString('base64url'),
      message: 'this is a test: events arrive here',
      state: 'told',
      severity: 'info',
      mend: null,
    }),
  )
  return { id }
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
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  const deliveries = await read
    .selectFrom('event_delivery')
    .selectAll()
    .where('event_id', '>=', rows.at(-1)?.id ?? Number.MAX_SAFE_INTEGER)
    .orderBy('receiver_id')
    .execute()
  return rows.map(({ id, uid, kind, subject, message, at, state, severity, mend }) => ({
    kind,
    subject,
    message,
    at: iso(at),
    id: uid,
    state,
    severity,
    mend,
    deliveries: deliveries
      .filter((one) => one.event_id === id)
      .map((one) => ({
        receiver: one.receiver_id,
        state: one.state,
        attempts: one.attempts,
        next_at: one.state === 'waiting' ? iso(one.next_at) : null,
        fault: one.fault,
      })),
  }))
}

const iso = (ms: number) => new Date(ms).toISOString()
