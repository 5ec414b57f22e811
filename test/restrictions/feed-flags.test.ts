/**
 * Flags of states in a distributor's own feed: what a check makes of them, over RSR's file as it is
 * imported.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { STATES as RSR_STATES } from '../../lib/distributors/builtin/rsr/feed.js'
import { ALL_STATES, SET_STATES, hasState, stateSet, statesIn } from '../../lib/places/state-set.js'
import { STATES } from '../../lib/places/states.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp, TestOffer } from '../../server/testing/index.js'
import { rsrFile } from './rsr-file.js'
import type { RsrLine } from './rsr-file.js'
import { runsOnRecord } from '../harness/record.js'

const UPC = '012345678905'
const OTHER = '012345678912'

interface Item {
  upc?: string
  sku?: string
  distid?: string
  attributes?: Record<string, string>
}

/** Takes in a file of RSR, a minute after the last one, by the preset of this id. */
async function takeIn(
  t: TestApp,
  text: string,
  { preset = 'rsr', force = false } = {},
): Promise<string> {
  t.clock.advance(60_000)
  const dir = mkdtempSync(join(tmpdir(), 'qm-flags-'))
  try {
    const file = join(dir, 'rsr.txt')
    writeFileSync(file, text)
    const taken = await t.app.operator.feeds.import(
      { distid: 'RSR', file, preset },
      { asOf: t.clock.ms, force },
    )
    await t.app.ctx.catalog.refresh()
    return taken.outcome
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function withRsr(
  lines: readonly RsrLine[],
  others: readonly TestOffer[] = [],
): Promise<TestApp> {
  const t = await createTestApp()
  if (others.length > 0) await t.stock(others)
  assert.equal(await takeIn(t, rsrFile(lines)), 'taken')
  return t
}

async function checked(t: TestApp, item: Item, shipping: { state: string; country?: string }) {
  const { items } = await t.shop.restrictions.check({ shipping, items: [item] } as never)
  return items[0]!
}

/** `approved`, or the rules that block and warn. */
async function verdict(t: TestApp, item: Item, state: string): Promise<string> {
  const {
    blocking_rules: blocked,
    warnings,
    manual_review: held,
  } = await checked(t, item, {
    state,
  })
  assert.deepEqual(held, [])
  const ids = (kind: string, rules: { rule_id: string }[]) =>
    rules.map(({ rule_id: id }) => `${kind} ${id}`)
  return [...ids('block', blocked), ...ids('warn', warnings)].join(', ') || 'approved'
}

const named = (sku: string, distid = 'RSR') => ({ distid, sku })

describe('a set of states', () => {
  test('holds the 50 states and DC, and each of them alone', () => {
    assert.equal(SET_STATES.length, 51)
    assert.deepEqual([...SET_STATES].sort(), [...RSR_STATES].sort())
    assert.equal(statesIn(ALL_STATES).length, 51)
    assert.ok(Number.isSafeInteger(ALL_STATES))
    for (const code of Object.keys(STATES))
      assert.equal(hasState(ALL_STATES, code), RSR_STATES.includes(code), code)
    fc.assert(
      fc.property(fc.subarray([...SET_STATES]), (codes) => {
        assert.deepEqual(statesIn(stateSet(codes)), codes)
        for (const code of SET_STATES)
          assert.equal(hasState(stateSet(codes), code), codes.includes(code))
      }),
    )
  })

  test('refuses what has no flag', () => {
    assert.throws(() => stateSet(['PR']), /PR is not one of the states or DC/)
    assert.equal(hasState(stateSet(['CA']), 'PR'), false)
  })
})

describe("an item by its distributor's number", () => {
  test('is blocked where that offer is flagged, and nowhere else', async () => {
    await using t = await withRsr([{ stock: 'MAG-1', upc: UPC, flags: ['CA', 'DC', 'WY'] }])
    const { approved, blocking_rules: rules } = await checked(t, named('mag-1'), { state: 'CA' })
    assert.equal(approved, false)
    assert.deepEqual(rules, [
      {
        rule_id: 'feed:RSR:CA',
        kind: 'BLOCK',
        customer_message: 'This item cannot be shipped to California.',
        reason: 'the feed of RSR Group (RSR) flags MAG-1 as not to be shipped to state CA',
        missing: [],
        would_change: ["a destination or an offer that no distributor's feed flags"],
        citations: [],
        effective_from: null,
      },
    ])
    for (const state of Object.keys(STATES))
      assert.equal(
        await verdict(t, named('MAG-1'), state),
        ['CA', 'DC', 'WY'].includes(state) ? `block feed:RSR:${state}` : 'approved',
      )
    assert.equal(
      await verdict(t, { ...named('MAG-1'), distid: 'RSR Group' }, 'california'),
      'block feed:RSR:CA',
    )
    const dc = await checked(t, named('MAG-1'), { state: 'DC' })
    assert.match(dc.blocking_rules[0]!.customer_message, /shipped to the District of Columbia\.$/)
  })

  test('is blocked whatever other distributors do', async () => {
    await using t = await withRsr(
      [{ stock: 'MAG-1', upc: UPC, flags: ['CA'] }],
      [{ distid: 'ZND', stockid: 'Z1', upc: UPC }],
    )
    assert.equal(await verdict(t, { ...named('MAG-1'), upc: UPC }, 'CA'), 'block feed:RSR:CA')
    assert.equal(await verdict(t, { ...named('Z1', 'ZND'), upc: UPC }, 'CA'), 'approved')
    assert.equal(await verdict(t, { distid: 'ZND', upc: UPC }, 'CA'), 'approved')
    assert.equal(await verdict(t, { distid: 'RSR', upc: UPC }, 'CA'), 'block feed:RSR:CA')
    assert.equal(
      await verdict(t, { distid: 'LIP', upc: UPC }, 'CA'),
      'approved',
      'of an offer that no feed has, no feed tells',
    )
  })

  test('abroad is for a person to decide, by no flag', async () => {
    await using t = await withRsr([{ stock: 'MAG-1', upc: UPC, flags: RSR_STATES }])
    const { blocking_rules: rules, manual_review: held } = await checked(t, named('MAG-1'), {
      state: 'CA',
      country: 'MX',
    })
    assert.deepEqual([rules.length, held.map(({ rule_id: id }) => id)], [0, ['builtin.abroad']])
  })

  test('without a distributor stands for all offers of that number', async () => {
    await using t = await withRsr([{ stock: 'MAG-1', flags: ['CA'] }])
    assert.equal(await verdict(t, { sku: 'MAG-1' }, 'CA'), 'block feed:RSR:CA')
    assert.equal(await verdict(t, { sku: 'MAG-1', upc: OTHER }, 'CA'), 'approved')
    await t.stock([{ distid: 'ZND', stockid: 'MAG-1' }])
    assert.equal(await verdict(t, { sku: 'MAG-1' }, 'CA'), 'warn feed:RSR:CA')
  })
})

describe('an item by its UPC alone', () => {
  test('is blocked where every offer is flagged, by each distributor', async () => {
    await using t = await withRsr(
      [
        { stock: 'MAG-1', upc: UPC, flags: ['CA', 'NY'] },
        { stock: 'MAG-2', upc: UPC, flags: ['CA'] },
      ],
      [{ distid: 'ZND', stockid: 'Z1', upc: UPC, restrictedStates: ['CA', 'NJ'] }],
    )
    assert.equal(await verdict(t, { upc: UPC }, 'CA'), 'block feed:RSR:CA, block feed:ZND:CA')
    assert.equal(await verdict(t, { upc: UPC }, 'TX'), 'approved')
    const { approved, warnings } = await checked(t, { upc: UPC }, { state: 'NY' })
    assert.equal(approved, true)
    assert.deepEqual(
      warnings.map(({ rule_id: id, kind, customer_message: told, reason }) => [
        id,
        kind,
        told,
        reason,
      ]),
      [
        [
          'feed:RSR:NY',
          'WARNING',
          'Some of our suppliers cannot ship this item to New York.',
          'the feed of RSR Group (RSR) flags MAG-1 as not to be shipped to state NY; not flagged: RSR MAG-2, ZND Z1',
        ],
      ],
    )
    assert.equal(await verdict(t, { upc: UPC }, 'NJ'), 'warn feed:ZND:NJ')
  })

  test('is free of flags where no feed has it', async () => {
    await using t = await withRsr([{ stock: 'MAG-1', upc: UPC, flags: ['CA'] }])
    assert.equal(await verdict(t, { upc: OTHER }, 'CA'), 'approved')
    assert.equal(await verdict(t, { upc: `00${UPC}` }, 'CA'), 'block feed:RSR:CA')
  })
})

describe('flags and rules', () => {
  test('of the starter set do not tell of one flag twice', async () => {
    await using t = await withRsr(
      [{ stock: 'MAG-1', upc: UPC, flags: ['CA'] }],
      [{ distid: 'ZND', stockid: 'Z1', upc: OTHER, attributes: { 'State Restriction (CA)': 'Y' } }],
    )
    await t.app.operator.rules.accept()
    assert.equal(await verdict(t, named('MAG-1'), 'CA'), 'block feed:RSR:CA')
    assert.equal(
      await verdict(t, named('Z1', 'ZND'), 'CA'),
      'block distributor-flag-ca',
      'of a feed that has it as an attribute alone',
    )
    const attributes = { 'State Restriction (NV)': 'Y' }
    assert.equal(
      await verdict(t, { ...named('MAG-1'), attributes }, 'NV'),
      'block distributor-flag-nv',
      'of the request',
    )
  })

  test('are counted by rules diff as blocked before and after', async () => {
    await using t = await withRsr([
      { stock: 'A', flags: ['CA'] },
      { stock: 'B', flags: ['CA', 'NV'] },
      { stock: 'C' },
    ])
    const text = JSON.stringify({
      rule_id: 'none-at-all',
      kind: 'BLOCK',
      scope: { state: ['CA', 'NV', 'TX'] },
      match: { product_class: ['AC'] },
      legal_status: 'policy',
      customer_message: 'No.',
    })
    const { rules } = t.app.operator.rules.diff({ text }) as never as { rules: never }
    const { states } = await t.app.operator.rules.impact(await rules)
    const impact = states.map(({ state, before, after, changed }) => [
      state,
      before.blocked,
      after.blocked,
      changed,
    ])
    assert.deepEqual(impact, [
      ['CA', 2, 3, 1],
      ['NV', 1, 3, 2],
      ['TX', 0, 3, 3],
    ])
  })

  test('an override lifts a flag by its rule_id, and shows it in warnings', async () => {
    await using t = await withRsr([{ stock: 'MAG-1', upc: UPC, flags: ['CA', 'NY'] }])
    const allow = (id: string) =>
      t.app.operator.rules.override(t.subscriber, {
        effect: 'allow',
        rule_ids: [id],
        match: { upc: [UPC] },
        author: 'J. Doe',
        reason: 'RSR agreed by telephone',
        expires: '2026-12-31',
      })
    for (const id of ['feed:RSR:PR', 'feed:NOBODY:CA', 'feed:RSR', 'feed:rsr:ca', 'feed:RSR:CA '])
      await assert.rejects(
        allow(id),
        /is not a distributor's flag: name the distributor and the state, as feed:RSR:CA/,
        id,
      )
    const { id } = await allow('feed:RSR:CA')
    const {
      approved,
      warnings,
      blocking_rules: blocked,
    } = await checked(t, named('MAG-1'), { state: 'CA' })
    assert.deepEqual([approved, blocked.length], [true, 0])
    assert.deepEqual(
      warnings.map(({ rule_id: rule, kind, overridden_by: by }) => [rule, kind, by]),
      [
        [
          'feed:RSR:CA',
          'BLOCK',
          { author: 'J. Doe', reason: 'RSR agreed by telephone', expires: '2026-12-31' },
        ],
      ],
    )
    assert.equal(await verdict(t, named('MAG-1'), 'NY'), 'block feed:RSR:NY')
    await t.app.operator.rules.withdraw(id)
    assert.equal(await verdict(t, named('MAG-1'), 'CA'), 'block feed:RSR:CA')
  })

  test('are in the log of decisions', async () => {
    await using t = await withRsr([{ stock: 'MAG-1', upc: UPC, flags: ['CA'] }])
    await verdict(t, named('MAG-1'), 'CA')
    const { items } = await t.app.ctx.engine.decisions.db
      .selectFrom('restriction_decision')
      .select('items')
      .executeTakeFirstOrThrow()
    assert.deepEqual(JSON.parse(items)[0].rules, ['feed:RSR:CA'])
  })
})

describe('the flags of a feed', () => {
  const LINES = Array.from({ length: 60 }, (_, i): RsrLine => ({
    stock: `S${i}`,
    flags: i % 2 === 0 ? ['CA'] : ['CA', 'NY'],
  }))

  test('are replaced by the next one', async () => {
    await using t = await withRsr(LINES)
    assert.equal(
      await takeIn(t, rsrFile(LINES.map((line) => ({ ...line, flags: ['NJ'] })))),
      'taken',
    )
    assert.equal(await verdict(t, named('S1'), 'NJ'), 'block feed:RSR:NJ')
    assert.equal(await verdict(t, named('S1'), 'NY'), 'approved')
  })

  test('stay with a quantity feed, and with one that is refused', async () => {
    await using t = await withRsr(LINES)
    const stock = LINES.map(({ stock: sku }) => `${sku},0000003\n`).join('')
    assert.equal(await takeIn(t, stock, { preset: 'rsr-quantity' }), 'taken')
    assert.equal(await verdict(t, named('S1'), 'NY'), 'block feed:RSR:NY')
    const free = rsrFile(LINES.map(({ stock: sku }) => ({ stock: sku })))
    assert.equal(await takeIn(t, free), 'refused', 'a feed that lost all its flags')
    assert.equal(await verdict(t, named('S1'), 'NY'), 'block feed:RSR:NY')
    assert.equal(await takeIn(t, free, { force: true }), 'taken')
    assert.equal(await verdict(t, named('S1'), 'NY'), 'approved')
  })

  test('go with an item that leaves it', async () => {
    await using t = await withRsr([...LINES, { stock: 'GONE', upc: UPC, flags: ['CA'] }])
    assert.equal(await verdict(t, { upc: UPC }, 'CA'), 'block feed:RSR:CA')
    assert.equal(await takeIn(t, rsrFile(LINES)), 'taken')
    assert.equal(await verdict(t, { upc: UPC }, 'CA'), 'approved')
    assert.equal(await verdict(t, named('GONE'), 'CA'), 'approved')
    assert.equal(await takeIn(t, rsrFile([...LINES, { stock: 'GONE', upc: UPC }])), 'taken')
    assert.equal(await verdict(t, named('GONE'), 'CA'), 'approved', 'it came back without')
  })

  test('of an offer that borrows what it is are its own', async () => {
    // RSR's department 99 tells nothing, so that class and texts come from the other offer.
    await using t = await withRsr(
      [{ stock: 'GUN', upc: UPC, flags: ['MA'], cells: { department: '99' } }],
      [
        {
          distid: 'ZND',
          stockid: 'Z1',
          upc: UPC,
          productClass: 'FA',
          fflReq: true,
          restrictedStates: ['NY'],
        },
      ],
    )
    const [rsr, zanders] = await t.app.operator.catalog.explain(t.subscriber, UPC)
    assert.deepEqual(
      [rsr!.borrowed?.product_class, rsr!.restricted_states, zanders!.restricted_states],
      ['FA', ['MA'], ['NY']],
    )
    assert.equal(await verdict(t, named('GUN'), 'MA'), 'block feed:RSR:MA')
    assert.equal(await verdict(t, named('GUN'), 'NY'), 'approved')
  })
})

test('a naive reading of the file agrees, for every way to name an item', async () => {
  const UPCS = [UPC, OTHER, '012345678929', '']
  const flags = fc.subarray(['CA', 'NY', 'TX', 'DC', 'WY', 'AK'])
  const line = fc.record({
    stock: fc.constantFrom('A', 'B', 'C', 'D', 'E', 'F'),
    upc: fc.constantFrom(...UPCS),
    flags,
  })
  const item = fc.record(
    {
      sku: fc.constantFrom('A', 'b', 'C', 'Z1', 'none'),
      distid: fc.constantFrom('RSR', 'ZND', 'LIP'),
      upc: fc.constantFrom(UPC, OTHER, '012345678929'),
    },
    { requiredKeys: [] },
  )
  const offers = fc.record({
    rsr: fc.uniqueArray(line, { minLength: 1, maxLength: 6, selector: ({ stock }) => stock }),
    zanders: fc.uniqueArray(
      fc.record({ stock: fc.constantFrom('Z1', 'A'), upc: fc.constantFrom(...UPCS), flags }),
      { maxLength: 2, selector: ({ stock }) => stock },
    ),
    asked: fc.array(fc.record({ item, state: fc.constantFrom('CA', 'DC', 'AK', 'NV') }), {
      minLength: 4,
      maxLength: 12,
    }),
  })
  await fc.assert(
    fc.asyncProperty(offers, async ({ rsr, zanders, asked }) => {
      const file = rsrFile(rsr)
      await using t = await createTestApp()
      await t.stock(
        zanders.map(({ stock, upc, flags: states }) => ({
          distid: 'ZND',
          stockid: stock,
          upc: upc || null,
          restrictedStates: states,
        })),
      )
      assert.equal(await takeIn(t, file), 'taken')
      // As a person would read it: columns 16 to 66 in the order of the layout's page.
      const known = [
        ...file
          .trimEnd()
          .split('\r\n')
          .map((text) => text.split(';'))
          .map((cells) => ({
            distid: 'RSR',
            sku: cells[0]!,
            upc: cells[1]!,
            states: RSR_STATES.filter((_, i) => cells[15 + i] === 'Y'),
          })),
        ...zanders.map(({ stock, upc, flags: states }) => ({
          distid: 'ZND',
          sku: stock,
          upc,
          states: states as string[],
        })),
      ]
      for (const { item: one, state } of asked)
        assert.equal(
          await verdict(t, one, state),
          naive(known, one, state),
          JSON.stringify([known, one, state]),
        )
    }),
    { numRuns: runsOnRecord(25) },
  )
})

interface Known {
  distid: string
  sku: string
  upc: string
  states: readonly string[]
}

function naive(known: readonly Known[], { sku, distid, upc }: Item, state: string): string {
  const hasSku = (offer: Known) => offer.sku.toLowerCase() === sku?.toLowerCase()
  const very = known.filter(
    (offer) => distid === offer.distid && sku !== undefined && hasSku(offer),
  )
  const ofUpc = known.filter(
    (offer) =>
      (upc === undefined
        ? distid === undefined && sku !== undefined && hasSku(offer)
        : offer.upc === upc) &&
      (distid === undefined || distid === offer.distid),
  )
  const offers = very.length > 0 ? very : ofUpc
  const flagged = offers.filter(({ states }) => states.includes(state))
  const kind = flagged.length === offers.length ? 'block' : 'warn'
  return (
    [...new Set(flagged.map((offer) => `${kind} feed:${offer.distid}:${state}`))]
      .sort()
      .join(', ') || 'approved'
  )
}

describe('real data', () => {
  const DATA = resolve('..', 'shared', 'data')
  const without = (path: string) =>
    existsSync(path) ? false : `the real data is not here: ${path}`
  const FIXTURE = join(DATA, 'fixtures', 'rsr_group__rsrinventory-new.txt')
  const PARTIAL = join(DATA, 'rsr-2025', 'rsr-products-partial.csv.gz')

  test(
    "RSR's file of 76 columns has the flags where its layout says",
    { skip: without(FIXTURE) },
    async () => {
      const text = readFileSync(FIXTURE, 'latin1')
      const rows = text.trimEnd().split(/\r?\n/)
      await using t = await createTestApp()
      assert.equal(await takeIn(t, text, { force: true }), 'taken')
      const [first] = rows.map((row) => row.split(';')[0]!)
      for (const state of RSR_STATES)
        assert.equal(await verdict(t, named(first!), state), 'approved')
      // Columns 16 to 66, counted from 1: 20 is California, 66 Wyoming.
      const flagged = rows.map((row) =>
        row
          .split(';')
          .map((cell, i) => ([20, 66].includes(i + 1) ? 'Y' : cell))
          .join(';'),
      )
      assert.equal(await takeIn(t, `${flagged.join('\n')}\n`, { force: true }), 'taken')
      for (const state of RSR_STATES)
        assert.equal(
          await verdict(t, named(first!), state),
          ['CA', 'WY'].includes(state) ? `block feed:RSR:${state}` : 'approved',
        )
    },
  )

  test(
    'thousands of real items keep the flags that they are given',
    { skip: without(PARTIAL) },
    async () => {
      const skus = [
        ...new Set(
          gunzipSync(readFileSync(PARTIAL))
            .toString('utf8')
            .split('\n')
            .slice(1)
            .map((row) => row.split(',')[0]!)
            .filter((sku) => /^[\w./-]+$/.test(sku)),
        ),
      ]
      assert.ok(skus.length > 8_000)
      const lines = skus.map((stock, i) => ({
        stock,
        flags: RSR_STATES.filter((_, at) => (i * 7 + at * 13) % 11 === 0),
      }))
      await using t = await withRsr(lines)
      for (let at = 0; at < lines.length; at += 400) {
        const some = lines.slice(at, at + 100)
        const { items } = await t.shop.restrictions.check({
          shipping: { state: RSR_STATES[at % 51]! },
          items: some.map(({ stock }) => named(stock)),
        } as never)
        assert.deepEqual(
          items.map(({ approved }) => !approved),
          some.map(({ flags }) => flags.includes(RSR_STATES[at % 51]!)),
        )
      }
    },
  )
})
