/**
 * simulator.db: what the simulated distributors know. Their own file, so that nothing of the shop
 * depends on it.
 */
export const simulatorSchema = [
  `
-- Orders that a distributor really has. A client_ref may stand on several: not every distributor notices a repetition.
CREATE TABLE sales_order (
  id INTEGER PRIMARY KEY,
  distid TEXT NOT NULL,
  account TEXT NOT NULL,
  client_ref TEXT,
  po TEXT NOT NULL,
  listed_po TEXT NOT NULL,
  po_key TEXT NOT NULL,
  number TEXT NOT NULL UNIQUE,
  content TEXT NOT NULL,
  scenario TEXT,
  lines TEXT NOT NULL,
  ship_to TEXT NOT NULL,
  firearms INTEGER NOT NULL,
  placed_at INTEGER NOT NULL,
  executed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sales_order_ref ON sales_order (client_ref);
CREATE INDEX sales_order_po ON sales_order (distid, account, po_key);
CREATE INDEX sales_order_placed ON sales_order (distid, account, placed_at);

-- Orders of Sports South that are being built up; the number is the one that the order will have.
CREATE TABLE stage (
  number TEXT PRIMARY KEY,
  distid TEXT NOT NULL,
  account TEXT NOT NULL,
  client_ref TEXT NOT NULL,
  arrival TEXT NOT NULL,
  lines TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX stage_ref ON stage (client_ref);

-- Carts of 2nd Amendment Wholesale: the newest one of an account that became no order is the one that it fills.
CREATE TABLE cart (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account TEXT NOT NULL,
  note TEXT NOT NULL,
  po TEXT NOT NULL,
  lines TEXT NOT NULL,
  number TEXT
) STRICT;
CREATE UNIQUE INDEX cart_open ON cart (account) WHERE number IS NULL;

-- Files in the inbox of Bill Hicks; read_at is null until it is read.
CREATE TABLE inbox_file (
  id INTEGER PRIMARY KEY,
  account TEXT NOT NULL,
  name TEXT NOT NULL,
  client_ref TEXT NOT NULL,
  po_key TEXT NOT NULL,
  arrival TEXT NOT NULL,
  dropped_at INTEGER NOT NULL,
  read_at INTEGER
) STRICT;
CREATE UNIQUE INDEX inbox_file_name ON inbox_file (account, name) WHERE read_at IS NULL;
CREATE INDEX inbox_file_po ON inbox_file (account, po_key);

-- What happens by itself later; whoever looks next does it first.
CREATE TABLE due (
  id INTEGER PRIMARY KEY,
  due_at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  distid TEXT NOT NULL,
  account TEXT NOT NULL,
  payload TEXT NOT NULL
) STRICT;
CREATE INDEX due_at ON due (due_at);

-- Stock of the simulated shelves: past holds what it was since the catalog's number was last noted, written what the
-- demo's feed file shows.
CREATE TABLE stock (
  distid TEXT NOT NULL,
  sku TEXT NOT NULL,
  qty INTEGER NOT NULL,
  listed INTEGER NOT NULL,
  past TEXT NOT NULL,
  written INTEGER NOT NULL,
  PRIMARY KEY (distid, sku)
) STRICT, WITHOUT ROWID;

-- How often a call was made for an order that asks for faults.
CREATE TABLE call (
  ref TEXT NOT NULL,
  name TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (ref, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE sequence (one INTEGER PRIMARY KEY CHECK (one = 1), last INTEGER NOT NULL) STRICT;
`,
  `
-- RSR has an inbox too: what was written there, what became of it once it was read, and the order that it became.
ALTER TABLE inbox_file ADD COLUMN distid TEXT NOT NULL DEFAULT 'BILL';
ALTER TABLE inbox_file ADD COLUMN content TEXT NOT NULL DEFAULT '';
ALTER TABLE inbox_file ADD COLUMN answer TEXT;
ALTER TABLE inbox_file ADD COLUMN number TEXT;
`,
  `
-- Where what is in a cart is to go, as JSON; empty until somebody says so.
ALTER TABLE cart ADD COLUMN address TEXT NOT NULL DEFAULT '';
`,
] as const
