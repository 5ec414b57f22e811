/** The keys of fraud signals, which all nodes of an installation share: what one reports, others find. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { moveFromPostgres, moveToPostgres } from '../../lib/app/move/move.js'
import type { App } from '../../lib/app/open.js'
import { memoryStore } from '../../lib/objects/memory.js'
import { openForTest } from '../../server/testing/open.js'
import { missing, startServer } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'
import { until } from '../harness/until.js'

const SECRET = '5e'.repeat(32)
const SHARED = 'ab'.repeat(32)
const HOUSE = {
  shipping_name: 'Pat Doe',
  shipping_address_1: '12 Main Street',
  shipping_postcode: '85001',
}

const houseOf = (number: number) => ({ ...HOUSE, shipping_address_1: `${number} Main Street` })

describe('keys of fraud signals over nodes', { skip: missing }, () => {
  let server: TestServer
  let scratch: string
  before(async () => {
    server = await startServer()
    scratch = mkdtempSync(join(tmpdir(), 'qm-fraud-keys-'))
  })
  after(async () => {
    await server?.close()
    rmSync(scratch, { recursive: true, force: true })
  })

  const openNode = (database: string, name: string) =>
    openForTest({
      dir: join(scratch, name),
      database,
      secretKey: SECRET,
      objects: memoryStore({ now: Date.now }),
      worker: false,
    })
  const shopsOf = async (app: App) => {
    for (const name of ['North', 'South'])
      await app.operator.subscribers.create({ name, email: 'owner@shop.example' })
  }
  const matches = async (app: App) =>
    (await app.as('South').fraud.check(HOUSE as never)).fraud.matched
  const keysIn = (dir: string) => readFileSync(join(dir, 'keys', 'fraud-keys'), 'utf8').trim()

  test('a report through one node is found through the other, before and after a rotation', async () => {
    const database = await server.database()
    // Both begin at the same time, and neither has a key.
    const [first, second] = await Promise.all([
      openNode(database, 'first'),
      openNode(database, 'second'),
    ])
    await using _ = first
    await using __ = second
    await shopsOf(first)
    await until(() => second.operator.subscribers.list().then((all) => all.length === 2), 'both')
    await first.as('North').fraud.report(HOUSE as never)
    assert.equal(await matches(second), true)
    await second.operator.fraud.addPartner('coast', SHARED)
    await assert.rejects(first.operator.fraud.addPartner('coast', SHARED), /a partner already/)
    assert.deepEqual(await second.operator.fraud.rotateKey(), { reports: 1, unreadable: 0 })
    assert.equal(await matches(first), true)
    assert.equal(await matches(second), true)
    assert.equal((await first.operator.fraud.stats()).under_old_keys, 0)
    assert.equal(existsSync(join(scratch, 'first', 'keys', 'fraud-keys')), false)
  })

  test("a partner's batch comes in, and goes, while shops report through the other node", async () => {
    const batch = join(scratch, 'batch')
    {
      await using there = await openForTest({
        dir: join(scratch, 'partner'),
        secretKey: SECRET,
        worker: false,
      })
      await shopsOf(there)
      await there.operator.fraud.addPartner('here', SHARED)
      const shops = [there.as('North'), there.as('South')]
      for (let i = 0; i < 240; i++) await shops[i % 2]!.fraud.report(houseOf(i) as never)
      const lines: string[] = []
      for await (const line of there.operator.fraud.exportBatch('here')) lines.push(line)
      writeFileSync(batch, `${lines.join('\n')}\n`)
    }
    const database = await server.database()
    await using first = await openNode(database, 'batch-first')
    await using second = await openNode(database, 'batch-second')
    await shopsOf(first)
    await second.operator.fraud.addPartner('coast', SHARED)
    const stop = new AbortController()
    let reports = 0
    const reportOn = async (shop: string) => {
      for (let i = 0; !stop.signal.aborted; i++, reports++)
        await first.as(shop).fraud.report(houseOf(1_000 + i) as never)
    }
    const reporting = [reportOn('North'), reportOn('South')]
    const { reports: taken } = await second.operator.fraud.importBatch('coast', batch)
    const seen = reports
    const { reports: removed } = await second.operator.fraud.removePartner('coast')
    stop.abort()
    await Promise.all(reporting)
    assert.deepEqual([taken, removed, seen > 0], [240, 240, true])
    assert.equal((await first.operator.fraud.stats()).reports, reports)
  })

  test('the database has them sealed', async () => {
    const database = await server.database()
    await using node = await openNode(database, 'sealed')
    await node.operator.fraud.addPartner('coast', SHARED)
    const { rows } = await server.run(database, 'select name, sealed from quartermaster.fraud_key')
    assert.deepEqual(rows.map(({ name }) => name).toSorted(), ['fraud-keys', 'fraud-partner-coast'])
    assert.doesNotMatch(JSON.stringify(rows), /[0-9a-f]{64}/)
  })

  test('move with the record, and back', async () => {
    const database = await server.database()
    const dir = join(scratch, 'folder')
    {
      await using app = await openForTest({ dir, secretKey: SECRET, worker: false })
      await shopsOf(app)
      await app.as('North').fraud.report(HOUSE as never)
      await app.operator.fraud.addPartner('coast', SHARED)
    }
    const before = keysIn(dir)
    const move = {
      dir,
      address: database,
      secretKey: SECRET,
      now: Date.now,
      monotonic: () => performance.now(),
      random: (bytes: number) => Buffer.alloc(bytes, 7),
    }
    await moveToPostgres(move)
    {
      await using node = await openNode(database, 'node')
      assert.equal(await matches(node), true)
      await node.operator.fraud.rotateKey()
      await node.operator.fraud.removePartner('coast')
      await node.operator.fraud.addPartner('river', 'cd'.repeat(32))
    }
    await moveFromPostgres(move)
    assert.notEqual(keysIn(dir), before)
    assert.equal(existsSync(join(dir, 'keys', 'fraud-partner-coast')), false)
    assert.equal(
      readFileSync(join(dir, 'keys', 'fraud-partner-river'), 'utf8').trim(),
      'cd'.repeat(32),
    )
    await using app = await openForTest({ dir, secretKey: SECRET, worker: false })
    assert.equal(await matches(app), true)
  })

  test('a damaged one in the folder is told of before anything moves', async () => {
    const dir = join(scratch, 'damaged')
    await (await openForTest({ dir, secretKey: SECRET, worker: false })).close()
    mkdirSync(join(dir, 'keys'))
    writeFileSync(join(dir, 'keys', 'fraud-keys'), 'nothing')
    await assert.rejects(
      moveToPostgres({
        dir,
        address: await server.database(),
        secretKey: SECRET,
        now: Date.now,
        monotonic: () => performance.now(),
        random: (bytes) => Buffer.alloc(bytes, 7),
      }),
      /fraud-keys is damaged/,
    )
  })
})
