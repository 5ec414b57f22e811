/**
 * What stands on the simulated shelves: begins with what the catalog shows, falls with every order.
 */
import type { Snapshot } from '../../catalog/snapshot/snapshot.js'
import type { Db, World } from './store.js'

interface StockRow {
  qty: number
  listed: number
  past: string
}

/** Quantities of one SKU that are remembered to tell an old picture of this shelf from news. */
const REMEMBERED = 100

/**
 * Units that the catalog shows of a distributor's SKU over all its rows; null for an unknown one.
 */
export function catalogStock(
  snapshot: Snapshot | null,
  distid: string,
  sku: string,
): number | null {
  const rows =
    snapshot
      ?.skuRows(sku)
      .filter(
        (row) =>
          snapshot.distids[snapshot.distributor[row]!] === distid && snapshot.sku(row) === sku,
      ) ?? []
  return rows.length === 0 ? null : rows.reduce((sum, row) => sum + snapshot!.qty[row]!, 0)
}

/**
 * Units on the shelf now; null for a SKU that was never stocked. The catalog's number is believed
 * where it is news of the world: neither the one seen last nor one that this shelf had since, which
 * a feed written meanwhile would show.
 */
export function stockLeft(
  db: Db,
  { stockOf }: Pick<World, 'stockOf'>,
  distid: string,
  sku: string,
): number | null {
  const listed = stockOf(distid, sku)
  const row = db
    .prepare('SELECT qty, listed, past FROM stock WHERE distid = ? AND sku = ?')
    .get(distid, sku) as StockRow | undefined
  if (!row) {
    if (listed !== null)
      db.prepare(
        "INSERT INTO stock (distid, sku, qty, listed, past, written) VALUES (?, ?, ?, ?, '[]', ?)",
      ).run(distid, sku, listed, listed, listed)
    return listed
  }
  if (listed === null || listed === row.listed) return row.qty
  if (listed === row.qty || (JSON.parse(row.past) as number[]).includes(listed)) {
    db.prepare('UPDATE stock SET listed = ? WHERE distid = ? AND sku = ?').run(listed, distid, sku)
    return row.qty
  }
  db.prepare(
    "UPDATE stock SET qty = ?, listed = ?, past = '[]', written = ? WHERE distid = ? AND sku = ?",
  ).run(listed, listed, listed, distid, sku)
  return listed
}

/** Takes units off the shelf. */
export function takeStock(db: Db, distid: string, sku: string, qty: number): void {
  const { qty: before, past } = db
    .prepare('SELECT qty, listed, past FROM stock WHERE distid = ? AND sku = ?')
    .get(distid, sku) as StockRow
  const remembered = [...(JSON.parse(past) as number[]), before].slice(-REMEMBERED)
  db.prepare('UPDATE stock SET qty = ?, past = ? WHERE distid = ? AND sku = ?').run(
    before - qty,
    JSON.stringify(remembered),
    distid,
    sku,
  )
}
