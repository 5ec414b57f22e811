/** The log of decisions. */
import type { Kysely } from 'kysely'
import { meteredQuery } from '../db/query.js'
import type { Raw, Statement } from '../db/sqlite/sqlite.js'
import type { RestrictionDecisionTable } from '../db/tables/decisions.js'
import type { DecisionTables } from '../db/tables/tables.js'

/** The file of a folder or of a backup. */
type DecisionsDb = Pick<Raw, 'prepare'>

export const insertDecision = meteredQuery((db, given: Omit<RestrictionDecisionTable, 'seq'>) =>
  db.insertInto('restriction_decision').values({
    at: given.at,
    subscriber_id: given.subscriber_id,
    digest: given.digest,
    state: given.state,
    zip: given.zip,
    target: given.target,
    approved: given.approved,
    items: given.items,
  }),
)

/** Removes what was decided before, in ms. */
export async function deleteDecisions(
  decisions: Kysely<DecisionTables>,
  before: number,
): Promise<void> {
  await decisions.deleteFrom('restriction_decision').where('at', '<', before).execute()
}

const text = (decisions: DecisionsDb, which: string): Statement =>
  decisions.prepare(`SELECT seq, json_array(at, subscriber_id, digest, state, zip, target,
      approved, items) AS text FROM restriction_decision ${which}`)

/** A decision as one text, by which two can be compared. */
export interface DecisionText {
  seq: number
  text: string
}

export function lastDecision(decisions: DecisionsDb): DecisionText | undefined {
  return text(decisions, 'ORDER BY seq DESC LIMIT 1').get() as DecisionText | undefined
}

export function decisionAt(decisions: DecisionsDb, seq: number): DecisionText | undefined {
  return text(decisions, 'WHERE seq = ?').get(seq) as DecisionText | undefined
}
