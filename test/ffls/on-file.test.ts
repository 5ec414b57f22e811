/** Distributors' on-file lists, and what the operator says of a dealer. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isApiError } from '../../lib/core/errors.js'
import type { TestApp } from '../../server/testing/index.js'
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
  withApp,
} from './lists.js'

describe("a distributor's on-file list", () => {
  const onFile = (
    t: TestApp,
    content: string,
    {
      asOf = JUNE,
      ...more
    }: { asOf?: number; force?: boolean; distid?: string; dryRun?: boolean } = {},
  ) => {
    const { dryRun = false, ...input } = more
    return t.app.operator.ffls.onFile(
      { distid: 'RSR', ...input, file: file(content) },
      { asOf, dryRun },
    )
  }
  const marks = async (t: TestApp, distid = 'RSR') =>
    (
      await t.app.ctx.read
        .selectFrom('dealer_on_file')
        .select('dealer_id')
        .where('distid', '=', distid)
        .orderBy('dealer_id')
        .execute()
    ).map(({ dealer_id }) => dealer_id)
  const license = (i: number, code = '8E', type = '01') =>
    `1-20-021-${type}-${code}-${String(i).padStart(5, '0')}`
  const line = (i: number, code = '8E') =>
    `PINE RIDGE ARMS;1 PINE ST;MACON;GA;312011234;${license(i, code)}\n`
  const many = (count: number) => Array.from({ length: count }, (_, i) => line(i + 1)).join('')

  test('marks the dealers that it names, adds those that nobody knew, and renews licenses', () =>
    withApp(async (t) => {
      await take(t, dealers(2))
      const result = await onFile(t, line(1) + line(2, '9E') + line(3))
      assert.deepEqual(
        [result.rows, result.rejected, result.marked, result.added, result.renewed, result.unknown],
        [3, 0, 3, 1, 1, 0],
      )
      assert.deepEqual(await marks(t), ['1-20-00001', '1-20-00002', '1-20-00003'])
      const [first, second, third] = await stored(t)
      assert.deepEqual(
        [first!.premise_street, first!.source, first!.updated_at],
        ['12 MILL RD', 'atf', MAY],
        'the ATF knows better where a dealer is',
      )
      assert.deepEqual(
        [second!.license_number, second!.expires_on, second!.license_name],
        [license(2, '9E'), '2029-05-01', 'DOE, JANE'],
      )
      assert.deepEqual(
        [
          third!.license_name,
          third!.business_name,
          third!.premise_zip,
          third!.expires_on,
          third!.source,
        ],
        ['PINE RIDGE ARMS', null, '31201-1234', '2028-05-01', 'on_file'],
      )
      assert.deepEqual(
        counts(await take(t, dealers(3))),
        [0, 0, 1, 1, 0],
        'an older list of the ATF still knows more of the added one, and turns no renewal back',
      )
      assert.deepEqual(
        (await stored(t)).map(({ license_number, source }) => [license_number, source]),
        [
          [license(1), 'atf'],
          [license(2, '9E'), 'atf'],
          [license(3), 'atf'],
        ],
      )
    }))

  test('keeps an earlier license from turning back a later one', () =>
    withApp(async (t) => {
      await take(t, dealers(1))
      assert.equal((await onFile(t, line(1, '7E'))).renewed, 0)
      assert.equal((await stored(t))[0]!.license_number, license(1))
    }))

  test('brings back a dealer that is gone when it has its new license', () =>
    withApp(async (t) => {
      await take(t, dealers(10))
      await take(t, dealers(9), { asOf: JUNE, accept: true })
      await onFile(t, line(10), { asOf: JUNE + 1 })
      assert.equal((await listedOnes(t)).length, 9)
      await onFile(t, line(10, '9E'), { asOf: JUNE + 1 })
      assert.equal((await listedOnes(t)).length, 10)
      await take(t, dealers(9), { asOf: JUNE })
      assert.equal(
        (await listedOnes(t)).length,
        10,
        'the list from before the renewal does not revoke it',
      )
      await take(t, dealers(9), { asOf: JUNE + 2, accept: true })
      assert.equal((await listedOnes(t)).length, 9)
    }))

  for (const [held, unmarked] of [
    [7, 3],
    [6, 0],
  ] as const) {
    test(`with ${held} of 10 marked dealers takes ${unmarked} marks away, and no other distributor's`, () =>
      withApp(async (t) => {
        await onFile(t, many(10))
        await onFile(t, many(10), { distid: 'LIP' })
        const result = await onFile(t, many(held))
        assert.deepEqual(
          [
            result.unmarked,
            result.kept?.missing ?? 0,
            (await marks(t)).length,
            (await marks(t, 'LIP')).length,
          ],
          [unmarked, 10 - held - unmarked, 10 - unmarked, 10],
        )
        if (unmarked === 0) {
          assert.match(result.kept!.reason, /less than 70 %/)
          assert.equal((await onFile(t, many(held), { force: true })).unmarked, 4)
        }
      }))
  }

  const variants: [what: string, content: string, found: unknown[]][] = [
    [
      'a license number a line',
      `${license(1)}\n${license(2).replaceAll('-', '').toLowerCase()}\n${license(9)}\n`,
      [3, 0, 3, 1, null],
    ],
    ['with a header', `NAME;STREET;CITY;ST;ZIP;LICENSE\n${many(2)}`, [2, 0, 2, 0, null]],
    ['with tabs', many(2).replaceAll(';', '\t'), [2, 0, 2, 0, null]],
    ['quoted', many(2).replaceAll('PINE RIDGE ARMS', '"PINE; RIDGE"'), [2, 0, 2, 0, null]],
    ['without a newline at its end', many(2).trimEnd(), [2, 0, 2, 0, null]],
    ['cut off', many(3).slice(0, -8), [2, 0, 2, 0, 3]],
    [
      'with bad rows',
      `${many(2)}A;B;C;GA;31201;none\nA;B;C;GA;31201\nA;B;C;GA;31201;2-20-021-01-8E-00001\n` +
        `;B;C;GA;31201;${license(7)}\nA;B;C;ZZ;31201;${license(8)}\n${line(1)}`,
      [8, 6, 2, 0, null],
    ],
    [
      'with other types',
      `${many(2)}A;B;C;GA;31201;${license(7, '8E', '06')}\n`,
      [3, 0, 2, 0, null],
    ],
  ]
  for (const [what, content, found] of variants) {
    test(`${what}: is read`, () =>
      withApp(async (t) => {
        await take(t, dealers(2))
        const result = await onFile(t, content)
        assert.deepEqual(
          [
            result.rows,
            result.rejected,
            result.marked,
            result.unknown,
            result.cut_off?.line ?? null,
          ],
          found,
        )
        assert.equal((await marks(t)).length, result.marked)
      }))
  }

  test('the mark of a dealer that nobody knows waits for it', () =>
    withApp(async (t) => {
      assert.equal((await onFile(t, `${license(1)}\n`)).unknown, 1)
      assert.deepEqual(await stored(t), [])
      await take(t, dealers(1))
      assert.deepEqual((await t.app.operator.ffls.show(license(1))).on_file_with, ['RSR'])
    }))

  test('twice, and in a dry run, changes nothing', () =>
    withApp(async (t) => {
      const all = async () => [await stored(t), await marks(t)]
      const before = await all()
      const dry = await onFile(t, many(10), { dryRun: true })
      assert.deepEqual(await all(), before)
      assert.deepEqual(await onFile(t, many(10)), dry)
      const kept = await all()
      const again = await onFile(t, many(10))
      assert.deepEqual(
        [again.marked, again.unchanged, again.unmarked, again.added, again.renewed],
        [0, 10, 0, 0, 0],
      )
      assert.deepEqual(await all(), kept)
    }))

  const refused: [content: string, distid: string, says: RegExp][] = [
    ['', 'RSR', /it is empty/],
    ['<html>', 'RSR', /HTML page/],
    [
      'NAME;STREET\nA;B\n',
      'RSR',
      /not a list of licenses: no row has a number such as .*; its first is NAME \| STREET/,
    ],
    [many(1), 'NOPE', /"NOPE" is not a known distributor/],
  ]
  for (const [content, distid, says] of refused)
    test(`refuses ${says.source}`, () =>
      withApp((t) => assert.rejects(onFile(t, content, { distid }), refuses(says))))
})

describe('what the operator says of a dealer', () => {
  const own = {
    license_number: '1-20-021-01-9E-00099',
    name: 'Own Arms',
    street: '1 Mill Rd',
    city: 'Macon',
    state: 'Georgia',
    zip: '31201-1234',
    reason: 'license seen',
  }

  test('is set, taken away and audited', () =>
    withApp(async (t) => {
      const { ffls } = t.app.operator
      await take(t, dealers(2))
      const set = await ffls.set('1-20-021-01-8E-00001', {
        fee_longgun: 25.005,
        phone: '1 478 555 0199',
        sot: true,
      })
      assert.deepEqual(
        [set.fee_longgun, set.voice_phone, set.sot_on_file, set.active],
        [25.01, '4785550199', true, true],
      )
      const unset = await ffls.set('1-20-XXX-XX-XX-00001', {
        fee_longgun: null,
        phone: null,
        sot: false,
      })
      assert.deepEqual(
        [unset.fee_longgun, unset.voice_phone, unset.sot_on_file],
        [null, null, false],
      )
      const audited = await t.app.ctx.read
        .selectFrom('audit')
        .select('detail')
        .where('action', '=', 'ffls.set')
        .execute()
      assert.deepEqual(
        audited.map(({ detail }) => JSON.parse(detail) as unknown),
        [
          {
            license_number: '1-20-021-01-8E-00001',
            fee_longgun: 25.005,
            phone: '1 478 555 0199',
            sot: true,
          },
          { license_number: '1-20-021-01-8E-00001', fee_longgun: null, phone: null, sot: false },
        ],
      )
    }))

  test('a later end makes an expired dealer active, and is refused without a reason', () =>
    withApp(async (t) => {
      const { ffls } = t.app.operator
      await take(t, [{ LIC_XPRDTE: '6J' }])
      assert.equal((await ffls.show('1-58-00001')).active, false)
      await assert.rejects(
        ffls.set('1-58-00001', { valid_until: '2027-03-31' }),
        refuses(/reason: is missing/),
      )
      assert.equal(
        (await ffls.set('1-58-00001', { valid_until: '2027-03-31', reason: 'letter of the ATF' }))
          .active,
        true,
      )
      assert.equal(
        (await ffls.set('1-58-00001', { valid_until: null, reason: 'the letter was withdrawn' }))
          .active,
        false,
      )
    }))

  const refused: [settings: Record<string, unknown>, says: RegExp][] = [
    [{}, /nothing to set/],
    [{ reason: 'x' }, /nothing to set/],
    [{ fee_longgun: -1 }, /fee_longgun: must be 0 to 1000/],
    [{ fee_handgun: 1_001 }, /fee_handgun: must be/],
    [{ fee_handgun: Number.NaN }, /fee_handgun: must be/],
    [{ email: 'nobody' }, /not an e-mail/],
    [{ phone: '123' }, /not a telephone number/],
    [{ valid_until: '2026-02-30', reason: 'x' }, /is not a day/],
    [{ valid_until: 'soon', reason: 'x' }, /is not a day/],
    [{ valid_until: '2028-05-01', reason: 'x' }, /valid through 2028-05-01/],
    [{ sot: true, reason: ' ' }, /reason: must be/],
  ]
  for (const [settings, says] of refused) {
    test(`${JSON.stringify(settings)} is refused`, () =>
      withApp(async (t) => {
        await take(t, dealers(1))
        const kept = await stored(t)
        await assert.rejects(t.app.operator.ffls.set('1-20-00001', settings), refuses(says))
        assert.deepEqual(await stored(t), kept)
      }))
  }

  test('a dealer that no list has is added once, and one that is gone comes back', () =>
    withApp(async (t) => {
      const { ffls } = t.app.operator
      const added = await ffls.add({
        ...own,
        business_name: 'Own',
        phone: '4785550100',
        email: 'own@shop.example',
      })
      assert.deepEqual(
        [
          added.license_number,
          added.premise_state,
          added.premise_zip,
          added.source,
          added.active,
          added.email,
        ],
        [own.license_number, 'GA', '31201-1234', 'operator', true, 'own@shop.example'],
      )
      await assert.rejects(
        ffls.add({ ...own, license_number: '1-20-021-01-8E-00099' }),
        refuses(/is there already, as 1-20-021-01-9E-00099/),
      )
      await take(t, dealers(10))
      await take(t, dealers(9), { asOf: JUNE, accept: true })
      assert.equal((await ffls.show('1-20-00010')).listed, false)
      assert.equal(
        (await ffls.add({ ...own, license_number: '1-20-021-01-9E-00010' })).listed,
        true,
      )
      assert.equal(
        (
          await t.app.ctx.read
            .selectFrom('audit')
            .select('detail')
            .where('action', '=', 'ffls.add')
            .execute()
        ).length,
        2,
      )
    }))

  const wrong: [change: Partial<typeof own> & { email?: string }, says: RegExp][] = [
    [{ license_number: '1-20-XXX-01-9E-00099' }, /not a license number/],
    [{ license_number: '2-20-021-01-9E-00099' }, /not a license number/],
    [{ license_number: '1-20-021-06-9E-00099' }, /type 06 takes in no firearms/],
    [{ state: 'Nowhere' }, /no known state/],
    [{ zip: 'x' }, /no ZIP/],
    [{ reason: '' }, /reason: must be/],
    [{ name: 'a\u0000' }, /name: holds the control/],
    [{ street: ' ' }, /street: must be/],
    [{ email: 'x' }, /not an e-mail/],
  ]
  for (const [change, says] of wrong)
    test(`a dealer with ${JSON.stringify(change)} is refused`, () =>
      withApp((t) => assert.rejects(t.app.operator.ffls.add({ ...own, ...change }), refuses(says))))

  test('nobody is shown whom nobody knows', () =>
    withApp(async (t) => {
      for (const license of ['1-20-00001', '1-20-021-01-8E-00001', 'x'])
        await assert.rejects(
          t.app.operator.ffls.show(license),
          (error) => isApiError(error) && error.code === 'not_found',
        )
    }))
})
