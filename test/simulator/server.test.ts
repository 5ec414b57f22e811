import assert from 'node:assert/strict'
import { describe, test, before, after } from 'node:test'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { LAUNCHER, get, json, runProcess, start, stop } from '../server/launcher.js'
import { hearStream } from '../server/process-errors.js'

let scratch: string
before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-demo-'))
})
after(() => rmSync(scratch, { recursive: true, force: true }))

describe('the demo', () => {
  test('prints url, key and subscriber, serves a quote, and keeps data and key over a restart', async () => {
    const dir = join(scratch, 'demo')
    const one = await start(dir, 'demo')
    assert.deepEqual(Object.keys(one.first), ['url', 'admin', 'console', 'key', 'subscriber'])
    assert.equal(statSync(join(dir, 'keys', 'demo-key')).mode & 0o777, 0o600)
    const { body } = await get(
      `${one.first.url}/v1/products/search?q=9mm&in_stock=true&sort=price&page_size=3`,
      one.first.key,
    )
    const page = body.data as { products: { unit_price: number }[]; total: number }
    assert.equal(page.products.length, 3)
    assert.ok(page.total > 50)
    const account = (await get(`${one.first.url}/v1/account`, one.first.key)).body.data as {
      tier: string
      active_distributors: string[]
    }
    assert.equal(account.tier, 'enterprise')
    assert.deepEqual(account.active_distributors, [
      'RSR Group',
      'Lipseys',
      'Chattanooga Shooting Supplies',
    ])
    assert.ok(
      JSON.stringify((await get(`${one.first.url}/v1/config`, one.first.key)).body.data).includes(
        '"API_PASSWORD":"********"',
      ),
    )
    assert.equal(await stop(one.child), 0)
    const two = await start(dir, 'demo')
    assert.equal(two.first.key, one.first.key)
    assert.equal(
      (
        (
          await get(
            `${two.first.url}/v1/products/search?q=9mm&in_stock=true&page_size=3`,
            two.first.key,
          )
        ).body.data as { total: number }
      ).total,
      page.total,
    )
    await stop(two.child)
  })

  test('for people it prints three curl lines that work', async () => {
    const dir = join(scratch, 'demo')
    const child = spawn(process.execPath, [LAUNCHER, 'demo', '--dir', dir, '--port', '0'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    hearStream(child.stderr)
    let out = ''
    await new Promise<void>((resolve) =>
      child.stdout.on('data', (chunk: Buffer) => {
        out += chunk.toString()
        if (out.includes('Ctrl-C')) resolve()
      }),
    )
    const lines = out.split('\n').filter((line) => line.startsWith('curl '))
    assert.equal(lines.length, 3)
    for (const line of lines) {
      const { stdout } = spawnSync('bash', ['-c', line], { encoding: 'utf8' })
      assert.equal((JSON.parse(stdout) as { success: boolean }).success, true, line)
    }
    await stop(child)
  })

  test('never touches a real installation', async () => {
    const dir = join(scratch, 'shop')
    await json(dir, 'init')
    await json(
      dir,
      'subscribers',
      'create',
      '--name',
      'Main Street',
      '--email',
      'owner@shop.example',
    )
    const { status, err } = await runProcess(dir, 'demo', '--port', '0')
    assert.equal(status, 1)
    assert.match(err, /holds a real installation/)
    assert.ok(!existsSync(join(dir, 'keys', 'demo-key')))
  })
})

describe('the README', () => {
  test('its ten lines of embedding run as they stand', () => {
    const readme = readFileSync('README.md', 'utf8')
    const code = /```js\n(\/\/ embed\.mjs[\s\S]*?)```/.exec(readme)?.[1]
    assert.ok(code, 'README has the embedding example')
    const file = fileURLToPath(new URL('./embed.mjs', import.meta.url))
    writeFileSync(
      file,
      code
        .replace("'quartermaster'", "'./index.mjs'")
        .replace("'./var'", JSON.stringify(join(scratch, 'demo'))),
    )
    const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    assert.match(stdout, /fulfillable: true/)
  })
})

describe('the simulators without a shop', () => {
  test('answer at the addresses that they print, until they are stopped; orders stay', async () => {
    const dir = join(scratch, 'stand-alone')
    for (const login of ['demo-lipseys', 'another']) {
      const child = spawn(process.execPath, [LAUNCHER, 'simulators', '--dir', dir, '--json'], {
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      hearStream(child.stderr)
      const line = await new Promise<string>((resolve) => {
        createInterface({ input: child.stdout }).once('line', resolve)
      })
      const { distributors } = JSON.parse(line) as {
        distributors: {
          distid: string
          address: string
          files: string | null
          credentials: Record<string, string>
        }[]
      }
      const lipseys = distributors.find(({ distid }) => distid === 'LIP')
      const rsr = distributors.find(({ distid }) => distid === 'RSR')
      assert.match(rsr!.address, /^http:\/\/127\.0\.0\.1:\d+\/api\/rsrbridge\/1\.0\/pos\/$/)
      assert.match(rsr!.files ?? '', /^ftp:\/\/127\.0\.0\.1:\d+$/)
      assert.match(lipseys!.address, /^http:\/\/127\.0\.0\.1:\d+\/api\/integration\/$/)
      const answer = await fetch(`${lipseys!.address}authentication/login`, {
        method: 'POST',
        body: JSON.stringify({ Email: lipseys!.credentials['api_user'], Password: login }),
      })
      const { econtact } = (await answer.json()) as { econtact: { success: boolean } }
      assert.equal(econtact.success, login === lipseys!.credentials['api_password'])
      assert.equal(await stop(child), 0)
    }
    assert.ok(existsSync(join(dir, 'simulator', 'feeds', 'lipseys-catalog.csv')))
  })

  test('take no port that cannot be', async () => {
    const { status, err } = await runProcess(scratch, 'simulators', '--port', '8443')
    assert.equal(status, 2)
    assert.match(err, /--port takes a distid and a port, such as LIP=8443/)
  })
})
