/** Documents of distributors, which one folder has as files in `distributors/`. */
import { TEXT } from './types.js'

export const documentTables = `
CREATE TABLE distributor_document (
  distid ${TEXT} PRIMARY KEY,
  -- JSON, as it was given.
  text ${TEXT} NOT NULL
);

-- JSON: which of them the node has read, and in which state; null of a release that reads none.
ALTER TABLE node ADD COLUMN documents ${TEXT};
`
