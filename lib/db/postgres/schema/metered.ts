/**
 * What is counted and noted, which one machine has in meter.db and decisions.db, and how calls are
 * counted over all nodes.
 */
import { DAY, MINUTE } from '../../../core/clock.js'
import { ID, TEXT } from './types.js'

/** Of all locks by name: "QMnm". */
export const NAMES = 0x514d_6e6d

export const meteredTables = `
CREATE TABLE usage (
  key_id ${TEXT} NOT NULL,
  day bigint NOT NULL,
  endpoint ${TEXT} NOT NULL,
  requests bigint NOT NULL,
  PRIMARY KEY (key_id, day, endpoint)
);

CREATE TABLE export_poll (
  key_id ${TEXT} PRIMARY KEY,
  at bigint NOT NULL
);

CREATE TABLE export_file (
  subscriber_id ${TEXT} NOT NULL,
  export_version ${TEXT} NOT NULL,
  content ${TEXT} NOT NULL,
  parquet_key ${TEXT} NOT NULL,
  attributes_key ${TEXT},
  made_at bigint NOT NULL,
  urls_until bigint NOT NULL,
  PRIMARY KEY (subscriber_id, export_version)
);
CREATE INDEX export_file_content ON export_file (content);

CREATE TABLE fraud_check (
  key_id ${TEXT} NOT NULL,
  at bigint NOT NULL
);
CREATE INDEX fraud_check_key ON fraud_check (key_id, at);

CREATE TABLE fraud_try (
  asker ${TEXT} NOT NULL,
  signal ${TEXT} NOT NULL,
  at bigint NOT NULL,
  overlap bigint NOT NULL,
  "similar" bigint NOT NULL,
  free ${TEXT} NOT NULL,
  later ${TEXT} NOT NULL,
  PRIMARY KEY (asker, signal)
);
CREATE INDEX fraud_try_at ON fraud_try (at);

CREATE TABLE restriction_decision (
  seq ${ID} PRIMARY KEY,
  at bigint NOT NULL,
  subscriber_id ${TEXT} NOT NULL,
  digest ${TEXT} NOT NULL,
  state ${TEXT} NOT NULL,
  zip ${TEXT},
  target ${TEXT},
  approved bigint NOT NULL,
  items ${TEXT} NOT NULL
);
CREATE INDEX restriction_decision_at ON restriction_decision (at);

-- The one clock of all nodes.
CREATE FUNCTION now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

-- Waits until nobody else has this name, keeps it to the end of the transaction, and says when.
CREATE FUNCTION take_name(name text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(${NAMES}, hashtext(name));
  RETURN now_ms();
END $$;

-- Where a key is with its limits. Its row is what nodes take turns by.
CREATE TABLE call_count (
  key_id ${TEXT} PRIMARY KEY,
  -- Of its last call that was counted.
  at bigint NOT NULL,
  -- The sum of its recent calls.
  recent bigint NOT NULL,
  -- The sum of its usage on this day.
  day bigint NOT NULL,
  today bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE recent_call (
  key_id ${TEXT} NOT NULL,
  at bigint NOT NULL,
  requests bigint NOT NULL,
  PRIMARY KEY (key_id, at)
);
${countCalls()}`

/**
 * Counts the calls that one node has collected, or as many of them as fit. The calls of keys[i] are
 * endpoints[firsts[i]] and those that follow it, up to firsts[i + 1]; keys are sorted, so that two
 * nodes never wait for each other's. Each key is looked at when its turn has come, at a time that is
 * read then: so the times of a key ascend, whatever clocks the nodes have.
 *
 * Nobody waits for the server's disk: it writes within a second by itself, and a crash of it forgets
 * no more, as one process forgets what it has not written yet. A table without a log (UNLOGGED)
 * would forget the whole minute, and all of it on a standby that takes over.
 */
function countCalls(): string {
  return `
CREATE FUNCTION count_calls(
  keys text[], minutes bigint[], days bigint[], firsts bigint[], endpoints text[]
) RETURNS TABLE (at bigint, allowed bigint, recent bigint, today bigint, wait bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  known call_count;
  clock bigint;
  steady bigint;
  asked bigint;
  gone bigint;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  FOR i IN 1 .. cardinality(keys) LOOP
    LOOP
      SELECT * INTO known FROM call_count WHERE key_id = keys[i] FOR UPDATE;
      EXIT WHEN FOUND;
      INSERT INTO call_count VALUES (keys[i], 0, 0, 0, 0) ON CONFLICT DO NOTHING;
    END LOOP;
    clock := now_ms();
    at := clock;
    asked := firsts[i + 1] - firsts[i];
    wait := 0;

    -- A clock that steps back must not lock a key for longer than a minute: it stands still, or
    -- later times are taken as now.
    IF known.at - clock >= ${MINUTE} THEN
      WITH later AS (
        DELETE FROM recent_call r WHERE r.key_id = keys[i] AND r.at > clock RETURNING r.requests
      )
      INSERT INTO recent_call SELECT keys[i], clock, sum(requests) FROM later HAVING count(*) > 0
        ON CONFLICT (key_id, at) DO UPDATE SET requests = recent_call.requests + excluded.requests;
      known.at := clock;
    END IF;
    steady := greatest(known.at, clock);
    WITH old AS (
      DELETE FROM recent_call r WHERE r.key_id = keys[i] AND r.at <= steady - ${MINUTE}
        RETURNING r.requests
    )
    SELECT coalesce(sum(requests), 0) INTO gone FROM old;
    known.recent := known.recent - gone;
    IF known.day <> clock - clock % ${DAY} THEN
      known.day := clock - clock % ${DAY};
      SELECT coalesce(sum(u.requests), 0) INTO known.today FROM usage u
        WHERE u.key_id = keys[i] AND u.day = known.day;
    END IF;

    allowed := greatest(least(asked, minutes[i] - known.recent, days[i] - known.today), 0);
    IF allowed > 0 THEN
      INSERT INTO recent_call VALUES (keys[i], steady, allowed)
        ON CONFLICT (key_id, at) DO UPDATE SET requests = recent_call.requests + excluded.requests;
      INSERT INTO usage SELECT keys[i], known.day, each, count(*)
        FROM unnest(endpoints[firsts[i] : firsts[i] + allowed - 1]) each GROUP BY each
        ON CONFLICT (key_id, day, endpoint) DO UPDATE
        SET requests = usage.requests + excluded.requests;
      known.at := steady;
      known.recent := known.recent + allowed;
      known.today := known.today + allowed;
    END IF;
    UPDATE call_count c
      SET at = known.at, recent = known.recent, day = known.day, today = known.today
      WHERE c.key_id = keys[i] AND c IS DISTINCT FROM known;
    recent := known.recent;
    today := known.today;
    -- A limit that was lowered is over only once enough have gone.
    IF allowed < asked AND recent >= minutes[i] THEN
      SELECT upto.at + ${MINUTE} - steady INTO wait FROM (
        SELECT r.at, sum(r.requests) OVER (ORDER BY r.at) AS requests FROM recent_call r
          WHERE r.key_id = keys[i]
      ) upto WHERE upto.requests > recent - minutes[i] ORDER BY upto.at LIMIT 1;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
`
}
