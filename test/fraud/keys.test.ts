/** Keys of signals that are replaced or lost, and what stands under them meanwhile. */
import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DAY } from '../../lib/core/clock.js'
import { silentLog } from '../../lib/core/log.js'
import type { Log } from '../../lib/core/log.js'
import { makeFirstKey } from '../../lib/fraud/keys/files.js'
import { LOCAL, localKeys, withNewKey } from '../../lib/fraud/keys/keys.js'
import { sealKey } from '../../lib/fraud/keys/shared.js'
import { addKey, rehashReports } from '../../lib/fraud/keys/rotate.js'
import { FraudSignals } from '../../lib/fraud/shapes.js'
import { signalsOf } from '../../lib/fraud/signals/signals.js'
import { summarize } from '../../lib/fraud/reports/summary.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { until } from '../harness/until.js'
import { isOnPostgres, oneFolder, sqlOnRecord } from '../harness/record.js'
import { holdReports, keyTexts, localText, loseKeys } from './kept-keys.js'
import { dealerRow, shops } from './shops.js'

const HOUSE = {
  shipping_name: 'Pat Doe',
  shipping_address_1: '12 Main Street',
  shipping_postcode: '85001',
}
const summary = async (t: TestApp, body: unknown, key = t.key) =>
  (await t.json('/v1/fraud/check', { method: 'POST', key, body: JSON.stringify(body) })).body.data
    .fraud
const report = async (t: TestApp, body: unknown, key?: string) =>
  assert.equal(
    (
      await t.json('/v1/fraud/reports', {
        method: 'POST',
        body: JSON.stringify(body),
        ...(key !== undefined && { key }),
      })
    ).status,
    200,
  )
const hashes = async ({ app }: TestApp): Promise<string[]> =>
  (
    await sqlOnRecord<{ hash: string }>(
      app.dir,
      'SELECT CAST(hash AS text) AS hash FROM fraud_signal ORDER BY hash',
    )
  ).map(({ hash }) => hash)
/** As a rotation leaves it that was cut off at once. */
const layNewKey = ({ app }: TestApp) => app.ctx.engine.atomic(app.ctx, addKey)
/** Rows of a table; of evidence those of a report's own key, or of others. */
async function count(
  { app }: TestApp,
  table: 'fraud_signal' | 'fraud_evidence',
  own: 0 | 1 = 1,
): Promise<number> {
  const [row] = await sqlOnRecord<{ count: number | string }>(
    app.dir,
    `SELECT count(*) AS count FROM ${table}${table === 'fraud_evidence' ? ` WHERE own = ${own}` : ''}`,
  )
  return Number(row!.count)
}

describe('a key that is replaced', () => {
  test('changes every hash and no answer, and only the new one stays', async () => {
    await using t = await createTestApp()
    for (let n = 0; n < 120; n++)
      await t.app.as(t.subscriber).fraud.report({ ...HOUSE, email: `p${n}@customer.example` })
    const [answer, old, key] = [await summary(t, HOUSE), await hashes(t), await localText(t)]
    assert.deepEqual(await t.app.operator.fraud.rotateKey(), { reports: 120, unreadable: 0 })
    assert.deepEqual(await summary(t, HOUSE), answer)
    assert.equal(
      (await hashes(t)).some((hash) => old.includes(hash)),
      false,
    )
    assert.match(await localText(t), /^2 [0-9a-f]{64}\n?$/)
    assert.equal((await localText(t)).includes(key.trim().slice(2)), false)
  })

  test('while it is replaced, reports under either are found and counted once; a cut-off one goes on', async () => {
    await using t = await createTestApp()
    const [b] = await shops(t, 1)
    await report(t, { ...HOUSE, email: 'pat@customer.example' })
    await layNewKey(t)
    const counts = async () => {
      const {
        report_count: dealers,
        names_used: names,
        emails_used: emails,
        addresses_used: addresses,
      } = await summary(t, HOUSE)
      return {
        dealers,
        names,
        emails,
        addresses,
        old: (await t.app.operator.fraud.stats()).under_old_keys,
      }
    }
    assert.deepEqual(await counts(), { dealers: 1, names: 1, emails: 1, addresses: 1, old: 1 })
    await report(t, { ...HOUSE, email: 'PAT@customer.example' }, b!.key)
    assert.deepEqual(await counts(), { dealers: 2, names: 1, emails: 1, addresses: 1, old: 1 })
    assert.equal(
      (
        await t.json('/v1/fraud/reports', {
          method: 'DELETE',
          body: JSON.stringify({ email: 'other@customer.example', ...HOUSE }),
        })
      ).status,
      404,
    )
    await t.app.jobs.run('fraud')
    assert.deepEqual(await counts(), { dealers: 2, names: 1, emails: 1, addresses: 1, old: 0 })
    assert.match(await localText(t), /^2 [0-9a-f]{64}\n?$/)
    assert.deepEqual(await count(t, 'fraud_evidence', 0), 0, 'nothing is left of the old key')
  })

  test('a report that is sent again meanwhile takes the place of the one under the old key', async () => {
    await using t = await createTestApp()
    await report(t, { ...HOUSE, notes: 'old' })
    await layNewKey(t)
    await report(t, { ...HOUSE, notes: 'new' })
    assert.deepEqual(
      [(await summary(t, HOUSE)).notes, (await t.app.operator.fraud.stats()).reports],
      [['new'], 1],
    )
  })

  test('a rotation that was cut off is ended by the next, which then makes no further key', async () => {
    await using t = await createTestApp()
    await report(t, HOUSE)
    await layNewKey(t)
    assert.deepEqual(await t.app.operator.fraud.rotateKey(), { reports: 1, unreadable: 0 })
    assert.match(await localText(t), /^2 [0-9a-f]{64}\n?$/)
  })

  for (const [what, act] of [
    [
      'removed',
      (t: TestApp) =>
        t.json('/v1/fraud/reports', { method: 'DELETE', body: JSON.stringify(HOUSE) }),
    ],
    [
      'replaced',
      (t: TestApp) =>
        t.json('/v1/fraud/reports', {
          method: 'POST',
          body: JSON.stringify({ ...HOUSE, shipping_name: 'Sam Roe' }),
        }),
    ],
    ['erased', (t: TestApp) => t.app.operator.fraud.erase(t.subscriber)],
  ] as const) {
    test(`a report that is ${what} while it is hashed anew leaves nothing behind`, async () => {
      await using t = await createTestApp()
      const [b] = await shops(t, 1)
      await report(t, { ...HOUSE, email: 'pat@customer.example' })
      await report(t, HOUSE)
      await layNewKey(t)
      // Another writer has the database for a moment: the act waits for it first, and what hashes
      // anew has read its list by then.
      let go!: () => void
      const held = t.app.ctx.engine.atomic(
        t.app.ctx,
        () =>
          new Promise<void>((resolve) => {
            go = resolve
          }),
      )
      await sleep(20)
      const acted = act(t)
      await sleep(20)
      const rehashed = rehashReports(t.app.ctx)
      await sleep(20)
      go()
      await Promise.all([held, acted, rehashed])
      await t.json('/v1/fraud/reports', { method: 'DELETE', body: JSON.stringify(HOUSE) })
      assert.deepEqual(
        [
          (await summary(t, HOUSE, b!.key)).matched,
          await count(t, 'fraud_signal'),
          await count(t, 'fraud_evidence'),
        ],
        [false, 0, 0],
      )
    })
  }

  test('a check looks under a key that another process has laid in this very turn', async () => {
    await using t = await createTestApp()
    await report(t, { ...HOUSE, email: 'pat@customer.example' })
    const signals = signalsOf(FraudSignals.parse({ email: 'pat@customer.example' }))
    const { dir, ctx } = t.app
    const email = signals.strong.get('email')!
    const texts = await keyTexts(t)
    const text = withNewKey(texts, ctx.random)
    const key = localKeys({ ...texts, byName: new Map([[LOCAL, text]]) }).at(-1)!
    // All of it in one turn, in which this process has asked for its keys already.
    const former = ctx.fraudKeys().current.hash('email', email)
    if (!isOnPostgres) writeFileSync(join(dir, 'keys', LOCAL), text)
    const laid = sqlOnRecord(
      dir,
      `${isOnPostgres ? `UPDATE fraud_key SET sealed = '${sealKey(ctx.secrets, LOCAL, text)}';` : ''}
        UPDATE fraud_report SET key = '${key.name}';
        UPDATE fraud_signal SET hash = ${key.hash('email', email)} WHERE hash = ${former};
        UPDATE state SET value = value + 1 WHERE name = 'fraud'`,
    )
    if (isOnPostgres) await laid
    const asked = summarize(ctx, signals, { subscriberId: 's', asker: 's' })
    assert.equal((await asked).matched, true)
    await laid
  })

  test('checks, reports and removals go on while it is replaced again and again', async () => {
    await using t = await createTestApp()
    const [b] = await shops(t, 1)
    const shop = t.app.as(t.subscriber)
    for (let n = 0; n < 60; n++)
      await shop.fraud.report({ ...HOUSE, email: `p${n}@customer.example` })
    await report(t, HOUSE, b!.key)
    let isOver = false
    const rotating = (async () => {
      for (let n = 0; n < 3; n++) await t.app.operator.fraud.rotateKey()
    })().finally(() => {
      isOver = true
    })
    let checks = 0
    for (; !isOver || checks < 5; checks++) {
      const found = await summary(t, { ...HOUSE, email: 'p0@customer.example' })
      assert.deepEqual(
        [found.matched_on, found.report_count, found.names_used, found.addresses_used],
        [['shipping_address_1', 'email'], 2, 1, 1],
      )
      await shop.fraud.remove({ email: `p${(checks % 50) + 5}@customer.example` })
      await shop.fraud.report({ ...HOUSE, email: `p${(checks % 50) + 5}@customer.example` })
      await sleep(1)
    }
    await rotating
    assert.deepEqual(
      [
        (await t.app.operator.fraud.stats()).reports,
        await count(t, 'fraud_evidence', 0),
        await count(t, 'fraud_signal'),
      ],
      [61, 0, 121],
    )
    assert.match(await localText(t), /^4 /)
  })
})

describe('a key that was lost', () => {
  test('is logged; nobody is answered before the reports are hashed anew, and none is there twice', async () => {
    const warned: unknown[] = []
    await using t = await createTestApp({
      log: {
        ...silentLog,
        warn: (...args: unknown[]) => {
          warned.push(args.at(-1))
        },
      } as Log,
    })
    await report(t, HOUSE)
    // Over nodes it mends itself at once, and who writes meanwhile waits for that.
    const letMend = await holdReports(t)
    await loseKeys(t)
    const writes = [
      ['POST', 'reports'],
      ['DELETE', 'reports'],
    ] as const
    for (const [method, path] of [['POST', 'check'], ...(isOnPostgres ? [] : writes)] as const) {
      const { status, body } = await t.json(`/v1/fraud/${path}`, {
        method,
        body: JSON.stringify(HOUSE),
      })
      assert.deepEqual([status, body.error.code], [503, 'service_unavailable'])
    }
    assert.equal(warned.length, 1, warned.join('\n'))
    assert.match(String(warned[0]), /lacks a key that fraud reports are kept under/)
    // Nobody waits for the hourly job.
    await letMend()
    const check = () => t.json('/v1/fraud/check', { method: 'POST', body: JSON.stringify(HOUSE) })
    await until(async () => (await check()).status !== 503, 'somebody is answered')
    await report(t, { ...HOUSE, notes: 'again' })
    assert.deepEqual(
      [(await summary(t, HOUSE)).notes, (await t.app.operator.fraud.stats()).reports],
      [['again'], 1],
    )
  })

  test('reports of one dealer that are the same by now become one: the newest, since the first', async () => {
    await using t = await createTestApp()
    await report(t, { ...HOUSE, notes: 'old' })
    t.clock.advance(DAY)
    await report(t, { ...HOUSE, email: 'pat@customer.example', notes: 'new' })
    // As a release leaves them that reads e-mails in another way.
    const { payload } = await t.app.ctx.read
      .selectFrom('fraud_report')
      .select('payload')
      .where('id', '=', 1)
      .executeTakeFirstOrThrow()
    const sealer = t.app.ctx.secrets.of(
      (await t.app.ctx.read.selectFrom('fraud_report').select('dealer').executeTakeFirstOrThrow())
        .dealer,
    )
    await t.app.ctx.db
      .updateTable('fraud_report')
      .set({
        payload: sealer.seal(
          sealer.open(payload, 'fraud report 1 signals'),
          'fraud report 2 signals',
        ),
      })
      .where('id', '=', 2)
      .execute()
    await t.app.operator.fraud.rotateKey()
    const { notes, first_reported: first, last_reported: last } = await summary(t, HOUSE)
    assert.deepEqual(
      { notes, first, last, reports: (await t.app.operator.fraud.stats()).reports },
      { notes: ['new'], first: '2026-11-21', last: '2026-11-22', reports: 1 },
    )
  })

  test(
    'two that make the first key at the same time have the same one',
    { skip: oneFolder },
    async () => {
      await using t = await createTestApp()
      makeFirstKey(t.app.dir, () => Buffer.alloc(32, 1))
      makeFirstKey(t.app.dir, () => Buffer.alloc(32, 2))
      assert.equal((await localText(t)).trim(), `1 ${'01'.repeat(32)}`)
      assert.deepEqual(
        readdirSync(join(t.app.dir, 'keys')).filter((name) => name.startsWith('fraud')),
        ['fraud-keys'],
      )
    },
  )
})

describe('what cannot be opened', () => {
  test('holds nobody up: its owner is answered, the rest gets a new key, again and again', async () => {
    await using t = await createTestApp()
    t.expectErrors(
      /the notes of a fraud report cannot be opened/,
      /a fraud report cannot be opened/,
    )
    const [b] = await shops(t, 1)
    await report(t, { ...HOUSE, notes: 'one' })
    await report(t, { ...HOUSE, email: 'pat@customer.example', notes: 'two' })
    await t.app.ctx.db
      .updateTable('fraud_report')
      .set({ payload: 's1.AAAA.AAAA', notes: 's1.AAAA.AAAA' })
      .where('id', '=', 1)
      .execute()
    assert.deepEqual((await summary(t, HOUSE)).notes, ['two'])
    for (const versions of [
      ['1', '2'],
      ['1', '3'],
    ]) {
      assert.deepEqual(await t.app.operator.fraud.rotateKey(), { reports: 1, unreadable: 1 })
      assert.deepEqual(
        (await localText(t))
          .trim()
          .split('\n')
          .map((line) => line.slice(0, 1)),
        versions,
      )
    }
    await t.app.jobs.run('fraud')
    const { under_old_keys: old, unreadable } = await t.app.operator.fraud.stats()
    assert.deepEqual([old, unreadable, await count(t, 'fraud_evidence', 0)], [0, 1, 0])
    // Who asks by what it was reported with still finds it.
    assert.equal((await summary(t, HOUSE, b!.key)).report_count, 1)
    assert.deepEqual(await t.app.operator.fraud.erase(t.subscriber), { removed: 2 })
    await t.app.jobs.run('fraud')
    assert.match(await localText(t), /^3 [0-9a-f]{64}\n?$/)
  })
})

describe('premises of dealers', () => {
  const PIKE = {
    premise_street: '410 MADE UP PIKE',
    premise_city: 'NASHVILLE',
    premise_state: 'TN',
    premise_zip: '37203',
  }
  const AT_PIKE = { billing_address_1: '410 Made Up Pike', billing_postcode: '37203' }

  test('are no signal after a rotation either, and a report of one is updated, not made twice', async () => {
    await using t = await createTestApp()
    await t.app.ctx.db.insertInto('dealer').values(dealerRow(PIKE)).execute()
    await report(t, { ...HOUSE, ...AT_PIKE })
    await t.app.operator.fraud.rotateKey()
    assert.equal((await summary(t, HOUSE)).billing_used, 0)
    await report(t, { ...HOUSE, ...AT_PIKE, notes: 'again' })
    assert.deepEqual(
      [
        (await t.app.operator.fraud.stats()).reports,
        (await summary(t, HOUSE)).notes,
        (await summary(t, HOUSE)).billing_used,
      ],
      [1, ['again'], 0],
    )
  })

  test('that a dealer moved to after the report are none from the next rotation on', async () => {
    await using t = await createTestApp()
    await report(t, { ...HOUSE, ...AT_PIKE })
    assert.equal((await summary(t, HOUSE)).billing_used, 1)
    await t.app.ctx.db.insertInto('dealer').values(dealerRow(PIKE)).execute()
    await report(t, { ...HOUSE, ...AT_PIKE, notes: 'again' })
    await t.app.operator.fraud.rotateKey()
    assert.deepEqual(
      [
        (await t.app.operator.fraud.stats()).reports,
        (await summary(t, HOUSE)).notes,
        (await summary(t, HOUSE)).billing_used,
      ],
      [1, ['again'], 0],
    )
  })

  test('a report that has nothing else keeps what it has, and is found again when the dealer moves away', async () => {
    await using t = await createTestApp()
    const at = { shipping_address_1: '410 Made Up Pike', shipping_postcode: '37203' }
    await report(t, at)
    await t.app.ctx.db.insertInto('dealer').values(dealerRow(PIKE)).execute()
    assert.deepEqual(await t.app.operator.fraud.rotateKey(), { reports: 1, unreadable: 0 })
    assert.equal((await summary(t, at)).matched, false)
    await t.app.ctx.db.deleteFrom('dealer').execute()
    assert.equal((await summary(t, at)).matched, true)
  })

  test('a report in which nothing can be read any more stays as it is', async () => {
    await using t = await createTestApp()
    t.expectErrors(/a fraud report cannot be opened: no strong signal/)
    await report(t, HOUSE)
    const { dealer } = await t.app.ctx.read
      .selectFrom('fraud_report')
      .select('dealer')
      .executeTakeFirstOrThrow()
    const sealer = t.app.ctx.secrets.of(dealer)
    const { payload } = await t.app.ctx.read
      .selectFrom('fraud_report')
      .select('payload')
      .executeTakeFirstOrThrow()
    const body = JSON.parse(sealer.open(payload, 'fraud report 1 signals')) as object
    await t.app.ctx.db
      .updateTable('fraud_report')
      .set({
        payload: sealer.seal(
          JSON.stringify({ ...body, shipping_address_1: '?' }),
          'fraud report 1 signals',
        ),
      })
      .execute()
    assert.deepEqual(await t.app.operator.fraud.rotateKey(), { reports: 0, unreadable: 1 })
    assert.equal((await summary(t, HOUSE)).matched, true)
  })
})

describe('whose report it is', () => {
  test('a removal leaves a report that says something else in a signal that is given', async () => {
    await using t = await createTestApp()
    await report(t, { ...HOUSE, email: 'one@customer.example' })
    await report(t, { ...HOUSE, email: 'two@customer.example' })
    const { body } = await t.json('/v1/fraud/reports', {
      method: 'DELETE',
      body: JSON.stringify({ ...HOUSE, email: 'one@customer.example' }),
    })
    assert.equal(body.data.removed, 1)
    assert.deepEqual((await summary(t, { email: 'two@customer.example' })).matched, true)
    assert.equal(
      (
        await t.json('/v1/fraud/reports', {
          method: 'DELETE',
          body: JSON.stringify({ ...HOUSE, email: 'three@customer.example' }),
        })
      ).status,
      404,
    )
  })

  test('a subscriber that leaves takes its reports with it', async () => {
    await using t = await createTestApp()
    const [b] = await shops(t, 1)
    await report(t, HOUSE)
    await report(t, HOUSE, b!.key)
    assert.deepEqual(await t.app.operator.fraud.erase(b!.name), { removed: 1 })
    assert.deepEqual(
      [
        (await summary(t, HOUSE)).report_count,
        (await t.app.operator.fraud.stats()).by_subscriber.length,
      ],
      [1, 1],
    )
  })
})
