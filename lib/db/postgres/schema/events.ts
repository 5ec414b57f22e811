/** What operators are told. */
import { ID, TEXT } from './types.js'

export const eventsTables = `
CREATE TABLE event (
  id ${ID} PRIMARY KEY,
  uid ${TEXT} NOT NULL UNIQUE,
  kind ${TEXT} NOT NULL,
  subject ${TEXT} NOT NULL,
  state ${TEXT} NOT NULL CHECK (state IN ('told', 'raised', 'ended')),
  severity ${TEXT} NOT NULL CHECK (severity IN ('info', 'warn', 'bad')),
  message ${TEXT} NOT NULL,
  mend ${TEXT},
  at bigint NOT NULL
);
CREATE UNIQUE INDEX event_told ON event (kind, subject) WHERE state = 'told';
CREATE INDEX event_at ON event (at);

CREATE TABLE alarm (
  kind ${TEXT} NOT NULL,
  subject ${TEXT} NOT NULL,
  message ${TEXT} NOT NULL,
  raised_at bigint NOT NULL,
  PRIMARY KEY (kind, subject)
);

CREATE TABLE event_receiver (
  id ${TEXT} PRIMARY KEY,
  kind ${TEXT} NOT NULL CHECK (kind IN ('webhook', 'mail')),
  address ${TEXT} NOT NULL,
  secret ${TEXT},
  allow_private bigint NOT NULL DEFAULT 0,
  created_at bigint NOT NULL
);

CREATE TABLE event_delivery (
  event_id bigint NOT NULL REFERENCES event ON DELETE CASCADE,
  receiver_id ${TEXT} NOT NULL REFERENCES event_receiver ON DELETE CASCADE,
  state ${TEXT} NOT NULL CHECK (state IN ('waiting', 'delivered', 'given_up')),
  attempts bigint NOT NULL DEFAULT 0,
  next_at bigint NOT NULL,
  ended_at bigint,
  fault ${TEXT},
  PRIMARY KEY (event_id, receiver_id)
);
CREATE INDEX event_delivery_receiver ON event_delivery (receiver_id, state, next_at);
`
