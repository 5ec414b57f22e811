/**
 * decisions.db: which rules decided what. Survives a kill but not a power cut, and is in every
 * backup.
 */
export const decisionsSchema = [
  `
CREATE TABLE restriction_decision (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  subscriber_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  state TEXT NOT NULL,
  zip TEXT,
  target TEXT,
  approved INTEGER NOT NULL,
  items TEXT NOT NULL
) STRICT;
CREATE INDEX restriction_decision_at ON restriction_decision (at);
`,
] as const
