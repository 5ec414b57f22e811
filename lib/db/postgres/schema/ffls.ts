/** The directory of dealers. */
import { TEXT, triggerFunction } from './types.js'

export const fflsTables = `
CREATE TABLE dealer (
  "row" bigint PRIMARY KEY,
  id ${TEXT} NOT NULL UNIQUE,
  license_number ${TEXT} NOT NULL UNIQUE,
  license_type ${TEXT} NOT NULL,
  expires_on ${TEXT} NOT NULL,
  valid_until ${TEXT},
  license_name ${TEXT} NOT NULL,
  business_name ${TEXT},
  premise_street ${TEXT} NOT NULL,
  premise_city ${TEXT} NOT NULL,
  premise_state ${TEXT} NOT NULL,
  premise_zip ${TEXT} NOT NULL,
  mail_street ${TEXT},
  mail_city ${TEXT},
  mail_state ${TEXT},
  mail_zip ${TEXT},
  voice_phone ${TEXT},
  email ${TEXT},
  fee_longgun bigint,
  fee_handgun bigint,
  residential bigint NOT NULL DEFAULT 0,
  contact_required bigint NOT NULL DEFAULT 0,
  marked_on_file bigint NOT NULL DEFAULT 0,
  sot_on_file bigint NOT NULL DEFAULT 0,
  listed bigint NOT NULL DEFAULT 1,
  source ${TEXT} NOT NULL CHECK (source IN ('atf', 'on_file', 'operator')),
  updated_at bigint NOT NULL,
  own_phone bigint
);
CREATE INDEX dealer_state ON dealer (premise_state);
CREATE INDEX dealer_zip ON dealer (substr(premise_zip, 1, 5));
CREATE INDEX dealer_city ON dealer (premise_state, lower(premise_city));

CREATE TABLE dealer_on_file (
  distid ${TEXT} NOT NULL,
  dealer_id ${TEXT} NOT NULL,
  PRIMARY KEY (distid, dealer_id)
);
CREATE INDEX dealer_on_file_dealer ON dealer_on_file (dealer_id);

CREATE TABLE dealer_document (
  dealer_id ${TEXT} NOT NULL,
  kind ${TEXT} NOT NULL CHECK (kind IN ('ffl', 'sot')),
  object_key ${TEXT} NOT NULL,
  content_type ${TEXT} NOT NULL,
  stored_at bigint NOT NULL,
  PRIMARY KEY (dealer_id, kind)
);

CREATE TABLE dealer_list (
  one bigint PRIMARY KEY CHECK (one = 1),
  as_of bigint NOT NULL,
  content ${TEXT} NOT NULL
);

-- The next row: a sequence would count every dealer of every list, whether it is new or not, and
-- the directory in memory goes by rows.
${triggerFunction(
  'give_dealer_row',
  `
  SELECT coalesce(max(dealer."row"), 0) + 1 INTO NEW."row" FROM dealer;
  RETURN NEW;`,
)}
CREATE TRIGGER dealer_row BEFORE INSERT ON dealer FOR EACH ROW WHEN (NEW."row" IS NULL)
  EXECUTE FUNCTION give_dealer_row();
`
