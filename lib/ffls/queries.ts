/** What the directory and its lists ask of the database. */
import type { ExpressionBuilder } from 'kysely'
import { members, query } from '../db/query.js'
import type { Tables } from '../db/tables/tables.js'

/** 1 where the operator says that a dealer's license is on file, or a distributor's list does. */
export function onFile(dealer: ExpressionBuilder<Tables, 'dealer'>) {
  return dealer
    .or([
      dealer('marked_on_file', '=', 1),
      dealer.exists(
        dealer
          .selectFrom('dealer_on_file')
          .select('distid')
          .whereRef('dealer_on_file.dealer_id', '=', 'dealer.id'),
      ),
    ])
    .$castTo<number>()
}

/** Dealers as the list around a ZIP shows them. */
export const listedDealers = query((db, given: { rows: readonly number[] }) =>
  db
    .selectFrom('dealer')
    .select([
      'row',
      'license_number',
      'license_name',
      'business_name',
      'premise_street',
      'premise_city',
      'premise_state',
      'premise_zip',
      'voice_phone',
      'email',
      'sot_on_file',
      'expires_on',
      'valid_until',
      'listed',
    ])
    .select((dealer) => onFile(dealer).as('on_file'))
    .where('row', 'in', members(given.rows)),
)

/** About how many dealers there are. */
export const highestRow = query((db) =>
  db.selectFrom('dealer').select(({ fn }) => fn.max('row').as('row')),
)

/** The next listed dealers, as the directory in memory has them. */
export const directoryRows = query((db, given: { after: number; limit: number }) =>
  db
    .selectFrom('dealer')
    .select(['row', 'license_number'])
    .select((dealer) => [
      dealer.fn<string>('substr', ['premise_zip', dealer.lit(1), dealer.lit(5)]).as('zip'),
      dealer
        .fn<string>('max', ['expires_on', dealer.fn.coalesce('valid_until', 'expires_on')])
        .as('last_day'),
      onFile(dealer).as('on_file'),
    ])
    .select(['business_name', 'license_name'])
    .where('listed', '=', 1)
    .where('row', '>', given.after)
    .orderBy('row')
    .limit(given.limit),
)
