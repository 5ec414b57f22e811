/**
 * The texts of one distributor's offers as Parquet, in the order of (distid, stockid). They are the
 * same for every subscriber and change only with the distributor's catalog, so the file is kept and
 * joined by every build.
 */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { quoted } from '../core/text.js'
import { PRODUCT_CLASSES } from '../distributors/product-classes.js'
import type { Raw } from '../db/sqlite/sqlite.js'
import { textLines } from '../catalog/queries.js'
import { keep } from './text-files.js'

/**
 * Columns of the texts and their types in the file. `fragment` says which text it is; the rest are
 * members of a product.
 */
export const TEXTS = {
  fragment: 'INTEGER',
  distid: 'VARCHAR',
  distsku: 'VARCHAR',
  stockid: 'VARCHAR',
  upc: 'VARCHAR',
  name: 'VARCHAR',
  mfg_name: 'VARCHAR',
  mpn: 'VARCHAR',
  product_class: 'VARCHAR',
  item_cat: 'VARCHAR',
  item_gb_cat: 'INTEGER',
  item_gb_cat_name: 'VARCHAR',
  images: 'STRUCT(src VARCHAR)[]',
  product_url: 'VARCHAR',
  short_description: 'VARCHAR',
  description: 'VARCHAR',
  product_class_description: 'VARCHAR',
} as const

/** Where a column's value comes from, if not from the fragment's column of its name. */
const SOURCES: Partial<Record<keyof typeof TEXTS, string>> = {
  fragment: 'id',
  item_gb_cat: 'category_id',
  item_gb_cat_name: 'category_name',
  images: 'json(images)',
  product_class_description: `CASE product_class ${Object.entries(PRODUCT_CLASSES)
    .map(([code, text]) => `WHEN '${code}' THEN '${text}'`)
    .join(' ')} END`,
}

/** A smaller group leaves nothing to compress, a larger one takes more memory. */
export const ROW_GROUP = 16_384
export const PARQUET = `(FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE ${ROW_GROUP})`
/** Characters that are written at a time. */
const BLOCK = 1 << 20

/** Writes the texts of these fragments, in this order, to `path`: whole, or not at all. */
export async function makeTexts(
  catalog: Raw,
  duck: DuckDBConnection,
  { fragments, path, work }: { fragments: Int32Array; path: string; work: string },
): Promise<void> {
  const lines = join(work, 'texts.json')
  const members = Object.keys(TEXTS).map((name) => [
    name,
    SOURCES[name as keyof typeof TEXTS] ?? name,
  ])
  // One text a row is many times as fast as a value at a time, on both sides.
  writeLines(lines, fragments, textLines(catalog, Object.fromEntries(members)))
  const draft = join(work, 'texts.parquet')
  const columns = Object.entries(TEXTS)
    .map(([name, type]) => `${name}: ${quoted(type)}`)
    .join(', ')
  await duck.run(
    `COPY (SELECT * FROM read_json(${quoted(lines)}, format = 'newline_delimited', ` +
      `columns = {${columns}})) TO ${quoted(draft)} ${PARQUET}`,
  )
  rmSync(lines)
  keep(draft, path)
}

/**
 * Writes a line for each fragment. Throws where one is gone: a newer feed has replaced it long ago.
 */
export function writeLines(
  path: string,
  fragments: Int32Array,
  lineOf: (fragment: number) => string | undefined,
): void {
  const file = openSync(path, 'w', 0o600)
  try {
    let block = ''
    for (const fragment of fragments) {
      const line = lineOf(fragment)
      if (line === undefined) throw new Error(`the text ${fragment} is no longer in the catalog`)
      block += `${line}\n`
      if (block.length < BLOCK) continue
      writeSync(file, block)
      block = ''
    }
    writeSync(file, block)
  } finally {
    closeSync(file)
  }
}
