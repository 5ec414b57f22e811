/** What the fuzzer has found, each with a test of its own. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDocument } from '../../scripts/fuzz/document.js'
import { openApiDocument } from '../../server/openapi/document.js'
import { createTestApp } from '../../server/testing/index.js'

test('the document that is built once names the origin that each caller used', async () => {
  await using t = await createTestApp()
  const served = async (host: string) =>
    (await t.server.fetch(new Request(`http://${host}/v1/openapi.json`))).json()
  for (const host of ['shop.test', 'other.example:8080', 'shop.test', 'xn--e1aybc.example']) {
    assert.deepEqual(
      await served(host),
      JSON.parse(JSON.stringify(openApiDocument(`http://${host}`, t.app.ctx.distributors))),
    )
  }
})

test(
  'what an order must say is said with more than blanks, and the document tells it as the ' +
    'server does',
  async () => {
    await using t = await createTestApp()
    const { operations } = readDocument(
      JSON.parse(
        JSON.stringify(openApiDocument('http://shop.test', t.app.ctx.distributors)),
      ) as Record<string, unknown>,
    )
    const { isBodyValid } = operations.find(({ id }) => id === 'ordersPlace')!
    const order = {
      order_id: 'W-1',
      customer: {
        name: 'Pat Doe',
        email: 'pat@customer.example',
        address1: '12 Main St',
        city: 'Phoenix',
        state: 'AZ',
        zip: '85001',
      },
      items: [{ distid: 'RSR', distsku: 'A1', upc: '012345678905', qty: 1 }],
      po_number: ' PO 7 ',
    }
    assert.equal(isBodyValid!(order), null)
    for (const [path, blank] of [
      ['customer.name', { customer: { ...order.customer, name: ' ' } }],
      ['customer.address1', { customer: { ...order.customer, address1: '\n' } }],
      ['customer.city', { customer: { ...order.customer, city: '  ' } }],
      ['po_number', { po_number: ' ' }],
    ] as const) {
      assert.notEqual(isBodyValid!({ ...order, ...blank }), null, path)
      const { status, body: answer } = await t.json('/v1/orders', {
        method: 'POST',
        body: JSON.stringify({ ...order, ...blank }),
      })
      assert.deepEqual(
        [status, answer.error.details.map((fault: { path: string }) => fault.path)],
        [400, [path]],
      )
    }
  },
)
