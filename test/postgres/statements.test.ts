/** What the domains really say to the record, said to PostgreSQL as well: the same answers. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { DAY, HOUR } from '../../lib/core/clock.js'
import { missing, startServer } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'
import { REPLACED_BY } from '../../lib/db/postgres/compiler.js'
import { openPostgres } from '../../lib/db/postgres/connect.js'
import { migratePostgres } from '../../lib/db/postgres/schema.js'
import { DEALER, GUN_UPC, orderShop } from '../orders/shop.js'
import { scripted } from '../orders/scripted-distributor.js'
import { schemaOfPostgres } from './schemas.js'
import { castShadow, replay } from './shadow.js'

describe('the statements of the domains', { skip: missing }, () => {
  let server: TestServer

  before(async () => {
    server = await startServer()
  })
  after(() => server?.close())

  test('have the same answers from PostgreSQL, in the same transactions', async () => {
    const shadow = castShadow()
    try {
      await aDay()
    } finally {
      shadow.stop()
    }
    const texts = new Set<string>()
    let schema: Awaited<ReturnType<typeof schemaOfPostgres>> = {}
    for (const record of shadow.records.values()) {
      const address = await server.database()
      const postgres = await openPostgres(address)
      await migratePostgres(postgres)
      schema = await schemaOfPostgres(postgres)
      await postgres.close()
      for (const text of await replay(address, record)) texts.add(text)
    }
    assert.ok(texts.size > 70, `${texts.size} different statements were seen`)
    // A column that a row which takes another's place does not name would keep the other's value.
    let replaced = 0
    for (const text of texts) {
      const [, table, named] = /^insert into "(\w+)" \(([^)]*)\) .* on conflict \(/.exec(text) ?? []
      if (!table || !named || !(table in REPLACED_BY)) continue
      replaced++
      assert.equal(named.split(', ').length, Object.keys(schema[table]!.columns).length, text)
    }
    assert.ok(replaced > 0)
  })
})

/** Orders of every outcome, and what an operator does and looks at. */
async function aDay(): Promise<void> {
  const [a, b] = [
    scripted({ distid: 'AAA', name: 'Alpha' }),
    scripted({ distid: 'BBB', name: 'Beta' }),
  ]
  await using t = await orderShop([a, b])
  const { operator } = t.app
  a.acts.push(
    'accept',
    { accept: false, answer: { outcome: 'rejected', reason: 'no such item' } },
    { accept: true, answer: { outcome: 'unknown', reason: 'timeout' } },
    { accept: false, answer: { outcome: 'not_sent', reason: 'busy' } },
  )
  for (let i = 0; i < 6; i++) await t.place(t.body())
  await t.place(t.body({ order_id: 'W-1001' }))
  await t.place(
    t.body({
      order_id: 'gun',
      ffl: DEALER,
      items: [{ distid: 'BBB', distsku: 'G1', upc: GUN_UPC, qty: 1, ffl_req: true }],
    }),
  )
  await t.later(HOUR, 3)
  const shop = await t.addShop()
  await t.place(t.body(), { key: shop })
  for (const query of [
    '',
    '?sort=order_id&direction=asc&limit=2&offset=1',
    '?sort=ship_date',
    '?search=w-10',
    '?search=w-',
    '?search=%C3%89&distid=AAA',
    '?reference=W-1001',
    '?po_number=W-1002&order_status=Submitted',
    '?from=2026-11-01&to=2026-12-01&include_errors=true',
  ])
    for (const path of ['/v1/orders', '/v1/fulfillment/history']) await t.json(`${path}${query}`)
  await t.json('/v1/orders/W-1001')
  await t.json('/v1/usage')
  await t.json('/v1/ffls?zip=85001&radius=50')
  await t.json(`/v1/ffls/${DEALER}`)
  await t.json('/v1/ffls/1-57-XXX-XX-XX-67890')
  const signals = {
    shipping_address_1: '12 Main St',
    shipping_postcode: '85001',
    email: 'pat@customer.example',
    customer_name: 'Pat Doe',
  }
  const fraud = (path: string, method: string, key: string) =>
    t.json(`/v1/fraud/${path}`, { method, body: JSON.stringify(signals), key })
  await fraud('reports', 'POST', shop)
  await fraud('check', 'POST', t.key)
  await fraud('reports', 'POST', t.key)
  await fraud('reports', 'DELETE', shop)
  await operator.subscribers.list()
  await operator.keys.list(t.subscriber)
  await operator.audit.verify()
  await operator.audit.list({ action: 'keys.' })
  await operator.orders.verifyJournal()
  await operator.orders.list({ state: 'all' })
  await operator.orders.list({})
  await operator.fraud.stats()
  await operator.feeds.status()
  await operator.events.list({})
  await operator.subscribers.create({ name: 'test SHOP', email: 'a@b.example' }).catch(() => {})
  await operator.subscribers.create({ name: 'Third', email: 'a@b.example' })
  await t.later(DAY, 2)
}
