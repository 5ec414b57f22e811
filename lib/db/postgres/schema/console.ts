/** Who may use the console. */
import { TEXT } from './types.js'

export const consoleTables = `
CREATE TABLE console_user (
  id ${TEXT} PRIMARY KEY,
  name ${TEXT} NOT NULL,
  role ${TEXT} NOT NULL CHECK (role IN ('operator', 'viewer')),
  password ${TEXT},
  totp ${TEXT},
  totp_step bigint NOT NULL DEFAULT 0,
  created_at bigint NOT NULL
);
CREATE UNIQUE INDEX console_user_name ON console_user (lower(name));

CREATE TABLE console_session (
  id ${TEXT} PRIMARY KEY,
  user_id ${TEXT} NOT NULL REFERENCES console_user ON DELETE CASCADE,
  hash bytea NOT NULL UNIQUE,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  confirmed_until bigint NOT NULL,
  address ${TEXT} NOT NULL,
  agent ${TEXT} NOT NULL
);
CREATE INDEX console_session_user ON console_session (user_id);

CREATE TABLE console_link (
  hash bytea PRIMARY KEY,
  user_id ${TEXT} NOT NULL REFERENCES console_user ON DELETE CASCADE,
  kind ${TEXT} NOT NULL CHECK (kind IN ('sign_in', 'set_password')),
  expires_at bigint NOT NULL
);
CREATE INDEX console_link_user ON console_link (user_id);

CREATE TABLE console_try (
  name ${TEXT} PRIMARY KEY,
  failures bigint NOT NULL,
  wait_until bigint NOT NULL
);
CREATE UNIQUE INDEX console_try_name ON console_try (lower(name));

CREATE TABLE console_place (
  one bigint PRIMARY KEY CHECK (one = 1),
  url ${TEXT} NOT NULL
);
`
