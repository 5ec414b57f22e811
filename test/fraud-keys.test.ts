/** Keys of signals that are replaced, lost or shared, and what two installations tell each other. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { DAY } from '../lib/core/clock.js'
import { addLocalKey } from '../lib/fraud/keys.js'
import { openFile } from '../lib/db/sqlite.js'
import { filesIn } from '../lib/db/engine.js'
import { touch } from '../lib/db/state.js'
import { createTestApp } from '../server/testing.js'
import type { TestApp } from '../server/testing.js'
import { shops } from './fraud-shops.js'

let scratch: string
before(() => { scratch = mkdtempSync(join(tmpdir(), 'qm-fraud-')) })
after(() => rmSync(scratch, { recursive: true, force: true }))

const HOUSE = { shipping_name: 'Pat Doe', shipping_address_1: '12 Main Street', shipping_postcode: '85001' }
const summary = async (t: TestApp, body: unknown) => (await t.json('/v1/fraud/check', { method: 'POST', body: JSON.stringify(body) })).body.data.fraud
const report = async (t: TestApp, body: unknown, key?: string) => assert.equal((await t.json('/v1/fraud/reports', { method: 'POST', body: JSON.stringify(body), ...key !== undefined && { key } })).status, 200)
const hashes = (t: TestApp) => {
  const raw = openFile(filesIn(t.app.dir).record, { synchronous: 'FULL', readonly: true })
  try {
    return raw.prepare('SELECT hash FROM fraud_signal ORDER BY hash').safeIntegers().pluck().all().map(String)
  } finally {
    raw.close()
  }
}
const keyFile = (t: TestApp) => join(t.app.dir, 'keys', 'fraud-keys')

describe('a key that is replaced', () => {
  test('changes every hash and no answer, and only the new one stays', async () => {
    await using t = await createTestApp()
    for (let n = 0; n < 120; n++) await t.app.as(t.subscriber).fraud.report({ ...HOUSE, email: `p${n}@customer.example` })
    const [answer, old, key] = [await summary(t, HOUSE), hashes(t), readFileSync(keyFile(t), 'utf8')]
    assert.deepEqual(await t.app.operator.fraud.rotateKey(), { reports: 120, unreadable: 0 })
    assert.deepEqual(await summary(t, HOUSE), answer)
    assert.equal(hashes(t).some((hash) => old.includes(hash)), false)
    assert.match(readFileSync(keyFile(t), 'utf8'), /^2 [0-9a-f]{64}\n?$/)
    assert.equal(readFileSync(keyFile(t), 'utf8').includes(key.trim().slice(2)), false)
  })

  test('while it is being replaced, reports under either are found; what was cut off goes on by itself', async () => {
    await using t = await createTestApp()
    await report(t, HOUSE)
    addLocalKey(t.app.dir, t.app.ctx.random)
    await t.app.ctx.engine.atomic(t.app.ctx, (tx) => touch(tx.db, 'fraud'))
    await report(t, { ...HOUSE, email: 'pat@customer.example' })
    await report(t, HOUSE)
    assert.deepEqual([(await summary(t, HOUSE)).matched, (await t.app.operator.fraud.stats()).reports, (await t.app.operator.fraud.stats()).under_old_keys], [true, 2, 0])
    await t.app.jobs.run('fraud')
    await t.app.operator.fraud.rotateKey()
    assert.match(readFileSync(keyFile(t), 'utf8'), /^2 /)
  })

  test('a key file that was lost is no loss: a new one is made, and the reports hashed anew', async () => {
    await using t = await createTestApp()
    await report(t, HOUSE)
    rmSync(keyFile(t))
    await t.app.ctx.engine.atomic(t.app.ctx, (tx) => touch(tx.db, 'fraud'))
    assert.equal((await summary(t, HOUSE)).matched, false)
    await t.app.jobs.run('fraud')
    assert.equal((await summary(t, HOUSE)).matched, true)
  })

  test('a subscriber that leaves takes its reports with it', async () => {
    await using t = await createTestApp()
    const [b] = await shops(t, 1)
    await report(t, HOUSE)
    await report(t, HOUSE, b!.key)
    assert.deepEqual(await t.app.operator.fraud.erase(b!.name), { removed: 1 })
    assert.deepEqual([(await summary(t, HOUSE)).report_count, (await t.app.operator.fraud.stats()).by_subscriber.length], [1, 1])
  })
})

describe('two installations that agreed on a key', () => {
  const SHARED = 'ab'.repeat(32)

  async function batchOf(t: TestApp, name: string): Promise<string> {
    const path = join(scratch, name)
    const lines: string[] = []
    for await (const line of t.app.operator.fraud.exportBatch('coast')) lines.push(line)
    writeFileSync(path, `${lines.join('\n')}\n`)
    return path
  }

  test('count each other\'s dealers, tell no value, and take a newer batch in place of the older', async () => {
    await using here = await createTestApp()
    await using there = await createTestApp()
    for (const t of [here, there]) await t.app.operator.fraud.addPartner('coast', SHARED)
    const [b, c] = await shops(there, 2)
    await report(there, { ...HOUSE, email: 'pat@customer.example', notes: 'theirs' }, b!.key)
    await report(there, { ...HOUSE, shipping_name: 'Sam Roe' }, c!.key)
    await report(here, HOUSE)
    const path = await batchOf(there, 'one')
    const text = readFileSync(path, 'utf8')
    for (const secret of ['main', 'pat', 'theirs', b!.id, '85001', 'roe']) assert.equal(text.toLowerCase().includes(secret), false, secret)
    assert.deepEqual(await here.app.operator.fraud.importBatch('coast', path), { reports: 2, dealers: 2, removed: 0 })
    const found = await summary(here, HOUSE)
    assert.deepEqual([found.report_count, found.notes, found.reported_by_you], [3, [], true])
    assert.deepEqual((await summary(here, { email: 'PAT@customer.example' })).matched_on, ['email'])
    there.clock.advance(DAY)
    here.clock.advance(DAY)
    await there.json('/v1/fraud/reports', { method: 'DELETE', key: b!.key, body: JSON.stringify(HOUSE) })
    assert.deepEqual(await here.app.operator.fraud.importBatch('coast', await batchOf(there, 'two')), { reports: 1, dealers: 1, removed: 1 })
    assert.equal((await summary(here, { email: 'pat@customer.example' })).matched, false)
    assert.equal((await summary(here, HOUSE)).report_count, 2)
    assert.match(await batchOf(here, 'back').then((file) => readFileSync(file, 'utf8')), /"reports":1\}/)
  })

  test('a batch that was changed, cut off, repeated or sealed with another key is refused, and changes nothing', async () => {
    await using t = await createTestApp()
    await t.app.operator.fraud.addPartner('coast', SHARED)
    await t.app.operator.fraud.addPartner('other', 'cd'.repeat(32))
    await report(t, HOUSE)
    const path = await batchOf(t, 'three')
    const text = readFileSync(path, 'utf8')
    const refused = async (content: string, reason: RegExp, partner = 'coast') => {
      const file = join(scratch, 'changed')
      writeFileSync(file, content)
      await assert.rejects(t.app.operator.fraud.importBatch(partner, file), reason)
    }
    const [first, second, third] = text.trim().split('\n') as [string, string, string]
    await refused(text.replace('"first":"2026', '"first":"2025'), /cut off or changed/)
    await refused(`${first}\n${second}\n`, /cut off or changed/)
    await refused(`${first}\n${third}\n`, /cut off or changed/)
    await refused(`${text}${second}\n`, /goes on behind its seal/)
    await refused('upc,name\n', /is no batch/)
    await refused(text, /sealed with another key/, 'other')
    await assert.rejects(t.app.operator.fraud.importBatch('nobody', path), /is no partner/)
    await assert.rejects(t.app.operator.fraud.importBatch('coast', join(scratch, 'nowhere')), /is not there/)
    assert.equal((await t.app.operator.fraud.stats()).reports, 1)
    await t.app.operator.fraud.importBatch('coast', path)
    await assert.rejects(t.app.operator.fraud.importBatch('coast', path), /not newer/)
  })
})
