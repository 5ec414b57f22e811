/**
 * From the descriptor to the bytes, over a real socket and the store on disk (contract "Catalog
 * export", rule 3).
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { HOUR, SECOND } from '../../lib/core/clock.js'
import type { ExportDescriptor } from '../../lib/exports/shapes.js'
import type { Listening } from '../../server/index.js'
import type { Answer, TestApp } from '../../server/testing/index.js'
import { rowsIn, servedShop } from './shop.js'

describe('the URL of an export', () => {
  let t: TestApp
  let server: Listening
  let stop: () => Promise<void>
  let descriptor: ExportDescriptor
  before(async () => {
    ;({ t, server, stop } = await servedShop())
    descriptor = (await call('?include_attributes=true&expires_in=600')).body
      .data as ExportDescriptor
  })
  after(() => stop())
  const call = async (query = '') => {
    const response = await fetch(`${server.url}/v1/products/catalog${query}`, {
      headers: { 'x-api-key': t.key },
    })
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Answer,
    }
  }
  const refusalOf = async (url: string) => {
    const response = await fetch(url)
    return [response.status, ((await response.json()) as Answer).error.code]
  }

  test('is read by anybody, without a key', async () => {
    assert.ok(descriptor.url!.startsWith(`${server.url}/objects/exports/`), descriptor.url)
    const response = await fetch(descriptor.url!)
    assert.deepEqual(
      [
        response.status,
        response.headers.get('content-type'),
        response.headers.get('content-disposition'),
      ],
      [
        200,
        'application/vnd.apache.parquet',
        `attachment; filename="catalog-${descriptor.export_version}.parquet"; ` +
          `filename*=UTF-8''catalog-${descriptor.export_version}.parquet`,
      ],
    )
    assert.deepEqual(
      (await rowsIn(new Uint8Array(await response.arrayBuffer()))).map(
        ({ name, unit_price: price }) => [name, price],
      ),
      [
        ['Knife', 29.99],
        ['Rifle', 812.5],
      ],
    )
    const feed = await fetch(descriptor.attributes_feed!.url)
    assert.deepEqual(
      [feed.headers.get('content-type'), feed.headers.get('content-encoding')],
      ['application/gzip', null],
      'a file that is packed, not an answer that was',
    )
    assert.equal(
      gunzipSync(Buffer.from(await feed.arrayBuffer()))
        .toString()
        .split('\n')[1],
      '860001234510,LIP,Color,Blue',
    )
  })

  test('takes ranges and HEAD, as readers of Parquet ask', async () => {
    const whole = Buffer.from(await (await fetch(descriptor.url!)).arrayBuffer())
    const head = await fetch(descriptor.url!, { method: 'HEAD' })
    assert.deepEqual(
      [head.status, Number(head.headers.get('content-length')), head.headers.get('accept-ranges')],
      [200, whole.length, 'bytes'],
    )
    for (const [range, part] of [
      ['bytes=0-3', whole.subarray(0, 4)],
      ['bytes=-8', whole.subarray(-8)],
      ['bytes=100-', whole.subarray(100)],
    ] as const) {
      const response = await fetch(descriptor.url!, { headers: { range } })
      assert.equal(response.status, 206)
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), Buffer.from(part), range)
    }
    assert.deepEqual([String(whole.subarray(0, 4)), String(whole.subarray(-4))], ['PAR1', 'PAR1'])
  })

  test('is refused when it was changed, or moved to another file', async () => {
    const url = new URL(descriptor.url!)
    const changed = (change: (copy: URL) => void) => {
      const copy = new URL(url)
      change(copy)
      return copy.href
    }
    const feed = new URL(descriptor.attributes_feed!.url)
    for (const [what, href] of [
      [
        'later',
        changed((copy) =>
          copy.searchParams.set('expires', String(Number(url.searchParams.get('expires')) + 1)),
        ),
      ],
      [
        'another signature',
        changed((copy) => copy.searchParams.set('signature', feed.searchParams.get('signature')!)),
      ],
      [
        'another file',
        changed((copy) => {
          copy.pathname = feed.pathname
        }),
      ],
      ['another name', changed((copy) => copy.searchParams.set('name', 'a.parquet'))],
      [
        'nothing signed',
        changed((copy) => {
          copy.search = ''
        }),
      ],
    ])
      assert.deepEqual(await refusalOf(href!), [403, 'invalid_url'], what)
  })

  test('works until it expires, also when the key is cancelled meanwhile', async () => {
    await t.app.operator.keys.setStatus(t.keyId, 'cancelled')
    const { status, body } = await call()
    assert.deepEqual([status, body.error.code], [403, 'key_cancelled'])
    t.clock.advance(600 * SECOND - 1)
    assert.equal((await fetch(descriptor.url!, { method: 'HEAD' })).status, 200)
    t.clock.advance(1)
    for (const url of [descriptor.url!, descriptor.attributes_feed!.url])
      assert.deepEqual(await refusalOf(url), [403, 'invalid_url'])
  })

  test('leads to the same file for the next caller, and to nothing once the file is gone', async () => {
    const { key } = await t.app.operator.keys.create({
      subscriber: t.subscriber,
      name: 'next',
      tier: 'standard',
      ips: ['127.0.0.1'],
    })
    const ask = async () => {
      t.clock.advance(HOUR)
      return (
        await fetch(`${server.url}/v1/products/catalog?include_attributes=true`, {
          headers: { 'x-api-key': key },
        })
      ).json() as Promise<Answer>
    }
    const { data } = await ask()
    assert.deepEqual(
      [data.export_version, data.url.split('?')[0]],
      [descriptor.export_version, descriptor.url!.split('?')[0]],
    )
    await t.app.ctx.objects.remove(
      new URL(data.attributes_feed.url).pathname.slice('/objects/'.length),
    )
    assert.deepEqual(await refusalOf(data.attributes_feed.url), [404, 'not_found'])
    const again = (await ask()).data
    assert.notEqual(again.url.split('?')[0], data.url.split('?')[0], 'a lost file is made anew')
    assert.equal((await fetch(again.attributes_feed.url)).status, 200)
  })
})
