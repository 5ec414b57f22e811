// catalog.mjs: keeps a copy of the catalog in SQLite. npm install hyparquet better-sqlite3
import { createWriteStream, readFileSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'

const { BASE = 'http://127.0.0.1:8080/v1', KEY, DB = 'shop.db' } = process.env
const SLICE = 16_384

const db = new Database(DB)
db.exec(`
  CREATE TABLE IF NOT EXISTS offer (
    distid TEXT, stockid TEXT, distsku TEXT, upc TEXT, name TEXT, mfg_name TEXT, product_class TEXT, ffl_req INTEGER,
    unit_price REAL, shipping_cost REAL, map_price REAL, retail_price REAL, qty_on_hand INTEGER, drop_ship_flg INTEGER,
    images TEXT, description TEXT, load INTEGER, PRIMARY KEY (distid, stockid));
  CREATE TABLE IF NOT EXISTS attribute (upc TEXT, distid TEXT, name TEXT, value TEXT);
  CREATE INDEX IF NOT EXISTS attribute_upc ON attribute (upc);
  CREATE TABLE IF NOT EXISTS catalog (export_version TEXT, load INTEGER)`)

const before = db.prepare('SELECT export_version, load FROM catalog').get() ?? { export_version: '', load: 0 }
const data = await descriptor(before.export_version)
if (!data?.changed) {
  console.log(data ? 'nothing has changed' : 'too early')
} else {
  await download(data.url, 'catalog.parquet')
  await download(data.attributes_feed.url, 'attributes.csv.gz')
  await load(data, before.load + 1)
}

/** The export's descriptor; null when the last call is less than 20 minutes ago. */
async function descriptor(last) {
  const query = new URLSearchParams({ include_attributes: 'true', last_version: last })
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`${BASE}/products/catalog?${query}`, { headers: { 'x-api-key': KEY } })
    const answer = await response.json()
    if (response.ok) return answer.data
    if (answer.error.code === 'catalog_polled_too_early') return null
    if (![429, 500, 503].includes(response.status) || attempt === 5) throw new Error(`${answer.error.code}: ${answer.error.message}`)
    await wait(1000 * (Number(response.headers.get('retry-after')) || 2 ** attempt))
  }
}

/** Without the key: the URL is signed. */
async function download(url, file) {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`download: HTTP ${response.status}`)
  await pipeline(response.body, createWriteStream(file))
}

/** Upserts by (distid, stockid), deletes what is gone, and notes the version: all of it, or nothing. */
async function load({ export_version, rows }, number) {
  const columns = db.prepare('SELECT name FROM pragma_table_info(\'offer\')').pluck().all()
  const upsert = db.prepare(`INSERT INTO offer (${columns}) VALUES (${columns.map((name) => `@${name}`)})
    ON CONFLICT (distid, stockid) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`)}`)
  const file = await asyncBufferFromFile('catalog.parquet')
  db.exec('BEGIN IMMEDIATE')
  try {
    let count = 0
    while (count < rows) {
      const offers = await parquetReadObjects({ file, rowStart: count, rowEnd: Math.min(count + SLICE, rows) })
      if (offers.length === 0) throw new Error(`the file has ${count} rows, not ${rows}`)
      // retail_price is a column only where the configuration asks for retail prices.
      for (const offer of offers) upsert.run({ retail_price: null, ...offer, images: JSON.stringify(offer.images), load: number })
      count += offers.length
    }
    const { changes: gone } = db.prepare('DELETE FROM offer WHERE load <> ?').run(number)
    const attributes = loadAttributes('attributes.csv.gz')
    db.exec('DELETE FROM catalog')
    db.prepare('INSERT INTO catalog VALUES (?, ?)').run(export_version, number)
    db.exec('COMMIT')
    console.log(`${count} offers, ${gone} gone, ${attributes} attributes, version ${export_version}`)
  } catch (error) {
    db.exec('ROLLBACK')
    throw error
  }
}

/** Small enough to be read whole: a row for each attribute of each offer. */
function loadAttributes(file) {
  const insert = db.prepare('INSERT INTO attribute VALUES (?, ?, ?, ?)')
  db.exec('DELETE FROM attribute')
  const [, ...records] = parseCsv(gunzipSync(readFileSync(file)).toString())
  for (const [upc, distid, name, value] of records) insert.run(upc, distid, name, value)
  return records.length
}

/** RFC 4180: quotes are doubled within quotes, where commas and line ends are text. */
function parseCsv(text) {
  const records = [[]]
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    records.at(-1).push(quoted?.replaceAll('""', '"') ?? plain)
    if (end !== ',') records.push([])
    if (end === '') break
  }
  return records.filter((record) => record.length === 4)
}
