/**
 * What moves between a folder and PostgreSQL: the databases of the folder, and their tables. In
 * this order, so that whatever a row refers to is there before it.
 */
import { decisionsSchema } from '../migrations/decisions.js'
import { meterSchema } from '../migrations/meter.js'
import { quartermasterSchema } from '../migrations/quartermaster.js'

/** Databases of a folder that may have tables that move, with the steps of their schemas. */
export const MOVED_DATABASES = {
  record: quartermasterSchema,
  decisions: decisionsSchema,
  meter: meterSchema,
} as const

export type MovedDatabase = keyof typeof MOVED_DATABASES

export interface MovedTable {
  database: MovedDatabase
  name: string
  /** Rows that belong to one of both places, as a condition in SQL. */
  except?: string
}

/** How far `orders.journal` goes: PostgreSQL has no such file. */
const OF_THE_FILE = `name = 'journaled'`

/** What nodes keep in memory, and one folder has no number for. */
const OF_NODES = `name = 'catalog'`

const of = (database: MovedDatabase, ...names: string[]): MovedTable[] =>
  names.map((name) => ({ database, name }))
const record = (...names: string[]): MovedTable[] => of('record', ...names)

export const MOVED_TABLES: readonly MovedTable[] = [
  { database: 'record', name: 'state', except: OF_NODES },
  ...record('job', 'setting', 'secret_key', 'data_key', 'subscriber', 'api_key', 'audit'),
  ...record('console_user', 'console_session', 'console_link', 'console_try', 'console_place'),
  ...record('event', 'alarm', 'event_receiver', 'event_delivery'),
  ...record('configuration', 'configuration_history', 'credential_check'),
  ...record('feed_source', 'feed_import', 'feed_hold'),
  ...record('dealer', 'dealer_on_file', 'dealer_document', 'dealer_list'),
  ...record('rule_set', 'active_rule_set', 'rule_override', 'distributor_mode'),
  ...record('placement', 'fulfillment_order', 'purchase_order', 'lane_status', 'transcript'),
  ...record('order_count', 'journal'),
  { database: 'record', name: 'order_engine', except: OF_THE_FILE },
  ...record('fulfillment_count', 'failed_placement', 'parcel', 'fulfillment_change', 'monitor'),
  ...record('fraud_report', 'fraud_signal', 'fraud_evidence', 'fraud_use', 'fraud_partner'),
  ...record('fraud_installation'),
  // Without the files of exports, which lie where the folder is: they are made anew.
  ...of('meter', 'usage', 'export_poll', 'fraud_check', 'fraud_try'),
  ...of('decisions', 'restriction_decision'),
]

/** The databases that have any of these tables. */
export const databasesOf = (tables: readonly MovedTable[]): MovedDatabase[] => [
  ...new Set(tables.map(({ database }) => database)),
]

/** A value as a text, whichever engine has it: whole numbers in digits, bytes in hex. */
export type Cell = string | null
export type Row = readonly Cell[]

export interface MovedColumn {
  name: string
  kind: 'text' | 'number' | 'bytes'
}

/** A table as both engines have it. */
export interface TableShape extends MovedTable {
  columns: readonly MovedColumn[]
  /** What its rows are sorted by: its primary key, or all columns where it has none. */
  order: readonly MovedColumn[]
}

/** Rows and characters that are moved together: a document may have a megabyte. */
const MOST = { rows: 2_000, characters: 4_000_000 } as const

/** Puts rows together that are moved at once. */
export function* batchesOf(rows: Iterable<Row>): Generator<Row[]> {
  let batch: Row[] = []
  let characters = 0
  for (const row of rows) {
    batch.push(row)
    for (const cell of row) characters += cell?.length ?? 0
    if (batch.length < MOST.rows && characters < MOST.characters) continue
    yield batch
    ;[batch, characters] = [[], 0]
  }
  if (batch.length > 0) yield batch
}

/** A name as both engines take it. */
export const quoted = (name: string): string => `"${name}"`

/** The condition that leaves out what does not move. */
export const whereOf = ({ except }: MovedTable): string =>
  except === undefined ? '' : ` WHERE NOT (${except})`
