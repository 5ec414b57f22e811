/**
 * Outcomes that an integrator can ask for: `SIM-<NAME>` anywhere in the PO or in an item's SKU of
 * the order, case aside. Without one no fault is ever played.
 */
import type { PurchaseOrder } from '../../../distributors/fulfillment.js'
import type { FaultName } from './fault-table.js'

/** What becomes of an order after it was accepted. */
export type Fate =
  | 'hold'
  | 'backorder'
  | 'parcels'
  | 'cancel'
  | 'return'
  | 'failure'
  | 'partial'
  | 'none'

export interface Scenario {
  /** One sentence for the guide. */
  readonly what: string
  /** The fault that the first send meets. */
  readonly fault?: FaultName
  /** How many sends meet it, 1 by default. */
  readonly sends?: number
  /** The distributor's own refusal, of every send. */
  readonly refuses?: 'stock' | 'credit'
  readonly fate?: Fate
}

/**
 * Every scenario by its name in a PO or SKU; `CHAOS-<percent>` stands for `CHAOS-1` to `CHAOS-100`.
 */
export const SCENARIOS = {
  'OUT-OF-STOCK': {
    what:
      'The distributor refuses the order: an item is out of stock. Bill Hicks takes the file ' +
      'and later commits nothing.',
    refuses: 'stock',
  },
  REJECT: {
    what:
      'The distributor refuses the order: the account is on credit hold. Bill Hicks takes the ' +
      'file and later commits nothing.',
    refuses: 'credit',
  },
  UNREACHABLE: {
    what: 'The distributor cannot be reached, however often the order is sent.',
    fault: 'unreachable',
    sends: Infinity,
  },
  'UNREACHABLE-ONCE': {
    what:
      'The distributor cannot be reached by the first two sends of that PO, of whichever order; ' +
      'the third is served.',
    fault: 'unreachable',
    sends: 2,
  },
  'RATE-LIMITED': {
    what:
      'The first send of that PO, of whichever order, is refused before it is looked at, with 5 ' +
      'seconds to wait; the next is served.',
    fault: 'rate_limited',
  },
  TIMEOUT: {
    what: 'The first send gets no answer, and nothing happened; the next is served.',
    fault: 'timeout',
  },
  'TIMEOUT-AFTER-ACCEPT': {
    what: 'The first send gets no answer, though the order was accepted.',
    fault: 'timeout_after',
  },
  'CUT-REPLY': {
    what: 'The order is accepted, but the reply to the first send is cut off.',
    fault: 'cut',
  },
  'SERVER-ERROR-BEFORE': {
    what: 'The first send is answered with HTTP 500, and nothing happened.',
    fault: 'error_before',
  },
  'SERVER-ERROR-AFTER': {
    what: 'The first send is answered with HTTP 500, though the order was accepted.',
    fault: 'error_after',
  },
  LATE: {
    what:
      'The first send gets no answer; the order is executed two minutes later and can be found ' +
      'only then.',
    fault: 'late',
  },
  GARBAGE: {
    what: 'The order is accepted, but the reply to the first send cannot be read.',
    fault: 'garbage',
  },
  HTML: {
    what:
      'The first send is answered with a page in HTML by something in between; the order never ' +
      'arrives.',
    fault: 'html',
  },
  'DUPLICATE-ACK': {
    what: 'The order is accepted, and its confirmation comes many times and after newer news.',
  },
  'EMPTY-ANSWER': {
    what:
      'The order is accepted; by files each answer lies there empty for two minutes before it ' +
      'is written.',
  },
  'REJECT-ON-RESEND': {
    what:
      'The order is accepted with a reply that is cut off; whoever sends it again is told that ' +
      'it is out of stock.',
    fault: 'cut',
  },
  'RESET-BODY': {
    what: 'The order is accepted; the connection is reset in the middle of the reply.',
    fault: 'reset_body',
  },
  'EMPTY-REPLY': {
    what: 'The order is accepted, and the reply to the first send is empty.',
    fault: 'empty',
  },
  REDIRECT: {
    what: 'The first send is answered with a redirect, and nothing happened.',
    fault: 'redirect',
  },
  'BAD-GATEWAY': {
    what: 'The first send is answered with HTTP 502 by something in between; it never arrives.',
    fault: 'bad_gateway',
  },
  'GATEWAY-TIMEOUT': {
    what: 'The first send is answered with HTTP 504, though the order was accepted.',
    fault: 'gateway_timeout',
  },
  MAINTENANCE: {
    what: 'The first send is answered with HTTP 503 and a time to wait, and nothing happened.',
    fault: 'maintenance',
  },
  'NOT-HTTP': {
    what: 'Something that does not speak the protocol answers the first send; it never arrives.',
    fault: 'not_http',
  },
  'TOO-LARGE': {
    what: 'The order is accepted, and the reply to the first send does not end.',
    fault: 'too_large',
  },
  'HALF-FILE': {
    what:
      'The connection breaks when half of the order was written: nothing happened; by files half ' +
      'of the file lies there.',
    fault: 'half_file',
  },
  'RATE-LIMITED-UNTOLD': {
    what:
      'The first send of that PO is turned away before it is looked at, without a time to wait; ' +
      'the next is served.',
    fault: 'rate_limited_untold',
  },
  'WRONG-CERTIFICATE': {
    what:
      'The first send of that PO meets a certificate that nobody trusts, and sends nothing; the ' +
      'next is served.',
    fault: 'certificate',
  },
  'PASSIVE-REFUSED': {
    what:
      'The first send of that PO is refused the connection (by files: that for data); the next ' +
      'is served.',
    fault: 'passive_refused',
  },
  GZIP: { what: 'The order is accepted; the reply is packed.', fault: 'gzip' },
  DRIP: { what: 'The order is accepted; the reply comes byte by byte.', fault: 'drip' },
  'BYTE-ORDER-MARK': {
    what: 'The order is accepted; the reply begins with a byte order mark.',
    fault: 'byte_order_mark',
  },
  'NO-LENGTH': {
    what: 'The order is accepted; the reply has no length and ends with the connection.',
    fault: 'no_length',
  },
  INFORMATIONAL: {
    what: 'The order is accepted; interim answers come before the reply.',
    fault: 'informational',
  },
  SLOW: { what: 'The order is accepted; the answer takes 3 seconds of real time.', fault: 'slow' },
  HANG: { what: 'The order is accepted, but the first send is never answered.', fault: 'hang' },
  PARTIAL: {
    what:
      'The distributor commits half of the units (rounded down) of the items whose SKU says so, ' +
      'or of the last item: Partially Fulfilled.',
    fate: 'partial',
  },
  'NONE-COMMITTED': {
    what: 'The order is accepted, and later nothing of it is committed: Not Fulfilled.',
    fate: 'none',
  },
  HOLD: {
    what:
      "The order is held until the dealer's license arrives (FFL Hold) and released after five " +
      'minutes.',
    fate: 'hold',
  },
  BACKORDER: {
    what: 'The order waits for stock (Backordered) for ten minutes.',
    fate: 'backorder',
  },
  PARCELS: {
    what: 'The order is shipped in three parcels, which arrive one after the other.',
    fate: 'parcels',
  },
  CANCEL: {
    what: 'The order is accepted, confirmed, and cancelled by the distributor after a minute.',
    fate: 'cancel',
  },
  RETURN: {
    what: 'The parcel cannot be delivered and goes back to the distributor.',
    fate: 'return',
  },
  FAILURE: { what: 'The carrier loses the parcel.', fate: 'failure' },
  'LOOKUP-DOWN': {
    what:
      'The order is accepted with a reply that is cut off, and for ten minutes the distributor ' +
      'cannot be asked about it.',
    fault: 'cut',
  },
  'OTHER-PO': {
    what:
      "The order is accepted with a reply that is cut off; the distributor's lists show its PO " +
      'in upper case and cut at their limit.',
    fault: 'cut',
  },
  STRANGER: {
    what:
      "The order is accepted with a reply that is cut off; the lists also show somebody else's " +
      'order with the same PO.',
    fault: 'cut',
  },
  'STRANGER-ONLY': {
    what:
      "The first send gets no answer, and nothing happened; the lists show somebody else's " +
      'order with the same PO.',
    fault: 'timeout',
  },
  'TIMEOUT-TWICE': {
    what: 'Two sends get no answer, and nothing happened; the third is served.',
    fault: 'timeout',
    sends: 2,
  },
  'RATE-LIMITED-TWICE': {
    what: 'Two sends of that PO are turned away, with 5 seconds to wait; the third is served.',
    fault: 'rate_limited',
    sends: 2,
  },
  'LOST-PARTIAL': {
    what: 'The order is accepted with a reply that is cut off, and half of its units are committed later.',
    fault: 'cut',
    fate: 'partial',
  },
  'LOST-NONE-COMMITTED': {
    what: 'The order is accepted with a reply that is cut off, and nothing of it is committed later.',
    fault: 'cut',
    fate: 'none',
  },
  'LOST-HOLD': {
    what: 'The order is accepted with a reply that is cut off, and it is held for five minutes.',
    fault: 'cut',
    fate: 'hold',
  },
  'LOST-BACKORDER': {
    what: 'The order is accepted with a reply that is cut off, and it waits for stock for ten minutes.',
    fault: 'cut',
    fate: 'backorder',
  },
  'LOST-PARCELS': {
    what: 'The order is accepted with a reply that is cut off, and it is shipped in three parcels.',
    fault: 'cut',
    fate: 'parcels',
  },
  'LOST-CANCEL': {
    what: 'The order is accepted with a reply that is cut off, and it is cancelled after a minute.',
    fault: 'cut',
    fate: 'cancel',
  },
  'LOST-RETURN': {
    what: 'The order is accepted with a reply that is cut off, and its parcel goes back.',
    fault: 'cut',
    fate: 'return',
  },
  'LOST-FAILURE': {
    what: 'The order is accepted with a reply that is cut off, and the carrier loses its parcel.',
    fault: 'cut',
    fate: 'failure',
  },
  'LATE-PARTIAL': {
    what: 'No answer; the order is executed two minutes later, and half of its units are committed later.',
    fault: 'late',
    fate: 'partial',
  },
  'LATE-CANCEL': {
    what: 'No answer; the order is executed two minutes later, and it is cancelled after a minute.',
    fault: 'late',
    fate: 'cancel',
  },
  'CHAOS-<percent>': {
    what:
      'Every call for the order fails with that probability, each time with another fault; the ' +
      'same order meets the same faults again.',
  },
} as const satisfies Record<string, Scenario>

const NAMES = Object.keys(SCENARIOS)
  .filter((name) => !name.startsWith('CHAOS'))
  .sort((a, b) => b.length - a.length)
const ASKED = new RegExp(`SIM-(${NAMES.join('|')}|CHAOS-\\d{1,3})(?![A-Z0-9])`, 'i')

/** The scenario that a text asks for, in upper case; null for none. */
function scenarioIn(text: string): string | null {
  return ASKED.exec(text)?.[1]!.toUpperCase() ?? null
}

/**
 * The scenario that an order asks for: by its PO as the caller gave it, else by the first SKU that
 * names one.
 */
export function scenarioOf({
  poGiven,
  lines,
}: Pick<PurchaseOrder, 'poGiven'> & {
  readonly lines: readonly { readonly distsku: string }[]
}): string | null {
  return (
    [poGiven, ...lines.map(({ distsku }) => distsku)]
      .map(scenarioIn)
      .find((name) => name !== null) ?? null
  )
}

/** Whether this SKU asks for this scenario. */
export function names(sku: string, scenario: string): boolean {
  return scenarioIn(sku) === scenario
}

/** What a scenario's name stands for; nothing for none and for chaos, which `chaosOf` tells. */
export function scenario(name: string | null): Scenario | undefined {
  return name === null ? undefined : (SCENARIOS as Record<string, Scenario>)[name]
}

/** The probability (0 to 1) with which each call of an order fails. */
export function chaosOf(name: string | null): number {
  const percent = /^CHAOS-(\d+)$/.exec(name ?? '')?.[1]
  return percent === undefined ? 0 : Math.min(1, Number(percent) / 100)
}
