/** What is sent to distributors, and the order journal. */
import { ID, TEXT, triggerFunction } from './types.js'

export const ordersTables = `
CREATE TABLE distributor_mode (
  distid ${TEXT} PRIMARY KEY,
  mode ${TEXT} NOT NULL CHECK (mode IN ('simulator', 'live')),
  changed_at bigint NOT NULL,
  changed_by ${TEXT} NOT NULL
);

CREATE TABLE placement (
  id bigint PRIMARY KEY,
  subscriber_id ${TEXT} NOT NULL REFERENCES subscriber,
  order_id ${TEXT} NOT NULL,
  attempt bigint NOT NULL,
  key_id ${TEXT},
  mode ${TEXT} NOT NULL,
  request_digest ${TEXT} NOT NULL,
  placed_at bigint NOT NULL,
  holds_id bigint NOT NULL,
  was_refused bigint NOT NULL
);
CREATE UNIQUE INDEX placement_holder ON placement (subscriber_id, order_id) WHERE holds_id = 1;
CREATE INDEX placement_order ON placement (subscriber_id, order_id);

CREATE TABLE fulfillment_order (
  id bigint PRIMARY KEY,
  placement_id bigint NOT NULL REFERENCES placement,
  group_no bigint NOT NULL,
  subscriber_id ${TEXT} NOT NULL REFERENCES subscriber,
  order_id ${TEXT} NOT NULL,
  order_source ${TEXT} NOT NULL,
  order_date bigint NOT NULL,
  distid ${TEXT} NOT NULL,
  mode ${TEXT} NOT NULL,
  visible bigint NOT NULL,
  order_status ${TEXT} NOT NULL,
  distributor_order_id ${TEXT},
  po_number ${TEXT} NOT NULL,
  po_given ${TEXT} NOT NULL,
  ffl ${TEXT},
  customer_name ${TEXT} NOT NULL,
  ffl_required bigint NOT NULL,
  ship_to_store bigint NOT NULL,
  dist_order_items ${TEXT} NOT NULL,
  ship_date ${TEXT},
  ship_company ${TEXT},
  ship_method ${TEXT},
  ship_status ${TEXT},
  ship_tracking_number ${TEXT},
  ship_tracking_url ${TEXT},
  UNIQUE (placement_id, group_no)
);
CREATE INDEX fulfillment_order_date ON fulfillment_order (subscriber_id, visible, order_date, id,
  distid, order_source, order_status, ship_status);
CREATE INDEX fulfillment_order_order ON fulfillment_order (subscriber_id, visible, order_id);
CREATE INDEX fulfillment_order_ship_date ON fulfillment_order
  (subscriber_id, visible, coalesce(ship_date, ''));
CREATE INDEX fulfillment_order_status ON fulfillment_order (subscriber_id, visible, order_status);
CREATE INDEX fulfillment_order_source ON fulfillment_order (subscriber_id, visible, order_source);
CREATE INDEX fulfillment_order_po ON fulfillment_order (subscriber_id, po_number);
CREATE INDEX fulfillment_order_po_given ON fulfillment_order (subscriber_id, po_given);
CREATE INDEX fulfillment_order_number ON fulfillment_order (subscriber_id, distributor_order_id)
  WHERE distributor_order_id IS NOT NULL;
CREATE INDEX fulfillment_order_ffl ON fulfillment_order (subscriber_id, ffl) WHERE ffl IS NOT NULL;
CREATE INDEX fulfillment_order_open ON fulfillment_order (order_date, subscriber_id, distid, mode)
  WHERE visible = 1
  AND order_status NOT IN ('Cancelled', 'Not Fulfilled')
  AND (order_status <> 'Fulfilled'
    OR coalesce(ship_status, '') NOT IN ('delivered', 'return_to_sender'));

CREATE TABLE purchase_order (
  id bigint PRIMARY KEY,
  fulfillment_order_id bigint NOT NULL REFERENCES fulfillment_order,
  placement_id bigint NOT NULL REFERENCES placement,
  subscriber_id ${TEXT} NOT NULL REFERENCES subscriber,
  distid ${TEXT} NOT NULL,
  mode ${TEXT} NOT NULL,
  lane ${TEXT} NOT NULL,
  client_ref ${TEXT} NOT NULL UNIQUE,
  po_number ${TEXT} NOT NULL,
  payload ${TEXT} NOT NULL,
  payload_digest ${TEXT} NOT NULL,
  state ${TEXT} NOT NULL
    CHECK (state IN ('planned', 'sending', 'placed', 'rejected', 'unknown', 'review', 'expired')),
  sends bigint NOT NULL,
  owner ${TEXT},
  account ${TEXT},
  stage ${TEXT},
  distributor_order_id ${TEXT},
  ever_unknown bigint NOT NULL,
  unknown_since bigint,
  refusal ${TEXT},
  misses bigint NOT NULL,
  missed_at bigint,
  next_at bigint,
  failures bigint NOT NULL,
  reason ${TEXT},
  planned_at bigint NOT NULL,
  first_sent_at bigint,
  updated_at bigint NOT NULL,
  UNIQUE (fulfillment_order_id, lane)
);
CREATE INDEX purchase_order_open ON purchase_order (state, next_at)
  WHERE state IN ('planned', 'sending', 'unknown', 'review');
CREATE INDEX purchase_order_placement ON purchase_order (placement_id);
CREATE INDEX purchase_order_po ON purchase_order (distid, lower(po_number));
CREATE INDEX purchase_order_number ON purchase_order (distributor_order_id)
  WHERE distributor_order_id IS NOT NULL;
CREATE INDEX purchase_order_numberless ON purchase_order (distid, mode, planned_at)
  WHERE distributor_order_id IS NULL;

CREATE TABLE lane_status (
  purchase_order_id bigint PRIMARY KEY REFERENCES purchase_order,
  order_status ${TEXT} NOT NULL,
  at bigint NOT NULL
);

CREATE TABLE order_count (
  key_id ${TEXT} NOT NULL,
  placement_id bigint NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (key_id, placement_id)
);

CREATE TABLE journal (
  seq bigint PRIMARY KEY,
  line ${TEXT} NOT NULL
);

CREATE TABLE order_engine (
  name ${TEXT} PRIMARY KEY,
  value ${TEXT} NOT NULL
);

CREATE TABLE transcript (
  id ${ID} PRIMARY KEY,
  purchase_order_id bigint NOT NULL REFERENCES purchase_order ON DELETE CASCADE,
  kind ${TEXT} NOT NULL CHECK (kind IN ('send', 'search')),
  at bigint NOT NULL,
  payload ${TEXT} NOT NULL
);
CREATE INDEX transcript_order ON transcript (purchase_order_id, kind);
CREATE INDEX transcript_at ON transcript (at);

-- Whoever writes an order knows its number; a row without one gets the next, as in SQLite.
${triggerFunction(
  'give_order_number',
  `
  EXECUTE format('SELECT coalesce(max(id), 0) + 1 FROM %I', TG_TABLE_NAME) INTO NEW.id;
  RETURN NEW;`,
)}
CREATE TRIGGER placement_number BEFORE INSERT ON placement FOR EACH ROW WHEN (NEW.id IS NULL)
  EXECUTE FUNCTION give_order_number();
CREATE TRIGGER fulfillment_order_number BEFORE INSERT ON fulfillment_order FOR EACH ROW
  WHEN (NEW.id IS NULL) EXECUTE FUNCTION give_order_number();
CREATE TRIGGER purchase_order_number BEFORE INSERT ON purchase_order FOR EACH ROW
  WHEN (NEW.id IS NULL) EXECUTE FUNCTION give_order_number();
`
