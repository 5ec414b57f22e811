/**
 * `serve --database-file --objects`: processes over one PostgreSQL and one bucket, as an operator
 * starts them, with the commands beside them.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { Client } from 'minio'
import { startS3Server, whyNoS3Server } from '../objects/s3-server.js'
import type { S3Server } from '../objects/s3-server.js'
import { missing, startServer } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'
import { until } from '../harness/until.js'
import { documentOf, feedOf } from '../distributors/document/rig.js'
import { pause } from '../../lib/core/async/wait.js'
import { ask, caddy, freePort, makeCertificate, startBeforeNodes } from '../operating/proxy.js'
import type { Ask } from '../operating/proxy.js'
import { FRESH, LAUNCHER, lastLine, startProcess } from '../server/launcher.js'
import type { Run } from '../server/launcher.js'
import { expectProcessErrors, hearStream } from '../server/process-errors.js'

const KEY = 'c7'.repeat(32)

interface TestNode {
  child: ChildProcess
  url: string
  admin: string
  dir: string
}

describe('several nodes', { skip: missing || (whyNoS3Server() ?? false) }, () => {
  const scratch = mkdtempSync(join(tmpdir(), 'qm-serve-'))
  const file = join(scratch, 'database')
  let server: TestServer
  let s3: S3Server
  let env: Record<string, string>
  const nodes = new Set<TestNode>()

  before(async () => {
    server = await startServer()
    s3 = await startS3Server()
    const { hostname, port } = new URL(s3.endpoint)
    const options = { endPoint: hostname, port: Number(port), useSSL: false, region: s3.region }
    await new Client({ ...options, ...s3.owner, pathStyle: true }).makeBucket('nodes')
    writeFileSync(file, `${await server.database()}\n`, { mode: 0o600 })
    env = {
      QUARTERMASTER_SECRET_KEY: KEY,
      QUARTERMASTER_S3_ENDPOINT: s3.endpoint,
      QUARTERMASTER_S3_BUCKET: 'nodes',
      QUARTERMASTER_S3_REGION: s3.region,
      QUARTERMASTER_S3_ACCESS_KEY: s3.owner.accessKey,
      QUARTERMASTER_S3_SECRET_KEY: s3.owner.secretKey,
    }
  })
  after(async () => {
    for (const { child } of nodes) child.kill('SIGKILL')
    await s3?.stop()
    await server?.close()
    rmSync(scratch, { recursive: true, force: true })
  })

  const inFolder = (dir: string, args: readonly string[], more: Record<string, string> = {}) =>
    startProcess([...args, '--dir', join(scratch, dir)], { env: { ...env, ...more } })
  const command = (...args: string[]): Promise<Run> =>
    inFolder('commands', args, { QUARTERMASTER_DATABASE_FILE: file })

  async function json<T>(...args: string[]): Promise<T> {
    const done = await command(...args, '--json')
    assert.equal(done.status, 0, done.err)
    return lastLine(done) as T
  }

  async function newKey(name: string): Promise<string> {
    const args = [
      '--subscriber',
      'Shop',
      '--name',
      name,
      '--ip',
      '127.0.0.1',
      '--tier',
      'enterprise',
    ]
    return (await json<{ key: string }>('keys', 'create', ...args)).key
  }

  async function node(
    name: string,
    { host = '127.0.0.1', port = 0, adminPort = 0, more = [] as string[] } = {},
  ): Promise<TestNode> {
    const dir = join(scratch, name)
    const child = spawn(
      process.execPath,
      [
        LAUNCHER,
        'serve',
        '--dir',
        dir,
        '--database-file',
        file,
        '--objects',
        's3://nodes',
        '--host',
        host,
        '--port',
        String(port),
        '--admin',
        `${host}:${adminPort}`,
        '--json',
        ...more,
      ],
      { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
    )
    hearStream(child.stderr!)
    const first = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout! }).once('line', resolve)
      child.once('exit', (code) => reject(new Error(`${name} ended with ${code}`)))
    })
    const { url, admin } = JSON.parse(first) as { url: string; admin: string }
    const started = { child, url, admin, dir }
    nodes.add(started)
    return started
  }

  async function end({ child }: TestNode, signal: NodeJS.Signals): Promise<void> {
    for (const one of nodes) if (one.child === child) nodes.delete(one)
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }

  const listed = () =>
    json<{
      epoch: number | null
      nodes: {
        dir: string
        leads: boolean
        gone: boolean
        behind: number | null
        lacks_documents: { distid: string; why: string }[]
      }[]
    }>('nodes')
  const leader = async () => (await listed()).nodes.find(({ leads, gone }) => leads && !gone)?.dir

  async function admin({ admin: at }: TestNode, path: string): Promise<string> {
    return (await fetch(`${at}${path}`, { headers: FRESH })).text()
  }
  async function metric(of: TestNode, name: string): Promise<number | undefined> {
    const text = await admin(of, '/metrics')
    const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]
    return value === undefined ? undefined : Number(value)
  }

  const call = async (of: TestNode, key: string, path: string, body?: object) => {
    const response = await fetch(`${of.url}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { ...FRESH, 'x-api-key': key, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as { data: never } }
  }

  test('say what is missing, and make nothing where they were not meant to', async () => {
    const refused = async (args: string[], said: RegExp, more: Record<string, string> = {}) => {
      const { status, err } = await inFolder('refused', args, more)
      assert.equal(status, 2, err)
      assert.match(err, said)
    }
    const serve = ['serve', '--database-file', file]
    const keyless = startProcess([...serve, '--dir', join(scratch, 'refused')])
    assert.match((await keyless).err, /^QUARTERMASTER_SECRET_KEY is missing: /)
    const none = Object.fromEntries(
      Object.keys(env)
        .filter((name) => name.startsWith('QUARTERMASTER_S3'))
        .map((name) => [name, '']),
    )
    await refused(serve, /^the store of files is missing: /, none)
    await refused([...serve, '--objects', 'nodes'], /^--objects: "nodes" is not s3:\/\/BUCKET/)
    await refused(
      ['serve', '--database-file', 'postgres://u:p@h/d'],
      /^an address is not given as an argument/,
    )
    await refused(['demo', '--database-file', file], /^a demo is one folder/)
    await refused(
      ['serve', '--database-file', join(scratch, 'nothing')],
      /nothing cannot be read \(ENOENT\)/,
    )
    const own = await startProcess(['init', '--dir', join(scratch, 'own')], {
      env: { QUARTERMASTER_SECRET_KEY: KEY },
    })
    assert.equal(own.status, 0, own.err)
    const taken = await inFolder('own', serve)
    assert.equal(taken.status, 1)
    assert.match(taken.err, /own has an installation of its own: move it into the database/)
  })

  test('answer alike, and one of them leads until it dies', async () => {
    assert.match((await command('doctor')).out, /there is no installation in the database/)
    const made = await command('init')
    assert.match(made.out, /The database is ready/)

    await json('subscribers', 'create', '--name', 'Shop', '--email', 'a@shop.example')
    const document = join(scratch, 'document.json')
    writeFileSync(document, JSON.stringify(DOCUMENT))
    await json('config', 'put', document)
    const feed = join(scratch, 'feed.csv')
    writeFileSync(feed, 'I,Q,P,UPC\n101,5,10.00,764503037108\n102,7,12.50,798681541126\n')
    await json('feeds', 'set', 'TSW', feed)

    const one = await node('one')
    const two = await node('two')
    await until(async () => (await leader()) !== undefined, 'one leads')
    await until(async () => (await listed()).nodes.length === 2, 'both are listed')
    const key = await newKey('web')
    for (const each of [one, two])
      await until(
        async () => (await call(each, key, '/v1/ping')).status === 200,
        'the key works',
        2,
      )

    // Whoever leads takes the feed in; the others have the same catalog.
    const found = async (of: TestNode) => {
      const { body } = await call(of, key, '/v1/products/search?ignore_restrictions=true')
      return JSON.stringify(body.data)
    }
    await until(async () => /798681541126/.test(await found(one)), 'the first has the feed', 40)
    await until(async () => (await found(two)) === (await found(one)), 'so has the second', 20)

    const ready = JSON.parse(await admin(two, '/readyz')) as {
      ready: boolean
      checks: Record<string, { message: string }>
    }
    assert.equal(ready.ready, true)
    assert.equal(ready.checks['database']?.message, 'the database answers')
    assert.equal(await metric(one, 'quartermaster_nodes'), 2)
    assert.equal(await metric(one, 'quartermaster_database_up'), 1)
    const flags = await Promise.all([one, two].map((of) => metric(of, 'quartermaster_node_leads')))
    assert.deepEqual(flags.toSorted(), [0, 1])
    const { epoch } = await listed()
    assert.equal(await metric(two, 'quartermaster_lead_epoch'), epoch)
    assert.ok((await metric(two, 'quartermaster_lease_age_seconds'))! < 10)
    await until(
      async () => (await metric(two, 'quartermaster_catalog_lag_seconds')) === 0,
      'neither lacks anything',
    )

    const { findings } = await json<{
      findings: { check: string; severity: string; message: string }[]
    }>('doctor', '--offline')
    const of = (check: string) => findings.find((finding) => finding.check === check)
    for (const check of ['database', 'secret_key', 'journal', 'audit', 'node_lead', 'node_lags'])
      assert.equal(of(check)?.severity, 'ok', JSON.stringify(of(check)))
    assert.match(of('node_gone')!.message, /^2 nodes serve$/)

    const copied = await command('backup', join(scratch, 'backup'))
    assert.equal(copied.status, 1)
    assert.match(copied.err, /take the database with pg_dump/)
    assert.match((await command('secrets', 'rotate')).err, /is replaced in a folder/)

    // A file is taken in where the leader's folder is, and reaches the others from there.
    const more = join(scratch, 'more.csv')
    writeFileSync(more, 'I,Q,P,UPC\n101,5,11.00,764503037108\n103,9,8.50,022188868104\n')
    const elsewhere = await command('feeds', 'import', 'TSW', more, '--force')
    assert.equal(elsewhere.status, 1)
    const leads = (await leader())!
    assert.ok(elsewhere.err.includes(`with --dir ${leads}`), elsewhere.err)
    const taken = await startProcess(['feeds', 'import', 'TSW', more, '--force', '--dir', leads], {
      env: { ...env, QUARTERMASTER_DATABASE_FILE: file },
    })
    assert.equal(taken.status, 0, taken.err)
    for (const each of [one, two])
      await until(async () => /022188868104/.test(await found(each)), 'it is found', 20)

    // So are the metrics: the leader's build is that of all.
    const rebuild = (dir: string) =>
      startProcess(['analytics', 'rebuild', '--dir', dir], {
        env: { ...env, QUARTERMASTER_DATABASE_FILE: file },
      })
    const follower = leads === one.dir ? two.dir : one.dir
    assert.match((await rebuild(follower)).err, /only the node that leads does this: run it on/)
    const rebuilt = await rebuild(leads)
    assert.equal(rebuilt.status, 0, rebuilt.err)
    const arrivals = async (of: TestNode) =>
      JSON.stringify((await call(of, key, '/v1/analytics/new-arrivals')).body.data)
    const isThere = async (of: TestNode) => /022188868104/.test(await arrivals(of))
    for (const each of [one, two]) await until(() => isThere(each), 'it has arrived there', 20)
    assert.equal(await arrivals(one), await arrivals(two))

    // The leader dies; what it had is gone with its folder.
    const [first, second] = (await leader()) === one.dir ? [one, two] : [two, one]
    await end(first, 'SIGKILL')
    rmSync(first.dir, { recursive: true })
    await until(async () => (await leader()) === second.dir, 'the other leads', 20)
    assert.equal((await listed()).epoch, epoch! + 1)
    const again = await node('third')
    await until(async () => (await found(again)) === (await found(second)), 'a new one follows')
    await until(async () => (await arrivals(again)) === (await arrivals(second)), 'in all', 20)
    assert.ok(await isThere(again))

    const [{ id }] = (await json<{ keys: { id: string }[] }>('keys', 'list')).keys as [
      { id: string },
    ]
    await json('keys', 'cancel', id)
    for (const each of [second, again])
      await until(async () => (await call(each, key, '/v1/ping')).status === 403, 'no more', 2)
    await end(again, 'SIGTERM')
    await until(async () => !(await listed()).nodes.some(({ dir }) => dir === again.dir), 'left')
    await end(second, 'SIGTERM')
  })

  test(
    'are replaced one after the other behind the proxy, and no request fails',
    { skip: caddy.missing ?? false },
    async () => {
      const front = join(scratch, 'proxy')
      mkdirSync(front)
      const ca = readFileSync(makeCertificate(front).cert, 'utf8')
      const [port, nodePort, adminPort] = [await freePort(), await freePort(), await freePort()]
      const hosts = ['127.0.0.1', '127.0.0.2']
      const open = (host: string) =>
        node(`behind ${host}`, {
          host,
          port: nodePort,
          adminPort,
          more: ['--trust-proxy', '127.0.0.0/16'],
        })
      let behind = await Promise.all(hosts.map(open))
      const proxy = await startBeforeNodes(front, port, {
        nodes: hosts.map((host) => `${host}:${nodePort}`),
        adminPort,
      })
      try {
        const key = await newKey('rolling')
        const asked = new Map<number, number>()
        const said = new Set<string>()
        const stop = new AbortController()
        const quote = JSON.stringify({ items: [{ upc: '022188868104', qty: 1 }] })
        const askOn = async (path: string, more: Partial<Ask> = {}) => {
          while (!stop.signal.aborted) {
            const { status, body } = await ask({
              port,
              ca,
              path,
              headers: { 'x-api-key': key },
              ...more,
            })
            if (status !== 200) said.add(body.toString())
            asked.set(status, (asked.get(status) ?? 0) + 1)
            await pause(80)
          }
        }
        await until(async () => {
          const answer = await ask({ port, ca, path: '/v1/ping', headers: { 'x-api-key': key } })
          return answer.status === 200
        }, 'the proxy has found the nodes')
        const asking = [
          askOn('/v1/products/search?page_size=1'),
          askOn('/v1/orders/quote', { method: 'POST', body: quote }),
        ]
        for (const host of hosts) {
          const [old] = behind.splice(0, 1)
          await pause(500)
          // The proxy looks every two seconds, and by chance at a moment's trouble: this looks always.
          const [other] = behind
          const unready: string[] = []
          const watched = new AbortController()
          const watch = async () => {
            while (!watched.signal.aborted) {
              const said = await admin(other!, '/readyz')
              if (!said.startsWith('{"ready":true')) unready.push(said)
              await pause(10)
            }
          }
          const watching = watch()
          await end(old!, 'SIGTERM')
          const fresh = await open(host)
          watched.abort()
          await watching
          assert.deepEqual(unready, [], 'the other one is always ready')
          await until(async () => /"ready":true/.test(await admin(fresh, '/readyz')), 'it is ready')
          const isAsked = /^quartermaster_http_requests_total\{[^}]*status="200"[^}]*\} [1-9]/m
          await until(
            async () => isAsked.test(await admin(fresh, '/metrics')),
            'the proxy has found it',
            60,
          )
          behind = [...behind, fresh]
        }
        stop.abort()
        await Promise.all(asking)
        assert.deepEqual([...asked.keys()], [200], JSON.stringify([...asked, ...said]))
        assert.ok(asked.get(200)! > 100)
      } finally {
        proxy.kill()
        for (const each of behind) await end(each, 'SIGTERM')
      }
    },
  )

  test('have the documents of distributors that a command on any machine has added', async () => {
    const place = join(scratch, 'acme')
    mkdirSync(place)
    const at = join(scratch, 'acme.json')
    const acme = documentOf({ kind: 'folder', path: place }, { feeds: [feedOf({})] })
    const [one, two] = [await node('first'), await node('second')]
    const serving = async () => (await listed()).nodes.filter(({ gone }) => !gone)
    await until(async () => (await serving()).length === 2, 'both are listed')
    writeFileSync(at, JSON.stringify({ ...acme, distid: 'RSR' }))
    for (const verb of ['check', 'add']) {
      const refused = await command('distributors', verb, at)
      assert.equal(refused.status, 1)
      assert.match(refused.err, /RSR: .* comes with the program and takes orders by itself/)
    }
    writeFileSync(at, JSON.stringify(acme))
    assert.match((await command('distributors', 'check', at)).out, /describes Acme \(ACME\)/)
    const tried = await command('distributors', 'add', at, '--dry-run')
    assert.match(tried.out, /Acme \(ACME\) would be added in the database\./)
    assert.doesNotMatch((await command('distributors', 'list')).out, /ACME/)
    const added = await command('distributors', 'add', at)
    assert.equal(added.status, 0, added.err)
    assert.match(added.out, /Acme \(ACME\) is added in the database\.\n.*Start these again/)
    for (const { dir } of [one, two]) assert.ok(added.out.includes(`:${dir}`), added.out)
    assert.equal((await json<{ new: boolean }>('distributors', 'add', at)).new, false)

    // Whatever folder a command is given, and whoever was started since.
    for (const dir of ['commands', 'elsewhere']) {
      const list = await inFolder(dir, ['distributors', 'list'], {
        QUARTERMASTER_DATABASE_FILE: file,
      })
      assert.match(list.out, /ACME/)
    }
    const sample = join(place, 'items.csv')
    writeFileSync(sample, 'item,name,price,qty,kind\n1,Scope,10,2,optic\n')
    const read = await command('feeds', 'check', 'acme', sample)
    assert.match(read.out, /1 rows? read with acme \(ACME\), 0 rejected/)
    await end(two, 'SIGTERM')
    const again = await node('second')
    await until(async () => (await serving()).length === 2, 'both are listed')
    const lacks = async () =>
      (await serving()).map(({ dir, lacks_documents: lacking }) => [
        dir,
        lacking.map(({ distid, why }) => `${distid} ${why}`).join(),
      ])
    assert.deepEqual((await lacks()).toSorted(), [
      [one.dir, 'ACME added'],
      [again.dir, ''],
    ])
    assert.ok((await command('nodes')).out.includes(`${one.dir} has not read ACME (added)`))
    const looked = await command('doctor', '--offline')
    assert.equal(looked.status, 1)
    assert.match(looked.out, /warn +node_documents: documents of distributors have\s+changed since/)

    // What lies in a node's folder was put there to be used.
    const stray = join(scratch, 'stray', 'distributors', 'BETA.json')
    mkdirSync(join(scratch, 'stray', 'distributors'), { recursive: true })
    writeFileSync(
      stray,
      JSON.stringify({
        ...acme,
        distid: 'BETA',
        name: 'Beta',
        feeds: [feedOf({}, { id: 'beta' })],
      }),
    )
    const more = { QUARTERMASTER_DATABASE_FILE: file }
    const refused = await inFolder('stray', ['serve', '--port', '0'], more)
    assert.equal(refused.status, 1)
    assert.ok(refused.err.includes(`\`quartermaster distributors add ${stray}\` puts it there`))
    const taken = await inFolder('stray', ['distributors', 'add', stray], more)
    assert.equal(taken.status, 0, taken.err)
    await end(await node('stray'), 'SIGTERM')

    const dropped = await command('distributors', 'remove', 'BETA')
    assert.match(dropped.out, /BETA is removed from the database\./)
    const gone = await command('distributors', 'remove', 'BETA')
    assert.match(gone.err, /there is no document of "BETA" in the database/)
    await json('distributors', 'remove', 'ACME')
    assert.deepEqual((await lacks()).toSorted(), [
      [one.dir, ''],
      [again.dir, 'ACME removed'],
    ])
    for (const each of [one, again]) await end(each, 'SIGTERM')
  })

  test('go on answering from memory while the database is away', async () => {
    const one = await node('alone')
    await until(async () => (await leader()) === one.dir, 'it leads', 20)
    const key = await newKey('new')
    const search = () => call(one, key, '/v1/products/search?ignore_restrictions=true')
    await until(async () => (await search()).status === 200, 'it searches')
    expectProcessErrors(/the database|terminating|cannot be reached|schedule/)
    await server.crash()
    const answer = await search()
    assert.equal(answer.status, 200)
    assert.match(JSON.stringify(answer.body), /022188868104/)
    const ready = JSON.parse(await admin(one, '/readyz')) as {
      ready: boolean
      checks: Record<string, { message: string }>
    }
    assert.equal(ready.ready, true)
    assert.match(ready.checks['database']!.message, /^the database is away, orders wait for it: /)
    assert.equal(await metric(one, 'quartermaster_database_up'), 0)
    const order = await call(one, key, '/v1/orders', ORDER)
    assert.equal(order.status, 503)
    await server.start()
    await until(async () => (await metric(one, 'quartermaster_database_up')) === 1, 'it is back')
    await until(async () => (await call(one, key, '/v1/account')).status === 200, 'all answers')
    await end(one, 'SIGTERM')
  })
})

const DOCUMENT = {
  targets: {},
  notification_email: 'a@shop.example',
  pricing: {},
  product_restrictions: {},
  distributors: {
    'Sports South': {
      active: true,
      distid: 'TSW',
      drop_ship_only_items: false,
      shipping: { flat_rate: { cost: 1, shipping_class: 'a' } },
      product_restrictions: { purchase_limit: 100 },
    },
  },
}

const ORDER = {
  order_id: 'W-1',
  items: [{ distid: 'TSW', distsku: '102', upc: '798681541126', qty: 1 }],
  customer: {
    name: 'Pat Doe',
    email: 'pat@customer.example',
    address1: '12 Main St',
    city: 'Phoenix',
    state: 'AZ',
    zip: '85001',
  },
}
