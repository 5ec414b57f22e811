/** quartermaster.db, the system of record. Append a step; never change one that was released. */
import { alarms } from './alarms.js'

/**
 * Marks a file as ours ("QMdb"); one that was made before the first release has another mark, or
 * none.
 */
export const RECORD_ID = 0x514d_6462

export const quartermasterSchema = [
  `
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
`,
  `
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
`,
  `
-- 1: the operator set voice_phone, and no list replaces it.
ALTER TABLE dealer ADD COLUMN own_phone INTEGER;
`,
  `
INSERT INTO state VALUES ('modes', 0);

CREATE TABLE setting (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE distributor_mode (
  distid TEXT PRIMARY KEY,
  mode TEXT NOT NULL CHECK (mode IN ('simulator', 'live')),
  changed_at INTEGER NOT NULL,
  changed_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One accepted POST. Whoever holds an order_id keeps every other placement of it out.
CREATE TABLE placement (
  id INTEGER PRIMARY KEY,
  subscriber_id TEXT NOT NULL REFERENCES subscriber,
  order_id TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  key_id TEXT,
  mode TEXT NOT NULL,
  request_digest TEXT NOT NULL,
  placed_at INTEGER NOT NULL,
  holds_id INTEGER NOT NULL,
  was_refused INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX placement_holder ON placement (subscriber_id, order_id) WHERE holds_id = 1;
CREATE INDEX placement_order ON placement (subscriber_id, order_id);

CREATE TABLE fulfillment_order (
  id INTEGER PRIMARY KEY,
  placement_id INTEGER NOT NULL REFERENCES placement,
  group_no INTEGER NOT NULL,
  subscriber_id TEXT NOT NULL REFERENCES subscriber,
  order_id TEXT NOT NULL,
  order_source TEXT NOT NULL,
  order_date INTEGER NOT NULL,
  distid TEXT NOT NULL,
  mode TEXT NOT NULL,
  visible INTEGER NOT NULL,
  order_status TEXT NOT NULL,
  distributor_order_id TEXT,
  po_number TEXT NOT NULL,
  po_given TEXT NOT NULL,
  ffl TEXT,
  customer_name TEXT NOT NULL,
  ffl_required INTEGER NOT NULL,
  ship_to_store INTEGER NOT NULL,
  dist_order_items TEXT NOT NULL,
  ship_date TEXT,
  ship_company TEXT,
  ship_method TEXT,
  ship_status TEXT,
  ship_tracking_number TEXT,
  ship_tracking_url TEXT,
  UNIQUE (placement_id, group_no)
) STRICT;
-- Each sort of the history is one of these; the first answers every filter without a look at the records.
CREATE INDEX fulfillment_order_date ON fulfillment_order (subscriber_id, visible, order_date, id,
  distid, order_source, order_status, ship_status);
CREATE INDEX fulfillment_order_order ON fulfillment_order (subscriber_id, visible, order_id);
CREATE INDEX fulfillment_order_ship_date ON fulfillment_order (subscriber_id, visible, coalesce(ship_date, ''));
CREATE INDEX fulfillment_order_status ON fulfillment_order (subscriber_id, visible, order_status);
CREATE INDEX fulfillment_order_source ON fulfillment_order (subscriber_id, visible, order_source);
CREATE INDEX fulfillment_order_po ON fulfillment_order (subscriber_id, po_number);
CREATE INDEX fulfillment_order_po_given ON fulfillment_order (subscriber_id, po_given);
CREATE INDEX fulfillment_order_number ON fulfillment_order (subscriber_id, distributor_order_id)
  WHERE distributor_order_id IS NOT NULL;
CREATE INDEX fulfillment_order_ffl ON fulfillment_order (subscriber_id, ffl) WHERE ffl IS NOT NULL;
-- Records of which more may be heard: what the monitors go by. Their query says the same, or it would not be used.
CREATE INDEX fulfillment_order_open ON fulfillment_order (order_date, subscriber_id, distid, mode) WHERE visible = 1
  AND order_status NOT IN ('Cancelled', 'Not Fulfilled')
  AND (order_status <> 'Fulfilled'
    OR coalesce(ship_status, '') NOT IN ('delivered', 'return_to_sender'));

-- How many visible records of each kind there are in spans of 1 and of 32 days, counted from 1970,
-- UTC: exact totals, and where a page begins, without a walk over all of them. Kept by the
-- triggers, so whoever writes a record knows nothing of it; never by REPLACE, which deletes without
-- a trigger.
CREATE TABLE fulfillment_count (
  subscriber_id TEXT NOT NULL,
  days INTEGER NOT NULL,
  span INTEGER NOT NULL,
  distid TEXT NOT NULL,
  order_source TEXT NOT NULL,
  order_status TEXT NOT NULL,
  ship_status TEXT NOT NULL,
  orders INTEGER NOT NULL CHECK (orders >= 0),
  PRIMARY KEY (subscriber_id, days, span, distid, order_source, order_status, ship_status)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER fulfillment_count_more AFTER INSERT ON fulfillment_order WHEN NEW.visible = 1 BEGIN
  INSERT INTO fulfillment_count
    SELECT NEW.subscriber_id, column1, NEW.order_date / (column1 * 86400000), NEW.distid,
      NEW.order_source, NEW.order_status, coalesce(NEW.ship_status, ''), 1 FROM (VALUES (1), (32))
      WHERE true
    ON CONFLICT DO UPDATE SET orders = orders + 1;
END;
CREATE TRIGGER fulfillment_count_fewer AFTER DELETE ON fulfillment_order WHEN OLD.visible = 1 BEGIN
  UPDATE fulfillment_count SET orders = orders - 1
    WHERE subscriber_id = OLD.subscriber_id
    AND (days, span) IN (VALUES (1, OLD.order_date / 86400000), (32, OLD.order_date / 2764800000))
    AND distid = OLD.distid AND order_source = OLD.order_source
      AND order_status = OLD.order_status AND ship_status = coalesce(OLD.ship_status, '');
END;
CREATE TRIGGER fulfillment_count_other AFTER UPDATE OF subscriber_id, visible, order_date, distid,
  order_source, order_status, ship_status ON fulfillment_order BEGIN
  UPDATE fulfillment_count SET orders = orders - 1
    WHERE OLD.visible = 1 AND subscriber_id = OLD.subscriber_id
    AND (days, span) IN (VALUES (1, OLD.order_date / 86400000), (32, OLD.order_date / 2764800000))
    AND distid = OLD.distid AND order_source = OLD.order_source
      AND order_status = OLD.order_status AND ship_status = coalesce(OLD.ship_status, '');
  INSERT INTO fulfillment_count
    SELECT NEW.subscriber_id, column1, NEW.order_date / (column1 * 86400000), NEW.distid,
      NEW.order_source, NEW.order_status, coalesce(NEW.ship_status, ''), 1 FROM (VALUES (1), (32))
      WHERE NEW.visible = 1
    ON CONFLICT DO UPDATE SET orders = orders + 1;
END;
CREATE TRIGGER fulfillment_count_none AFTER UPDATE OF orders ON fulfillment_count WHEN NEW.orders = 0 BEGIN
  DELETE FROM fulfillment_count WHERE subscriber_id = NEW.subscriber_id AND days = NEW.days
    AND span = NEW.span AND distid = NEW.distid
    AND order_source = NEW.order_source AND order_status = NEW.order_status AND ship_status = NEW.ship_status;
END;

CREATE TABLE failed_placement (
  id INTEGER PRIMARY KEY,
  placement_id INTEGER NOT NULL REFERENCES placement,
  fulfillment_order_id INTEGER NOT NULL REFERENCES fulfillment_order,
  subscriber_id TEXT NOT NULL REFERENCES subscriber,
  failed_at INTEGER NOT NULL,
  order_source TEXT NOT NULL,
  order_id TEXT NOT NULL,
  po_number TEXT NOT NULL,
  po_given TEXT NOT NULL,
  distid TEXT NOT NULL,
  reason TEXT NOT NULL
) STRICT;
CREATE INDEX failed_placement_placement ON failed_placement (placement_id);
CREATE INDEX failed_placement_at ON failed_placement (subscriber_id, failed_at, id, distid, order_source);
CREATE INDEX failed_placement_order ON failed_placement (subscriber_id, order_id);
CREATE INDEX failed_placement_po ON failed_placement (subscriber_id, po_number);
CREATE INDEX failed_placement_po_given ON failed_placement (subscriber_id, po_given);

CREATE TABLE parcel (
  fulfillment_order_id INTEGER NOT NULL REFERENCES fulfillment_order,
  subscriber_id TEXT NOT NULL,
  tracking_number TEXT NOT NULL,
  company TEXT,
  method TEXT,
  shipped_on TEXT,
  url TEXT,
  status TEXT,
  updated_at INTEGER NOT NULL,
  times TEXT NOT NULL DEFAULT '{}',
  PRIMARY KEY (fulfillment_order_id, tracking_number)
) STRICT, WITHOUT ROWID;
CREATE INDEX parcel_tracking ON parcel (subscriber_id, tracking_number);

-- What a search looks into, by parts of three characters, case aside; kept by the triggers. U+001F keeps a match from
-- reaching over two fields.
CREATE VIRTUAL TABLE fulfillment_search USING fts5 (text, tokenize = 'trigram');
CREATE VIEW fulfillment_text AS SELECT id, order_id || char(31) || po_number || char(31)
  || po_given || char(31) || coalesce(distributor_order_id, '') || char(31) || customer_name
  || char(31) || coalesce((SELECT group_concat(tracking_number, char(31)) FROM parcel
    WHERE fulfillment_order_id = fulfillment_order.id), '') AS text FROM fulfillment_order;
CREATE TRIGGER fulfillment_search_more AFTER INSERT ON fulfillment_order BEGIN
  INSERT INTO fulfillment_search (rowid, text) SELECT id, text FROM fulfillment_text WHERE id = NEW.id;
END;
CREATE TRIGGER fulfillment_search_fewer AFTER DELETE ON fulfillment_order BEGIN
  DELETE FROM fulfillment_search WHERE rowid = OLD.id;
END;
CREATE TRIGGER fulfillment_search_other AFTER UPDATE OF order_id, po_number, po_given,
  distributor_order_id, customer_name ON fulfillment_order BEGIN
  UPDATE fulfillment_search SET text = (SELECT text FROM fulfillment_text WHERE id = NEW.id) WHERE rowid = NEW.id;
END;
CREATE TRIGGER parcel_search_more AFTER INSERT ON parcel BEGIN
  UPDATE fulfillment_search SET text = (SELECT text FROM fulfillment_text
    WHERE id = NEW.fulfillment_order_id) WHERE rowid = NEW.fulfillment_order_id;
END;
CREATE TRIGGER parcel_search_fewer AFTER DELETE ON parcel BEGIN
  UPDATE fulfillment_search SET text = (SELECT text FROM fulfillment_text
    WHERE id = OLD.fulfillment_order_id) WHERE rowid = OLD.fulfillment_order_id;
END;

CREATE TABLE fulfillment_change (
  seq INTEGER PRIMARY KEY,
  fulfillment_order_id INTEGER NOT NULL REFERENCES fulfillment_order,
  at INTEGER NOT NULL,
  field TEXT NOT NULL,
  before TEXT,
  after TEXT
) STRICT;
CREATE INDEX fulfillment_change_order ON fulfillment_change (fulfillment_order_id);

CREATE TABLE monitor (
  subscriber_id TEXT NOT NULL REFERENCES subscriber,
  distid TEXT NOT NULL,
  mode TEXT NOT NULL,
  since INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  PRIMARY KEY (subscriber_id, distid, mode)
) STRICT, WITHOUT ROWID;

-- What is sent: a lane of a fulfillment order. Its content is frozen before the first send.
CREATE TABLE purchase_order (
  id INTEGER PRIMARY KEY,
  fulfillment_order_id INTEGER NOT NULL REFERENCES fulfillment_order,
  placement_id INTEGER NOT NULL REFERENCES placement,
  subscriber_id TEXT NOT NULL REFERENCES subscriber,
  distid TEXT NOT NULL,
  mode TEXT NOT NULL,
  lane TEXT NOT NULL,
  client_ref TEXT NOT NULL UNIQUE,
  po_number TEXT NOT NULL,
  payload TEXT NOT NULL,
  payload_digest TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('planned', 'sending', 'placed', 'rejected', 'unknown', 'review', 'expired')),
  sends INTEGER NOT NULL,
  owner TEXT,
  account TEXT,
  stage TEXT,
  distributor_order_id TEXT,
  ever_unknown INTEGER NOT NULL,
  unknown_since INTEGER,
  refusal TEXT,
  misses INTEGER NOT NULL,
  missed_at INTEGER,
  next_at INTEGER,
  failures INTEGER NOT NULL,
  reason TEXT,
  planned_at INTEGER NOT NULL,
  first_sent_at INTEGER,
  updated_at INTEGER NOT NULL,
  UNIQUE (fulfillment_order_id, lane)
) STRICT;
CREATE INDEX purchase_order_open ON purchase_order (state, next_at)
  WHERE state IN ('planned', 'sending', 'unknown', 'review');
CREATE INDEX purchase_order_placement ON purchase_order (placement_id);
CREATE INDEX purchase_order_number ON purchase_order (subscriber_id, distributor_order_id)
  WHERE distributor_order_id IS NOT NULL;
CREATE INDEX purchase_order_po ON purchase_order (distid, po_number COLLATE NOCASE);

-- What a distributor last said of one of its orders; the record's order_status follows from all of its.
CREATE TABLE lane_status (
  purchase_order_id INTEGER PRIMARY KEY REFERENCES purchase_order,
  order_status TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;

CREATE TABLE order_count (
  key_id TEXT NOT NULL,
  placement_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (key_id, placement_id)
) STRICT, WITHOUT ROWID;

-- What was sent and what came back, each line chained to the one before it; orders.journal is the second copy.
CREATE TABLE journal (
  seq INTEGER PRIMARY KEY,
  line TEXT NOT NULL
) STRICT;

CREATE TABLE order_engine (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`,
  `
-- Subscribers may share an account at a distributor: a number is looked for among all of them.
DROP INDEX purchase_order_number;
CREATE INDEX purchase_order_number ON purchase_order (distributor_order_id) WHERE distributor_order_id IS NOT NULL;
CREATE INDEX purchase_order_numberless ON purchase_order (distid, mode, planned_at) WHERE distributor_order_id IS NULL;
`,
  `
CREATE TABLE fraud_report (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  subscriber_id TEXT,
  dealer TEXT NOT NULL,
  partner TEXT,
  batch INTEGER,
  key TEXT NOT NULL,
  mirrors TEXT NOT NULL DEFAULT '',
  unreadable INTEGER NOT NULL DEFAULT 0,
  strong TEXT NOT NULL,
  reported_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  payload TEXT NOT NULL,
  notes TEXT NOT NULL DEFAULT '',
  extra TEXT NOT NULL DEFAULT ''     -- last: it may be large, and is never read with the rest
) STRICT;
CREATE INDEX fraud_report_strong ON fraud_report (dealer, strong);
CREATE INDEX fraud_report_key ON fraud_report (key, mirrors) WHERE partner IS NULL;
CREATE INDEX fraud_report_partner ON fraud_report (partner, batch) WHERE partner IS NOT NULL;
CREATE INDEX fraud_report_owner ON fraud_report (subscriber_id) WHERE subscriber_id IS NOT NULL;
CREATE INDEX fraud_report_age ON fraud_report (updated_at);

CREATE TABLE fraud_signal (
  hash INTEGER NOT NULL,
  report INTEGER NOT NULL REFERENCES fraud_report (id) ON DELETE CASCADE,
  PRIMARY KEY (hash, report)
) STRICT, WITHOUT ROWID;
CREATE INDEX fraud_signal_report ON fraud_signal (report);

CREATE TABLE fraud_evidence (
  report INTEGER NOT NULL REFERENCES fraud_report (id) ON DELETE CASCADE,
  own INTEGER NOT NULL,              -- 1: under the report's own key; 0: under another, for the counts alone
  kind INTEGER NOT NULL,
  hash INTEGER NOT NULL,
  PRIMARY KEY (report, own, kind, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE fraud_use (
  key_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX fraud_use_key ON fraud_use (key_id, kind, at);

CREATE TABLE fraud_partner (
  name TEXT PRIMARY KEY,
  sender TEXT NOT NULL UNIQUE,
  batch INTEGER NOT NULL,
  made_at INTEGER NOT NULL,
  reports INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE fraud_installation (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  id TEXT NOT NULL
) STRICT;

CREATE INDEX dealer_zip ON dealer (substr(premise_zip, 1, 5));
CREATE INDEX dealer_city ON dealer (premise_state, premise_city COLLATE NOCASE);
INSERT INTO state (name, value) VALUES ('fraud', 0);
`,
  `
-- Each row is chained to the one before it; rows of before are taken in at the start.
ALTER TABLE audit ADD COLUMN mac TEXT NOT NULL DEFAULT '';
`,
  `
-- The order of the last whole list of dealers: by it a list that was cut off can be told.
CREATE TABLE dealer_list (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  as_of INTEGER NOT NULL,
  content TEXT NOT NULL
) STRICT;
`,
  `
-- What went over the wire for a purchase order, sealed as the order itself.
CREATE TABLE transcript (
  id INTEGER PRIMARY KEY,
  purchase_order_id INTEGER NOT NULL REFERENCES purchase_order (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('send', 'search')),
  at INTEGER NOT NULL,
  payload TEXT NOT NULL
) STRICT;
CREATE INDEX transcript_order ON transcript (purchase_order_id, kind);
CREATE INDEX transcript_at ON transcript (at);
`,
  `
-- When an account may be asked for a feed again; kept over restarts, and whichever source asks.
CREATE TABLE feed_hold (
  account TEXT NOT NULL,
  preset TEXT NOT NULL,
  not_before INTEGER NOT NULL,
  PRIMARY KEY (account, preset)
) STRICT, WITHOUT ROWID;
ALTER TABLE feed_source ADD COLUMN mark TEXT;
`,
  `
-- What an operator was told, each event once.
CREATE TABLE event (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  message TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (kind, subject)
) STRICT;
`,
  alarms,
] as const
