/** Where offers come from. */
import { TEXT } from './types.js'

export const feedsTables = `
CREATE TABLE feed_source (
  id ${TEXT} PRIMARY KEY,
  distid ${TEXT} NOT NULL,
  subscriber_id ${TEXT} REFERENCES subscriber,
  preset ${TEXT} NOT NULL,
  location ${TEXT},
  every_ms bigint NOT NULL,
  active bigint NOT NULL,
  allow_private bigint NOT NULL,
  last_pull_at bigint,
  last_result ${TEXT},
  created_at bigint NOT NULL,
  mark ${TEXT},
  failures bigint NOT NULL DEFAULT 0,
  good_at bigint
);

CREATE TABLE feed_import (
  distid ${TEXT} PRIMARY KEY,
  imported_at bigint NOT NULL
);

CREATE TABLE feed_hold (
  account ${TEXT} NOT NULL,
  preset ${TEXT} NOT NULL,
  not_before bigint NOT NULL,
  PRIMARY KEY (account, preset)
);
`
