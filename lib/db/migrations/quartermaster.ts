/** quartermaster.db, the system of record. Append a step; never change one that was released. */
/** Marks a file as ours ("QMdb"); one that was made before the first release has another mark, or none. */
export const RECORD_ID = 0x514d_6462

export const quartermasterSchema = [`
PRAGMA application_id = ${RECORD_ID};

CREATE TABLE state (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO state VALUES ('keys', 0), ('documents', 0), ('sources', 0);

CREATE TABLE subscriber (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  email TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Which secret key wrapped the data keys.
CREATE TABLE secret_key (
  key_id TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TABLE data_key (
  owner TEXT PRIMARY KEY,
  wrapped TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE api_key (
  id TEXT PRIMARY KEY,
  subscriber_id TEXT NOT NULL REFERENCES subscriber,
  name TEXT NOT NULL,
  contact_email TEXT NOT NULL,
  tier TEXT NOT NULL CHECK (tier IN ('standard', 'pro', 'enterprise')),
  hash BLOB NOT NULL UNIQUE,
  po_tag TEXT NOT NULL,
  allowlist TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('enabled', 'disabled', 'cancelled')),
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX api_key_subscriber ON api_key (subscriber_id);

CREATE TABLE configuration (
  subscriber_id TEXT PRIMARY KEY REFERENCES subscriber,
  version INTEGER NOT NULL,
  document TEXT NOT NULL,
  saved_at INTEGER NOT NULL,
  saved_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE configuration_history (
  subscriber_id TEXT NOT NULL REFERENCES subscriber,
  version INTEGER NOT NULL,
  document TEXT NOT NULL,
  saved_at INTEGER NOT NULL,
  saved_by TEXT NOT NULL,
  PRIMARY KEY (subscriber_id, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE credential_check (
  subscriber_id TEXT NOT NULL,
  distid TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  valid INTEGER NOT NULL,
  checked_at INTEGER NOT NULL,
  PRIMARY KEY (subscriber_id, distid)
) STRICT, WITHOUT ROWID;

CREATE TABLE feed_source (
  id TEXT PRIMARY KEY,
  distid TEXT NOT NULL,
  subscriber_id TEXT REFERENCES subscriber,
  preset TEXT NOT NULL,
  location TEXT,
  every_ms INTEGER NOT NULL,
  active INTEGER NOT NULL,
  allow_private INTEGER NOT NULL,
  last_pull_at INTEGER,
  last_result TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE feed_import (
  distid TEXT PRIMARY KEY,
  imported_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE job (
  name TEXT PRIMARY KEY,
  next_at INTEGER NOT NULL,
  last_started_at INTEGER,
  last_finished_at INTEGER,
  last_error TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
`] as const
