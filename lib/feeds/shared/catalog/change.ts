/** What changed since the last publication, out of one catalog.db and into another. */
import { createHash } from 'node:crypto'
import type { Raw } from '../../../db/sqlite/sqlite.js'
import { KnownLines, LinesBuilder } from '../../read/known-lines.js'
import { inPages, turned } from '../pages.js'
import type { Page, Value } from '../pages.js'
import {
  OF_SOURCE,
  changedOffers,
  changedOwnPrices,
  changedSources,
  columnsOf,
  digestOf,
  goneRows,
  highestFragment,
  linesOf,
  newFragments,
  newOffers,
  offerBits,
  raiseFragments,
  retiredFragments,
  rowsOf,
  rowsOfSource,
  setDigest,
  setLines,
  writersOf,
} from './queries.js'

type Write = (page: Page) => void

/**
 * Writes what was noted as pages, in the order in which they are applied: what is gone first. Inside
 * the caller's transaction, in which nothing is added meanwhile.
 */
export function writeChange(raw: Raw, { after }: { after: number }, write: Write): void {
  writeGone(raw, write)
  writeFragments(raw, after, write)
  writeOffers(raw, write)
  const own = columnsOf(raw, 'own_price')
  put('own_price', own, changedOwnPrices(raw, own), write)
  writeSources(raw, write)
  writeWhole(raw, write)
}

function writeGone(raw: Raw, write: Write): void {
  const keys = { offer: ['id'], fragment: ['id'], own_price: ['subscriber_id', 'offer'] } as const
  for (const table of ['offer', 'fragment', 'own_price'] as const)
    inPages(goneRows[table](raw), (rows) =>
      write({ table, act: 'drop', columns: keys[table], lists: turned(rows, keys[table].length) }),
    )
}

function writeFragments(raw: Raw, after: number, write: Write): void {
  const columns = columnsOf(raw, 'fragment')
  put('fragment', columns, newFragments(raw, columns, after), write)
  inPages(retiredFragments(raw, after), (rows) =>
    write({ table: 'fragment', act: 'set', columns: ['retired_at'], lists: turned(rows, 2) }),
  )
}

function writeOffers(raw: Raw, write: Write): void {
  const columns = columnsOf(raw, 'offer')
  put('offer', columns, newOffers(raw, columns), write)
  const bits = offerBits(raw)
  const names = [...bits.keys()]
  inPages(changedOffers(raw, names), (rows) => {
    const changed = names.map((name, i) =>
      rows.filter((row) => hasBit(row[1], bits.get(name)!)).map((row) => row[i + 2]!),
    )
    // Of the columns that nobody changed there is nothing to say.
    const told = names.filter((_, i) => changed[i]!.length > 0)
    write({
      table: 'offer',
      act: 'tick',
      columns: told,
      lists: [...turned(rows, 2), ...changed.filter((list) => list.length > 0)],
    })
  })
}

const hasBit = (mask: Value | undefined, bit: number) => ((mask as number) & bit) !== 0

function writeSources(raw: Raw, write: Write): void {
  for (const table of OF_SOURCE) {
    const columns = columnsOf(raw, table).filter((name) => name !== 'lines')
    for (const source of changedSources(raw, table)) {
      const rows = [...rowsOfSource(raw, table, columns, source)]
      if (table === 'rejected_row' && isAsBefore(raw, table, source, JSON.stringify(rows), write))
        continue
      write({
        table,
        act: rows.length > 0 && table === 'feed' ? 'keep' : 'drop',
        columns: ['source'],
        lists: [[source]],
      })
      put(table, columns, rows.values(), write)
    }
  }
  for (const source of changedSources(raw, 'lines')) {
    const lines = linesOf(raw, source)
    if (lines === undefined) continue
    const { named, dropped } = namedIn(lines)
    if (isAsBefore(raw, 'lines', source, `${named.join()} ${dropped.join()}`, write)) continue
    write({ table: 'feed', act: 'lines', columns: ['source'], lists: [[source], named, dropped] })
  }
}

/** Whether every node has it so; if not, what tells so next time is written. */
function isAsBefore(raw: Raw, name: string, source: string, text: string, write: Write): boolean {
  const digest = createHash('sha256').update(text).digest('hex')
  if (digestOf(raw, name, source) === digest) return true
  setDigest(raw, name, source, digest)
  write({ table: '', act: 'digest', columns: [], lists: [[name], [source], [digest]] })
  return false
}

function writeWhole(raw: Raw, write: Write): void {
  for (const table of ['tally', 'state'] as const) {
    const columns = columnsOf(raw, table)
    if (table === 'tally') write({ table, act: 'drop', columns: [], lists: [[]] })
    put(table, columns, rowsOf(raw, table, columns), write)
  }
  write({ table: 'fragment', act: 'number', columns: [], lists: [[highestFragment(raw)]] })
}

function put(
  table: string,
  columns: readonly string[],
  rows: Iterable<Value[]>,
  write: Write,
): void {
  inPages(rows, (page) =>
    write({ table, act: 'put', columns, lists: turned(page, columns.length) }),
  )
}

/** Writes what a page says. Throws a RangeError for one that says what there is not. */
export function openApplying(raw: Raw): (page: Page) => void {
  const to = writersOf(raw)
  const bits = offerBits(raw)
  return ({ table, act, columns, lists }) => {
    if (act === 'put') each(lists, (row) => to.put(table, columns).run(...row))
    else if (act === 'drop' && columns.length === 0) to.drop(table, []).run()
    else if (act === 'drop') each(lists, (row) => to.drop(table, columns).run(...row))
    else if (act === 'set') each(lists, ([id, ...row]) => to.set(table, columns).run(...row, id))
    else if (act === 'tick') applyTick({ columns, lists }, bits, to)
    else if (act === 'lines') applyLines(raw, lists)
    else if (act === 'digest') each(lists, (row) => setDigest(raw, ...(row as Digest)))
    else if (act === 'number') raiseFragments(raw, lists[0]![0] as number)
    else if (act !== 'keep') throw new RangeError(`nobody can ${act} ${table}`)
  }
}

type Digest = [name: string, source: string, digest: string]

function each(lists: Page['lists'], write: (row: Value[]) => void): void {
  const count = lists[0]?.length ?? 0
  for (let at = 0; at < count; at++) write(lists.map((list) => list[at] ?? null))
}

/** Of each offer only the columns that its mask names; the lists of these are the shorter. */
function applyTick(
  { columns, lists }: Pick<Page, 'columns' | 'lists'>,
  bits: ReadonlyMap<string, number>,
  to: ReturnType<typeof writersOf>,
): void {
  const [ids, masks, ...values] = lists as [number[], number[], ...Value[][]]
  const known = columns.map((name) => bits.get(name) ?? 0)
  const next = values.map(() => 0)
  const statements = new Map<number, { run: (...values: Value[]) => unknown; places: number[] }>()
  ids.forEach((id, at) => {
    const mask = masks[at]!
    let statement = statements.get(mask)
    if (!statement) {
      const places = known.flatMap((bit, place) => ((mask & bit) !== 0 ? [place] : []))
      const set = to.set(
        'offer',
        places.map((place) => columns[place]!),
      )
      statements.set(mask, (statement = { places, run: (...all) => set.run(...all) }))
    }
    statement.run(...statement.places.map((place) => values[place]![next[place]!++] ?? null), id)
  })
}

/**
 * The lines of a feed as a node has them that never read it: each offer that they named, as a line
 * that must be read again.
 */
function applyLines(raw: Raw, [sources, named, dropped]: Page['lists']): void {
  const [source] = sources as string[]
  setLines(raw, source!, linesFor(named as number[], dropped as number[]))
}

export function linesFor(named: readonly number[], dropped: readonly number[]): Buffer {
  const lines = new LinesBuilder(named.length + dropped.length)
  for (const offer of named) lines.add(0, 0, offer)
  for (const offer of dropped) lines.drop(offer)
  return lines.blob()
}

/** The offers of a feed's lines, and those that it dropped, in their order. */
export function namedIn(blob: Buffer): { named: number[]; dropped: number[] } {
  const lines = new KnownLines(blob)
  const [named, dropped]: [number[], number[]] = [[], []]
  lines.offers.forEach((offer, at) => {
    if (offer !== 0) (lines.isDropped(at) ? dropped : named).push(offer)
  })
  const inOrder = (a: number, b: number) => a - b
  return { named: named.sort(inOrder), dropped: dropped.sort(inOrder) }
}
