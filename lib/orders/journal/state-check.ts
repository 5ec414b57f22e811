/**
 * Follows the journal's lines, and compares what they make of each purchase order with the row that
 * there is.
 */
import { query } from '../../db/query.js'
import type { Reading } from '../../db/query.js'
import { lists, value } from '../../db/reading.js'
import type { WalkedLine } from './chain.js'
import type { StoredPo } from '../stored.js'
import type { StateData } from '../engine/transitions.js'

export interface StateCheck {
  /** Purchase orders that lines told of so far. */
  readonly count: number
  take(line: WalkedLine): Reading<void>
  /** Every purchase order that is not what its lines say, in words. */
  end(): Reading<string[]>
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

const endedRows = query((db, given: { from: number; limit: number }) =>
  db
    .selectFrom('purchase_order')
    .select(ENDED_COLUMNS)
    .where('id', '>=', given.from)
    .orderBy('id')
    .limit(given.limit),
)
const openRow = query((db, given: { id: number }) =>
  db.selectFrom('purchase_order').select(OPEN_COLUMNS).where('id', '=', given.id),
)
const countOfRows = query((db) =>
  db.selectFrom('purchase_order').select(({ fn }) => fn.countAll<number>().as('rows')),
)

/**
 * Only what is under way is kept in memory: an order that ended is compared at once, and again
 * should a later line tell of it.
 */
export function openStateCheck(): StateCheck {
  return new LineFollower()
}

class LineFollower implements StateCheck {
  readonly #known = new Map<number, Known>()
  readonly #faults: string[] = []
  /** Rows of orders that ended, from `#first` on. */
  #window = new Map<number, unknown[]>()
  #first = -WINDOW
  #count = 0

  get count(): number {
    return this.#count
  }

  *take({ kind, data, seq }: WalkedLine): Reading<void> {
    if (kind === 'state') return yield* this.#takeState(JSON.parse(data) as StateData, seq)
    for (const row of purchaseOrdersIn(data)) {
      this.#count++
      yield* this.#settle({ row, seq })
    }
  }

  *end(): Reading<string[]> {
    for (const order of this.#known.values()) {
      const fault = yield* this.#difference(order)
      if (fault !== null) this.#faults.push(fault)
    }
    const rows = (yield* value(countOfRows)) ?? 0
    if (this.#faults.length === 0 && rows !== this.#count)
      this.#faults.push(
        `there are ${rows} purchase orders, and the journal tells of ${this.#count}`,
      )
    return this.#faults
  }

  *#takeState({ id, from, set }: StateData, seq: number): Reading<void> {
    const before = this.#known.get(id)?.row
    if (before && before.state !== from)
      this.#faults.push(
        `purchase order ${id} was ${shown(before.state)} before line ${seq}, which says ${from}`,
      )
    // One that had ended was right: whatever this line changes must show in it.
    const row = before ?? rowFrom(yield* this.#openValues(id))
    if (row) yield* this.#settle({ row: { ...row, ...set } as Row, seq })
    else this.#faults.push(missing(id, seq))
  }

  *#settle(order: Known): Reading<void> {
    const { id, state } = order.row
    if (ENDED.includes(state) && (yield* this.#difference(order)) === null) this.#known.delete(id)
    else this.#known.set(id, order)
  }

  /** What differs, or null. */
  *#difference({ row, seq }: Known): Reading<string | null> {
    const isEnded = ENDED.includes(row.state)
    const stored = yield* isEnded ? this.#endedValues(row.id) : this.#openValues(row.id)
    if (!stored) return missing(row.id, seq)
    const columns: readonly Column[] = isEnded ? ENDED_COLUMNS : OPEN_COLUMNS
    const at = columns.findIndex((name, i) => stored[i] !== row[name])
    const column = columns[at]
    return column === undefined
      ? null
      : `purchase order ${row.id}: ${column} is ${shown(stored[at])}, and its lines, ` +
          `the last of which is ${seq}, say ${shown(row[column])}`
  }

  *#openValues(id: number): Reading<unknown[] | undefined> {
    return (yield* lists(openRow, { id }))[0]
  }

  /** Values of the first columns, read with those of its neighbours. */
  *#endedValues(id: number): Reading<unknown[] | undefined> {
    if (id < this.#first || id >= this.#first + WINDOW) {
      const rows: unknown[][] = yield* lists(endedRows, { from: id, limit: WINDOW })
      this.#window = new Map(rows.map((values) => [values[0] as number, values]))
      this.#first = id
    }
    return this.#window.get(id)
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
