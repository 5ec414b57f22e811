/** Flags of states as presets read them, and as the catalog keeps them from feed to feed. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compilePreset } from '../../lib/distributors/generic/generic.js'
import type { CatalogPreset, StateFlags } from '../../lib/distributors/generic/generic.js'
import type { CatalogRow } from '../../lib/distributors/generic/rows.js'
import { checkFeed } from '../../lib/feeds/check.js'
import { statesIn } from '../../lib/places/state-set.js'
import { rsrFile } from '../restrictions/rsr-file.js'
import { ACME, NOON, feedBench } from './bench.js'
import type { FeedBench } from './bench.js'

const FLAGS: StateFlags = {
  columns: { CA: 'ca_restricted', NY: 'ny_restricted' },
  restricts: ['1', 'yes'],
}
const FLAGGED: CatalogPreset = { ...ACME, id: 'flagged', stateFlags: FLAGS }

/** States by the cells of one row; the reason where it is refused. */
function read(stateFlags: StateFlags, header: string, cells: string): unknown {
  const compiled = compilePreset({ ...ACME, stateFlags }, header.split(','), NOON)
  const row = compiled.read(cells.split(','))
  if ('reason' in row) return row.reason
  const states = (row as CatalogRow).restrictedStates ?? null
  return states === null ? null : statesIn(states)
}

/** `null` where no feed tells. */
function flagsOf({ catalog }: FeedBench, stockid: string): string[] | null {
  const states = catalog
    .prepare(
      'SELECT restricted_states FROM offer o JOIN fragment f ON f.id = o.fragment WHERE o.stockid = ?',
    )
    .pluck()
    .get(stockid) as number | null
  return states === null ? null : statesIn(states)
}

describe('a preset with flags', () => {
  const HEADER = 'sku,price,qty,CA_Restricted,ny_restricted'

  test('reads the values that restrict, case and blanks aside', () => {
    assert.deepEqual(read(FLAGS, HEADER, 'A,1.00,1,1,'), ['CA'])
    assert.deepEqual(read(FLAGS, HEADER, 'A,1.00,1, YES ,1'), ['CA', 'NY'])
    assert.deepEqual(read(FLAGS, HEADER, 'A,1.00,1,0,no'), [])
    assert.deepEqual(read(FLAGS, 'sku,price,qty,ny_restricted', 'A,1.00,1,1'), ['NY'])
    assert.equal(
      read(FLAGS, 'sku,price,qty', 'A,1.00,1'),
      null,
      'a file without flags does not tell',
    )
  })

  test('refuses a cell that is neither, where it says what permits', () => {
    const strict = { ...FLAGS, permits: ['', '0'] }
    assert.deepEqual(read(strict, HEADER, 'A,1.00,1,0,1'), ['NY'])
    assert.equal(
      read(strict, HEADER, 'A,1.00,1,x.jpg,1'),
      'CA_Restricted is "x.jpg", which is not a flag (1, yes, blank, 0)',
    )
  })

  test('cannot flag a territory', () => {
    const columns = { PR: 'ca_restricted' } as const
    assert.throws(() => read({ ...FLAGS, columns }, HEADER, 'A,1.00,1,1,1'), /PR is not one of/)
  })

  test("RSR's row that a semicolon in a text has shifted is refused", async () => {
    const feeds = feedBench()
    const shifted = { 'expanded description': 'Steel; black', image: 'B_1.jpg' }
    const file = feeds.file(
      'rsr.txt',
      rsrFile([
        { stock: 'A', flags: ['CA'] },
        { stock: 'B', flags: ['CA'], cells: shifted },
      ]),
    )
    const { presets } = await import('../../lib/distributors/builtin/index.js')
    const { offers, rejects } = await checkFeed({
      preset: presets['rsr']!,
      file,
      rows: 5,
      asOf: NOON,
    })
    assert.deepEqual(
      offers.map(({ stockid, restricted_states: states }) => [stockid, states]),
      [['A', ['CA']]],
    )
    assert.deepEqual(
      rejects.map(({ line, reason }) => [line, reason]),
      [[2, 'AK is "B_1.jpg", which is not a flag (y, blank, n)']],
    )
    feeds.close()
  })
})

describe('the catalog', () => {
  const row = (sku: string, ca: string, ny: string) => `${sku},1.00,5,gun,${ca},${ny}`
  const file = (...rows: string[]) =>
    `${['sku,price,qty,type,ca_restricted,ny_restricted', ...rows].join('\n')}\n`
  const PLAIN: CatalogPreset = { ...ACME, id: 'plain' }

  test('tells an item without a flag from one of a feed that has none', async () => {
    const feeds = feedBench()
    await feeds.take(FLAGGED, file(row('A', '1', ''), row('B', '', '')))
    await feeds.take(PLAIN, file(row('C', '1', '')))
    assert.deepEqual(
      ['A', 'B', 'C'].map((sku) => flagsOf(feeds, sku)),
      [['CA'], [], null],
    )
    feeds.close()
  })

  test('keeps flags that another feed of the distributor does not tell of', async () => {
    const feeds = feedBench()
    await feeds.take(FLAGGED, file(row('A', '1', '')))
    await feeds.take(PLAIN, file(row('A', '', '').replace('1.00', '2.00').replace(',gun', ',held')))
    assert.deepEqual(flagsOf(feeds, 'A'), ['CA'])
    await feeds.take(FLAGGED, file(row('A', '', '1')))
    assert.deepEqual(flagsOf(feeds, 'A'), ['NY'])
    feeds.close()
  })

  test('takes the flags of the newer of two feeds, in whatever order they come', async () => {
    const feeds = feedBench()
    await feeds.take(FLAGGED, file(row('A', '1', '')), { source: 'ACME/new', asOf: NOON + 1_000 })
    const older = file(row('A', '', '1').replace('gun', 'bag'))
    await feeds.take(FLAGGED, older, { source: 'ACME/old', asOf: NOON })
    assert.deepEqual(flagsOf(feeds, 'A'), ['CA'])
    feeds.close()
  })

  test('refuses a feed that lost a column of flags, or most of its flags', async () => {
    const rows = (ca: (i: number) => string) =>
      file(...Array.from({ length: 200 }, (_, i) => row(`S${i}`, ca(i), i % 4 === 0 ? '1' : '')))
    const full = rows(() => '1')
    for (const [what, next, reason] of [
      [
        'renamed',
        full.replace('ca_restricted', 'california'),
        /no column "ca_restricted" any more/,
      ],
      [
        'emptied',
        rows(() => ''),
        /not to be shipped to some state are 50 of 200 offers \(25\.0 %\), in the last feed 200 of 200/,
      ],
    ] as const) {
      const feeds = feedBench()
      await feeds.take(FLAGGED, full)
      const { outcome, reasons } = await feeds.take(FLAGGED, next)
      assert.equal(outcome, 'refused', what)
      assert.match(reasons.join('\n'), reason)
      assert.deepEqual(flagsOf(feeds, 'S0'), ['CA', 'NY'])
      feeds.close()
    }
  })

  test('writes nothing for flags that stay', async () => {
    const feeds = feedBench()
    const text = file(row('A', '1', ''), row('B', '', ''))
    await feeds.take(FLAGGED, text)
    assert.equal(
      (await feeds.take(FLAGGED, text.replace(row('B', '', ''), row('B', '', '1')))).changed,
      1,
    )
    assert.deepEqual(flagsOf(feeds, 'A'), ['CA'])
    feeds.close()
  })
})
