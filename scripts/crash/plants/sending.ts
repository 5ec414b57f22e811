/** Bugs of the way from an order that was taken in to its send. */
import type { OrdersCall } from '../../../lib/orders/ctx.js'
import type { Fulfillment, Recovery } from '../../../lib/distributors/fulfillment.js'
import type * as Limits from '../../../lib/orders/engine/account-limits.js'
import type * as AfterSearch from '../../../lib/orders/engine/rules/after-search.js'
import type * as AfterSend from '../../../lib/orders/engine/rules/after-send.js'
import { GIVE_UP } from '../../../lib/orders/engine/rules/timing.js'
import type * as OpenOrder from '../../../lib/orders/engine/sender/open-order.js'
import type * as Record from '../../../lib/orders/engine/sender/record.js'
import type * as Send from '../../../lib/orders/engine/sender/send.js'
import type * as Sender from '../../../lib/orders/engine/sender/sender.js'
import type * as Place from '../../../lib/orders/place/place.js'
import type { StoredPo } from '../../../lib/orders/stored.js'
import type { Planted, Seam } from '../../plants/seam.js'

/** Sends of one account at a time, as if the distributor had said nothing of it. */
const CONCURRENCY = 4

type Submit = Fulfillment['submit']
type Flush = () => Promise<void>

/** Has connectors called in another way when they are sent an order. */
function submitting(change: (order: StoredPo, submit: Submit) => Submit): Seam {
  return {
    at: 'lib/orders/engine/sender/open-order.ts#openOrder',
    make:
      (real: typeof OpenOrder.openOrder): typeof real =>
      async (ctx, order) => {
        const opened = await real(ctx, order)
        if (typeof opened === 'string') return opened
        const { connector } = opened
        const submit = change(order, (session, content) => connector.submit(session, content))
        return { ...opened, connector: { ...connector, submit } }
      },
  }
}

/** Sends an order again as soon as its distributor shows no sign of it. */
function resending(recovery: Recovery, mayResend = (_order: StoredPo) => true): Seam {
  return {
    at: 'lib/orders/engine/rules/after-search.ts#afterSearch',
    make:
      (real: typeof AfterSearch.afterSearch): typeof real =>
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
  const orders = new Proxy(ctx.orders, {
    get(engine, name) {
      if (name === 'flush') return flush
      const value: unknown = Reflect.get(engine, name)
      return typeof value === 'function' ? (value.bind(engine) as unknown) : value
    },
  })
  return place({ ...ctx, orders })
}

/** What waits for the journal's file, by what was put in its place. */
const flushes = new WeakMap<Flush, Flush>()

/** Stages that connectors have told, by the order's id, and that are not on the disk yet. */
const stages = new Map<number, string>()

export const SENDING: readonly Planted[] = [
  {
    name: 'send, then record: a send begins without a word on the disk',
    seams: [
      {
        at: 'lib/orders/engine/account-limits.ts#openAccountSlots',
        make:
          (real: typeof Limits.openAccountSlots): typeof real =>
          () => ({ ...real(), tryTake: () => false }),
      },
      {
        at: 'lib/orders/engine/sender/record.ts#record',
        make:
          (real: typeof Record.record): typeof real =>
          async (ctx, order, change) =>
            change.to === 'sending' ? { order, record: null as never } : real(ctx, order, change),
      },
    ],
  },
  {
    name: 'blind resend on restart',
    seams: [
      {
        at: 'lib/orders/engine/rules/after-send.ts#afterDeath',
        make:
          (real: typeof AfterSend.afterDeath): typeof real =>
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
        at: 'lib/orders/engine/rules/after-search.ts#withoutSearch',
        make:
          (real: typeof AfterSearch.withoutSearch): typeof real =>
          (order, connector, asked) => {
            const { now, blind = null } = asked
            const isOld = now - (order.first_sent_at ?? order.planned_at) >= GIVE_UP
            return !connector.find && blind === null && !isOld
              ? { resend: true }
              : real(order, connector, asked)
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
        at: 'lib/orders/engine/sender/sender.ts#openSender',
        make:
          (real: typeof Sender.openSender): typeof real =>
          (ctx, options) => {
            const flushJournal = async () => {}
            flushes.set(flushJournal, ctx.flushJournal)
            return real({ ...ctx, flushJournal }, options)
          },
      },
      // The send itself still waits for the stages that it keeps.
      {
        at: 'lib/orders/engine/sender/send.ts#sendOrder',
        make:
          (real: typeof Send.sendOrder): typeof real =>
          (ctx, order) => {
            const flushJournal = flushes.get(ctx.flushJournal) ?? ctx.flushJournal
            return real({ ...ctx, flushJournal }, order)
          },
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
        at: 'lib/orders/engine/rules/after-send.ts#afterSend',
        make:
          (real: typeof AfterSend.afterSend): typeof real =>
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
        at: 'lib/orders/engine/account-limits.ts#openAccountSlots',
        make:
          (real: typeof Limits.openAccountSlots): typeof real =>
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
        at: 'lib/orders/engine/sender/send.ts#sendOrder',
        make:
          (real: typeof Send.sendOrder): typeof real =>
          async (ctx, order) => ({ ...(await real(ctx, order)), ended: Promise.resolve() }),
      },
    ],
  },
]
