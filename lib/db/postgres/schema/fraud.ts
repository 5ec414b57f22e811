/** Reports of fraud. */
import { ID, TEXT } from './types.js'

export const fraudTables = `
CREATE TABLE fraud_report (
  id ${ID} PRIMARY KEY,
  subscriber_id ${TEXT},
  dealer ${TEXT} NOT NULL,
  partner ${TEXT},
  batch bigint,
  key ${TEXT} NOT NULL,
  mirrors ${TEXT} NOT NULL DEFAULT '',
  unreadable bigint NOT NULL DEFAULT 0,
  strong ${TEXT} NOT NULL,
  reported_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  payload ${TEXT} NOT NULL,
  notes ${TEXT} NOT NULL DEFAULT '',
  extra ${TEXT} NOT NULL DEFAULT ''
);
CREATE INDEX fraud_report_strong ON fraud_report (dealer, strong);
CREATE INDEX fraud_report_key ON fraud_report (key, mirrors) WHERE partner IS NULL;
CREATE INDEX fraud_report_partner ON fraud_report (partner, batch) WHERE partner IS NOT NULL;
CREATE INDEX fraud_report_owner ON fraud_report (subscriber_id) WHERE subscriber_id IS NOT NULL;
CREATE INDEX fraud_report_age ON fraud_report (updated_at);

CREATE TABLE fraud_signal (
  hash bigint NOT NULL,
  report bigint NOT NULL REFERENCES fraud_report ON DELETE CASCADE,
  PRIMARY KEY (hash, report)
);
CREATE INDEX fraud_signal_report ON fraud_signal (report);

CREATE TABLE fraud_evidence (
  report bigint NOT NULL REFERENCES fraud_report ON DELETE CASCADE,
  own bigint NOT NULL,
  kind bigint NOT NULL,
  hash bigint NOT NULL,
  PRIMARY KEY (report, own, kind, hash)
);

CREATE TABLE fraud_use (
  key_id ${TEXT} NOT NULL,
  kind ${TEXT} NOT NULL,
  at bigint NOT NULL
);
CREATE INDEX fraud_use_key ON fraud_use (key_id, kind, at);

CREATE TABLE fraud_partner (
  name ${TEXT} PRIMARY KEY,
  sender ${TEXT} NOT NULL UNIQUE,
  batch bigint NOT NULL,
  made_at bigint NOT NULL,
  reports bigint NOT NULL
);

CREATE TABLE fraud_installation (
  one bigint PRIMARY KEY CHECK (one = 1),
  id ${TEXT} NOT NULL
);

-- What one folder has in keys/, for all nodes: sealed, so that a copy of the database tells nothing.
CREATE TABLE fraud_key (
  name ${TEXT} PRIMARY KEY,
  sealed ${TEXT} NOT NULL
);
`
