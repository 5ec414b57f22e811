/** Holds what callers were told against the orders of the database and the books of the warehouses. */
import { FAILED } from '../../lib/orders/stored.js'
import type { PoState } from '../../lib/db/tables/orders.js'
import type { Told } from './callers.js'
import { WAREHOUSES } from './warehouse.js'
import type { Taken } from './warehouse.js'

export interface Purchase {
  orderId: string
  ref: string
  distid: string
  po: string
  state: PoState
  /** Of a send after one whose outcome is not known. */
  refusal: string | null
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
    if (own.some((one) => !isOver(one, taken))) faults.unfinished.push(about)
  }
  for (const { order, number } of books)
    if (!orderOf.has(order.clientRef))
      faults.lost.push(`${number} (${order.clientRef}): the installation does not know it`)
  return faults
}

/**
 * Or a person has to decide, as the rules want it: it was refused, and nobody could ask whether a send
 * before that had come. Here it had not.
 */
function isOver({ distid, state, refusal }: Purchase, taken: readonly Taken[]): boolean {
  if (state === 'placed' || FAILED.includes(state)) return true
  const { recovery } = WAREHOUSES.find((warehouse) => warehouse.distid === distid)!
  return state === 'review' && refusal !== null && recovery === 'resend' && taken.length === 0
}
