/**
 * One feed while it is taken in, inside the catalog's write transaction: which rows are new, and
 * what they add up to.
 */
import { HOUR } from '../../core/clock.js'
import { mappedColumns } from '../../distributors/generic/columns.js'
import { MAPPING_VERSION } from '../../distributors/generic/generic.js'
import type { CatalogRow, StockRow } from '../../distributors/generic/rows.js'
import type { ChangeLog } from './change-log.js'
import { judge, watchedShares } from './guard.js'
import type { Evidence, WatchedShare } from './guard.js'
import { seedOf } from './feed.js'
import type { FeedInput, FeedResult, Handles } from './feed.js'
import { readState } from '../../catalog/queries.js'
import { lend } from '../../catalog/snapshot/lending.js'
import { FeedLines } from './feed-lines.js'
import { OfferSet } from '../read/known-lines.js'
import type { LineFacts } from '../read/known-lines.js'
import type { Batch, BrokenLine } from '../read/lines.js'
import { HELD, PRICE, QTY } from './offer-row.js'
import type { StoredOffer } from './offer-row.js'
import { OfferWriter } from './offer-writer.js'
import type { TakeOptions } from './offer-writer.js'
import { brokenLine } from '../read/rows.js'
import type { Reading, RowSink } from '../read/rows.js'
import { movedShape, shapeOf } from './feed-shape.js'
import type { Shape } from './feed-shape.js'
import { OtherFeeds, countOwnPrices } from './other-feeds.js'
import { addToTally, readTaken, readTally, recordTaken, writeState } from './queries.js'

/** Rejected rows that are kept for the operator. */
const KEPT_REJECTS = 1_000
const SHOWN_REJECTS = 20
/** Old wording stays for the snapshots that still name it. */
const FRAGMENT_LIFE = HOUR

export class FeedImport implements RowSink {
  readonly #input: FeedInput & Handles
  readonly #distid: string
  readonly #seed: string
  readonly #lines: FeedLines
  readonly #others: OtherFeeds
  readonly #writer: OfferWriter
  readonly #revision: number
  /** Of the catalog before. */
  readonly #version: string
  readonly #newerStock: (id: number) => boolean
  readonly #newerCatalog: (id: number) => boolean
  readonly #newerPrice: (id: number) => boolean
  readonly #endedInNewline: boolean
  readonly #shapeBefore: Shape | null
  readonly #before: Pick<Evidence, 'previousAsOf' | 'priced' | 'stocked'>
  /** Offers that a row of this file has named. */
  readonly #claimed = new OfferSet()
  readonly #rejects: BrokenLine[] = []
  /** The mapped columns of the file. */
  #columns: string[] = []
  #rows = 0
  #rejected = 0
  #unmatched = 0

  constructor(input: FeedInput & Handles, seed: string, changes: ChangeLog) {
    const { catalog, source, preset, subscriberId, now, asOf } = input
    const distid = input.distid ?? preset.distid
    const previous = readTaken(catalog, source)
    this.#input = input
    this.#distid = distid
    this.#seed = seed
    this.#endedInNewline = previous?.endsInNewline === 1
    this.#shapeBefore = previous?.shape ? (JSON.parse(previous.shape) as Shape) : null
    this.#lines = new FeedLines(previous?.lines ?? null)
    this.#others = new OtherFeeds(catalog, distid, source, subscriberId)
    const operators = subscriberId === null && preset.kind === 'catalog'
    this.#newerStock = this.#others.newer('quantity', asOf, preset.kind, operators)
    this.#newerCatalog = this.#others.newer('catalog', asOf, preset.kind, operators)
    this.#newerPrice = this.#others.newerPrice(asOf)
    const state = readState(catalog)
    this.#revision = state.revision + 1
    this.#version = state.version
    this.#writer = new OfferWriter({
      catalog,
      changes,
      distid,
      subscriberId,
      revision: this.#revision,
      now,
      asOf,
    })
    const tally = readTally(catalog, distid)
    this.#before = {
      previousAsOf: previous?.asOf ?? null,
      priced:
        subscriberId === null
          ? tally.priced
          : countOwnPrices(catalog, subscriberId, this.#lines.before.offerSet()),
      stocked: tally.stocked,
    }
  }

  begin(header: readonly string[] | null): void {
    this.#columns = header ? mappedColumns(this.#input.preset, header) : []
    this.#lines.begin(seedOf([this.#seed, header]))
  }

  known(batch: Batch, index: number): number {
    return this.#lines.find(batch, index)
  }

  unchanged(batch: Batch, index: number, offer: number): void {
    if (this.#claim(batch, index, offer)) this.#keep(index, offer, this.#lines.factsOf(index))
  }

  row(batch: Batch, index: number, row: CatalogRow | StockRow): void {
    const existing = this.#writer.find(row.stockid, this.#lines.guess(index))
    if (existing && !this.#claim(batch, index, existing[0])) return
    if ('name' in row) {
      const options = existing ? this.#optionsFor(row, existing) : {}
      const id = this.#writer.take(row, existing, options)
      this.#claimed.add(id)
      this.#keep(existing && this.#isPutOff(row, existing, options) ? null : index, id, {
        mark: row.mark,
        price: row.price ?? 0,
        qty: row.qty,
      })
    } else if (existing) {
      const putOff =
        existing[QTY] !== (existing[HELD] === 1 ? 0 : row.qty) &&
        (this.#newerCatalog(existing[0]) || this.#newerStock(existing[0]))
      if (!putOff && this.#maySetQty(existing[0]))
        this.#writer.setQty(row.stockid, existing, row.qty)
      this.#keep(putOff ? null : index, existing[0], { mark: 0, price: 0, qty: row.qty })
    } else {
      this.#rows++
      this.#unmatched++
    }
  }

  #optionsFor(row: CatalogRow, existing: StoredOffer): TakeOptions {
    const [id] = existing
    const holders = this.#others.holders(id)
    const operators = this.#input.subscriberId === null
    const keepPrice = this.#newerPrice(id)
    if (!operators && holders.operator) return { keepPrice, ownOnly: true }
    const older = this.#newerCatalog(id)
    return {
      keepPrice,
      older,
      keepQty: existing[QTY] !== row.qty && (older || (!row.held && this.#newerStock(id))),
      // A price list that cannot tell a pistol from a holster must not undo what the full catalog
      // says of the item.
      narrow: !row.classified && (operators ? holders.operator : holders.anyone),
    }
  }

  /** Whether something of the row was left out that counts as soon as this file is the newest. */
  #isPutOff(
    row: CatalogRow,
    existing: StoredOffer,
    { keepQty, keepPrice, older }: TakeOptions,
  ): boolean {
    return (
      keepQty === true ||
      (older === true && row.held !== (existing[HELD] === 1)) ||
      (keepPrice === true && (this.#input.subscriberId !== null || row.price !== existing[PRICE]))
    )
  }

  /** A subscriber's own stock feed does not count for what an operator's catalog feed holds. */
  #maySetQty(offer: number): boolean {
    return this.#input.subscriberId === null || !this.#others.holders(offer).operator
  }

  joined(): void {
    this.#rows++
  }

  rejected(fault: BrokenLine): void {
    this.#rows++
    this.#rejected++
    if (this.#rejects.length < KEPT_REJECTS) this.#rejects.push(fault)
  }

  progress(bytesRead: number, bytesTotal: number): void {
    this.#input.onProgress?.(bytesRead, bytesTotal, this.#rows)
  }

  /** False for an offer that an earlier row has named: the first one counts. */
  #claim(batch: Batch, index: number, offer: number): boolean {
    if (this.#claimed.add(offer)) return true
    this.rejected(
      brokenLine(batch, index, 'duplicate key: an earlier row has the same item number'),
    )
    return false
  }

  #keep(index: number | null, offer: number, facts: LineFacts): void {
    this.#rows++
    this.#lines.keep(index, offer, facts)
  }

  /**
   * After the last row: what is gone, the verdict, and the books. The caller commits what is taken
   * and undoes the rest.
   */
  finish(reading: Reading): FeedResult {
    if (reading.reasons.length > 0) return this.#result(reading.reasons)
    const shape = this.#shape()
    const evidence: Evidence = {
      ...this.#before,
      ...this.#dropMissing(),
      rows: this.#rows,
      rejected: this.#rejected,
      usable: this.#rows - this.#rejected,
      claimed: this.#claimed.size,
      cutOff: reading.cutOff,
      newlineLost: this.#endedInNewline && !reading.endsInNewline,
      asOf: this.#input.asOf,
      priceMoves: this.#writer.counts.priceMoves,
      emptied: 0,
      upcs: this.#shapeBefore?.filled['upc'] ?? 0,
      upcsLost: this.#writer.counts.upcsLost,
      moved: this.#shapeBefore ? movedShape(this.#shapeBefore, shape, this.#input.preset) : [],
    }
    evidence.emptied = this.#writer.counts.emptied
    const reasons = judge(evidence, this.#input.force ?? false)
    if (reasons.length === 0) this.#keepBooks(reading, shape)
    return this.#result(reasons, watchedShares(evidence))
  }

  /** Before what the file no longer names is written down beside its lines. */
  #shape(): Shape {
    const { preset } = this.#input
    return shapeOf(this.#lines.facts(), preset, seedOf([MAPPING_VERSION, preset]), this.#columns)
  }

  /**
   * Offers that the last feed named and this one does not are gone; of a stock feed, out of stock.
   */
  #dropMissing(): { named: number; lost: number } {
    const missing: number[] = []
    let named = 0
    /** Offers that were missing before. */
    const dropped: number[] = []
    this.#lines.before.offers.forEach((offer, at) => {
      if (offer === 0) return
      const before = this.#lines.before.isDropped(at)
      if (!before) named++
      if (!this.#claimed.has(offer)) (before ? dropped : missing).push(offer)
    })
    const isCatalog = this.#input.preset.kind === 'catalog'
    // A file that says nothing at all is refused whatever it lacks; the work of removing everything
    // would be for nothing.
    if (this.#claimed.size > 0) {
      for (const offer of missing) {
        if (isCatalog) this.#writer.remove(offer, this.#others.holders(offer))
        else this.#empty(offer)
      }
      for (const offer of dropped) this.#empty(offer)
    }
    return { named, lost: missing.length }
  }

  /**
   * The stock feed goes on knowing the offer, so that an older catalog file does not bring its
   * stock back.
   */
  #empty(offer: number): void {
    const isOlder = this.#newerCatalog(offer) || this.#newerStock(offer)
    this.#lines.drop(offer, isOlder)
    if (!isOlder && this.#maySetQty(offer)) this.#writer.empty(offer)
  }

  #keepBooks({ digest, endsInNewline }: Reading, shape: Shape): void {
    const { catalog, source, preset, subscriberId, asOf, now } = this.#input
    const { counts, touched } = this.#writer
    this.#others.reopen(preset.kind, touched, counts.added)
    addToTally(catalog, this.#distid, counts)
    if (lend(catalog, touched.keys, { revision: this.#revision, now })) counts.reworded = true
    if (counts.added + counts.changed + counts.removed > 0)
      writeState(catalog, this.#revision, counts.reworded, now)
    this.#writer.sweep(now - FRAGMENT_LIFE)
    recordTaken(
      catalog,
      {
        source,
        distid: this.#distid,
        subscriberId,
        preset: preset.id,
        kind: preset.kind,
        asOf,
        takenAt: now,
        digest: this.#lines.isPending ? '' : digest!,
        rows: this.#rows,
        rejected: this.#rejected,
        offers: this.#claimed.size,
        endsInNewline: endsInNewline ? 1 : 0,
        shape: JSON.stringify(shape),
        lines: this.#lines.blob(),
      },
      this.#rejects,
    )
  }

  #result(reasons: string[], watched: WatchedShare[] = []): FeedResult {
    const { counts } = this.#writer
    const { catalog, source, dryRun } = this.#input
    const rejects = this.#rejects.sort((a, b) => a.line - b.line).slice(0, SHOWN_REJECTS)
    return {
      source,
      distid: this.#distid,
      outcome: reasons.length > 0 ? 'refused' : 'taken',
      reasons,
      rows: this.#rows,
      offers: this.#claimed.size,
      rejected: this.#rejected,
      rejects,
      added: counts.added,
      changed: counts.changed,
      removed: counts.removed,
      price_changes: counts.price_changes,
      stock_changes: counts.stock_changes,
      unmatched: this.#unmatched,
      watched,
      version: dryRun ? this.#version : readState(catalog).version,
    }
  }
}
