/**
 * The files of a build: what serves while they are replaced, damaged, cut off or gone, and what is
 * kept of them in memory.
 */
import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { nextTurn } from '../../lib/core/async/wait.js'
import { SLUGS } from '../../lib/analytics/metrics/index.js'
import { HOUR } from '../../lib/core/clock.js'
import { openForTest as open } from '../../server/testing/open.js'
import type { Answer } from '../../server/testing/index.js'
import { analyticsShop, rebuildHere, tellStories } from './shop.js'
import type { AnalyticsShop } from './shop.js'

const path = (slug: string, query = '') => `/v1/analytics/${slug}${query}`
const folder = (t: AnalyticsShop, ...names: string[]) => join(t.app.dir, 'analytics', ...names)
const answers = async (t: AnalyticsShop, query = '') =>
  Promise.all(SLUGS.map(async (slug) => (await t.json(path(slug, query))).body.data as Answer))
const asOf = async (t: AnalyticsShop, slug = 'top-products', query = '') =>
  (await t.json(path(slug, query))).body.data.as_of as string | null
const iso = (ms: number) => new Date(ms).toISOString()

let scratch: string
before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-builds-'))
})
after(() => rmSync(scratch, { recursive: true, force: true }))

/**
 * A shop with so many builds, an hour apart. They are made once for each number and copied then.
 */
async function withBuilds(
  count: number,
  options = {},
): Promise<AnalyticsShop & { times: string[] }> {
  const t = await analyticsShop(options)
  tellStories(t)
  const template = join(scratch, String(count))
  const isMade = existsSync(template)
  const times: string[] = []
  for (let i = 0; i < count; i++) {
    t.clock.advance(HOUR)
    if (!isMade) await t.rebuild()
    times.push(iso(t.clock.ms))
  }
  if (isMade) cpSync(template, folder(t), { recursive: true })
  else cpSync(folder(t), template, { recursive: true })
  return { ...t, times }
}

describe('a build', () => {
  let t: Awaited<ReturnType<typeof withBuilds>>
  before(async () => {
    t = await withBuilds(3)
  })
  after(() => t.close())

  test('is a folder with a list, texts and a file for each metric; the last two stay, nothing else', () => {
    assert.deepEqual(readdirSync(folder(t)).sort(), ['build-000002', 'build-000003', 'current'])
    assert.deepEqual(
      readdirSync(folder(t, 'build-000003')).sort(),
      ['listings', 'meta', 'texts', ...SLUGS].sort(),
    )
    assert.equal(readFileSync(folder(t, 'current'), 'utf8'), 'build-000003\n')
    for (const name of ['meta', 'texts', 'trending'])
      assert.equal(statSync(folder(t, 'build-000003', name)).mode & 0o077, 0, name)
  })

  test('is found by another process, and by one that opens the folder later', async () => {
    await using other = await open({ dir: t.app.dir, worker: false, now: () => t.clock.ms })
    assert.equal(
      (await other.as(t.subscriber).analytics({ metric: 'top-products' })).as_of,
      t.times[2],
    )
    t.clock.advance(HOUR)
    await rebuildHere(t.app.dir, t.clock.ms)
    assert.equal(
      (await other.as(t.subscriber).analytics({ metric: 'top-products' })).as_of,
      iso(t.clock.ms),
    )
    assert.equal(await asOf(t), iso(t.clock.ms))
  })
})

describe('damage', () => {
  const damages: [name: string, damage: (build: string) => void][] = [
    ...['meta', 'listings', 'texts', 'top-products'].flatMap(
      (file): [string, (build: string) => void][] => [
        [
          `bytes of ${file} are other ones`,
          (build) => {
            const bytes = readFileSync(join(build, file))
            // Some of each text.
            for (let at = 40; at < bytes.length; at += 40) bytes[at]! ^= 1
            writeFileSync(join(build, file), bytes)
          },
        ],
        [`${file} is cut off`, (build) => truncateSync(join(build, file), 20)],
        [`${file} is empty`, (build) => truncateSync(join(build, file), 0)],
        [`${file} is gone`, (build) => rmSync(join(build, file))],
      ],
    ),
    ['the whole build is gone', (build) => rmSync(build, { recursive: true })],
    [
      'the build is a file',
      (build) => {
        rmSync(build, { recursive: true })
        writeFileSync(build, 'x')
      },
    ],
  ]
  for (const [name, damage] of damages) {
    test(`${name}: the build before it serves, and an error is logged once`, async () => {
      await using t = await withBuilds(2)
      t.expectErrors(/a build of the analytics cannot be read/)
      damage(folder(t, 'build-000002'))
      for (let i = 0; i < 3; i++)
        assert.deepEqual(
          [
            await asOf(t, 'top-products', `?limit=${i + 1}`),
            (await t.json(path('top-products'))).body.data.count,
          ],
          [t.times[0], 2],
        )
      assert.equal(t.errors.length, 1, t.errors.join())
    })
  }

  test('the next build is whole again, whatever name it has', async () => {
    for (const remove of [
      (t: AnalyticsShop) => rmSync(folder(t, 'build-000002'), { recursive: true }),
      (t: AnalyticsShop) => truncateSync(folder(t, 'build-000002', 'meta'), 9),
      (t: AnalyticsShop) => rmSync(folder(t), { recursive: true }),
    ]) {
      await using t = await withBuilds(2)
      assert.equal(await asOf(t), t.times[1])
      remove(t)
      t.clock.advance(HOUR)
      await t.rebuild()
      assert.deepEqual([await asOf(t), t.errors], [iso(t.clock.ms), []])
    }
  })

  test('also when it is found only after others were answered', async () => {
    await using t = await withBuilds(2)
    t.expectErrors(/a build of the analytics cannot be read/)
    assert.equal(await asOf(t, 'trending'), t.times[1])
    truncateSync(folder(t, 'build-000002', 'price-gaps'), 10)
    assert.equal(await asOf(t, 'price-gaps'), t.times[0])
    assert.equal(await asOf(t, 'trending'), t.times[0], 'all metrics are of one build')
    assert.equal(t.app.ctx.analytics.status()!.isSecondChoice, true)
  })

  test('of all builds: there are no results, and the job builds anew', async () => {
    await using t = await withBuilds(2)
    t.expectErrors(/a build of the analytics cannot be read/)
    for (const build of ['build-000001', 'build-000002']) truncateSync(folder(t, build, 'meta'), 5)
    assert.deepEqual(
      (await answers(t)).map(({ as_of: at, count }) => [at, count]),
      SLUGS.map(() => [null, 0]),
    )
    assert.equal(t.errors.length, 2)
    assert.equal(t.app.ctx.analytics.status(), null)
  })

  test('a build that was not finished does not serve', async () => {
    await using t = await withBuilds(2)
    writeFileSync(folder(t, 'current'), 'build-000001\n')
    assert.equal(await asOf(t), t.times[0], 'the newer one has its name, but was not named yet')
    mkdirSync(folder(t, 'work', 'build'), { recursive: true })
    mkdirSync(folder(t, 'build-abc'))
    await t.rebuild()
    assert.deepEqual(
      [await asOf(t), readFileSync(folder(t, 'current'), 'utf8')],
      [iso(t.clock.ms), 'build-000003\n'],
    )
    assert.deepEqual(t.errors, [])
  })

  for (const text of ['', 'build-000099\n', '../../etc\n', '\u0000']) {
    test(`current says ${JSON.stringify(text)}: the newest whole build serves`, async () => {
      await using t = await withBuilds(2)
      if (text.startsWith('build')) t.expectErrors(/a build of the analytics cannot be read/)
      writeFileSync(folder(t, 'current'), text)
      assert.equal(await asOf(t), t.times[1])
    })
  }

  test('a build of another release is none', async () => {
    await using t = await withBuilds(1)
    t.expectErrors(/a build of the analytics cannot be read/)
    const list = folder(t, 'build-000001', 'meta')
    const { crc32 } = await import('node:zlib')
    const json = readFileSync(list, 'utf8').split('\n')[1]!.replace('"form":2', '"form":0')
    writeFileSync(list, `${crc32(json)}\n${json}`)
    assert.equal(await asOf(t), null)
    assert.match(t.errors.join(), /another release/)
  })
})

test('a build that is replaced while it is read answers whole, or the next one does', async () => {
  await using t = await withBuilds(1)
  const expected = new Map((await answers(t)).map(({ metric, results }) => [metric, results]))
  const allowed = new Set([t.times[0]!])
  let going = true
  let asked = 0
  const ask = async (n: number) => {
    while (going) {
      const slug = SLUGS[asked++ % SLUGS.length]!
      // Another limit each time: nothing is answered from memory.
      const data = await t.shop.analytics({ metric: slug, limit: 2 + ((asked * 4 + n) % 190) })
      assert.ok(allowed.has(data.as_of!), data.as_of!)
      assert.deepEqual(data.results, expected.get(slug))
      // Once every limit was asked for, answers come from memory: a loop over these alone would
      // keep the rebuild, and with it the end, from its turn for ever.
      await nextTurn()
    }
  }
  const asking = Promise.all([0, 1, 2, 3].map(ask))
  for (let round = 0; round < 6; round++) {
    // The same day, so that the results stay the same ones.
    t.clock.advance(1)
    allowed.add(iso(t.clock.ms))
    await t.rebuild()
    await pause(20)
  }
  going = false
  await asking
  assert.ok(asked > 40, `${asked} answers`)
  assert.deepEqual(t.errors, [])
})

test('a build that is removed under a reader is looked for again, and not called damaged', async () => {
  await using t = await withBuilds(2)
  assert.equal(await asOf(t), t.times[1])
  // As if two builds had come in between: the one that is known is gone, and current names another.
  renameSync(folder(t, 'build-000002'), folder(t, 'build-000007'))
  writeFileSync(folder(t, 'current.new'), 'build-000007\n')
  renameSync(folder(t, 'current.new'), folder(t, 'current'))
  assert.equal(await asOf(t, 'price-gaps'), t.times[1])
  assert.deepEqual([t.errors, t.app.ctx.analytics.status()!.build], [[], 'build-000007'])
})

describe('memory', () => {
  test('columns are read when a metric is asked for, and once', async () => {
    await using t = await withBuilds(1)
    const { analytics } = t.app.ctx
    assert.deepEqual(analytics.kept(), { sections: 0, combined: 0, answers: 0 })
    await asOf(t, 'trending')
    await asOf(t, 'trending', '?limit=1')
    await asOf(t, 'top-products', '?window=30d')
    assert.deepEqual(analytics.kept(), { sections: 2, combined: 2, answers: 3 })
  })

  test('columns are dropped when nobody asks any more, and read again', async () => {
    await using t = await withBuilds(1, { faults: { analytics: { idle: 150 } } })
    const { analytics } = t.app.ctx
    await asOf(t, 'trending')
    const isEmpty = () => Object.values(analytics.kept()).every((count) => count === 0)
    while (!isEmpty()) await pause(50)
    assert.equal((await t.json(path('trending'))).body.data.count, 1)
  })

  test('what is asked again is answered from memory', async () => {
    await using t = await withBuilds(1)
    const first = await answers(t)
    for (const file of readdirSync(folder(t, 'build-000001')))
      rmSync(folder(t, 'build-000001', file))
    assert.deepEqual(await answers(t), first)
    assert.deepEqual(t.errors, [])
  })

  test('another build lets go of the one before', async () => {
    await using t = await withBuilds(1)
    await answers(t)
    assert.deepEqual(t.app.ctx.analytics.kept(), { sections: 7, combined: 7, answers: 7 })
    await t.rebuild()
    await asOf(t)
    assert.deepEqual(t.app.ctx.analytics.kept(), { sections: 1, combined: 1, answers: 1 })
  })

  test('who asks at once waits for the same columns', async () => {
    await using t = await withBuilds(1)
    await Promise.all(Array.from({ length: 20 }, (_, i) => asOf(t, 'trending', `?limit=${i + 1}`)))
    assert.deepEqual(t.app.ctx.analytics.kept(), { sections: 1, combined: 1, answers: 20 })
  })
})

test('a rebuild that cannot write leaves what serves as it was', async () => {
  await using t = await withBuilds(1)
  // Something else has the name of the next one.
  mkdirSync(folder(t, 'build-000002', 'meta'), { recursive: true })
  assert.equal(await asOf(t), t.times[0])
  await t.rebuild()
  assert.deepEqual(
    [await asOf(t), readFileSync(folder(t, 'current'), 'utf8')],
    [iso(t.clock.ms), 'build-000003\n'],
  )
  await assert.rejects(rebuildHere(join(t.app.dir, 'nowhere'), t.clock.ms))
})
