/**
 * Feed sources over HTTP: whose prices they bring, what survives a bad server, and what lies on
 * disk in between.
 */
import type { OperatorCtx } from '../../lib/app/ctx.js'
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, mock, test } from 'node:test'
import { sql } from 'kysely'
import { openJobs } from '../../lib/app/jobs.js'
import type { Job } from '../../lib/core/async/job.js'
import { MINUTE } from '../../lib/core/clock.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp, TestOptions } from '../../server/testing/index.js'
import { isOnPostgres, sqlOnRecord } from '../harness/record.js'

const HEADER =
  'Item #,Item Description,MSP,Retail Price,Dealer Price,Sale Price,Sale Ends,Quantity,UPC ' +
  'Code,Manufacturer,Gun Type,Model Series,Caliber,Action,Capacity,Finish,Stock,Sights,Barrel ' +
  'Length,Overall Length,Features'
const ITEMS = Array.from({ length: 10 }, (_, i) => i + 1)
const upcOf = (i: number) => `#${700000000000 + i}#`

/** A Davidson's inventory with these items, each at its number in dollars and `cents`. */
function inventory(items: readonly number[], cents = '.00'): string {
  return (
    [
      HEADER,
      ...items.map(
        (i) => `SKU${i},Item ${i},,$99.99,$${i}${cents},,,7,${upcOf(i)},Acme,Accessory,,,,,,,,,,`,
      ),
    ].join('\n') + '\n'
  )
}

interface Bench extends TestApp {
  /** `http://127.0.0.1:port`. */
  url: string
  /** What the server says at each path. */
  answers: Record<string, string | RequestListener>
  /** Paths that were asked for. */
  asked: string[]
  /** What was warned of. */
  log: string[]
  set(
    path: string,
    more?: { subscriber?: string; preset?: string; every?: number; allowPrivate?: boolean },
  ): Promise<void>
  /** The last result of each source. */
  results(): Promise<Record<string, { outcome: string; reasons: string[] } | null>>
  /** Files that were downloaded and still lie there. */
  downloads(): string[]
}

/** A test app with a server beside it that answers as told. */
async function bench(run: (t: Bench) => Promise<void>, options: TestOptions = {}): Promise<void> {
  const log: string[] = []
  const answers: Bench['answers'] = {}
  const asked: string[] = []
  const note = (_: object, message: string) => void log.push(message)
  const server = createServer((request, response) => {
    const path = request.url!.split('?')[0]!
    asked.push(path)
    const answer = answers[path]
    if (typeof answer === 'function') return answer(request, response)
    if (answer === undefined) response.statusCode = 404
    response.end(answer)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const t = await createTestApp({
    log: { debug() {}, info() {}, warn: note, error: note },
    ...options,
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    await run({
      ...t,
      url,
      answers,
      asked,
      log,
      set: async (path, more = {}) =>
        void (await t.app.operator.feeds.set({
          distid: 'DAV',
          location: url + path,
          allowPrivate: true,
          ...more,
        })),
      async results() {
        const rows = await t.app.ctx.read
          .selectFrom('feed_source')
          .select(['id', 'last_result'])
          .execute()
        return Object.fromEntries(
          rows.map((row) => [
            row.id,
            row.last_result === null
              ? null
              : (JSON.parse(row.last_result) as { outcome: string; reasons: string[] }),
          ]),
        )
      },
      downloads() {
        const folder = join(t.app.dir, 'feeds')
        return existsSync(folder)
          ? readdirSync(folder, { recursive: true, withFileTypes: true })
              .filter((entry) => entry.isFile())
              .map((entry) => join(entry.parentPath, entry.name))
          : []
      },
    })
  } finally {
    server.closeAllConnections()
    server.close()
    await t.close()
  }
}

const plain = (active: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(active).map(([name, distid]) => [
      name,
      {
        distid,
        active: true,
        drop_ship_only_items: false,
        shipping: { flat_rate: { cost: 10, shipping_class: 'flat' } },
        product_restrictions: { min_quantity_to_list: 1 },
      },
    ]),
  )

/** A second shop with Davidson's active and nothing validated. */
async function secondShop(t: Bench) {
  const { id } = await t.app.operator.subscribers.create({
    name: 'Other shop',
    email: 'owner@other.example',
  })
  for (const subscriber of [t.subscriber, id]) {
    await t.save(subscriber, {
      targets: {},
      notification_email: 'owner@shop.example',
      pricing: {},
      product_restrictions: {},
      distributors: plain({ Davidsons: 'DAV' }),
    })
  }
  return { id, shop: t.app.as(id) }
}

const DAV = 'DAV/davidsons'
const noDistributor = (error: unknown) =>
  (error as { code: string }).code === 'no_validated_distributors'

/**
 * The price of an item as search, detail and quote tell it; null where they do not know the item.
 */
async function priceOf(shop: TestApp['shop'], i: number): Promise<number | null> {
  const upc = upcOf(i).replaceAll('#', '')
  const { products } = await shop.products.search({ sku: `SKU${i}` })
  const {
    items: [line],
  } = await shop.orders.quote({ items: [{ upc, qty: 1 }] })
  const detail = await shop.products.get({ upc }).catch((error: { code: string }) => {
    assert.equal(error.code, 'not_found')
    return null
  })
  const seen = [
    products[0]?.unit_price ?? null,
    line!.best?.unit_price ?? null,
    detail?.offers[0]?.unit_price ?? null,
  ]
  assert.equal(new Set(seen).size, 1, `search, quote and detail differ: ${seen.join(', ')}`)
  return seen[0]!
}

describe("a subscriber's own feed", () => {
  test("its prices and items are that subscriber's alone, and go when the feed loses them", () =>
    bench(async (t) => {
      const other = await secondShop(t)
      t.answers['/all'] = inventory(ITEMS)
      t.answers['/own'] = inventory([...ITEMS, 11], '.50')
      await t.set('/all')
      await t.set('/own', { subscriber: other.id })
      await t.app.jobs.run('feeds')
      for (const shop of [t.shop, t.remote]) {
        assert.deepEqual([await priceOf(shop, 1), await priceOf(shop, 11)], [1, null])
        assert.equal((await shop.products.search({})).total, 10)
      }
      assert.deepEqual([await priceOf(other.shop, 1), await priceOf(other.shop, 11)], [1.5, 11.5])
      assert.equal((await other.shop.products.search({})).total, 11)
      assert.equal((await other.shop.products.search({ q: 'item 11' })).total, 1)
      assert.equal((await t.shop.products.search({ q: 'item 11' })).total, 0)

      t.clock.advance(20 * MINUTE)
      t.answers['/own'] = inventory(ITEMS.slice(1), '.25')
      await t.app.jobs.run('feeds')
      assert.deepEqual(
        [await priceOf(other.shop, 1), await priceOf(other.shop, 2), await priceOf(other.shop, 11)],
        [1, 2.25, null],
        "the operator's price is left",
      )
      assert.deepEqual(
        [await priceOf(t.shop, 1), await priceOf(t.shop, 2), await priceOf(t.shop, 11)],
        [1, 2, null],
      )
    }))

  test("validates a distributor without credentials for that subscriber alone; the operator's does for all", () =>
    bench(async (t) => {
      const other = await secondShop(t)
      t.answers['/own'] = t.answers['/all'] = inventory(ITEMS)
      await t.set('/own', { subscriber: other.id })
      await t.app.jobs.run('feeds')
      assert.equal((await other.shop.products.search({})).total, 10)
      await assert.rejects(t.shop.products.search({}), noDistributor)
      await t.set('/all')
      await t.app.jobs.run('feeds')
      assert.equal((await t.shop.products.search({})).total, 10)
    }))

  test("leaves what a check of that subscriber's credentials told as it stands", () =>
    bench(async (t) => {
      const other = await secondShop(t)
      await t.app.operator.configurations.recordCheck(other.id, 'Davidsons', false)
      t.answers['/own'] = inventory(ITEMS)
      await t.set('/own', { subscriber: other.id })
      await t.app.jobs.run('feeds')
      await assert.rejects(other.shop.products.search({}), noDistributor)
    }))
})

describe('scheduled pulling', () => {
  test('pulls what is due and nothing else', () =>
    bench(async (t) => {
      t.answers['/all'] = t.answers['/slow'] = inventory(ITEMS)
      const { id } = await secondShop(t)
      await t.set('/all')
      await t.set('/slow', { subscriber: id, every: 60 * MINUTE })
      const pulledAfter = async (minutes: number) => {
        t.clock.advance(minutes * MINUTE)
        t.asked.length = 0
        await t.app.jobs.run('feeds')
        return t.asked.join(' ')
      }
      assert.equal(await pulledAfter(0), '/all /slow')
      assert.equal(await pulledAfter(19), '')
      assert.equal(await pulledAfter(1), '/all')
      assert.equal(await pulledAfter(40), '/all /slow')
      assert.equal(
        await pulledAfter(-30),
        '/all /slow',
        'a clock that was ahead does not hold up anything',
      )
    }))

  const faults: [
    what: string,
    answer: RequestListener | string,
    outcome: string,
    reason: RegExp,
  ][] = [
    [
      'an error',
      (_, response) => response.writeHead(500).end(),
      'failed',
      /\/all\?…: the server answered 500$/,
    ],
    [
      'a redirect',
      (_, response) => response.writeHead(302, { location: '/login?token=secret' }).end(),
      'failed',
      /redirects \(302\) to http:\/\/127\.0\.0\.1:\d+\/login\?…; set that/,
    ],
    [
      'a cut off download',
      (_, response) => {
        response
          .writeHead(200, { 'content-length': '5000' })
          .write('Item #', () => response.destroy())
      },
      'failed',
      /the download was cut off after \d of 5000 bytes/,
    ],
    [
      'a connection that breaks',
      (request) => request.socket.destroy(),
      'failed',
      /the server broke the connection|socket hang up/,
    ],
    ['an HTML page', '<!doctype html><html>Please log in', 'refused', /the file is an HTML page/],
    ['an empty file', '', 'refused', /the file is empty/],
    ['half the items', inventory(ITEMS.slice(5)), 'refused', /5 of 10 offers are missing/],
  ]
  for (const [what, answer, outcome, reason] of faults) {
    test(`${what}: the old snapshot serves on, the result says so, and the next pull repairs it`, () =>
      bench(async (t) => {
        await secondShop(t)
        t.answers['/all'] = inventory(ITEMS)
        await t.set('/all?key=secret')
        await t.app.jobs.run('feeds')
        t.answers['/all'] = answer
        t.clock.advance(20 * MINUTE)
        await t.app.jobs.run('feeds')
        const result = (await t.results())[DAV]!
        assert.equal(result.outcome, outcome)
        assert.match(result.reasons.join(), reason)
        assert.doesNotMatch(JSON.stringify(result), /secret/)
        assert.ok(t.log.some((line) => /the previous one serves on/.test(line)))
        const [status] = await t.app.operator.feeds.status()
        assert.match(status!.last_outcome!, reason)
        assert.equal((await t.remote.products.search({})).total, 10)
        t.answers['/all'] = inventory(ITEMS, '.10')
        t.clock.advance(20 * MINUTE)
        await t.app.jobs.run('feeds')
        assert.equal((await t.results())[DAV]!.outcome, 'taken')
        assert.equal(await priceOf(t.shop, 1), 1.1)
        assert.deepEqual(t.downloads(), [])
      }))
  }

  test('a server that hangs: the catalog serves on meanwhile, and the other sources are pulled after it', () =>
    bench(async (t) => {
      const { id } = await secondShop(t)
      t.answers['/all'] = t.answers['/own'] = inventory(ITEMS)
      await t.set('/all')
      await t.set('/own', { subscriber: id })
      await t.app.jobs.run('feeds')
      t.answers['/all'] = (_, response) => {
        response.write(HEADER)
      }
      t.clock.advance(20 * MINUTE)
      const pulling = t.app.operator.feeds.pull({ distid: 'DAV', timeoutMs: 300 })
      assert.equal((await t.remote.products.search({})).total, 10)
      assert.deepEqual(
        (await pulling).map(({ outcome }) => outcome),
        ['failed', 'unchanged'],
      )
      assert.match((await t.results())[DAV]!.reasons.join(), /it took longer than 0\.3 seconds$/)
      assert.deepEqual(t.downloads(), [])
    }))
})

describe('a private address', () => {
  test('is refused with the flag that allows it, and only the source that has it may go there', () =>
    bench(async (t) => {
      t.answers['/all'] = inventory(ITEMS)
      await t.set('/all', { allowPrivate: false })
      await t.app.jobs.run('feeds')
      assert.match(
        (await t.results())[DAV]!.reasons.join(),
        /127\.0\.0\.1 is a private or local address; set the source with --allow-private/,
      )
      assert.deepEqual(t.asked, [])
      assert.equal((await t.app.operator.feeds.status())[0]!.allow_private, false)
      await t.set('/all')
      assert.equal((await t.app.operator.feeds.status())[0]!.allow_private, true)
      await t.app.jobs.run('feeds')
      assert.equal((await t.results())[DAV]!.outcome, 'taken')
      await t.app.operator.feeds.set({ distid: 'DAV', location: `${t.url}/all` })
      assert.equal(
        (await t.app.operator.feeds.status())[0]!.allow_private,
        false,
        'setting it anew without the flag takes it away',
      )
    }))
})

describe('a location', () => {
  test('never shows its secrets', () =>
    bench(async (t) => {
      const location = 'https://user:canary@feeds.example/a.csv?token=canary#canary'
      await t.app.operator.feeds.set({ distid: 'DAV', location })
      assert.equal(
        (await t.app.operator.feeds.status())[0]!.location,
        'https://feeds.example/a.csv?…',
      )
      const audited = await t.app.ctx.read
        .selectFrom('audit')
        .select('detail')
        .where('action', '=', 'feeds.set')
        .execute()
      assert.equal(audited.length, 1)
      assert.doesNotMatch(audited[0]!.detail, /canary/)
    }))

  for (const location of [
    '',
    ' ',
    'ftp://feeds.example/a.csv',
    'https://user:pa/ss@feeds.example/a.csv',
    'http://',
  ]) {
    test(`"${location}" is none`, () =>
      bench(async (t) => {
        await assert.rejects(t.app.operator.feeds.set({ distid: 'DAV', location }), /location/)
      }))
  }
})

describe('a refused download', () => {
  test('waits as it was judged while the next pulls bring others, and can be accepted', () =>
    bench(async (t) => {
      await secondShop(t)
      t.answers['/all'] = inventory(ITEMS)
      await t.set('/all')
      await t.app.jobs.run('feeds')
      assert.deepEqual(t.downloads(), [])
      const pull = async (answer: string | RequestListener) => {
        t.clock.advance(20 * MINUTE)
        t.answers['/all'] = answer
        await t.app.jobs.run('feeds')
      }
      await pull(inventory([1, 2]))
      await pull(inventory([1, 2, 3]))
      assert.deepEqual(
        t.downloads().map((file) => readFileSync(file, 'utf8')),
        [inventory([1, 2, 3])],
        'only the last refusal is kept',
      )
      await pull((_, response) => response.writeHead(503).end())
      await pull((_, response) => {
        response.write('x', () => response.destroy())
      })
      assert.deepEqual(
        t.downloads().map((file) => readFileSync(file, 'utf8')),
        [inventory([1, 2, 3])],
        'a failed download takes nothing with it',
      )
      assert.equal((await t.shop.products.search({})).total, 10)
      const trial = await t.app.operator.feeds.accept({ distid: 'DAV' }, { dryRun: true })
      assert.deepEqual([trial.outcome, trial.removed], ['taken', 7])
      assert.equal((await t.app.operator.feeds.accept({ distid: 'DAV' })).outcome, 'taken')
      assert.equal((await t.shop.products.search({})).total, 3)
      assert.deepEqual(t.downloads(), [])
      await assert.rejects(
        t.app.operator.feeds.accept({ distid: 'DAV' }),
        /no refused feed of DAV\/davidsons is waiting/,
      )
      const audited = await t.app.ctx.read
        .selectFrom('audit')
        .select('detail')
        .where('action', '=', 'feeds.accept')
        .execute()
      assert.deepEqual(
        audited.map(({ detail }) => JSON.parse(detail) as unknown),
        [{ source: DAV, outcome: 'taken' }],
        'a dry run is not an act',
      )
    }))

  test('goes when a better feed is taken or the old one comes again', () =>
    bench(async (t) => {
      for (const next of [inventory(ITEMS), inventory(ITEMS, '.10')]) {
        t.answers['/all'] = inventory(ITEMS)
        await t.set('/all')
        await t.app.jobs.run('feeds')
        t.answers['/all'] = inventory([1])
        await t.app.operator.feeds.pull({ distid: 'DAV' })
        assert.equal(t.downloads().length, 1)
        t.answers['/all'] = next
        await t.app.operator.feeds.pull({ distid: 'DAV' })
        assert.deepEqual(t.downloads(), [])
      }
    }))

  test('that is gone from the disk is said to be', () =>
    bench(async (t) => {
      t.answers['/all'] = ''
      await t.set('/all')
      await t.app.jobs.run('feeds')
      const raw = openFile(filesIn(t.app.dir).catalog, { synchronous: 'NORMAL' })
      raw.prepare("UPDATE refusal SET file = '/nowhere/a.feed'").run()
      raw.close()
      await assert.rejects(
        t.app.operator.feeds.accept({ distid: 'DAV' }),
        /is gone from \/nowhere\/a\.feed; pull or import it again/,
      )
    }))

  test('what a killed process left behind goes with the next pull of that source', () =>
    bench(async (t) => {
      t.answers['/all'] = inventory(ITEMS)
      await t.set('/all')
      const left = join(t.app.dir, 'feeds', 'DAV.davidsons', `${t.clock.ms - 5}-abc`)
      const others = join(t.app.dir, 'feeds', 'DAV.davidsons-quantity', `${t.clock.ms - 5}-abc`)
      for (const folder of [left, others]) {
        mkdirSync(folder, { recursive: true })
        writeFileSync(join(folder, 'x.feed.1.part'), 'half')
      }
      await t.app.jobs.run('feeds')
      assert.deepEqual(t.downloads(), [join(others, 'x.feed.1.part')])
    }))
})

describe('closing', () => {
  test('does not wait for a download, which counts as no failure and leaves nothing', () =>
    bench(async (t) => {
      let arrived = () => {}
      const arriving = new Promise<void>((resolve) => {
        arrived = resolve
      })
      t.answers['/all'] = (_, response) => {
        response.write(HEADER, () => arrived())
      }
      await t.set('/all')
      const pulling = t.app.jobs.run('feeds')
      await arriving
      const before = performance.now()
      await t.app.jobs.stop()
      await pulling
      assert.ok(performance.now() - before < 30_000)
      assert.deepEqual([await t.results(), t.downloads(), t.log], [{ [DAV]: null }, [], []])
      await assert.rejects(t.app.jobs.run('feeds'), /closed/)
      await t.app.close()
    }))
})

describe('jobs', () => {
  /** Runs with a clock of intervals that the test moves. */
  async function scheduled(
    jobs: readonly Job<OperatorCtx>[],
    run: (t: Bench, tick: () => Promise<void>) => Promise<void>,
  ): Promise<void> {
    await bench(async (t) => {
      mock.timers.enable({ apis: ['setInterval'] })
      const opened = openJobs(t.app.ctx, jobs)
      try {
        opened.start()
        await run(t, async () => {
          t.clock.advance(1_000)
          mock.timers.tick(1_000)
          await opened.ended()
        })
      } finally {
        await opened.stop()
        mock.timers.reset()
      }
    })
  }

  const counting = (every: number, fault?: string) => {
    const job = {
      name: 'count',
      every,
      runs: 0,
      async run() {
        job.runs++
        if (fault) throw new Error(fault)
      },
    }
    return job
  }

  test('come back at their time', async () => {
    const job = counting(3_000)
    await scheduled([job], async (t, tick) => {
      for (let i = 0; i < 4; i++) await tick()
      assert.equal(job.runs, 2)
      t.clock.advance(-60_000)
      await tick()
      assert.equal(job.runs, 3, 'a clock that was ahead does not hold up anything')
    })
  })

  test('a job that throws is logged, recorded, and comes back', async () => {
    const job = counting(1_000, 'broken')
    await scheduled([job], async (t, tick) => {
      for (let i = 0; i < 3; i++) await tick()
      assert.equal(job.runs, 3)
      assert.match(t.log[0]!, /a job failed/)
      t.expectErrors(/a job failed; .*: broken/)
      assert.equal(
        (
          await t.app.ctx.read
            .selectFrom('job')
            .select('last_error')
            .where('name', '=', 'count')
            .executeTakeFirstOrThrow()
        ).last_error,
        'broken',
      )
    })
  })

  /** No row comes into the table any more. */
  const REFUSED = isOnPostgres
    ? `CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'no'; END$$;
       CREATE TRIGGER no BEFORE INSERT ON job FOR EACH ROW EXECUTE FUNCTION no()`
    : `CREATE TRIGGER no BEFORE INSERT ON job BEGIN SELECT RAISE(FAIL, 'no'); END`

  test('a table that cannot be written neither ends the process nor changes the schedule', async () => {
    for (const fault of [undefined, 'broken']) {
      const job = counting(3_000, fault)
      await scheduled([job], async (t, tick) => {
        await sqlOnRecord(t.app.dir, REFUSED)
        t.expectErrors(
          /cannot be noted in its table: no/,
          ...(fault === undefined ? [] : [/a job failed; .*: broken/]),
        )
        for (let i = 0; i < 4; i++) await tick()
        assert.equal(job.runs, 2)
        assert.ok(t.log.includes('a job cannot be noted in its table'))
        assert.equal(
          t.log.includes('a job failed; it comes back at its next time'),
          fault !== undefined,
        )
      })
    }
  })

  test('a table that cannot be read is logged', async () => {
    const job = counting(1_000)
    await scheduled([job], async (t, tick) => {
      t.expectErrors(/the job schedule cannot be read/)
      await sql`DROP TABLE job`.execute(t.app.ctx.db)
      await tick()
      await tick()
      assert.deepEqual([job.runs, [...new Set(t.log)]], [0, ['the job schedule cannot be read']])
    })
  })

  test("one that is run by hand rejects with its own error, not with the table's", () =>
    bench(async (t) => {
      const job = counting(1_000, 'broken')
      const jobs = openJobs(t.app.ctx, [job])
      t.expectErrors(
        /cannot be noted in its table: .*(no such table|does not exist)/,
        /a job failed; .*: broken/,
      )
      await sql`DROP TABLE job`.execute(t.app.ctx.db)
      await assert.rejects(jobs.run('count'), /broken/)
      await assert.rejects(jobs.run('count'), /broken/, 'nothing is left running')
      await assert.rejects(jobs.run('none'), /there is no job none; known are count/)
      assert.equal(job.runs, 2)
      await jobs.stop()
    }))
})
