/** Saved documents of subscribers. */
import { TEXT } from './types.js'

export const configurationTables = `
CREATE TABLE configuration (
  subscriber_id ${TEXT} PRIMARY KEY REFERENCES subscriber,
  version bigint NOT NULL,
  document ${TEXT} NOT NULL,
  saved_at bigint NOT NULL,
  saved_by ${TEXT} NOT NULL
);

CREATE TABLE configuration_history (
  subscriber_id ${TEXT} NOT NULL REFERENCES subscriber,
  version bigint NOT NULL,
  document ${TEXT} NOT NULL,
  saved_at bigint NOT NULL,
  saved_by ${TEXT} NOT NULL,
  PRIMARY KEY (subscriber_id, version)
);

CREATE TABLE credential_check (
  subscriber_id ${TEXT} NOT NULL,
  distid ${TEXT} NOT NULL,
  fingerprint ${TEXT} NOT NULL,
  valid bigint NOT NULL,
  checked_at bigint NOT NULL,
  PRIMARY KEY (subscriber_id, distid)
);
`
