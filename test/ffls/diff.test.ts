/** What a list changes: who is gone, and that a run which was broken off ends like a whole one. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { expiryDate, parseLicense } from '../../lib/ffls/license.js'
import { compareList } from '../../lib/ffls/lists/diff.js'
import type { DiffInput, KnownDealer, Plan } from '../../lib/ffls/lists/diff.js'
import { orderOf } from '../../lib/ffls/lists/line-order.js'
import type { ListedDealer } from '../../lib/ffls/lists/rows.js'
import {
  JUNE,
  MAY,
  counts,
  dealers,
  file,
  listedOnes,
  refuses,
  stored,
  take,
  text,
  withApp,
} from './lists.js'

describe('who is gone', () => {
  test('nobody of a state that the list lacks', () =>
    withApp(async (t) => {
      await take(t, [...dealers(10), ...dealers(10, 'TX')])
      const result = await take(t, dealers(10), { asOf: JUNE })
      assert.deepEqual(
        [result.gone, result.kept],
        [
          0,
          [{ state: 'TX', missing: 10, known: 10, reason: 'the list has no dealer of this state' }],
        ],
      )
      assert.equal((await listedOnes(t)).length, 20)
    }))

  for (const [held, gone] of [
    [95, 5],
    [94, 0],
  ] as const) {
    test(`with ${held} of a state's 100 dealers in the list: ${gone}; in the other state likewise`, () =>
      withApp(async (t) => {
        await take(t, [...dealers(100), ...dealers(10, 'TX')])
        const result = await take(t, [...dealers(held), ...dealers(9, 'TX', 2)], { asOf: JUNE })
        assert.deepEqual(
          [result.gone, result.kept],
          gone > 0
            ? [gone + 1, []]
            : [
                0,
                [
                  {
                    state: 'GA',
                    missing: 6,
                    known: 100,
                    reason: 'the list lacks more than 5 % of the dealers that are known there',
                  },
                  {
                    state: 'TX',
                    missing: 1,
                    known: 10,
                    reason: 'the list lacks more than 5 % of the dealers of GA',
                  },
                ],
              ],
        )
        assert.equal((await listedOnes(t)).length, gone > 0 ? 104 : 110)
      }))
  }

  test('a list that may not revoke brings what is new, and may not the second time either', () =>
    withApp(async (t) => {
      await take(t, dealers(100))
      const june = [...dealers(60), ...dealers(200, 'GA', 1_000)]
      assert.deepEqual(counts(await take(t, june, { asOf: JUNE })), [200, 0, 0, 60, 0])
      const again = await take(t, june, { asOf: JUNE })
      assert.deepEqual(counts(again), [0, 0, 0, 260, 0])
      assert.deepEqual(again.kept, [
        {
          state: 'GA',
          missing: 40,
          known: 100,
          reason: 'the list lacks more than 5 % of the dealers that are known there',
        },
      ])
    }))

  test('nobody when the list is cut off', () =>
    withApp(async (t) => {
      await take(t, dealers(10))
      const result = await t.app.operator.ffls.import(
        { file: file(text(dealers(9)).slice(0, -30)) },
        { asOf: JUNE },
      )
      assert.deepEqual(
        [result.gone, result.kept.map(({ state, missing, reason }) => [state, missing, reason])],
        [0, [['GA', 2, 'the list is cut off']]],
      )
    }))

  test('--revoke says that a list may all the same, in that state alone', () =>
    withApp(async (t) => {
      await take(t, [...dealers(10), ...dealers(10, 'TX'), ...dealers(10, 'OH')])
      const result = await take(t, dealers(1), { asOf: JUNE, revoke: ['ga', 'Texas'] })
      assert.deepEqual([result.gone, result.kept.map(({ state }) => state)], [19, ['OH']])
      assert.equal((await listedOnes(t)).length, 11)
      assert.deepEqual(
        [
          (await take(t, dealers(1), { asOf: JUNE, accept: true })).gone,
          (await listedOnes(t)).length,
        ],
        [10, 1],
      )
      await assert.rejects(
        take(t, dealers(1), { revoke: ['XX'] }),
        refuses(/revoke: "XX" is not a state/),
      )
    }))

  test('not a dealer that the operator added, until a list has named it', () =>
    withApp(async (t) => {
      const own = {
        license_number: '1-20-021-01-9E-00099',
        name: 'Own',
        street: '1 Mill Rd',
        city: 'Macon',
        state: 'GA',
        zip: '31201',
        reason: 'new shop',
      }
      await t.app.operator.ffls.add(own)
      await take(t, dealers(10), { asOf: t.clock.ms + 1 })
      assert.ok((await listedOnes(t)).includes('1-20-00099'))
      const named = await take(t, [...dealers(10), ...dealers(1, 'GA', 99)], {
        asOf: t.clock.ms + 2,
      })
      assert.deepEqual(counts(named), [0, 0, 1, 10, 0])
      assert.deepEqual(
        (await stored(t)).map(({ source }) => source),
        Array(11).fill('atf'),
      )
      assert.equal((await take(t, dealers(10), { asOf: t.clock.ms + 3, accept: true })).gone, 1)
    }))

  test('a dealer that now has a license of another type', () =>
    withApp(async (t) => {
      await take(t, dealers(10))
      assert.equal(
        (await take(t, [...dealers(9), { ...dealers(10)[9], LIC_TYPE: '06' }], { asOf: JUNE }))
          .gone,
        1,
      )
    }))
})

/** Lists and directories of a few dealers in two states. */
const arbitrary = (() => {
  const listed = fc
    .record({
      seq: fc.integer({ min: 1, max: 12 }),
      code: fc.constantFrom('7E', '8E', '9E'),
      type: fc.constantFrom('01', '07'),
      street: fc.constantFrom('1 A ST', '2 B ST'),
      state: fc.constantFrom('GA', 'TX'),
    })
    .map(({ seq, code, type, street, state }): ListedDealer => {
      const license = parseLicense(`120021${type}${code}${String(seq).padStart(5, '0')}`)!
      return {
        id: license.id,
        license_number: license.number,
        license_type: type,
        expires_on: expiryDate(code, MAY),
        license_name: 'N',
        business_name: null,
        premise_street: street,
        premise_city: 'C',
        premise_state: state,
        premise_zip: '31201',
        mail_street: null,
        mail_city: null,
        mail_state: null,
        mail_zip: null,
        voice_phone: null,
      }
    })
  const known = fc
    .tuple(
      listed,
      fc.constantFrom(0, 1, 1, 1),
      fc.constantFrom('atf' as const, 'atf' as const, 'on_file' as const, 'operator' as const),
      fc.constantFrom(MAY - 2, MAY - 1, MAY + 1),
      fc.constantFrom(null, '2031-01-01'),
      fc.constantFrom(null, '4785550199'),
    )
    .map(([dealer, isListed, source, updated_at, valid_until, phone]): KnownDealer => ({
      ...dealer,
      voice_phone: phone,
      listed: isListed,
      source,
      updated_at,
      valid_until,
      own_phone: phone && 1,
    }))
  const byId = <T extends { id: string }>(list: readonly T[]) =>
    new Map(list.map((dealer) => [dealer.id, dealer]))
  return fc
    .record({
      known: fc.array(known, { maxLength: 14 }).map(byId),
      listed: fc.array(listed, { maxLength: 14 }).map(byId),
      mentioned: fc.constant(new Set<string>()),
      absent: fc.constantFrom(
        new Set<never>(),
        new Set(['business_name' as const, 'mail_city' as const]),
      ),
      asOf: fc.constant(MAY),
      types: fc.constantFrom(new Set(['01', '07']), new Set(['01', '07', '02'])),
      cutOff: fc.constantFrom(false, false, true),
      revoke: fc.constantFrom(new Set<never>(), new Set<never>(), new Set(['GA' as const])),
      accept: fc.constantFrom(false, false, true),
      hasOrder: fc.boolean(),
    })
    .map(({ hasOrder, ...input }) => {
      const rows = (all: ReadonlyMap<string, ListedDealer>) =>
        [...all.values()].map(({ id, premise_state: state }) => ({ id, state }))
      return {
        ...input,
        rows: rows(input.listed),
        order: hasOrder ? orderOf(rows(input.known), MAY - 1) : null,
      } as DiffInput
    })
})()

/** The directory after so many steps of a plan, in the order in which they are written. */
function applied(
  known: DiffInput['known'],
  plan: Plan,
  steps = Infinity,
): Map<string, KnownDealer> {
  const directory = new Map(known)
  const writes = [
    ...plan.gone.map((dealer) => ({ ...dealer, listed: 0, updated_at: MAY })),
    ...plan.renewed.map(({ after }) => after),
    ...plan.changed.map(({ after }) => after),
    ...plan.added,
  ]
  for (const dealer of writes.slice(0, steps)) directory.set(dealer.id, dealer)
  return directory
}

describe('the difference', () => {
  test('is none when it was applied, whatever the directory and the list', () => {
    fc.assert(
      fc.property(arbitrary, (input) => {
        const again = compareList({ ...input, known: applied(input.known, compareList(input)) })
        assert.deepEqual([again.added, again.renewed, again.changed, again.gone], [[], [], [], []])
      }),
      { numRuns: 2_000 },
    )
  })

  test('ends the same when a run is broken off anywhere and done again', () => {
    fc.assert(
      fc.property(arbitrary, fc.nat({ max: 20 }), (input, steps) => {
        const whole = applied(input.known, compareList(input))
        const broken = applied(input.known, compareList(input), steps)
        const byId = (directory: Map<string, KnownDealer>) =>
          [...directory.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
        assert.deepEqual(
          byId(applied(broken, compareList({ ...input, known: broken }))),
          byId(whole),
        )
      }),
      { numRuns: 2_000 },
    )
  })

  test('never gives a dealer an earlier license by an older list, and never revokes where it may not', () => {
    fc.assert(
      fc.property(arbitrary, (input) => {
        const plan = compareList(input)
        const result = applied(input.known, plan)
        for (const before of input.known.values()) {
          const after = result.get(before.id)!
          assert.ok(
            after.license_number === before.license_number ||
              after.expires_on >= before.expires_on ||
              (before.source === 'atf' && before.updated_at < MAY),
          )
          assert.deepEqual(
            [after.valid_until, after.own_phone],
            [
              after.license_number === before.license_number ? before.valid_until : null,
              before.own_phone,
            ],
          )
          if (before.own_phone) assert.equal(after.voice_phone, before.voice_phone)
          if (before.source === 'operator' && !input.listed.has(before.id))
            assert.deepEqual(after, before)
        }
        const covered = new Set(
          [...input.listed.values()].map(({ premise_state }) => premise_state),
        )
        for (const dealer of plan.gone)
          assert.ok(
            !input.listed.has(dealer.id) &&
              (input.accept ||
                input.revoke.has(dealer.premise_state as never) ||
                (!input.cutOff && covered.has(dealer.premise_state))),
          )
      }),
      { numRuns: 2_000 },
    )
  })
})
