/** One order in lines for people. */
import type { KeptTranscript } from '../../../../lib/orders/transcripts.js'
import type {
  ShownOrder,
  ShownPurchaseOrder,
  ShownRecord,
} from '../../../../lib/orders/operator/view.js'

/** `45 s`, `12 min`, `3 h`, `9 days`. */
export function ageText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`
  return seconds < 172_800
    ? `${Math.floor(seconds / 3_600)} h`
    : `${Math.floor(seconds / 86_400)} days`
}

const time = (iso: string) => iso.slice(0, 19).replace('T', ' ')

export function showOrderLines({
  subscriber,
  order_id: orderId,
  placed_at: placed,
  mode,
  attempt,
  key_id: key,
  holds_id: holds,
  fulfillment_orders: records,
}: ShownOrder): string[] {
  return [
    `Order ${orderId} of ${subscriber}, ${time(placed)}, mode ${mode}, ` +
      `${key === null ? 'without a key' : `key ${key}`}` +
      `${attempt > 1 ? `, attempt ${attempt}` : ''}. ` +
      `${holds ? 'It holds its order_id.' : 'Nothing came of it: the order_id is free.'}`,
    ...records.flatMap((record) => indented(recordLines(record))),
  ]
}

function recordLines({
  record,
  visible,
  po_given: given,
  purchase_orders: orders,
  parcels,
  changes,
}: ShownRecord): string[] {
  const to =
    record.ship_to_store === 1
      ? 'to the store'
      : record.ffl === null
        ? record.ffl_required === 1
          ? 'to a dealer'
          : 'to the customer'
        : `to the dealer ${record.ffl}`
  const items = (JSON.parse(record.dist_order_items) as { distsku: string; qty: number }[])
    .map(({ distsku, qty }) => `${qty} x ${distsku}`)
    .join(', ')
  return [
    `${record.distid}: ` +
      (visible ? record.order_status : 'no distributor order came of it') +
      (record.distributor_order_id === null ? '' : `, number ${record.distributor_order_id}`) +
      ', ' +
      `PO ${record.po_number}${given === record.po_number ? '' : ` (for ${given})`}`,
    `  for ${record.customer_name}, ${to}: ${items}`,
    ...orders.flatMap((order) => indented(purchaseOrderLines(order))),
    ...parcels.map(
      ({ tracking_number: number, company, method, shipped_on: on, status }) =>
        `  parcel ${number}: ` +
        `${[company, method, on === null ? null : `shipped ${on}`, status].filter((part) => part !== null).join(', ')}`,
    ),
    ...changes.map(
      ({ at, field, before, after }) =>
        `  ${time(at)}  record: ${field} ${before ?? '-'} -> ${after ?? '-'}`,
    ),
  ]
}

function purchaseOrderLines({
  id,
  ref,
  lane,
  state,
  sends,
  stage,
  reason,
  next_at: next,
  lines,
  transcripts = [],
}: ShownPurchaseOrder): string[] {
  const facts = [
    `sent ${sends} time${sends === 1 ? '' : 's'}`,
    ...(stage === null ? [] : [`begun there as ${stage}`]),
    ...(next === null ? [] : [`next look ${time(next)}`]),
    ...(reason === null ? [] : [reason]),
  ]
  return [
    `Purchase order ${id}${lane === 'all' ? '' : ` (${lane})`}: ${state}, ` +
      `${facts.join(', ')}. Reference ${ref}.`,
    ...lines.map(({ at, seq, what }) => `  ${time(at)}  ${what} [${seq}]`),
    ...transcripts.flatMap(transcriptLines),
  ]
}

function transcriptLines({ kind, at, exchanges }: KeptTranscript): string[] {
  return [
    `  ${time(at)}  over the wire, ${kind === 'send' ? 'a send' : 'a search for it'}:`,
    ...exchanges.flatMap(({ method, path, headers, request, status, answer, fault, took }) => [
      `    ${method} ${path} (${took} ms)`,
      ...Object.entries(headers).map(([name, value]) => `      ${name}: ${value}`),
      ...(request === null ? [] : [`      ${request}`]),
      `    ${fault === null ? (status === null ? 'answered' : `HTTP ${status}`) : `no answer: ${fault}`}`,
      ...(answer === null || answer === '' ? [] : [`      ${answer}`]),
    ]),
  ]
}

const indented = (lines: string[]) => lines.map((line) => `  ${line}`)
