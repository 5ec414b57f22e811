/** Going live: the credentials are checked at the real one first, and whoever means it says so twice. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { after, before, beforeEach, describe, test } from 'node:test'
import { builtin } from '../../lib/distributors/builtin/index.js'
import { checkOf, defineDistributor } from '../../lib/distributors/distributor.js'
import type { CheckOutcome } from '../../lib/distributors/distributor.js'
import type { Fulfillment } from '../../lib/distributors/fulfillment.js'
import { Unreachable } from '../../lib/distributors/session/session.js'
import { confirm } from '../../server/cli/commands/distributors.js'
import { runLine } from '../../server/cli/run-line.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'

const connector: Fulfillment = {
  recovery: 'lookup',
  limits: { po: { max: 30 } },
  submit: async () => ({ outcome: 'unknown', reason: 'nobody is asked here' }),
}
const real = { outcome: 'valid' as CheckOutcome | 'throws', asked: 0 }
const acme = defineDistributor({
  distid: 'ACME',
  name: 'Acme',
  automatedFulfillment: true,
  api: { url: 'https://api.acme.example/v1/' },
  files: { host: 'files.acme.example', port: 2222, isSecure: true },
  settings: {
    user: {
      type: 'string',
      label: 'User',
      path: 'fulfillment-user',
      required: true,
      credential: true,
    },
    password: {
      type: 'string',
      label: 'Password',
      path: 'fulfillment-password',
      required: true,
      secret: true,
      credential: true,
    },
  },
  fulfillment: connector,
  async check() {
    real.asked += 1
    if (real.outcome === 'throws') throw new Unreachable('the address is not approved')
    return real.outcome
  },
  simulator: connector,
  simulatorCheck: async ({ settings }) => (settings.user === 'demo' ? 'valid' : 'invalid'),
})

describe('going live', () => {
  let t: TestApp
  const live = () => t.app.operator.distributors.goLive({ distid: 'ACME', reason: 'agreed' })
  const modeNow = () => t.app.ctx.modes.of('ACME')

  before(async () => {
    t = await createTestApp({ distributors: [...builtin, acme] })
  })
  beforeEach(async () => {
    Object.assign(real, { outcome: 'valid', asked: 0 })
    await t.app.operator.distributors.setMode({ distid: 'ACME', mode: 'simulator', reason: null })
  })
  after(() => t.close())

  const configure = (active: boolean) =>
    t.configure({
      distributors: {
        Acme: {
          distid: 'ACME',
          active,
          fulfillment: { user: 'shop-7', password: 'hush-hush' },
        } as never,
      },
    })

  test('is refused for what nobody has, nobody knows, or no connector speaks to', async () => {
    await assert.rejects(live(), /no shop has Acme active/)
    await configure(false)
    await assert.rejects(live(), /no shop has Acme active/)
    const of = (distid: string) => t.app.operator.distributors.goLive({ distid, reason: 'x' })
    await assert.rejects(of('NOPE'), /"NOPE" is not a distributor/)
    await assert.rejects(of('AMC'), /AmChar cannot be live/)
    assert.equal(real.asked, 0)
  })

  test('tells first where orders would go, on which accounts, and no secret', async () => {
    await configure(true)
    const plan = await t.app.operator.distributors.planGoLive('ACME')
    assert.deepEqual(plan, {
      distid: 'ACME',
      distributor: 'Acme',
      addresses: ['https://api.acme.example/v1/', 'ftpes://files.acme.example:2222'],
      shops: [{ subscriber: plan.shops[0]!.subscriber, accounts: ['shop-7'], valid: true }],
    })
    assert.ok(!JSON.stringify(plan).includes('hush'))
    assert.deepEqual([real.asked, modeNow()], [1, 'simulator'])
  })

  test('asks the real one, whatever its simulator says, and believes a clear answer alone', async () => {
    await configure(true)
    const { distributors } = t.app.ctx
    const registered = distributors.byDistid('ACME')!
    assert.notEqual(checkOf(registered, 'live'), checkOf(registered, 'simulator'))
    for (const [outcome, words] of [
      ['invalid', /\(refused\)/],
      ['throws', /\(not reached\)/],
    ] as const) {
      real.outcome = outcome
      await assert.rejects(live(), words)
      assert.equal(modeNow(), 'simulator')
    }
    real.outcome = 'valid'
    await live()
    assert.equal(modeNow(), 'live')
    const checks = await t.app.ctx.read
      .selectFrom('credential_check')
      .select(['distid', 'valid'])
      .where('distid', '=', 'ACME')
      .execute()
    assert.deepEqual(checks, [{ distid: 'ACME', valid: 1 }])
    const audited = await t.app.ctx.read
      .selectFrom('audit')
      .selectAll()
      .where('action', '=', 'distributors.mode')
      .execute()
    assert.match(JSON.stringify(audited.at(-1)), /agreed/)
  })

  test('in mode simulator its simulator is asked, and in mode live it is not', async () => {
    await configure(true)
    const check = async () =>
      (
        await t.app.operator.configurations.checkCredentials(t.subscriber, ['Acme'], {
          record: false,
        })
      )[0]!.valid
    assert.deepEqual([await check(), real.asked], [false, 0])
    await live()
    const asked = real.asked
    assert.deepEqual([await check(), real.asked], [true, asked + 1])
  })

  const PLAN = { distid: 'ACME', distributor: 'Acme', addresses: [], shops: [] }

  test('is asked for by its distid on a terminal, and by a flag elsewhere', async () => {
    const typed = (answer: string) => confirm(PLAN, false, async () => answer)
    await typed('ACME')
    for (const answer of ['', 'acme', 'y', 'ACME!'])
      await assert.rejects(typed(answer), /nothing was changed/)
    await assert.rejects(confirm(PLAN, false, null), /--orders-are-real/)
    await confirm(PLAN, true, null)
  })

  test('is asked on a terminal alone', async () => {
    const asked = async (isTTY: boolean, ...words: string[]) => {
      const stdin = Object.assign(new PassThrough(), { isTTY })
      stdin.end('RSR\n')
      let err = ''
      const status = await runLine(['distributors', 'live', 'RSR', '--dir', t.app.dir, ...words], {
        stdout: { isTTY, write: () => {} },
        stderr: { write: (text) => (err += text) },
        stdin,
      })
      return { status, err }
    }
    // Without a reason nobody is asked anything.
    const { status, err } = await asked(true)
    assert.equal(status, 2)
    assert.match(err, /--reason is missing/)
  })
})
