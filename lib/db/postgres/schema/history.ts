/** The history of orders, and how many there are. */
import { ID, SCHEMA, TEXT, triggerFunction } from './types.js'

export const historyTables = `
-- How many visible records of each kind there are in spans of 1 and of 32 days, counted from 1970,
-- UTC. Kept by the triggers.
CREATE TABLE fulfillment_count (
  subscriber_id ${TEXT} NOT NULL,
  days bigint NOT NULL,
  span bigint NOT NULL,
  distid ${TEXT} NOT NULL,
  order_source ${TEXT} NOT NULL,
  order_status ${TEXT} NOT NULL,
  ship_status ${TEXT} NOT NULL,
  orders bigint NOT NULL CHECK (orders >= 0),
  PRIMARY KEY (subscriber_id, days, span, distid, order_source, order_status, ship_status)
);

CREATE FUNCTION count_record(one fulfillment_order, change bigint) RETURNS void
  LANGUAGE plpgsql SET search_path = ${SCHEMA} AS $$
BEGIN
  IF one.visible <> 1 THEN
    RETURN;
  END IF;
  INSERT INTO fulfillment_count AS known
    SELECT one.subscriber_id, spans.length, one.order_date / (spans.length * 86400000), one.distid,
      one.order_source, one.order_status, coalesce(one.ship_status, ''), greatest(change, 0)
    FROM (VALUES (bigint '1'), (32)) AS spans (length)
    ON CONFLICT (subscriber_id, days, span, distid, order_source, order_status, ship_status)
    DO UPDATE SET orders = known.orders + change;
  DELETE FROM fulfillment_count AS known
    WHERE change < 0 AND known.orders = 0 AND known.subscriber_id = one.subscriber_id
      AND known.days IN (1, 32) AND known.span = one.order_date / (known.days * 86400000)
      AND known.distid = one.distid AND known.order_source = one.order_source
      AND known.order_status = one.order_status
      AND known.ship_status = coalesce(one.ship_status, '');
END $$;
${triggerFunction(
  'count_records',
  `
  IF TG_OP <> 'INSERT' THEN
    PERFORM count_record(OLD, -1);
  END IF;
  IF TG_OP <> 'DELETE' THEN
    PERFORM count_record(NEW, 1);
  END IF;
  RETURN NULL;`,
)}
CREATE TRIGGER fulfillment_count_more AFTER INSERT OR DELETE ON fulfillment_order
  FOR EACH ROW EXECUTE FUNCTION count_records();
CREATE TRIGGER fulfillment_count_other AFTER UPDATE ON fulfillment_order FOR EACH ROW
  WHEN ((OLD.subscriber_id, OLD.visible, OLD.order_date, OLD.distid, OLD.order_source,
      OLD.order_status, OLD.ship_status)
    IS DISTINCT FROM (NEW.subscriber_id, NEW.visible, NEW.order_date, NEW.distid,
      NEW.order_source, NEW.order_status, NEW.ship_status))
  EXECUTE FUNCTION count_records();

CREATE TABLE failed_placement (
  id ${ID} PRIMARY KEY,
  placement_id bigint NOT NULL REFERENCES placement,
  fulfillment_order_id bigint NOT NULL REFERENCES fulfillment_order,
  subscriber_id ${TEXT} NOT NULL REFERENCES subscriber,
  failed_at bigint NOT NULL,
  order_source ${TEXT} NOT NULL,
  order_id ${TEXT} NOT NULL,
  po_number ${TEXT} NOT NULL,
  po_given ${TEXT} NOT NULL,
  distid ${TEXT} NOT NULL,
  reason ${TEXT} NOT NULL
);
CREATE INDEX failed_placement_placement ON failed_placement (placement_id);
CREATE INDEX failed_placement_at ON failed_placement
  (subscriber_id, failed_at, id, distid, order_source);
CREATE INDEX failed_placement_order ON failed_placement (subscriber_id, order_id);
CREATE INDEX failed_placement_po ON failed_placement (subscriber_id, po_number);
CREATE INDEX failed_placement_po_given ON failed_placement (subscriber_id, po_given);

CREATE TABLE parcel (
  fulfillment_order_id bigint NOT NULL REFERENCES fulfillment_order,
  subscriber_id ${TEXT} NOT NULL,
  tracking_number ${TEXT} NOT NULL,
  company ${TEXT},
  method ${TEXT},
  shipped_on ${TEXT},
  url ${TEXT},
  status ${TEXT},
  updated_at bigint NOT NULL,
  times ${TEXT} NOT NULL DEFAULT '{}',
  PRIMARY KEY (fulfillment_order_id, tracking_number)
);
CREATE INDEX parcel_tracking ON parcel (subscriber_id, tracking_number);

CREATE TABLE fulfillment_change (
  seq ${ID} PRIMARY KEY,
  fulfillment_order_id bigint NOT NULL REFERENCES fulfillment_order,
  at bigint NOT NULL,
  field ${TEXT} NOT NULL,
  before ${TEXT},
  after ${TEXT}
);
CREATE INDEX fulfillment_change_order ON fulfillment_change (fulfillment_order_id);

CREATE TABLE monitor (
  subscriber_id ${TEXT} NOT NULL REFERENCES subscriber,
  distid ${TEXT} NOT NULL,
  mode ${TEXT} NOT NULL,
  since bigint NOT NULL,
  next_at bigint NOT NULL,
  failures bigint NOT NULL,
  PRIMARY KEY (subscriber_id, distid, mode)
);
`
