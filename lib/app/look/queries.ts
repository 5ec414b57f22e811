/** What a look at a folder asks of its system of record. */
import { query } from '../../db/query.js'

/** How much it holds. */
export const contentCounts = query((db) =>
  db.selectNoFrom(({ fn, selectFrom, val }) => {
    const count = (table: 'subscriber' | 'api_key' | 'placement' | 'purchase_order') =>
      fn.coalesce(
        selectFrom(table).select((row) => row.fn.countAll<number>().as('count')),
        val(0),
      )
    return [
      count('subscriber').as('subscribers'),
      count('api_key').as('keys'),
      count('placement').as('orders'),
      count('purchase_order').as('purchase_orders'),
    ]
  }),
)

/** The last backup that was made, as the audit has it. */
export const lastBackup = query((db) =>
  db
    .selectFrom('audit')
    .select(['at', 'detail'])
    .where('action', '=', 'backup')
    .orderBy('seq', 'desc')
    .limit(1),
)

export const liveDistributors = query((db) =>
  db.selectFrom('distributor_mode').select('distid').where('mode', '=', 'live'),
)
