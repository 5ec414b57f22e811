/**
 * The bulk export: its descriptor, its versions, its interval (contract "Catalog export").
 */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { HOUR, MINUTE, SECOND } from '../../lib/core/clock.js'
import type { ExportDescriptor } from '../../lib/exports/shapes.js'
import { isOnPostgres } from '../harness/record.js'
import { openForTest as open } from '../../server/testing/open.js'
import { createTestApp } from '../../server/testing/index.js'
import type { Answer } from '../../server/testing/index.js'
import { OFFERS, PLAIN, addShop, exportShop, keyAt } from './shop.js'
import type { ExportShop } from './shop.js'

const PATH = '/v1/products/catalog'
const INTERVAL = 20 * MINUTE

describe('the descriptor', () => {
  let t: ExportShop
  let known: ExportDescriptor
  before(async () => {
    t = await exportShop()
    known = await t.ask()
  })
  after(() => t.close())
  /** After the interval of the key. */
  const get = (query = '') => {
    t.clock.advance(INTERVAL)
    return t.json(PATH + query)
  }

  test('has every member of the contract', async () => {
    const { status, headers, body } = await get()
    const { url, ...members } = body.data as ExportDescriptor
    assert.deepEqual(
      { status, cache: headers.get('cache-control'), ...members },
      {
        status: 200,
        cache: 'no-store',
        version: t.app.ctx.catalog.current()!.version,
        export_version: known.export_version,
        changed: true,
        format: 'parquet',
        compression: 'snappy',
        rows: 2,
        restrictions_applied: true,
        custom_pricing_applied: false,
        retail_pricing_applied: false,
        expires_in_seconds: 1_800,
      },
    )
    assert.match(url!, /^memory:exports\/[0-9a-f]{32}\/catalog\.parquet\?/)
    const parameters = new URLSearchParams(url!.split('?')[1])
    assert.deepEqual(
      [Number(parameters.get('expires')), parameters.get('name')],
      [t.clock.ms / SECOND + 1_800, `catalog-${known.export_version}.parquet`],
    )
  })

  test('is the same through the library, the remote client and HTTP', async () => {
    t.clock.advance(INTERVAL)
    const throughLibrary = await t.shop.products.catalog({ expires_in: 60 })
    t.clock.advance(INTERVAL)
    const throughClient = await t.remote.products.catalog({ expires_in: 60 })
    const throughHttp = (await get('?expires_in=60')).body.data
    const plain = ({ url, ...members }: Answer) => ({ ...members, object: url.split('?')[0] })
    assert.deepEqual(plain(throughClient), plain(throughLibrary))
    assert.deepEqual(plain(throughHttp), plain(throughLibrary))
  })

  test('expires_in is 60 to 3,600 whole seconds', async () => {
    for (const seconds of [60, 3_600]) {
      const { status, body } = await get(`?expires_in=${seconds}`)
      assert.deepEqual([status, body.data.expires_in_seconds], [200, seconds])
      assert.equal(
        Number(new URLSearchParams(body.data.url.split('?')[1]).get('expires')),
        t.clock.ms / SECOND + seconds,
      )
    }
    for (const text of [
      '59',
      '3601',
      '0',
      '-60',
      '60.5',
      '1e1',
      'abc',
      '',
      'null',
      '60&expires_in=60',
    ]) {
      const { status, body } = await get(`?expires_in=${text}`)
      assert.deepEqual(
        [status, body.error.code, body.error.details[0].path],
        [400, 'invalid_parameter', 'expires_in'],
        text,
      )
    }
    for (const seconds of [59, 3_601, 60.5, '60', NaN, null])
      await assert.rejects(
        t.shop.products.catalog({ expires_in: seconds as number }),
        { code: 'invalid_parameter' },
        String(seconds),
      )
  })

  test('flags are true, false, 1 and 0', async () => {
    assert.equal(
      (
        await get(
          `?ignore_restrictions=0&include_attributes=false&last_version=${known.export_version}`,
        )
      ).body.data.changed,
      false,
    )
    for (const name of ['include_attributes', 'ignore_restrictions']) {
      const { status, body } = await get(`?${name}=yes`)
      assert.deepEqual([status, body.error.details[0].path], [400, name])
    }
  })

  test('with a last_version that is still right has neither url nor attributes_feed', async () => {
    const { changed, url, ...rest } = (await get(`?last_version=${known.export_version}`)).body.data
    assert.deepEqual(
      [
        changed,
        url,
        'attributes_feed' in rest,
        'url' in (await t.ask({ last_version: known.export_version })),
      ],
      [false, undefined, false, false],
    )
    const { url: _url, changed: _changed, ...members } = known
    assert.deepEqual(rest, members)
    for (const last of [
      '',
      'another',
      known.export_version.toLowerCase(),
      `${known.export_version}%20`,
    ]) {
      const { data } = (await get(`?last_version=${last}`)).body
      assert.deepEqual(
        [data.changed, typeof data.url, data.export_version],
        [true, 'string', known.export_version],
        last,
      )
    }
  })

  test('with attributes asked for names their feed and is another version', async () => {
    const { attributes_feed: feed, export_version: version } = await t.ask({
      include_attributes: true,
    })
    assert.equal(feed!.format, 'csv.gz')
    assert.match(
      feed!.url,
      new RegExp(
        `^memory:exports/[0-9a-f]{32}/attributes\\.csv\\.gz\\?expires=\\d+&name=attributes-${version}\\.csv\\.gz$`,
      ),
    )
    assert.notEqual(version, known.export_version)
    const unchanged = await t.ask({ include_attributes: true, last_version: version })
    assert.deepEqual([unchanged.changed, 'attributes_feed' in unchanged], [false, false])
    assert.equal(
      (await t.ask({ include_attributes: true, last_version: known.export_version })).changed,
      true,
    )
  })

  test('says whether prices were changed and retail prices made', async () => {
    const flags = async (parts: Parameters<ExportShop['configure']>[0]) => {
      await t.configure({ ...PLAIN, ...parts })
      const { restrictions_applied, custom_pricing_applied, retail_pricing_applied } = await t.ask()
      return [restrictions_applied, custom_pricing_applied, retail_pricing_applied]
    }
    assert.deepEqual(await flags({ pricing: { cost_adjustments: [{ dollar: 1 }] } }), [
      true,
      true,
      false,
    ])
    assert.deepEqual(
      await flags({
        pricing: {
          cost_adjustments: [{ brand: 'Nobody', dollar: 1 }],
          margin: { default: { margin_percentage: 0.2 } },
        },
      }),
      [true, false, true],
    )
    assert.deepEqual(
      await flags({
        pricing: { cost_adjustments: [{ dollar: 1 }], margin: { default: {} } },
        product_restrictions: { sku: { include: ['none'] } },
      }),
      [true, false, false],
      'no visible offer, no price',
    )
    assert.equal((await t.ask({ ignore_restrictions: true })).restrictions_applied, false)
    await t.configure(PLAIN)
  })
})

test('a last_version that is still right is answered without the store', async () => {
  let dead = false
  const refuse = async () => {
    throw new Error('the store was asked')
  }
  await using t = await exportShop({
    wrap: (store) =>
      new Proxy(store, { get: (of, name) => (dead ? refuse : of[name as keyof typeof of]) }),
  })
  t.expectErrors(/the object store cannot be asked for an export: the store was asked/)
  const { export_version: last } = await t.ask({ include_attributes: true })
  dead = true
  assert.equal(
    (await t.json(`${PATH}?include_attributes=true&last_version=${last}`)).body.data.changed,
    false,
  )
  assert.deepEqual(t.errors, [])
  assert.equal((await t.json(`${PATH}?last_version=${last}`)).status, 429)
  await assert.rejects(t.ask({ include_attributes: true }), { code: 'feed_unavailable' })
})

describe('export_version', () => {
  test('is another one after a snapshot, a save or a credential check, not after a pull without news', async () => {
    await using t = await exportShop()
    const offer = { distid: 'RSR', stockid: 'A-1' }
    const version = async () => (await t.ask()).export_version
    const seen = [await version()]
    const next = async (what: string, change: () => Promise<unknown>) => {
      await change()
      const now = await version()
      assert.ok(!seen.includes(now), what)
      seen.push(now)
    }
    await next('a price', () => t.stock([{ ...offer, price: 5 }]))
    await t.stock([{ ...offer, price: 5 }])
    assert.equal(await version(), seen.at(-1), 'the same feed again')
    await next('a name', () => t.stock([{ ...offer, price: 5, name: 'Renamed' }]))
    await next('a document', () =>
      t.configure({ ...PLAIN, product_restrictions: { purchase_limit: 5 } }),
    )
    await next('a failed check', () =>
      t.app.operator.configurations.recordCheck(t.subscriber, 'Lipseys', false),
    )
    await t.app.operator.configurations.recordCheck(t.subscriber, 'Lipseys', false)
    assert.equal(await version(), seen.at(-1), 'the same result again')
    await t.app.operator.configurations.recordCheck(t.subscriber, 'Lipseys', true)
    assert.equal(await version(), seen.at(-2), 'what was is what it was called')
    const other = await addShop(t, 'Other')
    assert.ok(!seen.includes((await other.ask()).export_version), 'another subscriber')
  })

  test('is the earlier one again when an earlier document comes back, and another for another secret', async () => {
    await using t = await exportShop()
    const version = async (secret: string, limit: number) => {
      const woo = { active: true, url: 'https://shop.example', 'consumer-secret': secret }
      await t.configure({
        ...PLAIN,
        targets: { woo },
        product_restrictions: { purchase_limit: limit },
      })
      return (await t.ask()).export_version
    }
    const first = await version('abc', 5)
    assert.equal(await version('abc', 5), first, 'saved again')
    const others = [await version('abc', 6), await version('abd', 5)]
    assert.equal(new Set([first, ...others]).size, 3)
    assert.equal(await version('abc', 5), first, 'the earlier one came back')
  })

  test('is another one for each pair of flags', async () => {
    await using t = await exportShop({ offers: [{ distid: 'RSR', stockid: 'A-1' }] })
    const all = [true, false].flatMap((ignore_restrictions) =>
      [true, false].map((include_attributes) => ({ ignore_restrictions, include_attributes })),
    )
    const answers: ExportDescriptor[] = []
    for (const query of all) answers.push(await t.ask(query))
    assert.equal(new Set(answers.map(({ export_version: version }) => version)).size, 4)
    assert.equal(
      new Set(answers.map(({ url }) => keyAt(url!))).size,
      2,
      'what is equal is one object nevertheless',
    )
  })
})

describe('the interval', () => {
  test('is 20 minutes from the last answered call of the key', async () => {
    await using t = await exportShop()
    const status = async (key = t.key) => (await t.json(PATH, { key })).status
    assert.equal(await status(), 200)
    t.clock.advance(INTERVAL - 1)
    const { status: refused, headers, body } = await t.json(PATH)
    assert.deepEqual(
      [refused, body.error.code, body.error.details, headers.get('retry-after')],
      [429, 'catalog_polled_too_early', { retry_after_seconds: 1 }, '1'],
    )
    t.clock.advance(1)
    assert.equal(await status(), 200, 'a refused call begins none')
    t.clock.advance(MINUTE + 1)
    const { error } = (await t.json(`${PATH}?last_version=x&ignore_restrictions=true`)).body
    assert.equal(error.details.retry_after_seconds, 19 * 60, 'whole seconds, never too early')

    const { key: second } = await t.app.operator.keys.create({
      subscriber: t.subscriber,
      name: 'second',
      tier: 'standard',
      ips: ['127.0.0.1'],
    })
    assert.deepEqual(
      [await status(second), await status(second), await status()],
      [200, 429, 429],
      'each key has its own',
    )
    await assert.rejects(
      t.shop.products.catalog(),
      { code: 'catalog_polled_too_early', details: { retry_after_seconds: 19 * 60 } },
      'through the library too',
    )
    for (let i = 0; i < 3; i++)
      assert.equal((await t.ask()).changed, true, 'who has no key has no interval')
  })

  test('is begun by an answer without url too, and survives a restart', async () => {
    await using t = await exportShop()
    const { export_version: last } = await t.ask()
    assert.equal((await t.json(`${PATH}?last_version=${last}`)).body.data.changed, false)
    await t.app.close()
    await using again = await open({
      dir: t.app.dir,
      worker: false,
      now: () => t.clock.ms,
      objects: t.store,
    })
    const shop = again.as({ key: t.key })
    await assert.rejects(shop.products.catalog(), { code: 'catalog_polled_too_early' })
    t.clock.advance(INTERVAL)
    assert.equal((await shop.products.catalog({ last_version: last })).export_version, last)
  })

  test('keeps nobody out for more than 20 minutes when the clock steps back', async () => {
    await using t = await exportShop()
    assert.equal((await t.json(PATH)).status, 200)
    t.clock.advance(-5 * HOUR)
    assert.equal((await t.json(PATH)).body.error.details.retry_after_seconds, 20 * 60)
    t.clock.advance(INTERVAL - 1)
    assert.equal((await t.json(PATH)).body.error.details.retry_after_seconds, 1)
    t.clock.advance(1)
    assert.equal((await t.json(PATH)).status, 200)
  })

  test('is not begun by a call that fails', async () => {
    let dead = true
    await using t = await exportShop({
      wrap: (store) => ({
        ...store,
        put: async (...args) => (dead ? Promise.reject(new Error('no')) : store.put(...args)),
      }),
    })
    t.expectErrors(/an export could not be built: no$/)
    assert.equal((await t.json(PATH)).status, 503)
    assert.equal((await t.json(`${PATH}?expires_in=1`)).status, 400)
    dead = false
    t.clock.advance(15 * SECOND)
    assert.equal((await t.json(PATH)).status, 200)
  })

  test('lets calls of one key wait for the same answer, which is built once', async () => {
    let puts = 0
    await using t = await exportShop({
      wrap: (store) => ({
        ...store,
        put: async (...args) => {
          puts++
          await store.put(...args)
        },
      }),
    })
    const answers = await Promise.all([
      t.json(PATH),
      t.remote.products.catalog(),
      t.shop.products.catalog(),
      t.json(PATH),
    ])
    const urls = answers.map((answer) => ('body' in answer ? answer.body.data.url : answer.url))
    assert.deepEqual([new Set(urls).size, puts], [1, 1])
    assert.equal((await t.json(PATH)).status, 429)
  })
})

describe('a refusal', () => {
  test('is 409 without an active distributor, and without a validated one', async () => {
    await using t = await exportShop()
    const code = async () => {
      const { status, body } = await t.json(PATH)
      return [status, body.error.code]
    }
    await t.configure({ distributors: { 'RSR Group': { distid: 'RSR', active: false } } })
    assert.deepEqual(await code(), [409, 'no_active_distributors'])
    await t.configure({ distributors: {} })
    assert.deepEqual(await code(), [409, 'no_active_distributors'])
    await t.configure(PLAIN)
    for (const name of Object.keys(PLAIN.distributors))
      await t.app.operator.configurations.recordCheck(t.subscriber, name, false)
    assert.deepEqual(await code(), [409, 'no_validated_distributors'])
  })

  test('is 503 before the first feed', async () => {
    await using t = await createTestApp()
    await t.configure(PLAIN)
    const { status, body } = await t.json(PATH)
    assert.deepEqual([status, body.error.code], [503, 'feed_unavailable'])
  })
})

describe('texts', () => {
  test(
    'of a node that does not lead, which no build needs, go with its next build',
    { skip: isOnPostgres ? false : 'one folder has the job for it' },
    async () => {
      await using t = await exportShop()
      const textsIn = (dir: string) =>
        readdirSync(join(dir, 'exports', 'texts')).filter((name) => !name.endsWith('.sum'))
      // As of a node that another one leads.
      Object.defineProperty(t.app.ctx.engine.lead, 'epoch', { value: null })
      await t.ask()
      const first = textsIn(t.app.dir)
      t.clock.advance(11 * MINUTE)
      await t.stock([{ ...OFFERS[0]!, name: 'Renamed' }])
      await t.ask()
      const left = textsIn(t.app.dir)
      assert.equal(left.length, first.length)
      assert.notDeepEqual(left, first)
    },
  )
})
