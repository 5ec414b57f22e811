/**
 * What the leader has published of its catalog.db. One machine has the file alone, so that this
 * table has no counterpart there.
 */
import { TEXT } from './types.js'

export const catalogTables = `
CREATE TABLE catalog_publication (
  number bigint PRIMARY KEY,
  kind ${TEXT} NOT NULL CHECK (kind IN ('base', 'change')),
  -- The state that a change goes on from; null for a base.
  before ${TEXT},
  -- The state after it: no other has this name, whatever their revisions are.
  mark ${TEXT} NOT NULL,
  -- Of catalog.db and of what is in the objects: another release may have another one.
  form bigint NOT NULL,
  made ${TEXT} NOT NULL,
  revision bigint NOT NULL,
  -- The highest number that was given to a text.
  fragments bigint NOT NULL,
  -- JSON of digests and bytes.
  parts ${TEXT} NOT NULL,
  bytes bigint NOT NULL,
  published_at bigint NOT NULL,
  epoch bigint NOT NULL,
  -- 1: a node found an object of it missing or changed.
  is_broken bigint NOT NULL DEFAULT 0
);
`
