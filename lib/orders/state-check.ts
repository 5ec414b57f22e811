/** Follows the journal's lines, and compares what they make of each purchase order with the row that there is. */
import type { Raw } from '../db/sqlite.js'
import type { IntentData } from './intent.js'
import type { ReadLine } from './journal.js'
import type { StateData, StoredPo } from './transitions.js'

export interface StateCheck {
  /** Purchase orders that lines told of so far. */
  readonly count: number
  take(line: ReadLine): void
  /** Every purchase order that is not what its lines say, in words. */
  end(): string[]
}

/** What no line tells: when it is looked at next, and when a number that came with a confirmation was written. */
const UNTOLD: readonly (keyof StoredPo)[] = ['next_at', 'updated_at']
const ENDED: readonly unknown[] = ['placed', 'rejected', 'expired']
/** Rows that are read together; orders end about in the order in which they came. */
const WINDOW = 500

interface Known {
  row: StoredPo
  /** The last line that told of it. */
  seq: number
}

/** Only what is under way is kept in memory: an order that ended is compared at once, and again should a later line tell of it. */
export function openStateCheck(raw: Raw): StateCheck {
  const columns = (raw.pragma('table_info(purchase_order)') as { name: keyof StoredPo }[]).map(({ name }) => name).filter((name) => !UNTOLD.includes(name))
  const some = raw.prepare(`SELECT * FROM purchase_order WHERE id >= ? ORDER BY id LIMIT ${WINDOW}`)
  const known = new Map<number, Known>()
  const faults: string[] = []
  let window = new Map<number, StoredPo>()
  let first = 0
  let count = 0

  function rowOf(id: number): StoredPo | undefined {
    if (!(id >= first && id < first + WINDOW)) {
      const rows = some.all(id) as StoredPo[]
      window = new Map(rows.map((row) => [row.id, row]))
      first = id
    }
    return window.get(id)
  }

  /** What differs, or null. A number may have come after the last line, with a confirmation. */
  function difference({ row, seq }: Known): string | null {
    const stored = rowOf(row.id)
    if (!stored) return `purchase order ${row.id} is missing; line ${seq} tells of it`
    const differs = columns.find((name) => stored[name] !== row[name] && !(name === 'distributor_order_id' && row[name] === null && row.state === 'placed'))
    return differs === undefined ? null : `purchase order ${row.id}: ${differs} is ${shown(stored[differs])}, and its lines, the last of which is ${seq}, say ${shown(row[differs])}`
  }

  function takeIntent({ purchaseOrders }: Pick<IntentData, 'purchaseOrders'>, seq: number): void {
    for (const row of purchaseOrders) {
      count++
      settle({ row, seq })
    }
  }

  function takeState({ id, from, set }: StateData, seq: number): void {
    const row = known.get(id)?.row ?? rowOf(id)
    if (!row) return void faults.push(`purchase order ${id} is missing; line ${seq} tells of it`)
    if (known.has(id) && row.state !== from) faults.push(`purchase order ${id} was ${row.state} before line ${seq}, which says ${from}`)
    settle({ row: { ...row, ...set } as StoredPo, seq })
  }

  function settle(order: Known): void {
    if (ENDED.includes(order.row.state) && difference(order) === null) known.delete(order.row.id)
    else known.set(order.row.id, order)
  }

  return {
    get count() { return count },
    take({ kind, data, seq }) {
      if (kind === 'state') takeState(data as StateData, seq)
      else if (kind === 'intent' || 'purchaseOrders' in (data as object)) takeIntent(data as IntentData, seq)
    },
    end() {
      for (const order of known.values()) {
        const fault = difference(order)
        if (fault !== null) faults.push(fault)
      }
      const { rows } = raw.prepare('SELECT count(*) AS rows FROM purchase_order').get() as { rows: number }
      if (faults.length === 0 && rows !== count) faults.push(`there are ${rows} purchase orders, and the journal tells of ${count}`)
      return faults
    },
  }
}

function shown(value: unknown): string {
  return value === null ? 'nothing' : String(value).slice(0, 100)
}
