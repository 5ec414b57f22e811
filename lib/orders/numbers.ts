/** Numbers that distributors gave. */
import type { Kysely } from 'kysely'
import type { Tables } from '../db/tables.js'
import type { StoredPo } from './transitions.js'

/** Whether a distributor's number stands on another purchase order: it belongs to one alone. */
export async function standsElsewhere(db: Kysely<Tables>, { id, distid, mode, subscriber_id: owner }: StoredPo, number: string): Promise<boolean> {
  return await db.selectFrom('purchase_order').select('id').where('subscriber_id', '=', owner).where('distributor_order_id', '=', number)
    .where('distid', '=', distid).where('mode', '=', mode).where('id', '<>', id).executeTakeFirst() !== undefined
}
