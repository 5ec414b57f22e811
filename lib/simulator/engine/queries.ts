/** What the simulated distributors write down, and read again, in simulator.db. */
import type { Arrival, CommittedLine, Line, SalesOrder } from './order.js'
import type { Db } from './store.js'

/** How often a call was made, with this one. */
export function countCall(db: Db, ref: string, name: string): number {
  return db
    .prepare(`INSERT INTO call (ref, name, n) VALUES (?, ?, 1)
      ON CONFLICT DO UPDATE SET n = n + 1 RETURNING n`)
    .pluck()
    .get(ref, name) as number
}

// What happens by itself.

/** Something that is due; `payload` is JSON. */
export interface DueRow {
  id: number
  due_at: number
  kind: string
  distid: string
  account: string
  payload: string
}

export function insertDue(db: Db, due: Omit<DueRow, 'id'>): void {
  db.prepare(`INSERT INTO due (due_at, kind, distid, account, payload)
    VALUES (@due_at, @kind, @distid, @account, @payload)`).run(due)
}

/** Takes out what was due first up to now. */
export function takeDue(db: Db, now: number): DueRow | undefined {
  return db
    .prepare(`DELETE FROM due WHERE id = (
        SELECT id FROM due WHERE due_at <= ? ORDER BY due_at, id LIMIT 1)
      RETURNING id, due_at, kind, distid, account, payload`)
    .get(now) as DueRow | undefined
}

// Orders.

interface OrderRow extends Omit<
  SalesOrder,
  'clientRef' | 'listedPo' | 'lines' | 'shipTo' | 'firearms' | 'placedAt' | 'executedAt'
> {
  client_ref: string | null
  listed_po: string
  lines: string
  ship_to: string
  firearms: number
  placed_at: number
  executed_at: number
}

function fromRow({
  client_ref: clientRef,
  listed_po: listedPo,
  ship_to: shipTo,
  placed_at: placedAt,
  executed_at: executedAt,
  ...row
}: OrderRow): SalesOrder {
  return {
    id: row.id,
    distid: row.distid,
    account: row.account,
    clientRef,
    po: row.po,
    listedPo,
    number: row.number,
    content: row.content,
    scenario: row.scenario,
    placedAt,
    executedAt,
    lines: JSON.parse(row.lines) as CommittedLine[],
    shipTo: JSON.parse(shipTo) as Arrival['shipTo'],
    firearms: row.firearms === 1,
  }
}

const readOrders = (db: Db, where: string, ...values: (string | number | null)[]): SalesOrder[] =>
  (db.prepare(`SELECT * FROM sales_order ${where} ORDER BY id`).all(...values) as OrderRow[]).map(
    fromRow,
  )

/** Orders of all distributors, in the order in which they were executed. */
export const allOrders = (db: Db): SalesOrder[] => readOrders(db, '')

/** Orders of any account, at any distributor, with this reference. */
export const ordersAnywhere = (db: Db, clientRef: string) =>
  readOrders(db, 'WHERE client_ref = ?', clientRef)

/** Whose orders are asked for. */
export interface Owner {
  distid: string
  account: string
}

/** Orders of one account with this reference. */
export const ordersByRef = (db: Db, { distid, account }: Owner, clientRef: string) =>
  readOrders(db, 'WHERE client_ref = ? AND distid = ? AND account = ?', clientRef, distid, account)

/** Orders of one account that were placed since. */
export const ordersSince = (db: Db, { distid, account }: Owner, since: number) =>
  readOrders(db, 'WHERE distid = ? AND account = ? AND placed_at >= ?', distid, account, since)

/** A part of the orders of one account, the newest first, and how many there are of them all. */
export function ordersFrom(
  db: Db,
  { distid, account }: Owner,
  { offset, limit }: { offset: number; limit: number },
): { orders: SalesOrder[]; count: number } {
  const where = 'WHERE distid = ? AND account = ?'
  const rows = db
    .prepare(`SELECT * FROM sales_order ${where} ORDER BY id DESC LIMIT ? OFFSET ?`)
    .all(distid, account, limit, offset) as OrderRow[]
  const count = db.prepare(`SELECT count(*) FROM sales_order ${where}`).pluck()
  return { orders: rows.map(fromRow), count: count.get(distid, account) as number }
}

/** Orders of one account with this number. */
export const ordersNumbered = (db: Db, { distid, account }: Owner, number: string) =>
  readOrders(db, 'WHERE distid = ? AND account = ? AND number = ?', distid, account, number)

/** Orders of one account with this key of a PO, or this reference. */
export const ordersLike = (
  db: Db,
  { distid, account }: Owner,
  key: string,
  clientRef: string | null,
) =>
  readOrders(
    db,
    'WHERE distid = ? AND account = ? AND (po_key = ? OR client_ref = ?)',
    distid,
    account,
    key,
    clientRef,
  )

/** The order of one account with this number. */
export const orderAt = (
  db: Db,
  { distid, account }: Owner,
  number: string,
): SalesOrder | undefined =>
  readOrders(db, 'WHERE number = ? AND distid = ? AND account = ?', number, distid, account)[0]

/** The order of one account with this id. */
export const orderById = (db: Db, { distid, account }: Owner, id: number): SalesOrder | undefined =>
  readOrders(db, 'WHERE id = ? AND distid = ? AND account = ?', id, distid, account)[0]

/** `key` is the PO as lists are searched by it. */
export function insertSalesOrder(db: Db, order: Omit<SalesOrder, 'id'>, key: string): void {
  db.prepare(`INSERT INTO sales_order (distid, account, client_ref, po, listed_po, po_key, number,
      content, scenario, lines, ship_to, firearms, placed_at, executed_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`).run(
    order.distid,
    order.account,
    order.clientRef,
    order.po,
    order.listedPo,
    key,
    order.number,
    order.content,
    order.scenario,
    JSON.stringify(order.lines),
    JSON.stringify(order.shipTo),
    order.firearms ? 1 : 0,
    order.placedAt,
    order.executedAt,
  )
}

/** The next of the numbers that begin behind `first`. */
export function nextInSequence(db: Db, first: number): number {
  db.prepare('INSERT INTO sequence (one, last) VALUES (1, ?) ON CONFLICT DO NOTHING').run(first)
  return db.prepare('UPDATE sequence SET last = last + 1 RETURNING last').pluck().get() as number
}

// Shelves.

/** A SKU of a distributor; `past` is JSON of quantities that the shelf had. */
export interface StockRow {
  qty: number
  listed: number
  past: string
}

export function stockOf(db: Db, distid: string, sku: string): StockRow | undefined {
  return db
    .prepare('SELECT qty, listed, past FROM stock WHERE distid = ? AND sku = ?')
    .get(distid, sku) as StockRow | undefined
}

/** Stocks a SKU with what the catalog shows. */
export function insertStock(db: Db, distid: string, sku: string, qty: number): void {
  db.prepare(`INSERT INTO stock (distid, sku, qty, listed, past, written)
    VALUES (?, ?, ?, ?, '[]', ?)`).run(distid, sku, qty, qty, qty)
}

export function noteListed(db: Db, distid: string, sku: string, listed: number): void {
  db.prepare('UPDATE stock SET listed = ? WHERE distid = ? AND sku = ?').run(listed, distid, sku)
}

/** Stocks a SKU anew with what the catalog shows. */
export function restock(db: Db, distid: string, sku: string, qty: number): void {
  db.prepare(`UPDATE stock SET qty = ?, listed = ?, past = '[]', written = ?
    WHERE distid = ? AND sku = ?`).run(qty, qty, qty, distid, sku)
}

export function setStock(
  db: Db,
  distid: string,
  sku: string,
  { qty, past }: Pick<StockRow, 'qty' | 'past'>,
): void {
  db.prepare('UPDATE stock SET qty = ?, past = ? WHERE distid = ? AND sku = ?').run(
    qty,
    past,
    distid,
    sku,
  )
}

export interface Shelf {
  sku: string
  qty: number
}

/** All shelves of a distributor, and whether the feed shows another quantity of one. */
export function shelvesOf(db: Db, distid: string): { shelves: Shelf[]; isNews: boolean } {
  const news = db.prepare('SELECT 1 FROM stock WHERE distid = ? AND qty <> written LIMIT 1')
  return {
    shelves: db.prepare('SELECT sku, qty FROM stock WHERE distid = ?').all(distid) as Shelf[],
    isNews: news.get(distid) !== undefined,
  }
}

/** Notes what the feed shows now. */
export function noteWritten(db: Db, distid: string, shelves: readonly Shelf[]): void {
  const mark = db.prepare('UPDATE stock SET written = ? WHERE distid = ? AND sku = ?')
  for (const { sku, qty } of shelves) mark.run(qty, distid, sku)
}

// Orders that are being built up: stages, which have a number, and carts, one for each account.

export interface Stage {
  number: string
  arrival: Arrival
  lines: Line[]
}

const stageFrom = (row: Record<keyof Stage, string>): Stage => ({
  number: row.number,
  arrival: JSON.parse(row.arrival) as Arrival,
  lines: JSON.parse(row.lines) as Line[],
})

export function stageOf(db: Db, number: string): Stage | undefined {
  const row = db.prepare('SELECT number, arrival, lines FROM stage WHERE number = ?').get(number)
  return row === undefined ? undefined : stageFrom(row as Record<keyof Stage, string>)
}

/** Stages of an account with this number or reference. */
export function stagesLike(
  db: Db,
  { distid, account }: Owner,
  number: string | null,
  clientRef: string,
): Stage[] {
  const rows = db
    .prepare(`SELECT number, arrival, lines FROM stage
      WHERE distid = ? AND account = ? AND (number = ? OR client_ref = ?) ORDER BY number`)
    .all(distid, account, number, clientRef)
  return (rows as Record<keyof Stage, string>[]).map(stageFrom)
}

export function insertStage(
  db: Db,
  { distid, account }: Owner,
  number: string,
  arrival: Arrival,
): void {
  db.prepare(`INSERT INTO stage (number, distid, account, client_ref, arrival, lines)
    VALUES (?, ?, ?, ?, ?, '[]')`).run(
    number,
    distid,
    account,
    arrival.clientRef,
    JSON.stringify(arrival),
  )
}

export function setStageLines(db: Db, number: string, lines: readonly Line[]): void {
  db.prepare('UPDATE stage SET lines = ? WHERE number = ?').run(JSON.stringify(lines), number)
}

export function setStageArrival(db: Db, number: string, arrival: Arrival): void {
  db.prepare('UPDATE stage SET arrival = ? WHERE number = ?').run(JSON.stringify(arrival), number)
}

export function deleteStage(db: Db, number: string): void {
  db.prepare('DELETE FROM stage WHERE number = ?').run(number)
}

export interface Cart {
  id: number
  account: string
  /** What was written for the people there. */
  note: string
  po: string
  lines: Line[]
  /** Where it is to go, as JSON; empty until somebody says so. */
  address: string
  /** Of the order that it became. */
  number: string | null
}

/** The cart that an account fills; none until it opens one. */
export function openCartOf(db: Db, account: string): Cart | undefined {
  const row = db.prepare('SELECT * FROM cart WHERE account = ? AND number IS NULL').get(account)
  if (row === undefined) return undefined
  const { lines, ...cart } = row as Omit<Cart, 'lines'> & { lines: string }
  return { ...cart, lines: JSON.parse(lines) as Line[] }
}

/** Opens a cart, where the account has none. */
export function openCart(db: Db, account: string): void {
  db.prepare(`INSERT INTO cart (account, note, po, lines, number) VALUES (?, '', '', '[]', NULL)
    ON CONFLICT DO NOTHING`).run(account)
}

/** Changes a cart that became no order. */
export function changeCart(
  db: Db,
  { id, ...cart }: Cart,
  change: Partial<Pick<Cart, 'note' | 'po' | 'lines' | 'address'>>,
): void {
  const { note, po, lines, address } = { ...cart, ...change }
  db.prepare('UPDATE cart SET note = ?, po = ?, lines = ?, address = ? WHERE id = ?').run(
    note,
    po,
    JSON.stringify(lines),
    address,
    id,
  )
}

/** Notes which order a cart became. */
export function closeCart(db: Db, id: number, number: string | null): void {
  db.prepare('UPDATE cart SET number = ? WHERE id = ?').run(number, id)
}

// Files in an inbox.

export interface NewFile {
  name: string
  /** The PO as lists are searched by it. */
  key: string
  arrival: Arrival
  /** What was written; empty where nobody reads it back. */
  content?: string
  /** Milliseconds since 1970. */
  at: number
}

/** Null where a file of this name lies there already. */
export function insertFile(
  db: Db,
  { distid, account }: Owner,
  { name, key, arrival, content = '', at }: NewFile,
): number | null {
  const { changes, lastInsertRowid } = db
    .prepare(`INSERT INTO inbox_file
        (distid, account, name, client_ref, po_key, arrival, content, dropped_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
    .run(distid, account, name, arrival.clientRef, key, JSON.stringify(arrival), content, at)
  return changes > 0 ? Number(lastInsertRowid) : null
}

export function hasFile(db: Db, account: string, name: string): boolean {
  const file = db.prepare('SELECT 1 FROM inbox_file WHERE account = ? AND name = ?')
  return file.get(account, name) !== undefined
}

export interface InboxFile {
  name: string
  arrival: Arrival
  content: string
  droppedAt: number
  /** Null until it is read. */
  readAt: number | null
  /** What its reader wrote of it. */
  answer: string | null
  /** Of the order that it became. */
  number: string | null
}

interface FileRow {
  distid: string
  account: string
  name: string
  arrival: string
  content: string
  dropped_at: number
  read_at: number | null
  answer: string | null
  number: string | null
}

const fileFrom = ({ arrival, dropped_at, read_at, ...row }: FileRow): InboxFile => ({
  ...row,
  arrival: JSON.parse(arrival) as Arrival,
  droppedAt: dropped_at,
  readAt: read_at,
})

/** Notes that a file was read, and tells what is in it. */
export function takeFile(db: Db, id: number, at: number): InboxFile {
  return fileFrom(
    db.prepare('UPDATE inbox_file SET read_at = ? WHERE id = ? RETURNING *').get(at, id) as FileRow,
  )
}

/** Notes what became of a file that was read. */
export function answerFile(
  db: Db,
  id: number,
  { answer, number }: { answer: string; number: string | null },
): void {
  db.prepare('UPDATE inbox_file SET answer = ?, number = ? WHERE id = ?').run(answer, number, id)
}

/** The files that an account ever dropped since, read or not. */
export function filesSince(db: Db, { distid, account }: Owner, since: number): InboxFile[] {
  const rows = db
    .prepare(`SELECT * FROM inbox_file
      WHERE distid = ? AND account = ? AND dropped_at >= ? ORDER BY id`)
    .all(distid, account, since)
  return (rows as FileRow[]).map(fileFrom)
}

/** Files of an account that nobody has read yet, with this reference or key of a PO. */
export function unreadFiles(db: Db, account: string, clientRef: string, key: string): InboxFile[] {
  const rows = db
    .prepare(`SELECT * FROM inbox_file
      WHERE account = ? AND read_at IS NULL AND (client_ref = ? OR po_key = ?) ORDER BY id`)
    .all(account, clientRef, key)
  return (rows as FileRow[]).map(fileFrom)
}

/** Every file that nobody has read yet. */
export function allUnreadFiles(db: Db): (Owner & { arrival: Arrival })[] {
  const rows = db.prepare('SELECT * FROM inbox_file WHERE read_at IS NULL ORDER BY id').all()
  // A file of the release before may be looked at that nobody has opened since.
  return (rows as (FileRow & { distid?: string })[]).map(
    ({ distid = 'BILL', account, arrival }) => ({
      distid,
      account,
      arrival: JSON.parse(arrival) as Arrival,
    }),
  )
}
