/**
 * The page on a first feed, followed as it stands: from an empty folder to an order that has
 * shipped. The one thing that is not waited for are the two minutes until it ships.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { MINUTE } from '../../lib/core/clock.js'
import { createServer } from '../../server/http/app.js'
import { listen } from '../../server/http/listen.js'
import { openForTest } from '../../server/testing/open.js'
import { LAUNCHER, start, stop } from '../server/launcher.js'
import { hearErrors } from '../server/process-errors.js'
import { blocks, page } from './blocks.js'

let cwd: string
before(() => {
  cwd = mkdtempSync(join(tmpdir(), 'qm-first-feed-'))
})
after(() => rmSync(cwd, { recursive: true, force: true }))

/** The launcher is built already. */
const BUILD = 'npm ci && npm run build\n'
const ALIAS = 'alias quartermaster="node $PWD/dist/quartermaster/quartermaster.mjs --dir ./shop"\n'
const SERVE = 'quartermaster serve --port 8080\n'

/** What a script prints; fails on its first command that fails. */
function shell(script: string): Promise<string> {
  const lines = [
    'set -eu; shopt -s expand_aliases',
    ALIAS.replace('$PWD/dist/quartermaster/quartermaster.mjs', LAUNCHER),
    script,
  ]
  return new Promise((resolve, reject) => {
    const child = spawn('bash', [], { cwd })
    let [out, err] = ['', '']
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
    })
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString()
    })
    child.on('close', (code) => {
      hearErrors(err)
      if (code === 0) resolve(out)
      else reject(new assert.AssertionError({ message: `ended with ${code}: ${err}\n${out}` }))
    })
    child.stdin.end(lines.join('\n'))
  })
}

test('its lines lead from an empty folder to an order that has shipped', async () => {
  const steps = blocks(page('first-feed.md'))
    .filter(({ language }) => language === 'sh')
    .map(({ text }) => text)
  const serveAt = steps.indexOf(SERVE)
  assert.equal(serveAt, 3)
  assert.ok(steps[0]!.startsWith(BUILD + ALIAS), steps[0])
  const [made, taken, configured] = [
    await shell(steps[0]!.slice((BUILD + ALIAS).length)),
    await shell(steps[1]!),
    await shell(steps[2]!),
  ]
  const key = /^ {2}([A-Z0-9]{40})$/m.exec(made)![1]!
  assert.match(taken, /3 rows read with chattanooga \(CSSI\), 0 rejected\./)
  assert.match(taken, /CSSI\/chattanooga: taken\. 3 rows, 3 added/)
  assert.match(configured, /3 offers are listed after it/)
  assert.match(configured, /CSSI +Chattanooga Shooting Supplies +0 +3 +0\n/)
  assert.match(configured, /CSSI +Chattanooga Shooting Supplies +valid/)

  // The line that serves is right; what follows runs against a server whose clock can be moved.
  const { child } = await start(join(cwd, 'shop'), 'serve')
  assert.equal(await stop(child), 0)

  let ahead = 0
  await using app = await openForTest({ dir: join(cwd, 'shop'), now: () => Date.now() + ahead })
  await app.ctx.catalog.refresh()
  const server = await listen(createServer(app), { port: 0, host: '127.0.0.1' })
  app.listensAt(server.url)
  app.orders.start()
  try {
    const at = (text: string) =>
      text
        .replaceAll('http://127.0.0.1:8080', server.url)
        .replace('KEY=THE-KEY-OF-STEP-1', `KEY=${key}`)
    const placed = await shell(at(steps[serveAt + 1]!))
    assert.match(placed, /"name":"Harbor bipod 6-9 inch"/)
    assert.match(placed, /"status":"placed"/)
    ahead += 3 * MINUTE
    await app.monitors.pass()
    const shipped = await shell(`KEY=${key}\n${at(steps[serveAt + 2]!)}`)
    assert.match(shipped, /"ship_tracking_number":"\w+"/)
    assert.match(shipped, /in_transit/)
    const pulled = await shell(steps[serveAt + 3]!)
    assert.match(pulled, /Source CSSI\/chattanooga is set: pulled every 20 minutes/)
    assert.match(pulled, /CSSI\/chattanooga: unchanged|CSSI\/chattanooga: taken/)
  } finally {
    await server.close(1_000)
  }
})
