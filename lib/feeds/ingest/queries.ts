/** What taking a feed in asks of catalog.db, and writes there. */
import type { Raw, Statement } from '../../db/sqlite/sqlite.js'
import type { CatalogDb } from '../../catalog/queries.js'
import type { Counts } from './counts.js'

/** In the order of `StoredOffer`. */
const STORED = `id, fragment, wording, price, map, msrp, shipping, qty, ffl_req, drop_ship, held,
  kind, gtin, lent`
/** In the order of `Tick`. */
const SET_TICK = `price = ?, map = ?, msrp = ?, shipping = ?, qty = ?, ffl_req = ?, drop_ship = ?,
  held = ?, kind = ?`

/** The statements that write offers. */
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
        short_description, description, attributes, restricted_states)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
    states: sql('SELECT restricted_states FROM fragment WHERE id = ?').pluck(),
    retire: sql('UPDATE fragment SET retired_at = ? WHERE id = ?'),
    sweep: sql('DELETE FROM fragment WHERE retired_at < ?'),
    own: sql('SELECT price, kind FROM own_price WHERE subscriber_id = ? AND offer = ?').raw(),
    setOwn: sql(`INSERT INTO own_price (subscriber_id, offer, price, kind) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET price = excluded.price, kind = excluded.kind`),
    dropOneOwn: sql('DELETE FROM own_price WHERE subscriber_id = ? AND offer = ?'),
    dropOwn: sql('DELETE FROM own_price WHERE offer = ?'),
  }
}

export interface Tally {
  offers: number
  priced: number
  stocked: number
}

/** What was last taken from a source. */
export interface TakenFeed {
  asOf: number
  /** 1: its last line ended in a newline. */
  endsInNewline: number
  /** Its `Shape` as JSON. */
  shape: string
  lines: Buffer
}

/** Names a new state of the catalog, `20261121T130501Z-17`, and says when its texts changed. */
export function writeState(catalog: Raw, revision: number, reworded: boolean, now: number): string {
  const version = `${new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z-${revision}`
  catalog
    .prepare('UPDATE state SET revision = ?, text_revision = iif(?, ?, text_revision), version = ?')
    .run(revision, reworded ? 1 : 0, revision, version)
  return version
}

export function readTally(catalog: Raw, distid: string): Tally {
  return (
    (catalog.prepare('SELECT offers, priced, stocked FROM tally WHERE distid = ?').get(distid) as
      | Tally
      | undefined) ?? { offers: 0, priced: 0, stocked: 0 }
  )
}

export function addToTally(
  catalog: Raw,
  distid: string,
  { offers, priced, stocked }: Counts,
): void {
  catalog
    .prepare(`INSERT INTO tally (distid, offers, priced, stocked) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET offers = offers + excluded.offers,
        priced = priced + excluded.priced, stocked = stocked + excluded.stocked`)
    .run(distid, offers, priced, stocked)
}

export function readTaken(catalog: Raw, source: string): TakenFeed | undefined {
  return catalog
    .prepare(`SELECT as_of AS asOf, ends_in_newline AS endsInNewline, shape, lines FROM feed
      WHERE source = ?`)
    .get(source) as TakenFeed | undefined
}

/** A feed as its row records it. */
export interface FeedRecord extends TakenFeed {
  source: string
  distid: string
  subscriberId: string | null
  preset: string
  kind: string
  takenAt: number
  /** '' where the same bytes must be read again. */
  digest: string
  rows: number
  rejected: number
  offers: number
}

/** Records a feed that was taken, with its rejected rows. A refusal before it is settled. */
export function recordTaken(
  catalog: Raw,
  feed: FeedRecord,
  rejects: readonly { line: number; reason: string; text: string }[],
): void {
  catalog
    .prepare(`INSERT OR REPLACE INTO feed (source, distid, subscriber_id, preset, kind, as_of,
        taken_at, digest, rows, rejected, offers, ends_in_newline, shape, lines)
      VALUES (@source, @distid, @subscriberId, @preset, @kind, @asOf, @takenAt, @digest, @rows,
        @rejected, @offers, @endsInNewline, @shape, @lines)`)
    .run(feed)
  catalog.prepare('DELETE FROM refusal WHERE source = ?').run(feed.source)
  catalog.prepare('DELETE FROM rejected_row WHERE source = ?').run(feed.source)
  const insert = catalog.prepare(
    'INSERT OR IGNORE INTO rejected_row (source, line, reason, text) VALUES (?, ?, ?, ?)',
  )
  for (const { line, reason, text } of rejects) insert.run(feed.source, line, reason, text)
}

/** The digest of the file that was last taken from a source, without its million lines. */
export function readDigest(catalog: CatalogDb, source: string): string | undefined {
  return catalog.prepare('SELECT digest FROM feed WHERE source = ?').pluck().get(source) as
    | string
    | undefined
}

export interface OtherFeed {
  source: string
  kind: string
  subscriberId: string | null
  asOf: number
}

/** What is known of a distributor's feeds but one. */
export function otherFeeds(catalog: Raw, distid: string, source: string): OtherFeed[] {
  return catalog
    .prepare(`SELECT source, kind, subscriber_id AS subscriberId, as_of AS asOf FROM feed
      WHERE distid = ? AND source <> ?`)
    .all(distid, source) as OtherFeed[]
}

/** Has a feed's file read again, with these of its lines known. */
export function reopenLines(catalog: Raw, source: string, lines: Buffer): void {
  catalog.prepare("UPDATE feed SET lines = ?, digest = '' WHERE source = ?").run(lines, source)
}

/** Has a feed's file read again. */
export function reopenFeed(catalog: Raw, source: string): void {
  catalog.prepare("UPDATE feed SET digest = '' WHERE source = ?").run(source)
}

/** Offers that have a price of a subscriber's own. */
export function ownPriced(catalog: Raw, subscriberId: string): IterableIterator<number> {
  return catalog
    .prepare('SELECT offer FROM own_price WHERE subscriber_id = ?')
    .pluck()
    .iterate(subscriberId) as IterableIterator<number>
}

/** What the last file of a source brought. */
export function readCounts(
  catalog: Raw,
  source: string,
): { rows: number; rejected: number; offers: number } {
  return catalog
    .prepare('SELECT rows, rejected, offers FROM feed WHERE source = ?')
    .get(source) as ReturnType<typeof readCounts>
}

/** Notes that a source brought the same file again. A refusal before it is settled. */
export function noteSame(
  catalog: Raw,
  { source, asOf, now }: { source: string; asOf: number; now: number },
): void {
  catalog
    .transaction(() => {
      catalog
        .prepare('UPDATE feed SET as_of = max(as_of, ?), taken_at = ? WHERE source = ?')
        .run(asOf, now, source)
      catalog.prepare('DELETE FROM refusal WHERE source = ?').run(source)
    })
    .immediate()
}

/** A file that the guard refused. */
export interface Refusal {
  source: string
  /** When, in ms. */
  at: number
  reasons: readonly string[]
  file: string
  asOf: number
  digest: string
}

export function recordRefusal(catalog: Raw, refusal: Refusal): void {
  catalog
    .prepare(`INSERT OR REPLACE INTO refusal (source, at, reasons, file, as_of, digest)
      VALUES (@source, @at, @reasons, @file, @asOf, @digest)`)
    .run({ ...refusal, reasons: JSON.stringify(refusal.reasons) })
}

/** The digest of a refused file of a source; undefined for any other file or edition. */
export function refusedDigest(
  catalog: Raw,
  { source, file, asOf }: Pick<Refusal, 'source' | 'file' | 'asOf'>,
): string | null | undefined {
  return catalog
    .prepare('SELECT digest FROM refusal WHERE source = ? AND file = ? AND as_of = ?')
    .pluck()
    .get(source, file, asOf) as string | null | undefined
}
