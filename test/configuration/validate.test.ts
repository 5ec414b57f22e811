import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { builtin } from '../../lib/distributors/builtin/index.js'
import { defineDistributor } from '../../lib/distributors/distributor.js'
import type { Session } from '../../lib/distributors/session/session.js'
import type { CheckOutcome, Distributor } from '../../lib/distributors/distributor.js'
import { demoCredential } from '../../lib/simulator/profiles.js'
import { createTestApp } from '../../server/testing/index.js'
import type { Answer, TestApp } from '../../server/testing/index.js'

/** A distributor's login on a real socket: what it answers depends on the token. */
const login = createServer((request, response) => {
  calls.push(request.url!)
  const token = request.headers['x-token']
  if (token === 'stall') return
  if (token === 'drop') return void request.socket.destroy()
  const answer = () => response.writeHead(token === 'good' ? 200 : 401).end()
  if (token === 'slow') setTimeout(() => response.writeHead(200).end(), 150)
  else answer()
})
const calls: string[] = []
let base = ''
before(
  () =>
    new Promise<void>((resolve) => {
      login.listen(0, '127.0.0.1', () => {
        base = `http://127.0.0.1:${(login.address() as AddressInfo).port}`
        resolve()
      })
    }),
)
after(() => {
  login.closeAllConnections()
  login.close()
})

/** Distributors whose connectors really ask, each with one token. */
const asking = (distid: string, name: string, more: Partial<Distributor> = {}): Distributor =>
  defineDistributor({
    distid,
    name,
    automatedFulfillment: false,
    settings: {
      token: {
        type: 'string',
        label: 'Access token',
        path: 'fulfillment-token',
        required: true,
        secret: true,
      },
    },
    async check({ settings, signal }: Session): Promise<CheckOutcome> {
      const { status } = await fetch(`${base}/${distid}`, {
        headers: { 'x-token': String(settings['token']) },
        signal,
      })
      return status === 200 ? 'valid' : 'invalid'
    },
    checkTimeout: 15_000,
    ...more,
  })

const distributors = [
  ...builtin,
  asking('AAA', 'Alpha'),
  asking('BBB', 'Beta'),
  asking('CCC', 'Gamma'),
  asking('DDD', 'Delta', { check: undefined } as never),
]

const entry = (distid: string, token?: string, more: object = {}) => ({
  active: true,
  distid,
  drop_ship_only_items: false,
  shipping: { flat_rate: { cost: 10, shipping_class: 'flat' } },
  product_restrictions: { min_quantity_to_list: 1 },
  ...(token !== undefined && { fulfillment: { token } }),
  ...more,
})
const documentOf = (entries: Record<string, object>, more: object = {}) => ({
  distributors: entries,
  targets: {},
  notification_email: 'owner@shop.example',
  pricing: {},
  product_restrictions: {},
  ...more,
})

async function put(
  t: TestApp,
  document: object,
  query = '',
): Promise<{ status: number; headers: Headers; body: Answer }> {
  return t.json(`/v1/config${query}`, { method: 'PUT', body: JSON.stringify(document) })
}
const validate = (t: TestApp, body?: object) =>
  t.json('/v1/config/validate', { method: 'POST', ...(body && { body: JSON.stringify(body) }) })

/** A saved document whose background checks have ended. */
async function saved(t: TestApp, document: object): Promise<void> {
  const { status, body } = await put(t, document)
  assert.equal(status, 200, JSON.stringify(body))
  await t.app.ctx.checkRuns.later.ended()
}

describe('validating the saved configuration', () => {
  test('an empty body asks every active distributor, records the answers and reports', async () => {
    await using t = await createTestApp({ distributors })
    await t.stock([
      { distid: 'AAA', stockid: '1' },
      { distid: 'BBB', stockid: '1' },
    ])
    await t.save(
      t.subscriber,
      documentOf({
        Alpha: entry('AAA', 'good'),
        Beta: entry('BBB', 'bad'),
        Gamma: { ...entry('CCC', 'good'), active: false },
      }) as never,
    )
    assert.equal((await t.json('/v1/products/search')).body.error.code, 'no_validated_distributors')
    const { status, body } = await validate(t)
    assert.equal(status, 200)
    assert.deepEqual(body.data, {
      valid: false,
      schema_errors: [],
      configured_distributors: ['Alpha', 'Beta', 'Gamma'],
      active_distributors: ['Alpha', 'Beta'],
      credentials: [
        { distid: 'AAA', distributor: 'Alpha', valid: true },
        { distid: 'BBB', distributor: 'Beta', valid: false },
      ],
      warnings: ['Beta refused the credentials'],
    })
    assert.equal((await t.json('/v1/products/search')).body.data.total, 1)
    assert.equal(((await t.shop.config.validate()) as Answer).credentials.length, 2)
    assert.equal(((await t.remote.config.validate({})) as Answer).credentials.length, 2)
  })

  test('one that stalls, drops the line or is slow costs its own time only, and keeps its result', async () => {
    await using t = await createTestApp({
      distributors: [
        ...distributors.filter(({ distid }) => distid !== 'AAA'),
        asking('AAA', 'Alpha', { checkTimeout: 400 }),
      ],
    })
    await t.stock([
      { distid: 'AAA', stockid: '1' },
      { distid: 'BBB', stockid: '1' },
      { distid: 'CCC', stockid: '1' },
    ])
    await saved(
      t,
      documentOf({
        Alpha: entry('AAA', 'stall'),
        Beta: entry('BBB', 'drop'),
        Gamma: entry('CCC', 'slow'),
      }),
    )
    await t.app.operator.configurations.recordCheck(t.subscriber, 'Alpha', true)
    const started = performance.now()
    const { body } = await validate(t)
    assert.ok(performance.now() - started < 14_000, 'none is waited for without end')
    assert.deepEqual(
      body.data.credentials.map((one: Answer) => one.valid),
      [null, null, true],
    )
    assert.equal(body.data.valid, true, 'nothing was refused')
    assert.deepEqual(
      body.data.warnings.filter((text: string) => text.includes('could not be reached')).length,
      2,
    )
    assert.equal(
      (await t.json('/v1/products/search')).body.data.total,
      2,
      'Alpha keeps its result, Beta never had one',
    )
  })

  test('two validations at once ask each distributor once', async () => {
    await using t = await createTestApp({ distributors })
    await t.save(t.subscriber, documentOf({ Alpha: entry('AAA', 'slow') }) as never)
    calls.length = 0
    await Promise.all([validate(t), validate(t), t.shop.config.validate()])
    assert.deepEqual(calls, ['/AAA'])
  })

  test('a required setting that is unset is named by its label, and makes the whole invalid', async () => {
    await using t = await createTestApp({ distributors })
    await saved(
      t,
      documentOf({
        Alpha: entry('AAA', ''),
        Beta: entry('BBB'),
        Davidsons: entry('DAV'),
        Gamma: { ...entry('CCC', ''), active: false },
      }),
    )
    const { body } = await validate(t)
    assert.equal(body.data.valid, false)
    assert.deepEqual(
      body.data.warnings.filter((text: string) => text.includes('is not set')),
      [
        '`distributors.Alpha.fulfillment.token` is not set: "Access token" is required while Alpha is active',
        '`distributors.Beta.fulfillment.token` is not set: "Access token" is required while Beta is active',
      ],
    )
  })

  test('a distributor without credentials, or that nobody can ask, counts as validated once it was run', async () => {
    await using t = await createTestApp({ distributors })
    await t.stock([
      { distid: 'DAV', stockid: '1' },
      { distid: 'DDD', stockid: '1' },
    ])
    await saved(t, documentOf({ Davidsons: entry('DAV') }))
    assert.equal((await t.json('/v1/products/search')).body.error.code, 'no_validated_distributors')
    assert.equal((await validate(t)).body.data.valid, true)
    assert.equal((await t.json('/v1/products/search')).body.data.total, 1)
    await saved(t, documentOf({ Davidsons: entry('DAV'), Delta: entry('DDD', 'anything') }))
    const { body } = await validate(t)
    assert.ok(
      body.data.warnings.some((text: string) => text.startsWith('Delta has no known interface')),
    )
    assert.equal((await t.json('/v1/products/search')).body.data.total, 2)
  })

  test('an entry that leaves its credentials blank is not validated, whatever was found before', async () => {
    await using t = await createTestApp()
    await t.stock([
      { distid: 'AMC', stockid: '1' },
      { distid: 'DAV', stockid: '1' },
    ])
    const amchar = (key: string) =>
      documentOf({
        AmChar: { ...entry('AMC'), fulfillment: { api_key: key } },
        Davidsons: entry('DAV'),
      })
    await saved(t, amchar(demoCredential('AMC', 'api_key')))
    assert.equal((await validate(t)).body.data.valid, true)
    assert.equal((await t.json('/v1/products/search')).body.data.total, 2)
    await saved(t, amchar(''))
    assert.equal((await t.json('/v1/products/search')).body.data.total, 1)
    const { credentials, valid } = (await validate(t)).body.data
    assert.deepEqual([credentials[0].valid, valid], [false, false])
    assert.equal((await t.json('/v1/products/search')).body.data.total, 1)
    await assert.rejects(
      t.app.operator.configurations.checkCredentials(t.subscriber, ['Nope']),
      /is not configured/,
    )
  })

  test("a simulated distributor takes the demo's credentials only, and says so", async () => {
    await using t = await createTestApp()
    const rsr = (user: string | number) => ({
      ...entry('RSR'),
      fulfillment: { API_USER: user, API_PASSWORD: demoCredential('RSR', 'api_password') },
    })
    await saved(t, documentOf({ 'RSR Group': rsr(Number(demoCredential('RSR', 'api_user'))) }))
    assert.equal((await validate(t)).body.data.valid, true)
    await saved(t, documentOf({ 'RSR Group': rsr('12345') }))
    const { body } = await validate(t)
    assert.equal(body.data.credentials[0].valid, false)
    const warning = body.data.warnings.find((text: string) =>
      text.startsWith('RSR Group is played by a simulator'),
    )
    assert.match(warning, /`fulfillment\.API_USER` 99901, `fulfillment\.API_PASSWORD` demo-rsr;/)
  })

  test('a saved document that no longer fits is reported, not refused', async () => {
    await using t = await createTestApp()
    await t.save(t.subscriber, {
      ...documentOf({ Nobody: entry('NOB'), Davidsons: { ...entry('DAV'), surprise: 1 } }),
      notification_email: 'no address',
    } as never)
    const { status, body } = await validate(t)
    assert.equal(status, 200)
    assert.equal(body.data.valid, false)
    assert.deepEqual(body.data.schema_errors.map((fault: Answer) => fault.path).sort(), [
      '/distributors/Davidsons/surprise',
      '/distributors/Nobody',
      '/notification_email',
    ])
  })

  test('before the first save there is an empty document to validate', async () => {
    await using t = await createTestApp()
    assert.deepEqual((await validate(t, {})).body.data, {
      valid: true,
      schema_errors: [],
      configured_distributors: [],
      active_distributors: [],
      credentials: [],
      warnings: [],
    })
  })

  test('a check whose credentials were changed meanwhile records nothing', async () => {
    await using t = await createTestApp({ distributors })
    await t.save(t.subscriber, documentOf({ Alpha: entry('AAA', 'slow') }) as never)
    const running = validate(t)
    while (t.app.ctx.checkRuns.running.size === 0) await new Promise(setImmediate)
    await t.save(t.subscriber, documentOf({ Alpha: entry('AAA', 'bad') }) as never)
    await running
    assert.equal((await t.json('/v1/products/search')).body.error.code, 'no_validated_distributors')
  })

  test('closing the app ends a check that runs', async () => {
    const t = await createTestApp({
      distributors: [...builtin, asking('AAA', 'Alpha', { checkTimeout: 60_000 })],
    })
    await t.save(t.subscriber, documentOf({ Alpha: entry('AAA', 'stall') }) as never)
    const running = t.shop.config.validate().catch(() => {})
    while (t.app.ctx.checkRuns.running.size === 0) await new Promise(setImmediate)
    const started = performance.now()
    await t.close()
    await running
    assert.ok(performance.now() - started < 30_000, 'not for the minute that a check may take')
  })

  test('warnings tell of rules: unknown brands, hidden distributors, rules that never match', async () => {
    await using t = await createTestApp()
    await t.stock([
      { distid: 'DAV', stockid: '1', mfgName: 'Ridgeline' },
      { distid: 'DAV', stockid: '2', mfgName: 'Kestrel' },
    ])
    await saved(
      t,
      documentOf(
        {
          Davidsons: entry('DAV', undefined, {
            product_restrictions: {
              cost: {
                global_restrictions: { min_distributor_cost: 5_000, max_distributor_cost: 1 },
              },
            },
          }),
        },
        {
          product_restrictions: { brand: { exclude: ['Ridgelin'] } },
          pricing: {
            margin: { default: { margin_percentage: 0.2 }, odd: { margin_percentage: 0.1 } },
            ignore_map_brands: ['Kestrel'],
          },
        },
      ),
    )
    const { warnings } = (await validate(t)).body.data as { warnings: string[] }
    for (const expected of [
      /Ridgelin.*did you mean.*Ridgeline/,
      /pricing\.margin\.odd/,
      /ignore_map_brands/,
      /Davidsons/,
    ]) {
      assert.ok(
        warnings.some((text) => expected.test(text)),
        `${String(expected)} in ${JSON.stringify(warnings, null, 1)}`,
      )
    }
  })
})

describe('eligibility', () => {
  const calls: [path: string, init?: RequestInit][] = [
    ['/v1/products/search'],
    ['/v1/products/facets'],
    ['/v1/products/012345678905'],
    ['/v1/orders/quote', { method: 'POST', body: '{"items":[{"upc":"012345678905","qty":1}]}' }],
  ]
  for (const [path, init] of calls) {
    test(`${path} serves active, validated distributors only`, async () => {
      await using t = await createTestApp()
      await t.stock([{ distid: 'DAV', stockid: '1', upc: '012345678905' }])
      const code = async () => {
        const { status, body } = await t.json(path, init)
        return status === 200 ? 200 : `${status} ${body.error.code}`
      }
      assert.equal(await code(), '409 no_active_distributors')
      await saved(t, documentOf({ Davidsons: { ...entry('DAV'), active: false } }))
      await validate(t)
      assert.equal(await code(), '409 no_active_distributors')
      await saved(t, documentOf({ Davidsons: entry('DAV') }))
      assert.equal(await code(), '409 no_validated_distributors')
      await validate(t)
      assert.equal(await code(), 200)
      await saved(t, documentOf({ Davidsons: { ...entry('DAV'), active: false } }))
      assert.equal(await code(), '409 no_active_distributors')
    })
  }
})

/** Every file of a folder. */
function filesOf(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((file) => join(dir, file))
    .filter((file) => statSync(file).isFile())
}

/** All that a log line tells of a value, the errors in it too. */
function loggedText(arg: unknown): string | undefined {
  if (arg instanceof Error) return arg.stack
  return JSON.stringify(arg, (_, value: unknown) =>
    value instanceof Error
      ? { message: value.message, stack: value.stack, cause: String(value.cause) }
      : value,
  )
}

test('no canary leaves: files, history, log, errors, answers, and feed sources with a password', async () => {
  const lines: string[] = []
  const write =
    (level: string) =>
    (...args: unknown[]) =>
      void lines.push(`${level} ${args.map(loggedText).join(' ')}`)
  const log = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  } as never
  const failing = asking('EEE', 'Epsilon', {
    check: ({ settings }) => Promise.reject(new Error(`refused ${String(settings['token'])}`)),
  })
  await using t = await createTestApp({ distributors: [...distributors, failing], log })
  const canaries = [
    'canary-token',
    'canary-password',
    'canary-key',
    'canary-secret',
    'canary-list',
    'canary-feed',
  ]
  const document = documentOf(
    {
      Alpha: entry('AAA', 'canary-token'),
      Epsilon: entry('EEE', 'canary-token'),
      'RSR Group': {
        ...entry('RSR'),
        fulfillment: { API_USER: '1', API_PASSWORD: 'canary-password' },
      },
    },
    {
      targets: {
        woo: { active: true, 'consumer-key': 'canary-key', 'consumer-secret': 'canary-secret' },
        other: { active: true, accounts: [{ name: 'one', password: 'canary-list' }] },
      },
    },
  )
  const answers: string[] = []
  const say = async (answer: Promise<{ body: Answer }>) =>
    answers.push(JSON.stringify((await answer).body))
  await t.app.operator.feeds.set({
    distid: 'DAV',
    location: 'https://user:canary-feed@feeds.example/a.csv?token=canary-feed',
  })
  await say(put(t, document))
  await say(put(t, { ...document, surprise: 1, notification_email: 'canary-password' }))
  await say(
    put(
      t,
      documentOf({
        'RSR Group': {
          ...entry('RSR'),
          fulfillment: {
            API_USER: ['canary-password'],
            API_PASSWORD: ['canary-password'],
            other: 'canary-password',
          },
        },
      }),
    ),
  )
  await say(
    put(t, {
      ...document,
      pricing: { rounding: 'canary-secret' },
      targets: {
        woo: { active: true, 'consumer-key': 5, 'consumer-secret': { a: 'canary-secret' } },
      },
    }),
  )
  await say(put(t, document, '?validate=true'))
  await say(validate(t))
  await say(validate(t, { configuration: { ...document, pricing: 1 } }))
  await say(t.json('/v1/config'))
  answers.push(
    JSON.stringify(await t.app.operator.configurations.history(t.subscriber)),
    JSON.stringify(await t.app.operator.configurations.diff(t.subscriber, 1, 2)),
    JSON.stringify(await t.app.operator.feeds.status()),
  )
  await t.app.ctx.checkRuns.later.ended()
  for (const canary of canaries) {
    for (const file of filesOf(t.app.dir))
      assert.ok(!readFileSync(file).includes(canary), `${canary} in ${file}`)
    for (const text of answers) assert.ok(!text.includes(canary), `${canary} in ${text}`)
    for (const line of lines) assert.ok(!line.includes(canary), `${canary} in the log: ${line}`)
  }
  const history = await t.app.ctx.read
    .selectFrom('configuration_history')
    .select('version')
    .execute()
  assert.equal(history.length, 2)
})
