/** Replacing the configuration (contract "Configuration", "Authentication" 9). */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { inspect } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { findSubscriber } from '../../lib/accounts/subscribers.js'
import type { ConfigurationDocument } from '../../lib/configuration/document/document.js'
import { keepSecrets } from '../../lib/configuration/keep-masked-secrets.js'
import { openSaved } from '../../lib/configuration/secrets.js'
import type { Log } from '../../lib/core/log.js'
import { defineDistributor } from '../../lib/distributors/distributor.js'
import { builtin, presets } from '../../lib/distributors/builtin/index.js'
import { makeRegistry } from '../../lib/distributors/registry.js'
import { etagOf } from '../../lib/core/endpoint/result-headers.js'
import { openForTest as open } from '../../server/testing/open.js'
import { demoCredential } from '../../lib/simulator/profiles.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'

type Json = Record<string, unknown>
interface Fault {
  path: string
  message: string
}

const M = '********'
const EMAILS = { ffl_recipient_emails: ['licenses@distributor.example'] }

function entry(distid: string, more: Json = {}) {
  return {
    active: true,
    distid,
    drop_ship_only_items: false,
    shipping: { flat_rate: { cost: 10, shipping_class: 'flat' } },
    product_restrictions: { min_quantity_to_list: 1 },
    ...more,
  }
}

function plain(
  more: Partial<Record<keyof ConfigurationDocument, unknown>> = {},
): ConfigurationDocument {
  return {
    distributors: {},
    targets: {},
    notification_email: 'owner@shop.example',
    pricing: {},
    product_restrictions: {},
    ...more,
  } as ConfigurationDocument
}

/** A document with a secret at every place that may have one, each a word of its own. */
function secretive(word = 'S3CRET'): ConfigurationDocument {
  let n = 0
  const secret = () => `${word}-${++n}`
  return plain({
    distributors: {
      'RSR Group': entry('RSR', {
        fulfillment: {
          API_USER: '1',
          API_PASSWORD: secret(),
          ship_to_store: { store_account: 2, password: secret() },
        },
      }),
      Lipseys: entry('LIP', {
        fulfillment: {
          API_USER: 'a@shop.example',
          API_PASSWORD: secret(),
          ship_to_store: { API_PASSWORD: secret() },
        },
      }),
      Zanders: entry('ZND', {
        fulfillment: {
          accessories: { api_user: 'a', api_password: secret() },
          firearms: { api_password: secret() },
          ship_to_store: { api_password: secret() },
        },
      }),
      '2nd Amendment Wholesale': entry('2AW', { fulfillment: { API_TOKEN: secret(), ...EMAILS } }),
      AmChar: entry('AMC', { active: false, fulfillment: { api_key: secret() } }),
      'Bill Hicks': entry('BILL', { fulfillment: { customer_number: 'C-1', ...EMAILS } }),
      'Chattanooga Shooting Supplies': entry('CSSI', {
        fulfillment: { API_SID: 'sid', API_TOKEN: secret() },
      }),
      'Sports South': entry('TSW', {
        fulfillment: { api_user: 1, api_customer_number: 2, api_password: 4711 },
      }),
      CamFour: entry('CAM4', { product_feed: { active: true, api_key: secret() } }),
      Davidsons: entry('DAV'),
    },
    targets: {
      woo: { active: true, 'consumer-key': secret(), 'consumer-secret': secret() },
      gunbroker: { active: true, username: 'u', password: secret(), key: secret() },
      odoo: {
        active: true,
        key: [secret(), 2],
        accounts: [
          { host: 'a', password: secret() },
          { host: 'b', deep: { keys: [{ key: secret() }] } },
        ],
        password: '',
      },
    },
  })
}

const SECRET_PLACES = [
  'distributors/RSR Group/fulfillment/API_PASSWORD',
  'distributors/RSR Group/fulfillment/ship_to_store/password',
  'distributors/Lipseys/fulfillment/API_PASSWORD',
  'distributors/Lipseys/fulfillment/ship_to_store/API_PASSWORD',
  'distributors/Zanders/fulfillment/accessories/api_password',
  'distributors/Zanders/fulfillment/firearms/api_password',
  'distributors/Zanders/fulfillment/ship_to_store/api_password',
  'distributors/2nd Amendment Wholesale/fulfillment/API_TOKEN',
  'distributors/AmChar/fulfillment/api_key',
  'distributors/Chattanooga Shooting Supplies/fulfillment/API_TOKEN',
  'distributors/Sports South/fulfillment/api_password',
  'distributors/CamFour/product_feed/api_key',
  'targets/woo/consumer-key',
  'targets/woo/consumer-secret',
  'targets/gunbroker/password',
  'targets/gunbroker/key',
  'targets/odoo/key',
  'targets/odoo/accounts/0/password',
  'targets/odoo/accounts/1/deep/keys/0/key',
]

/** A copy with the value at a path replaced; undefined removes it. */
function withValue<T>(document: T, path: string, value: unknown): T {
  const copy = structuredClone(document)
  const steps = path.split('/')
  const leaf = steps.pop()!
  const parent = steps.reduce<Json>((at, name) => at[name] as Json, copy as Json)
  if (value === undefined) delete parent[leaf]
  else parent[leaf] = value
  return copy
}

const masked = (document: ConfigurationDocument) =>
  SECRET_PLACES.reduce((copy, path) => withValue(copy, path, M), document)

const put = (
  t: TestApp,
  document: unknown,
  { query = '', ...headers }: { query?: string } & Record<string, string> = {},
) =>
  t.json(`/v1/config${query}`, {
    method: 'PUT',
    body: typeof document === 'string' ? document : JSON.stringify(document),
    headers,
  })
const read = async (t: TestApp) =>
  (await t.json('/v1/config')).body.data.configuration as ConfigurationDocument

/** What is stored, its secrets opened. */
async function opened(t: TestApp): Promise<ConfigurationDocument> {
  const subscriber = await findSubscriber(t.app.ctx, t.subscriber)
  return openSaved(t.app.ctx, subscriber, await t.app.ctx.configurations.of(subscriber))
}

/** Everything that a refused save must leave alone. */
async function state(t: TestApp) {
  const { headers, body } = await t.json('/v1/config')
  return {
    etag: headers.get('etag'),
    body: body as unknown,
    opened: await opened(t),
    history: await t.app.operator.configurations.history(t.subscriber),
  }
}

async function refused(
  t: TestApp,
  act: () => Promise<{ status: number; body: { error: { code: string; details: Fault[] } } }>,
  status: number,
  code: string,
): Promise<Fault[]> {
  const before = await state(t)
  const { status: got, body } = await act()
  assert.deepEqual([got, body.error?.code], [status, code])
  assert.deepEqual(await state(t), before, 'nothing is saved')
  return body.error.details
}

async function checksDone(t: TestApp): Promise<void> {
  await t.app.ctx.checkRuns.later.ended()
}

describe('the body', () => {
  test('is the full document, bare or wrapped', async () => {
    await using t = await createTestApp()
    const document = plain({ pricing: { sell_at_map: true } })
    assert.deepEqual((await put(t, document)).body, {
      success: true,
      data: { saved: true, configuration: document },
    })
    assert.deepEqual((await put(t, { configuration: plain() })).body.data, {
      saved: true,
      configuration: plain(),
    })
    assert.deepEqual(await t.shop.config.put({ configuration: document }), {
      saved: true,
      configuration: document,
    })
    assert.deepEqual(await t.remote.config.put(plain() as never), {
      saved: true,
      configuration: plain(),
    })
    assert.deepEqual(await t.shop.config.get(), await t.remote.config.get())
  })

  const rows: [name: string, body: string, code: string, path: string][] = [
    [
      'a member beside configuration',
      JSON.stringify({ configuration: plain(), pricing: {} }),
      'invalid_parameter',
      'pricing',
    ],
    ['a list', '[]', 'invalid_parameter', 'body'],
    ['a text', '"x"', 'invalid_parameter', 'body'],
    ['null', 'null', 'invalid_parameter', 'body'],
    ['a configuration that is a number', '{"configuration":5}', 'schema_validation_failed', ''],
    ['a configuration that is null', '{"configuration":null}', 'schema_validation_failed', ''],
    ['a configuration that is a list', '{"configuration":[]}', 'schema_validation_failed', ''],
    ['an empty object', '{}', 'schema_validation_failed', '/distributors'],
    [
      'a wrapped wrapper',
      JSON.stringify({ configuration: { configuration: plain() } }),
      'schema_validation_failed',
      '/configuration',
    ],
    [
      'a distributor that nobody knows',
      JSON.stringify(plain({ distributors: { Acme: entry('ACME') } })),
      'schema_validation_failed',
      '/distributors/Acme',
    ],
    [
      'a control character',
      JSON.stringify(plain({ POS: { a: 'x\u0000y' } })),
      'invalid_parameter',
      'POS.a',
    ],
  ]
  for (const [name, body, code, path] of rows) {
    test(`${name} is refused, and nothing is saved`, async () => {
      await using t = await createTestApp()
      const details = await refused(t, () => put(t, body), 400, code)
      assert.ok(
        details.some((fault) => fault.path === path),
        JSON.stringify(details),
      )
      assert.ok(details.every(({ message }) => message.length > 0))
    })
  }

  test('all faults come at once, at most 100', async () => {
    await using t = await createTestApp()
    const three = plain({
      notification_email: 'nobody',
      pricing: { margin: {} },
      targets: { woo: {} },
    })
    assert.deepEqual(
      (await refused(t, () => put(t, three), 400, 'schema_validation_failed'))
        .map(({ path }) => path)
        .sort(),
      ['/notification_email', '/pricing/margin/default', '/targets/woo/active'],
    )
    const many = plain({
      product_restrictions: { brand: { include: Array(500).fill(1) } },
      targets: { woo: { active: true, key: M } },
    })
    assert.equal(
      (await refused(t, () => put(t, many), 400, 'schema_validation_failed')).length,
      100,
    )
    await assert.rejects(
      t.shop.config.put({ configuration: many }),
      ({ code, details }: { code: string; details: Fault[] }) =>
        code === 'schema_validation_failed' && details.length === 100,
    )
  })
})

describe('secrets', () => {
  test('every one is masked in GET and in the answer of PUT, and nothing else is', async () => {
    await using t = await createTestApp()
    assert.deepEqual((await put(t, secretive())).body.data.configuration, masked(secretive()))
    assert.deepEqual(await read(t), masked(secretive()))
    assert.deepEqual(await opened(t), secretive())
  })

  test('masks that come back keep the stored secrets, however many asterisks they have', async () => {
    await using t = await createTestApp()
    await put(t, secretive())
    for (const mask of [M, '*', '*'.repeat(300)]) {
      const candidate = JSON.parse(
        JSON.stringify(await read(t)).replaceAll(M, mask),
      ) as ConfigurationDocument
      assert.equal((await put(t, candidate)).status, 200)
      assert.deepEqual(await opened(t), secretive())
    }
    assert.equal((await t.app.operator.configurations.history(t.subscriber)).length, 4)
  })

  test('a mask with anything beside asterisks is a secret; asterisks that are not secret stay', async () => {
    await using t = await createTestApp()
    await put(t, secretive())
    const more = withValue(
      withValue(await read(t), 'targets/woo/consumer-key', '****a'),
      'targets/gunbroker/username',
      M,
    )
    assert.equal((await put(t, more)).status, 200)
    const expected = withValue(
      withValue(secretive(), 'targets/woo/consumer-key', '****a'),
      'targets/gunbroker/username',
      M,
    )
    assert.deepEqual(await opened(t), expected)
  })

  test('one secret may change while the others stay', async () => {
    await using t = await createTestApp()
    await put(t, secretive())
    for (const [i, path] of SECRET_PLACES.entries())
      await put(t, withValue(await read(t), path, `new-${i}`))
    assert.deepEqual(
      await opened(t),
      SECRET_PLACES.reduce(
        (document, path, i) => withValue(document, path, `new-${i}`),
        secretive(),
      ),
    )
  })

  test('asterisks where nothing is stored are a fault at that path', async () => {
    await using t = await createTestApp()
    assert.deepEqual(
      (await refused(t, () => put(t, masked(secretive())), 400, 'schema_validation_failed'))
        .map(({ path }) => path)
        .sort(),
      SECRET_PLACES.map((path) => `/${path}`).sort(),
    )
    await put(t, secretive())
    for (const path of ['targets/odoo/password', 'targets/woo/password', 'targets/wikiarms']) {
      const details = await refused(
        t,
        async () =>
          put(
            t,
            withValue(
              await read(t),
              path,
              path.endsWith('wikiarms') ? { active: true, key: M } : M,
            ),
          ),
        400,
        'schema_validation_failed',
      )
      assert.deepEqual(
        details.map((fault) => fault.path),
        [path.endsWith('wikiarms') ? '/targets/wikiarms/key' : `/${path}`],
      )
      assert.match(details[0]!.message, /none is stored here: send the secret itself/)
    }
  })

  test('a mask never takes the secret of another member, another distributor or another target', async () => {
    await using t = await createTestApp()
    const stored = plain({
      distributors: { 'RSR Group': entry('RSR', { fulfillment: { API_PASSWORD: 'one' } }) },
      targets: { gunbroker: { active: true, password: 'two' } },
    })
    await put(t, stored)
    const moves: [candidate: ConfigurationDocument, path: string][] = [
      [
        plain({
          distributors: {
            'RSR Group': entry('RSR', { fulfillment: { ship_to_store: { password: M } } }),
          },
        }),
        '/distributors/RSR Group/fulfillment/ship_to_store/password',
      ],
      [
        plain({ distributors: { Lipseys: entry('LIP', { fulfillment: { API_PASSWORD: M } }) } }),
        '/distributors/Lipseys/fulfillment/API_PASSWORD',
      ],
      [plain({ targets: { gunbroker: { active: true, key: M } } }), '/targets/gunbroker/key'],
      [plain({ targets: { woo: { active: true, password: M } } }), '/targets/woo/password'],
      [
        plain({ targets: { gunbroker: { active: true, more: { password: M } } } }),
        '/targets/gunbroker/more/password',
      ],
    ]
    for (const [candidate, path] of moves)
      assert.deepEqual(
        (await refused(t, () => put(t, candidate), 400, 'schema_validation_failed')).map(
          (fault) => fault.path,
        ),
        [path],
      )
  })

  test('a secret is in no answer, no error, no history, no log and not in the file', async () => {
    const lines: string[] = []
    const write = (fields: object, message: string) => {
      lines.push(inspect(fields, { depth: 9 }) + message)
    }
    const log: Log = { debug: write, info: write, warn: write, error: write }
    const mine = defineDistributor({
      distid: 'MINE',
      name: 'Mine',
      automatedFulfillment: false,
      settings: {
        token: { type: 'string', label: 'Token', path: 'fulfillment-token', secret: true },
      },
      check: async ({ settings }) => {
        throw new Error(`HTTP 401 for token=${String(settings['token'])}`)
      },
    })
    await using t = await createTestApp({ log, distributors: [...builtin, mine] })
    const document = withValue(
      secretive(),
      'distributors/Mine',
      entry('MINE', { fulfillment: { token: 'S3CRET-mine' } }),
    )
    const answers: unknown[] = []
    const keep = async (answer: Promise<{ body: unknown }>) => answers.push((await answer).body)
    await keep(put(t, document))
    await checksDone(t)
    await keep(t.json('/v1/config/validate', { method: 'POST' }))
    // A secret at every place where it does not belong: as a name of something, of the wrong type,
    // too long, beside other faults.
    for (const path of [
      'notification_email',
      'pricing',
      'product_restrictions',
      'distributors/RSR Group/distid',
      'distributors/RSR Group/shipping',
      'distributors/Bill Hicks/fulfillment/default_ship_method',
      'targets/woo/url',
      'targets/gunbroker/environment',
      'targets/gunbroker',
    ]) {
      await keep(put(t, withValue(document, path, 'S3CRET-0')))
      await keep(
        t.json('/v1/config/validate', {
          method: 'POST',
          body: JSON.stringify({ configuration: withValue(document, path, 'S3CRET-0') }),
        }),
      )
    }
    for (const path of SECRET_PLACES)
      await keep(put(t, withValue(document, path, ['S3CRET-0', { key: 'S3CRET-0' }])))
    await keep(put(t, document, { 'if-match': '"S3CRET"' }))
    const { configurations } = t.app.operator
    await keep(put(t, withValue(await read(t), 'targets/woo/consumer-key', 'S3CRET-other')))
    answers.push(
      await configurations.history(t.subscriber),
      await configurations.diff(t.subscriber, 1, 2),
      await configurations.version(t.subscriber, 1),
    )
    await checksDone(t)
    assert.ok(lines.length > 0 && answers.length > 40)
    for (const text of [...lines, ...answers.map((answer) => JSON.stringify(answer))])
      assert.doesNotMatch(text, /S3CRET|4711/)
    const rows = await t.app.ctx.db.selectFrom('configuration_history').select('document').execute()
    assert.doesNotMatch(JSON.stringify(rows), /S3CRET|4711/)
  })

  test('a body that is not JSON is not quoted', async () => {
    await using t = await createTestApp()
    for (const body of [
      '{"password":S3CRET}',
      '{"password":"S3CRET" x}',
      '{"password":"S3CRET',
      '{"a":1,\n"password":"S3CRET\n"}',
    ]) {
      const { status, body: answer } = await put(t, body)
      assert.deepEqual([status, answer.error.code], [400, 'invalid_json'])
      assert.doesNotMatch(JSON.stringify(answer), /S3C/)
    }
  })
})

describe('masks in a list belong to the entry that they were read with', () => {
  const registry = makeRegistry(builtin, presets)
  const inTarget = (accounts: unknown) => plain({ targets: { odoo: { active: true, accounts } } })
  /** The passwords that a candidate's entries end up with; null where the save is refused. */
  function kept(stored: unknown, candidate: unknown): (string | null)[] {
    const { document, faults } = keepSecrets(inTarget(candidate), inTarget(stored), registry)
    const entries = (document.targets['odoo'] as { accounts: Record<string, { password: string }> })
      .accounts
    return Object.entries(entries).map(([i, { password }]) =>
      faults.some(({ path }) => path === `/targets/odoo/accounts/${i}/password`) ? null : password,
    )
  }
  const at = (host: string, password = M) => ({ host, password })
  const of = (name: string, password = M, more = {}) => ({ name, password, ...more })
  const three = [at('a', '1'), at('b', '2'), at('c', '3')]
  const named = [of('a', '1'), of('b', '2'), of('c', '3')]
  const twins = [{ password: '1' }, { password: '2' }, at('c', '3')]
  const mask = { password: M }
  const rows: [name: string, stored: unknown, candidate: unknown, expected: (string | null)[]][] = [
    ['as they were', three, [at('a'), at('b'), at('c')], ['1', '2', '3']],
    ['reordered', three, [at('c'), at('a'), at('b')], ['3', '1', '2']],
    ['the first removed', three, [at('b'), at('c')], ['2', '3']],
    ['one inserted', three, [at('n', 'own'), at('a'), at('b'), at('c')], ['own', '1', '2', '3']],
    ['one edited, or replaced by another', three, [at('a'), at('b2'), at('c')], ['1', null, '3']],
    ['reordered and one edited', three, [at('c'), at('b2'), at('a')], ['3', null, '1']],
    ['the only one edited', [at('a', '1')], [at('a2')], ['1']],
    [
      'one replaced by another with a secret of its own',
      three,
      [at('a'), at('n', 'own'), at('c')],
      ['1', 'own', '3'],
    ],
    [
      'one removed and one edited: which one cannot be told',
      three,
      [at('b2'), at('c')],
      [null, '3'],
    ],
    [
      'one removed, one edited, one added',
      three,
      [at('b2'), at('c'), at('n', 'own')],
      [null, '3', 'own'],
    ],
    [
      'two edited, perhaps after a change of places',
      three,
      [at('a2'), at('b2'), at('c')],
      [null, null, '3'],
    ],
    [
      'a mask for an entry that is new',
      three,
      [at('a'), at('b'), at('c'), at('n')],
      ['1', '2', '3', null],
    ],
    ['one copied', three, [at('a'), at('a'), at('b')], ['1', '1', '2']],
    [
      'two that swap places and secrets anew',
      three,
      [at('b', 'x'), at('a', 'y'), at('c')],
      ['x', 'y', '3'],
    ],
    [
      'named and reordered, one edited',
      named,
      [of('c'), of('b', M, { more: 1 }), of('a')],
      ['3', '2', '1'],
    ],
    [
      'named, one removed and the others edited',
      named,
      [of('b', M, { more: 1 }), of('c', M, { more: 2 })],
      ['2', '3'],
    ],
    ['renamed', named, [of('a'), of('b2'), of('c')], ['1', null, '3']],
    [
      'two of one name',
      [of('a', '1', { n: 1 }), of('a', '2', { n: 2 })],
      [of('a', M, { n: 3 }), of('a', M, { n: 1 })],
      [null, '1'],
    ],
    ['equal ones as they were', twins, [mask, mask, at('c')], ['1', '2', '3']],
    ['equal ones, and a third edited', twins, [mask, mask, at('d')], ['1', '2', null]],
    ['one of two equal ones removed', twins, [mask, at('c')], [null, '3']],
    [
      'one of two equal ones gone, one added',
      twins,
      [mask, at('c'), at('n', 'own')],
      [null, '3', 'own'],
    ],
    [
      'two of three equal ones, and one that is new',
      [mask, mask, mask].map((_, i) => ({ password: `${i}` })),
      [mask, mask, at('n', 'own')],
      [null, null, 'own'],
    ],
    ['equal ones moved', twins, [at('c'), mask, mask], ['3', null, null]],
    [
      'a new secret for one of two equal ones',
      twins,
      [{ password: 'own' }, mask, at('c')],
      ['own', '2', '3'],
    ],
    ['an object in the place of the list', three, { 0: at('x'), 1: at('b') }, [null, null]],
    [
      'a list in the place of an object',
      { 0: at('x', '1'), 1: at('b', '2') },
      [at('x'), at('b')],
      [null, null],
    ],
    ['a list where there was nothing', undefined, [at('a')], [null]],
  ]
  for (const [name, stored, candidate, expected] of rows)
    test(name, () => assert.deepEqual(kept(stored, candidate), expected))

  test("however entries are moved and edited, none gets another's secret, and the unchanged keep theirs", () => {
    const change = fc.record({
      kind: fc.constantFrom('keep', 'keep', 'remove', 'edit', 'own'),
      order: fc.integer(),
      isNamed: fc.boolean(),
    })
    let settled = 0
    fc.assert(
      fc.property(
        fc.array(change, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 0, max: 2 }),
        (changes, added) => {
          const stored = changes.map(({ isNamed }, i) => ({
            ...(isNamed && { name: `n${i}` }),
            host: `h${i}`,
            password: `secret ${i}`,
          }))
          const candidate = [
            ...changes.flatMap(({ kind, order }, i) =>
              kind === 'remove'
                ? []
                : [
                    {
                      order,
                      i,
                      kind,
                      entry: {
                        ...stored[i]!,
                        ...(kind === 'edit' && { host: `edited ${i}` }),
                        password: kind === 'own' ? `own ${i}` : M,
                      },
                    },
                  ],
            ),
            ...Array.from({ length: added }, (_, n) => ({
              order: n,
              i: null,
              kind: 'own',
              entry: { host: `added ${n}`, password: `own of ${n}` },
            })),
          ].sort((a, b) => a.order - b.order)
          const passwords = kept(
            stored,
            candidate.map(({ entry }) => entry),
          )
          for (const [at, { i, kind, entry }] of candidate.entries()) {
            const expected = kind === 'own' ? entry.password : `secret ${i}`
            if (kind === 'edit' && !('name' in entry))
              assert.ok(passwords[at] === null || passwords[at] === expected)
            else assert.equal(passwords[at], expected)
            if (kind === 'edit' && passwords[at] !== null) settled++
          }
        },
      ),
      { numRuns: 500 },
    )
    assert.ok(settled > 100)
  })

  test('a save keeps them, or is refused as a whole', async () => {
    await using t = await createTestApp()
    await put(t, inTarget(three))
    assert.equal((await put(t, inTarget([at('c'), at('a2', 'own'), at('b')]))).status, 200)
    assert.deepEqual((await opened(t)).targets['odoo'], {
      active: true,
      accounts: [at('c', '3'), at('a2', 'own'), at('b', '2')],
    })
    const [fault, ...more] = await refused(
      t,
      () => put(t, inTarget([at('d'), at('b')])),
      400,
      'schema_validation_failed',
    )
    assert.deepEqual([fault!.path, more], ['/targets/odoo/accounts/0/password', []])
    assert.match(
      fault!.message,
      /cannot be told which entry of the list it belongs to: send the secret itself/,
    )
  })
})

describe('ETag, If-Match and the history', () => {
  test('GET and PUT send the ETag of the document, which every save changes', async () => {
    await using t = await createTestApp()
    const tags = [(await t.json('/v1/config')).headers.get('etag')!]
    for (let i = 0; i < 2; i++) {
      tags.push((await put(t, plain())).headers.get('etag')!)
      assert.equal((await t.json('/v1/config')).headers.get('etag'), tags.at(-1))
    }
    assert.equal(new Set(tags).size, 3)
    for (const tag of tags) assert.match(tag, /^"[\x21\x23-\x7e]+"$/)
  })

  const rows: [name: string, header: (tag: string, stale: string) => string, status: number][] = [
    ['the right one', (tag) => tag, 200],
    ['*', () => '*', 200],
    ['a list with the right one', (tag, stale) => `${stale}, ${tag}`, 200],
    ['a stale one', (_, stale) => stale, 412],
    ['a weak one', (tag) => `W/${tag}`, 412],
    ['an empty one', () => '', 412],
    ['one without its quotes', (tag) => tag.slice(1, -1), 412],
  ]
  for (const [name, header, status] of rows) {
    test(`If-Match with ${name} is ${status}`, async () => {
      await using t = await createTestApp()
      const stale = (await t.json('/v1/config')).headers.get('etag')!
      const tag = (await put(t, plain())).headers.get('etag')!
      const send = () => put(t, plain({ POS: { n: 1 } }), { 'if-match': header(tag, stale) })
      if (status === 412) await refused(t, send, 412, 'precondition_failed')
      else assert.equal((await send()).status, 200)
      const stillFits = t.shop.config.put({ configuration: plain(), if_match: tag })
      await (status === 412
        ? stillFits
        : assert.rejects(stillFits, { code: 'precondition_failed' }))
    })
  }

  test('of two saves at once over one ETag one wins, in one process and in two', async () => {
    await using t = await createTestApp()
    for (const times of [1, 2]) {
      const tag = (await t.json('/v1/config')).headers.get('etag')!
      const both = await Promise.all(
        ['a', 'b'].map((name) => put(t, plain({ POS: { name } }), { 'if-match': tag })),
      )
      assert.deepEqual(both.map(({ status }) => status).sort(), [200, 412])
      assert.equal((await t.app.operator.configurations.history(t.subscriber)).length, times)
    }
    await using other = await open({ dir: t.app.dir, worker: false })
    const tag = (await t.json('/v1/config')).headers.get('etag')!
    const [here, there] = await Promise.allSettled([
      put(t, plain({ POS: { name: 'here' } }), { 'if-match': tag }),
      other.operator.configurations.put(t.subscriber, {
        document: plain({ POS: { name: 'there' } }),
        ifMatch: tag,
      }),
    ])
    const wins = [
      here.status === 'fulfilled' && here.value.status === 200,
      there.status === 'fulfilled',
    ]
    assert.deepEqual(wins.toSorted(), [false, true])
    assert.deepEqual((await read(t))['POS'], { name: wins[0] ? 'here' : 'there' })
  })

  test('twenty saves at once are all taken, one after the other', async () => {
    await using t = await createTestApp()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        put(t, JSON.stringify({ ...plain(), bound_book: { i } })),
      ),
    )
    assert.deepEqual(
      answers.map(({ status }) => status),
      Array(20).fill(200),
    )
    assert.equal((await t.app.operator.configurations.history(t.subscriber)).length, 20)
  })

  test('a credential is known by its name, however that is spelled, and a switch is none', async () => {
    await using t = await createTestApp()
    const secrets = [
      'clientSecret',
      'accessToken',
      'auth_token',
      'secret_key',
      'privateKey',
      'access-key',
      'merchant_key',
      'KEY',
      'pwd',
      'passphrase',
      'ftpPassword',
    ]
    const plainOnes = {
      require_token: true,
      token: false,
      tokens_per_minute: 5,
      key_name: 'a',
      compass: 'n',
      keyboard: 'us',
      pass: '',
    }
    const target = {
      active: true,
      ...Object.fromEntries(secrets.map((name) => [name, 'canary'])),
      ...plainOnes,
    }
    assert.equal(
      (
        await put(
          t,
          JSON.stringify({
            ...plain(),
            targets: { odoo: target },
            fulfillment: { courier: { password: 'canary' } },
          }),
        )
      ).status,
      200,
    )
    const { configuration } = (await t.json('/v1/config')).body.data
    assert.deepEqual(configuration.targets.odoo, {
      active: true,
      ...Object.fromEntries(secrets.map((name) => [name, '********'])),
      ...plainOnes,
    })
    assert.equal(configuration.fulfillment.courier.password, '********')
  })

  test('asterisks are never stored: not for a user name, not inside of a secret', async () => {
    await using t = await createTestApp()
    const rsr = (user: string) => ({
      ...plain(),
      distributors: {
        'RSR Group': {
          active: true,
          distid: 'RSR',
          drop_ship_only_items: false,
          shipping: { flat_rate: { cost: 1, shipping_class: 'a' } },
          product_restrictions: { min_quantity_to_list: 1 },
          fulfillment: { API_USER: user, API_PASSWORD: 'x' },
        },
      },
    })
    assert.equal((await put(t, JSON.stringify(rsr('1')))).status, 200)
    const masked = await put(t, JSON.stringify(rsr('********')))
    assert.deepEqual(
      [masked.status, masked.body.error.details[0].path],
      [400, '/distributors/RSR Group/fulfillment/API_USER'],
    )
    const inside = await put(
      t,
      JSON.stringify({ ...plain(), targets: { odoo: { active: true, key: { a: '********' } } } }),
    )
    assert.deepEqual([inside.status, inside.body.error.details[0].path], [400, '/targets/odoo/key'])
  })

  test('names of members end at 200 characters, credentials at 500, and no answer repeats a long name', async () => {
    await using t = await createTestApp()
    const named = (length: number) =>
      JSON.stringify({ ...plain(), bound_book: { ['k'.repeat(length)]: 1 } })
    assert.deepEqual(
      [(await put(t, named(200))).status, (await put(t, named(201))).status],
      [200, 400],
    )
    const holding = (count: number) =>
      JSON.stringify({
        ...plain(),
        targets: {
          odoo: {
            active: true,
            l: Array.from({ length: count }, (_, n) => ({ n, password: 'p' })),
          },
        },
      })
    assert.deepEqual(
      [(await put(t, holding(500))).status, (await put(t, holding(501))).status],
      [200, 400],
    )
    for (const body of [
      { ['k'.repeat(900_000)]: Array(200).fill('\u0001') },
      {
        ...plain(),
        bound_book: {
          ['k'.repeat(900_000)]: Object.fromEntries(
            Array.from({ length: 150 }, (_, i) => [`a${i}`, { constructor: 1 }]),
          ),
        },
      },
    ]) {
      const { status, body: answer } = await put(t, JSON.stringify(body))
      assert.equal(status, 400)
      assert.ok(JSON.stringify(answer).length < 100_000)
    }
  })

  test('a caller of the library can save over what it read, and nothing newer', async () => {
    await using t = await createTestApp()
    for (const shop of [t.app.as({ key: t.key }), t.remote]) {
      const read = await shop.config.get()
      const saved = await shop.config.put({ configuration: plain(), if_match: etagOf(read)! })
      await assert.rejects(shop.config.put({ configuration: plain(), if_match: etagOf(read)! }), {
        code: 'precondition_failed',
      })
      await shop.config.put({ configuration: plain(), if_match: etagOf(saved)! })
    }
  })

  test('credentials in the sections that are kept and not read are masked, and the masks keep them', async () => {
    await using t = await createTestApp()
    const document = {
      ...plain(),
      payment_processor: {
        bluedog: {
          api_key: 'canary',
          api_base_url: 'https://pay.example',
          validate_transactions: true,
        },
      },
      targets: { odoo: { active: true, access_token: 'canary', password: { value: 'canary' } } },
    }
    assert.equal((await put(t, JSON.stringify(document))).status, 200)
    const { configuration } = (await t.json('/v1/config')).body.data
    assert.deepEqual(configuration.payment_processor, {
      bluedog: {
        api_key: '********',
        api_base_url: 'https://pay.example',
        validate_transactions: true,
      },
    })
    assert.deepEqual(configuration.targets.odoo, {
      active: true,
      access_token: '********',
      password: '********',
    })
    assert.equal((await put(t, JSON.stringify({ configuration }))).status, 200)
    const shop = await findSubscriber(t.app.ctx, t.subscriber)
    const opened = openSaved(t.app.ctx, shop, await t.app.ctx.configurations.of(shop))
    assert.deepEqual(
      [opened['payment_processor'], opened.targets],
      [document.payment_processor, document.targets],
    )
  })

  test('without If-Match the last of several saves at once stands, and each has its row', async () => {
    await using t = await createTestApp()
    const all = await Promise.all([1, 2, 3].map((n) => put(t, plain({ POS: { n } }))))
    assert.deepEqual(
      all.map(({ status }) => status),
      [200, 200, 200],
    )
    assert.deepEqual(
      (await t.app.operator.configurations.history(t.subscriber)).map(({ version }) => version),
      [3, 2, 1],
    )
  })

  test('every accepted save is a row with its time and who saved it; a refused one is none', async () => {
    await using t = await createTestApp()
    await put(t, plain())
    t.clock.advance(60_000)
    await t.shop.config.put({ configuration: plain() })
    await put(t, { ...plain(), pricing: 5 })
    await t.app.as(t.subscriber).config.put({ configuration: plain() })
    await t.app.operator.configurations.put(t.subscriber, { document: plain({ POS: {} }) })
    assert.deepEqual(await t.app.operator.configurations.history(t.subscriber), [
      { version: 4, saved_at: '2026-11-21T12:01:00.000Z', saved_by: 'library' },
      { version: 3, saved_at: '2026-11-21T12:01:00.000Z', saved_by: 'library' },
      { version: 2, saved_at: '2026-11-21T12:01:00.000Z', saved_by: t.keyId },
      { version: 1, saved_at: '2026-11-21T12:00:00.000Z', saved_by: t.keyId },
    ])
    assert.deepEqual(await t.app.operator.configurations.diff(t.subscriber, 3, 4), [
      { path: '/POS', change: 'added', after: {} },
    ])
  })
})

describe('documents that were made to harm', () => {
  const text = (member: string, json: string) =>
    JSON.stringify(plain({ [member]: 'HERE' })).replace('"HERE"', json)
  const places: [name: string, body: (name: string) => string][] = [
    ['among the distributors', (name) => text('distributors', `{"${name}":{"polluted":1}}`)],
    ['in an entry', (name) => text('distributors', `{"Davidsons":{"${name}":{"polluted":1}}}`)],
    ['in a part that is kept', (name) => text('POS', `{"a":{"${name}":{"polluted":1}}}`)],
    [
      'in a list of a target',
      (name) => text('targets', `{"odoo":{"active":true,"a":[{"${name}":{"polluted":1}}]}}`),
    ],
    [
      'in pricing',
      (name) =>
        text('pricing', `{"margin":{"${name}":{"margin_dollar":1},"default":{"margin_dollar":1}}}`),
    ],
    ['as a value', (name) => text('fulfillment', `{"${name}":null}`)],
    [
      'at the root of a wrapped document',
      (name) => `{"configuration":{"${name}":{"polluted":1},${JSON.stringify(plain()).slice(1)}}`,
    ],
  ]
  for (const [where, body] of places) {
    test(`__proto__, constructor and prototype ${where} are refused and change nothing`, async () => {
      await using t = await createTestApp()
      for (const name of ['__proto__', 'constructor', 'prototype']) {
        const details = await refused(t, () => put(t, body(name)), 400, 'schema_validation_failed')
        assert.ok(
          details.some(
            ({ path, message }) =>
              path.endsWith(`/${name}`) && message.includes('cannot be the name of a member'),
          ),
          JSON.stringify(details),
        )
      }
      assert.equal(({} as { polluted?: number }).polluted, undefined)
    })
  }
  test('__proto__ at the root of a bare document, or beside a wrapped one, is refused', async () => {
    await using t = await createTestApp()
    for (const rest of [JSON.stringify(plain()), JSON.stringify({ configuration: plain() })])
      assert.equal((await put(t, `{"__proto__":{"polluted":1},${rest.slice(1)}`)).status, 400)
  })

  const MOST = 1_048_576
  /** A part of about a megabyte in the place of HERE. */
  const filled = (frame: string, piece: (i: number) => string) => {
    const pieces: string[] = []
    for (let i = 0, size = frame.length; ; i++) {
      const next = piece(i)
      size += next.length + 1
      if (size > MOST) return frame.replace('HERE', pieces.join(','))
      pieces.push(next)
    }
  }
  const deep = (levels: number) => text('POS', `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`)
  const giants: [name: string, body: () => string, status: number, most?: number][] = [
    ['nested arrays without end', () => deep(500_000), 400],
    ['nested arrays as deep as JSON may be here', () => deep(62), 200],
    [
      'unknown members',
      () => filled(`{HERE,${JSON.stringify(plain()).slice(1)}`, (i) => `"member${i}":1`),
      400,
    ],
    [
      'ten thousand unknown members',
      () =>
        `{${Array.from({ length: 9_900 }, (_, i) => `"m${i}":1`).join()},${JSON.stringify(plain()).slice(1)}`,
      400,
    ],
    [
      'members of a part that is kept',
      () => filled(text('POS', '{HERE}'), (i) => `"member${i}":1`),
      400,
    ],
    [
      'empty objects in a part that is kept',
      () => filled(text('POS', '{"a":[HERE]}'), () => '{}'),
      200,
    ],
    [
      'faulty entries of a list',
      () => filled(text('product_restrictions', '{"brand":{"include":[HERE]}}'), () => '1'),
      400,
    ],
    [
      'objects for texts',
      () => filled(text('product_restrictions', '{"sku":{"exclude":[HERE]}}'), () => '{}'),
      400,
    ],
    [
      'product groups without members',
      () => filled(text('product_restrictions', '{"product_groups":[HERE]}'), () => '{}'),
      400,
    ],
    [
      'lists for objects',
      () => filled(text('pricing', '{"cost_adjustments":[HERE]}'), () => '[]'),
      400,
    ],
    [
      'masks of nothing',
      () =>
        text(
          'targets',
          `{"odoo":{"active":true,"a":[${Array(9_000).fill('{"key":"*"}').join()}]}}`,
        ),
      400,
    ],
    ['one long name', () => text('pricing', `{"${'x'.repeat(1_000_000)}":1}`), 400],
    ['one long text', () => text('notification_email', `"${'x@'.repeat(500_000)}"`), 400],
    [
      'excluded brands',
      () =>
        filled(text('product_restrictions', '{"brand":{"exclude":[HERE]}}'), (i) => `"brand ${i}"`),
      200,
    ],
  ]
  for (const [name, body, status] of giants) {
    test(`${name}: ${status}`, async () => {
      await using t = await createTestApp()
      const answer = await put(t, body())
      assert.equal(answer.status, status, JSON.stringify(answer.body).slice(0, 300))
      if (status === 400)
        assert.ok(
          (answer.body.error.details ?? []).length <= 100 &&
            answer.body.error.message.length < 1_000,
        )
      assert.equal(
        (
          await t.json('/v1/config/validate', {
            method: 'POST',
            body: `{"configuration":${body()}}`.slice(0, MOST),
          })
        ).status < 500,
        true,
      )
    })
  }
})

describe('validate=true compares the candidate with the live catalog', () => {
  const OFFERS = ['A', 'B', 'C', 'D'].map((stockid) => ({ distid: 'RSR', stockid }))
  const hiding = (skus: string[], more: Json = {}, rsr: Json = {}) =>
    plain({
      distributors: {
        'RSR Group': entry('RSR', { product_restrictions: { sku: { exclude: skus } }, ...rsr }),
      },
      ...more,
    })
  const threshold = (share: number) => ({
    targets: { woo: { active: true, alerts: { delete_threshold_percent: share } } },
  })

  /** A shop that sees the four offers, but those that it hides already. */
  async function live(document = hiding([])): Promise<TestApp> {
    const t = await createTestApp()
    await t.stock(OFFERS)
    await t.app.operator.configurations.put(t.subscriber, { document })
    for (const name of Object.keys(document.distributors))
      await t.app.operator.configurations.recordCheck(t.subscriber, name, true)
    return t
  }

  const rows: [
    name: string,
    saved: ConfigurationDocument,
    candidate: ConfigurationDocument,
    deleted: number | null,
  ][] = [
    ['a quarter at the default of a quarter', hiding([]), hiding(['A']), null],
    ['two of four at the default', hiding([]), hiding(['A', 'B']), 2],
    ['half at a threshold of a half', hiding([], threshold(0.5)), hiding(['A', 'B']), null],
    [
      'three of four at a threshold of a half',
      hiding([], threshold(0.5)),
      hiding(['A', 'B', 'C']),
      3,
    ],
    ['one of four at a threshold of 0', hiding([], threshold(0)), hiding(['A']), 1],
    ['none at a threshold of 0', hiding([], threshold(0)), hiding([]), null],
    [
      'a candidate that raises its own threshold',
      hiding([]),
      hiding(['A', 'B'], threshold(0.99)),
      2,
    ],
    [
      'what comes does not make up for what goes',
      hiding(['A', 'B'], threshold(0.4)),
      hiding(['C']),
      1,
    ],
    ['a distributor that is switched off', hiding([]), hiding([], {}, { active: false }), 4],
    ['a distributor that is removed', hiding([]), plain(), 4],
    [
      'credentials that change count as valid',
      hiding([], {}, { fulfillment: { API_PASSWORD: 'a' } }),
      hiding([], {}, { fulfillment: { API_PASSWORD: 'b' } }),
      null,
    ],
    ['a catalog that is empty already', hiding(['A', 'B', 'C', 'D']), plain(), null],
  ]
  for (const [name, saved, candidate, deleted] of rows) {
    test(`${name}: ${deleted === null ? 'saved' : '409'}`, async () => {
      await using t = await live(saved)
      const total =
        4 - (saved.distributors['RSR Group']!.product_restrictions.sku!.exclude ?? []).length
      if (deleted === null)
        assert.equal((await put(t, candidate, { query: '?validate=true' })).status, 200)
      else {
        const details = (await refused(
          t,
          () => put(t, candidate, { query: '?validate=true' }),
          409,
          'validation_failed',
        )) as unknown as Json
        const share = deleted / total
        const allowed =
          (saved.targets['woo'] as { alerts: { delete_threshold_percent: number } } | undefined)
            ?.alerts.delete_threshold_percent ?? 0.25
        assert.deepEqual(details, {
          deleted,
          live: total,
          deleted_percent: share,
          threshold_percent: allowed,
          by_distributor: [
            {
              distid: 'RSR',
              distributor: 'RSR Group',
              deleted,
              live: total,
              deleted_percent: share,
            },
          ],
        })
        await assert.rejects(t.shop.config.put({ configuration: candidate, validate: true }), {
          code: 'validation_failed',
        })
        assert.equal(
          (await put(t, candidate, { query: '?validate=false' })).status,
          200,
          'without the check it is saved',
        )
      }
    })
  }

  test('where nothing is served it never blocks: no feed, no save yet, nothing validated', async () => {
    await using bare = await createTestApp()
    assert.equal((await put(bare, plain(), { query: '?validate=true' })).status, 200)
    await using t = await createTestApp()
    await t.stock(OFFERS)
    for (const candidate of [
      hiding([], {}, { fulfillment: { API_PASSWORD: 'x' } }),
      hiding(['A', 'B', 'C'], {}, { active: false }),
      plain(),
    ])
      assert.equal((await put(t, candidate, { query: '?validate=true' })).status, 200)
  })

  test('validate is a boolean, given once', async () => {
    await using t = await createTestApp()
    for (const query of ['?validate=yes', '?validate=', '?validate=true&validate=true'])
      await refused(t, () => put(t, plain(), { query }), 400, 'invalid_parameter')
  })
})

describe('POST /v1/config/validate with a candidate', () => {
  test('is a dry run: faults as PUT would tell them, nothing saved, nobody asked', async () => {
    await using t = await createTestApp()
    await put(t, secretive())
    await checksDone(t)
    const before = await state(t)
    const dry = async (configuration: unknown) =>
      (
        await t.json('/v1/config/validate', {
          method: 'POST',
          body: JSON.stringify({ configuration }),
        })
      ).body.data as Json
    assert.deepEqual(await dry(await read(t)), { dry_run: true, schema_valid: true, errors: [] })
    const wrong = withValue(withValue(await read(t), 'targets/woo/password', M), 'pricing', {
      rounding: 'up',
    })
    const { errors } = await dry(wrong)
    assert.deepEqual(
      (errors as Fault[]).map(({ path }) => path),
      ['/pricing/rounding', '/targets/woo/password'],
    )
    assert.deepEqual(errors, (await put(t, wrong)).body.error.details)
    assert.deepEqual(await t.shop.config.validate({ configuration: wrong }), await dry(wrong))
    assert.equal(t.app.ctx.checkRuns.running.size, 0)
    assert.deepEqual(await state(t), before)
  })

  test('takes nothing beside configuration, and a bare document is not taken for the saved one', async () => {
    await using t = await createTestApp()
    for (const sent of [{ configuration: plain(), pricing: {} }, { pricing: {} }]) {
      const { status, body } = await t.json('/v1/config/validate', {
        method: 'POST',
        body: JSON.stringify(sent),
      })
      assert.deepEqual(
        [status, body.error?.details],
        [400, [{ path: 'pricing', message: 'is not a known member; known are configuration' }]],
      )
    }
    await assert.rejects(t.shop.config.validate(plain() as never), { code: 'invalid_parameter' })
  })
})

describe('credentials that a save changes are checked in the background', () => {
  const shop = (password: string, more: Json = {}) =>
    plain({
      distributors: {
        'RSR Group': entry('RSR', {
          fulfillment: { API_USER: demoCredential('RSR', 'api_user'), API_PASSWORD: password },
          ...more,
        }),
      },
    })
  const right = demoCredential('RSR', 'api_password')
  const codeOf = async (t: TestApp) => {
    await checksDone(t)
    const { status, body } = await t.json('/v1/products/search')
    return status === 200 ? 200 : (body.error.code as string)
  }

  test('right ones become valid without a call of validate, wrong ones do not, a change withdraws', async () => {
    await using t = await createTestApp()
    await t.stock([{ distid: 'RSR', stockid: 'A' }])
    await put(t, shop('wrong'))
    assert.equal(await codeOf(t), 'no_validated_distributors')
    await put(t, shop(right))
    assert.equal(await codeOf(t), 200)
    await put(t, withValue(await read(t), 'distributors/RSR Group/drop_ship_only_items', true))
    assert.equal(await codeOf(t), 200, 'a mask changes no credential')
    await put(t, shop('wrong'))
    assert.equal((await t.json('/v1/products/search')).body.error.code, 'no_validated_distributors')
    assert.equal(await codeOf(t), 'no_validated_distributors')
    await put(t, shop(right, { active: false }))
    assert.equal(await codeOf(t), 'no_active_distributors')
  })

  test('a distributor that never answers is given up in time, also after a collection of garbage', async () => {
    const silent = defineDistributor({
      distid: 'MINE',
      name: 'Mine',
      automatedFulfillment: false,
      settings: {
        token: { type: 'string', label: 'Token', path: 'fulfillment-token', secret: true },
      },
      checkTimeout: 150,
      check: () => new Promise(() => {}),
    })
    await using t = await createTestApp({ distributors: [...builtin, silent] })
    await put(t, plain({ distributors: { Mine: entry('MINE', { fulfillment: { token: 'x' } }) } }))
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    await setTimeout(20)
    collect()
    const late = new AbortController()
    const first = await Promise.race([
      checksDone(t),
      setTimeout(30_000, 'still waiting', { signal: late.signal }).catch(() => {}),
    ])
    assert.equal(first, undefined)
    assert.deepEqual(((await t.shop.config.validate()) as { credentials: unknown }).credentials, [
      { distid: 'MINE', distributor: 'Mine', valid: null },
    ])
    late.abort()
  })

  test('what the last save holds is what counts, however fast they follow', async () => {
    await using t = await createTestApp()
    await t.stock([{ distid: 'RSR', stockid: 'A' }])
    for (const password of ['wrong', right, 'wrong', right]) await put(t, shop(password))
    assert.equal(await codeOf(t), 200)
    for (const password of [right, 'wrong']) await put(t, shop(password))
    assert.equal(await codeOf(t), 'no_validated_distributors')
  })
})
