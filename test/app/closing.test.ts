/** What a closing app waits for, and what it takes no more: every call of its operator. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTestApp } from '../../server/testing/index.js'

const SHARED = 'ab'.repeat(32)

describe('a batch for a partner', () => {
  test('is waited for as far as its step has begun, and goes no further', async () => {
    await using t = await createTestApp()
    await t.app.operator.fraud.addPartner('coast', SHARED)
    const batch = t.app.operator.fraud.exportBatch('coast')
    assert.equal((await batch.next()).done, false)
    const order: string[] = []
    const step = batch.next().then(() => order.push('step'))
    const closed = t.app.close().then(() => order.push('closed'))
    await Promise.all([step, closed])
    assert.deepEqual(order, ['step', 'closed'])
    await assert.rejects(batch.next(), /^Error: closed$/)
  })

  test('is not begun by an app that is closed', async () => {
    await using t = await createTestApp()
    await t.app.operator.fraud.addPartner('coast', SHARED)
    await t.app.close()
    await assert.rejects(t.app.operator.fraud.exportBatch('coast').next(), /^Error: closed$/)
  })

  test('that nobody reads to its end is not waited for', async () => {
    await using t = await createTestApp()
    await t.app.operator.fraud.addPartner('coast', SHARED)
    await t.app.operator.fraud.exportBatch('coast').next()
    await t.app.close()
  })
})

test('rules are compared while the app is open, and not by one that closes', async () => {
  await using t = await createTestApp()
  const compared = () => t.app.operator.rules.diff({ text: '[]', replace: true })
  assert.deepEqual(compared().rules, [])
  const closing = t.app.close()
  assert.throws(compared, /^Error: closed$/)
  await closing
  assert.throws(compared, /^Error: closed$/)
})
