/** Who may use the console: people, how they signed in, and what they did wrong. */
export const consoleTables = `
CREATE TABLE console_user (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL COLLATE NOCASE UNIQUE,
  role TEXT NOT NULL CHECK (role IN ('operator', 'viewer')),
  password TEXT,
  totp TEXT,
  totp_step INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE console_session (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES console_user (id) ON DELETE CASCADE,
  hash BLOB NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  confirmed_until INTEGER NOT NULL,
  address TEXT NOT NULL,
  agent TEXT NOT NULL
) STRICT;
CREATE INDEX console_session_user ON console_session (user_id);

CREATE TABLE console_link (
  hash BLOB PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES console_user (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('sign_in', 'set_password')),
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX console_link_user ON console_link (user_id);

CREATE TABLE console_try (
  name TEXT PRIMARY KEY COLLATE NOCASE,
  failures INTEGER NOT NULL,
  wait_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE console_place (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  url TEXT NOT NULL
) STRICT;
`
