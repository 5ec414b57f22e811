/** Orders as they are posted to Orion, read and judged as its API does. */
import type { Line } from '../../../simulator/engine/order.js'
import type { Handled, WireAnswer } from '../../../simulator/wire/http-simulator.js'
import {
  areBroken,
  jsonIn,
  NOT_ASCII,
  poFault,
  takePosted,
} from '../../../simulator/wire/posted-order.js'
import type { Call, Posted } from '../../../simulator/wire/posted-order.js'
import { listOf, memberOf, textOf } from '../../session/reply.js'
import { itemsOf } from './simulator-items.js'

const LICENSE = /^\d-\d{2}-\d{3}-\d{2}-\d[A-HJ-M]-\d{5}$/
const ADDRESS = ['full_name', 'address_1', 'city', 'state', 'postal_code', 'country_code']

export const json = (value: unknown): WireAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
})
export const fault = (words: string): WireAnswer => json({ result: 'ERROR', error_message: words })

/** Judges an order and takes it, with whatever is to go wrong about it. */
export function placeOrder(call: Call): Handled {
  const order = readOrder(call)
  const refusal = order.fault ?? poFault(call.profile, order.po, NOT_ASCII)
  // What is posted stands in the query.
  const request = { ...call.request, body: Buffer.from(call.request.query.toString()) }
  return takePosted({ ...call, request }, order, refusal === null ? null : fault(refusal), {
    accepted: (number) => json({ result: 'OK', order_id: Number(number.replace(/^.*-/, '')) }),
    refused: fault,
    done: json({}),
  })
}

function readOrder(call: Call): Posted {
  const { query, body } = call.request
  const field = (name: string) => query.get(name)?.trim() ?? ''
  const type = field('order_type')
  const lines: Line[] = listOf(jsonIn(Buffer.from(field('order_items')))).map((item) => ({
    distsku: textOf(memberOf(item, 'product_code')) ?? '',
    qty: Number(memberOf(item, 'quantity')),
  }))
  return {
    po: field('purchase_order_number'),
    lines,
    to:
      type === 'dealer'
        ? { name: 'Your store', address1: '', zip: '' }
        : { name: field('full_name'), address1: field('address_1'), zip: field('postal_code') },
    firearms: type === 'ffl',
    fault:
      (body.length === 0 ? null : 'The parameters belong in the query') ??
      (['dealer', 'customer', 'ffl'].includes(type) ? null : 'order_type is not valid') ??
      (field('shipping_method_code') === '' ? 'shipping_method_code is required' : null) ??
      (lines.length === 0 || areBroken(lines) ? 'order_items are not valid' : null) ??
      (type === 'dealer' ? null : addressFault(call, field)) ??
      (type === 'dealer'
        ? null
        : licenseFault(call, type, { lines, license: field('license_number') })),
  }
}

function addressFault({ profile }: Call, field: (name: string) => string): string | null {
  const missing = ADDRESS.find((name) => field(name) === '')
  if (missing !== undefined) return `${missing} is required`
  const zip = field('postal_code')
  return /^\d{5}$/.test(zip) ? null : profile.words.badZip(zip)
}

function licenseFault(
  call: Call,
  type: string,
  { lines, license }: { lines: readonly Line[]; license: string },
): string | null {
  const { words } = call.profile
  if (type === 'ffl') return LICENSE.test(license) ? null : words.badFfl
  return hasFirearm(call, lines) ? words.missingFfl : null
}

/** Known from the order where it is one of this app's, else from the catalog. */
function hasFirearm({ world, request: { visit } }: Call, lines: readonly Line[]): boolean {
  const skus = new Set(lines.map(({ distsku }) => distsku))
  return visit
    ? visit.send.order.lines.some(({ distsku, fflRequired }) => fflRequired && skus.has(distsku))
    : itemsOf(world).some((item) => skus.has(item['product_code']!) && item['ffl_required'] === 'Y')
}
