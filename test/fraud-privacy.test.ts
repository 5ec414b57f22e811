/** What other dealers sent stays unknown: an answer is a function of counts (decisions 9.1-2). */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { DAY } from '../lib/core/clock.js'
import { createTestApp } from '../server/testing.js'
import type { TestApp } from '../server/testing.js'
import { shops } from './fraud-shops.js'

const HOUSE = { shipping_address_1: '12 Main Street', shipping_postcode: '85001' }

/** Which of a few values each report holds: the pattern of what is equal, without the values. */
interface Pattern {
  dealer: number
  house: number
  email: number | null
  phone: number | null
  name: number | null
  item: number | null
}
const some = (most: number) => fc.option(fc.integer({ min: 0, max: most }), { nil: null })
const pattern: fc.Arbitrary<Pattern> = fc.record({ dealer: fc.integer({ min: 0, max: 2 }), house: fc.integer({ min: 0, max: 2 }), email: some(2), phone: some(1), name: some(2), item: some(2) })

/** The values of a pattern; those numbered 0 are what the asking dealer knows, all others follow from a secret of their own. */
function reportOf({ house, email, phone, name, item }: Pattern, secret: string): Record<string, unknown> {
  const digits = (n: number) => [...`${secret}${n}`].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 899_9999, 7).toString().padStart(7, '2').replace(/^[01]/, '2')
  return {
    shipping_address_1: house === 0 ? '12 Main Street' : `${1 + Number(digits(house)) % 9_000} ${secret} Road`, shipping_postcode: house === 0 ? '85001' : '10001',
    ...email !== null && { email: email === 0 ? 'known@customer.example' : `${secret}${email}@customer.example` },
    ...phone !== null && { phone: phone === 0 ? '602-555-0100' : `602${digits(phone)}` },
    ...name !== null && { shipping_name: name === 0 ? 'Pat Doe' : `${secret} Roe${'x'.repeat(name)}` },
    ...item !== null && { order_items: [{ sku: item === 0 ? 'S-1' : `${secret}-${item}`, name: item === 0 ? 'Red Dot' : `${secret} item ${item}x` }] },
    notes: `${secret} notes`, order_json: { secret },
  }
}

async function answersTo(patterns: readonly Pattern[], secret: string): Promise<string[]> {
  await using t = await createTestApp()
  const dealers = await shops(t, 3)
  for (const each of patterns) await t.json('/v1/fraud/reports', { method: 'POST', key: dealers[each.dealer]!.key, body: JSON.stringify(reportOf(each, secret)) })
  const asked = [HOUSE, { email: 'known@customer.example' }, { phone: '602-555-0100', order_items: [{ sku: 'S-1' }, { name: 'Red Dot black' }] }, { ...HOUSE, email: 'known@customer.example', shipping_name: 'Pat Doe' }, { email: 'unknown@customer.example' }]
  return Promise.all(asked.map(async (body) => (await t.request('/v1/fraud/check', { method: 'POST', body: JSON.stringify(body) })).text()))
}

describe('what a dealer learns of others', () => {
  test('is the same to the byte where all their values are others, as long as the same ones are equal', async () => {
    await fc.assert(fc.asyncProperty(fc.array(pattern, { minLength: 1, maxLength: 8 }), async (patterns) => {
      assert.deepEqual(await answersTo(patterns, 'alder'), await answersTo(patterns, 'quince'))
    }), { numRuns: 12 })
  })

  test('an answer without a match has the same members as one with', async () => {
    await using t = await createTestApp()
    const [b] = await shops(t, 1)
    await t.json('/v1/fraud/reports', { method: 'POST', body: JSON.stringify(HOUSE) })
    const members = async (body: unknown) => Object.keys((await t.json('/v1/fraud/check', { method: 'POST', key: b!.key, body: JSON.stringify(body) })).body.data.fraud)
    assert.deepEqual(await members(HOUSE), await members({ email: 'nobody@customer.example' }))
  })

  test('guessing at what an order held ends after the caller\'s own basket and ten more items a day: from then on the first answer is repeated', async () => {
    await using t = await createTestApp()
    const [b] = await shops(t, 1)
    await t.json('/v1/fraud/reports', { method: 'POST', key: b!.key, body: JSON.stringify({ ...HOUSE, order_items: [{ sku: 'S-11' }] }) })
    const overlap = async (sku: string) => (await t.json('/v1/fraud/check', { method: 'POST', body: JSON.stringify({ ...HOUSE, order_items: [{ sku }] }) })).body.data.fraud.items_overlap
    for (let n = 0; n < 11; n++) assert.equal(await overlap(`S-${n}`), 0)
    assert.deepEqual([await overlap('S-11'), await overlap('S-3')], [0, 0])
    t.clock.advance(DAY)
    assert.equal(await overlap('S-11'), 1)
  })

  test('another signal of the same report is not frozen by it', async () => {
    await using t = await createTestApp()
    const [b] = await shops(t, 1)
    await t.json('/v1/fraud/reports', { method: 'POST', key: b!.key, body: JSON.stringify({ ...HOUSE, email: 'known@customer.example', order_items: [{ sku: 'S-1' }] }) })
    const overlap = async (body: object, sku: string) => (await t.json('/v1/fraud/check', { method: 'POST', body: JSON.stringify({ ...body, order_items: [{ sku }] }) })).body.data.fraud.items_overlap
    for (let n = 0; n < 12; n++) await overlap(HOUSE, `X-${n}`)
    assert.deepEqual([await overlap(HOUSE, 'S-1'), await overlap(HOUSE, 'X-3'), await overlap({ email: 'known@customer.example' }, 'S-1')], [0, 0, 1])
  })
})

describe('on the disk', () => {
  const SECRETS = ['Quincewood', 'quincewood', '6025550143', '555-0143', 'pat.quince', '203.0.113.77', 'QUINCE-SKU', 'private note of quince']

  test('no file of the folder holds a word of a report', async () => {
    await using t = await createTestApp()
    await t.json('/v1/fraud/reports', { method: 'POST', body: JSON.stringify({
      shipping_name: 'Pat Quincewood', shipping_address_1: '12 Quincewood Road', shipping_postcode: '85001', email: 'pat.quince@customer.example', phone: '602-555-0143', ip_address: '203.0.113.77',
      order_items: [{ sku: 'QUINCE-SKU' }], notes: 'private note of quince', order_json: { buyer: 'Quincewood' },
    }) })
    await t.json('/v1/fraud/check', { method: 'POST', body: JSON.stringify({ phone: '602-555-0143', order_items: [{ sku: 'QUINCE-SKU' }] }) })
    for (const path of filesOf(t)) for (const secret of SECRETS) assert.equal(readFileSync(path).includes(secret), false, `${secret} stands in ${path}`)
  })

  test('the key is outside the database, and a backup does not hold it', async () => {
    await using t = await createTestApp()
    await t.json('/v1/fraud/reports', { method: 'POST', body: JSON.stringify(HOUSE) })
    const [, secret] = readFileSync(join(t.app.dir, 'keys', 'fraud-keys'), 'utf8').trim().split(' ') as [string, string]
    for (const path of filesOf(t).filter((file) => !file.endsWith('fraud-keys'))) {
      const bytes = readFileSync(path)
      assert.deepEqual([bytes.includes(secret), bytes.includes(Buffer.from(secret, 'hex'))], [false, false], path)
    }
  })
})

function filesOf({ app }: TestApp): string[] {
  return readdirSync(app.dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}
