/**
 * What a search looks into, by parts of three characters, case aside. SQLite has this as fts5; here
 * it is an index over arrays, which every PostgreSQL has: pg_trgm is an extension that not everybody
 * may create, and what it takes for a letter depends on the server's language.
 */
import { FOLDED, UNFOLDED } from './fold.js'
import { TEXT, triggerFunction } from './types.js'

export const searchTables = `
-- Without case, as fts5 folds it.
CREATE FUNCTION fold(given text) RETURNS text IMMUTABLE PARALLEL SAFE
  RETURN lower(CASE WHEN octet_length(given) = length(given) THEN given
    ELSE translate(given, '${UNFOLDED}', '${FOLDED}') END COLLATE "C");

CREATE FUNCTION trigrams(given text) RETURNS text[] IMMUTABLE STRICT PARALLEL SAFE
  RETURN ARRAY(SELECT DISTINCT substr(given, place, 3)
    FROM generate_series(1, length(given) - 2) AS places (place));

-- The text of a phrase, which fts5 has in quotes.
CREATE FUNCTION phrase_text(phrase text) RETURNS text IMMUTABLE STRICT PARALLEL SAFE
  RETURN replace(substr(phrase, 2, length(phrase) - 2), '""', '"');

-- Kept by the triggers.
CREATE TABLE fulfillment_search (
  rowid bigint PRIMARY KEY,
  text ${TEXT} NOT NULL,
  folded ${TEXT} NOT NULL GENERATED ALWAYS AS (fold(text)) STORED
);
CREATE INDEX fulfillment_search_parts ON fulfillment_search USING gin (trigrams(folded));

-- As fts5 calls the texts.
CREATE VIEW fulfillment_search_content AS SELECT rowid AS id, text AS c0 FROM fulfillment_search;

-- U+001F keeps a match from reaching over two fields.
CREATE VIEW fulfillment_text AS SELECT id, concat_ws(chr(31), order_id, po_number, po_given,
  coalesce(distributor_order_id, ''), customer_name,
  coalesce((SELECT string_agg(tracking_number, chr(31) ORDER BY tracking_number) FROM parcel
    WHERE fulfillment_order_id = fulfillment_order.id), '')) AS text FROM fulfillment_order;
${triggerFunction(
  'note_record_text',
  `
  IF TG_OP = 'DELETE' THEN
    DELETE FROM fulfillment_search WHERE rowid = OLD.id;
  ELSE
    INSERT INTO fulfillment_search AS known (rowid, text)
      SELECT id, fulfillment_text.text FROM fulfillment_text WHERE id = NEW.id
      ON CONFLICT (rowid) DO UPDATE SET text = excluded.text;
  END IF;
  RETURN NULL;`,
)}
CREATE TRIGGER fulfillment_search_record AFTER INSERT OR DELETE ON fulfillment_order
  FOR EACH ROW EXECUTE FUNCTION note_record_text();
CREATE TRIGGER fulfillment_search_other AFTER UPDATE ON fulfillment_order FOR EACH ROW
  WHEN ((OLD.order_id, OLD.po_number, OLD.po_given, OLD.distributor_order_id, OLD.customer_name)
    IS DISTINCT FROM
      (NEW.order_id, NEW.po_number, NEW.po_given, NEW.distributor_order_id, NEW.customer_name))
  EXECUTE FUNCTION note_record_text();
${triggerFunction(
  'note_parcel_text',
  `
  UPDATE fulfillment_search SET text = fulfillment_text.text FROM fulfillment_text
    WHERE rowid = id
      AND id = CASE WHEN TG_OP = 'DELETE' THEN OLD.fulfillment_order_id
        ELSE NEW.fulfillment_order_id END;
  RETURN NULL;`,
)}
CREATE TRIGGER fulfillment_search_parcel AFTER INSERT OR DELETE ON parcel
  FOR EACH ROW EXECUTE FUNCTION note_parcel_text();
`
