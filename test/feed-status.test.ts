/** What the operator is told of feeds. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createTestApp } from '../server/testing.js'
import type { TestApp } from '../server/testing.js'

const HEADER = 'itemnumber,desc1,upc,price1,available,mapprice,serialized'

/** A Zanders feed of 40 items at $100; `low` of them have a MAP that is not above the price, the others one that is. */
function zanders(low: number): string {
  return [HEADER, ...Array.from({ length: 40 }, (_, i) => `Z${i},Item ${i},${700000000000 + i},100.00,5,${i < low ? '100.00' : '100.01'},N`)].join('\n') + '\n'
}

async function take(t: TestApp, text: string, more: { subscriber?: string } = {}): Promise<void> {
  const file = join(t.app.ctx.engine.dir, 'zanders.csv')
  writeFileSync(file, text)
  const result = await t.app.operator.feeds.import({ distid: 'ZND', file, ...more }, { asOf: t.app.ctx.now(), force: true })
  assert.equal(result.outcome, 'taken', result.reasons.join())
}

const ENTRY = {
  active: true, distid: 'ZND', drop_ship_only_items: false, shipping: { flat_rate: { cost: 10, shipping_class: 'a' } }, product_restrictions: { min_quantity_to_list: 1 },
}
const DOCUMENT = { distributors: { Zanders: ENTRY }, targets: {}, notification_email: 'a@shop.example', pricing: {}, product_restrictions: {} }

const WARNING = 'the feed ZND/zanders has 21 of 40 MAPs that are not above its own regular price; they do not count as MAP, so look at what its MAP column holds'

describe('a feed whose MAPs are not above its regular prices', () => {
  const warnings = async (t: TestApp) => [
    (await t.app.operator.feeds.status()).flatMap((source) => source.warnings),
    ((await t.json('/v1/config/validate', { method: 'POST', body: '{}' })).body.data.warnings as string[]).filter((text) => text.includes('MAP')),
  ]

  test('more than half of them: said by status and by validate, until a better feed comes', async () => {
    await using t = await createTestApp()
    await t.save(t.subscriber, DOCUMENT as never)
    await take(t, zanders(21))
    assert.deepEqual(await warnings(t), [[WARNING], [WARNING]])
    await take(t, zanders(20))
    assert.deepEqual(await warnings(t), [[], []])
    await t.save(t.subscriber, { ...DOCUMENT, distributors: { Zanders: { ...ENTRY, active: false } } } as never)
    await take(t, zanders(21))
    assert.deepEqual(await warnings(t), [[WARNING], []])
  })

  test('one subscriber\'s own feed is no matter of another', async () => {
    await using t = await createTestApp()
    await t.save(t.subscriber, DOCUMENT as never)
    const other = await t.app.operator.subscribers.create({ name: 'Other', email: 'other@shop.example' })
    await take(t, zanders(40), { subscriber: other.id })
    const [status, validate] = await warnings(t)
    assert.equal(status!.length, 1)
    assert.deepEqual(validate, [])
  })
})
