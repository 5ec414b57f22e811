import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  canonicalAddress,
  clientAddress,
  compileAllowlist,
  parseAllowlistEntry,
} from '../../lib/accounts/allowlist.js'
import { makeKey } from '../../lib/accounts/keys.js'
import { DAY, HOUR, MINUTE, SECOND } from '../../lib/core/clock.js'
import { openForTest as open } from '../../server/testing/open.js'
import { createTestApp } from '../../server/testing/index.js'
import { heardByOthers } from '../harness/record.js'

describe('keys', () => {
  test('a key is 40 characters of A-Z and 0-9, evenly drawn', async () => {
    const { randomBytes } = await import('node:crypto')
    const counts = new Map<string, number>()
    for (let i = 0; i < 2_000; i++) {
      const key = makeKey(randomBytes)
      assert.match(key, /^[A-Z0-9]{40}$/)
      for (const char of key) counts.set(char, (counts.get(char) ?? 0) + 1)
    }
    assert.equal(counts.size, 36)
    for (const count of counts.values())
      assert.ok(Math.abs(count - 80_000 / 36) < 350, `a character came ${count} times`)
  })

  test('the database holds no key, only its SHA-256', async () => {
    await using t = await createTestApp()
    const { readFileSync, readdirSync } = await import('node:fs')
    for (const file of readdirSync(t.app.dir, { recursive: true, withFileTypes: true })) {
      if (file.isFile())
        assert.ok(
          !readFileSync(`${file.parentPath}/${file.name}`).includes(t.key),
          `${file.name} holds the key`,
        )
    }
  })

  test('each refusal of the gate comes in the documented order', async () => {
    await using t = await createTestApp()
    const codeOf = async (init: Parameters<typeof t.json>[1], path = '/v1/ping') => {
      const { status, body } = await t.json(path, init)
      return [status, body.error?.code]
    }
    assert.deepEqual(await codeOf({ key: null }), [401, 'missing_api_key'])
    assert.deepEqual(await codeOf({ key: null }, '/v1/no-such-path'), [401, 'missing_api_key'])
    assert.deepEqual(await codeOf({ key: 'A'.repeat(40) }), [403, 'invalid_api_key'])
    assert.deepEqual(await codeOf({ address: '203.0.113.9' }), [403, 'ip_not_allowed'])
    await t.app.operator.keys.setStatus(t.keyId, 'disabled')
    assert.deepEqual(await codeOf({ address: '203.0.113.9' }), [403, 'key_disabled'])
    await t.app.operator.keys.setStatus(t.keyId, 'enabled')
    await t.app.operator.keys.allowlist(t.keyId, { deny: ['127.0.0.1', '::1'] })
    assert.deepEqual(await codeOf({}), [403, 'ip_whitelist_required'])
    await t.app.operator.keys.allowlist(t.keyId, { allow: ['127.0.0.1'] })
    assert.deepEqual(await codeOf({}), [200, undefined])
    await t.app.operator.keys.setStatus(t.keyId, 'cancelled')
    assert.deepEqual(await codeOf({}), [403, 'key_cancelled'])
    await assert.rejects(
      t.app.operator.keys.setStatus(t.keyId, 'enabled'),
      /cancelled; issue a new one/,
    )
  })

  test('a request without a known address is let in by no allowlist', async () => {
    await using t = await createTestApp()
    const response = await t.server.fetch(
      new Request('http://shop.test/v1/ping', { headers: { 'x-api-key': t.key } }),
    )
    assert.equal(response.status, 403)
  })

  test('rotating a key stops the old text at once and keeps name, tier and usage', async () => {
    await using t = await createTestApp({ tier: 'pro' })
    await t.request('/v1/ping')
    const { key } = await t.app.operator.keys.rotate(t.keyId)
    assert.equal((await t.request('/v1/ping')).status, 403)
    const { body } = await t.json('/v1/usage', { key })
    assert.equal(body.data.tier, 'pro')
    assert.equal(body.data.today, 2)
  })

  test('what another process changes is seen by the next call', async () => {
    await using t = await createTestApp()
    assert.equal((await t.request('/v1/ping')).status, 200)
    await using other = await open({ dir: t.app.dir, worker: false })
    await other.operator.keys.setStatus(t.keyId, 'disabled')
    const status = async () => (await t.request('/v1/ping')).status
    // Another process's commit never falls into the same turn of our event loop.
    await heardByOthers(async () => (await status()) === 403)
    assert.equal(await status(), 403)
  })

  test('after 20 wrong keys within a minute an address gets 429, and a valid key from it is not held up', async () => {
    await using t = await createTestApp()
    const wrong = () => t.request('/v1/ping', { key: 'WRONG' })
    for (let i = 0; i < 20; i++) assert.equal((await wrong()).status, 403)
    const refused = await wrong()
    assert.equal(refused.status, 429)
    assert.equal(refused.headers.get('retry-after'), '60')
    assert.equal((await t.request('/v1/ping')).status, 200)
    assert.equal((await t.request('/v1/ping', { key: 'WRONG', address: '::1' })).status, 403)
    t.clock.advance(MINUTE)
    assert.equal((await wrong()).status, 403)
  })
})

describe('the allowlist', () => {
  const allowed: [entry: string, address: string, expected: boolean][] = [
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '203.0.113.8', false],
    ['203.0.113.7', '::ffff:203.0.113.7', true],
    ['203.0.113.7', '::ffff:cb00:7107', true],
    ['::ffff:203.0.113.7', '203.0.113.7', true],
    ['203.0.113.0/24', '203.0.113.255', true],
    ['203.0.113.0/24', '203.0.114.0', false],
    ['203.0.113.0/24', '::ffff:203.0.113.1', true],
    ['2001:db8::/48', '2001:db8:0:ffff::1', true],
    ['2001:db8::/48', '2001:db8:1::1', false],
    ['2001:DB8::1', '2001:db8:0:0:0:0:0:1', true],
    ['203.0.113.7', '::203.0.113.7', false],
    ['203.0.113.7', '64:ff9b::203.0.113.7', false],
  ]
  for (const [entry, address, expected] of allowed) {
    test(`${entry} ${expected ? 'lets in' : 'keeps out'} ${address}`, () => {
      assert.equal(compileAllowlist([parseAllowlistEntry(entry)])(address), expected)
    })
  }

  const refused = [
    '',
    'shop.example',
    '203.0.113',
    '203.0.113.07',
    '203.0.113.7/33',
    '203.0.113.7/',
    '203.0.0.0/15',
    '0.0.0.0/0',
    '::/0',
    '2001::/31',
    '2001:db8::/129',
    'fe80::1%eth0',
    '1.2.3.4/24/8',
  ]
  for (const entry of refused) {
    test(`"${entry}" is refused as an entry`, () =>
      assert.throws(() => parseAllowlistEntry(entry), /ip: /))
  }

  test('ranges of just /16 and /32 are taken', () => {
    assert.equal(parseAllowlistEntry('10.0.0.0/16'), '10.0.0.0/16')
    assert.equal(parseAllowlistEntry('2001:db8::/32'), '2001:db8::/32')
  })

  test('a key takes 50 entries and not 51', async () => {
    await using t = await createTestApp({ ips: [] })
    const entries = Array.from({ length: 50 }, (_, i) => `198.51.100.${i}`)
    assert.equal((await t.app.operator.keys.allowlist(t.keyId, { allow: entries })).length, 50)
    await assert.rejects(
      t.app.operator.keys.allowlist(t.keyId, { allow: ['198.51.100.77'] }),
      /at most 50/,
    )
  })

  const proxies = { isTrusted: compileAllowlist(['10.0.0.0/24']), mayCallItself: false }
  const proxied: [peer: string, header: string | null, expected: string | null][] = [
    ['203.0.113.7', '198.51.100.1', '203.0.113.7'],
    ['10.0.0.1', null, null],
    ['::ffff:10.0.0.1', null, null],
    ['10.0.1.1', null, '10.0.1.1'],
    ['10.0.1.1', 'nonsense', '10.0.1.1'],
    ['10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '1.1.1.1, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['10.0.0.1', 'unknown', null],
    ['10.0.0.1', '198.51.100.1, nonsense', null],
    ['10.0.0.1', 'nonsense, 198.51.100.1', null],
    ['10.0.0.1', 'nonsense, 198.51.100.1, 10.0.0.2', null],
    ['10.0.0.1', ', 198.51.100.1', null],
    ['10.0.0.1', '198.51.100.1,', null],
    ['10.0.0.1', 'fe80::1%eth0, 198.51.100.1', null],
    ['10.0.0.1', '198.51.100.1:4711', null],
    ['10.0.0.1', '', null],
    ['10.0.0.1', Array(21).fill('10.0.0.2').join(','), null],
  ]
  for (const [peer, header, expected] of proxied) {
    test(
      `peer ${peer} with X-Forwarded-For ` +
        `${header === null ? 'absent' : `"${header.slice(0, 40)}"`} counts as ${expected}`,
      () => {
        assert.equal(clientAddress(peer, header, proxies), expected)
      },
    )
  }

  test('a trusted peer without X-Forwarded-For calls for itself where the operator says that it may', () => {
    const direct = { ...proxies, mayCallItself: true }
    assert.equal(clientAddress('10.0.0.1', null, direct), '10.0.0.1')
    assert.equal(clientAddress('10.0.0.1', '', direct), null)
    assert.equal(clientAddress('10.0.0.1', '198.51.100.1', direct), '198.51.100.1')
  })

  test('a proxy whose X-Forwarded-For is missing is let in by trustProxyDirect alone', async () => {
    for (const [options, status] of [
      [{}, 403],
      [{ trustProxyDirect: false }, 403],
      [{ trustProxyDirect: true }, 200],
    ] as const) {
      await using t = await createTestApp({
        ips: ['10.0.0.5'],
        server: { trustedProxies: ['10.0.0.0/24'], ...options },
      })
      const answer = await t.json('/v1/ping', { address: '10.0.0.5' })
      assert.deepEqual(
        [answer.status, answer.body.error?.code],
        [status, status === 403 ? 'ip_not_allowed' : undefined],
      )
    }
  })

  test('a forged X-Forwarded-For never helps a peer that is not a trusted proxy', async () => {
    await using t = await createTestApp({ server: { trustedProxies: ['10.0.0.0/24'] } })
    const forged = { headers: { 'x-forwarded-for': '127.0.0.1' } }
    assert.equal((await t.request('/v1/ping', { ...forged, address: '203.0.113.9' })).status, 403)
    assert.equal((await t.request('/v1/ping', { ...forged, address: '10.0.0.5' })).status, 200)
    assert.equal(
      (
        await t.request('/v1/ping', {
          headers: { 'x-forwarded-for': '127.0.0.1, 203.0.113.9' },
          address: '10.0.0.5',
        })
      ).status,
      403,
    )
  })

  test('an address and its canonical text are let in alike', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
        assert.ok(compileAllowlist([parseAllowlistEntry(address)])(address))
        assert.equal(canonicalAddress(canonicalAddress(address)!), canonicalAddress(address))
      }),
    )
  })
})

describe('limits', () => {
  for (const [tier, perMinute] of [
    ['standard', 60],
    ['pro', 300],
    ['enterprise', 1_000],
  ] as const) {
    test(`tier ${tier} admits ${perMinute} calls in any 60 seconds and refuses the next`, async () => {
      await using t = await createTestApp({ tier })
      for (let i = 0; i < perMinute; i++) {
        t.clock.advance(i % 2)
        assert.equal((await t.request('/v1/ping')).status, 200)
      }
      const refused = await t.json('/v1/ping')
      assert.equal(refused.status, 429)
      assert.equal(refused.body.error.code, 'rate_limited')
      const wait = Number(refused.headers.get('retry-after'))
      t.clock.advance(wait * SECOND - 1_000)
      const early = await t.request('/v1/ping')
      t.clock.advance(1_000)
      assert.equal((await t.request('/v1/ping')).status, 200, 'Retry-After is never too early')
      assert.equal(early.status, 429, 'and not a second too late')
    })
  }

  test('there is no double burst at the edge of a minute', async () => {
    await using t = await createTestApp({ tier: 'standard' })
    t.clock.ms = Math.ceil(t.clock.ms / MINUTE) * MINUTE - 1
    for (let i = 0; i < 60; i++) assert.equal((await t.request('/v1/ping')).status, 200)
    t.clock.advance(2)
    assert.equal((await t.request('/v1/ping')).status, 429)
  })

  test('never more than the limit within any 60 seconds, whatever the times of the calls', async () => {
    await using t = await createTestApp({ tier: 'standard' })
    const accepted: number[] = []
    let seed = 7
    for (let i = 0; i < 3_000; i++) {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      t.clock.advance(seed % 1_700)
      if ((await t.request('/v1/ping')).status === 200) accepted.push(t.clock.ms)
    }
    for (let i = 60; i < accepted.length; i++) assert.ok(accepted[i]! - accepted[i - 60]! >= MINUTE)
    assert.ok(accepted.length > 1_000)
  })

  test('the day limit counts UTC days and says how long until midnight', async () => {
    await using t = await createTestApp({ tier: 'standard' })
    await t.app.ctx.engine.meter.db
      .insertInto('usage')
      .values({
        key_id: t.keyId,
        day: Math.floor(t.clock.ms / DAY) * DAY,
        endpoint: 'GET /v1/ping',
        requests: 9_999,
      })
      .execute()
    assert.equal((await t.request('/v1/ping')).status, 200)
    const refused = await t.request('/v1/ping')
    assert.equal(refused.status, 429)
    assert.equal(refused.headers.get('retry-after'), String(12 * 3_600))
    t.clock.advance(12 * HOUR)
    assert.equal((await t.request('/v1/ping')).status, 200)
  })

  test('counts survive a restart', async () => {
    await using t = await createTestApp({ tier: 'standard' })
    for (let i = 0; i < 60; i++) await t.request('/v1/ping')
    t.app.ctx.limits.flush()
    t.clock.advance(20 * SECOND)
    await using again = await open({ dir: t.app.dir, now: () => t.clock.ms, worker: false })
    const isAllowed = async () =>
      (await again.ctx.limits.admit(again.findKey(t.key)!, 'GET /v1/ping')).allowed
    assert.equal(await isAllowed(), false)
    assert.equal((await again.ctx.limits.usage(t.keyId)).today, 60)
    t.clock.advance(41 * SECOND)
    assert.equal(await isAllowed(), true)
  })

  test('a clock that steps back locks a key for no more than a minute', async () => {
    await using t = await createTestApp({ tier: 'standard' })
    for (let i = 0; i < 60; i++) await t.request('/v1/ping')
    t.clock.advance(-6 * HOUR)
    assert.equal((await t.request('/v1/ping')).status, 429)
    t.clock.advance(MINUTE)
    assert.equal((await t.request('/v1/ping')).status, 200)
  })

  test('every authenticated answer names the limits and what is left', async () => {
    await using t = await createTestApp({ tier: 'standard' })
    const ok = await t.request('/v1/ping')
    assert.equal(ok.headers.get('ratelimit-policy'), '"minute";q=60;w=60, "day";q=10000;w=86400')
    assert.match(ok.headers.get('ratelimit')!, /^"minute";r=59;t=\d+, "day";r=9999;t=43200$/)
    assert.ok((await t.request('/v1/nothing')).headers.has('ratelimit'))
    assert.ok(!(await t.request('/v1/ping', { key: null })).headers.has('ratelimit'))
  })
})

describe('usage', () => {
  test('only calls with a valid key from an allowed address count, under their route', async () => {
    await using t = await createTestApp()
    await t.request('/v1/ping')
    await t.request('/v1/ping', { method: 'HEAD' })
    await t.request('/v1/products/12345678')
    await t.request('/v1/products/123')
    await t.request('/v1/ping', { key: 'WRONG' })
    await t.request('/v1/ping', { address: '203.0.113.9' })
    await t.request('/v1/openapi.json', { key: null })
    const { body } = await t.json('/v1/usage')
    assert.equal(body.data.today, 5)
    assert.deepEqual(body.data.by_endpoint_today, [
      { endpoint: 'GET /v1/ping', requests: 2 },
      { endpoint: 'GET /v1/products/{upc}', requests: 2 },
      { endpoint: 'GET /v1/usage', requests: 1 },
    ])
  })

  test('the last seven days come oldest first, zero days included, and the month holds its days', async () => {
    await using t = await createTestApp()
    t.clock.ms = Date.UTC(2026, 10, 29, 23, 59, 59)
    await t.request('/v1/ping')
    t.clock.advance(2 * SECOND)
    await t.request('/v1/ping')
    t.clock.advance(2 * DAY)
    const { body } = await t.json('/v1/usage')
    assert.deepEqual(
      body.data.by_day_last_7.map(
        (entry: { day: string; requests: number }) => `${entry.day} ${entry.requests}`,
      ),
      [
        '2026-11-26 0',
        '2026-11-27 0',
        '2026-11-28 0',
        '2026-11-29 1',
        '2026-11-30 1',
        '2026-12-01 0',
        '2026-12-02 1',
      ],
    )
    assert.equal(body.data.this_month, 1)
  })
})

describe('account', () => {
  test('names key, contact, tier, allowlist, limits and distributors', async () => {
    await using t = await createTestApp({ tier: 'pro', ips: ['127.0.0.1', '2001:DB8::/48'] })
    await t.configure({
      distributors: { 'RSR Group': { distid: 'RSR' }, Lipseys: { distid: 'LIP', active: false } },
    })
    for (const shop of [t.shop, t.remote]) {
      assert.deepEqual(await shop.account(), {
        key_name: 'test key',
        contact_email: 'owner@shop.example',
        tier: 'pro',
        ip_whitelist: ['127.0.0.1', '2001:db8::/48'],
        limits: { per_minute: 300, per_day: 100_000 },
        configured_distributors: ['RSR Group', 'Lipseys'],
        active_distributors: ['RSR Group'],
      })
    }
  })

  test('names of shops and keys are one line', async () => {
    await using t = await createTestApp()
    const { subscribers, keys } = t.app.operator
    for (const name of [
      'Main\nStreet',
      'Main\r\nStreet',
      'Main\tStreet',
      'Main\u2028Street',
      'Main\u0085Street',
      'a\u0000b',
    ]) {
      await assert.rejects(subscribers.create({ name, email: 'a@b.example' }), /^ApiError: name: /)
      await assert.rejects(
        keys.create({ subscriber: t.subscriber, name, tier: 'pro' }),
        /^ApiError: name: /,
      )
    }
    assert.equal(
      (await subscribers.create({ name: ' Main Street Guns – Né 火\n', email: 'a@b.example' }))
        .name,
      'Main Street Guns – Né 火',
    )
    await assert.rejects(
      subscribers.create({ name: ' \n ', email: 'a@b.example' }),
      /1 to 100 characters/,
    )
  })

  test('subscribers have unique names, case aside, and a real e-mail address', async () => {
    await using t = await createTestApp()
    await assert.rejects(
      t.app.operator.subscribers.create({ name: 'TEST SHOP', email: 'a@b.example' }),
      /name: there is a subscriber/,
    )
    for (const email of ['', 'a', 'a@b', 'a b@c.example', '@c.example']) {
      await assert.rejects(
        t.app.operator.subscribers.create({ name: `shop ${email}`, email }),
        /email: /,
      )
    }
    await assert.rejects(
      t.app.operator.keys.create({
        subscriber: t.subscriber,
        name: 'x',
        tier: 'pro',
        email: 'nobody',
      }),
      /email: /,
    )
    await assert.rejects(
      t.app.operator.keys.create({ subscriber: 'nobody', name: 'x', tier: 'pro' }),
      /no subscriber "nobody"/,
    )
    await assert.rejects(
      t.app.operator.keys.create({ subscriber: t.subscriber, name: 'x', tier: 'gold' as 'pro' }),
      /tier: must be one of/,
    )
  })
})
