/** The listener for an operator's own programs: alive, ready, and for nobody else. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttpServer, request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { createAdmin } from '../../../server/admin/admin.js'
import type { AdminOptions } from '../../../server/admin/admin.js'
import { listen } from '../../../server/http/listen.js'
import { createTestApp } from '../../../server/testing/index.js'
import type { TestApp } from '../../../server/testing/index.js'
import { LAUNCHER, run, start, stop } from '../launcher.js'
import { hearStream } from '../process-errors.js'
import { isOnPostgres, oneFolder } from '../../harness/record.js'

const scratch = mkdtempSync(join(tmpdir(), 'qm-admin-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

/** One request over a socket of its own, with any Host. */
function ask(
  url: string,
  { method = 'GET', host }: { method?: string; host?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asking = request(
      url,
      { method, agent: false, ...(host !== undefined && { headers: { host } }) },
      (answer) => {
        let body = ''
        answer.setEncoding('utf8').on('data', (text: string) => {
          body += text
        })
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }),
        )
      },
    )
    asking.on('error', reject).end()
  })
}

const json = async (url: string) => {
  const { status, body } = await ask(url)
  return { status, body: JSON.parse(body) as Ready }
}

interface Ready {
  ready: boolean
  checks: Record<string, { ok: boolean; message: string }>
}

/** A test app with its admin listener on a port. */
async function withAdmin(
  options: AdminOptions,
  use: (url: string, t: TestApp) => Promise<void>,
): Promise<void> {
  await using t = await createTestApp()
  const listening = await listen(
    { nodeHandler: createAdmin(t.app, options) },
    { port: 0, host: '127.0.0.1' },
  )
  try {
    await use(listening.url, t)
  } finally {
    await listening.close(0)
  }
}

/** Asks again and again until the answer is one that is waited for. */
async function until<T>(look: () => Promise<T>, isIt: (seen: T) => boolean): Promise<T> {
  for (;;) {
    const seen = await look()
    if (isIt(seen)) return seen
    await new Promise((resolve) => {
      setTimeout(resolve, 20)
    })
  }
}

describe('readyz', () => {
  test('says which of its checks fails, and is ready once none does', () =>
    withAdmin({}, async (url, { app, stock }) => {
      const before = await json(`${url}/readyz`)
      // One of several nodes is ready also while it is about to send.
      assert.equal(before.status, isOnPostgres ? 200 : 503)
      assert.deepEqual(
        Object.entries(before.body.checks).map(([name, { ok }]) => [name, ok]),
        [
          ['server', true],
          ...(isOnPostgres ? [['database', true]] : []),
          ['files', true],
          ['schema', true],
          ['catalog', true],
          ['sender', isOnPostgres],
        ],
      )
      assert.match(
        before.body.checks['sender']!.message,
        /does not send orders|leads, and is about to send/,
      )
      app.orders.start()
      const { status, body } = await until(
        () => json(`${url}/readyz`),
        (seen) => seen.status === 200,
      )
      assert.deepEqual([status, body.ready], [200, true])
      assert.match(body.checks['catalog']!.message, /no feed is set up/)
      await stock([{ distid: 'RSR', stockid: 'A1' }])
      assert.match((await json(`${url}/readyz`)).body.checks['catalog']!.message, /is there/)
    }))

  test('waits for the first feed of an installation that has a source', () =>
    withAdmin({}, async (url, { app, stock }) => {
      await app.operator.feeds.set({ distid: 'DAV', location: join(scratch, 'feed.csv') })
      const { status, body } = await json(`${url}/readyz`)
      assert.deepEqual([status, body.checks['catalog']!.ok], [503, false])
      assert.match(body.checks['catalog']!.message, /no feed has been taken in yet.*DAV/)
      await stock([{ distid: 'DAV', stockid: 'A1' }])
      assert.equal((await json(`${url}/readyz`)).body.checks['catalog']!.ok, true)
    }))

  test('tells of a server that stops, while healthz goes on', async () => {
    const stopping = new AbortController()
    await withAdmin({ stopping: stopping.signal }, async (url, { app }) => {
      app.orders.start()
      await until(
        () => json(`${url}/readyz`),
        (seen) => seen.status === 200,
      )
      stopping.abort()
      const { status, body } = await json(`${url}/readyz`)
      assert.deepEqual([status, body.checks['server']!.message], [503, 'the server is stopping'])
      assert.equal((await ask(`${url}/healthz`)).status, 200)
    })
  })

  test('is not ready without its files', { skip: oneFolder }, () =>
    withAdmin({}, async (url, { app }) => {
      rmSync(join(app.dir, 'decisions.db'))
      const { status, body } = await json(`${url}/readyz`)
      assert.deepEqual([status, body.checks['files']!.ok], [503, false])
      assert.match(body.checks['files']!.message, /decisions\.db is not there any more/)
    }),
  )
})

describe('the admin listener', () => {
  test('answers to names of this machine and to declared ones, and to no other', () =>
    withAdmin({ hosts: ['Ops.example'] }, async (url) => {
      const { port } = new URL(url)
      for (const host of [
        'localhost',
        `LOCALHOST:${port}`,
        '127.0.0.1',
        `127.0.0.1:${port}`,
        '127.8.8.8:1',
        '[::1]:9464',
        'ops.example',
        `OPS.example:${port}`,
      ])
        assert.equal((await ask(`${url}/healthz`, { host })).status, 200, host)
      for (const host of [
        'evil.example',
        'localhost.evil.example',
        `evil.example:${port}`,
        '127.0.0.1.evil.example',
        '192.0.2.7',
        'localhost@evil.example',
      ])
        for (const path of ['/healthz', '/readyz', '/nothing']) {
          const { status, body } = await ask(`${url}${path}`, { host })
          assert.equal(status, 403, host)
          assert.deepEqual(Object.keys(JSON.parse(body) as object), ['error'])
        }
    }))

  test('is read with GET and HEAD alone', () =>
    withAdmin({}, async (url) => {
      const whole = await ask(`${url}/healthz`)
      const head = await ask(`${url}/healthz`, { method: 'HEAD' })
      assert.deepEqual([head.status, head.body], [200, ''])
      assert.equal(head.headers['content-length'], String(whole.body.length))
      assert.equal(whole.headers['access-control-allow-origin'], undefined)
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
        const { status, headers } = await ask(`${url}/healthz`, { method })
        assert.deepEqual([status, headers['allow']], [405, 'GET, HEAD'], method)
      }
      const nothing = await ask(`${url}/elsewhere?key=1`)
      assert.equal(nothing.status, 404)
      assert.match(nothing.body, /\/healthz, \/readyz/)
    }))

  test('is no part of a server that a program embeds', async () => {
    await using t = await createTestApp()
    for (const path of ['/healthz', '/readyz', '/metrics'])
      assert.equal((await t.request(path, { key: null })).status, 401, path)
  })
})

describe('serve', () => {
  test('has it beside the API, and tells where', async () => {
    const { child, first } = await start(join(scratch, 'served'), 'serve')
    assert.notEqual(new URL(first.admin).port, new URL(first.url).port)
    assert.equal(new URL(first.admin).hostname, '127.0.0.1')
    const { body } = await until(
      () => json(`${first.admin}/readyz`),
      ({ status }) => status === 200,
    )
    assert.ok(body.ready)
    assert.equal((await ask(`${first.url}/healthz`)).status, 401)
    assert.equal((await ask(`${first.admin}/v1/ping`)).status, 404)
    assert.equal(await stop(child), 0)
  })

  test('has none with --admin none', async () => {
    const { child, first } = await start(join(scratch, 'none'), 'serve', '--admin', 'none')
    assert.equal(first.admin, null)
    assert.equal(await stop(child), 0)
  })

  test('serves without it where its port is taken, and says so', async () => {
    const other = createHttpServer()
    await new Promise<void>((resolve) => {
      other.listen(0, '127.0.0.1', resolve)
    })
    const { port } = other.address() as AddressInfo
    const child = spawn(
      process.execPath,
      [LAUNCHER, 'serve', '--dir', join(scratch, 'taken'), '--port', '0', '--admin', `${port}`],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    )
    let err = ''
    child.stderr.on('data', (text: Buffer) => {
      err += String(text)
    })
    hearStream(child.stderr)
    const out = await new Promise<string>((resolve, reject) => {
      let text = ''
      child.stdout.on('data', (more: Buffer) => {
        text += String(more)
        if (text.includes('serves')) resolve(text)
      })
      child.once('exit', (code) => reject(new Error(`ended with ${code}: ${err}`)))
    })
    assert.match(
      out,
      new RegExp(`^Note: no health checks and no metrics: port ${port} of 127.0.0.1 is taken;`),
    )
    assert.match(out, /^Quartermaster serves http/m)
    assert.equal(await stop(child), 0)
    assert.match(err, /"level":40,.*no health checks and no metrics: port/)
    other.close()
  })

  test('refuses an address that is none, and the port of the API', async () => {
    for (const [args, message] of [
      [['--admin', 'here'], /^--admin must be an address and a port/],
      [['--admin', '127.0.0.1:70000'], /^--admin must be an address and a port/],
      [['--admin', 'http://127.0.0.1:1'], /^--admin must be an address and a port/],
      [['--admin', ''], /^--admin must not be empty/],
      [['--port', '9999', '--admin', '9999'], /^--admin must have another port than the API/],
    ] as const) {
      const { status, err } = await run(join(scratch, 'refused'), 'serve', ...args)
      assert.equal(status, 2, args.join(' '))
      assert.match(err, message)
    }
  })
})
