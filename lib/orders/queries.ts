/** Conditions that an index of SQLite answers only where they are said in its own words. */
import { sql } from 'kysely'
import { isText } from '../db/words.js'

/** Purchase orders that are open, as `purchase_order_open` has it. */
export const isOpenPurchase = sql<boolean>`state in ('planned', 'sending', 'unknown', 'review')`

/** Purchase orders with a PO, as `purchase_order_po` has it: distributors fold its case. */
export const hasPo = (po: string) => isText('po_number', po)
