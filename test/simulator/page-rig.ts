/**
 * A shop with all seven simulated distributors, which plays the scenarios of the guide's page end
 * to end and keeps what is seen.
 */
import { SECOND } from '../../lib/core/clock.js'
import type { DistributorEntry } from '../../lib/configuration/document/document.js'
import type { Distributor } from '../../lib/distributors/distributor.js'
import { builtin } from '../../lib/distributors/builtin/index.js'
import type { FulfillmentOrder } from '../../lib/orders/history/shapes.js'
import { readSimulatorOrders } from '../../lib/simulator/inspect.js'
import type { SimulatorOrder } from '../../lib/simulator/inspect.js'
import { SIMULATED } from '../../lib/simulator/profiles.js'
import { demoSettings } from '../../lib/simulator/profiles.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'

const UPC = '012345678905'
const CUSTOMER = {
  name: 'Pat Doe',
  email: 'pat@customer.example',
  phone: '602-555-0100',
  address1: '12 Main St',
  city: 'Phoenix',
  state: 'AZ',
  zip: '85001',
}

/** An entry of the document with the demo's credentials in their places. */
export function entryOf({
  distid,
  settings,
}: Distributor): Partial<DistributorEntry> & { distid: string } {
  const entry: Record<string, unknown> = { distid, fulfillment: {} }
  for (const [name, value] of Object.entries(demoSettings(distid))) {
    const path = settings[name]!.path.split('-')
    let at = entry
    for (const step of path.slice(0, -1)) at = (at[step] ??= {}) as Record<string, unknown>
    at[path.at(-1)!] = value
  }
  if (settings['ffl_recipient_emails']?.required === true)
    (entry['fulfillment'] as Record<string, unknown>)['ffl_recipient_emails'] = ['ffl@shop.example']
  return entry as Partial<DistributorEntry> & { distid: string }
}

/** A shop that has A1 of each of the seven, and another item that nobody can be reached for. */
export async function pageShop(): Promise<TestApp> {
  const t = await createTestApp()
  const played = builtin.filter(({ distid }) => SIMULATED.includes(distid))
  await t.stock(
    played.flatMap(({ distid }) =>
      ['A1', 'B1-SIM-UNREACHABLE'].map((stockid) => ({ distid, stockid, upc: UPC, qty: 5_000 })),
    ),
  )
  await t.configure({
    distributors: Object.fromEntries(
      played.map((distributor) => [distributor.name, entryOf(distributor)]),
    ),
  })
  return t
}

/** One order that asks for a scenario, and all that its caller sees of it. */
export interface Play {
  scenario: string
  /** It has a PO of the caller's; else one that is made here. */
  isCallers: boolean
  body: { order_id: string }
  /** Answers of the POSTs, as `200 placed` or `409 order_rejected`. */
  answers: string[]
  /** Records as they changed: `order_status`, and `ship_status` behind a slash. */
  seen: string[]
  /** Minutes from the placement after which it had a number. */
  numberedAfter: number | null
}

export const play = (distid: string, scenario: string, isCallers: boolean): Play => {
  const name = `${isCallers ? 'c' : 'o'}-SIM-${scenario}`
  const items = [{ distid, distsku: 'A1', upc: UPC, qty: 2 }]
  return {
    scenario,
    isCallers,
    body: {
      order_id: isCallers ? `c-${scenario}` : name,
      customer: CUSTOMER,
      items,
      ...(isCallers && { po_number: name }),
    } as Play['body'],
    answers: [],
    seen: [],
    numberedAfter: null,
  }
}

/** An order of which a part goes to a distributor that cannot be reached. */
export function splitPlay(distid: string): Play {
  const other = SIMULATED.find((one) => one !== distid)
  const one = play(distid, 'split', false)
  Object.assign(one.body, {
    order_id: 'split',
    items: [
      { distid, distsku: 'B1-SIM-UNREACHABLE', upc: UPC, qty: 1 },
      { distid: other, distsku: 'A1', upc: UPC, qty: 1 },
    ],
  })
  return one
}

/** Places it. */
export async function post(t: TestApp, key: string, one: Play): Promise<void> {
  const { status, body } = await t.json('/v1/orders', {
    method: 'POST',
    body: JSON.stringify(one.body),
    key,
  })
  one.answers.push(`${status} ${body.success ? body.data.status : body.error.code}`)
}

/**
 * Lets everything go on for so many steps of so many milliseconds, and looks at every order after
 * each.
 */
export async function watch(
  t: TestApp,
  plays: readonly Play[],
  { steps, ms, from }: { steps: number; ms: number; from: number },
): Promise<void> {
  for (let i = 0; i < steps; i++) {
    t.clock.advance(ms)
    await t.app.orders.pass()
    await t.app.monitors.pass()
    await look(t, plays, from)
  }
}

async function look(t: TestApp, plays: readonly Play[], from: number): Promise<void> {
  const records: FulfillmentOrder[] = []
  for (;;) {
    const { orders } = (await t.json(`/v1/orders?limit=100&offset=${records.length}`)).body
      .data as { orders: FulfillmentOrder[] }
    records.push(...orders)
    if (orders.length < 100) break
  }
  const known = new Map(records.map((record) => [record.order_id, record]))
  for (const one of plays) {
    const record = known.get(one.body.order_id)
    if (!record) continue
    const text = `${record.order_status}${record.ship_status === null ? '' : ` / ${record.ship_status}`}`
    if (one.seen.at(-1) !== text) one.seen.push(text)
    if (record.distributor_order_id !== null)
      one.numberedAfter ??= (t.clock.ms - from) / (60 * SECOND)
  }
}

/** The purchase order of a play, and what its distributor has of it. */
export interface Outcome {
  state: string | null
  number: string | null
  sends: number
  /** Those that it has under our reference. */
  there: SimulatorOrder[]
}

export async function outcomeOf(t: TestApp, one: Play): Promise<Outcome> {
  const rows = await t.app.ctx.read
    .selectFrom('purchase_order')
    .innerJoin('placement', 'placement.id', 'placement_id')
    .selectAll('purchase_order')
    .where('order_id', '=', one.body.order_id)
    .orderBy('purchase_order.id')
    .execute()
  const last = rows.at(-1)
  const refs = new Set(rows.map(({ client_ref: ref }) => ref))
  return {
    state: last?.state ?? null,
    number: last?.distributor_order_id ?? null,
    sends: last?.sends ?? 0,
    there: readSimulatorOrders(t.app.dir).filter(
      ({ clientRef }) => clientRef !== null && refs.has(clientRef),
    ),
  }
}
