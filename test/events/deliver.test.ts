/** Events reach whoever is to be told of them, at least once, whatever happens on the way. */
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import { describe, test } from 'node:test'
import { SMTPServer } from 'smtp-server'
import { DAY, HOUR, MINUTE, SECOND } from '../../lib/core/clock.js'
import { openDeliveries } from '../../lib/events/deliver.js'
import { tellEvent } from '../../lib/events/events.js'
import { mailOf } from '../../lib/events/mail.js'
import { makeCertificate } from '../../lib/simulator/wire/certificate.js'
import { openForTest } from '../../server/testing/open.js'
import type { App } from '../../lib/app/open.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { isSigned, openHook } from './rig.js'

let events = 0
/** Something to tell; each one is new. */
const tell = ({ app }: Pick<TestApp, 'app'>, message = 'something happened') =>
  tellEvent(app.ctx, { kind: 'test', subject: `${++events}`, message })

const deliveries = async ({ app }: Pick<TestApp, 'app'>) =>
  (await app.operator.events.list({ limit: 1_000 }))
    .flatMap((event) => event.deliveries)
    .map(({ receiver, ...one }) => ({ ...one, receiver: receiver.split('-')[0] }))

describe('a webhook', () => {
  test('gets each event once, signed, with an id and nothing of its own secrets', async () => {
    await using hook = await openHook()
    await using t = await createTestApp()
    const { id, address, secret } = await t.app.operator.events.addWebhook({ url: hook.url })
    assert.equal(address, `http://127.0.0.1:${hook.port}/…`)
    await tell(t, 'first')
    await tell(t, 'second')
    await t.app.deliveries.pass()
    await t.app.deliveries.pass()
    assert.deepEqual(
      hook.got.map(({ path, event: { message, state } }) => [path, message, state]),
      [
        ['/hook?token=secret-path', 'first', 'told'],
        ['/hook?token=secret-path', 'second', 'told'],
      ],
    )
    for (const got of hook.got) {
      assert.ok(isSigned(got, secret))
      assert.ok(!isSigned(got, 'another'))
      assert.equal(got.headers['quartermaster-event-id'], got.event.id)
      assert.equal(got.headers['content-type'], 'application/json; charset=utf-8')
    }
    assert.ok(!isSigned({ ...hook.got[0]!, body: hook.got[1]!.body }, secret))
    assert.deepEqual(
      (await deliveries(t)).map(({ state, attempts }) => [state, attempts]),
      [
        ['delivered', 1],
        ['delivered', 1],
      ],
    )
    const shown = JSON.stringify([
      await t.app.operator.events.receivers(),
      await t.app.operator.events.list(),
      await t.app.ctx.read.selectFrom('event_receiver').selectAll().execute(),
      await t.app.ctx.read.selectFrom('audit').selectAll().execute(),
    ])
    assert.ok(shown.includes(id))
    for (const word of ['secret-path', secret]) assert.ok(!shown.includes(word), word)
  })

  test('that answers 500 is tried again after growing waits, and then has it all, in order', async () => {
    await using hook = await openHook()
    await using t = await createTestApp()
    await t.app.operator.events.addWebhook({ url: hook.url })
    hook.answer((response) => void response.writeHead(500).end('no'))
    await tell(t, 'first')
    const waits = [
      0,
      10 * SECOND,
      30 * SECOND,
      2 * MINUTE,
      10 * MINUTE,
      30 * MINUTE,
      HOUR,
      3 * HOUR,
    ]
    for (const [i, wait] of waits.entries()) {
      if (wait > 0) {
        t.clock.advance(wait - 1)
        await t.app.deliveries.pass()
        assert.equal(hook.got.length, i, `not before ${wait} ms are over`)
        t.clock.advance(1)
      }
      await t.app.deliveries.pass()
      assert.equal(hook.got.length, i + 1)
    }
    const [one] = await deliveries(t)
    assert.deepEqual(
      [one!.state, one!.attempts, one!.fault],
      ['waiting', waits.length, 'the receiver answered 500'],
    )
    hook.answer((response) => void response.writeHead(204).end())
    await tell(t, 'second')
    t.clock.advance(10 * SECOND)
    await t.app.deliveries.pass()
    t.clock.advance(3 * HOUR)
    await t.app.deliveries.pass()
    assert.deepEqual(
      hook.got.slice(waits.length).map(({ event }) => event.message),
      ['second', 'first'],
      'what was never tried comes first',
    )
    assert.equal(new Set(hook.got.map(({ event }) => event.id)).size, 2, 'by its id it is the same')
    assert.deepEqual(
      (await deliveries(t)).map(({ state }) => state),
      ['delivered', 'delivered'],
    )
  })

  test('that never takes it loses it after three days, and no other event', async () => {
    await using hook = await openHook()
    await using t = await createTestApp()
    await t.app.operator.events.addWebhook({ url: hook.url })
    hook.answer((response, { event }) =>
      response.writeHead(event.message === 'poison' ? 422 : 200).end(),
    )
    await tell(t, 'poison')
    await t.app.deliveries.pass()
    for (let hour = 0; hour < 80; hour++) {
      t.clock.advance(HOUR)
      if (hour % 20 === 0) await tell(t, `fine ${hour}`)
      await t.app.deliveries.pass()
    }
    const states = Object.fromEntries(
      (await t.app.operator.events.list()).map(({ message, deliveries: [one] }) => [
        message,
        one!.state,
      ]),
    )
    assert.deepEqual(states, {
      poison: 'given_up',
      'fine 0': 'delivered',
      'fine 20': 'delivered',
      'fine 40': 'delivered',
      'fine 60': 'delivered',
    })
    const before = hook.got.length
    t.clock.advance(DAY)
    await t.app.deliveries.pass()
    assert.equal(hook.got.length, before)
  })

  test('that is gone for an hour gets what was told meanwhile', async () => {
    const first = await openHook()
    await using t = await createTestApp()
    await t.app.operator.events.addWebhook({ url: first.url })
    await first.close()
    for (let minute = 0; minute < 60; minute++) {
      if (minute % 20 === 0) await tell(t, `minute ${minute}`)
      await t.app.deliveries.pass()
      t.clock.advance(MINUTE)
    }
    assert.match((await deliveries(t))[0]!.fault!, /cannot be connected to|refuses/)
    await using again = await openHook(first.port)
    for (let i = 0; i < 5; i++) {
      t.clock.advance(30 * MINUTE)
      await t.app.deliveries.pass()
    }
    assert.deepEqual(again.got.map(({ event }) => event.message).toSorted(), [
      'minute 0',
      'minute 20',
      'minute 40',
    ])
  })

  test('that is slow holds up no other receiver, and is given up after its time', async () => {
    await using slow = await openHook()
    await using quick = await openHook()
    await using t = await createTestApp()
    await t.app.operator.events.addWebhook({ url: slow.url })
    await t.app.operator.events.addWebhook({ url: quick.url })
    const quiet = openDeliveries(t.app.ctx, { patience: 2_000 })
    slow.answer(() => {})
    await tell(t, 'first')
    const passed = quiet.pass()
    await Promise.all([slow.told(1), quick.told(1)])
    await tell(t, 'second')
    // The slow one is still asked for the first.
    void quiet.pass()
    await quick.told(2)
    assert.equal(slow.got.length, 1)
    await passed
    const [, late] = await t.app.operator.events.list()
    assert.deepEqual(late!.deliveries.map(({ state, fault }) => [state, fault]).toSorted(), [
      ['delivered', null],
      ['waiting', 'there was no answer within 2 seconds'],
    ])
    await quiet.stop()
  })

  test('gets again what it took in the moment in which the server was killed, under one id', async () => {
    await using hook = await openHook()
    await using t = await createTestApp()
    await t.app.operator.events.addWebhook({ url: hook.url })
    await tell(t)
    // It took the message, and the answer never came to be noted.
    const dying = openDeliveries(t.app.ctx)
    hook.answer((response) => {
      void dying.stop()
      setTimeout(() => response.writeHead(200).end(), 50)
    })
    await dying.pass()
    assert.equal((await deliveries(t))[0]!.state, 'waiting')
    hook.answer((response) => void response.writeHead(200).end())
    await using second = await openForTest({ dir: t.app.dir, worker: false, now: () => t.clock.ms })
    await second.deliveries.pass()
    assert.equal((await deliveries(t))[0]!.state, 'delivered')
    assert.equal(hook.got.length, 2)
    assert.equal(hook.got[0]!.event.id, hook.got[1]!.event.id)
  })

  test('is told by a running server within a second or two', async () => {
    await using hook = await openHook()
    await using t = await createTestApp()
    await t.app.operator.events.addWebhook({ url: hook.url })
    t.app.deliveries.start()
    const { id } = await t.app.operator.events.test()
    await hook.told(1)
    assert.equal(hook.got[0]!.event.id, id)
  })

  test('leads to no private network, and through no redirect', async () => {
    await using other = await openHook()
    await using hook = await openHook()
    await using t = await createTestApp()
    const { addWebhook } = t.app.operator.events
    for (const [url, message] of [
      ['http://alerts.example/hook', /must begin with https/],
      ['http://10.0.0.7/hook', /must begin with https/],
      ['ftp://alerts.example/hook', /must be an address such as/],
      ['alerts.example', /must be an address such as/],
      ['https://user:password@alerts.example/', /no user and no password/],
    ] as const)
      await assert.rejects(addWebhook({ url }), message)
    await addWebhook({ url: 'https://10.255.255.1/hook' })
    await addWebhook({ url: hook.url })
    await assert.rejects(addWebhook({ url: hook.url }), /is told of events already/)
    hook.answer((response) => void response.writeHead(307, { location: other.url }).end())
    await tell(t)
    await t.app.deliveries.pass()
    const faults = (await deliveries(t)).map(({ fault }) => fault).toSorted()
    assert.match(faults[0]!, /10\.255\.255\.1, a private or local address/)
    assert.equal(faults[1], 'the receiver answered 307')
    assert.equal(other.got.length, 0)
  })

  test('that is removed gets nothing more, and what waited for it is gone', async () => {
    await using hook = await openHook()
    await using t = await createTestApp()
    const { id } = await t.app.operator.events.addWebhook({ url: hook.url })
    await tell(t)
    const removed = await t.app.operator.events.remove(id)
    assert.equal(removed.waiting, 1)
    await t.app.deliveries.pass()
    assert.equal(hook.got.length, 0)
    await assert.rejects(t.app.operator.events.remove(id), /there is no receiver/)
  })
})

describe('mail', () => {
  const made = makeCertificate({ now: Date.now() })
  const withServer = async (
    use: (url: string, got: string[], refuse: (on: boolean) => void) => Promise<void>,
  ) => {
    const got: string[] = []
    let isRefusing = false
    const server = new SMTPServer({
      key: made.key,
      cert: made.certificate,
      authOptional: true,
      closeTimeout: 50,
      onRcptTo: (_address, _session, done) =>
        isRefusing
          ? done(Object.assign(new Error('come back later'), { responseCode: 451 }))
          : done(),
      onData(stream, _session, done) {
        let text = ''
        stream
          .on('data', (piece: Buffer) => {
            text += piece.toString()
          })
          .on('end', () => {
            got.push(text)
            done()
          })
      },
    })
    server.on('error', () => {})
    await new Promise<void>((done) => {
      server.listen(0, '127.0.0.1', done)
    })
    const { port } = server.server.address() as AddressInfo
    try {
      await use(`smtp://localhost:${port}`, got, (on) => {
        isRefusing = on
      })
    } finally {
      await new Promise<void>((done) => {
        server.close(done)
      })
    }
  }

  test('goes to a person, all that waits in one message, over TLS', () =>
    withServer(async (server, got) => {
      const egress = { mail: { server, from: 'qm@shop.example', ca: made.certificate } }
      await using t = await createTestApp({ egress })
      await t.app.operator.events.addMail({ address: 'owner@shop.example' })
      await tell(t, 'the first thing')
      await t.app.deliveries.pass()
      await tell(t, 'the second thing')
      await tell(t, 'the third thing')
      await t.app.deliveries.pass()
      assert.equal(got.length, 2)
      assert.match(got[0]!, /^Subject: \[Quartermaster\] the first thing\r$/m)
      assert.match(got[0]!, /^To: owner@shop\.example\r$/m)
      assert.match(got[1]!, /^Subject: \[Quartermaster\] 2 events\r$/m)
      assert.ok(got[1]!.includes('the second thing') && got[1]!.includes('the third thing'))
      assert.deepEqual(
        (await deliveries(t)).map(({ state }) => state),
        ['delivered', 'delivered', 'delivered'],
      )
    }))

  test('waits while the server puts it off, and while there is none', () =>
    withServer(async (server, got, refuse) => {
      const egress = { mail: { server, from: 'qm@shop.example', ca: made.certificate } }
      await using t = await createTestApp({ egress })
      await t.app.operator.events.addMail({ address: 'owner@shop.example' })
      refuse(true)
      await tell(t)
      await t.app.deliveries.pass()
      const [one] = await deliveries(t)
      assert.deepEqual([one!.state, one!.attempts], ['waiting', 1])
      assert.match(one!.fault!, /come back later/)
      await using without = await openForTest({
        dir: t.app.dir,
        worker: false,
        now: () => t.clock.ms,
      })
      t.clock.advance(10 * SECOND)
      await without.deliveries.pass()
      assert.match((await deliveries(t))[0]!.fault!, /no mail server is set/)
      const faultOf = async ({ operator }: App) => (await operator.events.receivers())[0]!.fault
      assert.match((await faultOf(without))!, /no mail server is set/)
      assert.equal(await faultOf(t.app), null)
      refuse(false)
      t.clock.advance(30 * SECOND)
      await t.app.deliveries.pass()
      assert.equal(got.length, 1)
    }))

  test('waits while the server is gone', async () => {
    const placeholder = createTcpServer()
    await new Promise<void>((done) => {
      placeholder.listen(0, '127.0.0.1', done)
    })
    const { port } = placeholder.address() as AddressInfo
    await new Promise((done) => {
      placeholder.close(done)
    })
    const egress = { mail: { server: `smtp://127.0.0.1:${port}`, from: 'qm@shop.example' } }
    await using t = await createTestApp({ egress })
    await t.app.operator.events.addMail({ address: 'owner@shop.example' })
    await tell(t)
    await t.app.deliveries.pass()
    assert.match((await deliveries(t))[0]!.fault!, /^mail: /)
  })

  test('is to an address, and has a subject of one line', async () => {
    await using t = await createTestApp()
    for (const address of ['owner', 'a@b, c@d', 'Owner <a@b.example>', 'a@b\nBcc: c@d', ''])
      await assert.rejects(t.app.operator.events.addMail({ address }), /not an address of mail/)
    const event = {
      id: 'E1',
      kind: 'test',
      subject: 's',
      state: 'told',
      severity: 'warn',
      message: `two\r\nlines ${'x'.repeat(300)}`,
      mend: 'quartermaster events list',
      at: '2026-11-21T12:00:00.000Z',
    } as const
    const { subject, text } = mailOf([event])
    assert.match(subject, /^\[Quartermaster\] two lines x+$/)
    assert.ok(subject.length <= 120)
    assert.match(text, /^ {2}quartermaster events list$/m)
  })
})
