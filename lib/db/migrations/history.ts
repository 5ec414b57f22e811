/**
 * history/history.db: every price and stock change since the last roll-up (analytics reads it). Time comes first in the
 * key, so that the rows of one feed lie together: by offer, one feed would touch every page of the file.
 */
export const historySchema = [`
CREATE TABLE change (
  at INTEGER NOT NULL,
  distid TEXT NOT NULL,
  stockid TEXT NOT NULL,
  upc TEXT,
  price INTEGER,
  qty INTEGER NOT NULL,
  gone INTEGER NOT NULL,
  PRIMARY KEY (at, distid, stockid)
) STRICT, WITHOUT ROWID;
`] as const
