/** Who gets in, and who does not. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { allOperations } from '../../lib/app/operations/index.js'
import { MB } from '../../lib/core/figures.js'
import { codeAt, stepAt } from '../../lib/console/totp.js'
import { PASSWORD, createConsoleTest, firstLink, makeLink, signIn } from './harness.js'

const acts = allOperations.filter(({ effect }) => effect === 'writes')

describe('the door of the console', () => {
  it('sets the first password by a link that works once', async () => {
    await using console = await createConsoleTest()
    const { test, page } = console
    const link = await firstLink(test.app.ctx)
    const one = page()
    const asked = await signIn(one, { token: link!.token })
    assert.equal(asked.body.error.code, 'set_password')
    const weak = await signIn(one, { token: link!.token, password: 'short' })
    assert.equal(weak.body.error.code, 'invalid_parameter')
    const done = await signIn(one, { token: link!.token, password: PASSWORD })
    assert.equal(done.body.data.signed_in, true)
    assert.equal(done.body.data.role, 'operator')
    const again = await signIn(page(), { token: link!.token, password: PASSWORD })
    assert.equal(again.body.error.code, 'link_invalid')
    assert.equal(await firstLink(test.app.ctx), null)
  })

  it('has a link end after fifteen minutes', async () => {
    await using console = await createConsoleTest()
    const { test, page } = console
    const link = await makeLink(test.app.ctx, { kind: 'sign_in' })
    test.clock.advance(15 * 60_000)
    assert.equal((await signIn(page(), { token: link.token })).body.error.code, 'link_invalid')
  })

  it('lets a password in, and ends the sign-in after twelve hours', async () => {
    await using console = await createConsoleTest()
    const { test, page } = console
    const link = await firstLink(test.app.ctx)
    await signIn(page(), { token: link!.token, password: PASSWORD })
    const one = page()
    const told = await signIn(one, { password: PASSWORD })
    const [cookie] = told.headers['set-cookie'] as string[]
    assert.match(cookie!, /HttpOnly; SameSite=Strict$/)
    await one.call('subscribers.list')
    test.clock.advance(12 * 3_600_000)
    assert.equal(await one.refused('subscribers.list'), 'signed_out')
  })

  it('makes the wait grow with wrong passwords, over a restart too', async () => {
    await using console = await createConsoleTest()
    const { test, page } = console
    const link = await firstLink(test.app.ctx)
    await signIn(page(), { token: link!.token, password: PASSWORD })
    const waits: string[] = []
    for (let i = 0; i < 8; i++) {
      const told = await signIn(page(), { password: `${PASSWORD}!` })
      assert.equal(told.body.error.code, 'wrong_password')
      const next = await signIn(page(), { password: `${PASSWORD}!` })
      if (next.body.error.code !== 'too_many_tries') continue
      waits.push(String(next.headers['retry-after']))
      test.clock.advance(Number(next.headers['retry-after']) * 1_000)
    }
    assert.deepEqual(waits.slice(0, 4), ['1', '2', '4', '8'])
    const early = await signIn(page(), { name: 'nobody', password: PASSWORD })
    assert.equal(early.body.error.code, 'wrong_password')
    assert.equal((await signIn(page(), { password: PASSWORD })).status, 200)
  })

  it('asks for the code of a second factor, and takes none twice', async () => {
    await using console = await createConsoleTest()
    const { test, page } = console
    const link = await firstLink(test.app.ctx)
    const one = page()
    await signIn(one, { token: link!.token, password: PASSWORD })
    const { body } = await one.send('POST', '/operator/session/totp/propose', {})
    const { secret } = body.data
    const code = () => codeAt(secret, stepAt(test.clock.ms))
    const on = await one.send('POST', '/operator/session/totp/enable', { secret, code: code() })
    assert.equal(on.status, 200, JSON.stringify(on.body))
    test.clock.advance(60_000)
    assert.equal((await signIn(page(), { password: PASSWORD })).body.error.code, 'code_needed')
    const wrong = await signIn(page(), { password: PASSWORD, totp: '000000' })
    assert.equal(wrong.body.error.code, 'wrong_password')
    const totp = code()
    assert.equal((await signIn(page(), { password: PASSWORD, totp })).status, 200)
    assert.equal((await signIn(page(), { password: PASSWORD, totp })).status, 401)
  })

  it('asks for the password again, five minutes after it was given', async () => {
    await using console = await createConsoleTest()
    const { test, page } = console
    const link = await firstLink(test.app.ctx)
    const one = page()
    await signIn(one, { token: link!.token, password: PASSWORD })
    test.clock.advance(5 * 60_000)
    for (const { id } of allOperations.filter(({ asksAgain }) => asksAgain))
      assert.equal(await one.refused(id), 'confirm_password', id)
    const wrong = await one.send('POST', '/operator/session/confirm', { password: 'x' })
    assert.equal(wrong.body.error.code, 'wrong_password')
    await one.send('POST', '/operator/session/confirm', { password: PASSWORD })
    await one.call('keys.create', { subscriber: 'Test shop', name: 'second' })
  })

  it('lets a viewer change nothing', async () => {
    await using console = await createConsoleTest()
    const { signedIn } = console
    const viewer = await signedIn('viewer', 'vera')
    for (const { id } of acts) assert.equal(await viewer.refused(id), 'viewer_may_not', id)
    const upload = await viewer.send('POST', '/operator/uploads', Buffer.from('x'))
    assert.equal(upload.body.error.code, 'viewer_may_not')
    await viewer.call('subscribers.list')
  })

  it('does nothing without a sign-in, from another origin, or without its csrf', async () => {
    await using console = await createConsoleTest()
    const { signedIn, page, test } = console
    const one = await signedIn()
    const before = (await test.app.operator.audit.verify()).rows
    const stranger = page()
    const { cookie, 'x-csrf': csrf } = one.headers
    for (const { id } of allOperations) {
      assert.equal(await stranger.refused(id), 'signed_out', id)
      const path = `/operator/${id.replace('.', '/')}`
      const cases = [
        [{ cookie, 'x-csrf': csrf, origin: 'http://evil.example' }, 'wrong_origin'],
        [{ cookie, 'x-csrf': csrf, 'sec-fetch-site': 'same-site' }, 'wrong_origin'],
        [{ cookie, 'x-csrf': 'x' }, 'wrong_csrf'],
        [{ cookie, 'x-csrf': csrf, 'x-forwarded-for': '203.0.113.7' }, 'proxy_unknown'],
      ] as const
      for (const [headers, code] of cases)
        assert.equal(
          (await stranger.send('POST', path, {}, headers)).body.error.code,
          code,
          `${id} ${code}`,
        )
    }
    assert.equal((await test.app.operator.audit.verify()).rows, before)
  })

  it('gives a rebound name nothing, and the API has no console on its port', async () => {
    await using console = await createConsoleTest()
    const { signedIn, test } = console
    const one = await signedIn()
    const rebound = await one.send(
      'POST',
      '/operator/subscribers/list',
      {},
      { host: 'evil.example' },
    )
    assert.equal(rebound.status, 403)
    assert.equal(rebound.body.success, undefined)
    for (const path of ['/', '/operator/session', '/operator/subscribers/list', '/console/x.js'])
      assert.equal((await test.request(path)).status, 404)
  })

  it('writes who acted into the audit', async () => {
    await using console = await createConsoleTest()
    const { signedIn } = console
    const one = await signedIn('operator', 'pat')
    await one.call('subscribers.create', { name: 'Second', email: 'second@shop.example' })
    const [last] = await one.call('audit.list', { limit: 1 })
    assert.equal(last.actor, 'console:pat')
    assert.equal(last.action, 'subscribers.create')
  })

  it('ends a sign-in that is revoked, and keeps only its digest', async () => {
    await using console = await createConsoleTest()
    const { signedIn, test } = console
    const [one, other] = [await signedIn('operator', 'pat'), await signedIn('operator', 'kim')]
    const all = await one.call('console.sessions')
    const own = all.find(({ name }: { name: string }) => name === 'kim')
    await one.call('console.revoke', { id: own.id })
    assert.equal(await other.refused('subscribers.list'), 'signed_out')
    const rows = await test.app.ctx.read.selectFrom('console_session').selectAll().execute()
    const token = String(one.headers['cookie']).split('=')[1]!
    assert.ok(!JSON.stringify(rows).includes(token))
  })

  it('tells who sends too much why, however it comes', async () => {
    await using console = await createConsoleTest()
    const operator = await console.signedIn()
    const viewer = await console.signedIn('viewer')
    const body = (bytes: number) => Buffer.from(`{"q":"${'x'.repeat(bytes - 8)}"}`)
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      const most = await operator.send('POST', '/operator/dealers/list', body(16 * MB), headers)
      assert.notEqual(most.status, 413)
      const more = await operator.send('POST', '/operator/dealers/list', body(16 * MB + 1), headers)
      assert.deepEqual([more.status, more.body.error.code], [413, 'payload_too_large'])
      const upload = await viewer.send('POST', '/operator/uploads', Buffer.alloc(3 * MB), headers)
      assert.deepEqual([upload.status, upload.body.error.code], [403, 'viewer_may_not'])
    }
  })
})
