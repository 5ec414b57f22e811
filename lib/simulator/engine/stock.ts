/**
 * What stands on the simulated shelves: begins with what the catalog shows, falls with every order.
 */
import type { Snapshot } from '../../catalog/snapshot/snapshot.js'
import { insertStock, noteListed, restock, setStock, stockOf } from './queries.js'
import type { Db } from './store.js'
import type { World } from './world.js'

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
  world: Pick<World, 'stockOf'>,
  distid: string,
  sku: string,
): number | null {
  const listed = world.stockOf(distid, sku)
  const row = stockOf(db, distid, sku)
  if (!row) {
    if (listed !== null) insertStock(db, distid, sku, listed)
    return listed
  }
  if (listed === null || listed === row.listed) return row.qty
  if (listed === row.qty || (JSON.parse(row.past) as number[]).includes(listed)) {
    noteListed(db, distid, sku, listed)
    return row.qty
  }
  restock(db, distid, sku, listed)
  return listed
}

/** Takes units off the shelf. */
export function takeStock(db: Db, distid: string, sku: string, qty: number): void {
  const shelf = stockOf(db, distid, sku)
  if (!shelf) throw new Error(`${distid} has no shelf for ${sku}`)
  const past = [...(JSON.parse(shelf.past) as number[]), shelf.qty].slice(-REMEMBERED)
  setStock(db, distid, sku, { qty: shelf.qty - qty, past: JSON.stringify(past) })
}
