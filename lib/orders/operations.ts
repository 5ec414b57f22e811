/** The operator's operations on orders, whether rules hold for them, and their journal. */
import * as z from 'zod'
import { undoableOf } from '../db/undoable.js'
import { findSubscriber } from '../accounts/subscribers.js'
import { operationsOf } from '../core/endpoint/operation.js'
import {
  Anchor,
  Distid,
  DryRun,
  Head,
  Reason,
  Subscriber,
  Time,
  limitOf,
} from '../core/endpoint/operation-shapes.js'
import { invalid } from '../core/errors.js'
import type { ObjectStore } from '../objects/store.js'
import { CheckResult } from '../restrictions/shapes.js'
import type { SendingCtx } from './ctx.js'
import { verifyJournal } from './journal/verify.js'
import { activityOf } from './operator/activity.js'
import { pauseByOperator } from './operator/pause.js'
import { lookBack } from './operator/reconcile.js'
import { resolveOrder } from './operator/resolve.js'
import type { Verdict } from './operator/resolve.js'
import { LIST_STATES, listPurchaseOrders, showOrder } from './operator/view.js'
import { FulfillmentOrder } from './history/shapes.js'
import { enforcesRestrictions, setEnforcement } from './place/enforcement.js'
import { preflightFor } from './place/preflight.js'

export interface OrderOperationsCtx extends SendingCtx {
  /** The store of the journal's second copy. */
  readonly journalCopy: ObjectStore | undefined
}

const operation = operationsOf<OrderOperationsCtx>()
const undoable = undoableOf<OrderOperationsCtx>()

const Mode = z.enum(['simulator', 'live'])
const State = z.enum(['planned', 'sending', 'placed', 'rejected', 'unknown', 'review', 'expired'])
const Shop = z.string().optional().describe('name or id of the shop; all shops by default')
const Owner = z
  .string()
  .optional()
  .describe('name or id of the shop; needed where two shops have the same order_id')
const Order = z
  .string()
  .min(1)
  .describe('an order_id, or the id or the reference of a purchase order')

const Listed = z.object({
  id: z.int(),
  ref: z.string(),
  subscriber: z.string(),
  order_id: z.string(),
  distid: z.string(),
  mode: Mode,
  state: State,
  placed_at: Time,
  age: z.int().describe('Milliseconds since it was placed'),
  po_number: z.string(),
  distributor_order_id: z.string().nullable(),
  reason: z.string().nullable(),
  paperwork: z
    .object({
      what: z.string(),
      recipients: z.array(z.string()).describe('E-mail addresses'),
      subject: z.string(),
      due: z.string().describe('The last day, YYYY-MM-DD'),
    })
    .optional()
    .describe('With state paperwork: what is to be sent, to whom, and by when'),
})

const Exchange = z
  .object({
    at: z.number().describe('Milliseconds since 1970'),
    took: z.number().describe('Milliseconds'),
    method: z.string(),
    path: z.string(),
    headers: z.record(z.string(), z.string()),
    request: z.string().nullable(),
    status: z.int().nullable(),
    answer: z.string().nullable(),
    fault: z.string().nullable(),
  })
  .meta({ component: 'Exchange', about: 'One call of a distributor, its secrets hidden' })

const ShownPurchaseOrder = z.object({
  id: z.int(),
  ref: z.string(),
  lane: z.string(),
  state: State,
  sends: z.int(),
  stage: z.string().nullable(),
  distributor_order_id: z.string().nullable(),
  reason: z.string().nullable(),
  refusal: z.string().nullable(),
  next_at: Time.nullable(),
  lines: z
    .array(z.object({ seq: z.int(), at: Time, what: z.string() }))
    .describe('Everything that the journal has of it, oldest first'),
  transcripts: z
    .array(z.object({ kind: z.enum(['send', 'search']), at: Time, exchanges: z.array(Exchange) }))
    .optional(),
})

const ShownOrder = z.object({
  subscriber: z.string(),
  order_id: z.string(),
  placed_at: Time,
  mode: Mode,
  attempt: z.int(),
  key_id: z.string().nullable(),
  holds_id: z.boolean(),
  fulfillment_orders: z.array(
    z.object({
      record: FulfillmentOrder,
      visible: z.boolean(),
      po_given: z.string(),
      purchase_orders: z.array(ShownPurchaseOrder),
      parcels: z.array(
        z.object({
          tracking_number: z.string(),
          company: z.string().nullable(),
          method: z.string().nullable(),
          shipped_on: z.string().nullable(),
          status: z.string().nullable(),
        }),
      ),
      changes: z.array(
        z.object({
          at: Time,
          field: z.string(),
          before: z.string().nullable(),
          after: z.string().nullable(),
        }),
      ),
    }),
  ),
})

const Pause = z
  .object({
    since: z.number().describe('Milliseconds since 1970'),
    reason: z.string(),
    orders: z.array(z.string()).describe('Order ids that are known to be concerned'),
    lookBackTo: z.number().optional().describe('Orders since then may have been forgotten'),
    damage: z.array(z.string()).optional(),
  })
  .meta({ component: 'Pause', about: 'Why no order is placed at the moment' })

const Foreign = {
  subscriber: z.string().describe('Id'),
  distid: z.string(),
  mode: Mode,
  po_number: z.string(),
  distributor_order_id: z.string().nullable(),
  at: Time,
}

const Destination = z.object({
  name: z.string(),
  address1: z.string(),
  address2: z.string().nullable(),
  city: z.string(),
  state: z.string(),
  zip: z.string(),
  phone: z.string().nullable(),
})

const Preflight = z.object({
  order_id: z.string().nullable(),
  refusal: z
    .object({
      code: z.string(),
      status: z.int(),
      message: z.string(),
      details: z.unknown().optional(),
    })
    .nullable()
    .describe('null: the order would be taken in and sent'),
  order_id_free: z.boolean().nullable(),
  attempt: z.int().nullable(),
  mode: Mode.nullable(),
  ship_to_store: z.boolean().nullable(),
  fulfillment_orders: z.array(
    z.object({
      distid: z.string(),
      distributor: z.string(),
      ffl_required: z.boolean(),
      ship_to: Destination,
      ffl: z
        .object({ license_number: z.string(), name: z.string(), expires_on: z.string() })
        .nullable(),
      lines: z.array(
        z.object({
          distsku: z.string(),
          upc: z.string(),
          name: z.string(),
          qty: z.int(),
          unit_price: z.number(),
          line_total: z.number(),
          ffl_required: z.boolean(),
        }),
      ),
      product_subtotal: z.number(),
      shipping_estimate: z.number(),
      po_given: z.string(),
      po_number: z.string(),
      dealer: z
        .object({
          takes: z.boolean().nullable(),
          on_file: z.boolean().nullable(),
          reason: z.string(),
        })
        .nullable()
        .optional(),
      purchase_orders: z.array(
        z.object({
          lane: z.string(),
          distskus: z.array(z.string()),
          wire: z
            .array(
              z.object({
                what: z.string(),
                headers: z.record(z.string(), z.string()),
                body: z.string(),
              }),
            )
            .nullable()
            .optional(),
        }),
      ),
    }),
  ),
  product_subtotal: z.number(),
  shipping_estimate: z.number(),
  total_estimate: z.number(),
  restrictions: CheckResult.nullable(),
  warnings: z.array(z.string()),
  quota: z.object({ hour: z.int(), day: z.int() }).nullable(),
})

/** The id of a shop that is named; undefined for all. */
const idOf = async (ctx: OrderOperationsCtx, name: string | undefined) =>
  name === undefined ? undefined : (await findSubscriber(ctx, name)).id

/** What the proof of the order journal tells. */
export const JournalProof = z.object({
  sound: z.boolean(),
  lines: z.int(),
  head: Head.nullable(),
  file: z.object({ lines: z.int(), pending: z.int() }),
  purchase_orders: z.int(),
  copy: z.object({ from: z.int(), to: z.int(), written_until: Time, pending: z.int() }).nullable(),
  faults: z.array(
    z.object({
      seq: z.int().nullable(),
      where: z.enum(['database', 'orders.journal', 'purchase orders', 'copy']),
      fault: z.string(),
    }),
  ),
})

export const orderOperations = [
  operation('orders.list', {
    summary: 'Purchase orders that are open, wait for a person, or need papers',
    effect: 'reads',
    input: {
      subscriber: Shop,
      state: z
        .enum(LIST_STATES)
        .default('open')
        .describe(
          'review (waits for a person), unknown (being found out), open (both, and what is being ' +
            'sent; the default), paperwork (waits for papers), all',
        ),
      limit: limitOf(500, 50),
    },
    result: z.object({ count: z.int().describe('Of all of them'), orders: z.array(Listed) }),
    errors: ['not_found'],
    run: async (ctx, { subscriber, ...input }) =>
      listPurchaseOrders(ctx, { ...input, subscriberId: await idOf(ctx, subscriber) }),
  }),
  operation('orders.show', {
    summary: 'One order with everything that happened to it',
    effect: 'reads',
    input: {
      order: Order,
      subscriber: Owner,
      transcript: z
        .boolean()
        .default(false)
        .describe(
          'also what went over the wire in the last 90 days, with passwords and tokens hidden',
        ),
    },
    result: z.array(ShownOrder).describe('Every placement that is meant, oldest first'),
    errors: ['not_found'],
    run: async (ctx, { order, subscriber, transcript }) =>
      showOrder(ctx, order, {
        subscriberId: await idOf(ctx, subscriber),
        withTranscripts: transcript,
      }),
  }),
  undoable('orders.resolve', {
    summary: 'Settle a purchase order of which nobody could find out what became',
    effect: 'writes',
    asksAgain: true,
    input: {
      order: Order,
      subscriber: Owner,
      verdict: z
        .enum(['placed', 'absent'])
        .describe('whether the distributor has it, as you have found out from it'),
      number: z.string().optional().describe('where the distributor has it: its number there'),
      next: z
        .enum(['resend', 'refuse'])
        .optional()
        .describe(
          'where the distributor does not have it: resend sends it once more, refuse ends it',
        ),
      reason: z
        .string()
        .optional()
        .describe(
          'why; needed where the distributor does not have it, and told to the caller of the API',
        ),
    },
    result: z.object({
      id: z.int(),
      ref: z.string(),
      order_id: z.string(),
      distid: z.string(),
      po_number: z.string(),
      before: State,
      after: State,
      distributor_order_id: z.string().nullable(),
      reason: z.string().nullable(),
    }),
    errors: ['not_found'],
    run: async (ctx, { order, subscriber, ...given }) =>
      resolveOrder(ctx, {
        order,
        subscriberId: await idOf(ctx, subscriber),
        ...verdictOf(given),
      }),
  }),
  operation('orders.pause', {
    summary: 'Refuse new orders and send nothing, until reconciling lets them go on',
    effect: 'writes',
    asksAgain: true,
    input: {
      reason: z.string().min(1).max(200).describe('why; every page shows it'),
      forgotten_since: z.iso
        .datetime()
        .optional()
        .describe(
          'what was sent since this time may have been forgotten, as after a database was restored',
        ),
    },
    result: Pause,
    run: (ctx, { reason, forgotten_since: since }) =>
      pauseByOperator(ctx, {
        reason,
        ...(since !== undefined && { forgottenSince: Date.parse(since) }),
      }),
  }),
  operation('orders.lookBack', {
    summary: 'Find out now what became of open orders, and look for forgotten ones',
    effect: 'writes',
    asksAgain: true,
    isLong: true,
    input: {
      since: z.iso
        .datetime()
        .optional()
        .describe(
          'ask distributors for orders since this time that are not known here; after a ' +
            'restore, the time of the backup, which is then the default',
        ),
      resume: z
        .boolean()
        .default(false)
        .describe('let orders be placed again, if nothing is in doubt'),
      acknowledged: z.boolean().default(false).describe('you have looked at what is in doubt'),
      dry_run: DryRun,
    },
    result: z.object({
      since: Time.nullable(),
      reconciled_by: z.enum(['this process', 'another process']),
      timed_out: z.boolean(),
      open_before: z.int(),
      open: z.int(),
      review: z.int(),
      adopted: z.array(z.object({ ...Foreign, order_id: z.string() })),
      others: z.array(z.object({ ...Foreign, reason: z.string() })),
      in_doubt: z.array(
        z.object({ subscriber: z.string(), distid: z.string(), mode: Mode, reason: z.string() }),
      ),
      resumed: z.boolean(),
      paused: Pause.nullable().describe('Why orders are still paused'),
    }),
    run: (ctx, { since, dry_run: dryRun, ...input }) =>
      lookBack(ctx, {
        ...input,
        dryRun,
        ...(since !== undefined && { since: Date.parse(since) }),
      }),
  }),
  operation('orders.preflight', {
    summary:
      'What placing an order would do, without doing it: split, destinations, POs, rules, refusal',
    effect: 'reads',
    input: {
      subscriber: Subscriber,
      order: z.unknown().describe('the body of POST /v1/orders'),
      key_id: z
        .string()
        .optional()
        .describe('whose tag goes into the PO, and whose quotas count; none by default'),
      wire: z
        .boolean()
        .default(false)
        .describe(
          'also what would be sent to each distributor, byte for byte, without secrets; nothing is',
        ),
    },
    result: Preflight,
    errors: ['not_found'],
    run: async (ctx, { subscriber, order, key_id: keyId, wire }) =>
      preflightFor(ctx, await findSubscriber(ctx, subscriber), order, {
        wire,
        ...(keyId !== undefined && { keyId }),
      }),
  }),
  operation('orders.verifyJournal', {
    summary:
      'Prove that the journal of orders is whole, in every copy, and that the orders are what it ' +
      'says',
    effect: 'reads',
    isLong: true,
    input: { anchor: Anchor },
    result: JournalProof,
    run: (ctx, { anchor }, { onProgress }) =>
      verifyJournal(ctx, { anchor, copy: ctx.journalCopy, onProgress }),
  }),
  operation('distributors.activity', {
    summary: 'What a distributor was asked about orders within the last day, and how that went',
    effect: 'reads',
    input: { distid: Distid },
    result: z.object({
      distid: z.string(),
      since: Time,
      sends: z.int(),
      searches: z.int(),
      calls: z.int().describe('Of the newest of them'),
      errors: z.int().describe('Calls without an answer, and with one from 400 on'),
      newest: z.array(
        z.object({
          at: Time,
          ref: z.string().describe('Reference of the purchase order'),
          kind: z.enum(['send', 'search']),
          method: z.string(),
          path: z.string(),
          status: z.int().nullable(),
          took: z.number().describe('Milliseconds'),
          fault: z.string().nullable(),
        }),
      ),
    }),
    run: (ctx, { distid }) => activityOf(ctx, distid),
  }),
  operation('rules.enforced', {
    summary: 'Whether orders that a rule blocks are refused',
    effect: 'reads',
    input: {},
    result: z.object({ on: z.boolean() }),
    run: async (ctx) => ({ on: await enforcesRestrictions(ctx) }),
  }),
  undoable('rules.enforce', {
    summary: 'Refuse orders that a rule blocks, or let them through',
    effect: 'writes',
    asksAgain: true,
    input: {
      on: z
        .boolean()
        .describe(
          'whether they are refused; if not, they are placed, and pre-flight and check still tell of ' +
            'the rules',
        ),
      reason: Reason.nullable().default(null).describe('why; needed to turn it off'),
    },
    result: z.object({ on: z.boolean(), before: z.boolean() }),
    run: setEnforcement,
  }),
] as const

function verdictOf({
  verdict,
  number,
  next,
  reason,
}: {
  verdict: 'placed' | 'absent'
  number?: string | undefined
  next?: 'resend' | 'refuse' | undefined
  reason?: string | undefined
}): Verdict {
  if (verdict === 'placed') {
    if (number === undefined) throw invalid('number', 'is required: as the distributor has it')
    return { verdict, number, reason }
  }
  if (next === undefined) throw invalid('next', 'is required: resend or refuse')
  return { verdict, next, reason: reason ?? '' }
}
