/**
 * What the leader has published of the databases of its folder. One machine has the files alone, so
 * that this table has no counterpart there.
 */
import { TEXT } from './types.js'

export const publicationTables = `
CREATE TABLE publication (
  -- Of which database.
  name ${TEXT} NOT NULL CHECK (name IN ('catalog', 'history')),
  number bigint NOT NULL,
  kind ${TEXT} NOT NULL CHECK (kind IN ('base', 'change')),
  -- The state that a change goes on from; null for a base.
  before ${TEXT},
  -- The state after it: no other has this name, whatever their revisions are.
  mark ${TEXT} NOT NULL,
  -- Of the database and of what is in the objects: another release may have another one.
  form bigint NOT NULL,
  made ${TEXT} NOT NULL,
  revision bigint NOT NULL,
  -- The highest number that was given to a text.
  fragments bigint NOT NULL,
  -- JSON of digests and bytes.
  parts ${TEXT} NOT NULL,
  -- JSON of paths with their parts: what goes along with a base.
  files ${TEXT} NOT NULL,
  bytes bigint NOT NULL,
  published_at bigint NOT NULL,
  epoch bigint NOT NULL,
  -- 1: a node found an object of it missing or changed.
  is_broken bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (name, number)
);
`
