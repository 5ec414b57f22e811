/** The statements that write offers into catalog.db. */
import type { Raw, Statement } from '../../db/sqlite.js'

/** In the order of `StoredOffer`. */
const STORED = `id, fragment, wording, price, map, msrp, shipping, qty, ffl_req, drop_ship, held,
  kind, gtin, lent`
/** In the order of `Tick`. */
const SET_TICK = `price = ?, map = ?, msrp = ?, shipping = ?, qty = ?, ffl_req = ?, drop_ship = ?,
  held = ?, kind = ?`

export function prepareOffers(raw: Raw) {
  const sql = (text: string): Statement => raw.prepare(text)
  return {
    find: sql(`SELECT ${STORED} FROM offer WHERE distid = ? AND stockid = ?`).raw(),
    byId: sql(`SELECT distid, stockid, ${STORED} FROM offer WHERE id = ?`).raw(),
    stockid: sql('SELECT stockid FROM offer WHERE id = ?').pluck(),
    insert: sql(`INSERT INTO offer (distid, stockid, fragment, wording, gtin, price, map, msrp,
        shipping, qty, ffl_req, drop_ship, held, kind, revision, first_seen)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
    update: sql(`UPDATE offer SET fragment = ?, wording = ?, gtin = ?,
        lent = NULL, lent_ffl = NULL, lent_key = NULL, ${SET_TICK}, revision = ?
      WHERE id = ?`),
    tick: sql(`UPDATE offer SET ${SET_TICK}, revision = ? WHERE id = ?`),
    qty: sql('UPDATE offer SET qty = ?, revision = ? WHERE id = ?'),
    touch: sql('UPDATE offer SET revision = ? WHERE id = ?'),
    drop: sql('DELETE FROM offer WHERE id = ?'),
    upc: sql('SELECT upc FROM fragment WHERE id = ?').pluck(),
    fragment: sql(`INSERT INTO fragment (distid, stockid, distsku, upc, name, mfg_name, mpn,
        product_class, item_cat, category_id, category_name, images, product_url,
        short_description, description, attributes)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
    retire: sql('UPDATE fragment SET retired_at = ? WHERE id = ?'),
    sweep: sql('DELETE FROM fragment WHERE retired_at < ?'),
    own: sql('SELECT price, kind FROM own_price WHERE subscriber_id = ? AND offer = ?').raw(),
    setOwn: sql(`INSERT INTO own_price (subscriber_id, offer, price, kind) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET price = excluded.price, kind = excluded.kind`),
    dropOneOwn: sql('DELETE FROM own_price WHERE subscriber_id = ? AND offer = ?'),
    dropOwn: sql('DELETE FROM own_price WHERE offer = ?'),
  }
}
