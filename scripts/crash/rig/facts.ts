/**
 * Everything that stands in a state folder about orders, read while no other process has it: for
 * the checks afterwards.
 */
import type { Selectable } from 'kysely'
import { silentLog } from '../../../lib/core/log.js'
import type { Recovery } from '../../../lib/distributors/fulfillment.js'
import type {
  FailedPlacementTable,
  FulfillmentOrderTable,
} from '../../../lib/db/tables/fulfillment.js'
import { open } from '../../../lib/app/open.js'
import type { App } from '../../../lib/app/open.js'
import { contentOf } from '../../../lib/orders/sealed-content.js'
import { ChainReader, isFault, journalSealer } from '../../../lib/orders/journal/chain.js'
import { openJournalLines } from '../../../lib/orders/journal/file.js'
import { verifyJournal } from '../../../lib/orders/journal/verify.js'
import type { OrderCountTable, PlacementTable } from '../../../lib/db/tables/orders.js'
import { FAILED } from '../../../lib/orders/stored.js'
import type { StoredPo } from '../../../lib/orders/stored.js'
import { DEMO_SEED } from '../../../lib/simulator/market/market.js'
import { filesIn } from '../../../lib/db/sqlite/folder.js'
import { openFile } from '../../../lib/db/sqlite/sqlite.js'
import type { SimulatorOrder } from '../../../lib/simulator/inspect.js'
import { openSimulators } from '../../../lib/simulator/simulators.js'
import { chaosOf, scenarioOf } from '../../../lib/simulator/engine/scenarios/scenarios.js'
import { catalogStock } from '../../../lib/simulator/engine/stock.js'
import { readBooks } from '../../../test/harness/books.js'
import { violations } from '../../../test/harness/invariants.js'
import type { Executed, Violation } from '../../../test/harness/invariants.js'
import { createRandom } from '../../../lib/simulator/market/random.js'
import { executedBy, natureOf } from './documents.js'
import type { TakenOrder } from './documents.js'

export type PurchaseOrderFact = Omit<StoredPo, 'payload'> & {
  recovery: Recovery
  lines: { distsku: string; qty: number }[]
  /** What its PO or an item of it asks for; null for nothing. */
  scenario: string | null
  /** It has a PO of our making. */
  poIsOurs: boolean
  /** The probability with which each call for it fails. */
  chaos: number
}

export interface Facts {
  placements: Selectable<PlacementTable>[]
  records: Selectable<FulfillmentOrderTable>[]
  purchaseOrders: PurchaseOrderFact[]
  failures: Selectable<FailedPlacementTable>[]
  counts: OrderCountTable[]
  /** Parcels of records. */
  parcels: { fulfillment_order_id: number; tracking_number: string }[]
  /** Subscriber ids by name. */
  subscribers: Map<string, string>
  /** What the distributors really have. */
  executed: SimulatorOrder[]
  journal: JournalFact
  paused: string | null
  calls: CallFigures
  /**
   * What the checks of the simulation say, which were written by somebody else from the same
   * promises.
   */
  secondOpinion: Violation[]
}

export interface JournalFact {
  /** What is wrong with the chain, in the database or in the file, or between them. */
  faults: string[]
  lines: number
  /** Purchase orders as the journal alone tells of them. */
  told: Map<number, Record<string, unknown>>
}

export interface CallFigures {
  calls: number
  faults: number
}

/** Reads a folder at a time of the shop's clock; `taken` is what described distributors have. */
export async function readFacts(
  dir: string,
  now: number,
  taken: readonly TakenOrder[] = [],
): Promise<Facts> {
  await using app = await open({ dir, now: () => now, worker: false })
  const { ctx } = app
  const rows = await ctx.read.selectFrom('purchase_order').selectAll().orderBy('id').execute()
  const ours: Parameters<typeof executedBy>[1][number][] = []
  const purchaseOrders = rows.map(({ payload, ...order }): PurchaseOrderFact => {
    const { lines, poGiven, poIsOurs, po, customer } = contentOf(ctx, { payload, ...order })
    ours.push({
      distid: order.distid,
      po,
      customer: customer.name,
      lines,
      clientRef: order.client_ref,
    })
    const scenario = scenarioOf({ lines, poGiven })
    return {
      ...order,
      recovery: natureOf(order.distid)!.recovery,
      lines: lines.map(({ distsku, qty }) => ({ distsku, qty })),
      scenario,
      poIsOurs,
      chaos: chaosOf(scenario),
    }
  })
  const paused = await ctx.read
    .selectFrom('order_engine')
    .select('value')
    .where('name', '=', 'paused')
    .executeTakeFirst()
  const executed = [...(await executedOrders(app, now)), ...executedBy(taken, ours)]
  return {
    secondOpinion: await opinionOf(app, { purchaseOrders, executed, now }),
    placements: (await ctx.read
      .selectFrom('placement')
      .selectAll()
      .orderBy('id')
      .execute()) as Selectable<PlacementTable>[],
    records: await ctx.read.selectFrom('fulfillment_order').selectAll().orderBy('id').execute(),
    purchaseOrders,
    failures: await ctx.read.selectFrom('failed_placement').selectAll().orderBy('id').execute(),
    parcels: await ctx.read
      .selectFrom('parcel')
      .select(['fulfillment_order_id', 'tracking_number'])
      .execute(),
    counts: await ctx.read.selectFrom('order_count').selectAll().orderBy('at').execute(),
    subscribers: new Map((await app.operator.subscribers.list()).map(({ name, id }) => [name, id])),
    executed,
    journal: await readJournal(app),
    paused: paused?.value ?? null,
    calls: countCalls(
      dir,
      new Map(purchaseOrders.map(({ client_ref: ref, chaos }) => [ref, chaos])),
    ),
  }
}

/** Of Sports South: an error in placing it shows as one, whatever the submit was answered with. */
export const isRefused = ({ distid, status }: SimulatorOrder): boolean =>
  distid === 'TSW' && status === 'Not Fulfilled'

/**
 * Of what is settled by now; statuses are moved on by news of the distributors, and what waits for
 * a person is judged by `check`.
 */
async function opinionOf(
  { ctx }: App,
  { purchaseOrders, executed, now }: Pick<Facts, 'purchaseOrders' | 'executed'> & { now: number },
): Promise<Violation[]> {
  const failed = new Set(
    purchaseOrders.flatMap(({ state, client_ref: ref }) => (FAILED.includes(state) ? [ref] : [])),
  )
  const known = executed.flatMap(({ clientRef, ...order }): Executed[] =>
    clientRef === null || (isRefused({ clientRef, ...order }) && failed.has(clientRef))
      ? []
      : [{ ...order, clientRef, shipTo: { name: '', address1: '', zip: '' } }],
  )
  return violations(await readBooks(ctx), known, [], {
    isDrained: false,
    clockIsTrue: true,
    now,
  }).filter(({ rule }) => rule !== 'record')
}

/** What the distributors have, after everything that they were still about to do. */
async function executedOrders({ ctx, dir }: App, now: number): Promise<SimulatorOrder[]> {
  await ctx.catalog.refresh()
  const simulators = openSimulators({
    dir,
    now: () => now,
    log: silentLog,
    stockOf: (distid, sku) => catalogStock(ctx.catalog.current(), distid, sku),
  })
  try {
    return simulators.orders()
  } finally {
    simulators.close()
  }
}

async function readJournal({ ctx, dir }: App): Promise<JournalFact> {
  const faults = (await verifyJournal(ctx)).faults.map(
    ({ seq, where, fault }) => `${where}${seq === null ? '' : `, line ${seq}`}: ${fault}`,
  )
  const told = new Map<number, Record<string, unknown>>()
  const rows = await ctx.read.selectFrom('journal').selectAll().orderBy('seq').execute()
  const reader = new ChainReader(journalSealer(ctx))
  for (const { line } of rows) {
    const read = reader.next(line)
    if (isFault(read)) {
      faults.push(`journal of the database, line ${read.seq}: ${read.fault}`)
      break
    }
    const data = read.data as { id: number; set: object; purchaseOrders: { id: number }[] }
    if (read.kind === 'intent')
      for (const order of data.purchaseOrders) told.set(order.id, { ...order })
    if (read.kind === 'state') told.set(data.id, { ...told.get(data.id), ...data.set })
  }
  let at = 0
  const file = await openJournalLines(dir)
  await file.have(Infinity)
  for (let line; (line = file.next()) !== undefined;)
    if (line !== rows[at++]?.line)
      faults.push(`line ${at} of orders.journal is not that of the database`)
  await file.close()
  if (at !== rows.length) faults.push(`orders.journal has ${at} lines, the database ${rows.length}`)
  return { faults, lines: rows.length, told }
}

/**
 * Calls that were made for orders with chaos, and how many of them failed: each chance is drawn
 * again.
 */
function countCalls(dir: string, chances: ReadonlyMap<string, number>): CallFigures {
  const simulator = openFile(filesIn(dir).simulator, { synchronous: 'NORMAL', readonly: true })
  try {
    const figures = { calls: 0, faults: 0 }
    for (const { ref, name, n } of simulator.prepare('SELECT ref, name, n FROM call').all() as {
      ref: string
      name: string
      n: number
    }[]) {
      const chance = chances.get(ref)
      if (chance === undefined) continue
      figures.calls += n
      for (let i = 1; i <= n; i++)
        if (createRandom(DEMO_SEED, `${ref} ${name} ${i}`).chance(chance)) figures.faults++
    }
    return figures
  } finally {
    simulator.close()
  }
}
