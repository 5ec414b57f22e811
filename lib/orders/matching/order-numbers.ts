/** Numbers that distributors gave, and POs that we sent. */
import { hasPo } from '../queries.js'
import { FAILED } from '../stored.js'
import type { PoContext } from './match.js'
import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables/tables.js'
import type { StoredPo } from '../stored.js'

/**
 * Whether a distributor's number stands on another purchase order of the account, which subscribers
 * may share: it belongs to one alone.
 */
export async function standsElsewhere(
  db: Kysely<Tables>,
  {
    id,
    distid,
    mode,
    account,
    subscriber_id: owner,
  }: Pick<StoredPo, 'id' | 'distid' | 'mode' | 'account' | 'subscriber_id'>,
  number: string,
): Promise<boolean> {
  return (
    (await db
      .selectFrom('purchase_order')
      .select('id')
      .where('distributor_order_id', '=', number)
      .where('distid', '=', distid)
      .where('mode', '=', mode)
      .where('id', '<>', id)
      .where((or) =>
        or.or([
          or('subscriber_id', '=', owner),
          ...(account === null ? [] : [or('account', '=', account)]),
        ]),
      )
      .executeTakeFirst()) !== undefined
  )
}

/**
 * Which other purchase orders that a distributor may have bear this one's PO, whoever's they are:
 * those of other orders, and other parts of its own. Distributors fold the case of a PO, so one
 * that differs by it alone is no other. What never left is at no distributor.
 */
export async function sharersOfPo(
  db: Kysely<Tables>,
  {
    id,
    fulfillment_order_id: record,
    distid,
    mode,
    po_number: po,
  }: Pick<StoredPo, 'id' | 'fulfillment_order_id' | 'distid' | 'mode' | 'po_number'>,
): Promise<Pick<PoContext, 'poIsAlone' | 'hasOtherParts'>> {
  const records = (
    await db
      .selectFrom('purchase_order')
      .select('fulfillment_order_id as record')
      .distinct()
      .where('distid', '=', distid)
      .where(hasPo(po))
      .where('mode', '=', mode)
      .where('id', '<>', id)
      .where('state', 'not in', FAILED)
      .limit(2)
      .execute()
  ).map((other) => other.record)
  return {
    poIsAlone: records.every((other) => other === record),
    hasOtherParts: records.includes(record),
  }
}
