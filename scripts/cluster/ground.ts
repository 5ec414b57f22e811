/** What nodes stand on: a PostgreSQL, a bucket, a warehouse, and a shop that is set up. */
import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'minio'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { s3Store } from '../../lib/objects/s3.js'
import { startServer } from '../../test/harness/postgres.js'
import type { TestServer } from '../../test/harness/postgres.js'
import { startProxy } from '../../test/harness/tcp-proxy.js'
import type { TcpProxy } from '../../test/harness/tcp-proxy.js'
import { ACME, acmeFeed } from '../../test/feeds/bench.js'
import { startS3Server } from '../../test/objects/s3-server.js'
import { UPC, orderShop } from '../../test/orders/shop.js'
import type { OrderShop } from '../../test/orders/shop.js'
import { WAREHOUSES, openWarehouse, warehousesAt } from './warehouse.js'
import type { Warehouse } from './warehouse.js'
import type { NodeLife } from './node.js'
import { bundleNode } from './program.js'
import type { NodeBuild } from './program.js'

export interface Ground {
  readonly root: string
  readonly server: TestServer
  /** The text of the database file. */
  readonly database: string
  readonly warehouse: Warehouse
  /** Stands between the nodes and the store. */
  readonly store: TcpProxy
  /** The file that the feed is pulled from. */
  readonly feed: string
  /** What came of each pull. */
  readonly pulls: string[]
  /** Looks at the database, and leads nothing. */
  readonly shop: OrderShop
  readonly life: Omit<NodeLife, 'dir'>
  /** The program of a node. */
  readonly program: string
  /** A key that has used none of its quota. */
  newKey(): Promise<string>
  close(): Promise<void>
}

const BUCKET = 'cluster'

/** Each node has up to 21 connections, and those that were cut linger. */
export const ROOM = ['max_connections=300']

export interface GroundOptions extends NodeBuild {
  /** What becomes of a send. */
  random: () => number
}

export async function openGround({ random, ...build }: GroundOptions): Promise<Ground> {
  const { root } = build
  const server = await startServer()
  await server.crash()
  await server.start(ROOM)
  const s3 = await startS3Server()
  const { hostname, port } = new URL(s3.endpoint)
  const client = { endPoint: hostname, port: Number(port), useSSL: false, region: s3.region }
  await new Client({ ...client, ...s3.owner, pathStyle: true }).makeBucket(BUCKET)
  const store = await startProxy(Number(port))
  const warehouse = await openWarehouse(random)
  const database = await server.database()
  const life = {
    database,
    secretKey: randomBytes(32).toString('hex'),
    objects: {
      endpoint: `http://127.0.0.1:${store.port}`,
      bucket: BUCKET,
      region: s3.region,
      ...s3.owner,
      pathStyle: true,
    },
    warehouse: warehouse.url,
  }
  const distributors = warehousesAt(warehouse.url).map((distributor) => ({ distributor }))
  const shop = await orderShop(distributors as never, {
    database,
    secretKey: life.secretKey,
    objects: s3Store({ ...life.objects, now: Date.now }),
    worker: false,
  })
  shop.clock.ms = Date.now()
  const feed = join(root, 'feed.csv')
  writeFileSync(feed, acmeFeed(1))
  await shop.app.operator.feeds.set({ distid: ACME.distid, location: feed })
  let keys = 0
  return {
    root,
    server,
    database,
    warehouse,
    store,
    feed,
    pulls: [],
    shop,
    life,
    program: await bundleNode(build),
    newKey: async () =>
      (
        await shop.app.operator.keys.create({
          subscriber: shop.subscriber,
          name: `key ${++keys}`,
          tier: 'enterprise',
          ips: ['127.0.0.1'],
        })
      ).key,
    async close() {
      await shop.close()
      await warehouse.close()
      await store.close()
      await s3.stop()
      await server.close()
    },
  }
}

/** A node's folder, with the catalog of the shop. */
export function makeFolder({ root, shop }: Ground, name: string): string {
  const dir = mkdtempSync(join(root, `${name}-`))
  for (const end of ['', '-wal']) {
    const file = `${filesIn(shop.app.dir).catalog}${end}`
    if (existsSync(file)) cpSync(file, `${filesIn(dir).catalog}${end}`)
  }
  return dir
}

/** An order of one accessory. */
export const orderOf = (id: string, distid: string, customer: object) => ({
  order_id: id,
  customer,
  items: [{ distid, distsku: 'A1', upc: UPC, qty: 1 }],
})

export const DISTIDS = WAREHOUSES.map(({ distid }) => distid)
