/** Subscribers, keys and the audit. */
import { TEXT, triggerFunction } from './types.js'

export const accountsTables = `
CREATE TABLE subscriber (
  id ${TEXT} PRIMARY KEY,
  name ${TEXT} NOT NULL,
  email ${TEXT} NOT NULL,
  created_at bigint NOT NULL
);
CREATE UNIQUE INDEX subscriber_name ON subscriber (lower(name));

CREATE TABLE secret_key (
  key_id ${TEXT} PRIMARY KEY
);

CREATE TABLE data_key (
  owner ${TEXT} PRIMARY KEY,
  wrapped ${TEXT} NOT NULL
);

CREATE TABLE api_key (
  id ${TEXT} PRIMARY KEY,
  subscriber_id ${TEXT} NOT NULL REFERENCES subscriber,
  name ${TEXT} NOT NULL,
  contact_email ${TEXT} NOT NULL,
  tier ${TEXT} NOT NULL CHECK (tier IN ('standard', 'pro', 'enterprise')),
  hash bytea NOT NULL UNIQUE,
  po_tag ${TEXT} NOT NULL,
  allowlist ${TEXT} NOT NULL,
  status ${TEXT} NOT NULL CHECK (status IN ('enabled', 'disabled', 'cancelled')),
  created_at bigint NOT NULL
);
CREATE INDEX api_key_subscriber ON api_key (subscriber_id);

CREATE TABLE audit (
  seq bigint PRIMARY KEY,
  at bigint NOT NULL,
  actor ${TEXT} NOT NULL,
  action ${TEXT} NOT NULL,
  detail ${TEXT} NOT NULL,
  mac ${TEXT} NOT NULL DEFAULT ''
);

-- The last number that was ever given. A sequence would also count what was undone, and a gap in
-- the audit means that somebody cut rows out.
CREATE TABLE given_number (
  name ${TEXT} PRIMARY KEY,
  seq bigint NOT NULL
);
${triggerFunction(
  'give_audit_number',
  `
  INSERT INTO given_number AS known (name, seq) VALUES ('audit', coalesce(NEW.seq, 1))
    ON CONFLICT (name) DO UPDATE SET seq = greatest(known.seq, coalesce(NEW.seq, known.seq + 1))
    RETURNING coalesce(NEW.seq, known.seq) INTO NEW.seq;
  RETURN NEW;`,
)}
CREATE TRIGGER audit_number BEFORE INSERT ON audit
  FOR EACH ROW EXECUTE FUNCTION give_audit_number();
`
