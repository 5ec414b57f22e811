/**
 * An export that cannot be built or stored is a 503, and nothing else changes (reliability F10,
 * F28).
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { HOUR, MINUTE, SECOND } from '../../lib/core/clock.js'
import { ROOM_FOR_FEEDS } from '../../lib/core/storage/disk-space.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { stateOf } from '../../lib/exports/text-files.js'
import type { ObjectStore } from '../../lib/objects/store.js'
import { OFFERS, PLAIN, addShop, buildsIn, exportShop, keyAt, query } from './shop.js'
import type { ExportShop } from './shop.js'
import { childOf, until } from './child.js'

const PATH = '/v1/products/catalog'
const PAUSE = 15 * SECOND
/** Bits, one in each of as many parts of the file. */
const FLIPS = 10
let dollars = 0
/** A configuration that needs a file of its own. */
const another = (t: ExportShop) =>
  t.configure({ ...PLAIN, pricing: { cost_adjustments: [{ dollar: ++dollars / 100 }] } })

/**
 * Fails unless the call is refused as documented, nothing is left behind, and the file before it is
 * still there.
 */
async function assertRefused(t: ExportShop, before: string, query = ''): Promise<void> {
  const stored = t.store.objects.size
  const { status, headers, body } = await t.json(PATH + query)
  assert.deepEqual([status, body.error?.code], [503, 'feed_unavailable'])
  assert.match(headers.get('retry-after')!, /^(15|30)$/)
  assert.ok(!/\/|duckdb|sqlite|Error:/i.test(body.error.message as string), body.error.message)
  assert.equal((await t.json('/v1/products/search')).status, 200)
  assert.deepEqual([t.store.objects.has(keyAt(before)), t.store.objects.size], [true, stored])
}

/**
 * Fails unless the next call, whose interval has not begun, gets a file that says what search does.
 */
async function assertWorks(t: ExportShop, query = ''): Promise<void> {
  const { status, body } = await t.json(PATH + query)
  assert.equal(status, 200, JSON.stringify(body))
  const prices = (rows: readonly { name: string; unit_price: number }[]) =>
    rows.map(({ name, unit_price: price }) => `${name} ${price}`).sort()
  assert.deepEqual(
    prices((await t.rowsOf(body.data)) as never),
    prices((await t.remote.products.search()).products),
  )
  assert.deepEqual(buildsIn(t.app.dir), [])
  t.clock.advance(20 * MINUTE)
}

describe('the process of a build', () => {
  test('that is killed is a 503, and after a pause the next one is begun', async () => {
    await using t = await exportShop()
    t.expectErrors(/an export could not be built: .*its process ended with SIGKILL/)
    const { url } = await t.ask()
    await another(t)
    const refused = assertRefused(t, url!)
    process.kill(await childOf(process.pid), 'SIGKILL')
    await refused
    assert.match(t.errors.join(), /not built: its process ended with SIGKILL/)
    assert.deepEqual(buildsIn(t.app.dir), [])
    t.clock.advance(PAUSE - 1)
    await assertRefused(t, url!)
    assert.equal(t.errors.length, 1, 'within the pause nobody tries')
    t.clock.advance(1)
    await assertWorks(t)
  })

  test('that hangs is killed at its limit', async () => {
    await using t = await exportShop({ faults: { exports: { limit: 1 } } })
    t.expectErrors(/an export could not be built: .*it was not done after/)
    const { status, body } = await t.json(PATH)
    assert.deepEqual([status, body.error.code, t.store.objects.size], [503, 'feed_unavailable', 0])
    assert.match(t.errors.join(), /not done after 0.001 s/)
    assert.deepEqual(buildsIn(t.app.dir), [])
  })

  test('holds up nobody else while it stands still', async () => {
    await using t = await exportShop()
    const call = t.json(PATH)
    const child = await childOf(process.pid)
    process.kill(child, 'SIGSTOP')
    for (const path of [
      '/v1/products/search',
      '/v1/products/860001234503',
      '/v1/products/facets',
      '/v1/account',
    ])
      assert.equal((await t.json(path)).status, 200)
    process.kill(child, 'SIGCONT')
    assert.equal((await call).status, 200)
  })

  test('that is late is a 503 to call again after, and then the file is there', async () => {
    await using t = await exportShop({ faults: { exports: { patience: 1 } } })
    const { status, headers, body } = await t.json(PATH)
    assert.deepEqual(
      [status, body.error.code, headers.get('retry-after')],
      [503, 'feed_unavailable', '30'],
    )
    assert.match(body.error.message, /still being built/)
    await until(() => t.store.objects.size === 1 && buildsIn(t.app.dir).length === 0)
    await assertWorks(t)
    assert.deepEqual([t.store.objects.size, t.errors], [1, []])
  })

  test('ends with the app', async () => {
    const t = await exportShop()
    const call = t.ask()
    call.catch(() => {})
    const child = await childOf(process.pid)
    process.kill(child, 'SIGSTOP')
    await t.app.close()
    await assert.rejects(call, { code: 'feed_unavailable' })
    assert.throws(() => process.kill(child, 0), { code: 'ESRCH' })
    assert.deepEqual(buildsIn(t.app.dir), [])
    await t.close()
  })
})

describe('the disk', () => {
  test('that is nearly full builds nothing, and what is there is still handed out', async () => {
    let free = Infinity
    await using t = await exportShop({ faults: { freeBytes: () => free } })
    const { url } = await t.ask()
    free = ROOM_FOR_FEEDS - 1
    await assertWorks(t)
    await another(t)
    await assertRefused(t, url!)
    free = ROOM_FOR_FEEDS
    await assertWorks(t)
  })
})

describe('the store', () => {
  const faults = new Map<string, 'refuses' | 'hangs'>()
  const wrap = (store: ObjectStore) =>
    new Proxy(store, {
      get: (of, name: keyof ObjectStore) => {
        const fault = faults.get(name)
        return fault === 'refuses'
          ? async () => {
              throw new Error('Access Denied to bucket /secret')
            }
          : fault === 'hangs'
            ? () => new Promise(() => {})
            : of[name]
      },
    })
  let t: ExportShop
  let url: string
  before(async () => {
    t = await exportShop({
      wrap,
      faults: { objects: { answering: 250, storing: 250 } },
      expectErrors: [
        /an export could not be built/,
        /the object store cannot be asked for an export/,
        /a job failed; .*: the object store did not answer/,
      ],
    })
    url = (await t.ask()).url!
  })
  after(() => t.close())

  for (const [name, isNew] of [
    ['put', true],
    ['has', false],
    ['url', false],
  ] as const) {
    for (const fault of ['refuses', 'hangs'] as const) {
      test(`that ${fault} ${name} for ${isNew ? 'a new' : 'a known'} file`, async () => {
        if (isNew) await another(t)
        t.errors.length = 0
        faults.set(name, fault)
        await assertRefused(t, url)
        assert.match(t.errors.join(), fault === 'refuses' ? /Access Denied/ : /did not answer/)
        assert.deepEqual(buildsIn(t.app.dir), [])
        faults.clear()
        t.clock.advance(PAUSE)
        await assertWorks(t)
      })
    }
  }

  test("that cannot say whether somebody else's equal file is there", async () => {
    const other = await addShop(t, 'Other')
    faults.set('has', 'refuses')
    await assert.rejects(other.ask(), { code: 'feed_unavailable' })
    faults.clear()
    t.clock.advance(PAUSE)
    assert.equal(keyAt((await other.ask()).url!), keyAt((await t.ask()).url!))
  })

  for (const name of ['list', 'remove'] as const) {
    test(`that hangs ${name} holds up no sweep for good`, async () => {
      await another(t)
      await t.ask()
      t.clock.advance(3 * HOUR)
      faults.set(name, 'hangs')
      await assert.rejects(t.app.jobs.run('exports'), /did not answer/)
      faults.clear()
      await t.app.jobs.run('exports')
    })
  }

  test('that hangs does not keep the app from closing', async () => {
    await using slow = await exportShop({ wrap })
    faults.set('put', 'hangs')
    const call = slow.ask()
    call.catch(() => {})
    await until(
      () =>
        readdirSync(slow.app.dir).includes('exports') &&
        buildsIn(slow.app.dir).some((name) =>
          readdirSync(join(slow.app.dir, 'exports', name)).includes('catalog.parquet'),
        ),
    )
    await slow.app.close()
    faults.clear()
    await assert.rejects(call, { code: 'feed_unavailable' })
  })
})

describe('texts that are kept', () => {
  const two = OFFERS.flatMap((offer) => [
    offer,
    { ...offer, stockid: `${offer.stockid}-2`, name: `Second ${offer.name}`, qty: 1 },
  ])
  let t: ExportShop
  let url: string
  before(async () => {
    t = await exportShop({
      expectErrors: [/an export could not be built: the export/],
      offers: two,
    })
    url = (await t.ask({ include_attributes: true })).url!
  })
  after(() => t.close())
  const files = (end: string) => {
    const folder = join(t.app.dir, 'exports', 'texts')
    return readdirSync(folder)
      .filter((name) => name.endsWith(end))
      .sort()
      .map((name) => join(folder, name))
  }
  const swap = ([a, b]: string[]) => {
    copyFileSync(a!, `${a!}~`)
    renameSync(b!, a!)
    renameSync(`${a!}~`, b!)
  }
  /** Writes a file of texts anew from what is in it. */
  const rewrite = async (path: string, sql: string) => {
    const {
      rows: [row],
    } = await query(readFileSync(path), `COPY (${sql}) TO '${path}.new' (FORMAT parquet)`)
    assert.ok(row)
    renameSync(`${path}.new`, path)
  }
  const damages: [name: string, damage: () => unknown][] = [
    ['cut off', () => truncateSync(files('.parquet')[0]!, 500)],
    ['of another distributor', () => swap(files('.parquet'))],
    [
      'in another order',
      () => rewrite(files('.parquet')[0]!, 'SELECT * FROM FILE ORDER BY stockid DESC'),
    ],
    ['fewer than the offers', () => rewrite(files('.parquet')[1]!, 'SELECT * FROM FILE LIMIT 1')],
    [
      'of another distributor, by their name alone',
      () => rewrite(files('.parquet')[0]!, "SELECT * REPLACE ('ZND' AS distid) FROM FILE"),
    ],
    ['attributes cut off', () => truncateSync(files('.csv')[0]!, 20)],
    ['attributes of fewer offers', () => truncateSync(files('.ends')[1]!, 16)],
  ]
  /** Gives every file the digest of what is in it, as whoever made it would have. */
  const seal = () => {
    for (const path of [...files('.parquet'), ...files('.csv'), ...files('.ends')])
      writeFileSync(`${path}.sum`, createHash('sha256').update(readFileSync(path)).digest('hex'))
  }
  for (const [name, damage] of damages) {
    test(`and were made ${name}: no file, and the next build makes them anew`, async () => {
      await another(t)
      t.errors.length = 0
      await damage()
      seal()
      await assertRefused(t, url, '?include_attributes=true')
      assert.match(t.errors.join(), /the export/)
      t.clock.advance(PAUSE)
      await assertWorks(t, '?include_attributes=true')
      assert.deepEqual(
        [files('.parquet').length, files('.csv').length, files('.ends').length],
        [2, 2, 2],
      )
    })
  }

  const spoils: [name: string, damage: () => unknown][] = [
    ...damages,
    ['attributes without their ends', () => rmSync(files('.ends')[0]!)],
    ['texts without their digest', () => rmSync(files('.parquet.sum')[0]!)],
    ['a digest of something else', () => writeFileSync(files('.csv.sum')[0]!, 'x')],
  ]
  for (const [name, damage] of spoils) {
    test(`and are ${name} by the time of a build: they are made anew at once`, async () => {
      await another(t)
      t.errors.length = 0
      await damage()
      await assertWorks(t, '?include_attributes=true')
      assert.deepEqual(
        [t.errors, files('.parquet').length, files('.csv').length, files('.ends').length],
        [[], 2, 2, 2],
      )
    })
  }

  test('one bit of one of them, wherever it is: it is seen', () => {
    for (const path of [files('.parquet')[0]!, files('.csv')[0]!, files('.ends')[0]!]) {
      const bytes = readFileSync(path)
      assert.equal(stateOf(path), 'whole')
      for (let bit = 0; bit < bytes.length * 8; bit += 41) {
        bytes[bit >> 3]! ^= 1 << (bit & 7)
        writeFileSync(path, bytes)
        assert.equal(stateOf(path), 'damaged', `bit ${bit} of ${path}`)
        bytes[bit >> 3]! ^= 1 << (bit & 7)
      }
      writeFileSync(path, bytes)
      assert.equal(stateOf(path), 'whole')
    }
  })

  test('flipped bits everywhere in a file of texts: not one is published', async () => {
    const expected = async () =>
      [...(await t.remote.products.search({ page_size: 100 })).products]
        .map(({ name, unit_price: price }) => `${name} ${price}`)
        .sort()
    for (let part = 0; part < FLIPS; part++) {
      await another(t)
      const [path] = files('.parquet')
      const bytes = readFileSync(path!)
      const at = Math.floor((bytes.length * (part + 0.5)) / FLIPS)
      bytes[at]! ^= 1 << (part % 8)
      writeFileSync(path!, bytes)
      const { status, body } = await t.json(`${PATH}?include_attributes=true`)
      assert.equal(status, 200)
      const rows = await t.rowsOf(body.data)
      assert.deepEqual(
        rows.map((row) => `${String(row.name)} ${String(row.unit_price)}`).sort(),
        await expected(),
        `byte ${at}`,
      )
      t.clock.advance(20 * MINUTE)
    }
  })

  test('are not made of a text that is gone from the catalog', async () => {
    const catalog = openFile(filesIn(t.app.dir).catalog, { synchronous: 'NORMAL' })
    catalog.pragma('foreign_keys = OFF')
    catalog.prepare('DELETE FROM fragment WHERE stockid = ?').run('A-1')
    catalog.close()
    for (const path of files('')) rmSync(path)
    await another(t)
    t.errors.length = 0
    const { status } = await t.json(PATH)
    assert.deepEqual([status, /no longer in the catalog/.test(t.errors.join())], [503, true])
    await t.stock([{ ...two[0]!, name: 'Told anew' }])
    await assertWorks(t)
  })
})
