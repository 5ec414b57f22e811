/**
 * What flags of states cost: `npx tsx scripts/bench/flags.ts [rows]`, 1,000,000 by default.
 * The yardstick is the same file by the same preset without its flags, in turns, each of the two
 * first as often. Processor time, which other programs of the machine disturb least:
 *
 *   first ingest   a file that nobody has seen, every row of it: goal at most 1.15 x
 *   5 % changed    the flags of one row in twenty are others: goal at most 1.15 x
 *   snapshot       built and opened: goal at most 1.05 x
 *   check          100 items by (distid, sku), or by UPC, without a rule: no goal; in us an item
 */
import { mkdtempSync, openSync, rmSync, statSync, writeSync, closeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { attributesOf, restrictedStatesOf } from '../../lib/catalog/queries.js'
import { buildSnapshot } from '../../lib/catalog/snapshot/build.js'
import { openSnapshot } from '../../lib/catalog/snapshot/open.js'
import type { Snapshot } from '../../lib/catalog/snapshot/snapshot.js'
import { migrate } from '../../lib/db/sqlite/migrate.js'
import { catalogSchema } from '../../lib/db/migrations/catalog.js'
import { historySchema } from '../../lib/db/migrations/history.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import type { Raw } from '../../lib/db/sqlite/sqlite.js'
import { COLUMNS, STATES, catalog as RSR } from '../../lib/distributors/builtin/rsr/feed.js'
import type { CatalogPreset } from '../../lib/distributors/generic/preset.js'
import { ingestFeed } from '../../lib/feeds/ingest/ingest.js'
import { judge } from '../../lib/restrictions/check.js'
import { placeOf } from '../../lib/restrictions/destination.js'
import { itemFacts } from '../../lib/restrictions/item-facts.js'
import { indexRules } from '../../lib/restrictions/rules/compile.js'
import type { CheckItem } from '../../lib/restrictions/shapes.js'

const ROWS = Number(process.argv[2] ?? 1_000_000)
const ROUNDS = 3
const REQUESTS = 200
const ITEMS = 100
const WITHOUT: CatalogPreset = { ...RSR }
delete WITHOUT.stateFlags

/** Five or six flags a row, as items of firearms have them. */
function writeFeed(path: string, edition: number): void {
  const file = openSync(path, 'w')
  const departments = ['01', '05', '08', '10', '14', '18', '34', '13']
  for (let i = 0; i < ROWS; i += 5_000) {
    let block = ''
    for (let n = i; n < Math.min(i + 5_000, ROWS); n++) {
      const moved = n % 20 === 0 ? edition : 0
      const cells: Record<string, string> = {
        stock: `SKU${n}`,
        upc: String(700_000_000_000 + (n >> 1)),
        description: `MAKER ${n % 900} COMPACT TACTICAL ${n}`,
        department: departments[n % 8]!,
        price: ((1_000 + ((n * 37) % 90_000)) / 100).toFixed(2),
        quantity: String((n * 13) % 50),
        manufacturer: `Maker ${n % 900}`,
        'part number': `MPN-${n}`,
        'expanded description': `Maker ${n % 900} compact with a finish, ${n % 30} rounds`,
      }
      STATES.forEach((state, at) => {
        if ((n * 7 + (at + moved) * 13) % 9 === 0) cells[state] = 'Y'
      })
      block += `${COLUMNS.map((column) => cells[column] ?? '').join(';')}\n`
    }
    writeSync(file, block)
  }
  closeSync(file)
}

interface Side {
  name: string
  preset: CatalogPreset
  catalog: Raw
  history: Raw
  times: Record<string, number[]>
  snapshot?: Snapshot
}

function sideOf(dir: string, name: string, preset: CatalogPreset): Side {
  const catalog = openFile(join(dir, `${name}.db`), { synchronous: 'NORMAL' })
  migrate(catalog, 'catalog.db', catalogSchema)
  const history = openFile(join(dir, `${name}-history.db`), { synchronous: 'NORMAL' })
  migrate(history, 'history.db', historySchema)
  return { name, preset, catalog, history, times: {} }
}

async function timed(side: Side, what: string, run: () => unknown): Promise<void> {
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  ;(side.times[what] ??= []).push((user + system) / 1_000)
}

let clock = Date.UTC(2026, 0, 1)
async function ingest({ catalog, history, preset }: Side, file: string): Promise<void> {
  clock += 60_000
  const taken = await ingestFeed({
    catalog,
    history,
    now: clock,
    preset,
    source: 'RSR/rsr',
    subscriberId: null,
    file,
    asOf: clock,
  })
  if (taken.outcome === 'refused') throw new Error(taken.reasons.join('; '))
}

/** Requests of 100 items each; returns how many items are blocked or warned of. */
function check({ catalog, snapshot }: Side, byUpc: boolean): number {
  const rules = { active: { digest: '', index: indexRules([]) }, overrides: [] }
  const sources = {
    snapshot: snapshot!,
    readAttributes: attributesOf(catalog),
    readStates: restrictedStatesOf(catalog),
  }
  let found = 0
  for (let r = 0; r < REQUESTS; r++) {
    const place = placeOf({ state: STATES[r % 51]! })
    for (let i = 0; i < ITEMS; i++) {
      const n = (r * 7_919 + i * 104_729) % ROWS
      const item = byUpc
        ? { upc: String(700_000_000_000 + (n >> 1)) }
        : { distid: 'RSR', sku: `SKU${n}` }
      const facts = itemFacts(item as CheckItem, sources)
      const { blocking_rules: blocked, warnings } = judge(
        rules,
        facts,
        { place, day: '2026-11-21' },
        {},
      )
      found += blocked.length + warnings.length
    }
  }
  return found
}

const median = (times: number[]) => [...times].sort((a, b) => a - b)[times.length >> 1]!

const dir = mkdtempSync(join(tmpdir(), 'qm-flags-'))
try {
  const files = Array.from({ length: ROUNDS + 1 }, (_, edition) => {
    const path = join(dir, `feed-${edition}.txt`)
    writeFeed(path, edition)
    return path
  })
  const megabytes = (path: string) => `${(statSync(path).size / 1e6).toFixed(0)} MB`
  console.log(`${ROWS.toLocaleString('en-US')} rows, ${megabytes(files[0]!)}`)
  const [withFlags, without] = [sideOf(dir, 'flags', RSR), sideOf(dir, 'plain', WITHOUT)]
  const sides = [without, withFlags]
  for (const side of sides) await timed(side, 'first ingest', () => ingest(side, files[0]!))
  for (const file of files.slice(1)) {
    for (const side of sides.reverse()) {
      await timed(side, '5 % changed', () => ingest(side, file))
      await timed(side, 'snapshot', () => {
        side.snapshot = openSnapshot(buildSnapshot(side.catalog))
      })
    }
  }
  const found: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    for (const side of sides.reverse())
      for (const byUpc of [false, true])
        await timed(side, byUpc ? 'check by UPC' : 'check', () => {
          found.push(`${side.name}: ${check(side, byUpc)}`)
        })
  }
  for (const what of Object.keys(withFlags.times)) {
    const [one, other] = [withFlags, without].map(({ times }) => median(times[what]!)) as [
      number,
      number,
    ]
    const each = what.startsWith('check')
      ? `, ${((one * 1_000) / (REQUESTS * ITEMS)).toFixed(1)} us an item`
      : ''
    console.log(
      `${what.padEnd(14)} ${(one / 1_000).toFixed(2)} s with flags, ` +
        `${(other / 1_000).toFixed(2)} s without: ${(one / other).toFixed(2)} x${each}`,
    )
  }
  console.log(`found: ${[...new Set(found)].join(', ')}`)
  for (const { catalog } of sides) catalog.pragma('wal_checkpoint(TRUNCATE)')
  console.log(
    `catalog.db ${megabytes(join(dir, 'flags.db'))} with, ${megabytes(join(dir, 'plain.db'))} without`,
  )
} finally {
  rmSync(dir, { recursive: true, force: true })
}
