/** `ffls expiring`: whose license ends soon, of the dealers that are worked with. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { DAY, dayOf } from '../../lib/core/clock.js'
import { parseLicense } from '../../lib/ffls/license.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { addOrder } from '../orders/rows.js'

const license = (n: number, code = '8E') => `1-62-037-01-${code}-${String(n).padStart(5, '0')}`

describe('licenses that end soon', () => {
  let t: TestApp
  const inDays = (days: number) => dayOf(t.clock.ms + days * DAY)
  const add = (n: number, left: number, more: object = {}) =>
    t.app.ctx.engine.atomic(t.app.ctx, ({ db }) =>
      db
        .insertInto('dealer')
        .values({
          id: parseLicense(license(n))!.id,
          license_number: license(n),
          license_type: '01',
          expires_on: inDays(left),
          valid_until: null,
          license_name: `DOE ${n}`,
          premise_street: '1 MADE UP PIKE',
          premise_city: 'NASHVILLE',
          premise_state: 'TN',
          premise_zip: '37203',
          source: 'atf',
          updated_at: 0,
          marked_on_file: 1,
          ...more,
        } as never)
        .execute(),
    )
  const shown = async (days?: number) =>
    (await t.app.operator.ffls.expiring(days === undefined ? {} : { days })).map(
      ({ license_number: number, days_left: left, reminder }) => [
        Number(number.slice(-5)),
        left,
        reminder,
      ],
    )

  before(async () => {
    t = await createTestApp()
    const ends = [61, 60, 31, 30, 8, 7, 1, 0, -1, -30, -31]
    for (const [n, left] of ends.entries()) await add(n + 1, left)
  })
  after(() => t.close())

  test('are told of at each mark, once', async () => {
    const told = async () =>
      (await t.app.operator.events.list({ limit: 1_000 })).map(({ subject }) => subject)
    await t.app.jobs.run('licenses')
    const first = await told()
    assert.equal(first.length, 9)
    assert.ok(first.includes(`${license(4)} ${inDays(30)} 30`))
    await t.app.jobs.run('licenses')
    assert.deepEqual(await told(), first)
    t.clock.advance(DAY)
    await t.app.jobs.run('licenses')
    // 61, 31 and 8 days have become 60, 30 and 7; nothing is told twice.
    const next = (await told()).filter((one) => !first.includes(one))
    assert.deepEqual(next.map((one) => one.replace(/^\S+ \S+ /, '')).toSorted(), [
      '0',
      '30',
      '60',
      '7',
    ])
    const [event] = await t.app.operator.events.list({ limit: 1 })
    assert.match(event!.message, /^the license .* of DOE \d+ ends on .*: ask for a copy/)
    for (const limit of [0, 1_001, 1.5])
      await assert.rejects(t.app.operator.events.list({ limit }), /limit: must be a whole number/)
    t.clock.advance(-DAY)
  })

  test('are shown from 60 days ahead until 30 days after, each with the last mark reached', async () => {
    const all = [
      [10, -30, 0],
      [9, -1, 0],
      [8, 0, 0],
      [7, 1, 7],
      [6, 7, 7],
      [5, 8, 30],
      [4, 30, 30],
      [3, 31, 60],
      [2, 60, 60],
    ]
    assert.deepEqual(await shown(), all)
    assert.deepEqual(await shown(7), all.slice(0, 5))
    assert.deepEqual(await shown(0), all.slice(0, 3))
    assert.deepEqual(await shown(366), [...all, [1, 61, null]])
    for (const days of [-1, 367, 1.5])
      await assert.rejects(shown(days), /days: must be a whole number from 0 to 366/)
  })

  test('an extended license ends later, and one that is off the list not at all', async () => {
    await add(21, 5, { valid_until: inDays(400) })
    await add(22, 5, { valid_until: inDays(12) })
    await add(23, 5, { listed: 0 })
    assert.deepEqual(
      (await shown()).filter(([n]) => (n as number) > 20),
      [[22, 12, 30]],
    )
  })

  test('of dealers that are worked with: by a copy, by a mark, or by an order of this year', async () => {
    for (const n of [31, 32, 33, 34, 35]) await add(n, 20, { marked_on_file: 0 })
    const { id } = parseLicense(license(32))!
    await t.app.ctx.engine.atomic(t.app.ctx, ({ db }) =>
      db
        .insertInto('dealer_document')
        .values({
          dealer_id: id,
          kind: 'ffl',
          object_key: 'k',
          content_type: 'application/pdf',
          stored_at: 0,
        })
        .execute(),
    )
    // Under the number that the license had before it was renewed.
    await addOrder(t, { ffl: license(33, '5E'), order_date: t.clock.ms - 100 * DAY })
    await addOrder(t, { ffl: license(33), order_date: t.clock.ms - 9 * DAY })
    await addOrder(t, { ffl: license(34), order_date: t.clock.ms - 366 * DAY })
    await addOrder(t, { ffl: license(35), order_date: t.clock.ms - DAY, visible: 0 })
    const dealers = (await t.app.operator.ffls.expiring({ days: 20 })).filter(
      ({ license_number: number }) => number >= license(31),
    )
    assert.deepEqual(dealers, [
      {
        license_number: license(32),
        name: 'DOE 32',
        city: 'NASHVILLE',
        state: 'TN',
        expiration_date: inDays(20),
        days_left: 20,
        reminder: 30,
        ffl_on_file: true,
        last_order: null,
      },
      {
        license_number: license(33),
        name: 'DOE 33',
        city: 'NASHVILLE',
        state: 'TN',
        expiration_date: inDays(20),
        days_left: 20,
        reminder: 30,
        ffl_on_file: false,
        last_order: inDays(-9),
      },
    ])
  })
})
