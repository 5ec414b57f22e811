import { audit } from '../accounts/audit.js'
import type { FraudCall } from './ctx.js'
import { endpointsOf } from '../core/endpoint/endpoint.js'
import { ApiError, invalid, refusalOf } from '../core/errors.js'
import type { Fault } from '../core/errors.js'
import { withoutPremises } from './reports/premises.js'
import { countCheck, countUse, rememberUse, watchMatches } from './reports/quota.js'
import { FraudReport, FraudResult, FraudSignals, RemovedResult, STRONG } from './shapes.js'
import type { FraudSummary } from './shapes.js'
import { addressOf, signalsOf } from './signals/signals.js'
import type { Signals } from './signals/signals.js'
import { ownReports, removeReports, saveReport, writeReports } from './reports/store.js'
import { summarize } from './reports/summary.js'

const endpoint = endpointsOf<FraudCall>()

const NOTHING: FraudSummary = {
  matched: false,
  matched_on: [],
  report_count: 0,
  names_used: 0,
  emails_used: 0,
  phones_used: 0,
  ips_used: 0,
  addresses_used: 0,
  billing_used: 0,
  items_used: 0,
  items_overlap: 0,
  items_similar: false,
  reported_by_you: false,
  first_reported: null,
  last_reported: null,
  notes: [],
}
const FOUND: FraudSummary = {
  ...NOTHING,
  matched: true,
  matched_on: ['shipping_address_1', 'phone'],
  report_count: 1,
  names_used: 1,
  emails_used: 1,
  phones_used: 1,
  addresses_used: 1,
  items_used: 1,
  items_overlap: 1,
  reported_by_you: true,
  first_reported: '2026-11-21',
  last_reported: '2026-11-21',
  notes: ['Chargeback'],
}
const NO_SIGNAL =
  'is missing, and so are billing_address_1, email, phone: at least one of them is needed'
const UNSIGNALLED = {
  request: { shipping_name: 'Pat Doe' },
  message: `shipping_address_1: ${NO_SIGNAL}`,
  details: [{ path: 'shipping_address_1', message: NO_SIGNAL }],
}
const quotaSpent = (limit: number, use: string) => ({
  message:
    `This key may send ${limit} fraud ${use}s in any 24 hours. Wait as long as Retry-After ` +
    'says.',
  details: { limit, window_seconds: 86_400, retry_after_seconds: 3_600 },
})
const TO_DEALER =
  "a shipment to a dealer cannot be reported: its address is the dealer's, not the buyer's"

export const checkFraud = endpoint('fraud.check', {
  summary: 'Was any of this reported as fraud by a dealer of the network?',
  description:
    'Shipping address meets reported shipping addresses, billing address billing addresses, ' +
    'e-mail and phone their like, whatever their spelling; names, IPs and items only ' +
    'corroborate. ' +
    'You get counts, never what other dealers sent. A match means: hold the order for a person.',
  body: FraudSignals,
  result: FraudResult,
  errors: [],
  example: {
    request: {
      shipping_address_1: '12 Main Street, Apt 4',
      shipping_postcode: '85003',
      phone: '+1 602 555 0100',
      order_items: [{ upc: '493162079197' }],
    },
    result: { fraud: FOUND },
    refused: { invalid_parameter: UNSIGNALLED, rate_limited: quotaSpent(1_000, 'check') },
  },
  async run(ctx, { body }) {
    const signals = await buyersOwn(ctx, body, readable(body))
    if (ctx.key) await countCheck(ctx, ctx.key.id)
    const fraud = await summaryFor(ctx, signals)
    if (ctx.key) watchMatches(ctx, ctx.key.id, fraud.matched)
    return { fraud }
  },
})

export const reportFraud = endpoint('fraud.report', {
  summary: 'Report confirmed fraud',
  description:
    'A report of yours with the same strong signals takes the place of the earlier one. What ' +
    'you send is sealed for you alone; others learn counts.',
  body: FraudReport,
  result: FraudResult,
  errors: [],
  example: {
    request: {
      shipping_name: 'Pat Doe',
      shipping_address_1: '12 Main St Apt 4',
      shipping_postcode: '85003',
      email: 'pat@customer.example',
      phone: '(602) 555-0100',
      order_items: [{ upc: '493162079197', qty: 1, price: 109.99 }],
      notes: 'Chargeback',
    },
    result: { fraud: { ...FOUND, matched_on: ['shipping_address_1', 'email', 'phone'] } },
    refused: {
      invalid_parameter: {
        request: { shipping_is_ffl: true, shipping_address_1: '1455 Turnpike Rd' },
        message: `shipping_is_ffl: ${TO_DEALER}`,
        details: [{ path: 'shipping_is_ffl', message: TO_DEALER }],
      },
      rate_limited: quotaSpent(25, 'report'),
    },
  },
  async run(ctx, { body }) {
    const faults: Fault[] = []
    if (body.shipping_is_ffl)
      faults.push({
        path: 'shipping_is_ffl',
        message:
          "a shipment to a dealer cannot be reported: its address is the dealer's, not the buyer's",
      })
    if (body.shipping_address_1 === null)
      faults.push({ path: 'shipping_address_1', message: 'is required in a report' })
    if (faults.length > 0) throw refusalOf('invalid_parameter', faults)
    const signals = await buyersOwn(ctx, body, readable(body))
    if (addressOf(body, 'shipping') !== null && !signals.strong.has('shipping_address_1'))
      throw invalid(
        'shipping_address_1',
        "is the premise of a licensed dealer: it is the dealer's address, not the buyer's",
      )
    if (signals.strong.size === 0)
      throw invalid(
        'shipping_address_1',
        'cannot be read as an address, and no other signal is left',
      )
    await writeReports(ctx, async (tx) => {
      if (ctx.key) await countUse(tx, 'report', ctx.key.id)
      await saveReport(tx, { subscriberId: ctx.subscriber.id, body, signals })
      await audit(tx, 'fraud report', { subscriber: ctx.subscriber.id })
    })
    if (ctx.key) rememberUse(ctx, 'report', ctx.key.id)
    return { fraud: await summaryFor(ctx, signals) }
  },
})

export const removeFraud = endpoint('fraud.remove', {
  summary: 'Remove a report of your own',
  description:
    'Removes your own reports in which every strong signal of the call that they hold ' +
    'matches, and at least one does.',
  body: FraudSignals,
  result: RemovedResult,
  errors: ['report_not_found'],
  example: {
    request: { email: 'pat@customer.example' },
    result: { removed: 1, fraud: NOTHING },
    refused: {
      invalid_parameter: UNSIGNALLED,
      report_not_found: { request: { email: 'somebody.else@customer.example' } },
      rate_limited: quotaSpent(25, 'removal'),
    },
  },
  async run(ctx, { body }) {
    // A premise may have become one since it was reported.
    const signals = readable(body)
    const removed = await writeReports(ctx, async (tx) => {
      const own = await ownReports(tx, ctx.subscriber.id, signals)
      if (own.length === 0) throw new ApiError('report_not_found')
      if (ctx.key) await countUse(tx, 'removal', ctx.key.id)
      await removeReports(tx, own)
      await audit(tx, 'fraud remove', { subscriber: ctx.subscriber.id, reports: own.length })
      return own.length
    })
    if (ctx.key) rememberUse(ctx, 'removal', ctx.key.id)
    return { removed, fraud: await summaryFor(ctx, await buyersOwn(ctx, body, signals)) }
  },
})

/** The signals of a buyer: without what is a dealer's. */
const buyersOwn = ({ engine }: FraudCall, body: FraudSignals, signals: Signals) =>
  engine.look(() => withoutPremises(body, signals))

function summaryFor(ctx: FraudCall, signals: Signals): Promise<FraudSummary> {
  return summarize(ctx, signals, {
    subscriberId: ctx.subscriber.id,
    asker: ctx.key?.id ?? ctx.subscriber.id,
  })
}

/**
 * The signals of a call; what cannot be read is left out. Throws 400 where no strong signal is
 * left.
 */
function readable(body: FraudSignals): Signals {
  const given = STRONG.filter((name) => body[name] !== null)
  if (given.length === 0)
    throw invalid(
      'shipping_address_1',
      `is missing, and so are ${STRONG.slice(1).join(', ')}: at least one of them is needed`,
    )
  const signals = signalsOf(body)
  const unread = given.filter((name) => !signals.strong.has(name))
  if (unread.length === given.length)
    throw refusalOf(
      'invalid_parameter',
      unread.map((path): Fault => ({ path, message: `cannot be read as ${WHAT[path]}` })),
    )
  return signals
}

const WHAT = {
  shipping_address_1: 'an address',
  billing_address_1: 'an address',
  email: 'an e-mail address',
  phone: 'a phone number',
} as const
