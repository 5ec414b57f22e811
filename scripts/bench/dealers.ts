/**
 * Dealers in 50 miles of 80,000, beside a bare R-tree of SQLite, query by query; answers must
 * agree. Goal: p50 and p99 <= 0.15 x. Also how long the directory takes to load, and how long it
 * holds the loop meanwhile.
 *   npx tsx scripts/bench/dealers.ts [dealers] [queries]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesIn, prepareFolder } from '../../lib/db/sqlite/folder.js'
import { openEngine } from '../../lib/db/sqlite/engine.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { openDealers } from '../../lib/ffls/directory.js'
import type { Directory } from '../../lib/ffls/directory.js'
import { MOST, nearDealers } from '../../lib/ffls/near.js'
import { milesChord, placeOfZip, unitVector, zipTable } from '../../lib/places/zips.js'
import { randomFrom } from './offers.js'
import { openSqlite } from '../../lib/db/sqlite/driver.js'

const DEALERS = Number(process.argv[2] ?? 80_000)
const QUERIES = Number(process.argv[3] ?? 4_000)
const RADIUS = 50
const TODAY = 20261121
/**
 * Parts of the dealers that RSR has on file, whose license has run out, and whose ZIP is not a ZIP
 * area.
 */
const SHARES = { onFile: 0.2, expired: 0.02, elsewhere: 0.03 }
const DENSE = [
  '10001',
  '90012',
  '60601',
  '77002',
  '75201',
  '19103',
  '20001',
  '30303',
  '85003',
  '02108',
  '33130',
  '63101',
  '15222',
]

const zipText = (number: number) => String(number).padStart(5, '0')

/**
 * Dealers by ZIP area, some with many and most with one or two: cities have many small areas, so
 * they come out dense.
 */
function generateDealers(path: string, count: number): void {
  const random = randomFrom(4)
  const { numbers } = zipTable()
  const share = () => (random.below(1_000_000) + 1) / 1_000_001
  const sums = new Float64Array(numbers.length)
  // A logarithmic normal distribution: the densest tenth of the areas has a third of the dealers.
  sums.forEach((_, i) => {
    sums[i] =
      (sums[i - 1] ?? 0) +
      Math.exp(Math.sqrt(-2 * Math.log(share())) * Math.cos(2 * Math.PI * share()))
  })
  const someZip = () => {
    if (share() < SHARES.elsewhere) return random.below(99_950) + 1
    const wanted = share() * sums.at(-1)!
    let [low, high] = [0, sums.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (sums[middle]! < wanted) low = middle + 1
      else high = middle
    }
    return numbers[low]!
  }
  const raw = openFile(path, { synchronous: 'FULL' })
  const insert = raw.prepare(`
    INSERT INTO dealer (id, license_number, license_type, expires_on, license_name, business_name,
      premise_street, premise_city, premise_state, premise_zip, source, updated_at)
    VALUES (?, ?, '01', ?, ?, ?, ?, 'ANYTOWN', 'TX', ?, 'atf', 0)`)
  const onFile = raw.prepare("INSERT INTO dealer_on_file VALUES ('RSR', ?)")
  raw.transaction(() => {
    for (let i = 0; i < count; i++) {
      const [district, sequence] = [10 + (i % 90), zipText(i)]
      const id = `${1 + (i % 9)}-${district}-${sequence}`
      insert.run(
        id,
        `${1 + (i % 9)}-${district}-${String(random.below(300)).padStart(3, '0')}-01-8C-${sequence}`,
        share() < SHARES.expired ? '2026-03-01' : '2028-03-01',
        `DOE, JOHN ${i}`,
        i % 3 === 0 ? null : `HILLTOP GUN SHOP & PAWN ${i}`,
        `${1 + random.below(9_999)} MAIN ST`,
        zipText(someZip()),
      )
      if (share() < SHARES.onFile) onFile.run(id)
    }
  })()
  raw.close()
}

/** The longest time between two turns of the loop while something runs, and all of it. */
async function held<T>(
  run: () => Promise<T>,
): Promise<{ result: T; longest: number; total: number }> {
  const start = performance.now()
  let [last, longest, going] = [start, 0, true]
  const turn = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (going) setImmediate(turn)
  }
  setImmediate(turn)
  const result = await run()
  going = false
  return {
    result,
    longest: Math.max(longest, performance.now() - last),
    total: performance.now() - start,
  }
}

type Search = (zip: string) => number[]

/**
 * The yardstick: all that the answer needs stands in the R-tree itself, and its rows are numbered
 * by license.
 */
function makeRtree({ dealers, places }: Directory): Search {
  const raw = openSqlite(':memory:')
  raw.exec(
    'CREATE VIRTUAL TABLE near USING rtree(id, min_lat, max_lat, min_lng, max_lng, +zip, ' +
      '+on_file, +last_day, +x, +y, +z)',
  )
  const insert = raw.prepare('INSERT INTO near VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const isOnFile = new Uint8Array(dealers.row.length)
  places.others.forEach((others, place) => isOnFile.fill(1, places.from[place]!, others))
  const byLicense = Array.from(dealers.row, (_, i) => i).sort((a, b) =>
    dealers.license[a]! < dealers.license[b]! ? -1 : 1,
  )
  raw.transaction(() =>
    byLicense.forEach((dealer, i) => {
      const at = placeOfZip(zipText(dealers.zip[dealer]!))
      if (at)
        insert.run(
          i,
          at.lat,
          at.lat,
          at.lng,
          at.lng,
          dealers.zip[dealer]!,
          isOnFile[dealer]!,
          dealers.lastDay[dealer]!,
          ...unitVector(at.lat, at.lng),
        )
    }),
  )()
  const distance = '(x - @x) * (x - @x) + (y - @y) * (y - @y) + (z - @z) * (z - @z)'
  const query = raw
    .prepare(`
    SELECT id FROM near WHERE max_lat >= @south AND min_lat <= @north AND max_lng >= @west
      AND min_lng <= @east AND ${distance} <= @limit AND last_day >= ${TODAY}
    ORDER BY on_file DESC, zip <> @zip, ${distance}, id LIMIT ${MOST}`)
    .pluck()
  return (zip) => {
    const at = placeOfZip(zip)!
    const [x, y, z] = unitVector(at.lat, at.lng)
    const tall = RADIUS / 69
    const wide = (tall / Math.cos((at.lat * Math.PI) / 180)) * 1.02
    const ids = query.all({
      x,
      y,
      z,
      limit: milesChord(RADIUS),
      zip: Number(zip),
      south: at.lat - tall,
      north: at.lat + tall,
      west: at.lng - wide,
      east: at.lng + wide,
    }) as number[]
    return ids.map((id) => byLicense[id]!)
  }
}

function percentiles(what: string, times: readonly number[]): { p50: number; p99: number } {
  const sorted = [...times].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)]! * 1_000
  console.log(
    `${what}: p50 ${at(0.5).toFixed(0)} us, p99 ${at(0.99).toFixed(0)} us of ${times.length}`,
  )
  return { p50: at(0.5), p99: at(0.99) }
}

function beside(what: string, zips: readonly string[], ours: Search, theirs: Search): void {
  const times = { ours: [] as number[], theirs: [] as number[] }
  let dealers = 0
  const clock = (search: Search, zip: string, into: number[]) => {
    const start = performance.now()
    const found = search(zip)
    into.push(performance.now() - start)
    return found
  }
  zips.forEach((zip, i) => {
    // Whoever comes second finds the processor's caches the colder.
    const [a, b] =
      i % 2 === 0
        ? [clock(ours, zip, times.ours), clock(theirs, zip, times.theirs)]
        : [clock(theirs, zip, times.theirs), clock(ours, zip, times.ours)]
    if (a.join() !== b.join()) throw new Error(`answers for ${zip} differ`)
    dealers += a.length
  })
  const warm = Math.floor(zips.length / 10)
  const a = percentiles(`${what}, directory`, times.ours.slice(warm))
  const b = percentiles(`${what}, R-tree   `, times.theirs.slice(warm))
  console.log(
    `ratio: p50 ${(a.p50 / b.p50).toFixed(3)}, p99 ${(a.p99 / b.p99).toFixed(3)} (goal 0.15); ` +
      `${(dealers / zips.length).toFixed(0)} dealers an answer`,
  )
}

const dir = mkdtempSync(join(tmpdir(), 'bench-dealers-'))
try {
  prepareFolder(dir)
  generateDealers(filesIn(dir).record, DEALERS)
  const engine = openEngine(dir, (error) => {
    throw error
  })
  zipTable()
  for (let i = 0; i < 3; i++) {
    const { longest, total } = await held(() => openDealers(engine).current())
    console.log(
      `load of ${DEALERS.toLocaleString('en-US')} dealers: ${total.toFixed(0)} ms, the loop ` +
        `held for at most ${longest.toFixed(0)} ms (bound 250 ms)`,
    )
  }
  const directory = await openDealers(engine).current()
  const rtree = makeRtree(directory)
  const ours: Search = (zip) => nearDealers(directory, { zip, radius: RADIUS, today: TODAY })
  const { numbers } = zipTable()
  const random = randomFrom(5)
  beside(
    'dense cities',
    Array.from({ length: QUERIES }, (_, i) => DENSE[i % DENSE.length]!),
    ours,
    rtree,
  )
  beside(
    'random ZIPs ',
    Array.from({ length: QUERIES }, () => zipText(numbers[random.below(numbers.length)]!)),
    ours,
    rtree,
  )
  await engine.close()
} finally {
  rmSync(dir, { recursive: true, force: true })
}
