/**
 * Follows the journal's lines, and compares what they make of each purchase order with the row that
 * there is.
 */
import type { Raw } from '../../db/sqlite.js'
import type { WalkedLine } from './chain.js'
import type { StoredPo } from '../stored.js'
import type { StateData } from '../engine/transitions.js'

export interface StateCheck {
  /** Purchase orders that lines told of so far. */
  readonly count: number
  take(line: WalkedLine): void
  /** Every purchase order that is not what its lines say, in words. */
  end(): string[]
}

/** What must stand in the row of an order that ended. */
const ENDED_COLUMNS = [
  'id',
  'fulfillment_order_id',
  'subscriber_id',
  'distid',
  'mode',
  'client_ref',
  'po_number',
  'payload_digest',
  'state',
  'sends',
  'account',
  'ever_unknown',
  'distributor_order_id',
  'reason',
] as const satisfies readonly (keyof StoredPo)[]
/**
 * And in that of one that goes on. Left out: the times of the next look and of the last write,
 * which move without a line, and the sealed content, which cannot be opened once it was changed.
 */
const OPEN_COLUMNS = [
  ...ENDED_COLUMNS,
  'placement_id',
  'lane',
  'owner',
  'stage',
  'unknown_since',
  'refusal',
  'misses',
  'missed_at',
  'failures',
  'planned_at',
  'first_sent_at',
] as const satisfies readonly (keyof StoredPo)[]
type Column = (typeof OPEN_COLUMNS)[number]
type Row = Record<Column, unknown> & { id: number }

const ENDED: readonly unknown[] = ['placed', 'rejected', 'expired']
/** Rows that are read together; orders end about in the order in which they came. */
const WINDOW = 500

interface Known {
  row: Row
  /** The last line that told of it. */
  seq: number
}

/**
 * Only what is under way is kept in memory: an order that ended is compared at once, and again
 * should a later line tell of it.
 */
export function openStateCheck(raw: Raw): StateCheck {
  const some = raw
    .prepare(
      `SELECT ${ENDED_COLUMNS.join(', ')} FROM purchase_order WHERE id >= ? ORDER BY id LIMIT ${WINDOW}`,
    )
    .raw()
  const one = raw
    .prepare(`SELECT ${OPEN_COLUMNS.join(', ')} FROM purchase_order WHERE id = ?`)
    .raw()
  const known = new Map<number, Known>()
  const faults: string[] = []
  let window = new Map<number, unknown[]>()
  let first = -WINDOW
  let count = 0

  /** Values of the first columns, read with those of its neighbours. */
  function valuesOf(id: number): unknown[] | undefined {
    if (id < first || id >= first + WINDOW) {
      window = new Map((some.all(id) as unknown[][]).map((values) => [values[0] as number, values]))
      first = id
    }
    return window.get(id)
  }

  /** What differs, or null. */
  function difference({ row, seq }: Known): string | null {
    const isEnded = ENDED.includes(row.state)
    const stored = isEnded ? valuesOf(row.id) : (one.get(row.id) as unknown[] | undefined)
    if (!stored) return missing(row.id, seq)
    const columns: readonly Column[] = isEnded ? ENDED_COLUMNS : OPEN_COLUMNS
    const place = columns.findIndex((name, i) => stored[i] !== row[name])
    return place < 0
      ? null
      : `purchase order ${row.id}: ${columns[place]!} is ${shown(stored[place])}, and its lines, the last of which is ${seq}, say ${shown(row[columns[place]!])}`
  }

  function takeState({ id, from, set }: StateData, seq: number): void {
    const before = known.get(id)?.row
    if (before && before.state !== from)
      faults.push(
        `purchase order ${id} was ${shown(before.state)} before line ${seq}, which says ${from}`,
      )
    // One that had ended was right: whatever this line changes must show in it.
    const row = before ?? rowFrom(one.get(id) as unknown[] | undefined)
    if (row) settle({ row: { ...row, ...set } as Row, seq })
    else faults.push(missing(id, seq))
  }

  function settle(order: Known): void {
    if (ENDED.includes(order.row.state) && difference(order) === null) known.delete(order.row.id)
    else known.set(order.row.id, order)
  }

  return {
    get count() {
      return count
    },
    take({ kind, data, seq }) {
      if (kind === 'state') return takeState(JSON.parse(data) as StateData, seq)
      for (const row of purchaseOrdersIn(data)) {
        count++
        settle({ row, seq })
      }
    },
    end() {
      for (const order of known.values()) {
        const fault = difference(order)
        if (fault !== null) faults.push(fault)
      }
      const { rows } = raw.prepare('SELECT count(*) AS rows FROM purchase_order').get() as {
        rows: number
      }
      if (faults.length === 0 && rows !== count)
        faults.push(`there are ${rows} purchase orders, and the journal tells of ${count}`)
      return faults
    },
  }
}

const LIST = '"purchaseOrders":['

/**
 * Purchase orders that a line brings in: its last member, if it has any. Within a text of it the
 * name would be escaped.
 */
function purchaseOrdersIn(data: string): Row[] {
  const at = data.lastIndexOf(LIST)
  return at < 0 ? [] : (JSON.parse(data.slice(at + LIST.length - 1, -1)) as Row[])
}

function rowFrom(values: unknown[] | undefined): Row | undefined {
  return values && (Object.fromEntries(OPEN_COLUMNS.map((name, i) => [name, values[i]])) as Row)
}

const missing = (id: number, seq: number) =>
  `purchase order ${id} is missing; line ${seq} tells of it`

function shown(value: unknown): string {
  return value === null ? 'nothing' : String(value).slice(0, 100)
}
