/** Bugs of the way from an order that was taken in to its send. */
import type { OrdersCall } from '../../../lib/orders/ctx.js'
import type { Fulfillment, Recovery } from '../../../lib/distributors/fulfillment.js'
import { GIVE_UP } from '../../../lib/orders/engine/outcome.js'
import type * as Line from '../../../lib/orders/engine/line.js'
import type * as Outcome from '../../../lib/orders/engine/outcome.js'
import type * as Place from '../../../lib/orders/place/place.js'
import type * as Send from '../../../lib/orders/engine/send.js'
import type * as Slots from '../../../lib/orders/engine/slots.js'
import type { StoredPo } from '../../../lib/orders/stored.js'
import type * as Work from '../../../lib/orders/engine/work.js'
import type { Planted, Seam } from '../../plants/seam.js'

/** Sends of one account at a time, as if the distributor had said nothing of it. */
const CONCURRENCY = 4

type Submit = Fulfillment['submit']

/** Has connectors called in another way when they are sent an order. */
function submitting(change: (order: StoredPo, submit: Submit) => Submit): Seam {
  return {
    at: 'lib/orders/engine/line.ts#openLine',
    make:
      (real: typeof Line.openLine): typeof real =>
      (ctx, order) => {
        const line = real(ctx, order)
        if (typeof line === 'string') return line
        const { connector } = line
        const submit = change(order, (session, content) => connector.submit(session, content))
        return { ...line, connector: { ...connector, submit } }
      },
  }
}

/** Sends an order again as soon as its distributor shows no sign of it. */
function resending(recovery: Recovery, mayResend = (_order: StoredPo) => true): Seam {
  return {
    at: 'lib/orders/engine/outcome.ts#afterSearch',
    make:
      (real: typeof Outcome.afterSearch): typeof real =>
      (order, findings, connector, at) => {
        const decision = real(order, findings, connector, at)
        const { ours, conflicts, unclear, blind } = findings
        const found = [...ours, ...conflicts, ...unclear]
        const isThere = found.some(({ submitted }) => submitted !== false)
        const isOver = 'change' in decision && decision.change.to === 'review'
        const isBlind = connector.recovery === recovery && mayResend(order)
        return isBlind && !isThere && blind === null && !isOver ? { resend: true } : decision
      },
  }
}

/** Places an order without the first time that the journal's file is waited for. */
async function placeUnflushed<R>(
  ctx: OrdersCall,
  place: (ctx: OrdersCall) => Promise<R>,
): Promise<R> {
  let isFirst = true
  const flush = async () => {
    if (!isFirst) await ctx.orders.flush()
    isFirst = false
  }
  return place({ ...ctx, orders: { ...ctx.orders, flush } })
}

/** Stages that connectors have told, by the order's id, and that are not on the disk yet. */
const stages = new Map<number, string>()

export const SENDING: readonly Planted[] = [
  {
    name: 'send, then record: a send begins without a word on the disk',
    seams: [
      {
        at: 'lib/orders/engine/slots.ts#makeSlots',
        make:
          (real: typeof Slots.makeSlots): typeof real =>
          () => ({ ...real(), tryTake: () => false }),
      },
      {
        at: 'lib/orders/engine/send.ts#record',
        make:
          (real: typeof Send.record): typeof real =>
          async (tools, order, change) =>
            change.to === 'sending' ? order : real(tools, order, change),
      },
    ],
  },
  {
    name: 'blind resend on restart',
    seams: [
      {
        at: 'lib/orders/engine/outcome.ts#afterDeath',
        make:
          (real: typeof Outcome.afterDeath): typeof real =>
          (order, now) => {
            const afresh = { owner: null, next_at: now, planned_at: now, first_sent_at: null }
            return order.state === 'sending' ? { to: 'planned', ...afresh } : real(order, now)
          },
      },
    ],
  },
  { name: 'blind resend of an unknown, lookup', seams: [resending('lookup')] },
  { name: 'blind resend of an unknown, one_shot', seams: [resending('one_shot')] },
  { name: 'blind resend of an unknown, file', seams: [resending('file')] },
  {
    name: 'blind resend where nobody can be asked',
    seams: [
      {
        at: 'lib/orders/engine/outcome.ts#withoutSearch',
        make:
          (real: typeof Outcome.withoutSearch): typeof real =>
          (order, connector, reason, now, blind = null) => {
            const isOld = now - (order.first_sent_at ?? order.planned_at) >= GIVE_UP
            return !connector.find && blind === null && !isOld
              ? { resend: true }
              : real(order, connector, reason, now, blind)
          },
      },
    ],
  },
  {
    name: 'blind resend of a staged order whose stage is gone',
    seams: [resending('staged', ({ refusal }) => refusal === null)],
  },
  {
    name: 'the journal is not flushed before the first send',
    seams: [
      {
        at: 'lib/orders/place/place.ts#placeOrder',
        make:
          (real: typeof Place.placeOrder): typeof real =>
          (ctx, body) =>
            placeUnflushed(ctx, (unflushed) => real(unflushed, body)),
      },
    ],
  },
  {
    name: 'the journal is not flushed before a later send',
    seams: [
      {
        at: 'lib/orders/engine/work.ts#makeWork',
        make:
          (real: typeof Work.makeWork): typeof real =>
          (options) =>
            real({ ...options, tools: () => ({ ...options.tools(), flush: async () => {} }) }),
      },
      // The send itself still waits for the stages that it keeps.
      {
        at: 'lib/orders/engine/send.ts#sendOne',
        make:
          (real: typeof Send.sendOne): typeof real =>
          (tools, order) =>
            real({ ...tools, flush: () => tools.ctx.orders.flush() }, order),
      },
    ],
  },
  {
    name: 'the reference is made anew at each send',
    seams: [
      submitting(
        ({ sends }, submit) =>
          (session, content) =>
            submit(
              session,
              sends === 1
                ? content
                : { ...content, clientRef: `${content.clientRef.slice(0, 19)}${sends % 10}` },
            ),
      ),
    ],
  },
  {
    name: 'the content is made anew at each send',
    seams: [
      submitting(
        ({ sends }, submit) =>
          (session, content) =>
            submit(
              session,
              sends === 1
                ? content
                : {
                    ...content,
                    lines: content.lines.map((line) => ({ ...line, qty: line.qty + 1 })),
                  },
            ),
      ),
    ],
  },
  {
    name: 'a stage is not kept',
    seams: [
      submitting(
        (_, submit) => (session, content) =>
          submit({ ...session, keepStage: async () => {} }, content),
      ),
    ],
  },
  {
    name: 'a stage is kept after the call that has the effect',
    seams: [
      submitting(({ id }, submit) => (session, content) => {
        stages.delete(id)
        const keepStage = async (stage: string) => void stages.set(id, stage)
        return submit({ ...session, keepStage }, content)
      }),
      {
        at: 'lib/orders/engine/outcome.ts#afterSend',
        make:
          (real: typeof Outcome.afterSend): typeof real =>
          (order, ...rest) => ({
            ...real(order, ...rest),
            stage: stages.get(order.id) ?? order.stage,
          }),
      },
    ],
  },
  {
    name: 'a cart is not exclusive',
    seams: [
      {
        at: 'lib/orders/engine/slots.ts#makeSlots',
        make:
          (real: typeof Slots.makeSlots): typeof real =>
          () => {
            const slots = real()
            return {
              ...slots,
              tryTake: (account) => slots.tryTake(account, CONCURRENCY),
              take: (account, _limit, options) => slots.take(account, CONCURRENCY, options),
            }
          },
      },
    ],
  },
  {
    name: 'a cart is free again although its call still runs',
    suites: ['orders/engine/doubts'],
    seams: [
      {
        at: 'lib/orders/engine/send.ts#sendOne',
        make:
          (real: typeof Send.sendOne): typeof real =>
          async (tools, order) => ({ ...(await real(tools, order)), ended: Promise.resolve() }),
      },
    ],
  },
]
