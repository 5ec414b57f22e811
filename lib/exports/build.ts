/**
 * Builds one export: texts and numbers joined by position, written by DuckDB, read back and
 * counted.
 */
import { readFileSync } from 'node:fs'
import type { DuckDBConnection } from '@duckdb/node-api'
import { quoted } from '../core/text.js'
import { mostMemory } from '../core/async/child-memory.js'
import { openFile } from '../db/sqlite/sqlite.js'
import type { Raw } from '../db/sqlite/sqlite.js'
import { makeAttributeTexts, writeAttributes } from './attributes.js'
import type { BuildJob, BuildResult } from './build-job.js'
import { COLUMNS, FLAGS, WIDE, columnsIn } from './number-columns.js'
import type { Numbers } from './number-columns.js'
import { stateOf } from './text-files.js'
import { PARQUET, TEXTS, makeTexts } from './texts.js'

/** Rows that DuckDB takes at a time. */
const CHUNK = 2_048

/** In the order of the contract; what is not a column of a text is computed. */
const OUTPUT: Readonly<Record<string, string>> = {
  distid: 't.distid',
  distsku: 't.distsku',
  stockid: 't.stockid',
  upc: 't.upc',
  name: 't.name',
  mfg_name: 't.mfg_name',
  mpn: 't.mpn',
  product_class: 't.product_class',
  item_cat: 't.item_cat',
  item_gb_cat: 't.item_gb_cat',
  item_gb_cat_name: 't.item_gb_cat_name',
  ffl_req: flag(FLAGS.fflReq),
  unit_price: dollars('n.unit_price'),
  shipping_cost: dollars('n.shipping_cost'),
  total_cost: dollars('(n.unit_price::BIGINT + n.shipping_cost)'),
  map_price: dollarsOrNull('n.map_price'),
  msrp: dollarsOrNull('n.msrp'),
  qty_on_hand: 'n.qty_on_hand',
  drop_ship_flg: flag(FLAGS.dropShip),
  images: 't.images',
  product_url: 't.product_url',
  short_description: 't.short_description',
  description: 't.description',
  product_class_description: 't.product_class_description',
}

function flag(bit: number): string {
  return `(CASE WHEN n.flags & ${bit} = 0 THEN 0 ELSE 1 END)::INTEGER`
}

/**
 * A hundredth of a whole number is rounded once, to the double that is nearest to what stands on
 * paper.
 */
function dollars(cents: string): string {
  return `${cents}::DOUBLE / 100`
}

function dollarsOrNull(cents: string): string {
  return `CASE WHEN ${cents} < 0 THEN NULL ELSE ${dollars(cents)} END`
}

/**
 * Builds what the job asks for. Throws where texts are gone, do not fit the numbers, or the disk is
 * full.
 */
export async function build(job: BuildJob): Promise<BuildResult> {
  const { default: duckdb } = await import('@duckdb/node-api')
  const columns = readNumbers(job)
  const catalog = openFile(job.catalog, { synchronous: 'NORMAL', readonly: true, patient: true })
  const instance = await duckdb.DuckDBInstance.create(':memory:', {
    threads: '1',
    memory_limit: `${job.memory}MB`,
    temp_directory: job.work,
    preserve_insertion_order: 'true',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  try {
    const duck = await instance.connect()
    const damaged = await makeMissing(job, columns, catalog, duck)
    await loadNumbers(duck, columns, job)
    await duck.run(`COPY (${joined(job)}) TO ${quoted(job.parquet)} ${PARQUET}`)
    const attributes =
      job.attributes === null
        ? 0
        : await writeAttributes({ ...job, path: job.attributes, flags: columns.flags })
    return { ...(await readBack(duck, job.parquet)), attributes, damaged, peak: mostMemory() }
  } finally {
    catalog.close()
    instance.closeSync()
  }
}

function readNumbers({ numbers, rows }: BuildJob): Numbers['columns'] {
  const bytes = readFileSync(numbers)
  // A small file may lie in the middle of a shared buffer, where no column may begin.
  return columnsIn(
    (bytes.byteOffset === 0
      ? bytes.buffer
      : bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)) as ArrayBuffer,
    rows,
  )
}

/** Makes texts that are not there, or not what was written. Returns how many files were damaged. */
async function makeMissing(
  { sections, attributes, work }: BuildJob,
  { fragment }: Numbers['columns'],
  catalog: Raw,
  duck: DuckDBConnection,
): Promise<number> {
  let damaged = 0
  const isWhole = (path: string) => {
    const state = stateOf(path)
    if (state === 'damaged') damaged++
    return state === 'whole'
  }
  for (const { from, rows, texts, attributes: path } of sections) {
    const fragments = fragment.subarray(from, from + rows)
    if (!isWhole(texts)) await makeTexts(catalog, duck, { fragments, path: texts, work })
    if (attributes !== null && !(isWhole(path) && isWhole(`${path}.ends`)))
      makeAttributeTexts(catalog, { fragments, path, work })
  }
  return damaged
}

async function loadNumbers(
  duck: DuckDBConnection,
  columns: Numbers['columns'],
  { rows, hasRetail }: BuildJob,
): Promise<void> {
  const { default: duckdb } = await import('@duckdb/node-api')
  const names = COLUMNS.filter((name) => name !== 'retail_price' || hasRetail)
  const types = names.map((name) =>
    (WIDE as readonly string[]).includes(name) ? duckdb.DOUBLE : duckdb.INTEGER,
  )
  await duck.run(
    `CREATE TABLE numbers (${names.map((name, place) => `${name} ${types[place]!}`).join(', ')})`,
  )
  const appender = await duck.createAppender('numbers')
  // One chunk for all: each would hold its memory until the next collection.
  const chunk = duckdb.DuckDBDataChunk.create(types)
  for (let from = 0; from < rows; from += CHUNK) {
    chunk.reset()
    chunk.rowCount = Math.min(CHUNK, rows - from)
    names.forEach((name, place) =>
      chunk.setColumnValues(
        place,
        columns[name].subarray(from, from + CHUNK) as unknown as number[],
      ),
    )
    appender.appendDataChunk(chunk)
  }
  appender.closeSync()
}

/**
 * Visible offers. Each text says which it is, so that no price can ever stand beside another
 * offer's name.
 */
function joined({ sections, hasRetail }: BuildJob): string {
  const texts =
    sections.length > 0
      ? `read_parquet([${sections.map((section) => quoted(section.texts)).join(', ')}])`
      : `(SELECT ${Object.entries(TEXTS)
          .map(([name, type]) => `NULL::${type} AS ${name}`)
          .join(', ')} WHERE false)`
  const output = { ...OUTPUT, ...(hasRetail && { retail_price: dollars('n.retail_price') }) }
  return `SELECT ${Object.entries(output)
    .map(([name, value]) => `${value} AS ${name}`)
    .join(', ')}
    FROM (SELECT * FROM ${texts}) t POSITIONAL JOIN numbers n
    WHERE n.flags & ${FLAGS.visible} = ${FLAGS.visible} AND CASE
      WHEN t.fragment = n.fragment THEN true
      ELSE error('texts and numbers are not of the same offers') END`
}

type ReadBack = Omit<BuildResult, 'attributes' | 'damaged' | 'peak'>

/** What the file really holds. */
async function readBack(duck: DuckDBConnection, path: string): Promise<ReadBack> {
  const cents = (column: string) => `coalesce(sum(round(${column} * 100)::BIGINT), 0)::DOUBLE`
  const reader = await duck.runAndReadAll(`
    SELECT distid, count(*)::DOUBLE, ${cents('unit_price')}, ${cents('total_cost')},
      sum(qty_on_hand)::DOUBLE FROM read_parquet(${quoted(path)}) GROUP BY distid
      ORDER BY distid`)
  const result: ReadBack = { rows: 0, unitPrice: 0, totalCost: 0, qty: 0, byDistributor: {} }
  for (const [distid, rows, unitPrice, totalCost, qty] of reader.getRows() as [
    string,
    number,
    number,
    number,
    number,
  ][]) {
    result.rows += rows
    result.unitPrice += unitPrice
    result.totalCost += totalCost
    result.qty += qty
    result.byDistributor[distid] = rows
  }
  return result
}
