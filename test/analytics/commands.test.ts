/**
 * `analytics rebuild` and `show`, the job, and builds in processes of their own: one at a time,
 * killed, late.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { buildsIn } from '../../lib/analytics/builds/files.js'
import { isDue, rebuildAnalytics } from '../../lib/analytics/builds/rebuild-job.js'
import { METRICS, SLUGS } from '../../lib/analytics/metrics/index.js'
import { DAY, HOUR, MINUTE } from '../../lib/core/clock.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { writeOffers } from '../../lib/feeds/ingest/write-offers.js'
import { openForTest as open } from '../../server/testing/open.js'
import { bar } from '../../server/cli/commands/analytics.js'
import { runLine } from '../../server/cli/run-line.js'
import { createTestApp } from '../../server/testing/index.js'
import { OFFERS, SHOP, analyticsShop, tellStories } from './shop.js'
import { contents, json, run } from '../server/launcher.js'
import { makeOutput } from '../../server/cli/output.js'

let scratch: string
before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-analytics-'))
})
after(() => rmSync(scratch, { recursive: true, force: true }))

describe('the commands', () => {
  let dir: string
  before(async () => {
    dir = mkdtempSync(join(scratch, 'shop-'))
    await using app = await open({ dir, worker: false })
    await app.operator.subscribers.create({ name: 'Main Street Guns', email: 'owner@shop.example' })
    const catalog = openFile(filesIn(dir).catalog, { synchronous: 'NORMAL' })
    writeOffers(
      catalog,
      OFFERS.map((offer) => ({
        distsku: offer.stockid,
        mpn: null,
        itemCat: null,
        shipping: null,
        map: null,
        msrp: null,
        fflReq: false,
        dropShip: true,
        images: [],
        productUrl: null,
        shortDescription: null,
        description: null,
        attributes: {},
        ...offer,
      })) as never,
      Date.now(),
    )
    catalog.close()
  })

  test('show says that nothing was built yet', async () => {
    const { status, out } = await run(dir, 'analytics', 'show', 'trending')
    assert.equal(status, 0)
    assert.match(out, /not built yet.*`quartermaster analytics rebuild`/)
    assert.deepEqual(await json(dir, 'analytics', 'show', 'trending'), {
      metric: 'trending',
      as_of: null,
      window_days: null,
      count: 0,
      results: [],
    })
  })

  test('rebuild --dry-run says what would be done, and does nothing', async () => {
    const known = contents(dir)
    const { status, out } = await run(dir, 'analytics', 'rebuild', '--dry-run')
    assert.deepEqual([status, out], [0, 'There are no metrics yet; they would be built anew.\n'])
    assert.deepEqual(contents(dir), known)
    assert.ok(!existsSync(join(dir, 'analytics')))
    assert.deepEqual(await json(dir, 'analytics', 'rebuild', '--dry-run'), {
      build: null,
      items: 0,
      rows: 0,
      as_of: null,
      ms: 0,
      dry_run: true,
    })
  })

  test('rebuild builds, tells how long it took, and is in the audit', async () => {
    const { status, out, err } = await run(dir, 'analytics', 'rebuild')
    assert.deepEqual([status, err], [0, ''])
    assert.match(
      out,
      /^7 metrics of 5 UPCs were built in \d+\.\d s, as of \d{4}-\d\d-\d\dT[\d:.]+Z\.\n$/,
    )
    const {
      build,
      items,
      as_of: asOf,
      dry_run: dryRun,
    } = (await json(dir, 'analytics', 'rebuild')) as unknown as {
      build: string
      items: number
      as_of: string
      dry_run: boolean
    }
    assert.deepEqual([build, items, dryRun], ['build-000002', 5, false])
    const record = openFile(filesIn(dir).record, { synchronous: 'FULL', readonly: true })
    assert.deepEqual(
      record
        .prepare(
          "SELECT actor, action, detail FROM audit WHERE action LIKE 'analytics%' ORDER BY rowid",
        )
        .raw()
        .all(),
      [1, 2].map((n) => ['cli', 'analytics.rebuild', `{"build":"build-00000${n}","items":5}`]),
    )
    record.close()
    assert.match(
      (await run(dir, 'analytics', 'rebuild', '--dry-run')).out,
      new RegExp(`^The metrics of ${asOf} serve \\(5 UPCs\\); they would be built anew\\.`),
    )
    assert.deepEqual(readdirSync(join(dir, 'analytics')).sort(), [
      'build-000001',
      'build-000002',
      'current',
      'lock',
    ])
  })

  test('show prints a table: plain in a pipe, with bars on a terminal, JSON with --json', async () => {
    const plain = await run(dir, 'analytics', 'show', 'price-gaps')
    assert.deepEqual(plain.out.split('\n').slice(1), [
      'upc           name    distid  price  peer_average  gap_percent  offers',
      '860001234504  Item 4  CSSI    80.00  100.00        20.0         3',
      '',
    ])
    assert.match(plain.out, /^price-gaps, as of \S+Z, all distributors: one result\.\n/)
    const onTerminal = async (...words: string[]) => {
      let text = ''
      const code = await runLine([...words, '--dir', dir], {
        stdout: {
          isTTY: true,
          write: (part) => {
            text += part
          },
        },
        stderr: { isTTY: true, write: () => {} },
      })
      assert.equal(code, 0)
      return text
    }
    const drawn = (await onTerminal('analytics', 'show', 'margin-opportunities')).split('\n')
    assert.match(drawn[0]!, /: 2 results\.$/)
    assert.match(drawn[1]!, /confidence {2}\[gross_profit\]$/)
    assert.match(drawn[2]!, /860001234501 .* 50\.00 .* █{24}$/)
    assert.match(drawn[3]!, /860001234505 .* {2}- +120\.00 .* █{9}▋$/)
    const byPercent = (
      await onTerminal('analytics', 'show', 'margin-opportunities', '--sort-by', 'margin_pct')
    ).split('\n')
    assert.deepEqual(
      [/\[\w+\]/.exec(byPercent[1]!)![0], /(?<=  )█+.?$/.exec(byPercent[3]!)![0]],
      ['[margin_pct]', `${'█'.repeat(11)}▎`],
      'bars are of what the order goes by',
    )
    assert.doesNotMatch(await onTerminal('analytics', 'show', 'price-gaps', '--json'), /█/)
    assert.doesNotMatch((await run(dir, 'analytics', 'show', 'margin-opportunities')).out, /█/)
    assert.deepEqual(Object.keys(await json(dir, 'analytics', 'show', 'price-gaps')), [
      'metric',
      'as_of',
      'window_days',
      'count',
      'results',
    ])
    assert.equal(
      (await run(dir, 'analytics', 'show', 'top-products', '--window', '30d')).out.replace(
        /as of \S+,/,
        'as of …,',
      ),
      'top-products, 30 days, as of …, all distributors: 0 results.\n',
    )
  })

  test('show takes the parameters of the endpoint and refuses what it refuses', async () => {
    const rows = async (...words: string[]) =>
      (
        (await json(dir, 'analytics', 'show', 'margin-opportunities', ...words)) as unknown as {
          results: { upc: string }[]
        }
      ).results.map(({ upc }) => Number(upc.at(-1)))
    assert.deepEqual(
      [
        await rows('--limit', '1'),
        await rows('--product-class', 'kn'),
        await rows('--category-id', '3001,7'),
        await rows('--min-confidence', '0.9'),
        await rows('--sort-by', 'margin_pct'),
      ],
      [[1], [5], [1], [], [1, 5]],
    )
    for (const [words, code, status] of [
      [['nothing'], 'not_found', 1],
      [['trending', '--limit', '201'], 'invalid_parameter', 1],
      [['trending', '--limit', '0'], 'invalid_parameter', 1],
      [['trending', '--window', '8d'], 'invalid_parameter', 1],
      [['trending', '--category-id', 'x'], 'invalid_parameter', 1],
      [['trending', '--limit', 'x'], 'usage', 2],
      [['trending', '--limit', ''], 'usage', 2],
      [[], 'usage', 2],
      [['trending', 'x'], 'usage', 2],
      [['trending', '--subscriber', 'Nobody'], 'not_found', 1],
      [['trending', '--subscriber', 'Main Street Guns'], 'no_active_distributors', 1],
    ] as const) {
      const done = await run(dir, 'analytics', 'show', ...words, '--json')
      assert.deepEqual(
        [words, done.status, JSON.parse(done.out.trim().split('\n').at(-1)!).error.code],
        [words, status, code],
      )
    }
  })

  test('show --subscriber is what that shop gets', async () => {
    await using app = await open({ dir, worker: false })
    const document = {
      targets: {},
      notification_email: 'owner@shop.example',
      pricing: {},
      product_restrictions: {},
      distributors: Object.fromEntries(
        Object.entries(SHOP.distributors)
          .filter(([, { distid }]) => distid !== 'CSSI')
          .map(([name, { distid }]) => [
            name,
            {
              distid,
              active: true,
              drop_ship_only_items: false,
              shipping: { flat_rate: { cost: 10, shipping_class: 'flat' } },
              product_restrictions: { min_quantity_to_list: 1 },
            },
          ]),
      ),
    }
    await app.operator.configurations.put('Main Street Guns', { document })
    for (const name of Object.keys(document.distributors))
      await app.operator.configurations.recordCheck('Main Street Guns', name, true)
    assert.equal(
      (
        (await json(
          dir,
          'analytics',
          'show',
          'price-gaps',
          '--subscriber',
          'Main Street Guns',
        )) as unknown as { count: number }
      ).count,
      0,
    )
    assert.match(
      (
        await run(
          dir,
          'analytics',
          'show',
          'margin-opportunities',
          '--subscriber',
          'Main Street Guns',
        )
      ).out,
      /, Main Street Guns: 2 results\./,
    )
  })
})

describe('bars', () => {
  test('are as long as the share of the greatest value', () => {
    assert.deepEqual(
      [
        bar(0, 10),
        bar(NaN, 10),
        bar(10, 0),
        bar(10, 10),
        bar(5, 10),
        bar(1, 1_000_000),
        bar(2, 3),
        bar(100, 192),
      ],
      ['', '', '', '█'.repeat(24), '█'.repeat(12), '▏', '█'.repeat(16), `${'█'.repeat(12)}▌`],
    )
  })

  test('progress is drawn on a terminal only', () => {
    const drawn: string[] = []
    const out = makeOutput(
      false,
      { write: () => {} },
      { isTTY: true, write: (text) => drawn.push(text) },
    )
    out.progress('metrics', 'steps')(13, 26, 13)
    assert.match(drawn.join(''), /metrics \[#{15} {15}\] {2}50 % 13 steps/)
  })
})

describe('the job', () => {
  test('builds soon after the first feed, then once a day, and for a distributor that came in', async () => {
    await using t = await createTestApp()
    const { ctx, jobs } = t.app
    const build = async () => {
      await jobs.run('analytics')
      return ctx.analytics.status()?.build ?? null
    }
    assert.deepEqual(
      [isDue(ctx), await build(), existsSync(join(t.app.dir, 'analytics'))],
      [false, null, false],
      'there is nothing to read yet',
    )
    await t.stock(OFFERS.filter(({ distid }) => distid === 'RSR'))
    assert.deepEqual(
      [isDue(ctx), await build(), isDue(ctx), await build()],
      [true, 'build-000001', false, 'build-000001'],
    )
    t.clock.advance(DAY - 1)
    assert.equal(isDue(ctx), false)
    t.clock.advance(1)
    assert.deepEqual([isDue(ctx), await build()], [true, 'build-000002'])
    await t.stock(OFFERS.filter(({ distid }) => distid === 'LIP'))
    assert.deepEqual([isDue(ctx), await build(), isDue(ctx)], [true, 'build-000003', false])
    t.clock.advance(-MINUTE)
    assert.equal(isDue(ctx), false)
    t.clock.advance(-1)
    assert.equal(isDue(ctx), true, 'the clock was set back')
    assert.equal(await build(), 'build-000004')
  })

  test('a rebuild that takes too long is killed; the job waits before it tries again', async () => {
    await using t = await analyticsShop({ faults: { analytics: { limit: 1 } } })
    t.expectErrors(/a job failed; .*: the rebuild of analytics was not done: it was not done after/)
    await assert.rejects(
      t.app.jobs.run('analytics'),
      /the rebuild of analytics was not done: it was not done after 0.001 s/,
    )
    assert.equal(t.errors.length, 1)
    await t.app.jobs.run('analytics')
    t.clock.advance(15 * MINUTE - 1)
    await t.app.jobs.run('analytics')
    t.clock.advance(1)
    await assert.rejects(t.app.jobs.run('analytics'))
    assert.equal(t.app.ctx.analytics.status(), null)
    assert.deepEqual(buildsIn(t.app.dir), [])
  })

  test('a nearly full disk is an error, not half a build', async () => {
    await using t = await analyticsShop({ faults: { freeBytes: () => 1_000_000 } })
    t.expectErrors(/a job failed; .*: the metrics are not rebuilt: the disk is nearly full/)
    await assert.rejects(t.app.jobs.run('analytics'), /the disk is nearly full/)
  })

  test('a process that cannot start is an error', async () => {
    await using t = await analyticsShop({
      faults: { analytics: { file: join(scratch, 'nowhere.mjs') } },
    })
    await assert.rejects(rebuildAnalytics(t.app.ctx), /the rebuild of analytics was not done/)
  })
})

test('rebuilds of several processes come one after the other, and each is whole', async () => {
  await using t = await analyticsShop()
  tellStories(t)
  await using other = await open({ dir: t.app.dir, worker: false, now: () => t.clock.ms + HOUR })
  const done = await Promise.all([
    t.app.operator.analytics.rebuild(),
    other.operator.analytics.rebuild(),
    t.app.operator.analytics.rebuild(),
  ])
  assert.deepEqual(done.map(({ build }) => build).sort(), [
    'build-000001',
    'build-000002',
    'build-000003',
  ])
  for (const metric of SLUGS) assert.ok((await t.shop.analytics({ metric })).count > 0, metric)
  assert.equal(METRICS.length, 7)
  assert.deepEqual(t.errors, [])
})

test('an app that closes ends what is being built', async () => {
  const t = await analyticsShop()
  const rebuilding = t.app.operator.analytics.rebuild()
  await t.app.close()
  await assert.rejects(rebuilding, /the app closes/)
  await t.close()
})
