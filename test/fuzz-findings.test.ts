/** What the fuzzer has found, each with a test of its own. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApiDocument } from '../server/openapi.js'
import { createTestApp } from '../server/testing.js'

test('the document that is built once names the origin that each caller used', async () => {
  await using t = await createTestApp()
  const served = async (host: string) => (await t.server.fetch(new Request(`http://${host}/v1/openapi.json`))).json()
  for (const host of ['shop.test', 'other.example:8080', 'shop.test', 'xn--e1aybc.example']) {
    assert.deepEqual(await served(host), JSON.parse(JSON.stringify(openApiDocument(`http://${host}`, t.app.ctx.distributors))))
  }
})
