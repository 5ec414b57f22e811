/** meter.db: counts that survive a kill but not a power cut. */
export const meterSchema = [`
CREATE TABLE usage (
  key_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  endpoint TEXT NOT NULL,
  requests INTEGER NOT NULL,
  PRIMARY KEY (key_id, day, endpoint)
) STRICT, WITHOUT ROWID;

CREATE TABLE recent (
  key_id TEXT NOT NULL,
  second INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  PRIMARY KEY (key_id, second)
) STRICT, WITHOUT ROWID;
`] as const
