/** What Sports South shows of an order: its header with where it stands, and its lines. */
import type { FoundOrder, OrderSession, PurchaseOrder, Search } from '../../fulfillment.js'
import { NoReply } from '../../session/reply.js'
import { SportsSouthAccount } from './api.js'

/** `W` is open, `D` placed, `R` placed and being verified, `E` an error in placing it. */
export type Status = 'W' | 'D' | 'R' | 'E'

export interface Header {
  readonly number: string
  readonly po: string
  /** Our reference, as it is shown. */
  readonly reference: string
  /** As it is shown. */
  readonly shown: string
}

export interface Detail {
  readonly distsku: string
  readonly qty: number
  readonly shipped: number
}

/** Asks by number where there is one; 0 is the number of no order. */
const NO_NUMBER = '0'
/** Orders of one reference: the one that was placed, and what was begun and left behind. */
const MOST = 20

/** The orders of a number or a reference. Throws a NoReply. */
export async function headersOf(
  account: SportsSouthAccount,
  { number, reference }: { number: string | null; reference: string },
): Promise<Header[]> {
  const rows = await account.rows('orders', 'GetHeader', {
    CustomerOrderNumber: reference,
    OrderNumber: number ?? NO_NUMBER,
  })
  if (rows.length > MOST)
    throw new NoReply(`GetHeader shows ${rows.length} orders of one reference`)
  return rows.map(({ ORDNO: number = '', ORPO: po = '', ORCONO: reference = '', STATUS = '' }) => ({
    number,
    po,
    reference,
    shown: STATUS,
  }))
}

/**
 * The order of this number. Null where none is shown. Throws a NoReply, also where it bears
 * somebody else's reference.
 */
export async function headerAt(
  account: SportsSouthAccount,
  asked: { number: string; reference: string },
): Promise<Header | null> {
  const headers = await headersOf(account, asked)
  const header = headers.find(({ number }) => number === asked.number)
  if (header && !isSameReference(header.reference, asked.reference))
    throw new NoReply(`order ${asked.number} is shown with another CustomerOrderNumber than ours`)
  return header ?? null
}

/** Where an order stands. Throws a NoReply for what is not known. */
export function statusOf({ number, shown }: Header): Status {
  if (/^[WDRE]$/.test(shown) && /^\d+$/.test(number)) return shown as Status
  throw new NoReply('GetHeader shows an order without a number or a status that is known')
}

/** Shown in capitals, or cut off: a reference of ours is letters and digits that nobody else has. */
const SIGNIFICANT = 8
export function isSameReference(shown: string, ours: string): boolean {
  const [a, b] = [shown.toUpperCase(), ours.toUpperCase()]
  return a === b || (a.length >= SIGNIFICANT && b.startsWith(a))
}

/** The lines of an order. Throws a NoReply. */
export async function detailsOf(
  account: SportsSouthAccount,
  { number, reference }: { number: string; reference: string },
): Promise<Detail[]> {
  const rows = await account.rows('orders', 'GetDetail', {
    CustomerOrderNumber: reference,
    OrderNumber: number,
  })
  return rows
    .filter(({ ORDNO: of = number }) => of === number)
    .map(({ ORITEM: distsku = '', ORQTY = '', ORQTYF = '' }) => {
      const [qty, shipped] = [unitsIn(ORQTY), unitsIn(ORQTYF === '' ? '0' : ORQTYF)]
      if (distsku === '' || qty === null || shipped === null)
        throw new NoReply('GetDetail shows a line without an item or a quantity')
      return { distsku, qty, shipped }
    })
}

/** Whole units, however many zeros are shown after the point. */
function unitsIn(text: string): number | null {
  return /^\d{1,9}(?:\.0+)?$/.test(text) ? Number(text) : null
}

/**
 * By the number that the order was begun under, and by our reference, which Sports South shows as
 * CustomerOrderNumber; never by the PO, which it cannot be asked for.
 *
 * An order that is open, and one with an error, is `submitted: false`: it is not placed. What comes
 * of the second, the next send finds out: it is told there that it was refused, and the engine
 * believes that once two looks, minutes apart, have shown that it still is not placed.
 *
 * A number that Sports South gave and does not show any more proves nothing: whether orders leave
 * that list once they are shipped, or deleted, or old, is not known. So that is no answer, and
 * nothing is sent again for it.
 */
export async function find(session: OrderSession, order: PurchaseOrder): Promise<Search> {
  session.signal.throwIfAborted()
  const account = new SportsSouthAccount(session)
  const { clientRef } = order
  try {
    const headers = await headersOf(account, { number: session.stage, reference: clientRef })
    const ours = headers.filter(
      ({ number, reference }) => number === session.stage || isSameReference(reference, clientRef),
    )
    const orders = []
    for (const header of ours) orders.push(await foundOrder(account, header, clientRef))
    const isThere = orders.some(
      ({ number, submitted }) => submitted === true || number === session.stage,
    )
    if (session.stage !== null && !isThere)
      throw new NoReply(`order ${session.stage}, which Sports South began, is not shown any more`)
    return { outcome: 'answered', orders }
  } catch (error) {
    if (!(error instanceof NoReply)) throw error
    return { outcome: 'unreachable', reason: error.message }
  }
}

async function foundOrder(
  account: SportsSouthAccount,
  header: Header,
  clientRef: string,
): Promise<FoundOrder> {
  const { number, po, reference } = header
  const status = statusOf(header)
  if (!isSameReference(reference, clientRef))
    throw new NoReply(`order ${number} is shown with another CustomerOrderNumber than ours`)
  const details = await detailsOf(account, { number, reference: clientRef })
  return {
    number,
    po,
    clientRef,
    lines: details.map(({ distsku, qty }) => ({ distsku, qty })),
    submitted: status === 'D' || status === 'R',
  }
}
