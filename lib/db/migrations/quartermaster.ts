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
`, `
INSERT INTO state VALUES ('dealers', 0), ('rules', 0);

-- The FFL directory. Who a dealer is does not change with a renewal: region, district and sequence of the licence.
CREATE TABLE dealer (
  row INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  license_number TEXT NOT NULL UNIQUE,
  license_type TEXT NOT NULL,
  expires_on TEXT NOT NULL,
  valid_until TEXT,
  license_name TEXT NOT NULL,
  business_name TEXT,
  premise_street TEXT NOT NULL,
  premise_city TEXT NOT NULL,
  premise_state TEXT NOT NULL,
  premise_zip TEXT NOT NULL,
  mail_street TEXT,
  mail_city TEXT,
  mail_state TEXT,
  mail_zip TEXT,
  voice_phone TEXT,
  email TEXT,
  fee_longgun INTEGER,
  fee_handgun INTEGER,
  residential INTEGER NOT NULL DEFAULT 0,
  contact_required INTEGER NOT NULL DEFAULT 0,
  marked_on_file INTEGER NOT NULL DEFAULT 0,
  sot_on_file INTEGER NOT NULL DEFAULT 0,
  listed INTEGER NOT NULL DEFAULT 1,
  source TEXT NOT NULL CHECK (source IN ('atf', 'on_file', 'operator')),
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX dealer_state ON dealer (premise_state);

-- Whose list says that a dealer's licence is on file.
CREATE TABLE dealer_on_file (
  distid TEXT NOT NULL,
  dealer_id TEXT NOT NULL,
  PRIMARY KEY (distid, dealer_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX dealer_on_file_dealer ON dealer_on_file (dealer_id);

CREATE TABLE dealer_document (
  dealer_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('ffl', 'sot')),
  object_key TEXT NOT NULL,
  content_type TEXT NOT NULL,
  stored_at INTEGER NOT NULL,
  PRIMARY KEY (dealer_id, kind)
) STRICT, WITHOUT ROWID;

-- Restriction rules: the versions of the active set and of those before it, as they were imported.
CREATE TABLE rule_set (
  digest TEXT PRIMARY KEY,
  rules TEXT NOT NULL,
  rule_count INTEGER NOT NULL,
  origin TEXT NOT NULL,
  imported_at INTEGER NOT NULL,
  imported_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE active_rule_set (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  digest TEXT NOT NULL REFERENCES rule_set,
  activated_at INTEGER NOT NULL,
  activated_by TEXT NOT NULL
) STRICT;

CREATE TABLE rule_override (
  id TEXT PRIMARY KEY,
  subscriber_id TEXT NOT NULL REFERENCES subscriber,
  effect TEXT NOT NULL CHECK (effect IN ('allow', 'block')),
  detail TEXT NOT NULL,
  author TEXT NOT NULL,
  reason TEXT NOT NULL,
  expires_at INTEGER,
  created_at INTEGER NOT NULL,
  withdrawn_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX rule_override_subscriber ON rule_override (subscriber_id);
`, `
-- 1: the operator set voice_phone, and no list replaces it.
ALTER TABLE dealer ADD COLUMN own_phone INTEGER;
`] as const
