/**
 * What becomes of old exports, of objects that nobody knows, and of texts.
 */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { DAY, HOUR, MINUTE } from '../../lib/core/clock.js'
import { openForTest as open } from '../../server/testing/open.js'
import { OFFERS, PLAIN, addShop, buildsIn, exportShop, keyAt } from './shop.js'
import type { ExportShop } from './shop.js'

const sweep = ({ app }: ExportShop) => app.jobs.run('exports')
const isStored = ({ store }: ExportShop, url: string) => store.objects.has(keyAt(url))
const dearer = (dollar: number) => ({ ...PLAIN, pricing: { cost_adjustments: [{ dollar }] } })

describe('an old version', () => {
  test('goes an hour after its last URL has expired, and not before', async () => {
    await using t = await exportShop()
    const { url: old } = await t.ask({ expires_in: 60 })
    t.clock.advance(MINUTE)
    const { attributes_feed: feed } = await t.ask({ expires_in: 3_600, include_attributes: true })
    assert.equal(
      keyAt((await t.ask({ expires_in: 3_600 })).url!),
      keyAt(old!),
      'the last URL counts',
    )
    await t.configure(dearer(1))
    const { url: current } = await t.ask({ expires_in: 60 })
    t.clock.advance(2 * HOUR - 1)
    await sweep(t)
    assert.deepEqual([isStored(t, old!), isStored(t, feed!.url)], [true, true])
    t.clock.advance(1)
    await sweep(t)
    assert.deepEqual(
      [isStored(t, old!), isStored(t, feed!.url), isStored(t, current!)],
      [false, false, true],
    )
  })

  test('is kept while it is the current one, however old, with any flags', async () => {
    await using t = await exportShop()
    const urls: string[] = []
    for (const query of [{}, { ignore_restrictions: true }, { include_attributes: true }])
      urls.push((await t.ask(query)).url!)
    t.clock.advance(30 * DAY)
    await sweep(t)
    assert.deepEqual(
      urls.map((url) => isStored(t, url)),
      [true, true, true],
    )
    await t.configure({ distributors: {} })
    await sweep(t)
    assert.equal(t.store.objects.size, 0, 'a shop that has left')
  })

  test("is kept while it is somebody else's current one", async () => {
    await using t = await exportShop()
    const other = await addShop(t, 'Other')
    const { url } = await t.ask()
    assert.equal(keyAt((await other.ask()).url!), keyAt(url!))
    await t.configure(dearer(1))
    t.clock.advance(DAY)
    await sweep(t)
    assert.equal(isStored(t, url!), true)
    assert.equal(keyAt((await other.ask()).url!), keyAt(url!))
    await t.stock([{ ...OFFERS[0]!, price: 5 }])
    t.clock.advance(DAY)
    await sweep(t)
    assert.equal(isStored(t, url!), false)
  })

  test('is not taken for one after a start, before the snapshot is built', async () => {
    await using t = await exportShop({
      offers: Array.from({ length: 2_001 }, (_, i) => ({ distid: 'RSR', stockid: `${i}` })),
    })
    const { url } = await t.ask()
    t.clock.advance(DAY)
    await t.app.close()
    await using again = await open({
      dir: t.app.dir,
      worker: false,
      now: () => t.clock.ms,
      objects: t.store,
    })
    await again.jobs.run('exports')
    assert.equal(isStored(t, url!), true)
  })
})

describe('an object that no export names', () => {
  test('goes after six hours; a younger one, and what is not an export, stays', async () => {
    await using t = await exportShop()
    const put = (key: string) => t.store.put(key, Buffer.from('x'), { contentType: 'a/b' })
    await put('exports/0/catalog.parquet')
    await put('documents/exports/a.pdf')
    t.clock.advance(MINUTE)
    await put('exports/1/catalog.parquet')
    t.clock.advance(6 * HOUR - MINUTE)
    await sweep(t)
    assert.deepEqual([...t.store.objects.keys()].sort(), [
      'documents/exports/a.pdf',
      'exports/0/catalog.parquet',
      'exports/1/catalog.parquet',
    ])
    t.clock.advance(1)
    await sweep(t)
    assert.deepEqual([...t.store.objects.keys()].sort(), [
      'documents/exports/a.pdf',
      'exports/1/catalog.parquet',
    ])
  })

  test('is also one that could not be removed when its export was forgotten', async () => {
    let dead = false
    await using t = await exportShop({
      wrap: (store) => ({
        ...store,
        remove: async (key) => (dead ? Promise.reject(new Error('no')) : store.remove(key)),
      }),
    })
    t.expectErrors(/a job failed; .*: no$/)
    const { url } = await t.ask()
    await t.configure(dearer(1))
    t.clock.advance(3 * HOUR)
    dead = true
    await assert.rejects(sweep(t), /no/)
    dead = false
    t.clock.advance(3 * HOUR + 1)
    await sweep(t)
    assert.equal(isStored(t, url!), false)
  })
})

describe('texts', () => {
  const textsOf = ({ app }: ExportShop) =>
    readdirSync(join(app.dir, 'exports', 'texts'))
      .filter((name) => !name.endsWith('.sum'))
      .sort()

  test("of a distributor's former catalog go ten minutes after their last use, store down or not", async () => {
    let dead = false
    await using t = await exportShop({
      wrap: (store) => ({
        ...store,
        list: async (prefix) => (dead ? Promise.reject(new Error('no')) : store.list(prefix)),
      }),
    })
    t.expectErrors(/a job failed; .*: no$/)
    await t.ask({ include_attributes: true })
    const first = textsOf(t)
    assert.equal(
      first.length,
      6,
      'two distributors, each with texts, attributes and where they end',
    )
    t.clock.advance(MINUTE)
    await t.stock([{ ...OFFERS[0]!, name: 'Renamed' }])
    await t.ask({ include_attributes: true })
    const both = textsOf(t)
    assert.equal(both.length, 9, "the other distributor's are of use again")
    t.clock.advance(9 * MINUTE)
    await sweep(t)
    assert.deepEqual(textsOf(t), both)
    t.clock.advance(1)
    dead = true
    await assert.rejects(sweep(t), /no/)
    const left = textsOf(t)
    assert.deepEqual([left.length, left.filter((name) => first.includes(name)).length], [6, 3])
    t.clock.advance(7 * DAY - 9 * MINUTE - 1)
    dead = false
    await sweep(t)
    assert.deepEqual(textsOf(t), left, 'the newest stay for a week')
    t.clock.advance(1)
    await sweep(t)
    assert.deepEqual(readdirSync(join(t.app.dir, 'exports', 'texts')), [], 'with their digests')
    await t.configure(dearer(1))
    assert.equal((await t.rowsOf(await t.ask()))[1]!.name, 'Renamed', 'and are made anew')
  })
})

describe('the folder of builds', () => {
  test('is cleared of dead builds by the next start, which nothing in it can keep from opening', async () => {
    await using t = await exportShop()
    await t.ask()
    const root = join(t.app.dir, 'exports')
    await t.app.close()
    mkdirSync(join(root, 'build-dead'))
    writeFileSync(join(root, 'build-dead', 'numbers'), 'x')
    writeFileSync(join(root, 'build-file'), 'x')
    await (await open({ dir: t.app.dir, worker: false })).close()
    assert.deepEqual(buildsIn(t.app.dir), ['build-file'])
    assert.equal(readdirSync(join(root, 'texts')).length, 4, 'two texts, each with its digest')
  })
})
