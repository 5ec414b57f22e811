/** Puts offers straight into catalog.db, as a feed that was taken would: for tests and generated catalogs. */
import type { Raw } from '../db/sqlite.js'
import type { FeedOffer } from './feed-offer.js'

/** Adds or replaces offers by (distid, stockid) in one transaction and raises the revision. */
export function writeOffers(raw: Raw, offers: Iterable<FeedOffer & { distid: string }>, now: number): void {
  const fragment = raw.prepare(`INSERT INTO fragment (distid, stockid, distsku, upc, name, mfg_name, mpn, product_class, item_cat, category_id,
    category_name, images, product_url, short_description, description, attributes) VALUES (${Array(16).fill('?').join(', ')})`)
  const retire = raw.prepare('UPDATE fragment SET retired_at = ? WHERE id = (SELECT fragment FROM offer WHERE distid = ? AND stockid = ?)')
  const offer = raw.prepare(`INSERT INTO offer (distid, stockid, fragment, price, map, msrp, shipping, qty, ffl_req, drop_ship, revision, first_seen)
    VALUES (${Array(12).fill('?').join(', ')}) ON CONFLICT (distid, stockid) DO UPDATE SET fragment = excluded.fragment, price = excluded.price,
    map = excluded.map, msrp = excluded.msrp, shipping = excluded.shipping, qty = excluded.qty, ffl_req = excluded.ffl_req,
    drop_ship = excluded.drop_ship, revision = excluded.revision`)
  raw.transaction(() => {
    const revision = raw.prepare('UPDATE state SET revision = revision + 1, text_revision = revision + 1 RETURNING revision').pluck().get() as number
    raw.prepare('UPDATE state SET version = ?').run(`${new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')}-${revision}`)
    for (const o of offers) {
      retire.run(now, o.distid, o.stockid)
      const { lastInsertRowid } = fragment.run(o.distid, o.stockid, o.distsku, o.upc, o.name, o.mfgName, o.mpn, o.productClass, o.itemCat, o.categoryId,
        o.categoryName, JSON.stringify(o.images.map((src) => ({ src }))), o.productUrl, o.shortDescription, o.description,
        Object.keys(o.attributes).length > 0 ? JSON.stringify(o.attributes) : null)
      offer.run(o.distid, o.stockid, lastInsertRowid, o.price, o.map, o.msrp, o.shipping, o.qty, Number(o.fflReq), Number(o.dropShip), revision, now)
    }
  }).immediate()
}
