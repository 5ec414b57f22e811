/**
 * Feed ingest against its yardsticks: `npx tsx scripts/bench/ingest.ts [rows]`,
 * 1,000,000 by default.
 *
 *   5 % changed   against a guarded row upsert of the whole file in one transaction: goal at most 0.15 x
 *   unchanged     against a bare read of the file: goal at most 4 x
 */
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../../lib/db/sqlite/migrate.js'
import { catalogSchema } from '../../lib/db/migrations/catalog.js'
import { historySchema } from '../../lib/db/migrations/history.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { presets } from '../../lib/distributors/builtin/index.js'
import { ingestFeed } from '../../lib/feeds/ingest/ingest.js'
import { upsertFeed } from './upsert.js'

const ROWS = Number(process.argv[2] ?? 1_000_000)
const ROUNDS = 3
const DEPARTMENTS = ['01', '05', '08', '10', '14', '18', '34', '13']
const WORDS = (
  'Compact Tactical Match Hunter Carry Black Stainless Walnut Threaded Optic Ready Duty ' +
  'Classic Sport Field Target'
).split(' ')

/**
 * A file of the 77 RSR columns, about 300 bytes a row. Each `edition` changes price and stock of
 * one row in twenty.
 */
function writeFeed(path: string, edition: number): void {
  const file = openSync(path, 'w')
  let block = ''
  for (let i = 0; i < ROWS; i++) {
    let touched = 0
    for (let e = 1; e <= edition; e++) if ((i + e * 7) % 20 === 0) touched++
    const word = (n: number) => WORDS[(i * 7 + n * 5) % WORDS.length]
    const price = 1_000 + ((i * 37) % 90_000) + touched * 100
    const name = `MAKER ${i % 900} ${word(1)} ${word(2)} ${i}`
    const states = Array.from({ length: 51 }, (_, s) => ((i + s) % 41 === 0 ? 'Y' : '')).join(';')
    block +=
      [
        `SKU${i}`,
        String(700_000_000_000 + i),
        name,
        DEPARTMENTS[i % 8],
        `M${i % 900}`,
        ((price * 1.4) / 100).toFixed(2),
        (price / 100).toFixed(2),
        '16',
        (i * 13 + touched) % 50,
        `Model ${i % 5_000}`,
        `Maker ${i % 900}`,
        `MPN-${i}`,
        '',
        `${name} ${word(3)} ${word(4)} ${word(5)} with ${word(6)} finish, ${i % 30} rounds`,
        `SKU${i}_1.jpg`,
        states,
        '',
        '',
        i % 9 === 0 ? 'Y' : '',
        '20240101',
        ((price * 1.2) / 100).toFixed(2),
        '',
        '10.5',
        '4.2',
        '2.0',
        '',
        'Y',
      ].join(';') + '\n'
    if (block.length > 1 << 20) {
      writeSync(file, block)
      block = ''
    }
  }
  writeSync(file, block)
  closeSync(file)
}

async function bareRead(path: string): Promise<void> {
  const handle = await open(path)
  const buffer = Buffer.allocUnsafeSlow(1 << 20)
  while ((await handle.read(buffer, 0, buffer.length)).bytesRead > 0);
  await handle.close()
}

async function timed(run: () => unknown): Promise<number> {
  const start = performance.now()
  await run()
  return performance.now() - start
}

const median = (times: number[]) => times.sort((a, b) => a - b)[times.length >> 1]!
const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`.padStart(8)

const dir = mkdtempSync(join(tmpdir(), 'qm-bench-'))
try {
  const feeds = Array.from({ length: ROUNDS + 1 }, (_, edition) => join(dir, `feed-${edition}.txt`))
  feeds.forEach((path, edition) => writeFeed(path, edition))
  console.log(
    `${ROWS.toLocaleString('en-US')} rows, ${(statSync(feeds[0]!).size / 1e6).toFixed(0)} MB, ${ROUNDS} rounds`,
  )

  const catalog = openFile(join(dir, 'catalog.db'), { synchronous: 'NORMAL' })
  migrate(catalog, 'catalog.db', catalogSchema)
  const history = openFile(join(dir, 'history.db'), { synchronous: 'NORMAL' })
  migrate(history, 'history.db', historySchema)
  const yardstick = openFile(join(dir, 'yardstick.db'), { synchronous: 'NORMAL' })
  let now = Date.UTC(2026, 0, 1)
  const ingest = async (file: string) => {
    now += 60_000
    const result = await ingestFeed({
      catalog,
      history,
      now,
      preset: presets['rsr']!,
      source: 'RSR/rsr',
      subscriberId: null,
      file,
      asOf: now,
    })
    if (result.outcome === 'refused') throw new Error(result.reasons.join('; '))
    return result
  }

  console.log(`first ingest      ${seconds(await timed(() => ingest(feeds[0]!)))}`)
  console.log(
    `first upsert      ${seconds(await timed(() => upsertFeed(yardstick, presets['rsr']!, feeds[0]!)))}`,
  )
  const times: Record<'changed' | 'upsert' | 'same' | 'read', number[]> = {
    changed: [],
    upsert: [],
    same: [],
    read: [],
  }
  for (const file of feeds.slice(1)) {
    // One after the other in each round, so that a slow minute of the machine hits both.
    times.upsert.push(await timed(() => upsertFeed(yardstick, presets['rsr']!, file)))
    let changed = 0
    times.changed.push(
      await timed(async () => {
        changed = (await ingest(file)).changed
      }),
    )
    console.log(
      `  round: ${changed.toLocaleString('en-US')} offers changed, ingest ` +
        `${seconds(times.changed.at(-1)!)}, upsert ${seconds(times.upsert.at(-1)!)}`,
    )
    for (let i = 0; i < 3; i++) {
      times.read.push(await timed(() => bareRead(file)))
      times.same.push(await timed(() => ingest(file)))
    }
  }
  const [changed, upsert, same, read] = [
    median(times.changed),
    median(times.upsert),
    median(times.same),
    median(times.read),
  ]
  console.log(
    `5 % changed       ${seconds(changed)}   upsert ${seconds(upsert)}   ` +
      `${(changed / upsert).toFixed(3)} x (goal 0.15)`,
  )
  console.log(
    `unchanged         ${seconds(same)}   read   ${seconds(read)}   ${(same / read).toFixed(2)} x (goal 4)`,
  )
  console.log(`peak memory       ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB`)
} finally {
  rmSync(dir, { recursive: true, force: true })
}
