/** meter.db: counts that survive a kill but not a power cut. */
export const meterSchema = [
  `
CREATE TABLE usage (
  key_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  endpoint TEXT NOT NULL,
  requests INTEGER NOT NULL,
  PRIMARY KEY (key_id, day, endpoint)
) STRICT, WITHOUT ROWID;

CREATE TABLE recent (
  key_id TEXT NOT NULL,
  second INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  PRIMARY KEY (key_id, second)
) STRICT, WITHOUT ROWID;
`,
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
  `
CREATE TABLE export_poll (           -- the last answered call of the catalog export
  key_id TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE export_file (
  subscriber_id TEXT NOT NULL,
  export_version TEXT NOT NULL,
  content TEXT NOT NULL,
  parquet_key TEXT NOT NULL,
  attributes_key TEXT,
  made_at INTEGER NOT NULL,
  urls_until INTEGER NOT NULL,
  PRIMARY KEY (subscriber_id, export_version)
) STRICT, WITHOUT ROWID;
CREATE INDEX export_file_content ON export_file (content);
`,
  `
CREATE TABLE fraud_check (
  key_id TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX fraud_check_key ON fraud_check (key_id, at);

CREATE TABLE fraud_try (             -- what was tried against a reported signal, from the first try on
  asker TEXT NOT NULL,
  signal TEXT NOT NULL,
  at INTEGER NOT NULL,
  overlap INTEGER NOT NULL,          -- the first answer
  similar INTEGER NOT NULL,
  free TEXT NOT NULL,                -- digests of what the first basket held, and of what came later
  later TEXT NOT NULL,
  PRIMARY KEY (asker, signal)
) STRICT, WITHOUT ROWID;
CREATE INDEX fraud_try_at ON fraud_try (at);
`,
  `
-- It has a file of its own by now, into which its rows were copied before (move-decisions.ts).
DROP TABLE restriction_decision;
`,
] as const
