/** Holds what callers were told against the orders of the database and the books of the warehouses. */
import { FAILED } from '../../lib/orders/stored.js'
import type { PoState } from '../../lib/db/tables/orders.js'
import type { Told } from './callers.js'
import type { Taken } from './warehouse.js'

export interface Purchase {
  orderId: string
  ref: string
  distid: string
  po: string
  state: PoState
  number: string | null
}

export interface Checked {
  doubled: string[]
  lost: string[]
  wrong: string[]
  unfinished: string[]
}

export function check(
  purchases: readonly Purchase[],
  books: readonly Taken[],
  told: readonly Told[],
): Checked {
  const faults: Checked = { doubled: [], lost: [], wrong: [], unfinished: [] }
  const orderOf = new Map(purchases.map(({ ref, orderId }) => [ref, orderId]))
  for (const { id, status, code, tries } of told) {
    const taken = books.filter(({ order }) => orderOf.get(order.clientRef) === id)
    const own = purchases.filter(({ orderId }) => orderId === id)
    const about = `${id}: told ${status} ${code ?? ''} after ${tries} tries; ${own
      .map(({ state }) => state)
      .join()}; in the books ${taken.map(({ number }) => number).join()}`
    if (taken.length > 1) faults.doubled.push(about)
    const isKnown = status === 200 || code === 'duplicate_order'
    if (isKnown && own.length === 0) faults.lost.push(about)
    // A refusal for good, of what the distributor has all the same.
    if (!isKnown && status >= 400 && status < 500 && taken.length > 0) faults.wrong.push(about)
    const bought = own.filter(({ state }) => state === 'placed')
    if (bought.some(({ number }) => !taken.some((one) => one.number === number)))
      faults.wrong.push(about)
    if (bought.length === 0 && taken.length > 0) faults.wrong.push(about)
    if (own.some(({ state }) => state !== 'placed' && !FAILED.includes(state)))
      faults.unfinished.push(about)
  }
  for (const { order, number } of books)
    if (!orderOf.has(order.clientRef))
      faults.lost.push(`${number} (${order.clientRef}): the installation does not know it`)
  return faults
}
