/**
 * A shop whose exports a test reads: as DuckDB reads them, and as a reader does that shares no code
 * with it.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import duckdb from '@duckdb/node-api'
import { parse } from 'csv-parse/sync'
import { parquetReadObjects } from 'hyparquet'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import type { ExportDescriptor } from '../../lib/exports/shapes.js'
import type { Log } from '../../lib/core/log.js'
import { memoryStore } from '../../lib/objects/memory.js'
import type { MemoryStore } from '../../lib/objects/memory.js'
import type { ObjectStore } from '../../lib/objects/store.js'
import { listen } from '../../server/index.js'
import type { Listening } from '../../server/index.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp, TestOffer, TestOptions } from '../../server/testing/index.js'

/**
 * A rifle, a sling without a UPC, a knife; the sling is out of stock, and hidden by the plain
 * configuration.
 */
export const OFFERS: readonly TestOffer[] = [
  {
    distid: 'RSR',
    stockid: 'A-1',
    upc: '860001234503',
    name: 'Rifle',
    mfgName: 'Ridgeline',
    mpn: 'RL',
    productClass: 'FA',
    itemCat: '05',
    categoryId: 3024,
    categoryName: 'Semi Auto Rifles',
    price: 81_250,
    map: 94_999,
    qty: 3,
    fflReq: true,
    attributes: { Caliber: '5.56' },
  },
  {
    distid: 'LIP',
    stockid: 'B-1',
    name: 'Sling',
    price: 1_005,
    qty: 0,
    dropShip: false,
    attributes: { Color: 'Red' },
  },
  {
    distid: 'LIP',
    stockid: 'B-2',
    upc: '860001234510',
    name: 'Knife',
    productClass: 'KN',
    price: 2_999,
    qty: 7,
    attributes: { Color: 'Blue' },
  },
]
export const PLAIN = {
  distributors: { 'RSR Group': { distid: 'RSR' }, Lipseys: { distid: 'LIP' } },
}

export type Query = {
  last_version?: string
  expires_in?: number
  include_attributes?: boolean
  ignore_restrictions?: boolean
}

export interface ExportShop extends TestApp {
  store: MemoryStore
  /** Errors that were logged. */
  errors: string[]
  /** Calls as the library's subscriber, who has no key and no interval. */
  ask(query?: Query): Promise<ExportDescriptor>
  /** The rows of an export's file. */
  rowsOf(descriptor: ExportDescriptor): Promise<Row[]>
}

/**
 * An app with these offers and a plain configuration. `wrap` stands between the app and the store
 * in memory.
 */
export async function exportShop({
  wrap = (store) => store,
  offers = OFFERS,
  ...options
}: TestOptions & {
  wrap?: (store: MemoryStore) => ObjectStore
  offers?: readonly TestOffer[]
} = {}): Promise<ExportShop> {
  let now = () => 0
  const store = memoryStore({ now: () => now() })
  const errors: string[] = []
  const nothing = () => {}
  const log: Log = {
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: ({ err }: { err?: unknown }) => errors.push(String(err)),
  }
  const t = await createTestApp({ objects: wrap(store), log, ...options })
  now = () => t.clock.ms
  await t.stock(offers)
  await t.configure(PLAIN)
  return {
    ...t,
    store,
    errors,
    ask: (query = {}) => t.app.as(t.subscriber).products.catalog(query),
    rowsOf: (descriptor) => rowsIn(bytesAt(store, descriptor.url!)),
  }
}

/** A shop with the same offers, served over a socket out of the store on disk. */
export async function servedShop(): Promise<{
  t: TestApp
  server: Listening
  stop(): Promise<void>
}> {
  const t = await createTestApp()
  await t.stock(OFFERS)
  await t.configure(PLAIN)
  const server = await listen(t.server, { port: 0, host: '127.0.0.1' })
  t.app.listensAt(server.url)
  return {
    t,
    server,
    async stop() {
      await server.close()
      await t.close()
    },
  }
}

/** The key of the object that a URL of the store in memory names. */
export const keyAt = (url: string) => /^memory:([^?]+)/.exec(url)![1]!

export function bytesAt(store: MemoryStore, url: string): Uint8Array {
  return store.objects.get(keyAt(url))!.bytes
}

/** Names in the folder of builds: `texts` alone when none is under way and none left anything. */
export function buildsIn(dir: string): string[] {
  return readdirSync(join(dir, 'exports')).filter((name) => name !== 'texts')
}

// A row is what the tests look into.
// oxlint-disable-next-line no-explicit-any
export type Row = Record<string, any>

let instance: Promise<duckdb.DuckDBInstance> | undefined

/** What DuckDB answers about a file; FILE stands for it. */
export async function query(
  bytes: Uint8Array,
  sql: string,
): Promise<{ names: string[]; types: string[]; rows: Row[] }> {
  const dir = mkdtempSync(join(tmpdir(), 'qm-export-'))
  const connection = await (
    await (instance ??= duckdb.DuckDBInstance.create(':memory:', { threads: '1' }))
  ).connect()
  try {
    const path = join(dir, 'file.parquet')
    writeFileSync(path, bytes)
    const reader = await connection.runAndReadAll(sql.replace('FILE', `'${path}'`))
    return {
      names: reader.columnNames(),
      types: reader.columnTypes().map(String),
      rows: reader.getRowObjectsJson() as Row[],
    }
  } finally {
    connection.closeSync()
    rmSync(dir, { recursive: true })
  }
}

/** The rows of a file in their order, on which two readers agree. */
export async function rowsIn(bytes: Uint8Array): Promise<Row[]> {
  const { rows } = await query(bytes, 'SELECT * FROM FILE')
  const file = bytes.buffer.slice(
    bytes.byteOffset,
    bytes.byteOffset + bytes.byteLength,
  ) as ArrayBuffer
  const others = (await parquetReadObjects({ file })) as Row[]
  assert.deepEqual(
    others.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? null])),
    ),
    rows,
    'the two readers',
  )
  return rows
}

/** The lines of an attributes feed. */
export function linesIn(bytes: Uint8Array): string[][] {
  const lines = parse(gunzipSync(bytes)) as string[][]
  assert.deepEqual(lines.shift(), ['upc', 'distid', 'attribute_name', 'attribute_value'])
  return lines
}

/** Gives a subscriber prices of its own, cents by stockid, as its own feed would. */
export async function giveOwnPrices(
  { app }: TestApp,
  subscriberId: string,
  prices: Record<string, number>,
): Promise<void> {
  const catalog = openFile(filesIn(app.dir).catalog, { synchronous: 'NORMAL' })
  for (const [stockid, cents] of Object.entries(prices))
    catalog
      .prepare(
        'INSERT OR REPLACE INTO own_price (subscriber_id, offer, price) SELECT ?, id, ? FROM offer WHERE stockid = ?',
      )
      .run(subscriberId, cents, stockid)
  catalog.exec("UPDATE state SET revision = revision + 1, version = version || '+'")
  catalog.close()
  await app.ctx.catalog.refresh()
}

/** Another shop beside the first, with a plain configuration. */
export async function addShop(
  t: TestApp,
  name: string,
): Promise<{ id: string; ask(query?: Query): Promise<ExportDescriptor> }> {
  const { id } = await t.app.operator.subscribers.create({ name, email: 'other@shop.example' })
  const { document } = await t.app.ctx.configurations.of({
    id: t.app.findKey(t.key)!.subscriberId,
    name: '',
    email: '',
  })
  await t.save(name, document)
  for (const distributor of Object.keys(document.distributors))
    await t.app.operator.configurations.recordCheck(name, distributor, true)
  return { id, ask: (query = {}) => t.app.as(name).products.catalog(query) }
}
