/** Numbers that distributors gave. */
import type { Kysely } from 'kysely'
import type { Tables } from '../db/tables.js'
import type { StoredPo } from '../orders/transitions.js'

/** Whether a distributor's number stands on another purchase order of the account, which subscribers may share: it belongs to one alone. */
export async function standsElsewhere(db: Kysely<Tables>, { id, distid, mode, account, subscriber_id: owner }: Pick<StoredPo, 'id' | 'distid' | 'mode' | 'account' | 'subscriber_id'>, number: string): Promise<boolean> {
  return await db.selectFrom('purchase_order').select('id').where('distributor_order_id', '=', number).where('distid', '=', distid).where('mode', '=', mode).where('id', '<>', id)
    .where((or) => or.or([or('subscriber_id', '=', owner), ...account === null ? [] : [or('account', '=', account)]])).executeTakeFirst() !== undefined
}
