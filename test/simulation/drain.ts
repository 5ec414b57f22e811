/** The end of a folder: nothing goes wrong any more, and time goes on until every order has come to its end. */
import { move } from '../../lib/orders/transitions.js'
import { readBooks } from './books.js'
import type { Folder } from './folder.js'
import { classOf, classOfRow } from './invariants.js'
import type { Life } from './life.js'

const MINUTE = 60_000
const STEPS = [...Array<number>(8).fill(2 * MINUTE), ...Array<number>(12).fill(10 * MINUTE), ...Array<number>(80).fill(60 * MINUTE)]

/** Returns how many orders waited for a person in the end. */
export async function drainFolder(folder: Folder): Promise<number> {
  const { world, time, watch, callers, shop: { app: { ctx } } } = folder
  folder.trace(() => 'DRAIN')
  folder.isDraining = true
  world.faultRate = 0
  const life = folder.begin()
  const release = (await life.sender.lease())!
  const run = (promise: Promise<unknown>) => folder.wait([{ life, promise }])
  const openOnes = () => ctx.read.selectFrom('purchase_order').select('id').where('state', 'in', ['planned', 'sending', 'unknown']).execute()
  for (const step of STEPS) {
    for (let i = 0; i < 20 && callers.hasOpen; i++) await run(Promise.all(callers.act(life, false)))
    await run(life.sender.pass())
    watch.look()
    if (watch.violations.length > 0 || ((await openOnes()).length === 0 && !callers.hasOpen)) break
    time.advance(step)
  }
  // Whatever is still on its way there arrives.
  while (time.hasOutside) time.advance(10 * MINUTE)
  const reviews = await decide(folder, life, run)
  release()
  await run(life.sender.stop())
  return reviews
}

/** An operator who has asked the distributors decides what is left, as the truth is. */
async function decide(folder: Folder, life: Life, run: (promise: Promise<unknown>) => Promise<void>): Promise<number> {
  const { world, shop: { app: { ctx } } } = folder
  const rules = folder.expectations(false)
  const { purchaseOrders } = await readBooks(ctx)
  const waiting = purchaseOrders.filter(({ state }) => state === 'review')
  const taken = new Set(purchaseOrders.flatMap(({ state, distid, distributor_order_id: number }) => state === 'placed' && number !== null ? [`${distid} ${number}`] : []))
  for (const order of waiting) {
    const name = classOfRow(rules, order)
    const numberless = purchaseOrders.filter((row) => row.state === 'placed' && row.distributor_order_id === null && classOfRow(rules, row) === name).length
    const free = world.executions.filter((execution) => classOf(rules, execution) === name && !taken.has(`${execution.distid} ${execution.number}`))
    const hit = free.length > numberless ? free.at(-1) : undefined
    if (hit) taken.add(`${hit.distid} ${hit.number}`)
    const { content: _, ...row } = order
    await run(life.ctx.engine.atomic(life.ctx, (tx) => move(tx, row, hit ? { to: 'placed', distributor_order_id: hit.number, next_at: null } : { to: 'rejected', reason: 'the distributor has no such order', next_at: null })))
  }
  await run(life.sender.flush())
  return waiting.length
}
