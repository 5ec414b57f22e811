/**
 * Orders of the crash harness: one to three groups over all distributors, each with chaos or
 * another scenario in its PO.
 */
import { SIMULATED } from '../../../lib/simulator/profiles.js'
import { SCENARIOS } from '../../../lib/simulator/engine/scenarios/scenarios.js'
import type { Random } from './random.js'
import { DEALERS, SCARCE, upcOf } from './shop.js'

export interface OrderBody {
  order_id: string
  customer: typeof CUSTOMER
  items: { distid: string; distsku: string; upc: string; qty: number; ffl_req: boolean }[]
  ffl?: { licenseNumber: string }
  ship_to_store: boolean
  po_number?: string
}

const CUSTOMER = {
  name: 'Pat Doe',
  email: 'pat@customer.example',
  phone: '602-555-0100',
  address1: '12 Main St',
  city: 'Phoenix',
  state: 'AZ',
  zip: '85001',
}

/**
 * A send to the one with a cart takes five calls or more, each of which may fail: fewer of these.
 */
const MIX = [...SIMULATED, ...SIMULATED.filter((distid) => distid !== '2AW')]

/** Every scenario of the simulators but chaos, which has a percentage. */
export const PLAYED = Object.keys(SCENARIOS).filter((name) => !name.startsWith('CHAOS'))
/** An answer that takes seconds, or never comes, holds up its caller for as long. */
const LONG = ['SLOW', 'HANG']
/** Without them: two processes on one folder wait for each other's sends. */
export const SHORTLY = PLAYED.filter((name) => !LONG.includes(name))
const CHAOTIC = 0.4

/** A body; `name` begins its order_id and tells it from every other. */
export function makeOrder(
  random: Random,
  name: string,
  {
    percent,
    distids = MIX,
    scenarios = PLAYED,
  }: { percent: number; distids?: readonly string[]; scenarios?: readonly string[] },
): OrderBody {
  const chosen = Array.from({ length: random.pick([1, 1, 1, 2, 2, 3]) }, () => random.pick(distids))
  const toStore = random.chance(0.15)
  const items = [...new Set(chosen)].flatMap((distid) => itemsOf(random, distid))
  const needsDealer = !toStore && items.some(({ ffl_req: toDealer }) => toDealer)
  const drawn = scenarios.length === 0 || random.chance(CHAOTIC) ? null : random.pick(scenarios)
  const asked = `SIM-${drawn === null || (LONG.includes(drawn) && random.chance(0.8)) ? `CHAOS-${percent}` : drawn}`
  return {
    order_id: `${name}-${asked}`,
    customer: { ...CUSTOMER, name: `Pat ${name}` },
    ship_to_store: toStore,
    items: toStore ? items.map((item) => ({ ...item, ffl_req: false })) : items,
    ...(needsDealer && { ffl: { licenseNumber: random.pick(DEALERS) } }),
    // Some callers have a PO of their own, which need not be theirs alone.
    ...(random.chance(0.15) && {
      po_number: random.chance(0.5) ? `PO-${asked}` : `PO-${name}-${asked}`,
    }),
  }
}

function itemsOf(random: Random, distid: string): OrderBody['items'] {
  const kind = random.next()
  const skus =
    kind < 0.5
      ? [`A${random.int(1, 6)}`]
      : kind < 0.65
        ? [`G${random.int(1, 3)}`]
        : kind < 0.8
          ? [`A${random.int(1, 6)}`, `G${random.int(1, 3)}`]
          : kind < 0.9
            ? ['A1', 'A2', 'A3']
            : [`S${random.int(1, SCARCE)}`]
  return skus.map((distsku) => ({
    distid,
    distsku,
    upc: upcOf(distsku),
    qty: random.int(1, 2),
    ffl_req: distsku.startsWith('G'),
  }))
}

/** One accessory without any fault, for the key whose quotas are watched. */
export function plainOrder(random: Random, name: string): OrderBody {
  return {
    order_id: name,
    customer: CUSTOMER,
    ship_to_store: false,
    items: [
      {
        distid: random.pick(['CSSI', 'TSW', 'RSR']),
        distsku: 'A1',
        upc: upcOf('A1'),
        qty: 1,
        ffl_req: false,
      },
    ],
  }
}
