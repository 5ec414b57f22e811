/**
 * Lists that were cut off between two lines: nobody is taken off falsely, and who is really gone
 * is.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { DAY } from '../../lib/core/clock.js'
import { expiryDate } from '../../lib/ffls/license.js'
import { goneFrom } from '../../lib/ffls/lists/diff.js'
import type { KnownDealer } from '../../lib/ffls/lists/diff.js'
import { orderOf } from '../../lib/ffls/lists/line-order.js'
import { JUNE, MAY, cells, dealers, listedOnes, take, withApp } from './lists.js'
import type { Row } from './lists.js'

const REAL = resolve('..', 'shared', 'data', 'ffl', '0513-ffl-list.txt.gz')

/** Region, district, sequence, license and state of each row. */
type Listed = Pick<
  KnownDealer,
  'id' | 'license_number' | 'license_type' | 'expires_on' | 'premise_state'
>

function listed(
  [region, district, county, type, code, sequence, , , , , state]: readonly string[],
  asOf: number,
): Listed {
  return {
    id: `${region}-${district}-${sequence}`,
    license_number: [region, district, county, type, code, sequence].join('-'),
    license_type: type!,
    expires_on: expiryDate(code!, asOf),
    premise_state: state!,
  }
}

/** Rows in several states, of which PR, DC and VA stand in two places each, VA last as well. */
const GENERATED = (
  [
    ['PR', 30],
    ['VI', 11],
    ['PR', 17],
    ['MA', 130],
    ['NH', 90],
    ['DC', 5],
    ['VA', 60],
    ['DC', 2],
    ['MD', 80],
    ['WV', 100],
    ['VA', 40],
  ] as const
).flatMap(([state, count], run) =>
  Array.from({ length: count }, (_, i): Row => ({
    PREMISE_STATE: state,
    LIC_DIST: String(10 + run),
    LIC_SEQN: String(i + 1).padStart(5, '0'),
  })),
)

const known = (rows: readonly Listed[], asOf: number) =>
  new Map(
    rows.map((row): [string, KnownDealer] => [
      row.id,
      {
        ...row,
        license_name: 'N',
        business_name: null,
        premise_street: 'S',
        premise_city: 'C',
        premise_zip: '31201',
        mail_street: null,
        mail_city: null,
        mail_state: null,
        mail_zip: null,
        voice_phone: null,
        listed: 1,
        source: 'atf',
        updated_at: asOf,
      },
    ]),
  )

const placesIn = (list: readonly Listed[]) =>
  list.map(({ id, premise_state: state }) => ({ id, state }))

/** What a list takes off, over a directory that a list of `before` made. */
function comparison(before: readonly Listed[]) {
  const [directory, order] = [known(before, MAY), orderOf(placesIn(before), MAY)]
  const types = new Set(before.map(({ license_type: type }) => type))
  return (after: readonly Listed[]) =>
    goneFrom({
      known: directory,
      listed: new Map(after.map(({ id }) => [id, directory.get(id)!])),
      rows: placesIn(after),
      order,
      mentioned: new Set(),
      absent: new Set(),
      asOf: MAY + 31 * DAY,
      types,
      cutOff: false,
      revoke: new Set(),
      accept: false,
    })
}

/**
 * Every line end that is asked for: those around each change of the state, the first and last ones,
 * and some between.
 */
function cuts(rows: readonly Listed[], step: number): number[] {
  const near = (end: number) => [end - 1, end, end + 1]
  const borders = rows.flatMap(({ premise_state: state }, i) =>
    i > 0 && rows[i - 1]!.premise_state !== state ? near(i) : [],
  )
  const some = rows.flatMap((_, i) => (i % step === 0 ? [i] : []))
  const last = Array.from({ length: 100 }, (_, i) => rows.length - 1 - i)
  return [...new Set([...borders, ...some, ...last])]
    .filter((at) => at > 0 && at < rows.length)
    .sort((a, b) => a - b)
}

/** Cuts a list of which some dealers are really gone. */
function assertSafe(rows: readonly Listed[], step: number): void {
  const really = new Set(rows.flatMap(({ id }, i) => (i % 97 === 50 ? [id] : [])))
  const left = rows.filter(({ id }) => !really.has(id))
  const compared = comparison(rows)
  for (const at of cuts(left, step)) {
    const { gone, kept } = compared(left.slice(0, at))
    assert.deepEqual(
      gone.filter(({ id }) => !really.has(id)),
      [],
      `cut off after ${at} of ${left.length} rows`,
    )
    assert.ok(
      kept.length > 0 || gone.length === really.size,
      `nothing is said of the cut after ${at} rows`,
    )
  }
  const whole = compared(left)
  assert.deepEqual([whole.gone.map(({ id }) => id).sort(), whole.kept], [[...really].sort(), []])
  assert.ok(whole.order !== null)
}

describe('a list that was cut off at the end of a line', () => {
  test('takes nobody off falsely, wherever it was cut; the whole one takes off who is gone', () =>
    assertSafe(
      GENERATED.map((row) => listed(cells(row), MAY)),
      1,
    ))

  test(
    'so too the list of May 2013',
    { skip: existsSync(REAL) ? false : `the real list is not here: ${REAL}` },
    () => {
      const lines = gunzipSync(readFileSync(REAL))
        .toString('latin1')
        .split('\n')
        .slice(2, -2)
        .map((line) => line.split('\t'))
      assertSafe(
        lines
          .filter((line) => line.length === 17 && line[3] !== '06')
          .map((line) => listed(line, Date.UTC(2013, 4, 10))),
        1_000,
      )
    },
  )

  test('holds what it cannot decide, also the second time; the whole list, or the operator, decides', () =>
    withApp(async (t) => {
      const all = [...dealers(30), ...dealers(30, 'TX')]
      await take(t, all)
      const cut = all.slice(0, -1)
      const held = [
        {
          state: 'TX',
          missing: 1,
          known: 30,
          reason:
            'the list may be cut off: it shows nothing of what stood behind them in the last one',
        },
      ]
      assert.deepEqual((await take(t, cut, { asOf: JUNE })).kept, held)
      for (const asOf of [JUNE, JUNE + DAY, JUNE + 62 * DAY])
        assert.equal((await take(t, cut, { asOf })).gone, 0)
      assert.equal((await listedOnes(t)).length, 60)
      const more = [...all.slice(0, -2), all.at(-1)!]
      assert.deepEqual(
        (await take(t, more, { asOf: JUNE + 63 * DAY })).gone,
        1,
        'the row behind it is there again',
      )
      assert.equal(
        (await take(t, more.slice(0, -1), { asOf: JUNE + 64 * DAY, accept: true })).gone,
        1,
      )
      assert.equal((await listedOnes(t)).length, 58)
    }))

  test('without a whole list before it nobody is taken off, and the next one decides', () =>
    withApp(async (t) => {
      const all = [...dealers(30), ...dealers(30, 'TX')]
      await take(t, all)
      await t.app.ctx.db.deleteFrom('dealer_list').execute()
      const less = all.filter((_, i) => i !== 3)
      assert.deepEqual((await take(t, less, { asOf: JUNE })).kept, [
        { state: 'GA', missing: 1, known: 30, reason: 'no whole list before this one is known' },
      ])
      assert.equal(
        (await take(t, less, { asOf: JUNE })).gone,
        0,
        'the same list once more proves nothing',
      )
      assert.equal((await take(t, less, { asOf: JUNE + DAY })).gone, 1)
    }))

  for (const [months, lost, gone] of [
    [1, 5, 5],
    [1, 6, 0],
    [2, 10, 10],
    [2, 11, 0],
    [12, 30, 30],
    [12, 31, 0],
  ] as const) {
    test(`after ${months} months a state of 100 that lost ${lost}: ${gone} are gone`, () =>
      withApp(async (t) => {
        await take(t, [...dealers(100), ...dealers(10, 'TX')])
        assert.equal(
          (
            await take(t, [...dealers(100 - lost), ...dealers(10, 'TX')], {
              asOf: MAY + months * 31 * DAY,
            })
          ).gone,
          gone,
        )
      }))
  }

  for (const [known, gone] of [
    [20, 15],
    [21, 0],
  ] as const) {
    test(`a state of ${known} may lose 15: ${gone} are gone`, () =>
      withApp(async (t) => {
        await take(t, [...dealers(known), ...dealers(10, 'TX')])
        assert.equal(
          (await take(t, [...dealers(known - 15), ...dealers(10, 'TX')], { asOf: JUNE })).gone,
          gone,
        )
      }))
  }
})

test('what the newest list says of a license counts, also an earlier end; an older one changes nothing', () =>
  withApp(async (t) => {
    const row = (code: string): Row[] => [{ ...dealers(1)[0], LIC_XPRDTE: code }]
    await take(t, row('9E'))
    await take(t, row('8E'), { asOf: JUNE })
    const license = async () =>
      (await t.app.ctx.read.selectFrom('dealer').select('license_number').executeTakeFirstOrThrow())
        .license_number
    assert.equal(await license(), '1-20-021-01-8E-00001')
    await take(t, row('7E'), { asOf: MAY })
    assert.equal(await license(), '1-20-021-01-8E-00001')
  }))
