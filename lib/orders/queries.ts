/** Conditions that an index of SQLite answers only where they are said in its own words. */
import { sql } from 'kysely'

/** Purchase orders that are open, as `purchase_order_open` has it. */
export const isOpenPurchase = sql<boolean>`state in ('planned', 'sending', 'unknown', 'review')`

/** Purchase orders with a PO, as `purchase_order_po` has it: distributors fold its case. */
export const hasPo = (po: string) => sql<boolean>`po_number = ${po} collate nocase`
