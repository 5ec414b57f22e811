/** The bulk export: its descriptor, its file, its interval (contract "Catalog export", decisions 4.8-10). */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import duckdb from '@duckdb/node-api'
import { MINUTE, SECOND } from '../lib/core/clock.js'
import { memoryStore } from '../lib/objects/memory.js'
import type { MemoryStore } from '../lib/objects/memory.js'
import { createTestApp } from '../server/testing.js'
import type { TestApp, TestOffer, TestOptions } from '../server/testing.js'

const OFFERS: TestOffer[] = [
  { distid: 'RSR', stockid: 'A-1', upc: '860001234503', name: 'Ridgeline "15", 5.56\nFDE', mfgName: 'Ridgeline', mpn: 'RL', productClass: 'FA', itemCat: '05', categoryId: 3024, categoryName: 'Semi Auto Rifles', price: 81_250, map: 94_999, msrp: null, qty: 3, fflReq: true, dropShip: true, images: ['https://images.example/1.jpg', 'https://images.example/2.jpg'], productUrl: null, shortDescription: 'Rifle', description: 'Ünïcode ½ \u2028 text', attributes: { Caliber: '5.56', 'Finish, outer': 'F"DE"' } },
  { distid: 'LIP', stockid: 'B-1', name: 'Sling', productClass: 'AC', price: 1_005, qty: 0, fflReq: false, dropShip: false, attributes: { Color: 'Red' } },
  { distid: 'LIP', stockid: 'B-2', upc: '860001234510', name: 'Knife', productClass: 'KN', price: 2_999, qty: 7, attributes: { Color: 'Blue' } },
]

async function shop(options: TestOptions = {}): Promise<TestApp & { store: MemoryStore }> {
  let now = () => 0
  const store = memoryStore({ now: () => now() })
  const t = await createTestApp({ objects: store, ...options })
  now = () => t.clock.ms
  await t.stock(OFFERS)
  await t.configure({ distributors: { 'rsr-main': { distid: 'RSR' }, lipseys: { distid: 'LIP' } } })
  return { ...t, store }
}

/** What a DuckDB user gets. */
async function query(bytes: Uint8Array, sql: string): Promise<{ names: string[]; types: string[]; rows: unknown[][] }> {
  const dir = mkdtempSync(join(tmpdir(), 'qm-export-'))
  const instance = await duckdb.DuckDBInstance.create(':memory:')
  try {
    writeFileSync(join(dir, 'file.parquet'), bytes)
    const connection = await instance.connect()
    const reader = await connection.runAndReadAll(sql.replace('FILE', `'${join(dir, 'file.parquet')}'`))
    return { names: reader.columnNames(), types: reader.columnTypes().map(String), rows: reader.getRowsJson() }
  } finally {
    instance.closeSync()
    rmSync(dir, { recursive: true })
  }
}

const bytesOf = ({ store }: { store: MemoryStore }, url: string) => store.objects.get(/^memory:([^?]+)/.exec(url)![1]!)!.bytes

describe('the file', () => {
  test('has every visible offer, in the columns and types of the contract', async () => {
    await using t = await shop()
    const { status, body } = await t.json('/v1/products/catalog')
    assert.equal(status, 200)
    console.log(body)
    const { names, types, rows } = await query(bytesOf(t, body.data.url), 'SELECT * FROM FILE')
    console.log(names, types, rows)
    readFileSync; gunzipSync; SECOND; MINUTE
  })
})
