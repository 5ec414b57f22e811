import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { listNodes } from '../../lib/app/nodes/list.js'
import { builtin, presets } from '../../lib/distributors/builtin/index.js'
import { addShared } from '../../lib/distributors/document/kept/shared.js'
import { memoryStore } from '../../lib/objects/memory.js'
import { openForTest } from '../../server/testing/open.js'
import type { WatchedApp } from '../../server/testing/open.js'
import { documentOf } from '../distributors/document/rig.js'
import { WITHOUT_BROWSER, openBrowser } from '../docs/browser.js'
import { missing, startServer } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'
import { until } from '../harness/until.js'
import { serveConsole } from './console.js'
import type { ServedConsole } from './console.js'
import { LOOKS, barriers, enter, goTo } from './visit.js'
import type { Browser } from './visit.js'

describe('the nodes in the console', { skip: WITHOUT_BROWSER || missing }, () => {
  const scratch = mkdtempSync(join(tmpdir(), 'qm-console-nodes-'))
  let server: TestServer
  let address: string
  let app: WatchedApp
  let console: ServedConsole
  let browser: Browser
  before(async () => {
    server = await startServer()
    address = await server.database()
    app = await openForTest({
      dir: join(scratch, 'one'),
      database: address,
      secretKey: '3d'.repeat(32),
      objects: memoryStore({ now: Date.now }),
      worker: false,
    })
    app.ctx.register!.start('1.0.0')
    await until(async () => (await listNodes(app.ctx)).nodes.length === 1, 'the node is noted')
    console = await serveConsole(app)
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await console?.close()
    await app?.close()
    await server?.close()
    rmSync(scratch, { recursive: true, force: true })
  })

  test('have a column for the documents that they have not read', async () => {
    const documents = async () => {
      await using visited = await enter(browser, console, { look: LOOKS['light']! })
      const { page } = visited
      await goTo(page, 'operating/about')
      const table = page.locator('main table').first()
      const heads = await table.locator('th').allInnerTexts()
      const found = await table.locator('tbody tr').first().locator('td').allInnerTexts()
      assert.deepEqual(await barriers(page), [])
      return found[heads.indexOf('Documents')]
    }
    assert.equal(await documents(), 'all read')
    const acme = documentOf({ kind: 'folder', path: join(scratch, 'acme') })
    await addShared(app.ctx, { distributors: builtin, presets }, acme)
    assert.match((await documents()) ?? '', /^ACME\s+not read yet$/)
    // As a node of another release notes one that it cannot use.
    const id = (await listNodes(app.ctx)).nodes[0]!.id
    const digest = `encode(sha256(convert_to(text, 'UTF8')), 'hex')`
    await server.run(
      address,
      `update quartermaster.node set documents = (select json_build_array(json_build_object(
          'distid', distid, 'sha256', ${digest}, 'fault', 'color: is not known'))::text
        from quartermaster.distributor_document) where id = $1`,
      [id],
    )
    assert.match((await documents()) ?? '', /^ACME\s+cannot be used: color: is not known$/)
  })
})
