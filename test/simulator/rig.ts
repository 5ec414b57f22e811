/** Simulated distributors without an app: a folder, a clock, and shelves that the test fills. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wholeMilliseconds } from '../../lib/core/clock.js'
import type {
  Fulfillment,
  OrderSession,
  OrderUpdate,
  PurchaseOrder,
  Search,
  Submission,
} from '../../lib/distributors/fulfillment.js'
import { openSession } from '../../lib/distributors/session/open-session.js'
import type { SimulatorOrder } from '../../lib/simulator/inspect.js'
import type { ListenOptions } from '../../lib/simulator/engine/world.js'
import { openSimulators } from '../../lib/simulator/simulators.js'
import type { Simulators } from '../../lib/simulator/simulators.js'
import { demoSettings, SIMULATED } from '../../lib/simulator/profiles.js'
import { openOrderOf } from '../distributors/connector-conformance.js'
import { watchErrors } from '../../server/testing/error-watch.js'
import { fractional } from '../../server/testing/clock.js'

export const START = Date.UTC(2026, 10, 21, 12)
/** Units of every SKU that the test has not set. */
export const SHELF = 100

const PERSON = {
  name: 'Pat Doe',
  address1: '12 Main St',
  address2: null,
  city: 'Phoenix',
  state: 'AZ',
  zip: '85001',
  phone: '602-555-0100',
}

export interface SimulatorRig {
  dir: string
  simulators: Simulators
  clock: { ms: number }
  /** What the catalog shows, by SKU; null for an unknown one. */
  listed: Map<string, number | null>
  connector(distid: string): Fulfillment
  /** `scenario` goes into the PO as it was given. */
  order(more?: Partial<PurchaseOrder> & { scenario?: string }): PurchaseOrder
  session(
    distid: string,
    order: PurchaseOrder,
    more?: { signal?: AbortSignal; settings?: Record<string, unknown> },
  ): OrderSession
  submit(distid: string, order: PurchaseOrder): Promise<Submission>
  /** As `submit`; what it throws is told as `threw <code>`. */
  outcome(distid: string, order: PurchaseOrder): Promise<string>
  /** Of one that can be asked for an order: see `LOOKED_UP`. */
  find(distid: string, order: PurchaseOrder): Promise<Search>
  news(distid: string, since?: number): Promise<OrderUpdate[]>
  /** What the distributors have of this reference. */
  has(order: PurchaseOrder): SimulatorOrder[]
  /** Closes the file and opens it again, as a restart does. */
  reopen(): void
  /** Fails where an error was logged. */
  close(): void
}

let orders = 0

/** Those that can be asked for an order whose number is not known: all but two. */
export const LOOKED_UP = SIMULATED.filter((distid) => !['ZND', 'ORI'].includes(distid))

/** One line of an order. */
export const line = (distsku: string, qty = 1, fflRequired = false) => ({
  distsku,
  upc: '012345678905',
  name: distsku,
  qty,
  unitPrice: 1_000,
  fflRequired,
})

export function simulatorRig({
  dir = mkdtempSync(join(tmpdir(), 'qm-sim-')),
  listen = {},
}: { dir?: string; listen?: ListenOptions } = {}): SimulatorRig {
  const clock = { ms: START }
  const listed = new Map<string, number | null>()
  const stages = new Map<string, string>()
  /** What was sent to each distributor, with the number that it gave. */
  const placed = new Map<string, Map<PurchaseOrder, string | null>>()
  const watch = watchErrors()
  const now = wholeMilliseconds(fractional(() => clock.ms))
  const open = () =>
    openSimulators({
      dir,
      now,
      log: watch.log,
      listen,
      stockOf: (_distid, sku) => (listed.has(sku) ? listed.get(sku)! : SHELF),
    })
  const rig: SimulatorRig = {
    dir,
    clock,
    listed,
    simulators: open(),
    connector: (distid) => rig.simulators.fulfillmentOf(distid)!,
    order({ scenario, ...more } = {}) {
      const n = ++orders
      const poGiven = scenario === undefined ? `W-${n}` : `w${n}-SIM-${scenario}`
      return {
        clientRef: `REF${String(process.pid).padStart(8, '0')}${String(n).padStart(9, '0')}`,
        serial: n,
        po: `W-${n}`,
        poGiven,
        poIsOurs: true,
        lane: 'all',
        fflRequired: false,
        shipToStore: false,
        lines: [line('A1')],
        shipTo: PERSON,
        customer: { ...PERSON, email: 'pat@customer.example' },
        ffl: null,
        takenAt: clock.ms,
        ...more,
      }
    },
    session: (
      distid,
      { clientRef },
      { signal = new AbortController().signal, settings = demoSettings(distid) } = {},
    ) => ({
      ...openSession({ name: distid }, { settings, signal, now }),
      stage: stages.get(clientRef) ?? null,
      async keepStage(stage) {
        await new Promise(setImmediate)
        stages.set(clientRef, stage)
      },
    }),
    async submit(distid, order) {
      const sent = placed.get(distid) ?? new Map<PurchaseOrder, string | null>()
      placed.set(distid, sent.set(order, null))
      const submission = await rig.connector(distid).submit(rig.session(distid, order), order)
      if ('number' in submission) sent.set(order, submission.number)
      return submission
    },
    outcome: (distid, order) =>
      rig.submit(distid, order).then(
        ({ outcome }) => outcome,
        (error: unknown) => `threw ${(error as { code?: string }).code ?? String(error)}`,
      ),
    find: (distid, order) => rig.connector(distid).find!(rig.session(distid, order), order),
    async news(distid, since = START) {
      const told: OrderUpdate[] = []
      for await (const update of rig.connector(distid).updates!(
        rig.session(distid, rig.order()),
        since,
        [...(placed.get(distid) ?? [])].map(([order, number]) => openOrderOf(order, number)),
      ))
        told.push(update)
      return told
    },
    has: ({ clientRef }) =>
      rig.simulators.orders().filter((order) => order.clientRef === clientRef),
    reopen() {
      rig.simulators.close()
      rig.simulators = open()
    },
    close() {
      rig.simulators.close()
      rmSync(dir, { recursive: true, force: true })
      watch.check()
    },
  }
  return rig
}

/** Runs with a rig that is put away afterwards. */
export const withRig = (run: (rig: SimulatorRig) => Promise<void>) => async () => {
  const rig = simulatorRig()
  try {
    await run(rig)
  } finally {
    rig.close()
  }
}
