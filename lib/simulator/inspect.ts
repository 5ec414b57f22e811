/**
 * What the simulated distributors really have: for tests and harnesses, which count doubles and
 * losses.
 */
import { existsSync } from 'node:fs'
import { filesIn } from '../db/sqlite/folder.js'
import { openFile } from '../db/sqlite/sqlite.js'
import type { OrderStatus } from '../db/tables/column-types.js'
import { statusAt } from './engine/life.js'
import { profileOf } from './profiles.js'
import { allOrders, allUnreadFiles } from './engine/queries.js'
import type { CommittedLine } from './engine/order.js'
import type { Db } from './engine/store.js'

export interface SimulatorOrder {
  distid: string
  account: string
  /** Null on somebody else's order, which a scenario has placed. */
  clientRef: string | null
  /** As it was sent. */
  po: string
  /** Null as long as it lies in an inbox as a file. */
  number: string | null
  /** Units ordered, and those that the distributor ships. */
  lines: CommittedLine[]
  status: OrderStatus
  /** When it became an order, milliseconds since 1970; null for a file that nobody has read yet. */
  executedAt: number | null
}

/**
 * Every order, in the order in which they were executed, then files that wait; `at` is the time of
 * their status.
 */
export function listOrders(db: Db, at: number): SimulatorOrder[] {
  const orders = allOrders(db).map((order): SimulatorOrder => {
    const { distid, account, clientRef, po, number, lines, executedAt } = order
    return {
      distid,
      account,
      clientRef,
      po,
      number,
      lines,
      status: statusAt(profileOf(distid)!, order, at),
      executedAt,
    }
  })
  return [
    ...orders,
    ...allUnreadFiles(db).map(({ distid, account, arrival }): SimulatorOrder => {
      const { clientRef, po, lines } = arrival
      return {
        distid,
        account,
        clientRef,
        po,
        number: null,
        lines: lines.map((line) => ({ ...line, committed: 0 })),
        status: 'Submitted',
        executedAt: null,
      }
    }),
  ]
}

/**
 * The same from the file of a state folder, whoever has it open; empty where no order was ever
 * placed. Executes nothing that is due. `at` (milliseconds since 1970) is the time of the status,
 * the end of all things by default.
 */
export function readSimulatorOrders(dir: string, at = Infinity): SimulatorOrder[] {
  const path = filesIn(dir).simulator
  if (!existsSync(path)) return []
  const raw = openFile(path, { synchronous: 'NORMAL', readonly: true })
  try {
    // The file is made before its tables are.
    return raw.pragma('user_version', { simple: true }) === 0 ? [] : listOrders(raw, at)
  } finally {
    raw.close()
  }
}
