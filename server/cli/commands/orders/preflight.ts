import type { Preflight, PreflightGroup } from '../../../../lib/orders/place/preflight.js'
import { argument, optional } from '../../command.js'
import type { Command, Invocation } from '../../command.js'
import { readJsonFile } from '../../json-file.js'
import { withApp } from '../../with-app.js'
import type { Output } from '../../output.js'
import { SUBSCRIBER, subscriberOf } from '../configuration/subscriber.js'
import { faultLines, isFault, printable } from '../../faults.js'
import { carriesOut } from '../../operation-help.js'
import { orderOperations } from '../../../../lib/orders/operations.js'

async function preflight({ dir, args, values, out }: Invocation): Promise<number> {
  const file = argument(args, 0)
  const body = await readJsonFile(file)
  const keyId = optional(values, 'key-id')
  return withApp(dir, async (app) => {
    const subscriber = await subscriberOf(app, values)
    await app.ctx.catalog.refresh()
    const told = await app.operator.orders.preflight(subscriber.id, body, {
      ...(keyId !== undefined && { keyId }),
      wire: values['dry-run-orders'] === true,
    })
    for (const group of told.fulfillment_orders) showGroup(out, group)
    showSums(out, told)
    for (const warning of told.warnings) out.line(printable(`Warning: ${warning}`))
    showVerdict(out, told)
    out.result({ subscriber: subscriber.name, ...told })
    return told.refusal ? 1 : 0
  })
}

function showGroup(
  out: Output,
  {
    distid,
    distributor,
    ship_to: to,
    ffl,
    lines,
    product_subtotal: products,
    shipping_estimate: shipping,
    po_number: po,
    po_given: given,
    dealer,
    purchase_orders: lanes,
  }: PreflightGroup,
): void {
  const address = [to.address1, to.address2, `${to.city}, ${to.state} ${to.zip}`]
    .filter(Boolean)
    .join(', ')
  out.line(
    printable(
      `${distributor} (${distid}), PO ${po}${po === given ? '' : ` (for ${given})`}, to ` +
        `${to.name}, ${address}`,
    ),
  )
  if (ffl)
    out.line(
      printable(`  dealer ${ffl.license_number}, ${ffl.name}, license until ${ffl.expires_on}`),
    )
  if (dealer !== undefined)
    out.line(printable(`  ${dealer?.reason ?? 'the distributor cannot be asked about the dealer'}`))
  out.table(
    lines.map(
      ({ qty, distsku, name, unit_price: price, line_total: total, ffl_required: toDealer }) => ({
        qty,
        distsku,
        name: printable(name),
        unit_price: price.toFixed(2),
        line_total: total.toFixed(2),
        dealer: toDealer ? 'yes' : '-',
      }),
    ),
  )
  out.line(`  products ${products.toFixed(2)}, shipping about ${shipping.toFixed(2)}`)
  if (lanes.length > 1)
    out.line(
      printable(
        `  sent as ${lanes.length} purchase orders: ` +
          `${lanes.map(({ lane, distskus }) => `${lane} (${distskus.join(', ')})`).join('; ')}`,
      ),
    )
  for (const { wire } of lanes) showWire(out, wire)
}

/** What would be sent, line for line; nothing was. */
function showWire(out: Output, wire: PreflightGroup['purchase_orders'][number]['wire']): void {
  if (wire === undefined) return
  if (wire === null) return out.line('  what would be sent is not known before it is sent')
  for (const { what, headers, body } of wire) {
    out.line(printable(`  > ${what}`))
    for (const [name, value] of Object.entries(headers))
      out.line(printable(`  > ${name}: ${value}`))
    for (const line of body.split(/\r?\n/)) out.line(printable(`  ${line}`))
  }
}

function showSums(
  out: Output,
  {
    fulfillment_orders: groups,
    mode,
    product_subtotal: products,
    shipping_estimate: shipping,
    total_estimate: total,
    quota,
  }: Preflight,
): void {
  if (groups.length === 0) return
  out.line(
    `${groups.length} fulfillment order${groups.length === 1 ? '' : 's'}, mode ` +
      `${mode}` +
      (mode === 'live'
        ? ': real purchase orders, which cost real money'
        : ': nothing real is bought') +
      '. ' +
      `Products ${products.toFixed(2)}, shipping about ${shipping.toFixed(2)}, together ` +
      `${total.toFixed(2)} dollars.`,
  )
  if (quota)
    out.line(
      `The key may place ${quota.hour} more orders within this hour, ${quota.day} within this day.`,
    )
}

function showVerdict(out: Output, { refusal, order_id: orderId, attempt }: Preflight): void {
  if (!refusal)
    return out.line(
      'It would be taken in and sent as ' +
        `${orderId}${attempt !== null && attempt > 1 ? `, as attempt ${attempt}` : ''}.`,
    )
  out.line(printable(`It would be refused: ${refusal.status} ${refusal.code}: ${refusal.message}`))
  if (
    Array.isArray(refusal.details) &&
    refusal.details.length > 1 &&
    refusal.details.every(isFault)
  )
    for (const line of faultLines(refusal.details)) out.line(`  ${line}`)
}

export const preflightCommand: Command = carriesOut(orderOperations, 'orders.preflight', {
  name: 'orders preflight',
  effect: 'reads',
  positionals: ['<FILE>'],
  options: {
    ...SUBSCRIBER.options,
    'key-id': { type: 'string' },
    'dry-run-orders': { type: 'boolean' },
    'ask-distributors': { type: 'boolean' },
  },
  members: { '<FILE>': 'order', 'dry-run-orders': 'wire' },
  adds: { ...SUBSCRIBER.adds, '<FILE>': 'a JSON file, or - for standard input' },
  help: {
    'ask-distributors':
      'also what each distributor says of the dealer that it would ship to; nothing is ordered',
  },
  example: 'quartermaster orders preflight ./order.json --key-id 1a2b3c4d5e6f',
  run: preflight,
})
