/** When the history is rolled up, and what a kill, a clock and late files do to it. */
import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { startAnalytics } from '../../../lib/analytics/builds/child-start.js'
import {
  dayFile,
  daysIn,
  historyPaths,
  removeOldDays,
} from '../../../lib/analytics/history/files.js'
import { DAY, HOUR, MINUTE, dayOf } from '../../../lib/core/clock.js'
import type { OperatorCtx } from '../../../lib/app/ctx.js'
import { filesIn } from '../../../lib/db/sqlite/folder.js'
import { takeLock } from '../../../lib/db/sqlite/locks.js'
import { openFile } from '../../../lib/db/sqlite/sqlite.js'
import { createTestApp } from '../../../server/testing/index.js'
import { childOf, isAlive } from '../../exports/child.js'
import { GTIN, historyBench } from './bench.js'
import type { HistoryBench } from './bench.js'

const MONDAY = Date.UTC(2026, 5, 1)
const TUESDAY = MONDAY + DAY
const SIGNAL = new AbortController().signal

/** What the job is told of an app. */
const over = (dir: string, now: number) => ({
  engine: { dir } as OperatorCtx['engine'],
  now: () => now,
})
const sums = (rows: readonly { sold: number; restocks: number }[]) =>
  rows.reduce(
    ([sold, restocks], row) => [sold + row.sold, restocks + row.restocks] as [number, number],
    [0, 0] as [number, number],
  )
/** A comparison of many rows member by member would take longer than the roll-up. */
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
const rowsLeft = (bench: HistoryBench) =>
  bench.history.prepare('SELECT count(*) FROM change').pluck().get() as number

describe('the roll-up', () => {
  test('is done by a job once a day is over, in a process of its own', async () => {
    await using t = await createTestApp()
    t.clock.ms = TUESDAY - HOUR
    const bench = historyBench(t.app.dir)
    bench.feed('RSR', MONDAY + HOUR, [{ stockid: 'A', qty: 10 }])
    bench.feed('RSR', MONDAY + 2 * HOUR, [{ stockid: 'A', qty: 8 }])
    await t.app.jobs.run('history')
    assert.deepEqual(daysIn(t.app.dir), [])
    assert.ok(!existsSync(join(t.app.dir, 'analytics')), 'no process was started')
    t.clock.ms = TUESDAY
    await t.app.jobs.run('history')
    assert.deepEqual(daysIn(t.app.dir), ['2026-06-01'])
    assert.deepEqual(readdirSync(join(t.app.dir, 'analytics')), ['lock'])
    assert.deepEqual(
      (await bench.files()).map(({ qty, sold }) => ({ qty, sold })),
      [{ qty: 8, sold: 2 }],
    )
    assert.equal(rowsLeft(bench), 0)
    bench.history.close()
  })

  test('waits for other analytics work on the folder, and a process that is gone keeps nobody out', async () => {
    using bench = historyBench()
    bench.feed('RSR', MONDAY, [{ stockid: 'A', qty: 10 }])
    await startAnalytics(over(bench.dir, MONDAY), { task: 'roll-up' }, { signal: SIGNAL })
    const lock = takeLock(join(bench.dir, 'analytics', 'lock'))!
    writeFileSync(join(bench.dir, 'history', 'state.parquet.draft'), 'half')
    const working = startAnalytics(
      over(bench.dir, TUESDAY),
      { task: 'roll-up' },
      { signal: SIGNAL },
    )
    await childOf(process.pid)
    assert.equal(
      await Promise.race([
        working.then(() => 'done'),
        new Promise((resolve) => {
          setTimeout(() => resolve('waits'), 700)
        }),
      ]),
      'waits',
    )
    lock.close()
    const { days, peak } = await working
    assert.deepEqual(days, ['2026-06-01'])
    assert.ok(peak > 20e6 && peak < 600e6, `${peak} bytes`)
    assert.deepEqual(
      readdirSync(join(bench.dir, 'history')).filter((name) => !name.startsWith('history.db')),
      ['days', 'state.parquet'],
    )
  })

  test('ends with the app', async () => {
    using bench = historyBench()
    const many = Array.from({ length: 60_000 }, (_, i) => ({
      stockid: `A${i}`,
      upc: String(GTIN + i),
      qty: 5,
    }))
    bench.feed('RSR', MONDAY, many)
    const ending = new AbortController()
    const working = startAnalytics(
      over(bench.dir, TUESDAY),
      { task: 'roll-up' },
      { signal: ending.signal },
    )
    const pid = await childOf(process.pid)
    ending.abort()
    await assert.rejects(working, /the roll-up of analytics was not done: the app closes/)
    assert.ok(!isAlive(pid))
    assert.deepEqual(await bench.rollUp(TUESDAY), ['2026-06-01'])
  })
})

/** Two days of many items, the first one rolled up. */
async function twoDays(items: number): Promise<HistoryBench> {
  const bench = historyBench(mkdtempSync(join(tmpdir(), 'qm-history-')))
  const many = (qty: (i: number) => number) =>
    Array.from({ length: items }, (_, i) => ({
      stockid: `A${i}`,
      upc: String(GTIN + i),
      qty: qty(i),
    }))
  bench.feed(
    'RSR',
    MONDAY + HOUR,
    many((i) => 10 + (i % 5)),
  )
  await bench.rollUp(TUESDAY)
  bench.feed(
    'RSR',
    TUESDAY + HOUR,
    many((i) => 10 - (i % 3)),
  )
  bench.feed(
    'RSR',
    TUESDAY + 2 * HOUR,
    many((i) => 5 + (i % 7)),
  )
  return bench
}

describe('a roll-up that is killed', () => {
  /** Null where it went on to the next rename before it was killed. */
  async function killBetweenRenames(bench: HistoryBench): Promise<unknown> {
    const [day, { state }] = [dayFile(bench.dir, '2026-06-02'), historyPaths(bench.dir)]
    const old = readFileSync(state)
    const working = startAnalytics(
      over(bench.dir, TUESDAY + DAY),
      { task: 'roll-up' },
      { signal: SIGNAL },
    )
    const pid = await childOf(process.pid)
    while (!existsSync(day)) await new Promise(setImmediate)
    process.kill(pid, 'SIGKILL')
    const ended = await working.then(
      () => null,
      (error: unknown) => error,
    )
    return readFileSync(state).equals(old) ? ended : null
  }

  test('between the renames of the day and of the state is done again, with the same outcome', async () => {
    let bench = await twoDays(20_000)
    const whole = mkdtempSync(join(tmpdir(), 'qm-history-'))
    try {
      const before = await bench.seen(TUESDAY + DAY)
      bench.history.pragma('wal_checkpoint(TRUNCATE)')
      cpSync(bench.dir, whole, { recursive: true })
      let killed = await killBetweenRenames(bench)
      // On a busy machine it is seen too late now and then.
      for (let tries = 1; killed === null && tries < 10; tries++) {
        bench.close()
        bench = await twoDays(20_000)
        killed = await killBetweenRenames(bench)
      }
      assert.match(String(killed), /its process ended with SIGKILL/)
      assert.equal(rowsLeft(bench), 40_000, 'and nothing was deleted')
      assert.ok(same(await bench.seen(TUESDAY + DAY), before), 'the day is not there twice')

      assert.deepEqual(await bench.rollUp(TUESDAY + DAY), ['2026-06-02'])
      const undisturbed = historyBench(whole)
      await undisturbed.rollUp(TUESDAY + DAY)
      assert.ok(same(await bench.files(), await undisturbed.files()))
      assert.ok(same(await bench.seen(TUESDAY + DAY), before))
      assert.equal(rowsLeft(bench), 0)
      undisturbed.close()
    } finally {
      bench.close()
      rmSync(whole, { recursive: true, force: true })
    }
  })

  test("before it has deleted the day's changes leaves rows that the next one deletes and nobody counts", async () => {
    const bench = await twoDays(300)
    const copy = mkdtempSync(join(tmpdir(), 'qm-history-'))
    try {
      const path = join(copy, 'history.db')
      bench.history.prepare('VACUUM INTO ?').run(path)
      const before = await bench.seen(TUESDAY + DAY)
      await bench.rollUp(TUESDAY + DAY)
      // The files of after, and the rows of before.
      bench.history.close()
      for (const tail of ['', '-wal', '-shm'])
        rmSync(filesIn(bench.dir).history + tail, { force: true })
      cpSync(path, filesIn(bench.dir).history)
      bench.history = openFile(filesIn(bench.dir).history, { synchronous: 'NORMAL' })
      assert.deepEqual(await bench.seen(TUESDAY + DAY), before)
      assert.deepEqual(await bench.rollUp(TUESDAY + DAY), [])
      assert.equal(rowsLeft(bench), 0)
      assert.deepEqual(await bench.seen(TUESDAY + DAY), before)
      bench.feed('RSR', TUESDAY + 3 * HOUR, [{ stockid: 'A0', qty: 1 }], TUESDAY + DAY + HOUR)
      assert.equal(
        (await bench.seen(TUESDAY + 2 * DAY)).daily.filter(({ day }) => day === '2026-06-03')
          .length,
        1,
        'the day is closed, whatever the restored file says',
      )
    } finally {
      bench.close()
      rmSync(copy, { recursive: true, force: true })
    }
  })
})

describe('times', () => {
  test('changes for a day that is rolled up count for the first day that is open', async () => {
    using bench = historyBench()
    bench.feed('RSR', MONDAY + HOUR, [{ stockid: 'A', qty: 10 }])
    bench.feed('LIP', MONDAY + HOUR, [{ stockid: 'A', qty: 10 }])
    await bench.rollUp(TUESDAY + 5 * MINUTE)
    // Pulled at ten past midnight, made before it.
    bench.feed('RSR', TUESDAY - 10 * MINUTE, [{ stockid: 'A', qty: 7 }], TUESDAY + 10 * MINUTE)
    bench.feed('RSR', TUESDAY - 5 * MINUTE, [{ stockid: 'A', qty: 9 }], TUESDAY + 11 * MINUTE)
    assert.deepEqual(bench.history.prepare('SELECT at, qty FROM change').all(), [
      { at: TUESDAY, qty: 7 },
      { at: TUESDAY + 1, qty: 9 },
    ])
    await bench.rollUp(TUESDAY + DAY)
    assert.deepEqual(
      (await bench.files())
        .filter(({ distid }) => distid === 'RSR')
        .map(({ day, sold, restocks }) => [day, sold, restocks]),
      [
        ['2026-06-01', 0, 0],
        ['2026-06-02', 3, 1],
      ],
    )
  })

  test("a feed that is older than the distributor's last one comes after it all the same", async () => {
    using bench = historyBench()
    bench.feed('RSR', MONDAY + 2 * HOUR, [{ stockid: 'A', qty: 10, price: 500 }])
    bench.feed('RSR', MONDAY + HOUR, [{ stockid: 'A', qty: 10, price: 600 }], MONDAY + 3 * HOUR)
    bench.feed('RSR', MONDAY + 4 * HOUR, [{ stockid: 'A', qty: 9, price: 600 }])
    assert.deepEqual(
      (await bench.seen(TUESDAY)).daily.map(({ price, qty, sold }) => [price, qty, sold]),
      [[600, 9, 1]],
    )
  })

  test('a feed that is taken in again after a crash writes the same rows again', async () => {
    using bench = historyBench()
    bench.feed('RSR', MONDAY + HOUR, [{ stockid: 'A', qty: 10 }])
    for (const now of [MONDAY + 2 * HOUR, MONDAY + 3 * HOUR])
      bench.feed('RSR', MONDAY + 2 * HOUR, [{ stockid: 'A', qty: 4 }], now)
    assert.equal(rowsLeft(bench), 2)
    assert.deepEqual(sums((await bench.seen(TUESDAY)).daily), [6, 0])
  })

  test('a clock that is set back rolls nothing up twice, and loses nothing', async () => {
    using bench = historyBench()
    bench.feed('RSR', MONDAY, [{ stockid: 'A', qty: 100 }])
    bench.feed('RSR', TUESDAY, [{ stockid: 'A', qty: 90 }])
    assert.deepEqual(await bench.rollUp(TUESDAY + DAY), ['2026-06-01', '2026-06-02'])
    // Two days back: feeds go on, and are of the first day that is open.
    for (const [hour, qty] of [
      [1, 85],
      [2, 95],
      [3, 80],
    ] as const)
      bench.feed('RSR', MONDAY + hour * HOUR, [{ stockid: 'A', qty }])
    assert.deepEqual(await bench.rollUp(MONDAY + 4 * HOUR), [])
    assert.equal(rowsLeft(bench), 3)
    assert.deepEqual(sums((await bench.seen(MONDAY + 4 * HOUR)).daily), [30, 1])
    bench.feed('RSR', TUESDAY + DAY + HOUR, [{ stockid: 'A', qty: 79 }])
    assert.deepEqual(await bench.rollUp(TUESDAY + DAY + 2 * HOUR), [], 'that day is not over')
    assert.deepEqual(await bench.rollUp(TUESDAY + 2 * DAY), ['2026-06-03'])
    assert.deepEqual(
      (await bench.files()).map(({ day, sold, restocks }) => [day, sold, restocks]),
      [
        ['2026-06-01', 0, 0],
        ['2026-06-02', 10, 0],
        ['2026-06-03', 21, 1],
      ],
    )
  })

  test('a clock that was ten years ahead keeps nothing in that future', async () => {
    using bench = historyBench()
    bench.feed('RSR', MONDAY, [{ stockid: 'A', qty: 100 }])
    for (const [minute, qty] of [
      [0, 90],
      [20, 70],
    ] as const)
      bench.feed('RSR', MONDAY + 3_650 * DAY + minute * MINUTE, [{ stockid: 'A', qty }])
    bench.feed('RSR', MONDAY + 2 * HOUR, [{ stockid: 'A', qty: 65 }])
    bench.feed('RSR', MONDAY + 3 * HOUR, [{ stockid: 'A', qty: 64 }])
    assert.deepEqual(await bench.rollUp(TUESDAY), ['2026-06-01'])
    assert.equal(rowsLeft(bench), 0)
    // What was seen first "after ten years" is of no day.
    assert.deepEqual(
      (await bench.files()).map(({ qty, sold }) => [qty, sold]),
      [[64, 36]],
    )
  })

  test('a day in the future is not rolled up', async () => {
    using bench = historyBench()
    bench.feed('RSR', MONDAY + 5 * DAY, [{ stockid: 'A', qty: 1 }])
    assert.deepEqual(await bench.rollUp(MONDAY + 5 * DAY - 1), [])
    assert.deepEqual(await bench.rollUp(MONDAY + 6 * DAY - 1), [])
    assert.deepEqual(await bench.rollUp(MONDAY + 6 * DAY), ['2026-06-06'])
  })
})

describe('what is kept', () => {
  test('files of days go after 13 months, as seen from the newest day, and the state stays', async () => {
    using bench = historyBench()
    const day = (n: number) => dayOf(MONDAY + n * DAY)
    for (const n of [0, 399]) {
      bench.feed('RSR', MONDAY + n * DAY, [{ stockid: 'A', qty: 100 + n }])
      // As if each day between had its file.
      for (let between = 1; between < n; between++)
        writeFileSync(dayFile(bench.dir, day(between)), '')
      await bench.rollUp(MONDAY + (n + 1) * DAY)
    }
    const days = daysIn(bench.dir)
    assert.deepEqual([days[0], days.at(-1), days.length], ['2026-06-05', '2027-07-05', 396])
    removeOldDays(bench.dir, '2027-07-10')
    assert.equal(daysIn(bench.dir).length, 396)
    assert.deepEqual(
      (await bench.seen(MONDAY + 400 * DAY)).items.map(({ qty, first_at }) => [qty, first_at]),
      [[499, MONDAY]],
    )
  })

  test('a clock that was years ahead over some midnights costs no day', async () => {
    using bench = historyBench()
    for (const n of [0, 1, 3_650, 3_651, 3_652]) {
      bench.feed('RSR', MONDAY + n * DAY, [{ stockid: 'A', qty: 100 + n }])
      await bench.rollUp(MONDAY + (n + 1) * DAY)
    }
    assert.deepEqual(daysIn(bench.dir).slice(0, 2), ['2026-06-01', '2026-06-02'])
  })

  test('metrics see 91 days, today among them, and nothing at all before there is any', async () => {
    using bench = historyBench()
    assert.deepEqual(await bench.seen(MONDAY), { damaged: [], daily: [], items: [] })
    for (let day = 0; day < 4; day++)
      bench.feed('RSR', MONDAY + day * DAY, [{ stockid: 'A', qty: 10 + day }])
    await bench.rollUp(MONDAY + 3 * DAY)
    const days = async (day: number) =>
      (await bench.seen(MONDAY + day * DAY)).daily.map((row) => row.day)
    assert.deepEqual(await days(90), ['2026-06-01', '2026-06-02', '2026-06-03', '2026-06-04'])
    assert.deepEqual(await days(91), ['2026-06-02', '2026-06-03', '2026-06-04'])
    assert.deepEqual(await days(94), [])
  })

  test('a feed is noted as seen when nothing changed, but for its last time only while the day is open', async () => {
    using bench = historyBench()
    bench.feed('RSR', MONDAY, [{ stockid: 'A', qty: 10 }])
    for (const hour of [1, 2, 3]) bench.unchanged('RSR', MONDAY + hour * HOUR)
    bench.feed('LIP', MONDAY + HOUR, [])
    await bench.rollUp(TUESDAY)
    assert.deepEqual(bench.history.prepare('SELECT distid, at FROM seen ORDER BY distid').all(), [
      { distid: 'LIP', at: MONDAY + HOUR },
      { distid: 'RSR', at: MONDAY + 3 * HOUR },
    ])
  })

  test('a day whose file is damaged is left out and logged; a damaged state is an error with advice', async () => {
    using bench = historyBench()
    for (let day = 0; day < 4; day++) {
      bench.feed('RSR', MONDAY + day * DAY, [{ stockid: 'A', qty: 10 - day }])
      await bench.rollUp(MONDAY + (day + 1) * DAY)
    }
    for (const [day, damage] of [
      ['2026-06-02', (path: string) => truncateSync(path, 200)],
      ['2026-06-03', (path: string) => writeFileSync(path, '')],
    ] as const)
      damage(dayFile(bench.dir, day))
    const { daily, damaged } = await bench.seen(MONDAY + 4 * DAY)
    assert.deepEqual(
      [damaged, daily.map(({ day }) => day)],
      [
        ['2026-06-02', '2026-06-03'],
        ['2026-06-01', '2026-06-04'],
      ],
    )
    truncateSync(historyPaths(bench.dir).state, 100)
    await assert.rejects(
      bench.seen(MONDAY + 4 * DAY),
      /state\.parquet cannot be read: bring it and the days beside it back from a backup/,
    )
  })

  test('days without the state that belongs to them are an error that says what to do', async () => {
    using bench = historyBench()
    bench.feed('RSR', MONDAY, [{ stockid: 'A', qty: 10 }])
    await bench.rollUp(TUESDAY)
    rmSync(historyPaths(bench.dir).state)
    bench.feed('RSR', TUESDAY, [{ stockid: 'A', qty: 9 }])
    await assert.rejects(
      bench.rollUp(TUESDAY + DAY),
      /state\.parquet is missing.*bring it back from a backup, or remove the days/,
    )
    assert.equal(rowsLeft(bench), 1)
  })
})
