/**
 * The export in a bucket of a real S3 server: what a shop downloads, and what becomes of it while
 * the server is away.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Client } from 'minio'
import { HOUR, MINUTE, SECOND } from '../../lib/core/clock.js'
import { s3Store } from '../../lib/objects/s3.js'
import type { S3Store } from '../../lib/objects/s3.js'
import { OFFERS, PLAIN, buildsIn, linesIn, rowsIn } from './shop.js'
import { inFrontOf, nobody } from '../objects/s3-fakes.js'
import { startS3Server, whyNoS3Server } from '../objects/s3-server.js'
import type { S3Server } from '../objects/s3-server.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'

const skip = whyNoS3Server() ?? false
if (skip !== false) console.error(skip)

let s3: S3Server
before(async () => {
  if (skip !== false) return
  s3 = await startS3Server()
  const { hostname, port } = new URL(s3.endpoint)
  await new Client({
    endPoint: hostname,
    port: Number(port),
    useSSL: false,
    region: s3.region,
    ...s3.owner,
    pathStyle: true,
  }).makeBucket('exports')
})
after(() => s3?.stop())

let prefixes = 0
const storeAt = (endpoint: string, prefix = `shop-${++prefixes}`) =>
  s3Store({
    endpoint,
    bucket: 'exports',
    region: s3.region,
    ...s3.owner,
    pathStyle: true,
    prefix,
    now: Date.now,
  })

async function shopOver(objects: S3Store): Promise<TestApp> {
  const t = await createTestApp({ objects })
  await t.stock(OFFERS)
  await t.configure(PLAIN)
  return t
}

const download = async (url: string, init?: RequestInit) => {
  const response = await fetch(url, init)
  return { status: response.status, bytes: new Uint8Array(await response.arrayBuffer()) }
}

describe('an export in a bucket', { skip }, () => {
  test('is read by its URL alone, whole and in parts; a URL that was changed or moved is refused', async () => {
    await using t = await shopOver(storeAt(s3.endpoint))
    const { body } = await t.json('/v1/products/catalog?include_attributes=true&expires_in=60')
    const { url, attributes_feed: feed } = body.data
    const { bytes } = await download(url)
    assert.deepEqual(
      (await rowsIn(bytes)).map(({ stockid }) => stockid),
      ['B-2', 'A-1'],
    )
    assert.deepEqual(linesIn((await download(feed.url)).bytes), [
      ['860001234510', 'LIP', 'Color', 'Blue'],
      ['860001234503', 'RSR', 'Caliber', '5.56'],
    ])
    const part = await download(url, { headers: { range: 'bytes=0-3' } })
    assert.deepEqual([part.status, Buffer.from(part.bytes).toString()], [206, 'PAR1'])
    const moved = new URL(feed.url)
    moved.pathname = new URL(url).pathname
    const tampered = new URL(url)
    tampered.searchParams.set('X-Amz-Expires', '3600')
    for (const wrong of [moved, tampered]) assert.equal((await download(String(wrong))).status, 403)
  })

  test('an old version goes an hour after its URL expired, the one of now stays', async () => {
    const store = storeAt(s3.endpoint)
    await using t = await shopOver(store)
    const first = (await t.shop.products.catalog({ expires_in: 60 })).url!
    await t.stock([{ ...OFFERS[2]!, price: 3_333 }])
    t.clock.advance(20 * MINUTE)
    const second = (await t.shop.products.catalog({ expires_in: 60 })).url!
    const keys = async () => (await store.list('exports/')).map(({ key }) => key)
    assert.equal((await keys()).length, 2)
    t.clock.advance(HOUR + MINUTE + SECOND)
    await t.app.jobs.run('exports')
    assert.deepEqual(
      (await keys()).map((key) =>
        [first, second].findIndex((url) => new URL(url).pathname.endsWith(key)),
      ),
      [1],
    )
  })

  test('while the server is away the answer is 503; what was stored is there again afterwards', async () => {
    let isAway = false
    const door = await inFrontOf(s3.endpoint, {
      meanwhile: (_request, response) => isAway && response.destroy() !== undefined,
    })
    try {
      await using t = await shopOver(storeAt(door.endpoint))
      t.expectErrors(/the object store cannot be asked for an export: S3 .* cannot be reached/)
      const { url, export_version: version } = (await t.json('/v1/products/catalog')).body.data
      t.clock.advance(20 * MINUTE)
      isAway = true
      for (let n = 0; n < 2; n++) {
        const { status, headers, body } = await t.json('/v1/products/catalog')
        assert.deepEqual(
          [status, body.error.code, Number(headers.get('retry-after')) > 0],
          [503, 'feed_unavailable', true],
        )
      }
      assert.equal((await t.json('/v1/products/search')).status, 200)
      isAway = false
      t.clock.advance(MINUTE)
      const { status, body } = await t.json('/v1/products/catalog')
      assert.deepEqual(
        [status, body.data.export_version, new URL(body.data.url).pathname],
        [200, version, new URL(url).pathname],
      )
    } finally {
      await door.close()
    }
  })

  test('a server that nobody reaches, from the first call on: 503, and nothing is left in the folder', async () => {
    await using t = await shopOver(storeAt(await nobody()))
    t.expectErrors(/an export could not be built: S3 .* cannot be reached/)
    const { status, body } = await t.json('/v1/products/catalog')
    assert.deepEqual([status, body.error.code, buildsIn(t.app.dir)], [503, 'feed_unavailable', []])
  })
})
