/** Which node leads. One machine has a lock of its file system instead. */
import { LEAD_LOST } from '../faults.js'
import { TEXT } from './types.js'

export const leadershipTables = `
CREATE TABLE leadership (
  name ${TEXT} PRIMARY KEY,
  -- The life of a process, which no other has ever had.
  owner ${TEXT} NOT NULL,
  -- One more with each of them: what was begun under an earlier one is not gone on with.
  epoch bigint NOT NULL
);

-- Apart from the epoch, which every write of a leader holds on to: a renewal meets none of them.
-- There for as long as somebody has it.
CREATE TABLE lease (
  name ${TEXT} PRIMARY KEY REFERENCES leadership,
  -- The number alone does not tell: a standby that lost the last one gives it again.
  owner ${TEXT} NOT NULL,
  epoch bigint NOT NULL,
  -- Another one with each renewal.
  mark uuid NOT NULL,
  -- By the server's clock, for who looks on: whether it is over, nobody decides by it.
  renewed_at bigint NOT NULL
);

-- Each node that serves, for who looks on. One that ended without saying so stays for a day.
CREATE TABLE node (
  -- The life of its process, as in leadership.
  id ${TEXT} PRIMARY KEY,
  host ${TEXT} NOT NULL,
  dir ${TEXT} NOT NULL,
  pid bigint NOT NULL,
  release ${TEXT} NOT NULL,
  -- By the server's clock.
  started_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  -- Its own clock against the server's, in milliseconds.
  clock_ahead bigint NOT NULL,
  -- The state of its catalog.db (publication.mark); null before it has any.
  catalog_mark ${TEXT}
);
`

/** Says itself that an epoch is over, so that nobody has to wait for its answer. */
export const holdLead = `
-- Keeps the lead where it is until the transaction ends, or undoes it: who takes the lead over waits.
CREATE FUNCTION hold_lead(what text, holder text, since bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM leadership WHERE name = what AND owner = holder AND epoch = since FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'another epoch has begun' USING ERRCODE = '${LEAD_LOST}';
  END IF;
END $$;
`
