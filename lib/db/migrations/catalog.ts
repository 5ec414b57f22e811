/**
 * catalog.db: the network's offers. It may be deleted at any time: feeds bring it back. A change of this text makes
 * every installation rebuild it, since a catalog file is never migrated: add an entry, do not edit one.
 *
 * An offer's row is narrow and changes often; its cold text is a fragment, which is never updated: changed text is a
 * new fragment, and the old one stays until no live snapshot names it. Money is cents, null where there is none.
 */
export const catalogSchema = [`
CREATE TABLE state (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  revision INTEGER NOT NULL,       -- of the newest change of any kind
  text_revision INTEGER NOT NULL,  -- of the newest change that added, removed or re-worded an offer
  version TEXT NOT NULL            -- the snapshot's public name
) STRICT;
INSERT INTO state VALUES (1, 0, 0, '');

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
  retired_at INTEGER
) STRICT;
CREATE INDEX fragment_retired ON fragment (retired_at) WHERE retired_at IS NOT NULL;

CREATE TABLE offer (
  id INTEGER PRIMARY KEY,
  distid TEXT NOT NULL,
  stockid TEXT NOT NULL,
  fragment INTEGER NOT NULL,
  wording INTEGER NOT NULL DEFAULT 0,  -- hash of the fragment, so that a new price does not cost a comparison of texts
  price INTEGER,
  map INTEGER,
  msrp INTEGER,
  shipping INTEGER,                -- the distributor's own estimate
  qty INTEGER NOT NULL,
  ffl_req INTEGER NOT NULL,
  drop_ship INTEGER NOT NULL,
  held INTEGER NOT NULL DEFAULT 0,     -- 1: the catalog feed says that none can be ordered (allocated), whatever a stock feed counts
  revision INTEGER NOT NULL,
  first_seen INTEGER NOT NULL,
  UNIQUE (distid, stockid)
) STRICT;
CREATE INDEX offer_revision ON offer (revision);

CREATE TABLE own_price (           -- prices that came with one subscriber's credentials
  subscriber_id TEXT NOT NULL,
  offer INTEGER NOT NULL,
  price INTEGER NOT NULL,
  PRIMARY KEY (subscriber_id, offer)
) STRICT, WITHOUT ROWID;
CREATE INDEX own_price_offer ON own_price (offer);

CREATE TABLE tally (               -- kept with every change, so that the guard need not count a million rows
  distid TEXT PRIMARY KEY,
  offers INTEGER NOT NULL,
  priced INTEGER NOT NULL,
  stocked INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE feed (                -- what was last taken from each source
  source TEXT PRIMARY KEY,
  distid TEXT NOT NULL,
  subscriber_id TEXT,
  preset TEXT NOT NULL,
  kind TEXT NOT NULL,              -- catalog or quantity
  as_of INTEGER NOT NULL,
  taken_at INTEGER NOT NULL,
  digest TEXT NOT NULL,
  rows INTEGER NOT NULL,
  rejected INTEGER NOT NULL,
  lines BLOB NOT NULL              -- hash of each taken line and the offer that it made, packed
) STRICT, WITHOUT ROWID;

CREATE TABLE rejected_row (
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
  file TEXT,
  as_of INTEGER
) STRICT, WITHOUT ROWID;
`] as const
