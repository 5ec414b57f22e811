import assert from 'node:assert/strict'
import { describe, test, before, after } from 'node:test'
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** The launcher is bundled beside the suites. */
const LAUNCHER = fileURLToPath(new URL('./quartermaster.mjs', import.meta.url))

function run(dir: string, ...args: string[]): { status: number; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [LAUNCHER, ...args, '--dir', dir], { encoding: 'utf8' })
  return { status: status ?? -1, out: stdout, err: stderr }
}

/** The last line of a --json run. */
function json(dir: string, ...args: string[]) {
  const { status, out, err } = run(dir, ...args, '--json')
  assert.equal(status, 0, err)
  return JSON.parse(out.trim().split('\n').at(-1)!) as Record<string, never>
}

/** Starts a serving command and waits for its first line of JSON. */
async function start(dir: string, ...args: string[]): Promise<{ child: ChildProcess; first: { url: string; key: string; subscriber: string } }> {
  const child = spawn(process.execPath, [LAUNCHER, ...args, '--dir', dir, '--port', '0', '--json'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const first = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`ended with ${code}`)))
  })
  return { child, first: JSON.parse(first) as { url: string; key: string; subscriber: string } }
}

async function stop(child: ChildProcess): Promise<number | null> {
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  return ended
}

const get = async (url: string, key: string) => {
  const response = await fetch(url, { headers: { 'x-api-key': key } })
  return { status: response.status, body: await response.json() as { success: boolean; data: never; error: { code: string } } }
}

let scratch: string
before(() => { scratch = mkdtempSync(join(tmpdir(), 'qm-cli-')) })
after(() => rmSync(scratch, { recursive: true, force: true }))

describe('the command line', () => {
  test('help names every command, and each command has an example', () => {
    const { status, out } = run(scratch, '--help')
    assert.equal(status, 0)
    const names = [...out.matchAll(/^ {2}(\S+(?: \S+)?) {2,}/gm)].map((match) => match[1]!)
    assert.ok(names.includes('keys create') && names.includes('feeds import') && names.includes('demo'))
    for (const name of names) {
      const help = run(scratch, ...name.split(' '), '--help')
      assert.equal(help.status, 0)
      assert.match(help.out, /Example:\n {2}quartermaster /)
    }
  })

  const misused: [args: string[], says: RegExp][] = [
    [['serv'], /did you mean "serve"/], [['keys'], /which of these: keys create, /], [['keys', 'create'], /--subscriber is missing/],
    [['feeds', 'import', 'DAV'], /<FILE> is missing/], [['serve', '--port', 'x'], /--port must be/], [['serve', '--prt', '1'], /--prt/],
    [['serve', '--trust-proxy', '0.0.0.0/0'], /wider than/], [['feeds', 'check', 'nope', 'x'], /no preset "nope"/], [['keys', 'disable', 'a', 'b'], /one argument too many/],
  ]
  for (const [args, says] of misused) {
    test(`\`${args.join(' ')}\` says what is wrong`, () => {
      const { status, err } = run(join(scratch, 'misused'), ...args)
      assert.ok(status === 2 || status === 1)
      assert.match(err, says)
      assert.equal(err.trim().split('\n').length, 1, 'in one line')
    })
  }

  test('from an empty folder to a key that a running server takes at once', async () => {
    const dir = join(scratch, 'shop')
    json(dir, 'init')
    assert.equal(statSync(join(dir, 'keys', 'secret-key')).mode & 0o777, 0o600)
    json(dir, 'subscribers', 'create', '--name', 'Main Street', '--email', 'owner@shop.example')
    const { child, first } = await start(dir, 'serve')
    try {
      const { key, id } = json(dir, 'keys', 'create', '--subscriber', 'main street', '--name', 'web', '--tier', 'standard') as unknown as { key: string; id: string }
      assert.match(key, /^[A-Z0-9]{40}$/)
      assert.equal((await get(`${first.url}/v1/ping`, key)).body.error.code, 'ip_whitelist_required')
      json(dir, 'keys', 'allow', id, '--ip', '127.0.0.1', '--ip', '2001:db8::/48')
      assert.deepEqual((await get(`${first.url}/v1/ping`, key)).body.data, { pong: true, key_name: 'web', tier: 'standard' })
      json(dir, 'keys', 'disable', id)
      assert.equal((await get(`${first.url}/v1/ping`, key)).body.error.code, 'key_disabled')
      json(dir, 'keys', 'enable', id)
      const rotated = json(dir, 'keys', 'rotate', id) as unknown as { key: string }
      assert.equal((await get(`${first.url}/v1/ping`, key)).body.error.code, 'invalid_api_key')
      assert.equal((await get(`${first.url}/v1/ping`, rotated.key)).status, 200)
      const { out } = run(dir, 'keys', 'list')
      assert.match(out, /127\.0\.0\.1 2001:db8::\/48/)
      assert.ok(!out.includes(rotated.key))
      const second = run(dir, 'serve', '--port', '0')
      assert.equal(second.status, 2)
      assert.match(second.err, /another process serves/)
    } finally {
      assert.equal(await stop(child), 0)
    }
  })

  test('--dry-run changes nothing', () => {
    const dir = join(scratch, 'dry')
    json(dir, 'init')
    assert.equal(run(dir, 'subscribers', 'create', '--name', 'A', '--email', 'a@b.example', '--dry-run').status, 0)
    assert.deepEqual(json(dir, 'subscribers', 'list'), { subscribers: [] })
  })

  test('a feed that is imported beside a running server is served within a second', async () => {
    const dir = join(scratch, 'feed')
    const file = join(scratch, 'IM.csv')
    writeFileSync(file, 'I,Q,P,UPC\n100,5,12.50,012345678905\n101,0,99.00,012345678912\nbad line\n'.repeat(1) + Array.from({ length: 200 }, (_, i) => `${200 + i},1,10.00,\n`).join(''))
    const { child, first } = await start(dir, 'demo')
    try {
      const before = await get(`${first.url}/v1/products/012345678905?ignore_restrictions=true`, first.key)
      assert.equal(before.status, 404)
      const dry = json(dir, 'feeds', 'import', 'RSR', file, '--preset', 'sports-south', '--dry-run') as unknown as { added: number; dry_run: boolean }
      assert.deepEqual([dry.added, dry.dry_run], [202, true])
      const taken = json(dir, 'feeds', 'import', 'RSR', file, '--preset', 'sports-south') as unknown as { outcome: string; added: number; rejected: number }
      assert.deepEqual([taken.outcome, taken.added, taken.rejected], ['taken', 202, 1])
      let status = 0
      for (let tries = 0; tries < 20 && status !== 200; tries++) {
        await new Promise((resolve) => setTimeout(resolve, 100))
        status = (await get(`${first.url}/v1/products/012345678905`, first.key)).status
      }
      assert.equal(status, 200)
      assert.match(run(dir, 'feeds', 'status').out, /RSR\/sports-south/)
    } finally {
      await stop(child)
    }
  })
})

describe('the demo', () => {
  test('prints url, key and subscriber, serves a quote, and keeps data and key over a restart', async () => {
    const dir = join(scratch, 'demo')
    const one = await start(dir, 'demo')
    assert.deepEqual(Object.keys(one.first), ['url', 'key', 'subscriber'])
    assert.equal(statSync(join(dir, 'keys', 'demo-key')).mode & 0o777, 0o600)
    const { body } = await get(`${one.first.url}/v1/products/search?q=9mm&in_stock=true&sort=price&page_size=3`, one.first.key)
    const page = body.data as { products: { unit_price: number }[]; total: number }
    assert.equal(page.products.length, 3)
    assert.ok(page.total > 50)
    const account = (await get(`${one.first.url}/v1/account`, one.first.key)).body.data as { tier: string; active_distributors: string[] }
    assert.equal(account.tier, 'enterprise')
    assert.deepEqual(account.active_distributors, ['RSR Group', 'Lipseys', 'Chattanooga Shooting Supplies'])
    assert.ok(JSON.stringify((await get(`${one.first.url}/v1/config`, one.first.key)).body.data).includes('"API_PASSWORD":"********"'))
    assert.equal(await stop(one.child), 0)
    const two = await start(dir, 'demo')
    assert.equal(two.first.key, one.first.key)
    assert.equal(((await get(`${two.first.url}/v1/products/search?q=9mm&in_stock=true&page_size=3`, two.first.key)).body.data as { total: number }).total, page.total)
    await stop(two.child)
  })

  test('for people it prints three curl lines that work', async () => {
    const dir = join(scratch, 'demo')
    const child = spawn(process.execPath, [LAUNCHER, 'demo', '--dir', dir, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] })
    let out = ''
    await new Promise<void>((resolve) => child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
      if (out.includes('Ctrl-C')) resolve()
    }))
    const lines = out.split('\n').filter((line) => line.startsWith('curl '))
    assert.equal(lines.length, 3)
    for (const line of lines) {
      const { stdout } = spawnSync('bash', ['-c', line], { encoding: 'utf8' })
      assert.equal((JSON.parse(stdout) as { success: boolean }).success, true, line)
    }
    await stop(child)
  })

  test('never touches a real installation', () => {
    const dir = join(scratch, 'shop')
    const { status, err } = run(dir, 'demo', '--port', '0')
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
    writeFileSync(file, code.replace("'quartermaster'", "'./index.mjs'").replace("'./var'", JSON.stringify(join(scratch, 'demo'))))
    const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    assert.match(stdout, /fulfillable: true/)
  })
})
