/** A step of quartermaster.db: alarms, who is told of events, and what has reached whom. */

export const alarms = `
-- An event is told once, or it is the beginning or the end of an alarm, which may come again.
CREATE TABLE event_now (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('told', 'raised', 'ended')),
  severity TEXT NOT NULL CHECK (severity IN ('info', 'warn', 'bad')),
  message TEXT NOT NULL,
  mend TEXT,
  at INTEGER NOT NULL
) STRICT;
INSERT INTO event_now
  SELECT id, lower(hex(randomblob(12))), kind, subject, 'told', 'warn', message, NULL, at
  FROM event;
DROP TABLE event;
ALTER TABLE event_now RENAME TO event;
CREATE UNIQUE INDEX event_told ON event (kind, subject) WHERE state = 'told';
CREATE INDEX event_at ON event (at);

-- What is wrong at the moment.
CREATE TABLE alarm (
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  message TEXT NOT NULL,
  raised_at INTEGER NOT NULL,
  PRIMARY KEY (kind, subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE event_receiver (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('webhook', 'mail')),
  address TEXT NOT NULL,
  secret TEXT,
  allow_private INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE event_delivery (
  event_id INTEGER NOT NULL REFERENCES event (id) ON DELETE CASCADE,
  receiver_id TEXT NOT NULL REFERENCES event_receiver (id) ON DELETE CASCADE,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'given_up')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  ended_at INTEGER,
  fault TEXT,
  PRIMARY KEY (event_id, receiver_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_delivery_receiver ON event_delivery (receiver_id, state, next_at);

-- How long something has been going wrong; one failure alone is no alarm.
ALTER TABLE job ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE feed_source ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE feed_source ADD COLUMN good_at INTEGER;
`
