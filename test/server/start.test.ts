/** A server that has just started: what it answers at once, and what waits. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { writeOffers } from '../../scripts/bench/offers.js'
import { createStartingServer } from '../../server/http/app.js'
import { openStarting } from '../../server/http/starting.js'
import type { StartingUp } from '../../server/http/starting.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { openForTest as open } from '../../server/testing/open.js'
import { get, start, stop } from './launcher.js'

describe('before the catalog is there', () => {
  let t: TestApp
  before(async () => {
    t = await createTestApp()
  })
  after(() => t.close())

  const asking = (starting: StartingUp) => {
    const server = createStartingServer(t.app, starting)
    return async (path: string, body?: unknown) => {
      const response = await server.fetch(
        new Request(`http://localhost${path}`, {
          headers: { 'x-api-key': t.key },
          ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
        }),
        { address: '127.0.0.1' },
      )
      const { error } = (await response.json()) as { error?: { code: string } }
      return {
        status: response.status,
        code: error?.code,
        retryAfter: response.headers.get('retry-after'),
      }
    }
  }

  test('what needs no catalog is answered at once', async () => {
    const ask = asking(openStarting())
    for (const path of ['/v1/ping', '/v1/account', '/v1/usage', '/v1/distributors', '/v1/ffls'])
      assert.ok((await ask(path)).status < 500, path)
  })

  test('orders are read as soon as what the journal knows is there, catalog or not', async () => {
    const starting = openStarting()
    const ask = asking(starting)
    let answered = false
    const list = ask('/v1/orders').then((answer) => {
      answered = true
      return answer.status
    })
    assert.equal((await ask('/v1/ping')).status, 200)
    assert.equal(answered, false)
    starting.isThere('orders')
    assert.equal(await list, 200)
  })

  test('a search waits for it', async () => {
    const starting = openStarting()
    const ask = asking(starting)
    let answered = false
    const search = ask('/v1/products/search').then((answer) => {
      answered = true
      return answer.code
    })
    assert.equal((await ask('/v1/ping')).status, 200)
    assert.equal(answered, false)
    starting.isThere('catalog')
    // What the test's shop is told once there is a catalog, or none is to be had.
    assert.equal(await search, 'no_active_distributors')
  })

  test('what has waited for long is refused, and told when to come again', async () => {
    const ask = asking(openStarting(1))
    assert.deepEqual(await ask('/v1/products/search'), {
      status: 503,
      code: 'feed_unavailable',
      retryAfter: '5',
    })
    // Its definition has no word for the catalog.
    assert.deepEqual(await ask('/v1/config/validate', {}), {
      status: 503,
      code: 'service_unavailable',
      retryAfter: '5',
    })
  })
})

describe('a process that serves many offers', () => {
  let dir: string
  let key: string
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'qm-start-'))
    await using app = await open({ dir, worker: false })
    const catalog = openFile(filesIn(dir).catalog, { synchronous: 'NORMAL' })
    writeOffers(catalog, 20_000)
    catalog.close()
    await app.operator.subscribers.create({ name: 'Shop', email: 'a@shop.example' })
    key = (
      await app.operator.keys.create({
        subscriber: 'Shop',
        name: 'key',
        tier: 'standard',
        ips: ['127.0.0.1'],
      })
    ).key
  })
  after(() => rmSync(dir, { recursive: true, force: true }))

  test('ends in order while its first snapshot is being built', async () => {
    const { child, first } = await start(dir, 'serve')
    const searching = get(`${first.url}/v1/products/search`, key)
    const ping = await get(`${first.url}/v1/ping`, key)
    const stopped = stop(child)
    const search = await searching
    assert.equal(ping.status, 200)
    assert.equal(search.body.error.code, 'no_active_distributors')
    assert.equal(await stopped, 0)
  })

  test('keeps the snapshot for the next one', async () => {
    const { child } = await start(dir, 'serve')
    while (!existsSync(join(dir, 'snapshot', 'current.json')))
      await new Promise((resolve) => {
        setTimeout(resolve, 20)
      })
    assert.equal(await stop(child), 0)
  })
})
