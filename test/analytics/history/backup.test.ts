/**
 * The history in a backup: whatever is rolled up while it is made, what comes back is all of it,
 * once.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { historyPaths } from '../../../lib/analytics/history/files.js'
import { openBackground } from '../../../lib/app/background/background.js'
import type { Background } from '../../../lib/core/async/background.js'
import type { Tasks } from '../../../lib/app/background/tasks.js'
import { makeBackup } from '../../../lib/app/backup/backup.js'
import { DAY, HOUR } from '../../../lib/core/clock.js'
import { silentLog } from '../../../lib/core/log.js'
import { openForTest as open } from '../../../server/testing/open.js'
import { restoreBackup } from '../../../lib/app/backup/restore.js'
import { createTestApp } from '../../../server/testing/index.js'
import type { TestApp } from '../../../server/testing/index.js'
import { historyBench } from './bench.js'
import type { HistoryBench } from './bench.js'

let scratch: string
before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-history-backup-'))
})
after(() => rmSync(scratch, { recursive: true, force: true }))
let places = 0
const place = () => join(scratch, String(places++))

/** A shop with five days of history up to now, the first two of them rolled up. */
async function shop(): Promise<{ t: TestApp; bench: HistoryBench; today: number }> {
  const t = await createTestApp()
  const bench = historyBench(t.app.dir)
  const today = Math.floor(t.clock.ms / DAY) * DAY
  for (let ago = 4; ago >= 0; ago--) {
    for (const hour of [1, 5, 9])
      bench.feed(
        'RSR',
        today - ago * DAY + hour * HOUR,
        ['A', 'B', 'C'].map((stockid, i) => ({
          stockid,
          upc: `85001234560${i + 1}`,
          qty: 100 - 7 * (4 - ago) - hour - i,
        })),
      )
    if (ago === 2) await bench.rollUp(today - 2 * DAY)
  }
  return { t, bench, today }
}

/** The same copies, and something else that happens in between. */
function between(happens: (copied: string) => Promise<unknown>): Background<Tasks> {
  const background = openBackground({ worker: false, log: silentLog })
  return {
    close: () => background.close(),
    run: (name, input, onProgress) =>
      background
        .run(name, input, onProgress)
        .then((result) => happens((input as { from: string }).from).then(() => result)),
  }
}

describe('a backup', () => {
  test('has the days, the state and what is open, and a restore brings them back', async () => {
    const { t, bench } = await shop()
    await using _ = t
    const known = await bench.seen(t.clock.ms)
    writeFileSync(`${historyPaths(t.app.dir).state}.draft`, 'half')
    const to = place()
    const { files } = await t.app.operator.backup({ to })
    assert.deepEqual(
      files.map(({ path }) => path).filter((path) => path.startsWith('history/')),
      [
        'history/history.db',
        'history/state.parquet',
        'history/days/2026-11-17.parquet',
        'history/days/2026-11-18.parquet',
      ],
    )
    const dir = place()
    await restoreBackup({ backup: to, dir, keys: join(t.app.dir, 'keys'), now: () => t.clock.ms })
    const restored = historyBench(dir)
    assert.deepEqual(await restored.seen(t.clock.ms), known)
    restored.history.close()
    const app = await open({ dir, worker: false, now: () => t.clock.ms })
    await app.jobs.run('history')
    await app.close()
    const rolled = historyBench(dir)
    assert.deepEqual(await rolled.seen(t.clock.ms), known)
    rolled.history.close()
    bench.history.close()
  })

  for (const [when, isTime] of [
    ['before history.db is copied', (path: string) => path.endsWith('quartermaster.db')],
    ['between history.db and the files', (path: string) => path.endsWith('history.db')],
  ] as const) {
    test(`is whole when days are rolled up ${when}`, async () => {
      const { t, bench, today } = await shop()
      await using _ = t
      const known = await bench.seen(t.clock.ms)
      const to = place()
      let rolled: string[] = []
      const background = between(async (copied) => {
        if (isTime(copied)) rolled = await bench.rollUp(today)
      })
      await makeBackup(t.app.ctx, background, { to })
      assert.equal(rolled.length, 2)
      const copy = historyBench(to)
      assert.deepEqual(await copy.seen(t.clock.ms), known)
      await copy.rollUp(today + DAY)
      bench.history.pragma('wal_checkpoint')
      await bench.rollUp(today + DAY)
      assert.deepEqual(await copy.files(), await bench.files())
      assert.deepEqual(
        [copy, bench].map(({ history }) =>
          history.prepare('SELECT count(*) FROM change').pluck().get(),
        ),
        [0, 0],
      )
      copy.history.close()
      bench.history.close()
    })
  }
})
