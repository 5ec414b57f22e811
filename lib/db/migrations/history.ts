/**
 * history/history.db: every price and stock change since the last roll-up (analytics reads it).
 * Time comes first in the key, so that the rows of one feed lie together: by offer, one feed would
 * touch every page of the file.
 */
export const historySchema = [
  `
CREATE TABLE change (
  at INTEGER NOT NULL,
  distid TEXT NOT NULL,
  stockid TEXT NOT NULL,
  upc TEXT,
  price INTEGER,
  qty INTEGER NOT NULL,
  -- The distributor no longer lists it.
  gone INTEGER NOT NULL,
  -- The catalog holds it back (allocated): that it has no stock then is no sale.
  held INTEGER NOT NULL,
  PRIMARY KEY (at, distid, stockid)
) STRICT, WITHOUT ROWID;

-- Each feed that was taken, or found to be the last one again.
CREATE TABLE seen (
  distid TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (distid, at)
) STRICT, WITHOUT ROWID;

-- Days before this moment are rolled up, or just being so: what arrives for them counts from here.
CREATE TABLE open_day (begins INTEGER NOT NULL) STRICT;
INSERT INTO open_day (begins) VALUES (0);
`,
  `
-- 1: an operator's catalog feed before which the catalog had no price of the distributor. What was
-- there before and is not told again from here on vanished while nobody looked: catalog.db was
-- removed, or is not in the backup that was restored.
ALTER TABLE seen ADD COLUMN is_first INTEGER NOT NULL DEFAULT 0;
`,
] as const
