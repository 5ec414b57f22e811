/**
 * The fraud endpoints (contract "Fraud"): what matches, what counts, what nobody
 * learns.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DAY, HOUR, MINUTE } from '../../lib/core/clock.js'
import { RETENTION } from '../../lib/fraud/reports/upkeep.js'
import { fraudQuotas } from '../../lib/fraud/reports/quota.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { dealerRow, shops } from './shops.js'

const HOUSE = {
  shipping_name: 'Pat Doe',
  shipping_address_1: '12 Main Street',
  shipping_address_2: 'Apt 4',
  shipping_city: 'Phoenix',
  shipping_state: 'AZ',
  shipping_postcode: '85001',
}
const call = (t: TestApp, method: 'POST' | 'DELETE', path: string, body: unknown, key?: string) =>
  t.json(path, { method, body: JSON.stringify(body), ...(key !== undefined && { key }) })
const check = (t: TestApp, body: unknown, key?: string) =>
  call(t, 'POST', '/v1/fraud/check', body, key)
const report = (t: TestApp, body: unknown, key?: string) =>
  call(t, 'POST', '/v1/fraud/reports', body, key)
const remove = (t: TestApp, body: unknown, key?: string) =>
  call(t, 'DELETE', '/v1/fraud/reports', body, key)

describe('what matches', () => {
  test('a report of one dealer is found by another, by each strong signal, whatever its spelling', async () => {
    await using t = await createTestApp()
    const [other] = await shops(t, 1)
    assert.equal(
      (
        await report(t, {
          ...HOUSE,
          billing_address_1: '9 Oak Ave',
          billing_postcode: '10001',
          email: 'Pat@Customer.example',
          phone: '(602) 555-0100',
          notes: 'ours alone',
        })
      ).status,
      200,
    )
    for (const [given, on] of [
      [
        {
          shipping_address_1: '12 MAIN ST.',
          shipping_address_2: 'apt 4',
          shipping_postcode: '85001-1234',
        },
        'shipping_address_1',
      ],
      [{ billing_address_1: '9 oak ave', billing_postcode: '10001' }, 'billing_address_1'],
      [{ email: 'pat@customer.EXAMPLE' }, 'email'],
      [{ phone: '602.555.0100' }, 'phone'],
    ] as const) {
      const { body } = await check(t, given, other!.key)
      assert.deepEqual(
        [
          body.data.fraud.matched,
          body.data.fraud.matched_on,
          body.data.fraud.report_count,
          body.data.fraud.reported_by_you,
          body.data.fraud.notes,
        ],
        [true, [on], 1, false, []],
      )
    }
  })

  test('like meets like: billing never meets shipping, and names, IPs and items match nothing', async () => {
    await using t = await createTestApp()
    await report(t, { ...HOUSE, ip_address: '203.0.113.7', order_items: [{ upc: '860001234503' }] })
    const { body } = await check(t, {
      billing_address_1: HOUSE.shipping_address_1,
      billing_address_2: 'Apt 4',
      billing_postcode: '85001',
      shipping_name: 'Pat Doe',
      ip_address: '203.0.113.7',
      order_items: [{ upc: '860001234503' }],
    })
    assert.deepEqual(
      [
        body.data.fraud.matched,
        body.data.fraud.report_count,
        body.data.fraud.items_overlap,
        body.data.fraud.first_reported,
      ],
      [false, 0, 0, null],
    )
  })

  test('at least one strong signal must be given, and one of those be readable', async () => {
    await using t = await createTestApp()
    for (const [given, path] of [
      [{}, 'shipping_address_1'],
      [{ shipping_name: 'Pat', ip_address: '203.0.113.7' }, 'shipping_address_1'],
      [{ email: '' }, 'shipping_address_1'],
      [{ email: 'nobody' }, 'email'],
      [{ phone: '12' }, 'phone'],
    ] as const) {
      const { status, body } = await check(t, given)
      assert.deepEqual(
        [status, body.error.code, body.error.details[0].path],
        [400, 'invalid_parameter', path],
      )
    }
    assert.equal((await check(t, { email: 'nobody', phone: '602-555-0100' })).status, 200)
  })

  test('a check and a removal take the body of a report, and nothing that is unknown', async () => {
    await using t = await createTestApp()
    const body = {
      ...HOUSE,
      order_source: 7,
      order_id: ['x'],
      order_json: { any: 1 },
      notes: { of: 'any' },
    }
    assert.deepEqual([(await check(t, body)).status, (await remove(t, body)).status], [200, 404])
    for (const [given, path] of [
      [{ ...HOUSE, emial: 'pat@customer.example' }, 'emial'],
      [{ ...HOUSE, order_items: [{ upcc: '860001234503' }] }, 'order_items[0].upcc'],
    ] as const) {
      const {
        status,
        body: { error },
      } = await check(t, given)
      assert.deepEqual([status, error.details[0].path], [400, path])
    }
  })

  test('a report is told of all that is wrong at once; its order_id has 50 characters at most', async () => {
    await using t = await createTestApp()
    const {
      body: { error },
    } = await report(t, { shipping_is_ffl: true, email: 'pat@customer.example' })
    assert.deepEqual(
      error.details.map(({ path }: { path: string }) => path),
      ['shipping_is_ffl', 'shipping_address_1'],
    )
    assert.deepEqual(
      [
        (await report(t, { ...HOUSE, order_id: 'x'.repeat(50) })).status,
        (await report(t, { ...HOUSE, order_id: 'x'.repeat(51) })).status,
      ],
      [200, 400],
    )
  })
})

describe('a street without place', () => {
  const STREET = { shipping_address_1: '12 Main Street' }

  test('is all that a report needs, and matches the same street without place', async () => {
    await using t = await createTestApp()
    const [other] = await shops(t, 1)
    const { status, body } = await report(t, STREET)
    assert.deepEqual([status, body.data.fraud.matched_on], [200, ['shipping_address_1']])
    for (const given of [
      { shipping_address_1: '12 MAIN ST.' },
      { shipping_address_1: '12 main st', shipping_country: 'US' },
      { shipping_address_1: '12 Main St', shipping_postcode: ' ', shipping_city: '' },
    ]) {
      assert.deepEqual(
        (await check(t, given, other!.key)).body.data.fraud.matched_on,
        ['shipping_address_1'],
        JSON.stringify(given),
      )
    }
    for (const given of [
      { ...STREET, shipping_postcode: '85001' },
      { ...STREET, shipping_state: 'AZ' },
      { ...STREET, shipping_city: 'Phoenix', shipping_state: 'AZ' },
      { ...STREET, shipping_address_2: 'Apt 4' },
      { billing_address_1: '12 Main Street' },
    ]) {
      assert.equal(
        (await check(t, given, other!.key)).body.data?.fraud.matched,
        false,
        JSON.stringify(given),
      )
    }
    assert.equal((await remove(t, { ...STREET, shipping_postcode: '85001' })).status, 404)
    assert.equal((await remove(t, STREET)).body.data.removed, 1)
  })

  test('does not match the same street that was reported with a place', async () => {
    await using t = await createTestApp()
    await report(t, { ...HOUSE, billing_address_1: '9 Oak Ave', billing_postcode: '10001' })
    const { status, body } = await check(t, {
      ...STREET,
      shipping_address_2: 'Apt 4',
      billing_address_1: '9 Oak Ave',
    })
    assert.deepEqual([status, body.data.fraud.matched], [200, false])
  })

  test('of a billing address alone is no 400 either, and finds its like', async () => {
    await using t = await createTestApp()
    await report(t, { ...HOUSE, billing_address_1: '9 Oak Ave' })
    assert.deepEqual(
      (await check(t, { billing_address_1: '9 oak avenue' })).body.data.fraud.matched_on,
      ['billing_address_1'],
    )
  })
})

describe('a signal that cannot be read', () => {
  test('never refuses the others, in a check, a report or a removal', async () => {
    await using t = await createTestApp()
    const unread = {
      shipping_address_1: 'Main St',
      billing_address_1: 'n/a',
      email: 'nobody',
      phone: '12',
    }
    for (const readable of [
      { email: 'pat@customer.example' },
      { phone: '602-555-0100' },
      { billing_address_1: '9 Oak Ave' },
      { shipping_address_1: '12 Main St' },
    ]) {
      const body = { ...unread, ...readable }
      assert.deepEqual(
        [
          (await check(t, body)).status,
          (await report(t, body)).status,
          (await remove(t, body)).body.data?.removed,
        ],
        [200, 200, 1],
        JSON.stringify(readable),
      )
    }
    for (const answer of [
      await check(t, unread),
      await report(t, unread),
      await remove(t, unread),
    ]) {
      assert.deepEqual(
        [answer.status, answer.body.error.details.map(({ path }: { path: string }) => path)],
        [400, Object.keys(unread)],
      )
    }
  })

  test("is not a premise either: a report whose only address left is a dealer's is refused", async () => {
    await using t = await createTestApp()
    await t.app.ctx.db
      .insertInto('dealer')
      .values(
        dealerRow({
          premise_street: '410 MADE UP PIKE',
          premise_city: 'NASHVILLE',
          premise_state: 'TN',
          premise_zip: '37203',
        }),
      )
      .execute()
    const { status, body } = await report(t, {
      shipping_address_1: 'Main St',
      billing_address_1: '410 Made Up Pike',
      billing_postcode: '37203',
    })
    assert.deepEqual([status, body.error.details[0].path], [400, 'shipping_address_1'])
  })
})

describe('shipments to dealers', () => {
  test('are never matched on their address, and never reported; a premise of the directory counts as one', async () => {
    await using t = await createTestApp()
    const [other] = await shops(t, 1)
    await t.app.ctx.db
      .insertInto('dealer')
      .values(
        dealerRow({
          premise_street: '410 MADE UP PIKE',
          premise_city: 'NASHVILLE',
          premise_state: 'TN',
          premise_zip: '37203',
        }),
      )
      .execute()
    await report(t, { ...HOUSE, email: 'pat@customer.example' })
    const toDealer = { ...HOUSE, shipping_is_ffl: true, email: 'pat@customer.example' }
    assert.deepEqual((await check(t, toDealer, other!.key)).body.data.fraud.matched_on, ['email'])
    assert.deepEqual(
      (await check(t, { ...HOUSE, shipping_is_ffl: true }, other!.key)).body.data.fraud.matched,
      false,
    )
    for (const [body, path] of [
      [toDealer, 'shipping_is_ffl'],
      [
        {
          shipping_address_1: '410 Made Up Pike',
          shipping_postcode: '37203',
          email: 'x@y.example',
        },
        'shipping_address_1',
      ],
      [{ email: 'x@y.example' }, 'shipping_address_1'],
    ] as const) {
      const answer = await report(t, body)
      assert.deepEqual(
        [answer.status, answer.body.error.code, answer.body.error.details[0].path],
        [400, 'invalid_parameter', path],
      )
    }
  })
})

describe('the summary', () => {
  test('counts distinct values of all reports that match, and tells days alone', async () => {
    await using t = await createTestApp()
    const [b, c] = await shops(t, 2)
    await report(t, {
      ...HOUSE,
      email: 'one@a.example',
      ip_address: '203.0.113.7',
      order_items: [{ upc: '860001234503', name: 'Red Dot' }, { sku: 'S-1' }],
      notes: 'first',
    })
    t.clock.advance(2 * DAY)
    await report(
      t,
      {
        ...HOUSE,
        shipping_name: 'PAT DOE',
        billing_name: 'Sam Roe',
        email: 'two@a.example',
        phone: '602-555-0100',
      },
      b!.key,
    )
    await report(
      t,
      {
        ...HOUSE,
        email: 'TWO@a.example',
        ip_address: '::ffff:203.0.113.7',
        billing_address_1: '9 Oak Ave',
        billing_postcode: '10001',
      },
      c!.key,
    )
    const { body } = await check(t, {
      ...HOUSE,
      order_items: [
        { upc: '0860001234503' },
        { sku: 's-1' },
        { sku: 'other' },
        { name: 'RED DOT black' },
      ],
    })
    assert.deepEqual(body.data.fraud, {
      matched: true,
      matched_on: ['shipping_address_1'],
      report_count: 3,
      names_used: 2,
      emails_used: 2,
      phones_used: 1,
      ips_used: 1,
      addresses_used: 1,
      billing_used: 1,
      items_used: 2,
      items_overlap: 2,
      items_similar: true,
      reported_by_you: true,
      first_reported: '2026-11-21',
      last_reported: '2026-11-23',
      notes: ['first'],
    })
  })

  test('a second report of the same strong signals takes the place of the first; others stay beside it', async () => {
    await using t = await createTestApp()
    await report(t, { ...HOUSE, notes: 'old', order_items: [{ sku: 'S-1' }] })
    t.clock.advance(DAY)
    await report(t, { ...HOUSE, shipping_address_1: '12 main st', notes: 'new' })
    const { fraud } = (await report(t, { ...HOUSE, email: 'pat@customer.example', notes: 'more' }))
      .body.data
    assert.deepEqual(
      [
        fraud.report_count,
        fraud.notes,
        fraud.items_used,
        fraud.first_reported,
        fraud.last_reported,
      ],
      [1, ['more', 'new'], 0, '2026-11-21', '2026-11-22'],
    )
  })

  test('of a long order the first 50 items are kept', async () => {
    await using t = await createTestApp()
    const items = (n: number) => Array.from({ length: n }, (_, i) => ({ sku: `S-${i}` }))
    assert.equal(
      (await report(t, { ...HOUSE, order_items: items(51) })).body.data.fraud.items_used,
      50,
    )
    assert.equal(
      (await check(t, { ...HOUSE, order_items: [{ sku: 'S-49' }] })).body.data.fraud.items_overlap,
      1,
    )
    assert.equal(
      (await check(t, { ...HOUSE, order_items: [{ sku: 'S-50' }] })).body.data.fraud.items_overlap,
      0,
    )
  })
})

describe('removal', () => {
  test("takes one's own reports in which every given signal that they hold matches; others' stay", async () => {
    await using t = await createTestApp()
    const [b] = await shops(t, 1)
    await report(t, { ...HOUSE, email: 'pat@customer.example' })
    await report(t, { ...HOUSE, phone: '602-555-0100' })
    await report(t, HOUSE, b!.key)
    assert.deepEqual(
      [
        (await remove(t, { email: 'other@customer.example' })).status,
        (await remove(t, { ...HOUSE, email: 'pat@customer.example' }, b!.key)).body.data?.removed,
      ],
      [404, 1],
    )
    const { body } = await remove(t, { ...HOUSE, email: 'pat@customer.example' })
    assert.deepEqual([body.data.removed, body.data.fraud.report_count], [2, 0])
    const again = await remove(t, HOUSE)
    assert.deepEqual([again.status, again.body.error.code], [404, 'report_not_found'])
  })

  test('leaves a report of which a given signal is another, whatever else of it matches', async () => {
    await using t = await createTestApp()
    await report(t, { ...HOUSE, email: 'pat@customer.example' })
    const other = await remove(t, { ...HOUSE, email: 'other@customer.example' })
    assert.deepEqual([other.status, other.body.error.code], [404, 'report_not_found'])
    assert.equal((await check(t, HOUSE)).body.data.fraud.report_count, 1)
  })

  test('with a signal that cannot be read goes by the others', async () => {
    await using t = await createTestApp()
    await report(t, { ...HOUSE, email: 'a@customer.example' })
    assert.deepEqual(
      (await remove(t, { email: 'a@customerexample' })).body.error.details.map(
        ({ path }: { path: string }) => path,
      ),
      ['email'],
    )
    assert.equal((await remove(t, { ...HOUSE, email: 'a@customerexample' })).body.data.removed, 1)
  })

  test("also of an address that is a dealer's by now", async () => {
    await using t = await createTestApp()
    await report(t, HOUSE)
    await t.app.ctx.db
      .insertInto('dealer')
      .values(
        dealerRow({
          premise_street: '12 MAIN ST APT 4',
          premise_city: 'PHOENIX',
          premise_state: 'AZ',
          premise_zip: '85001',
        }),
      )
      .execute()
    assert.equal((await remove(t, HOUSE)).body.data.removed, 1)
  })

  test('and a report each leave a line in the audit that tells nothing of what was sent', async () => {
    await using t = await createTestApp()
    await report(t, HOUSE)
    await remove(t, HOUSE)
    const lines = await t.app.ctx.read
      .selectFrom('audit')
      .select(['action', 'detail'])
      .where('action', 'like', 'fraud%')
      .execute()
    assert.deepEqual(
      lines.map(({ action }) => action),
      ['fraud report', 'fraud remove'],
    )
    assert.ok(!/main|doe|85001/i.test(JSON.stringify(lines)))
  })
})

describe('guessing at what a reported order held', () => {
  const overlap = async (t: TestApp, ...skus: string[]) =>
    (await check(t, { ...HOUSE, order_items: skus.map((sku) => ({ sku })) })).body.data.fraud
      .items_overlap as number
  const reported = async (t: TestApp) =>
    report(
      t,
      { ...HOUSE, order_items: [{ sku: 'S-1' }, { sku: 'S-99' }] },
      (await shops(t, 1))[0]!.key,
    )

  test("ends after the caller's own basket and ten more items, however they are spread over calls", async () => {
    await using t = await createTestApp()
    await reported(t)
    const own = Array.from({ length: 49 }, (_, n) => `X-${n}`)
    assert.equal(await overlap(t, 'S-1', ...own), 1)
    assert.equal(await overlap(t, ...Array.from({ length: 9 }, (_, n) => `Y-${n}`)), 0)
    assert.deepEqual(
      [await overlap(t, 'S-99'), await overlap(t, 'S-100')],
      [1, 1],
      'the tenth is answered, of the eleventh the first answer is repeated',
    )
    assert.deepEqual(
      [await overlap(t, 'X-3'), await overlap(t, 'S-99')],
      [0, 1],
      'what was tried is answered as it was',
    )
    t.clock.advance(DAY - 1)
    assert.equal(await overlap(t, 'Z-1'), 1)
    t.clock.advance(1)
    assert.equal(await overlap(t, 'Z-1'), 0)
  })

  test('fifty guesses in one further call are refused whole', async () => {
    await using t = await createTestApp()
    await reported(t)
    assert.equal(await overlap(t, 'X-1'), 0)
    assert.equal(await overlap(t, ...Array.from({ length: 50 }, (_, n) => `S-${n}`)), 0)
    assert.equal(await overlap(t, 'S-1'), 1, 'one alone is one try')
  })

  test('is not begun anew by a wall clock that is set ahead', async () => {
    let steady = 0
    await using t = await createTestApp({ monotonic: () => steady })
    await reported(t)
    await overlap(t, 'X-1')
    await overlap(t, ...Array.from({ length: 10 }, (_, n) => `Y-${n}`))
    t.clock.advance(DAY)
    steady += HOUR
    assert.equal(await overlap(t, 'S-1'), 0)
    // Nor where it is set so far that what is old would be removed.
    t.clock.advance(3 * DAY)
    await t.app.jobs.run('fraud')
    assert.equal(await overlap(t, 'S-1'), 0)
    steady += 23 * HOUR
    assert.equal(await overlap(t, 'S-1'), 1)
  })
})

test('the operator hears of a key of whose checks more than half match', async () => {
  const told: string[] = []
  await using t = await createTestApp({
    tier: 'enterprise',
    log: {
      debug() {},
      info() {},
      warn: (_of: unknown, text: string) => void told.push(text),
      error() {},
    } as never,
  })
  await report(t, HOUSE)
  for (const [matches, lines] of [
    [50, 0],
    [51, 1],
  ] as const) {
    for (let n = 0; n < 100; n++)
      await check(t, n < matches ? HOUSE : { email: `p${n}@customer.example` })
    assert.equal(told.filter((text) => text.includes('more than half')).length, lines)
  }
})

describe('quotas of a key within 24 hours', () => {
  for (const [name, limit, use] of [
    [
      'reports',
      25,
      (t: TestApp, n: number) => report(t, { ...HOUSE, email: `p${n}@customer.example` }),
    ],
    ['checks', 1_000, (t: TestApp) => check(t, { email: 'pat@customer.example' })],
  ] as const) {
    test(`${limit} ${name}, a true rolling window; what is refused does not count`, async () => {
      await using t = await createTestApp({ tier: 'enterprise' })
      await use(t, 0)
      t.clock.advance(HOUR)
      for (let n = 1; n < limit; n++) {
        if (n % 500 === 0) t.clock.advance(MINUTE)
        assert.equal((await use(t, n)).status, 200, `${n}`)
      }
      await check(t, {})
      const over = await use(t, limit)
      const {
        keys: [shown],
      } = await fraudQuotas(t.app.ctx)
      assert.deepEqual([shown![name], shown!.subscriber], [limit, t.subscriber])
      assert.deepEqual(
        [over.status, over.body.error.code, over.headers.get('retry-after')],
        [429, 'rate_limited', String(over.body.error.details.retry_after_seconds)],
      )
      t.clock.advance(Number(over.headers.get('retry-after')) * 1_000 - 1)
      assert.equal((await use(t, limit)).status, 429)
      t.clock.advance(1)
      assert.equal((await use(t, limit)).status, 200)
    })
  }

  test('a wall clock that is set ahead empties no window, and one that was ahead holds nobody up', async () => {
    let steady = 0
    await using t = await createTestApp({ tier: 'enterprise', monotonic: () => steady })
    for (let n = 0; n < 25; n++) await report(t, { ...HOUSE, email: `p${n}@customer.example` })
    t.clock.advance(DAY)
    steady += HOUR
    const over = await report(t, HOUSE)
    assert.deepEqual([over.status, over.headers.get('retry-after')], [429, String(23 * 3_600)])
    steady += 23 * HOUR
    assert.equal((await report(t, HOUSE)).status, 200)
    t.clock.advance(-30 * DAY)
    steady += DAY
    // Rows from the future count as of now, from the first use on that finds them.
    for (let n = 0; n < 24; n++)
      assert.equal((await report(t, { ...HOUSE, email: `q${n}@customer.example` })).status, 200)
    assert.equal((await report(t, HOUSE)).status, 429)
    t.clock.advance(DAY)
    steady += DAY
    assert.equal((await report(t, HOUSE)).status, 200)
  })

  test('25 removals; another key of the account has its own', async () => {
    await using t = await createTestApp()
    const { key } = await t.app.operator.keys.create({
      subscriber: t.subscriber,
      name: 'second',
      tier: 'standard',
      ips: ['127.0.0.1'],
    })
    for (let n = 0; n < 25; n++) {
      await t.shop.fraud.report({ ...HOUSE, email: `p${n}@customer.example` }).catch(() => {})
      if (n === 24) break
      assert.equal((await remove(t, { email: `p${n}@customer.example` })).status, 200)
    }
    assert.equal((await remove(t, { email: 'p24@customer.example' })).status, 200)
    await report(t, { ...HOUSE, email: 'last@customer.example' }, key)
    assert.equal((await remove(t, { email: 'last@customer.example' })).status, 429)
    assert.equal((await remove(t, { email: 'last@customer.example' }, key)).status, 200)
  })
})

test('after 24 months a report is forgotten', async () => {
  await using t = await createTestApp()
  await report(t, HOUSE)
  t.clock.advance(RETENTION - 1)
  await t.app.jobs.run('fraud')
  assert.equal((await check(t, HOUSE)).body.data.fraud.matched, true)
  t.clock.advance(1)
  await t.app.jobs.run('fraud')
  assert.equal((await check(t, HOUSE)).body.data.fraud.matched, false)
  for (const table of ['fraud_report', 'fraud_signal', 'fraud_evidence'] as const)
    assert.equal((await t.app.ctx.read.selectFrom(table).selectAll().execute()).length, 0)
})
