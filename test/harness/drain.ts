/**
 * The end of a folder: nothing goes wrong any more, and time goes on until every order has come to
 * its end.
 */
import { resolveOrder } from '../../lib/orders/operator/resolve.js'
import { readBooks } from './books.js'
import type { Folder } from './folder.js'
import { classOf, classOfRow } from './invariants.js'
import type { Life } from './life.js'

const MINUTE = 60_000
const STEPS = [
  ...Array<number>(8).fill(2 * MINUTE),
  ...Array<number>(12).fill(10 * MINUTE),
  ...Array<number>(80).fill(60 * MINUTE),
]

/** Returns how many orders waited for a person. */
export async function drainFolder(folder: Folder): Promise<number> {
  const { world, time } = folder
  folder.trace(() => 'DRAIN')
  folder.isDraining = true
  world.faultRate = 0
  const life = folder.begin()
  const lease = (await life.sender.lease())!
  let reviews = 0
  for (let round = 0; round < 3; round++) {
    await passUntilQuiet(folder, life)
    // Whatever is still on its way there arrives.
    while (time.hasOutside) time.advance(10 * MINUTE)
    const decided =
      folder.watch.violations.length === 0 ? await decide(folder, life, round === 0) : 0
    reviews += decided
    if (decided === 0) break
  }
  await folder.wait([{ life, promise: life.sender.flush() }])
  lease.release()
  await folder.wait([{ life, promise: life.sender.stop() }])
  return reviews
}

/** Time goes on until nothing does any more. */
async function passUntilQuiet(folder: Folder, life: Life): Promise<void> {
  const {
    watch,
    callers,
    time,
    shop: {
      app: { ctx },
    },
  } = folder
  const run = (promise: Promise<unknown>) => folder.wait([{ life, promise }])
  const openOnes = () =>
    ctx.read
      .selectFrom('purchase_order')
      .select('id')
      .where('state', 'in', ['planned', 'sending', 'unknown'])
      .execute()
  for (const step of STEPS) {
    for (let i = 0; i < 20 && callers.hasOpen; i++) await run(Promise.all(callers.act(life, false)))
    await run(life.sender.pass())
    watch.look()
    if (watch.violations.length > 0 || ((await openOnes()).length === 0 && !callers.hasOpen)) return
    time.advance(step)
  }
}

/**
 * An operator who has asked the distributors decides what is left, as the truth is. Returns of how
 * many.
 */
async function decide(folder: Folder, life: Life, mayResend: boolean): Promise<number> {
  const {
    world,
    rng,
    shop: {
      app: { ctx },
    },
  } = folder
  const rules = folder.expectations(false)
  const { purchaseOrders } = await readBooks(ctx)
  const waiting = purchaseOrders.filter(({ state }) => state === 'review')
  const taken = new Set(
    purchaseOrders.flatMap(({ state, distid, distributor_order_id: number }) =>
      state === 'placed' && number !== null ? [`${distid} ${number}`] : [],
    ),
  )
  for (const order of waiting) {
    const name = classOfRow(rules, order)
    const numberless = purchaseOrders.filter(
      (row) =>
        row.state === 'placed' &&
        row.distributor_order_id === null &&
        classOfRow(rules, row) === name,
    ).length
    const free = world.executions.filter(
      (execution) =>
        classOf(rules, execution) === name && !taken.has(`${execution.distid} ${execution.number}`),
    )
    const number = free.length > numberless ? free.at(-1)!.number : null
    if (number !== null) taken.add(`${order.distid} ${number}`)
    const verdict =
      number !== null
        ? { verdict: 'placed' as const, number }
        : {
            verdict: 'absent' as const,
            next: mayResend && rng.chance(0.4) ? ('resend' as const) : ('refuse' as const),
            reason: 'the distributor has no such order',
          }
    folder.watch.decided.add(order.client_ref)
    folder.trace(() => `OPERATOR settles ${order.client_ref}: ${JSON.stringify(verdict)}`)
    await folder.wait([
      { life, promise: resolveOrder(life.ctx, { order: order.client_ref, ...verdict }) },
    ])
  }
  return waiting.length
}
