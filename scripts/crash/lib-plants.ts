/** Texts that the harness replaces in what it runs: places to die at, and faults that it must find. */
import type { Patch } from './lib-bundle.js'

/** In the simulated distributors only: a place to die at behind every call, and an end of all faults once a run lets all settle. */
export const PROBES: readonly Patch[] = [
  {
    file: 'lib/simulator/orders/call.ts',
    find: '  if (fault) await meet(',
    replace: '  ;(globalThis as { crashProbe?: (step: string) => void }).crashProbe?.(\'distributor called\')\n  if (fault) await meet(',
  },
  {
    file: 'lib/simulator/orders/scenarios.ts',
    find: 'return percent === undefined ? 0 :',
    replace: 'return percent === undefined || (globalThis as { crashCalm?: boolean }).crashCalm ? 0 :',
  },
  {
    file: 'lib/simulator/orders/faults.ts',
    find: '  const chance = chaosOf(asked)\n',
    replace: '  if ((globalThis as { crashCalm?: boolean }).crashCalm) return null\n  const chance = chaosOf(asked)\n',
  },
]

/** A fault in the order engine that the harness must find. Those that only show where a distributor is late or contradicts itself are the simulation's (planted.ts). */
export interface Plant {
  what: string
  /** The harness that finds it. */
  by: 'kill' | 'two'
  patches: readonly Patch[]
}

/** Sends inside the transaction that writes the order down, so that nothing is on the disk before a distributor has it. */
const SEND_FIRST = `
    for (const row of rows.purchaseOrders) {
      if (row.state !== 'sending') continue
      const { connector } = input.groups.find(({ distid }) => distid === row.distid)!
      const session = { settings: plantSettings(tx, ctx.subscriber, row.distid)!, signal: new AbortController().signal, now: tx.now, stage: null, keepStage: async (stage: string) => { row.stage = stage } }
      const sent = await connector.submit(session, contentOf(tx, row)).catch(() => ({ outcome: 'unknown' as const, reason: 'the connection failed' }))
      const { to, ...rest } = plantAfter(row, sent, connector, tx.now())
      Object.assign(row, rest, { state: to })
      ctx.orders.free(row.account!)
    }
`

export const PLANTS: Record<string, Plant> = {
  'send, then record': {
    what: 'the order is written down once the distributor has answered', by: 'kill',
    patches: [
      { file: 'lib/orders/intent.ts', find: "import { digestOf, sealContent } from '../fulfillment/content.js'\n", replace: "import { contentOf, digestOf, sealContent } from '../fulfillment/content.js'\nimport { accountSettings as plantSettings } from '../fulfillment/account.js'\nimport { afterSend as plantAfter } from './outcome.js'\n" },
      { file: 'lib/orders/intent.ts', find: '    const rows = await rowsOf(tx as Ctx, input, placement)\n', replace: `    const rows = await rowsOf(tx as Ctx, input, placement)\n${SEND_FIRST}` },
      { file: 'lib/orders/place.ts', find: 'purchaseOrders.map((order) => ctx.orders.deliver(order))', replace: "purchaseOrders.filter(({ state }) => state === 'sending' || state === 'planned').map((order) => ctx.orders.deliver(order))" },
    ],
  },
  'blind resend at restart': {
    what: 'what a dead process was sending is sent again without a look', by: 'kill',
    patches: [{ file: 'lib/orders/recover.ts', find: 'move(tx, order, afterDeath(order, tx.now()))', replace: "move(tx, order, { to: 'planned', owner: null, next_at: tx.now() })" }],
  },
  'news are taken by their PO alone': {
    what: 'a stranger\'s order under the PO of ours gives it their number and status', by: 'kill',
    patches: [
      { file: 'lib/fulfillment/match.ts', find: "  return lines === 'other' || zip === false\n", replace: "  return lines === 'other' && zip === false && told.po === ''\n" },
      { file: 'lib/fulfillment/match.ts', find: '  return (isTold && isNamed !== false) || poProves(news, sent, context)', replace: "  return isTold || isNamed === null || poProves(news, sent, context) || samePo(news.po, sent.po) === 'same'" },
    ],
  },
  'an order_id is free after a restart': {
    what: 'the holder of an order_id is looked for among the orders of this life', by: 'kill',
    patches: [
      { file: 'lib/orders/place.ts', find: ".where('order_id', '=', body.order_id).where('holds_id', '=', 1)", replace: ".where('order_id', '=', body.order_id).where('holds_id', '=', 1).where('id', 'in', (query) => query.selectFrom('purchase_order').select('placement_id').where('owner', '=', ctx.orders.owner))" },
      { file: 'lib/orders/intent.ts', find: 'if (isHeld) throw new OrderIdHeld()', replace: "if (isHeld) await tx.db.updateTable('placement').set({ holds_id: 0 }).where('order_id', '=', order.orderId).execute()" },
    ],
  },
  'no engine lock': {
    what: 'every process takes itself for the sender', by: 'two',
    patches: [{ file: 'lib/db/engine.ts', find: 'return raw !== null\n', replace: "return raw !== null || name === 'engine'\n" }],
  },
  'the quota counts one process': {
    what: 'orders of the last hour are those that this process took in', by: 'two',
    patches: [{ file: 'lib/orders/quota.ts', find: 'Math.max(wait(rows.map(({ at }) => Math.min(at, now)), now, quota), wait(here, steady, quota))', replace: 'Math.max(wait(here, steady, quota), rows.length * 0)' }],
  },
}
