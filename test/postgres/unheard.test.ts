/**
 * Nodes that no notification reaches, as behind a pooler that swallows them: they look for
 * themselves, and are late by no more than that takes.
 */
import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pause } from '../../lib/core/async/wait.js'
import { SECOND } from '../../lib/core/clock.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { builtin } from '../../lib/distributors/builtin/index.js'
import { memoryStore } from '../../lib/objects/memory.js'
import type { PlaceBody } from '../../lib/orders/shapes.js'
import { createServer } from '../../server/http/app.js'
import { openForTest } from '../../server/testing/open.js'
import type { WatchedApp } from '../../server/testing/open.js'
import { missing, startServer } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'
import { startProxy } from '../harness/tcp-proxy.js'
import type { TcpProxy } from '../harness/tcp-proxy.js'
import { until } from '../harness/until.js'
import { orderShop } from '../orders/shop.js'
import type { OrderShop } from '../orders/shop.js'
import { scripted } from '../orders/scripted-distributor.js'

const SECRET = '5e'.repeat(32)
/** Milliseconds within which all nodes go by what one of them was told. */
const LATE = 2 * SECOND

describe('nodes that hear of nothing', { skip: missing }, () => {
  const dir = mkdtempSync(join(tmpdir(), 'qm-unheard-'))
  const tst = scripted()
  let server: TestServer
  let proxy: TcpProxy
  /** It leads. */
  let leader: OrderShop
  let follower: WatchedApp
  /** Connections that wanted to listen. */
  let cut = 0

  before(async () => {
    server = await startServer()
    proxy = await startProxy(server.port)
    proxy.judge = (bytes) => {
      if (!bytes.includes('listen ')) return 'pass'
      cut++
      return 'cut'
    }
    const database = (await server.database()).replace(`:${server.port}/`, `:${proxy.port}/`)
    const common = { database, secretKey: SECRET, objects: memoryStore({ now: Date.now }) }
    leader = await orderShop([tst], { ...common })
    for (const end of ['', '-wal']) {
      const file = `${filesIn(leader.app.dir).catalog}${end}`
      if (existsSync(file)) cpSync(file, `${filesIn(dir).catalog}${end}`)
    }
    follower = await openForTest({
      ...common,
      dir,
      worker: false,
      distributors: [...builtin, tst.distributor],
      now: () => leader.clock.ms,
    })
    const { lead } = leader.app.ctx.engine
    lead!.stand()
    await until(() => lead!.epoch !== null, 'the first leads')
    leader.app.orders.start()
  })
  after(async () => {
    await follower?.close()
    await leader?.close()
    await proxy?.close()
    await server?.close()
    rmSync(dir, { recursive: true })
  })

  const ping = async (key: string) => {
    const asked = new Request('http://shop.example/v1/ping', { headers: { 'x-api-key': key } })
    return (await createServer(follower).fetch(asked, { address: '127.0.0.1' })).status
  }
  const within = async (isSo: () => Promise<boolean>, what: string) => {
    const begun = performance.now()
    await until(isSo, what)
    const took = performance.now() - begun
    assert.ok(took < LATE, `${what} after ${took} ms`)
  }

  // Who waited for somebody to tell would wait for good.
  test('an order is sent by the leader, and answered', { timeout: 15_000 }, async () => {
    const orders = follower.as(leader.subscriber).orders
    for (const sends of [1, 2]) {
      // Until the leader has nothing to do, and no reason of its own to look.
      await pause(SECOND)
      const begun = performance.now()
      const { status } = await orders.place(leader.body() as PlaceBody)
      assert.deepEqual([status, tst.sends.length], ['placed', sends])
      assert.ok(performance.now() - begun < 2 * LATE, 'the leader looks each second')
    }
    assert.ok(cut > 0, 'nobody listens')
  })

  test('a key that is made at one works at another at once, and a cancelled one does not', async () => {
    const { keys, subscribers } = leader.app.operator
    const { name } = await subscribers.create({ name: 'New', email: 'new@shop.example' })
    const { key, id } = await keys.create({
      subscriber: name,
      name: 'for a while',
      tier: 'enterprise',
    })
    assert.equal(await ping(key), 403)
    await keys.allowlist(id, { allow: ['127.0.0.1'] })
    assert.equal(await ping(key), 200)
    await follower.as({ key }).ping()
    await keys.setStatus(id, 'cancelled')
    await within(async () => (await ping(key)) === 403, 'it does not')
  })
})
