/**
 * Has every receiver told of every event, at least once: what waits stands in the database, so it
 * goes on where it was. Nobody waits for a receiver but what is meant for it.
 */
import { levelOf } from '../db/faults.js'
import { setMaxListeners } from 'node:events'
import { SingleFlight } from '../core/async/single-flight.js'
import { DAY, HOUR, MINUTE, SECOND } from '../core/clock.js'
import { asLeader } from '../db/as-leader.js'
import { LeadLost, leads } from '../db/lead.js'
import { column } from '../db/reading.js'
import type { DistributorsCtx } from '../distributors/ctx.js'
import { mailEvents } from './mail.js'
import { dueReceivers } from './queries.js'
import { openReceivers } from './receivers.js'
import type { OpenReceiver } from './receiver.js'
import { sendWebhook } from './webhook.js'
import type { EventMessage } from './webhook.js'

export interface Deliveries {
  /** Looks for what is due every second from now on. */
  start(): void
  /** Delivers what is due, and waits for it. What fails is noted, and comes again. */
  pass(): Promise<void>
  /** Ends what runs, and waits for it. */
  stop(): Promise<void>
}

const TICK = SECOND
/** Milliseconds to the next attempt, after the first, the second, ...; then the last of them. */
const WAITS = [10 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR]
const LONGEST_WAIT = 3 * HOUR
/** A receiver that has failed is left alone for so long, whatever else waits for it. */
const REST = 10 * SECOND
/** An event that could not be delivered for so long is given up. */
const PATIENCE = 3 * DAY
/** Events in one mail. */
const MOST_IN_A_MAIL = 50

export interface DeliveryOptions {
  /** Milliseconds that a program may take for its answer, 10,000 by default. */
  patience?: number
}

/** Opens the deliveries; nothing runs before `start` or `pass`. */
export function openDeliveries(
  ctx: DistributorsCtx,
  { patience = 10 * SECOND }: DeliveryOptions = {},
): Deliveries {
  const closing = new AbortController()
  // One for every receiver that is being told.
  setMaxListeners(0, closing.signal)
  const rounds = new SingleFlight<string, void>()
  /** Until when a receiver is left alone whose deliveries could not be noted. */
  const heldBack = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined

  /** A round of each receiver that is due and has none. */
  async function startDue(): Promise<Promise<void>[]> {
    const now = ctx.now()
    const farthest = now + LONGEST_WAIT
    const due = await ctx.engine.look(() => column(dueReceivers, { now, farthest }))
    return due
      .filter((id) => !closing.signal.aborted && (heldBack.get(id) ?? 0) <= now)
      .map((id) => rounds.run(id, () => round(id)))
  }

  async function round(id: string): Promise<void> {
    try {
      await tell(asLeader(ctx), id, { patience, closing: closing.signal })
      heldBack.delete(id)
    } catch (error) {
      // A table that cannot be written must not have a receiver told the same every second.
      heldBack.set(id, ctx.now() + MINUTE)
      if (!closing.signal.aborted && !(error instanceof LeadLost))
        ctx.log.error({ err: error, receiver: id }, 'the delivery of events could not be noted')
    }
  }

  return {
    start() {
      if (!closing.signal.aborted)
        timer ??= setInterval(() => {
          // Of several nodes the one that leads.
          if (!leads(ctx.engine)) return
          looking ??= startDue()
            .then(
              () => {},
              (error: unknown) =>
                ctx.log[levelOf(error)](
                  { err: error },
                  'events that wait for a receiver cannot be looked for',
                ),
            )
            .finally(() => {
              looking = undefined
            })
        }, TICK).unref()
    },
    pass: async () => {
      await Promise.all(await startDue())
    },
    async stop() {
      clearInterval(timer)
      closing.abort()
      await looking
      await rounds.ended()
    },
  }
}

interface Due extends EventMessage {
  event: number
  attempts: number
  firstAt: number
}

interface Telling extends Required<DeliveryOptions> {
  /** Aborted when the app ends. */
  closing: AbortSignal
}

/** Tells one receiver of all that is due, until it has all or fails. */
async function tell(ctx: DistributorsCtx, id: string, telling: Telling): Promise<void> {
  const { closing } = telling
  const receiver = (await openReceivers(ctx)).find((one) => one.id === id)
  if (!receiver) return
  while (!closing.aborted) {
    const due = await nextDue(ctx, receiver)
    if (due.length === 0) return
    const fault = await attempt(ctx, receiver, due, telling)
    // A call that the end of the app cut short says nothing about the receiver.
    if (closing.aborted && fault !== null) return
    if (fault === null) await noteDelivered(ctx, receiver, due)
    else return noteFailed(ctx, receiver, due, fault)
  }
}

/** Why they were not taken; null where they were. */
async function attempt(
  ctx: DistributorsCtx,
  receiver: OpenReceiver,
  due: readonly Due[],
  { patience, closing }: Telling,
): Promise<string | null> {
  try {
    const messages = due.map(messageOf)
    if (receiver.kind === 'mail') await mailEvents(ctx.egress, receiver, messages, closing)
    else
      for (const message of messages)
        await sendWebhook(receiver, message, { now: ctx.now(), patience, closing })
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Those that were tried least come first: one that a receiver never takes holds up no other. */
async function nextDue({ read, now }: DistributorsCtx, receiver: OpenReceiver): Promise<Due[]> {
  const rows = await read
    .selectFrom('event_delivery')
    .innerJoin('event', 'event.id', 'event_delivery.event_id')
    .selectAll('event')
    .select('event_delivery.attempts')
    .where('receiver_id', '=', receiver.id)
    .where('event_delivery.state', '=', 'waiting')
    .where((delivery) =>
      delivery.or([
        delivery('next_at', '<=', now()),
        delivery('next_at', '>', now() + LONGEST_WAIT),
      ]),
    )
    .orderBy('attempts')
    .orderBy('event_id')
    .limit(receiver.kind === 'mail' ? MOST_IN_A_MAIL : 1)
    .execute()
  return rows.map(({ id, uid, at, ...row }) => ({
    ...row,
    event: id,
    id: uid,
    at: new Date(at).toISOString(),
    firstAt: at,
  }))
}

const messageOf = ({
  id,
  kind,
  subject,
  state,
  severity,
  message,
  mend,
  at,
}: Due): EventMessage => ({
  id,
  kind,
  subject,
  state,
  severity,
  message,
  mend,
  at,
})

async function noteDelivered(
  { db, now }: DistributorsCtx,
  receiver: OpenReceiver,
  due: readonly Due[],
): Promise<void> {
  await db
    .updateTable('event_delivery')
    .set(({ eb }) => ({
      state: 'delivered',
      attempts: eb('attempts', '+', 1),
      ended_at: now(),
      fault: null,
    }))
    .where('receiver_id', '=', receiver.id)
    .where(
      'event_id',
      'in',
      due.map(({ event }) => event),
    )
    .execute()
}

async function noteFailed(
  ctx: DistributorsCtx,
  receiver: OpenReceiver,
  due: readonly Due[],
  fault: string,
): Promise<void> {
  const now = ctx.now()
  const givenUp = due.filter(({ firstAt }) => now - firstAt > PATIENCE)
  await ctx.engine.atomic(ctx, async (tx) => {
    for (const { event, attempts, firstAt } of due) {
      const isOver = now - firstAt > PATIENCE
      await tx.db
        .updateTable('event_delivery')
        .set({
          attempts: attempts + 1,
          fault,
          ...(isOver
            ? { state: 'given_up' as const, ended_at: now }
            : { next_at: now + (WAITS[attempts] ?? LONGEST_WAIT) }),
        })
        .where('receiver_id', '=', receiver.id)
        .where('event_id', '=', event)
        .execute()
    }
    await tx.db
      .updateTable('event_delivery')
      .set({ next_at: now + REST })
      .where('receiver_id', '=', receiver.id)
      .where('state', '=', 'waiting')
      .where('next_at', '<', now + REST)
      .execute()
  })
  const where = { receiver: receiver.id, fault }
  if (givenUp.length > 0)
    ctx.log.warn(
      { ...where, events: givenUp.map(({ id }) => id) },
      'events could not be delivered for three days, and are given up',
    )
  else if (due.some(({ attempts }) => attempts === 0))
    ctx.log.warn(where, 'an event could not be delivered; it is tried again')
}
