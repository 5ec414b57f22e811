/**
 * catalog.db: the network's offers. It may be deleted at any time: feeds bring it back. It is never
 * migrated: an entry more in this list makes every installation throw its file away and rebuild it.
 * Once released, an entry is not edited, since files that were made from it would go unnoticed.
 *
 * An offer's row is narrow and changes often; its cold text is a fragment, which is never updated:
 * changed text is a new fragment, and the old one stays until no live snapshot names it. Money is
 * cents, null where there is none.
 */
export const catalogSchema = [
  `
CREATE TABLE state (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  revision INTEGER NOT NULL,       -- of the newest change of any kind
  text_revision INTEGER NOT NULL,  -- of the newest change that added, removed or re-worded an offer
  version TEXT NOT NULL,           -- the snapshot's public name
  made TEXT NOT NULL               -- tells this file from one that takes its place
) STRICT;
INSERT INTO state VALUES (1, 0, 0, '', lower(hex(randomblob(16))));

CREATE TABLE fragment (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  distid TEXT NOT NULL,
  stockid TEXT NOT NULL,
  distsku TEXT NOT NULL,
  upc TEXT,
  name TEXT NOT NULL,
  mfg_name TEXT,
  mpn TEXT,
  product_class TEXT NOT NULL,
  item_cat TEXT,
  category_id INTEGER,
  category_name TEXT NOT NULL,
  images TEXT NOT NULL,            -- JSON array of {src}
  product_url TEXT,
  short_description TEXT,
  description TEXT,
  attributes TEXT,                 -- JSON object, null for none
  retired_at INTEGER               -- when newer text took its place, or the offer went
) STRICT;
CREATE INDEX fragment_retired ON fragment (retired_at) WHERE retired_at IS NOT NULL;

CREATE TABLE offer (
  id INTEGER PRIMARY KEY,
  distid TEXT NOT NULL,
  stockid TEXT NOT NULL,
  fragment INTEGER NOT NULL,
  wording INTEGER NOT NULL DEFAULT 0,  -- hash of the fragment: a new price does not cost a comparison of texts
  price INTEGER,                   -- of the operator's feeds
  map INTEGER,
  msrp INTEGER,
  shipping INTEGER,                -- the distributor's own estimate
  qty INTEGER NOT NULL,
  ffl_req INTEGER NOT NULL,
  drop_ship INTEGER NOT NULL,
  held INTEGER NOT NULL DEFAULT 0, -- 1: none can be ordered (allocated), whatever a stock feed counts
  revision INTEGER NOT NULL,       -- of its newest change
  first_seen INTEGER NOT NULL,
  UNIQUE (distid, stockid)
) STRICT;
CREATE INDEX offer_revision ON offer (revision);

CREATE TABLE own_price (           -- prices of one subscriber's own feeds, for that one alone
  subscriber_id TEXT NOT NULL,
  offer INTEGER NOT NULL,
  price INTEGER NOT NULL,
  PRIMARY KEY (subscriber_id, offer)
) STRICT, WITHOUT ROWID;
CREATE INDEX own_price_offer ON own_price (offer);

CREATE TABLE tally (               -- counts of offers by distributor, so that the guard need not read a million rows
  distid TEXT PRIMARY KEY,
  offers INTEGER NOT NULL,
  priced INTEGER NOT NULL,
  stocked INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE feed (                -- what was last taken from each source
  source TEXT PRIMARY KEY,
  distid TEXT NOT NULL,
  subscriber_id TEXT,              -- null for the operator's
  preset TEXT NOT NULL,
  kind TEXT NOT NULL,              -- catalog or quantity
  as_of INTEGER NOT NULL,          -- when the file was made
  taken_at INTEGER NOT NULL,
  digest TEXT NOT NULL,            -- of the file; empty when the same file must be read again
  rows INTEGER NOT NULL,
  rejected INTEGER NOT NULL,
  offers INTEGER NOT NULL,         -- that it named
  ends_in_newline INTEGER NOT NULL, -- 1: so did its last line
  -- Hash of each taken line and the offer that it made, packed; of a stock feed, with what it
  -- dropped.
  lines BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE rejected_row (        -- rows of the last taken feed that could not be used
  source TEXT NOT NULL,
  line INTEGER NOT NULL,
  reason TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (source, line)
) STRICT, WITHOUT ROWID;

CREATE TABLE refusal (             -- the last feed of a source that the guard did not take
  source TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  reasons TEXT NOT NULL,           -- JSON array of sentences
  file TEXT,                       -- waits for the operator to accept it
  as_of INTEGER,
  digest TEXT                      -- of the file's bytes alone: what is accepted is what was refused
) STRICT, WITHOUT ROWID;
`,
  `
ALTER TABLE offer ADD COLUMN gtin INTEGER;       -- of a UPC whose check digit is right: offers of one lend each other
-- class and ffl_req as its own feed told them; 0: it could not
ALTER TABLE offer ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;
ALTER TABLE offer ADD COLUMN lent INTEGER;       -- the fragment that is shown in place of its own
ALTER TABLE offer ADD COLUMN lent_ffl INTEGER;   -- what is shown in place of ffl_req; null where nothing is lent
ALTER TABLE offer ADD COLUMN lent_key TEXT;      -- what the lent fragment was made of
CREATE INDEX offer_gtin ON offer (gtin, kind, lent_ffl) WHERE gtin IS NOT NULL;
ALTER TABLE own_price ADD COLUMN kind INTEGER NOT NULL DEFAULT 0; -- as of an offer, by this subscriber's feed

CREATE VIEW shown AS               -- offers as everybody sees them
SELECT id, distid, stockid, coalesce(lent, fragment) AS fragment, price, map, msrp, shipping, qty,
  coalesce(lent_ffl, ffl_req) AS ffl_req, drop_ship, revision FROM offer;
`,
  `
-- Of the last taken feed: what fills its columns, its classes, sums and medians (JSON). The lines
-- hold more than before.
ALTER TABLE feed ADD COLUMN shape TEXT NOT NULL DEFAULT '';
`,
  `
-- States that the distributor does not ship the item to: a bit each, in the order of
-- places/state-set.ts; null where no feed tells.
ALTER TABLE fragment ADD COLUMN restricted_states INTEGER;
`,
] as const
