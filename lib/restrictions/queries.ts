/** The log of decisions in decisions.db. */
import type { Raw, Statement } from '../db/sqlite/sqlite.js'

type DecisionsDb = Pick<Raw, 'prepare'>

/** A line of the log. */
export interface DecisionRow {
  /** Ms. */
  at: number
  subscriber: string
  /** Of the active rules. */
  digest: string
  /** Codes, with a space between them. */
  state: string
  zip: string | null
  target: string | null
  approved: 0 | 1
  /** JSON. */
  items: string
}

export function insertDecision(decisions: DecisionsDb, row: DecisionRow): void {
  decisions
    .prepare(`INSERT INTO restriction_decision
        (at, subscriber_id, digest, state, zip, target, approved, items)
      VALUES (@at, @subscriber, @digest, @state, @zip, @target, @approved, @items)`)
    .run(row)
}

/** Removes what was decided before, in ms. */
export function deleteDecisions(decisions: DecisionsDb, before: number): void {
  decisions.prepare('DELETE FROM restriction_decision WHERE at < ?').run(before)
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
