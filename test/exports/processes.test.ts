/**
 * Builds of real servers: one that is killed, and two processes on one folder.
 */
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { openForTest as open } from '../../server/testing/open.js'
import type { Answer } from '../../server/testing/index.js'
import { childOf, isAlive, until, untilIdle } from './child.js'
import { buildsIn, rowsIn } from './shop.js'
import { FRESH, runProcess, start, stop } from '../server/launcher.js'

describe('a build of a server', () => {
  let dir: string
  let server: ChildProcess
  let url: string
  let key: string
  const begin = async () => {
    const started = await start(dir, 'demo')
    server = started.child
    ;({ url, key } = started.first)
    await untilIdle(server.pid!)
  }
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'qm-export-process-'))
    await begin()
  })
  after(async () => {
    await stop(server)
    rmSync(dir, { recursive: true, force: true })
  })
  const ask = async () => {
    const response = await fetch(`${url}/v1/products/catalog`, {
      headers: { ...FRESH, 'x-api-key': key },
    })
    return { status: response.status, data: ((await response.json()) as Answer).data }
  }
  /** Stops the process of a build that has begun to work in its folder. */
  const freeze = async () => {
    const child = await childOf(server.pid!)
    process.kill(child, 'SIGSTOP')
    const [work] = buildsIn(dir)
    assert.ok(work, 'a folder of this build')
    return { child, work }
  }

  test('is gone with the server that is killed, and its folder with the next start', async () => {
    const call = ask()
    call.catch(() => {})
    const { child, work } = await freeze()
    const dead = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGKILL')
    await dead
    await assert.rejects(call)
    // It ends by itself once nobody waits for it any more.
    process.kill(child, 'SIGCONT')
    await until(() => !isAlive(child))
    assert.deepEqual(buildsIn(dir), [work])
    await begin()
    assert.deepEqual(buildsIn(dir), [])
  })

  test('is left alone by another process that opens the folder, and by a command', async () => {
    const call = ask()
    const { child, work } = await freeze()
    const files = readdirSync(join(dir, 'exports', work))
    await (await open({ dir, worker: false })).close()
    assert.equal((await runProcess(dir, 'keys', 'list')).status, 0)
    assert.deepEqual(readdirSync(join(dir, 'exports', work)), files)
    process.kill(child, 'SIGCONT')
    const { status, data } = await call
    assert.equal(status, 200)
    const rows = await rowsIn(new Uint8Array(await (await fetch(data.url as string)).arrayBuffer()))
    const search = (await (
      await fetch(`${url}/v1/products/search`, { headers: { ...FRESH, 'x-api-key': key } })
    ).json()) as Answer
    assert.deepEqual([rows.length, data.rows], [search.data.total, search.data.total])
    assert.deepEqual(buildsIn(dir), [])
  })
})
