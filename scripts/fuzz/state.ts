/** What must hold of a shop's state after any requests. */
import { HOUR, MINUTE } from '../../lib/core/clock.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import type { App } from '../../lib/app/open.js'
import { readSimulatorOrders } from '../../lib/simulator/inspect.js'
import type { Finding } from './judge.js'

/**
 * Everything that is wrong: the journal, the files, and purchase orders against what the
 * distributors have.
 */
export async function stateFaults(app: App, clock: { ms: number }): Promise<Finding[]> {
  const found: string[] = []
  for (let i = 0; i < 4; i++) {
    clock.ms += i === 0 ? MINUTE : HOUR
    await app.orders.pass()
    await app.monitors.pass()
  }
  const { sound, faults } = await app.operator.orders.verifyJournal()
  if (!sound) found.push(`the journal: ${faults[0]?.where} ${faults[0]?.fault}`)
  app.ctx.limits.flush()
  for (const [name, path] of Object.entries(filesIn(app.dir))) {
    const raw = openFile(path, { synchronous: 'NORMAL', readonly: true })
    try {
      const result = raw.pragma('integrity_check', { simple: true })
      if (result !== 'ok') found.push(`${name}: ${String(result)}`)
    } finally {
      raw.close()
    }
  }
  found.push(...(await orderFaults(app)))
  return found.map((detail) => ({
    rule: 'state' as const,
    sign: `state: ${detail.slice(0, 60)}`,
    detail,
  }))
}

/** Every purchase order that was placed is there once, and nothing else of ours is. */
async function orderFaults(app: App): Promise<string[]> {
  const orders = await app.ctx.read
    .selectFrom('purchase_order')
    .select(['id', 'client_ref', 'state', 'distid'])
    .execute()
  const executed = new Map<string, number>()
  for (const { clientRef } of readSimulatorOrders(app.dir))
    if (clientRef !== null) executed.set(clientRef, (executed.get(clientRef) ?? 0) + 1)
  const known = new Map(orders.map((order) => [order.client_ref, order]))
  const faults: string[] = []
  for (const [ref, times] of executed) {
    const order = known.get(ref)
    if (times > 1) faults.push(`a double: ${ref} ${times} times`)
    if (!order) faults.push(`the distributor has ${ref}, which nobody placed`)
  }
  for (const { id, client_ref: ref, state, distid } of orders) {
    const times = executed.get(ref) ?? 0
    if (state === 'placed' && times === 0)
      faults.push(`${distid} has not what was placed: purchase order ${id}`)
    if ((state === 'rejected' || state === 'expired') && times > 0)
      faults.push(`${distid} has what is told as failed (${state}): purchase order ${id}`)
  }
  return faults
}
