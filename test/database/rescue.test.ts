/** Files of the folder that are taken away from under a server. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { builtin } from '../../lib/distributors/builtin/index.js'
import { openForTest as open } from '../../server/testing/open.js'
import { watchFiles } from '../../server/watch-files.js'
import { scripted } from '../orders/scripted-distributor.js'
import { UPC, orderShop } from '../orders/shop.js'
import type { OrderShop } from '../orders/shop.js'

const remove = (path: string) => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
}

/** Watches until the server would end, and tells with which code. */
const endOf = (t: OrderShop): Promise<number> =>
  new Promise((resolve) => {
    // The watch itself keeps no process alive.
    const alive = setInterval(() => {}, 1_000)
    watchFiles(t.app, {
      every: 1,
      end(code) {
        clearInterval(alive)
        resolve(code)
      },
    })
  })

const orderIdsIn = (path: string) => {
  const raw = openFile(path, { synchronous: 'FULL', readonly: true })
  try {
    return raw.prepare('SELECT order_id FROM placement ORDER BY order_id').pluck().all()
  } finally {
    raw.close()
  }
}

async function placed(t: OrderShop): Promise<string> {
  const body = t.body()
  assert.equal((await t.place(body)).status, 200)
  return body.order_id
}

describe('quartermaster.db', () => {
  test('that is removed under a server is written again with every order, also those since', async () => {
    const tst = scripted()
    await using t = await orderShop([tst])
    const { record } = filesIn(t.app.dir)
    const before = await placed(t)
    remove(record)
    const since = await placed(t)
    t.expectErrors(/quartermaster\.db was removed under the running server/)
    assert.equal(await endOf(t), 1)
    await t.app.close().catch(() => {})
    assert.deepEqual(orderIdsIn(record), [before, since])
    await using again = await open({
      dir: t.app.dir,
      worker: false,
      now: () => t.clock.ms,
      distributors: [...builtin, tst.distributor],
    })
    const { orders } = await again.as(t.subscriber).orders.list({})
    assert.deepEqual(orders.map(({ order_id: id }) => id).sort(), [before, since])
    assert.equal(tst.sends.length, 2)
  })

  test('that is replaced is left as it is, and the orders lie beside it', async () => {
    await using t = await orderShop([scripted()])
    const { record } = filesIn(t.app.dir)
    const before = await placed(t)
    remove(record)
    writeFileSync(record, 'somebody put this here')
    const since = await placed(t)
    t.expectErrors(/quartermaster\.db was replaced under the running server/)
    assert.equal(await endOf(t), 70)
    assert.equal(readFileSync(record, 'utf8'), 'somebody put this here')
    const [rescued] = readdirSync(t.app.dir).filter((name) => name.includes('.rescued-'))
    assert.deepEqual(orderIdsIn(join(t.app.dir, rescued!)), [before, since])
  })
})

describe('catalog.db', () => {
  for (const how of ['removed', 'replaced'])
    test(`that is ${how} under a server comes back, and orders go on meanwhile`, async () => {
      const tst = scripted()
      await using t = await orderShop([tst])
      const { catalog } = filesIn(t.app.dir)
      const { version } = t.app.ctx.catalog.current()!
      remove(catalog)
      if (how === 'replaced') writeFileSync(catalog, 'somebody put this here')
      await placed(t)
      t.expectErrors(/catalog\.db was removed or replaced under the running server/)
      const unwatch = watchFiles(t.app, {
        every: 1,
        end: (code) => assert.fail(`it ended with ${code}`),
      })
      while (t.app.ctx.engine.isGone('catalog')) await new Promise(setImmediate)
      unwatch()
      assert.equal(existsSync(catalog), true)
      assert.equal(t.app.ctx.catalog.current()!.version, version)
      await placed(t)
      // What a feed brings then is seen.
      const { distid } = tst.distributor
      await t.stock([{ distid, stockid: 'A1', upc: UPC, name: 'Tripod', price: 2_500, qty: 50 }])
      const found = await t.json('/v1/products/search?q=tripod')
      assert.equal(found.body.data.total, 1)
    })
})
