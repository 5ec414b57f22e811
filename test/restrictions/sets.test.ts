/**
 * How the rules change: imports and their faults, differences, and a subscriber's own exceptions.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { isApiError } from '../../lib/core/errors.js'
import { DAY } from '../../lib/core/clock.js'
import { openForTest as open } from '../../server/testing/open.js'
import type { NewOverride } from '../../lib/restrictions/rules/overrides.js'
import type { Tables } from '../../lib/db/tables/tables.js'
import { readRules } from '../../lib/restrictions/rules/read-file.js'
import { heardByOthers } from '../harness/record.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'

type Input = Parameters<TestApp['shop']['restrictions']['check']>[0]

const TODAY = '2026-11-21'
const UPC = '012345678905'

const rule = (id: string, parts: object = {}) => ({
  rule_id: id,
  kind: 'BLOCK',
  legal_status: 'policy',
  customer_message: 'No.',
  ...parts,
})
const text = (...rules: object[]) => JSON.stringify(rules)
const lines = (...rules: object[]) => rules.map((one) => JSON.stringify(one)).join('\n')

const importText = (t: TestApp, rules: string, replace = false) =>
  t.app.operator.rules.import({ text: rules, origin: 'test.json', replace })
const active = async (t: TestApp) =>
  (await t.app.operator.rules.list()).map(({ rule_id: id, version }) => `${id} ${version}`)
const count = async (t: TestApp, table: keyof Tables) =>
  (await t.app.ctx.read.selectFrom(table).select(sql.lit(1).as('one')).execute()).length

const audited = (t: TestApp, like: string) =>
  t.app.ctx.read
    .selectFrom('audit')
    .select(['action', 'detail'])
    .where('action', 'like', like)
    .orderBy('seq')
    .execute()

async function refused(run: Promise<unknown>): Promise<{ message: string; details: unknown }> {
  try {
    await run
  } catch (error) {
    if (isApiError(error) && error.code === 'invalid_parameter')
      return { message: error.message, details: error.details }
    throw error
  }
  throw new Error('taken')
}

describe('an import', () => {
  test('takes a JSON array, a rule a line, or one rule, whatever its line ends and byte order mark', () => {
    const [a, b] = [
      rule('a'),
      rule('b', { operator_note: 'brackets ] } and "quotes" \\ stand in texts\n' }),
    ]
    for (const [label, file] of [
      ['array', text(a, b)],
      ['pretty array', JSON.stringify([a, b], null, 2)],
      ['lines', lines(a, b)],
      ['lines that end', `${lines(a, b)}\n`],
      ['lines of Windows', lines(a, b).replace('\n', '\r\n\r\n')],
      ['array after a mark', `\uFEFF${text(a, b)}`],
      ['lines after a mark', `\uFEFF${lines(a, b)}`],
      ['blanks before', `\n\n  ${text(a, b)} \n`],
    ] as const) {
      const { rules, faults } = readRules(file, TODAY)
      assert.deepEqual([label, rules.map(({ rule_id: id }) => id), faults], [label, ['a', 'b'], []])
    }
    assert.deepEqual(
      readRules(JSON.stringify(a, null, 2), TODAY).rules.map(({ rule_id: id }) => id),
      ['a'],
    )
    assert.deepEqual(readRules('[]', TODAY), { rules: [], faults: [] })
  })

  test('fills in what a rule leaves out', () => {
    assert.deepEqual(
      readRules(
        text({
          rule_id: 'a',
          kind: 'BLOCK',
          customer_message: ' No. ',
          citations: [{ cite: 'Some Code 1' }],
        }),
        TODAY,
      ).rules,
      [
        {
          rule_id: 'a',
          version: 1,
          kind: 'BLOCK',
          scope: { country: 'US' },
          match: {},
          destination: 'any',
          customer_message: 'No.',
          effective_from: null,
          effective_to: null,
          legal_status: 'in_force',
          citations: [{ cite: 'Some Code 1', url: null, retrieved: null }],
          unknown_attribute: 'review',
          confidence: null,
          reviewed: null,
          operator_note: null,
        },
      ],
    )
  })

  test('refuses a rule with each of its faults, by line and reason', () => {
    const predicate = (parts: object) => ({
      match: { attributes: [{ name: 'x', op: 'eq', value: 1, ...parts }] },
    })
    for (const [parts, ...reasons] of [
      [
        { extra: 1 },
        'extra is not a known member; known are rule_id, version, kind, scope, match, ' +
          'destination, customer_message, effective_from, effective_to, legal_status, ' +
          'citations, unknown_attribute, confidence, reviewed, operator_note',
      ],
      [
        { effective_form: '2026-01-01' },
        'effective_form is not a known member; did you mean effective_from?',
      ],
      [{ scope: { sate: ['CA'] } }, 'scope.sate is not a known member; did you mean state?'],
      [
        { match: { product_clas: ['MG'] } },
        'match.product_clas is not a known member; did you mean product_class?',
      ],
      [{ kind: 'BLOK' }, 'kind must be one of BLOCK, WARNING, MANUAL_REVIEW'],
      [{ kind: undefined }, 'kind is required'],
      [
        { rule_id: 'a b' },
        'rule_id must be up to 100 letters, digits, dots, dashes and underscores',
      ],
      [{ rule_id: undefined }, 'rule_id is required'],
      [{ version: 0 }, 'version must be at least 1'],
      [{ version: 1.5 }, 'version must be a whole number'],
      [{ customer_message: ' ' }, 'customer_message must have at least 1 character'],
      [
        { customer_message: 'a\u0007' },
        'customer_message holds the control character U+0007; remove it',
      ],
      [{ effective_from: '2026-1-1' }, 'effective_from must be YYYY-MM-DD'],
      [{ effective_to: '2026-02-30' }, 'effective_to is not a day of the calendar'],
      [{ effective_from: '2026-13-01' }, 'effective_from is not a day of the calendar'],
      [
        { effective_from: '2026-06-02', effective_to: '2026-06-01' },
        'effective_to lies before effective_from, 2026-06-02',
      ],
      [{ effective_from: 2026 }, 'effective_from must be a text'],
      [
        { scope: { state: ['ZZ'] } },
        'scope.state[0] must be the two letters of a state or territory',
      ],
      [
        { scope: { state: ['California'] } },
        'scope.state[0] must be the two letters of a state or territory',
      ],
      [{ scope: { state: [] } }, 'scope.state must have at least 1 entry'],
      [{ scope: { state: 'CA' } }, 'scope.state must be a list'],
      [
        { scope: { state: ['IL'], county: ['Coook'] } },
        'scope.county.0 "Coook" is not a county of IL',
      ],
      [
        { scope: { state: ['IL', 'WI'], county: ['Cook', 'Orleans'] } },
        'scope.county.1 "Orleans" is not a county of IL, WI',
      ],
      [
        { scope: { state: ['IL'], county: ['06037'] } },
        'scope.county.0 "06037" is not a county of IL',
      ],
      [
        { scope: { county: ['Cook'] } },
        'scope.state is required where counties or cities are named',
        'scope.county.0 "Cook" is not a county of ',
      ],
      [
        { scope: { city: ['Chicago'] } },
        'scope.state is required where counties or cities are named',
      ],
      [{ scope: { zip: ['6060'] } }, 'scope.zip[0] must be 5 digits, or fewer and a star'],
      [{ scope: { zip: ['60601*'] } }, 'scope.zip[0] must be 5 digits, or fewer and a star'],
      [
        { scope: { place: ['hotel'] } },
        'scope.place[0] must be one of po_box, military, territory',
      ],
      [{ scope: { country: 'us' } }, 'scope.country must be two capital letters'],
      [
        { scope: { country: 'CA', state: ['NY'] } },
        'scope.country must be US where states or counties are named',
      ],
      [
        { match: { product_class: ['XX'] } },
        'match.product_class[0] must be one of AC, AG, AO, AP, AR, BP, BS, FA, FI, FP, HS, ' +
          'HT, HZ, KN, LL, MG, MZ, OP, OT, RC, RL, SF, SO',
      ],
      [{ match: { upc: ['12AB'] } }, 'match.upc[0] must be a UPC'],
      [{ match: { upc: [12345678905] } }, 'match.upc[0] must be a text'],
      [{ match: { sku: [''] } }, 'match.sku[0] must have at least 1 character'],
      [
        predicate({ op: 'is' }),
        'match.attributes[0].op must be one of eq, ne, in, gt, gte, lt, lte, exists',
      ],
      [predicate({ op: 'gt', value: '10' }), 'match.attributes[0].value must be a number for gt'],
      [predicate({ op: 'in' }), 'match.attributes[0].value must be a list for in'],
      [predicate({ op: 'exists' }), 'match.attributes[0].value must be true or false for exists'],
      [predicate({ op: 'ne', value: [1] }), 'match.attributes[0].value must be one value for ne'],
      [
        predicate({ value: null }),
        'match.attributes[0].value must be a text, a number, true or false, or a list of these',
      ],
      [
        predicate({ unit: 'in' }),
        'match.attributes[0].unit is not a known member; known are name, op, value',
      ],
      [{ legal_status: 'in_force' }, 'citations must name the law, but for a policy'],
      [
        { legal_status: 'valid' },
        'legal_status must be one of enacted, in_force, stayed, enjoined, struck, repealed, policy',
      ],
      [
        { citations: [{ cite: 'x', url: 'ftp://law.example' }] },
        'citations[0].url must be an http(s) address',
      ],
      [
        { citations: [{ cite: 'x', url: 'law.example' }] },
        'citations[0].url must be an http(s) address',
      ],
      [{ citations: [{ url: null }] }, 'citations[0].cite is required'],
      [
        { citations: [{ cite: 'x', retrieved: '2026-11-22' }] },
        'citations.retrieved: 2026-11-22 lies in the future',
      ],
      [{ reviewed: '2027-01-01' }, 'reviewed: 2027-01-01 lies in the future'],
      [{ destination: 'store' }, 'destination must be one of consumer, ffl, any'],
      [{ unknown_attribute: 'allow' }, 'unknown_attribute must be one of review, ignore, block'],
      [{ confidence: 'D' }, 'confidence must be one of A, B, C'],
    ] as const) {
      const bad = { ...rule('bad'), ...parts }
      const id = 'rule_id' in bad && bad.rule_id !== undefined ? bad.rule_id : null
      const { rules, faults } = readRules(
        `[\n${JSON.stringify(rule('good'))},\n${JSON.stringify(bad)}\n]`,
        TODAY,
      )
      assert.deepEqual(
        [rules, faults],
        [[], reasons.map((reason) => ({ line: 3, rule_id: id, reason }))],
      )
    }
    for (const value of [1, 'text', null, [], [rule('a')]])
      assert.deepEqual(
        readRules(`${JSON.stringify(rule('a'))}\n${JSON.stringify(value)}`, TODAY).faults.map(
          ({ line, rule_id: id }) => [line, id],
        ),
        [[2, null]],
        JSON.stringify(value),
      )
  })

  test('refuses versions that hold on the same day, and one version twice', () => {
    const version = (number: number, from: string | null, to: string | null, id = 'a') =>
      rule(id, { version: number, effective_from: from, effective_to: to })
    for (const [rules, ...faults] of [
      [[version(1, null, '2026-06-30'), version(2, '2026-07-01', null)]],
      [[version(1, null, null), version(1, null, null, 'b')]],
      [
        [
          version(3, '2026-01-01', '2026-01-31'),
          version(1, '2025-01-01', '2025-12-31'),
          version(2, '2026-02-01', null),
        ],
      ],
      [
        [version(1, null, '2026-07-01'), version(2, '2026-07-01', null)],
        'holds on days of version 1 in line 1: end one before the other begins',
      ],
      [
        [version(1, null, null), version(2, '2027-01-01', null)],
        'holds on days of version 1 in line 1: end one before the other begins',
      ],
      [
        [version(1, null, '2025-12-31'), version(1, '2026-01-01', null)],
        'version 1 stands in line 1 too',
      ],
    ] as [object[], ...string[]][])
      assert.deepEqual(
        readRules(lines(...rules), TODAY).faults.map(({ line, rule_id: id, reason }) => [
          line,
          id,
          reason,
        ]),
        faults.map((reason) => [2, 'a', reason]),
      )
  })

  test('refuses a text that is empty, cut off or no JSON, at the line where it breaks', () => {
    const [a, b] = [JSON.stringify(rule('a')), JSON.stringify(rule('b'))]
    for (const [file, line, reason] of [
      ['', 1, 'the file is empty'],
      [' \n\n', 1, 'the file is empty'],
      ['\uFEFF', 1, 'the file is empty'],
      [`[\n${a},\n${b}`, 3, 'the list ends too early'],
      [`[\n${a},\n${b.slice(0, 40)}`, 3, 'the list ends too early'],
      [`[${a}, 5]`, 1, 'the list holds something that is not an object'],
      [`[\n${a}\n${b}\n]`, 4, 'is not valid JSON'],
      [`[\n${a}\n]\nrest`, 4, 'is not valid JSON'],
      [`${a}\n${b.slice(0, 40)}`, 2, 'is not valid JSON'],
      ['rule_id,kind\na,BLOCK', 1, 'is not valid JSON'],
      ['<html>', 1, 'is not valid JSON'],
      [`[\n${a},\n{"rule_id": "b", kind: "BLOCK"}\n]`, 3, 'is not valid JSON'],
    ] as const) {
      const { rules, faults } = readRules(file, TODAY)
      assert.deepEqual([rules, faults[0]!.line], [[], line], file)
      assert.ok(faults[0]!.reason.startsWith(reason), `${file}: ${faults[0]!.reason}`)
    }
  })

  test('tells at most 100 faults, and then changes nothing', async () => {
    await using t = await createTestApp()
    const { digest } = await importText(t, text(rule('a')))
    const counts = () =>
      Promise.all((['rule_set', 'active_rule_set', 'audit'] as const).map((one) => count(t, one)))
    const before = await counts()
    const { message, details } = await refused(
      importText(
        t,
        lines(
          rule('b'),
          ...Array.from({ length: 150 }, (_, i) =>
            rule(`c${i}`, { kind: 'NO', version: 0, confidence: 'D' }),
          ),
        ),
      ),
    )
    assert.match(message, /^line 2: .*version must be at least 1 \(and 99 more, see details\)$/)
    assert.deepEqual(
      [(details as unknown[]).length, (details as unknown[])[99]],
      [100, { path: 'line 35', message: 'c33: version must be at least 1' }],
    )
    assert.deepEqual(
      [await active(t), t.app.ctx.rules.active().digest, await counts()],
      [['a 1'], digest, before],
    )
  })

  test('takes the place of versions of the same days, leaves other rules, and with replace leaves none', async () => {
    await using t = await createTestApp()
    const first = await importText(
      t,
      text(
        rule('b', { version: 1, effective_to: '2026-06-30' }),
        rule('b', { version: 2, effective_from: '2026-07-01' }),
        rule('a'),
        rule('c'),
      ),
    )
    assert.deepEqual(
      { ...first, digest: null },
      {
        digest: null,
        rules: 4,
        added: ['a', 'b', 'c'],
        changed: [],
        removed: [],
        unchanged: 0,
        replaced: [],
        kept: [],
      },
    )
    assert.deepEqual(await active(t), ['a 1', 'b 1', 'b 2', 'c 1'])
    const second = await importText(t, lines(rule('b', { version: 3 }), rule('c'), rule('d')))
    assert.deepEqual(
      { ...second, digest: null },
      {
        digest: null,
        rules: 4,
        added: ['d'],
        changed: ['b'],
        removed: [],
        unchanged: 2,
        replaced: ['b 1', 'b 2', 'c 1'],
        kept: [],
      },
    )
    assert.deepEqual(await active(t), ['a 1', 'b 3', 'c 1', 'd 1'])
    const third = await importText(t, text(rule('d'), rule('a', { kind: 'WARNING' })), true)
    assert.deepEqual(
      { ...third, digest: null },
      {
        digest: null,
        rules: 2,
        added: [],
        changed: ['a'],
        removed: ['b', 'c'],
        unchanged: 1,
        replaced: ['a 1', 'd 1'],
        kept: [],
      },
    )
    assert.equal(t.app.ctx.rules.active().digest, third.digest)
    assert.deepEqual(
      (await audited(t, 'rules.import')).map(
        ({ detail }) => (JSON.parse(detail) as { digest: string }).digest,
      ),
      [first.digest, second.digest, third.digest],
    )
  })

  test('ends the version that holds on the day before, and takes the place of later ones', async () => {
    await using t = await createTestApp()
    const version = (number: number, from: string | null, to: string | null) =>
      rule('a', { version: number, effective_from: from, effective_to: to })
    for (const [stored, incoming, after, replaced, kept] of [
      [version(1, null, '2026-12-31'), version(2, '2027-01-01', null), ['a 1', 'a 2'], [], ['a 1']],
      [version(2, '2027-01-01', null), version(1, null, '2026-12-31'), ['a 1', 'a 2'], [], ['a 2']],
      [version(1, null, '2027-01-01'), version(2, '2027-01-01', null), ['a 1', 'a 2'], [], ['a 1']],
      [version(1, null, null), version(2, '2027-01-01', null), ['a 1', 'a 2'], [], ['a 1']],
      [version(2, '2027-01-01', null), version(1, '2026-06-01', null), ['a 1'], ['a 2'], []],
      [version(1, '2027-01-01', null), version(2, '2027-01-01', null), ['a 2'], ['a 1'], []],
      [version(1, null, '2026-12-31'), version(1, '2027-01-01', null), ['a 1'], ['a 1'], []],
    ] as const) {
      await importText(t, text(stored), true)
      const diff = t.app.operator.rules.diff({ text: text(incoming) })
      const result = await importText(t, text(incoming))
      assert.deepEqual(
        [await active(t), result.replaced, result.kept, diff.replaced, diff.kept],
        [after, replaced, kept, replaced, kept],
      )
    }
    await importText(t, text(version(1, null, null)), true)
    await importText(t, text(version(2, '2027-01-01', null)))
    const blocked = async (asOf: string) =>
      (
        await t.app.operator.rules.test(t.subscriber, {
          shipping: { state: 'CA' },
          items: [{} as never],
          asOf,
        })
      ).items[0]!.blocking_rules.length
    assert.deepEqual([await blocked('2026-12-31'), await blocked('2027-01-01')], [1, 1])
  })

  test('of an empty list is refused where the caller wishes that', async () => {
    await using t = await createTestApp()
    await importText(t, text(rule('a')))
    for (const replace of [false, true])
      assert.match(
        (
          await refused(
            t.app.operator.rules.import({
              text: '[]',
              origin: 'test.json',
              replace,
              refuseEmpty: true,
            }),
          )
        ).message,
        replace
          ? /^rules: the list is empty and would leave no rule$/
          : /^rules: the list is empty$/,
      )
    assert.deepEqual(await active(t), ['a 1'])
    await importText(t, '[]', true)
    assert.deepEqual(await active(t), [])
  })

  test('of the same rules in another order is the same set', async () => {
    await using t = await createTestApp()
    const parts = { scope: { zip: ['9*'], state: ['CA'] }, match: { product_class: ['MG'] } }
    const { digest } = await importText(t, text(rule('a', parts), rule('b'), rule('c')), true)
    const other = await importText(
      t,
      lines(
        rule('c'),
        { match: parts.match, ...rule('a'), scope: { state: ['CA'], country: 'US', zip: ['9*'] } },
        rule('b'),
      ),
      true,
    )
    assert.deepEqual([other.digest, other.unchanged, await count(t, 'rule_set')], [digest, 3, 1])
    assert.match(digest, /^[0-9a-f]{64}$/)
    const versions = [
      rule('v', { version: 1, effective_to: '2026-06-30' }),
      rule('v', { version: 2, effective_from: '2026-07-01' }),
    ]
    assert.equal(
      (await importText(t, text(...versions), true)).digest,
      (await importText(t, text(...versions.toReversed()), true)).digest,
    )
    assert.notEqual((await importText(t, text(rule('a')), true)).digest, digest)
    assert.equal(
      (await importText(t, text(rule('a', parts), rule('b'), rule('c')), true)).digest,
      digest,
    )
  })

  test('at the same time as another, or right after one of another process, keeps the rules of both', async () => {
    await using t = await createTestApp()
    await using other = await open({ dir: t.app.dir, worker: false })
    await Promise.all([importText(t, text(rule('a'))), importText(t, text(rule('b')))])
    await other.operator.rules.import({ text: text(rule('c')), origin: 'there' })
    await importText(t, text(rule('d')))
    assert.deepEqual(await active(t), ['a 1', 'b 1', 'c 1', 'd 1'])
  })

  test('is foretold by the difference, which writes nothing', async () => {
    await using t = await createTestApp()
    await importText(t, text(rule('a'), rule('b'), rule('c')))
    const input = { text: text(rule('a'), rule('b', { kind: 'WARNING' }), rule('z'), rule('d')) }
    const { rules, ...changes } = t.app.operator.rules.diff(input)
    assert.deepEqual(
      [changes, rules.map(({ rule_id: id }) => id).sort()],
      [
        {
          added: ['d', 'z'],
          changed: ['b'],
          removed: [],
          unchanged: 2,
          replaced: ['a 1', 'b 1'],
          kept: [],
        },
        ['a', 'b', 'c', 'd', 'z'],
      ],
    )
    const { rules: _, ...replaced } = t.app.operator.rules.diff({ ...input, replace: true })
    assert.deepEqual(replaced, {
      added: ['d', 'z'],
      changed: ['b'],
      removed: ['c'],
      unchanged: 1,
      replaced: ['a 1', 'b 1'],
      kept: [],
    })
    assert.throws(() => t.app.operator.rules.diff({ text: '' }), { code: 'invalid_parameter' })
    assert.deepEqual([await active(t), await count(t, 'rule_set')], [['a 1', 'b 1', 'c 1'], 1])
  })
})

describe('an override', () => {
  const by = { author: 'Ann', reason: 'Counsel agreed.' }

  async function withRules(): Promise<TestApp> {
    const t = await createTestApp()
    await importText(
      t,
      text(
        rule('mags', { scope: { state: ['CA'] }, match: { product_class: ['MG'] } }),
        rule('knives', { scope: { state: ['CA', 'NY'] }, match: { product_class: ['KN'] } }),
        rule('abroad', { scope: { country: 'CA' } }),
      ),
    )
    return t
  }

  const add = (t: TestApp, override: Partial<NewOverride>, subscriber = t.subscriber) =>
    t.app.operator.rules.override(subscriber, { ...by, ...override } as NewOverride)

  async function ask(
    t: TestApp,
    product_class: 'MG' | 'KN' | undefined,
    shipping: Input['shipping'] = { state: 'CA' },
    item: Input['items'][number] = {},
  ) {
    const {
      items: [judged],
    } = await t.remote.restrictions.check({ shipping, items: [{ product_class, ...item }] })
    const { approved, blocking_rules: blocked, warnings, manual_review: held } = judged!
    const ids = (rules: typeof blocked) => rules.map(({ rule_id: id }) => id.replace(/o_.*/, ''))
    return {
      approved,
      blocked: ids(blocked),
      warned: ids(warnings),
      held: ids(held),
      rules: [...blocked, ...held, ...warnings],
    }
  }

  test('that allows lifts the rules that it names, where it says, and shows them in warnings', async () => {
    await using t = await withRules()
    await add(t, {
      effect: 'allow',
      rule_ids: ['mags'],
      scope: { state: ['CA'], country: 'US' },
      match: { upc: [UPC] },
      expires: '2026-12-31',
    })
    const {
      rules: [lifted],
      ...lists
    } = await ask(t, 'MG', { state: 'CA' }, { upc: UPC })
    assert.deepEqual(lists, { approved: true, blocked: [], warned: ['mags'], held: [] })
    assert.deepEqual(
      [lifted!.kind, lifted!.reason, lifted!.overridden_by],
      ['BLOCK', 'state is CA; product_class is MG', { ...by, expires: '2026-12-31' }],
    )
    assert.deepEqual(
      (await ask(t, 'MG', { state: 'CA' }, { upc: '012345678912' })).blocked,
      ['mags'],
      'another item',
    )
    assert.deepEqual(
      (await ask(t, 'MG')).blocked,
      ['mags'],
      'an item that may be another lifts nothing',
    )
    assert.deepEqual(
      (await ask(t, 'KN', { state: 'CA' }, { upc: UPC })).blocked,
      ['knives'],
      'another rule',
    )
  })

  test('that allows lifts what is held too, but never what is held abroad', async () => {
    await using t = await withRules()
    assert.deepEqual((await ask(t, undefined)).held, ['knives', 'mags'])
    await add(t, { effect: 'allow', rule_ids: ['mags', 'knives'] })
    assert.deepEqual(
      { ...(await ask(t, undefined)), rules: null },
      { approved: true, blocked: [], warned: ['knives', 'mags'], held: [], rules: null },
    )
    await add(t, { effect: 'allow', rule_ids: ['abroad'], scope: { country: 'CA' } })
    assert.deepEqual(
      { ...(await ask(t, 'MG', { state: 'ON', country: 'CA' })), rules: null },
      { approved: false, blocked: [], warned: ['abroad'], held: ['builtin.abroad'], rules: null },
    )
  })

  test('that blocks forbids what no rule forbids, and holds what may be meant', async () => {
    await using t = await withRules()
    const { id } = await add(t, {
      effect: 'block',
      match: { product_class: ['KN'] },
      customer_message: 'We ship no knives.',
    })
    const {
      rules: [blocked],
      ...lists
    } = await ask(t, 'KN', { state: 'TX' })
    assert.deepEqual(lists, { approved: false, blocked: ['override.'], warned: [], held: [] })
    assert.deepEqual(blocked, {
      rule_id: `override.${id}`,
      kind: 'BLOCK',
      customer_message: 'We ship no knives.',
      reason: 'blocked by Ann: Counsel agreed.',
      missing: [],
      would_change: [],
      citations: [],
      effective_from: null,
      overridden_by: { ...by, expires: null },
    })
    const {
      rules: [held],
      ...unsure
    } = await ask(t, undefined, { state: 'TX' })
    assert.deepEqual(
      [unsure, held!.kind, held!.missing],
      [
        { approved: false, blocked: [], warned: [], held: ['override.'] },
        'MANUAL_REVIEW',
        ['product_class'],
      ],
    )
    assert.equal((await ask(t, 'MG', { state: 'TX' })).approved, true)
  })

  test('holds through its last day, or until it is withdrawn', async () => {
    await using t = await withRules()
    const { id } = await add(t, { effect: 'allow', rule_ids: ['mags'], expires: '2026-11-22' })
    t.clock.ms = Date.UTC(2026, 10, 22, 23, 59, 59, 999)
    assert.equal((await ask(t, 'MG')).approved, true)
    t.clock.advance(1)
    assert.deepEqual((await ask(t, 'MG')).blocked, ['mags'])
    t.clock.advance(-DAY)
    await t.app.operator.rules.withdraw(id)
    assert.deepEqual((await ask(t, 'MG')).blocked, ['mags'])
    for (const gone of [id, 'o_none'])
      await assert.rejects(t.app.operator.rules.withdraw(gone), { code: 'not_found' })
    assert.deepEqual(
      (await audited(t, 'rules.override%')).map(({ action }) => action),
      ['rules.override', 'rules.override.withdraw'],
    )
  })

  test('is of one subscriber alone, and another process sees it', async () => {
    await using t = await withRules()
    const { name } = await t.app.operator.subscribers.create({
      name: 'Other shop',
      email: 'other@shop.example',
    })
    await add(t, { effect: 'allow', rule_ids: ['mags'] }, name)
    assert.deepEqual((await ask(t, 'MG')).blocked, ['mags'])
    const check = { shipping: { state: 'CA' }, items: [{ product_class: 'MG' as const }] }
    assert.equal((await t.app.as(name).restrictions.check(check)).approved, true)
    await using there = await open({ dir: t.app.dir, worker: false, now: () => t.clock.ms })
    assert.deepEqual(
      [
        (await there.as(name).restrictions.check(check)).approved,
        (await there.as(t.subscriber).restrictions.check(check)).approved,
      ],
      [true, false],
    )
    await add(t, { effect: 'allow', rule_ids: ['mags'] })
    const isAllowed = async () => (await there.as(t.subscriber).restrictions.check(check)).approved
    await heardByOthers(isAllowed)
    assert.equal(await isAllowed(), true)
    await assert.rejects(add(t, { effect: 'allow', rule_ids: ['mags'] }, 'Nobody'), {
      code: 'not_found',
    })
  })

  test('names author, reason and what it means; else it is refused', async () => {
    await using t = await withRules()
    for (const [override, message] of [
      [{ effect: 'allow', rule_ids: ['mags'], author: ' ' }, /^author: /],
      [{ effect: 'allow', rule_ids: ['mags'], reason: '' }, /^reason: /],
      [{ effect: 'allow', rule_ids: ['mags'], author: undefined }, /^author: /],
      [{ effect: 'lift', rule_ids: ['mags'] }, /^effect: /],
      [{ effect: 'allow' }, /^rule_ids: is required/],
      [
        { effect: 'allow', rule_ids: ['mags', 'none'] },
        /^rule_ids: there is no active rule "none"/,
      ],
      [{ effect: 'block' }, /^match: is required/],
      [{ effect: 'block', match: {}, scope: { country: 'US' } }, /^match: is required/],
      [{ effect: 'block', match: { product_class: ['XX'] } }, /^match\.product_class/],
      [
        { effect: 'block', scope: { country: 'US', state: ['IL'], county: ['Coook'] } },
        /not a county of IL/,
      ],
      ...['2026-13-45', '2026-02-30', '2026-1-1', 'soon', '2026-11-20'].map(
        (expires) => [{ effect: 'allow', rule_ids: ['mags'], expires }, /^expires: /] as const,
      ),
      [
        {
          effect: 'allow',
          rule_ids: ['mags'],
          match: { attributes: [{ name: 'x', op: 'exists', value: false }] },
        },
        /^match\.attributes: what is not known allows nothing/,
      ],
      [{ effect: 'allow', rule_ids: ['mags'], extra: 1 }, /extra/],
    ] as [Partial<NewOverride>, RegExp][])
      assert.match((await refused(add(t, override))).message, message, JSON.stringify(override))
    assert.equal(await count(t, 'rule_override'), 0)
  })
})
