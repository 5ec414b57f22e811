/** What every node keeps in memory, by its number, and when jobs run. */
import { TEXT, triggerFunction } from './types.js'

/** Where nodes are told that a number has moved. */
export const CHANNEL = 'quartermaster_state'
/** Where they are told that there is something new about orders. */
export const ORDERS_CHANNEL = 'quartermaster_orders'

export const stateTables = `
CREATE TABLE state (
  name ${TEXT} PRIMARY KEY,
  value bigint NOT NULL
);

INSERT INTO state (name, value) VALUES ('keys', 0), ('documents', 0), ('sources', 0), ('dealers', 0),
  ('rules', 0), ('modes', 0), ('fraud', 0), ('catalog', 0);
${triggerFunction(
  'tell_state',
  `
  PERFORM pg_notify('${CHANNEL}', NEW.name);
  RETURN NULL;`,
)}
CREATE TRIGGER state_told AFTER UPDATE OF value ON state FOR EACH ROW EXECUTE FUNCTION tell_state();

CREATE TABLE job (
  name ${TEXT} PRIMARY KEY,
  next_at bigint NOT NULL,
  last_started_at bigint,
  last_finished_at bigint,
  last_error ${TEXT},
  failures bigint NOT NULL DEFAULT 0
);

CREATE TABLE setting (
  name ${TEXT} PRIMARY KEY,
  value ${TEXT} NOT NULL
);
`
