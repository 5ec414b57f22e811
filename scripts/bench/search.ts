/**
 * Search over generated offers: `npx tsx scripts/bench/search.ts [rows] [rounds]`. Prints how long
 * builds take, and p50 and p99 of 46 query shapes (each of them with SHAPES=1) for a restricted
 * subscriber, alone and query by query beside PostgreSQL, which holds a table materialized for this
 * very subscriber. Both answer with the exact total and the page; answers must agree.
 */
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Bits } from '../../lib/catalog/snapshot/bits.js'
import { buildSnapshot, buildTick } from '../../lib/catalog/snapshot/build.js'
import { facetsOf } from '../../lib/catalog/search/facets.js'
import { openSnapshot } from '../../lib/catalog/snapshot/open.js'
import { CLASS_CODES } from '../../lib/distributors/product-classes.js'
import { searchView } from '../../lib/catalog/search/search.js'
import type { SearchedView } from '../../lib/catalog/search/page.js'
import type { SearchQuery } from '../../lib/catalog/shapes.js'
import type { Snapshot } from '../../lib/catalog/snapshot/snapshot.js'
import { conditionsOf } from '../../lib/catalog/search/spellings.js'
import type { Condition } from '../../lib/catalog/search/spellings.js'
import { TermBuilder } from '../../lib/catalog/snapshot/terms.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import type { Raw } from '../../lib/db/sqlite/sqlite.js'
import { generateCatalog } from './offers.js'
import { startPostgres } from './postgres.js'
import type { Postgres } from './postgres.js'
import { queriesOf, samplesOf } from './queries.js'
import type { Sample } from './queries.js'
import { openSqlite } from '../../lib/db/sqlite/driver.js'

const rows = Number(process.argv[2] ?? 1_000_000)
const rounds = Number(process.argv[3] ?? 8)
/** Rounds before the clock counts, and rounds without the yardstick. */
const WARM = 5
const ALONE = 60

function timed<T>(what: string, run: () => T): T {
  const start = performance.now()
  const result = run()
  console.log(`${what}: ${(performance.now() - start).toFixed(1)} ms`)
  return result
}

/** Nine of twelve distributors, and not every brand: about 60 % of the offers. */
function restrictedView(snapshot: Snapshot): SearchedView {
  const visible = new Bits(snapshot.rows)
  for (let row = 0; row < snapshot.rows; row++) {
    if (
      snapshot.price[row]! >= 0 &&
      snapshot.distributor[row]! % 4 !== 3 &&
      snapshot.brand[row]! % 5 !== 1
    )
      visible.add(row)
  }
  return {
    snapshot,
    visible,
    total: visible.count(),
    prices: () => ({ column: snapshot.price, order: snapshot.byPrice }),
  }
}

function report(what: string, times: number[]): { p50: number; p99: number } {
  const sorted = [...times].sort((a, b) => a - b)
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
  console.log(
    `${what}: p50 ${at(0.5).toFixed(3)} ms, p99 ${at(0.99).toFixed(3)} ms, worst ` +
      `${at(1).toFixed(3)} ms of ${times.length}`,
  )
  return { p50: at(0.5), p99: at(0.99) }
}

function clock(view: SearchedView, query: SearchQuery): number {
  const start = performance.now()
  searchView(view, query)
  return performance.now() - start
}

function alone(view: SearchedView, samples: Sample[]): void {
  const times: number[] = []
  const byShape: number[][] = []
  for (let round = 0; round < WARM + ALONE; round++) {
    for (const [shape, query] of queriesOf(samples, round).entries()) {
      const ms = clock(view, query)
      if (round < WARM) continue
      times.push(ms)
      const some = (byShape[shape] ??= [])
      some.push(ms)
    }
  }
  report('search, alone', times)
  if (process.env['SHAPES'])
    byShape.forEach((some, shape) =>
      report(`  ${shape} ${JSON.stringify(queriesOf(samples, 1)[shape])}`, some),
    )
}

const COLUMNS =
  'row, tie, name, brand, sku, upc, price, qty, distid, class, category, in_stock, drop_ship, ffl, words'

/**
 * The subscriber's offers as a table with an index for each order and filter, and one over the
 * words.
 */
async function materialize(
  postgres: Postgres,
  raw: Raw,
  { snapshot, visible }: SearchedView,
): Promise<void> {
  const file = join(postgres.dir, 'visible.tsv')
  const out = createWriteStream(file)
  const fragment = raw
    .prepare('SELECT name, mfg_name, distsku, mpn, upc, category_name FROM fragment WHERE id = ?')
    .raw()
  const terms = new TermBuilder()
  for (let row = 0; row < snapshot.rows; row++) {
    if (!visible.has(row)) continue
    const [name, brand, sku, mpn, upc, category] = fragment.get(snapshot.fragment[row]) as string[]
    terms.addOffer([name!, brand!], [sku!, mpn!])
    const line = [
      row,
      snapshot.tieRank[row],
      name!.toLowerCase(),
      brand,
      sku!.toLowerCase(),
      upc ? Number(upc) : 0,
      snapshot.price[row],
      snapshot.qty[row],
      snapshot.distids[snapshot.distributor[row]!],
      CLASS_CODES[snapshot.productClass[row]!],
      category,
      snapshot.inStock.has(row),
      snapshot.dropShip.has(row),
      snapshot.fflReq.has(row),
      terms.lastWords().join(' '),
    ]
    if (!out.write(`${line.join('\t')}\n`)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'finish')
  await postgres.run(`CREATE UNLOGGED TABLE loaded (row int, tie int, name text, brand text,
    sku text, upc bigint, price int, qty int, distid text,
      class text, category text, in_stock boolean, drop_ship boolean, ffl boolean, words text);
    COPY loaded (${COLUMNS}) FROM '${file}';
    CREATE UNLOGGED TABLE visible AS SELECT ${COLUMNS.replace(', words', '')},
      array_to_tsvector(string_to_array(words, ' ')) AS words FROM loaded ORDER BY row;
    DROP TABLE loaded;`)
  const indexes = [
    'name, tie',
    'name DESC, tie',
    'price, tie',
    'price DESC, tie',
    'qty, tie',
    'qty DESC, tie',
    'brand',
    'category',
    'class',
    'distid',
    'upc',
    'sku',
  ]
  for (const index of indexes) await postgres.run(`CREATE INDEX ON visible (${index});`)
  await postgres.run(
    'CREATE INDEX ON visible USING gin (words) WITH (fastupdate = off);\nVACUUM ANALYZE visible;',
  )
}

/** The query as a count and a page. */
function toSql(query: SearchQuery): string {
  const where = conditions(query)
  const [column, direction] = query.sort.startsWith('-')
    ? [query.sort.slice(1), ' DESC']
    : [query.sort, '']
  const filter = where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''
  return `SELECT count(*) FROM visible ${filter};
    SELECT row FROM visible ${filter} ORDER BY ${column}${direction},
      tie LIMIT ${query.page_size} OFFSET ${(query.page - 1) * query.page_size};`
}

function conditions(query: SearchQuery): string[] {
  const text = (value: string) => `'${value.replaceAll("'", "''")}'`
  const where: string[] = []
  const upc = query.upc ?? (query.q && /^\d{8,14}$/.test(query.q) ? query.q : undefined)
  if (upc) where.push(`upc = ${Number(upc)}`)
  else if (query.q) where.push(`words @@ ${text(tsquery(query.q))}::tsquery`)
  if (query.sku) where.push(`sku = ${text(query.sku)}`)
  if (query.distributor) where.push(`distid = ${text(query.distributor)}`)
  if (query.manufacturer) where.push(`brand = ${text(query.manufacturer)}`)
  if (query.category) where.push(`category = ${text(query.category)}`)
  if (query.product_class) where.push(`class = ${text(query.product_class)}`)
  if (query.min_price !== undefined) where.push(`price >= ${Math.round(query.min_price * 100)}`)
  if (query.max_price !== undefined) where.push(`price <= ${Math.round(query.max_price * 100)}`)
  if (query.in_stock) where.push('in_stock')
  if (query.drop_ship_only) where.push('drop_ship')
  if (query.ffl_required !== undefined) where.push(query.ffl_required ? 'ffl' : 'NOT ffl')
  return where
}

function tsquery(q: string): string {
  const write = (condition: Condition): string => {
    if ('word' in condition) return `'${condition.word}'${condition.isWhole ? '' : ':*'}`
    return `(${'all' in condition ? condition.all.map(write).join(' & ') : condition.any.map(write).join(' | ')})`
  }
  return conditionsOf(q).map(write).join(' & ')
}

async function besidePostgres(raw: Raw, view: SearchedView, samples: Sample[]): Promise<void> {
  const postgres = await startPostgres()
  if (!postgres)
    return console.log('PostgreSQL is not installed (apt-get install postgresql): no yardstick')
  try {
    const start = performance.now()
    await materialize(postgres, raw, view)
    console.log(
      `PostgreSQL loaded and indexed: ${((performance.now() - start) / 1000).toFixed(1)} s`,
    )
    const ours: number[] = []
    const theirs: number[] = []
    for (let round = -1; round < rounds; round++) {
      for (const query of queriesOf(samples, 1000 + round)) {
        const { lines, ms } = await postgres.run(toSql(query))
        const taken = clock(view, query)
        const found = searchView(view, query)
        const same = lines.join() === [found.total, ...found.rows].join()
        if (!same)
          throw new Error(
            `answers differ for ${JSON.stringify(query)}: ${lines.slice(0, 5).join()} and ` +
              `${[found.total, ...found.rows].slice(0, 5).join()}`,
          )
        if (round < 0) continue
        ours.push(taken)
        theirs.push(ms)
      }
    }
    const a = report('search, beside', ours)
    const b = report('PostgreSQL    ', theirs)
    console.log(
      `ratio: p50 ${(a.p50 / b.p50).toFixed(4)} (goal 0.02), p99 ${(a.p99 / b.p99).toFixed(4)} (goal 0.005)`,
    )
  } finally {
    await postgres.close()
  }
}

/**
 * Facets without the memo, beside SELECT DISTINCT over a table of the visible offers with an index
 * per column: as it is, and after ANALYZE, which lets SQLite skip from value to value in an index
 * that holds nothing hidden.
 */
function facets(view: SearchedView, dir: string): void {
  const { snapshot } = view
  const raw = openSqlite(join(dir, 'facets.db'))
  raw.exec('CREATE TABLE visible (brand TEXT, category TEXT, class TEXT)')
  const insert = raw.prepare('INSERT INTO visible VALUES (?, ?, ?)')
  raw.transaction(() =>
    view.visible.forEach((row) => {
      insert.run(
        snapshot.brands[snapshot.brand[row]!],
        snapshot.categories[snapshot.category[row]!]!.name,
        CLASS_CODES[snapshot.productClass[row]!],
      )
    }),
  )()
  raw.exec(
    'CREATE INDEX a ON visible (brand); CREATE INDEX b ON visible (category); CREATE INDEX c ON visible (class)',
  )
  facetsBeside(raw, view, 'SQLite DISTINCT')
  raw.exec('ANALYZE')
  facetsBeside(raw, view, 'SQLite DISTINCT after ANALYZE')
  raw.close()
}

function facetsBeside(raw: Raw, view: SearchedView, name: string): void {
  const distinct = ['brand', 'category', 'class'].map((column) =>
    raw.prepare(`SELECT DISTINCT ${column} FROM visible ORDER BY ${column}`).pluck(),
  )
  const ours: number[] = []
  const theirs: number[] = []
  for (let round = 0; round < 30; round++) {
    const start = performance.now()
    const expected = distinct.map((statement) => statement.all())
    const middle = performance.now()
    const { manufacturers, categories, product_classes } = facetsOf({ ...view })
    ours.push(performance.now() - middle)
    theirs.push(middle - start)
    if (JSON.stringify(expected) !== JSON.stringify([manufacturers, categories, product_classes]))
      throw new Error('facets differ')
  }
  const ratio = report('facets', ours).p50 / report(name, theirs).p50
  console.log(`ratio: p50 ${ratio.toFixed(4)} (goal 0.02)`)
}

const dir = mkdtempSync(join(tmpdir(), 'bench-search-'))
try {
  const path = join(dir, 'catalog.db')
  timed(`generate ${rows} offers`, () => generateCatalog(path, rows))
  const raw = openFile(path, { synchronous: 'NORMAL', readonly: true })
  const parts = timed('build', () => buildSnapshot(raw))
  timed('tick', () => buildTick(raw, parts))
  console.log(
    `text ${(parts.text.buffer.byteLength / 1e6).toFixed(0)} MB, tick ` +
      `${(parts.tick.buffer.byteLength / 1e6).toFixed(0)} MB`,
  )
  const view = restrictedView(timed('open', () => openSnapshot(parts)))
  console.log(`visible: ${((view.total / rows) * 100).toFixed(0)} %`)
  const samples = samplesOf(raw)
  alone(view, samples)
  facets(view, dir)
  await besidePostgres(raw, view, samples)
  raw.close()
} finally {
  rmSync(dir, { recursive: true, force: true })
}
