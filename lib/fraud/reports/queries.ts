/**
 * What checks ask of the reports. Statements over lists keep their form however long a list is, so
 * that a check of which nothing matches costs as much as any other.
 */
import { sql } from 'kysely'
import type { ExpressionBuilder } from 'kysely'
import { eachOf, members, query } from '../../db/query.js'
import { anyOf, byEngine, caseAside, folded, noCase } from '../../db/words.js'
import type { Tables } from '../../db/tables/tables.js'
import { KINDS } from './kinds.js'

/** Reports that are seen: those made here, and of a partner those of the batch that holds. */
export function isSeen(report: ExpressionBuilder<Tables, 'fraud_report'>) {
  return report.or([
    report('partner', 'is', null),
    report('batch', '=', (query) =>
      query
        .selectFrom('fraud_partner')
        .select('fraud_partner.batch')
        .whereRef('fraud_partner.name', '=', 'fraud_report.partner'),
    ),
  ])
}

/** Reports that hold one of these hashes, a row for each; `at` is the place of the hash. */
export const reportsWith = query((db, given: { hashes: readonly bigint[]; subscriber: string }) =>
  db
    .selectFrom(eachOf(given.hashes).as('asked'))
    // Crossed, they are read in this order: by the few that are asked for.
    .crossJoin('fraud_signal')
    .crossJoin('fraud_report')
    .whereRef('hash', '=', 'asked.value')
    .whereRef('fraud_report.id', '=', 'report')
    .where(isSeen)
    .select((row) => [
      'asked.key as at',
      'fraud_report.id as id',
      'dealer',
      row
        .case()
        .when('subscriber_id', '=', given.subscriber)
        .then(row.lit(1))
        .else(row.lit(0))
        .end()
        .as('mine'),
      'reported_at as first',
      'updated_at as last',
    ]),
)

/**
 * How many different values reports have of each kind. One that stands under several keys counts
 * once: where a report made here has it, its hashes under the other keys are known; and the values
 * that were asked for are known anyway.
 */
export const valuesOfKinds = query(
  (db, given: { reports: readonly number[]; asked: readonly bigint[] }) => {
    const among = db.selectFrom('fraud_evidence').where('report', 'in', members(given.reports))
    return among
      .where('own', '=', 1)
      .where('kind', '<=', KINDS.item)
      .where('hash', 'not in', among.where('own', '=', 0).select('hash'))
      .groupBy('kind')
      .select((row) => [
        'kind',
        row.fn
          .count<number>(
            row
              .case()
              .when('hash', 'in', members(given.asked))
              .then(row.val(0n))
              .else(row.ref('hash'))
              .end(),
          )
          .distinct()
          .as('count'),
      ])
  },
)

/**
 * Which of these hashes of items the reports hold, as text. One pass over what they hold: to look
 * each hash up in each report takes six times as long, and the plus keeps SQLite from it.
 */
export const itemsShared = query(
  (db, given: { reports: readonly number[]; hashes: readonly bigint[] }) =>
    db
      .selectFrom('fraud_evidence')
      .select(sql<string>`cast(hash as text)`.as('hash'))
      .distinct()
      .where('report', 'in', members(given.reports))
      .where('own', '=', 1)
      .where('kind', '>=', KINDS.itemKey)
      .where(sql<bigint>`+hash`, 'in', members(given.hashes)),
)

/** A subscriber's own notes that it gets back. */
const MOST_NOTES = 50

/** The newest notes of these reports, as they are sealed. */
export const newestNotes = query((db, given: { reports: readonly number[] }) =>
  db
    .selectFrom('fraud_report')
    .select(['id', 'notes'])
    .where('id', 'in', members(given.reports))
    .where('notes', '<>', '')
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MOST_NOTES),
)

/** The name of each subscriber that reports, to count its reports by. */
export const reporter = {
  id: byEngine<string>({
    sqlite: sql.ref('subscriber_id'),
    postgres: sql`subscriber_id, subscriber.name`,
  }),
  name: caseAside('name'),
}

/** Names of the keys that reports made here stand under, but for those that cannot be opened. */
export const keysInUse = query((db) =>
  db
    .selectFrom('fraud_report')
    .select('key')
    .distinct()
    .where('partner', 'is', null)
    .where('unreadable', '=', 0),
)

/** Numbers of Queens are written with a hyphen, too, and those up to twenty in words. */
export interface NumberPatterns {
  figures: string
  words: string
}

const PREMISE = ['premise_street', 'premise_city', 'premise_state', 'premise_zip'] as const

/**
 * Whether a number stands in the street of a dealer's premise: GLOB patterns of SQLite. Without the
 * asterisks around them, they are regular expressions.
 */
const hasNumber = ({ figures, words }: NumberPatterns) =>
  byEngine<boolean>({
    sqlite: sql`(' ' || premise_street || ' ' glob ${figures} or ' '
    || replace(premise_street, '-', '') || ' ' glob ${figures} or ' ' || lower(premise_street)
    || ' ' glob ${words})`,
    postgres: sql`(' ' || premise_street || ' ' ~ btrim(${figures}, '*') or ' '
    || replace(premise_street, '-', '') || ' ' ~ btrim(${figures}, '*') or ' '
    || lower(premise_street) || ' ' ~ btrim(${words}, '*'))`,
  })

/** Premises in a ZIP, by five digits, with a number in the street. */
export const premisesInZip = query((db, given: { zip: string } & NumberPatterns) =>
  db
    .selectFrom('dealer')
    .select(PREMISE)
    // Literals, as in the index.
    .where(sql<string>`substr(premise_zip, 1, 5)`, '=', given.zip)
    .where(hasNumber(given)),
)

/** The same in a city of a state, case aside. */
export const premisesInCity = query((db, given: { state: string; city: string } & NumberPatterns) =>
  db
    .selectFrom('dealer')
    .select(PREMISE)
    .where('premise_state', '=', given.state)
    .where(noCase('premise_city'), '=', folded(given.city))
    .where(hasNumber(given)),
)

/** Cities of a state with dealers, from one name up to another, case aside. */
export const citiesBetween = query((db, given: { state: string; from: string; to: string }) =>
  db
    .selectFrom('dealer')
    .select(anyOf('premise_city'))
    .where('premise_state', '=', given.state)
    .where(noCase('premise_city'), '>=', folded(given.from))
    .where(noCase('premise_city'), '<', folded(given.to))
    .groupBy(noCase('premise_city')),
)
