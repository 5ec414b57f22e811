/**
 * Twenty thousand requests made from the document; `scripts/fuzz/run.ts` makes as many as are asked
 * for.
 */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { readDocument } from '../../scripts/fuzz/document.js'
import { runEpoch } from '../../scripts/fuzz/epoch.js'
import { makeTemplate } from '../../scripts/fuzz/shop.js'
import { openApiDocument } from '../../server/openapi/document.js'
import { createTestApp } from '../../server/testing/index.js'

/**
 * What the fuzzer takes from the document, the document has from the contract ("Limits"): it would
 * follow one that had moved.
 */
const LIMITS: [operation: string, where: string, limits: object][] = [
  ['productsSearch', 'page_size', { minimum: 1, maximum: 100, default: 50 }],
  ['productsSearch', 'page', { minimum: 1, default: 1 }],
  ['productsCatalog', 'expires_in', { minimum: 60, maximum: 3_600, default: 1_800 }],
  ['analytics', 'limit', { minimum: 1, maximum: 200, default: 50 }],
  ['fflsNear', 'radius', { minimum: 1, maximum: 50, default: 15 }],
  ['fflsNear', 'name', { maxLength: 60 }],
  ['fflsGet', 'license_number', { pattern: '^[0-9A-Za-z-]{10,25}$' }],
  ['productsGet', 'upc', { pattern: '^\\d{8,14}$' }],
  ['ordersList', 'limit', { minimum: 1, maximum: 100 }],
  ['fulfillmentHistory', 'limit', { minimum: 1, maximum: 100, default: 25 }],
  ['ordersQuote', 'items', { minItems: 1, maxItems: 100 }],
  ['ordersPlace', 'items', { minItems: 1, maxItems: 100 }],
  ['restrictionsCheck', 'items', { minItems: 1, maxItems: 100 }],
  ['ordersPlace', 'order_id', { pattern: '^[A-Za-z0-9_-]{1,50}$' }],
]

test('the limits of the document are those of the contract', async () => {
  await using t = await createTestApp()
  const { operations, resolve } = readDocument(
    openApiDocument('http://shop.test', t.app.ctx.distributors),
  )
  for (const [id, where, limits] of LIMITS) {
    const { parameters, body } = operations.find((operation) => operation.id === id)!
    const schema =
      parameters.find(({ name }) => name === where)?.schema ??
      resolve(resolve(body!).properties![where]!)
    for (const [name, value] of Object.entries(limits))
      assert.deepEqual(
        [id, where, name, schema[name as keyof typeof schema]],
        [id, where, name, value],
      )
  }
})

test('no request that the document can think of gets an answer that it does not', async () => {
  const template = await makeTemplate()
  try {
    const { requests, orders, failures, answers } = await runEpoch({
      template,
      seed: 20_261_122,
      requests: 12_000,
      socketShare: 1,
    })
    assert.deepEqual(
      failures.map(
        ({ sign, at, what, detail, curl }) => `${sign}: request ${at}, ${what}: ${detail}\n${curl}`,
      ),
      [],
    )
    assert.ok(requests >= 12_000)
    assert.ok(orders > 20, `only ${orders} orders were placed`)
    // A fuzzer that reaches nothing finds nothing.
    for (const { id } of template.api.operations) {
      const of = answers[`${id} (valid)`] ?? {}
      assert.ok((of['200'] ?? 0) >= 5, `${id} answered ${JSON.stringify(of)}`)
    }
  } finally {
    rmSync(template.dir, { recursive: true, force: true })
  }
})
