/** Whether the record came from a folder, or went into one. */
import { TEXT } from './types.js'

export const moveTables = `
-- No row where it began here.
CREATE TABLE move (
  one bigint PRIMARY KEY CHECK (one = 1),
  id ${TEXT} NOT NULL,
  -- Which installation it is, whatever becomes of its secret key.
  installation ${TEXT} NOT NULL,
  state ${TEXT} NOT NULL CHECK (state IN ('arriving', 'arrived', 'left')),
  -- The folder, in words.
  place ${TEXT} NOT NULL,
  at bigint NOT NULL
);

-- Tables that are there as a whole, while others are still to come.
CREATE TABLE moved_table (
  name ${TEXT} PRIMARY KEY,
  count bigint NOT NULL,
  digest ${TEXT} NOT NULL
);
`
