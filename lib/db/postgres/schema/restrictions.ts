/** Restriction rules. */
import { ID, TEXT } from './types.js'

export const restrictionsTables = `
CREATE TABLE rule_set (
  digest ${TEXT} PRIMARY KEY,
  rules ${TEXT} NOT NULL,
  rule_count bigint NOT NULL,
  origin ${TEXT} NOT NULL,
  imported_at bigint NOT NULL,
  imported_by ${TEXT} NOT NULL
);

CREATE TABLE active_rule_set (
  seq ${ID} PRIMARY KEY,
  digest ${TEXT} NOT NULL REFERENCES rule_set,
  activated_at bigint NOT NULL,
  activated_by ${TEXT} NOT NULL
);

CREATE TABLE rule_override (
  id ${TEXT} PRIMARY KEY,
  subscriber_id ${TEXT} NOT NULL REFERENCES subscriber,
  effect ${TEXT} NOT NULL CHECK (effect IN ('allow', 'block')),
  detail ${TEXT} NOT NULL,
  author ${TEXT} NOT NULL,
  reason ${TEXT} NOT NULL,
  expires_at bigint,
  created_at bigint NOT NULL,
  withdrawn_at bigint
);
CREATE INDEX rule_override_subscriber ON rule_override (subscriber_id);
`
