/**
 * A dealer's counter is nobody's address: however it is spelled, and however much
 * of it is told.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { dealerRow, shops } from './shops.js'
import { cpuTime } from '../harness/cpu-time.js'

type Premise = Parameters<typeof dealerRow>[0]
const COUNTER: Premise = {
  premise_street: '410 MADE UP PIKE',
  premise_city: 'SAINT LOUIS',
  premise_state: 'MO',
  premise_zip: '63101',
}

async function withDealers(...premises: readonly Premise[]): Promise<TestApp> {
  const t = await createTestApp({ tier: 'enterprise' })
  await t.app.ctx.db
    .insertInto('dealer')
    .values(
      premises.map((premise, i) => ({
        ...dealerRow(premise),
        id: `1-62-${i}`,
        license_number: `1-62-037-01-9E-${i}`,
        business_name: 'MADE UP ARMS',
      })),
    )
    .execute()
  return t
}

/** Lines split by ` / `. */
function shipped(text: string, more: object): object {
  const [first, second] = text.split(' / ')
  return {
    shipping_address_1: first,
    shipping_address_2: second,
    ...more,
    email: 'pat@customer.example',
  }
}

const post = (t: TestApp, path: string, body: object) =>
  t.json(`/v1/fraud/${path}`, { method: 'POST', body: JSON.stringify(body) })

/** Whether a report of it is refused, as reports of shipments to dealers are. */
async function isPremise(t: TestApp, text: string, more: object): Promise<boolean> {
  const { status, body } = await post(t, 'reports', shipped(text, more))
  if (status === 200)
    await t.json('/v1/fraud/reports', {
      method: 'DELETE',
      body: JSON.stringify(shipped(text, more)),
    })
  else
    assert.deepEqual(
      [status, body.error.code, body.error.details[0].path],
      [400, 'invalid_parameter', 'shipping_address_1'],
      text,
    )
  return status !== 200
}

async function check(
  t: TestApp,
  rows: readonly (readonly [text: string, more: object])[],
  wanted: boolean,
): Promise<void> {
  for (const [text, more] of rows)
    assert.equal(await isPremise(t, text, more), wanted, `${text} ${JSON.stringify(more)}`)
}

describe('the premise of a dealer', () => {
  test('is known in every spelling, with whatever else its lines say', async () => {
    await using t = await withDealers(COUNTER)
    const zip = { shipping_postcode: '63101' }
    await check(
      t,
      [
        '410 Made Up Pike',
        '410 MADE-UP PIKE',
        '410 Made Up Pike / Made Up Arms',
        'Made Up Arms / 410 Made Up Pike',
        'Made Up Gun Center / 410 Made Up Pike',
        '410 Made Up Pike / FFL transfer',
        '410 Made Up Pike / Attn: transfers',
        '410 Made Up Pike / Suite B',
        '410 Made Up Pike Ste B / c/o Made Up Arms',
        '410 Made Up Pike, Saint Louis, MO, 63101',
      ].map((text) => [text, zip] as const),
      true,
    )
    await check(
      t,
      [
        [
          '410 Made Up Pike',
          {
            shipping_postcode: '63101-1234',
            shipping_state: 'MO',
            shipping_city: 'St. Louis',
            shipping_country: 'United States (US)',
          },
        ],
      ],
      true,
    )
  })

  test('is known by its city and state where no ZIP can be read', async () => {
    await using t = await withDealers(COUNTER)
    await check(
      t,
      [
        { shipping_city: 'Saint Louis', shipping_state: 'MO' },
        { shipping_city: 'St. Louis', shipping_state: 'MO' },
        { shipping_city: 'ST LOUIS', shipping_state: 'Missouri' },
        { shipping_city: 'St. Louis', shipping_state: 'mo', shipping_postcode: '00000' },
        { shipping_city: 'saint-louis', shipping_state: 'MO', shipping_postcode: 'unknown' },
      ].map((more) => ['410 Made Up Pike / Made Up Arms', more] as const),
      true,
    )
  })

  test('is known by a ZIP that lost its zero, by a number in words, and with or without its suite', async () => {
    await using t = await withDealers(
      {
        premise_street: '9 OAK ST STE 2',
        premise_city: 'BOSTON',
        premise_state: 'MA',
        premise_zip: '02134',
      },
      {
        premise_street: 'ONE ELM PLAZA',
        premise_city: 'FT WORTH',
        premise_state: 'TX',
        premise_zip: '76101',
      },
      {
        premise_street: '112-10 QUEENS BLVD',
        premise_city: 'FOREST HILLS',
        premise_state: 'NY',
        premise_zip: '11375-0001',
      },
      {
        premise_street: 'RR 2 BOX 15',
        premise_city: 'ALMA',
        premise_state: 'KS',
        premise_zip: '66401',
      },
      {
        premise_street: 'STE 5 12A MAIN ST',
        premise_city: 'ALMA',
        premise_state: 'KS',
        premise_zip: '66401',
      },
      {
        premise_street: '540 TX HWY 37',
        premise_city: 'MOUNT VERNON',
        premise_state: 'TX',
        premise_zip: '75457',
      },
    )
    await check(
      t,
      [
        ['9 Oak St Ste 2', { shipping_postcode: '2134', shipping_state: 'MA' }],
        ['9 Oak St', { shipping_postcode: '02134' }],
        ['9 Oak St / #2', { shipping_postcode: '02134' }],
        ['1 Elm Plz', { shipping_postcode: '76101' }],
        ['1 Elm Plz', { shipping_city: 'Fort Worth', shipping_state: 'Texas' }],
        ['11210 Queens Blvd', { shipping_postcode: '11375' }],
        ['R.R. 2, Box 15', { shipping_postcode: '66401' }],
        ['12-A Main Street', { shipping_postcode: '66401' }],
        ['540 Texas Highway 37', { shipping_postcode: '75457', shipping_state: 'TX' }],
        ['540 TX Hwy 37', { shipping_postcode: '75457' }],
        ['540 State Highway 37', { shipping_city: 'Mt. Vernon', shipping_state: 'TX' }],
      ],
      true,
    )
  })

  test('is not that of a neighbour, of another town, or of another urbanization', async () => {
    await using t = await withDealers(
      COUNTER,
      {
        premise_street: '100 MAIN ST APT 5',
        premise_city: 'SAINT LOUIS',
        premise_state: 'MO',
        premise_zip: '63101',
      },
      {
        premise_street: 'URB ROYAL OAK 123 CALLE 1',
        premise_city: 'BAYAMON',
        premise_state: 'PR',
        premise_zip: '00961',
      },
      {
        premise_street: 'RR 2 BOX 15',
        premise_city: 'ALMA',
        premise_state: 'KS',
        premise_zip: '66401',
      },
    )
    const zip = { shipping_postcode: '63101' }
    // A home-based dealer's own door is a premise, and so is the house without one; the door beside
    // it is not.
    await check(
      t,
      [
        ['100 Main St Apt 5', zip],
        ['100 Main St', zip],
      ],
      true,
    )
    await check(
      t,
      [
        ['100 Main St Apt 7', zip],
        ['100 Main St / #7', zip],
        ['100 Main St Fl 5', zip],
        ['100 N Main St Apt 5', zip],
        ['100 Main Ave Apt 5', zip],
        ['410 Made Up Rd', zip],
        ['41 Made Up Pike', zip],
        ['4100 Made Up Pike', zip],
        ['410 Made Up Pike', { shipping_postcode: '63102' }],
        ['410 Made Up Pike', { shipping_city: 'Saint Louis', shipping_state: 'MI' }],
        ['410 Made Up Pike', { shipping_city: 'Saint Charles', shipping_state: 'MO' }],
        ['410 Made Up Pike', { ...zip, shipping_country: 'CA' }],
        ['Urb Las Flores / 123 Calle 1', { shipping_postcode: '00961' }],
        ['RR 2 Box 16', { shipping_postcode: '66401' }],
        ['PO Box 410', zip],
      ],
      false,
    )
  })

  test('matches nobody: two buyers at one counter have nothing in common', async () => {
    await using t = await withDealers(COUNTER)
    const [other] = await shops(t, 1)
    const counter = {
      billing_address_1: '410 Made Up Pike',
      billing_address_2: 'Made Up Arms',
      billing_postcode: '63101',
    }
    assert.equal(
      (
        await post(t, 'reports', {
          ...shipped('12 Oak St', { shipping_postcode: '63101' }),
          ...counter,
        })
      ).status,
      200,
    )
    const honest = {
      shipping_address_1: 'Made Up Arms',
      shipping_address_2: '410 Made Up Pike',
      shipping_postcode: '63101',
      ...counter,
      email: 'honest@customer.example',
    }
    const answer = await t.json('/v1/fraud/check', {
      method: 'POST',
      key: other!.key,
      body: JSON.stringify(honest),
    })
    assert.deepEqual(
      [answer.status, answer.body.data.fraud.matched, answer.body.data.fraud.matched_on],
      [200, false, []],
    )
  })

  test('is found among tens of thousands in no time', async () => {
    await using t = await withDealers(COUNTER)
    const many = Array.from({ length: 20_000 }, (_, i) => ({
      ...dealerRow({
        premise_street: `${i % 900} OAK ${i} RD`,
        premise_city: ['SPRINGFIELD', 'SALEM', 'JOPLIN'][i % 3]!,
        premise_state: 'MO',
        premise_zip: String(63_000 + (i % 1_000)),
      }),
      id: `m-${i}`,
      license_number: `m-${i}`,
    }))
    for (let i = 0; i < many.length; i += 1_000)
      await t.app.ctx.db
        .insertInto('dealer')
        .values(many.slice(i, i + 1_000))
        .execute()
    for (const [more, most] of [
      [{ shipping_postcode: '63101' }, 25],
      [{ shipping_city: 'St. Louis', shipping_state: 'MO' }, 100],
    ] as const) {
      const times: number[] = []
      for (let n = 0; n < 21; n++) {
        const started = cpuTime()
        await t.shop.fraud.check({
          shipping_address_1: n % 2 === 0 ? '410 Made Up Pike' : `${n} Oak 7 Rd`,
          ...more,
          email: 'pat@customer.example',
        })
        times.push(cpuTime() - started)
      }
      // Of the whole check, on any machine; a scan of the state's dealers takes hundreds.
      assert.ok(times.sort((a, b) => a - b)[10]! < most, `${times[10]} ms`)
    }
  })
})
