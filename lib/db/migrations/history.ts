/** history/history.db: every price and stock change since the last roll-up (analytics reads it). */
export const historySchema = [`
CREATE TABLE change (
  distid TEXT NOT NULL,
  stockid TEXT NOT NULL,
  at INTEGER NOT NULL,
  upc TEXT,
  price INTEGER,
  qty INTEGER NOT NULL,
  gone INTEGER NOT NULL,
  PRIMARY KEY (distid, stockid, at)
) STRICT, WITHOUT ROWID;
`] as const
