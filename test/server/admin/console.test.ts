/** The console of a serving process, from another machine's point of view, and its commands. */
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { codeAt, stepAt } from '../../../lib/console/totp.js'
import { present } from '../../../lib/core/present.js'
import type { Answer } from '../../../server/testing/index.js'
import { SITE, makeCertificate } from '../../operating/proxy.js'
import { json, run, start, stop } from '../launcher.js'

const PASSWORD = 'correct horse battery staple'
const scratch = mkdtempSync(join(tmpdir(), 'qm-admin-console-'))
after(() => rmSync(scratch, { recursive: true, force: true }))
const { cert, key } = makeCertificate(folderOf('pems'))
const TLS = ['--admin-cert', cert, '--admin-key', key]

function folderOf(name: string): string {
  const folder = join(scratch, name)
  mkdirSync(folder)
  return folder
}

interface Told {
  status: number
  headers: IncomingHttpHeaders
  body: Answer
}

interface Asked {
  body?: object
  headers?: OutgoingHttpHeaders
  /** The address that it comes from. */
  from?: string
}

/** One request over a socket of its own: a GET, or a POST of what is given. */
function ask(url: string, { body, headers = {}, from }: Asked = {}): Promise<Told> {
  const isTls = url.startsWith('https:')
  const options = {
    method: body === undefined ? 'GET' : 'POST',
    agent: false as const,
    headers: { 'content-type': 'application/json', ...headers },
    ...(from !== undefined && { localAddress: from }),
    ...(isTls && { ca: readFileSync(cert), servername: SITE }),
  }
  return new Promise((resolve, reject) => {
    const asking = (isTls ? httpsRequest : httpRequest)(url, options, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (more: string) => (text += more))
      answer.on('error', reject)
      answer.on('end', () => {
        const isJson = answer.headers['content-type']?.startsWith('application/json')
        const told = isJson ? (JSON.parse(text) as Answer) : text
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: told })
      })
    })
    asking.on('error', reject)
    asking.end(body === undefined ? '' : JSON.stringify(body))
  })
}

/** The code of a refusal; `ok` where there is none. */
const codeOf = ({ status, body }: Told): string =>
  status === 200 ? 'ok' : (body.error?.code ?? body.error)

interface Served {
  dir: string
  child: ChildProcess
  /** Where the admin listener is. */
  admin: string
  /** The address of the first link; null where there is no console. */
  link: string | null
}

async function serve(name: string, ...args: string[]): Promise<Served> {
  const dir = join(scratch, name)
  const { child, first } = await start(dir, 'serve', ...args)
  const { admin, console: link } = first as typeof first & { console: string | null }
  return { dir, child, admin, link }
}

const tokenIn = (link: string | null) => present(link, 'a link').split('#link=')[1]!

/** Signs in, and tells the headers of a page that has; fails where it is refused. */
async function signIn(url: string, input: object, asked: Asked = {}): Promise<OutgoingHttpHeaders> {
  const headers = { origin: url, ...asked.headers }
  const told = await ask(`${url}/operator/session/start`, { ...asked, headers, body: input })
  assert.equal(told.status, 200, JSON.stringify(told.body))
  const [cookie] = present(told.headers['set-cookie'], 'a cookie')
  return { ...headers, cookie: cookie!.split(';')[0]!, 'x-csrf': told.body.data.csrf }
}

const call = (url: string, id: string, asked: Asked = {}) =>
  ask(`${url}/operator/${id.replace('.', '/')}`, { body: {}, ...asked })

describe('the console with a certificate', () => {
  let served: Served
  before(async () => {
    served = await serve('tls', ...TLS)
  })
  after(() => stop(served.child))

  test('signs in over TLS, with a cookie that never leaves it', async () => {
    const { admin, link } = served
    assert.match(admin, /^https:\/\/127\.0\.0\.1:\d+$/)
    assert.ok(link?.startsWith(`${admin}/#link=`))
    const told = await ask(`${admin}/operator/session/start`, {
      headers: { origin: admin },
      body: { token: tokenIn(link), password: PASSWORD },
    })
    assert.equal(told.body.data.signed_in, true)
    const [cookie] = present(told.headers['set-cookie'], 'a cookie')
    assert.match(cookie!, /^__Host-quartermaster=[\w-]{43}; Path=\/; .*HttpOnly.*; Secure$/)
    const page = await signIn(admin, { password: PASSWORD })
    assert.equal(codeOf(await call(admin, 'subscribers.list', { headers: page })), 'ok')
    const plain = { ...page, origin: admin.replace('https', 'http') }
    assert.equal(codeOf(await call(admin, 'subscribers.list', { headers: plain })), 'wrong_origin')
  })

  test('answers nothing to who speaks plain HTTP', async () => {
    const plain = served.admin.replace('https', 'http')
    for (const path of ['/', '/healthz', '/operator/session'])
      await assert.rejects(ask(plain + path), { code: 'ECONNRESET' }, path)
  })
})

describe('the console at an address of a network', () => {
  for (const [name, args] of Object.entries({
    'without TLS': ['--admin-from', '10.0.0.0/24'],
    'where nobody is named who may come': TLS,
    'with neither': [],
  }))
    test(`is off ${name}, and health is told all the same`, async () => {
      const { child, admin, link } = await serve(name, '--admin', '0.0.0.0:0', ...args)
      const url = `${new URL(admin).protocol}//127.0.0.1:${new URL(admin).port}`
      assert.equal(link, null)
      assert.equal((await ask(`${url}/healthz`)).status, 200)
      assert.equal((await ask(`${url}/operator/session`)).status, 404)
      assert.equal(await stop(child), 0)
    })

  test('is on with both', async () => {
    const from = ['--admin-from', '10.0.0.0/24']
    const { child, link } = await serve('both', '--admin', '0.0.0.0:0', ...TLS, ...from)
    assert.match(link ?? '', /^https:\/\/.*\/#link=/)
    assert.equal(await stop(child), 0)
  })

  test('is refused with options that do not go together', async () => {
    for (const [args, message] of [
      [['--admin-cert', cert], /^--admin-cert and --admin-key belong together/],
      [['--admin-cert', 'none.pem', '--admin-key', key], /^none\.pem cannot be read/],
      [['--admin-proxy', '127.0.0.9'], /^--admin-proxy and --admin-url belong together/],
      [['--admin-url', 'https://ops.shop.example'], /^--admin-proxy and --admin-url belong/],
      [['--admin-url', 'http://ops.shop.example'], /^--admin-url must be an https address/],
      [['--admin-url', 'https://ops.shop.example/x'], /^--admin-url must be an https address/],
      [
        ['--admin-proxy', '127.0.0.9', '--admin-url', 'https://ops.shop.example'],
        /^--admin-proxy needs --admin-from/,
      ],
    ] as const) {
      const { status, err } = await run(join(scratch, 'refused'), 'serve', ...args)
      assert.equal(status, 2, args.join(' '))
      assert.match(err, message)
    }
    const range = await run(join(scratch, 'refused'), 'serve', '--admin-from', '10.0.0.0/33')
    assert.equal(range.status, 1)
    assert.match(range.err, /--admin-from.*is not a prefix length/)
  })
})

describe('the console behind a declared proxy', () => {
  const OPS = 'https://ops.shop.example'
  const PROXY = '127.0.0.9'
  let served: Served
  before(async () => {
    const from = ['--admin-from', '10.0.0.0/24', '--admin-from', '2001:db8::/64']
    served = await serve('proxied', '--admin-proxy', PROXY, '--admin-url', OPS, ...from)
  })
  after(() => stop(served.child))

  /** As the proxy sends it on. */
  const passed = (caller: string | null, more: OutgoingHttpHeaders = {}): Asked => ({
    from: PROXY,
    headers: {
      host: 'ops.shop.example',
      origin: OPS,
      ...(caller !== null && { 'x-forwarded-for': caller }),
      ...more,
    },
  })
  const state = async (asked: Asked) => codeOf(await ask(`${served.admin}/operator/session`, asked))

  test('has links to its declared address, and its cookie is Secure', async () => {
    assert.ok(served.link?.startsWith(`${OPS}/#link=`))
    const told = await ask(`${served.admin}/operator/session/start`, {
      ...passed('10.0.0.255'),
      body: { token: tokenIn(served.link), password: PASSWORD },
    })
    assert.equal(told.status, 200, JSON.stringify(told.body))
    assert.match(told.headers['set-cookie']![0]!, /^__Host-quartermaster=.*; Secure$/)
    const { sessions }: Answer = await json(served.dir, 'console', 'sessions')
    assert.deepEqual(
      (sessions as { address: string }[]).map(({ address }) => address),
      ['10.0.0.255'],
    )
  })

  test('lets in whom --admin-from names, to the last address of it, and nobody beside', async () => {
    for (const caller of ['10.0.0.0', '10.0.0.255', '2001:db8::', '2001:db8::ffff:ffff:ffff:ffff'])
      assert.equal(await state(passed(caller)), 'ok', caller)
    for (const caller of ['9.255.255.255', '10.0.1.0', '2001:db7:ffff::1', '2001:db8:0:1::'])
      assert.equal(await state(passed(caller)), 'address_refused', caller)
    // Behind a proxy, an address of this machine proves nothing.
    for (const caller of ['127.0.0.1', '::1'])
      assert.equal(await state(passed(caller)), 'address_refused', caller)
  })

  test('believes a forwarded address from the proxy alone, and of it the one that the proxy saw', async () => {
    assert.equal(await state(passed('203.0.113.9, 10.0.0.5')), 'ok')
    assert.equal(await state(passed('10.0.0.5, 203.0.113.9')), 'address_refused')
    for (const unreadable of [null, '', 'unknown', '10.0.0.5, x'])
      assert.equal(await state(passed(unreadable)), 'proxy_unknown', String(unreadable))
    for (const name of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'])
      assert.equal(await state({ headers: { [name]: '10.0.0.5' } }), 'proxy_unknown', name)
    assert.equal(await state({ ...passed('10.0.0.5'), from: '127.0.0.8' }), 'proxy_unknown')
    assert.equal(await state({}), 'ok', 'this machine itself')
  })

  test('holds Host and Origin to its declared address', async () => {
    const own = new URL(served.admin).host
    assert.equal(await state(passed('10.0.0.5', { host: own })), 'wrong_origin')
    const page = await signIn(served.admin, { password: PASSWORD }, passed('10.0.0.5'))
    const list = (more: OutgoingHttpHeaders) =>
      call(served.admin, 'subscribers.list', { from: PROXY, headers: { ...page, ...more } })
    assert.equal(codeOf(await list({})), 'ok')
    for (const origin of ['http://ops.shop.example', 'https://evil.example', served.admin, 'null'])
      assert.equal(codeOf(await list({ origin })), 'wrong_origin', origin)
    const rebound = await list({ host: 'evil.example' })
    assert.equal(rebound.status, 403)
    assert.match(rebound.body.error, /^this name in Host/)
  })
})

describe('the commands of the console', () => {
  let served: Served
  before(async () => {
    served = await serve('commands')
  })
  after(() => stop(served.child))
  const people = (...args: string[]): Promise<Answer> => json(served.dir, 'console', ...args)
  const sessionsOf = async (name: string) =>
    ((await people('sessions'))['sessions'] as { id: string; name: string }[]).filter(
      (one) => one.name === name,
    )

  test('let somebody in again who has lost password and second factor, and end what was open', async () => {
    const { admin, dir } = served
    const { url } = await people('link', '--name', 'pat')
    const page = await signIn(admin, { token: tokenIn(url), password: PASSWORD })
    const session = (name: string, body: object) =>
      ask(`${admin}/operator/session/${name}`, { headers: page, body })
    const { secret } = (await session('totp/propose', {})).body.data
    const code = codeAt(secret, stepAt(Date.now()))
    assert.equal(codeOf(await session('totp/enable', { secret, code })), 'ok')
    const knock = async (input: object) =>
      codeOf(
        await ask(`${admin}/operator/session/start`, { headers: { origin: admin }, body: input }),
      )
    assert.equal(await knock({ name: 'pat', password: PASSWORD }), 'code_needed')

    assert.deepEqual(await people('reset', '--name', 'pat', '--dry-run'), {
      name: 'pat',
      role: 'operator',
      dry_run: true,
    })
    assert.equal(codeOf(await call(admin, 'subscribers.list', { headers: page })), 'ok')

    const reset = await people('reset', '--name', 'pat')
    assert.equal(codeOf(await call(admin, 'subscribers.list', { headers: page })), 'signed_out')
    assert.equal(await knock({ name: 'pat', password: PASSWORD }), 'wrong_password')
    const token = tokenIn(reset.url)
    const again = await signIn(admin, { token, password: `${PASSWORD} 2` })
    assert.equal(codeOf(await call(admin, 'subscribers.list', { headers: again })), 'ok')
    assert.equal(await knock({ token, password: PASSWORD }), 'link_invalid')
    assert.equal(await knock({ name: 'pat', password: `${PASSWORD} 2` }), 'ok')
    const unknown = await run(dir, 'console', 'reset', '--name', 'nobody')
    assert.equal(unknown.status, 1)
    assert.match(unknown.err, /nobody/)
  })

  test('list who is signed in, and end one sign-in at once', async () => {
    const { admin, dir } = served
    const { url } = await people('link', '--name', 'vera', '--role', 'viewer')
    const first = await signIn(admin, { token: tokenIn(url), password: PASSWORD })
    const second = await signIn(admin, { name: 'vera', password: PASSWORD })
    const open = async () =>
      Promise.all(
        [first, second].map(async (headers) =>
          codeOf(await call(admin, 'subscribers.list', { headers })),
        ),
      )
    const [newest] = await sessionsOf('vera')
    assert.equal((await sessionsOf('vera')).length, 2)
    await people('sessions', '--revoke', newest!.id, '--dry-run')
    assert.deepEqual(await open(), ['ok', 'ok'])
    const told = await people('sessions', '--revoke', newest!.id)
    assert.equal(told['revoked'], newest!.id)
    assert.deepEqual((await open()).toSorted(), ['ok', 'signed_out'])
    assert.equal((await sessionsOf('vera')).length, 1)
    assert.equal((await run(dir, 'console', 'sessions', '--revoke', newest!.id)).status, 1)
  })

  test('take somebody away with all sign-ins', async () => {
    const { admin } = served
    const { url } = await people('link', '--name', 'kim')
    const page = await signIn(admin, { token: tokenIn(url), password: PASSWORD })
    const { users } = await people('users', '--remove', 'kim')
    assert.ok(!(users as { name: string }[]).some(({ name }) => name === 'kim'))
    assert.equal(codeOf(await call(admin, 'subscribers.list', { headers: page })), 'signed_out')
    assert.deepEqual(await sessionsOf('kim'), [])
    assert.equal((await run(served.dir, 'console', 'users', '--remove', 'kim')).status, 1)
    assert.equal((await run(served.dir, 'console', 'link', '--role', 'owner')).status, 2)
  })
})
