/**
 * What two installations tell each other that agreed on a key, and that neither a file nor a dealer
 * counts twice.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { DAY } from '../../lib/core/clock.js'
import { silentLog } from '../../lib/core/log.js'
import { partnerKey } from '../../lib/fraud/keys/keys.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { writeKey, keyTexts, spoilKey } from './kept-keys.js'
import { dealerRow, shops } from './shops.js'

let scratch: string
before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-fraud-'))
})
after(() => rmSync(scratch, { recursive: true, force: true }))

const HOUSE = {
  shipping_name: 'Pat Doe',
  shipping_address_1: '12 Main Street',
  shipping_postcode: '85001',
}
const FULL = {
  ...HOUSE,
  email: 'pat@customer.example',
  phone: '602-555-0100',
  ip_address: '203.0.113.7',
  billing_address_1: '9 Oak Ave',
  billing_postcode: '10001',
  order_items: [{ sku: 'S-1', name: 'Red Dot' }],
}
const SHARED = 'ab'.repeat(32)
const OTHER = 'cd'.repeat(32)
const summary = async (t: TestApp, body: unknown, key = t.key) =>
  (await t.json('/v1/fraud/check', { method: 'POST', key, body: JSON.stringify(body) })).body.data
    .fraud
const report = async (t: TestApp, body: unknown, key = t.key) =>
  assert.equal(
    (await t.json('/v1/fraud/reports', { method: 'POST', key, body: JSON.stringify(body) })).status,
    200,
  )

async function batchOf(
  t: TestApp,
  name: string,
  partner = 'coast',
  meanwhile: (line: number) => Promise<unknown> = async () => {},
): Promise<string> {
  const path = join(scratch, name)
  const lines: string[] = []
  for await (const line of t.app.operator.fraud.exportBatch(partner))
    await meanwhile(lines.push(line))
  writeFileSync(path, `${lines.join('\n')}\n`)
  return path
}

const used = async (t: TestApp, body: unknown) => {
  const {
    names_used: names,
    emails_used: emails,
    phones_used: phones,
    ips_used: ips,
    addresses_used: addresses,
    billing_used: billing,
    items_used: items,
  } = await summary(t, body)
  return { names, emails, phones, ips, addresses, billing, items }
}
const ONCE = { names: 1, emails: 1, phones: 1, ips: 1, addresses: 1, billing: 1, items: 1 }

/** A batch that says what it is told to, under the key that a partner shares. */
async function forged(
  t: TestApp,
  name: string,
  reports: readonly object[],
  { madeAt = t.clock.ms, sender = '9f'.repeat(16) } = {},
): Promise<string> {
  const lines = [{ batch: 1, form: 1, made_at: madeAt, installation: sender }, ...reports]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('')
  const seal = partnerKey(await keyTexts(t), 'coast')!.digest(
    'batch',
    `${reports.length} ${createHash('sha256').update(lines).digest('hex')}`,
  )
  const path = join(scratch, name)
  writeFileSync(path, `${lines}${JSON.stringify({ reports: reports.length, seal })}\n`)
  return path
}
const line = (n: number, more: object = {}) => ({
  dealer: `d${n}`,
  first: '2026-01-01',
  last: '2026-02-01',
  signals: [
    [1, String(n)],
    [3, String(-n)],
  ],
  ...more,
})

describe('two installations that agreed on a key', () => {
  test("count each other's dealers, tell no value, and take a newer batch in place of the older", async () => {
    await using here = await createTestApp()
    await using there = await createTestApp()
    for (const t of [here, there]) await t.app.operator.fraud.addPartner('coast', SHARED)
    const [b, c] = await shops(there, 2)
    await report(there, { ...HOUSE, email: 'pat@customer.example', notes: 'theirs' }, b!.key)
    await report(there, { ...HOUSE, shipping_name: 'Sam Roe' }, c!.key)
    await report(here, HOUSE)
    const path = await batchOf(there, 'one')
    const text = readFileSync(path, 'utf8')
    for (const secret of ['main', 'pat', 'theirs', b!.id, '85001', 'roe'])
      assert.equal(text.toLowerCase().includes(secret), false, secret)
    assert.deepEqual(await here.app.operator.fraud.importBatch('coast', path), {
      reports: 2,
      dealers: 2,
      removed: 0,
    })
    const found = await summary(here, HOUSE)
    assert.deepEqual([found.report_count, found.notes, found.reported_by_you], [3, [], true])
    assert.deepEqual((await summary(here, { email: 'PAT@customer.example' })).matched_on, ['email'])
    there.clock.advance(DAY)
    here.clock.advance(DAY)
    await there.json('/v1/fraud/reports', {
      method: 'DELETE',
      key: b!.key,
      body: JSON.stringify(HOUSE),
    })
    assert.deepEqual(
      await here.app.operator.fraud.importBatch('coast', await batchOf(there, 'two')),
      { reports: 1, dealers: 1, removed: 2 },
    )
    assert.equal((await summary(here, { email: 'pat@customer.example' })).matched, false)
    assert.equal((await summary(here, HOUSE)).report_count, 2)
    assert.match(readFileSync(await batchOf(here, 'back'), 'utf8'), /\{"reports":1,"seal":/)
  })

  test('a batch that was changed, cut off, repeated or sealed otherwise is refused, and changes nothing', async () => {
    await using t = await createTestApp()
    await using there = await createTestApp()
    for (const each of [t, there]) await each.app.operator.fraud.addPartner('coast', SHARED)
    await t.app.operator.fraud.addPartner('other', OTHER)
    await report(there, HOUSE)
    const path = await batchOf(there, 'three')
    const text = readFileSync(path, 'utf8')
    const refused = async (content: string, reason: RegExp, partner = 'coast') => {
      const file = join(scratch, 'changed')
      writeFileSync(file, content)
      await assert.rejects(t.app.operator.fraud.importBatch(partner, file), reason)
    }
    const [first, second, third] = text.trim().split('\n') as [string, string, string]
    await refused(text.replace('"first":"2026', '"first":"2025'), /cut off or changed/)
    await refused(`${first}\n${second}\n`, /cut off or changed/)
    await refused(`${first}\n${third}\n`, /cut off or changed/)
    await refused(text.replace('"reports":1', '"reports":2'), /cut off or changed/)
    await refused(`${text}${second}\n`, /goes on behind its seal/)
    await refused('upc,name\n', /is not a batch/)
    await refused(text, /sealed with another key/, 'other')
    await assert.rejects(t.app.operator.fraud.importBatch('nobody', path), /is not a partner/)
    await assert.rejects(
      t.app.operator.fraud.importBatch('coast', join(scratch, 'nowhere')),
      /is not there/,
    )
    assert.equal((await t.app.operator.fraud.stats()).reports, 0)
    // Mailed as text, it is the same.
    writeFileSync(path, text.replaceAll('\n', '\r\n'))
    await t.app.operator.fraud.importBatch('coast', path)
    await assert.rejects(t.app.operator.fraud.importBatch('coast', path), /not newer/)
  })
})

describe('a value counts once', () => {
  test('that is known here and to a partner, through rotations, and after the partner ends', async () => {
    await using t = await createTestApp()
    await using there = await createTestApp()
    await report(t, FULL)
    for (const each of [t, there]) await each.app.operator.fraud.addPartner('coast', SHARED)
    await report(there, FULL)
    await t.app.operator.fraud.importBatch('coast', await batchOf(there, 'once'))
    assert.deepEqual([(await summary(t, HOUSE)).report_count, await used(t, HOUSE)], [2, ONCE])
    await report(t, { ...FULL, email: 'two@customer.example' })
    assert.deepEqual(await used(t, HOUSE), { ...ONCE, emails: 2 })
    await t.app.operator.fraud.rotateKey()
    assert.deepEqual(await used(t, HOUSE), { ...ONCE, emails: 2 })
    assert.deepEqual(await t.app.operator.fraud.removePartner('coast'), { reports: 1 })
    assert.deepEqual(
      [(await summary(t, HOUSE)).report_count, await used(t, HOUSE)],
      [1, { ...ONCE, emails: 2 }],
    )
  })

  test('that two partners know, where it is what was asked for', async () => {
    await using t = await createTestApp()
    for (const [name, key] of [
      ['coast', SHARED],
      ['lakes', OTHER],
    ] as const) {
      await using there = await createTestApp()
      await t.app.operator.fraud.addPartner(name, key)
      await there.app.operator.fraud.addPartner(name, key)
      await report(there, HOUSE)
      await t.app.operator.fraud.importBatch(name, await batchOf(there, name, name))
    }
    const {
      addresses_used: addresses,
      names_used: names,
      report_count: dealers,
    } = await summary(t, HOUSE)
    // The names under two keys that nobody here knows cannot be told to be one.
    assert.deepEqual({ addresses, names, dealers }, { addresses: 1, names: 2, dealers: 2 })
  })
})

describe('a dealer counts once', () => {
  test("one's own batch is refused", async () => {
    await using t = await createTestApp()
    await t.app.operator.fraud.addPartner('coast', SHARED)
    await report(t, HOUSE)
    await assert.rejects(
      t.app.operator.fraud.importBatch('coast', await batchOf(t, 'own')),
      /was made by this installation/,
    )
    assert.equal((await summary(t, HOUSE)).report_count, 1)
  })

  test('a key is shared with one partner, and an installation is one partner', async () => {
    await using t = await createTestApp()
    await using there = await createTestApp()
    await t.app.operator.fraud.addPartner('coast', SHARED)
    await assert.rejects(
      t.app.operator.fraud.addPartner('lakes', SHARED),
      /shared with coast already/,
    )
    await t.app.operator.fraud.addPartner('lakes', OTHER)
    for (const [name, key] of [
      ['coast', SHARED],
      ['lakes', OTHER],
    ] as const)
      await there.app.operator.fraud.addPartner(name, key)
    await report(there, HOUSE)
    await t.app.operator.fraud.importBatch('coast', await batchOf(there, 'as-coast'))
    await assert.rejects(
      t.app.operator.fraud.importBatch('lakes', await batchOf(there, 'as-lakes', 'lakes')),
      /comes from the installation that coast is/,
    )
    assert.equal((await summary(t, HOUSE)).report_count, 1)
  })

  test('a partner stays the installation that it was', async () => {
    await using t = await createTestApp()
    await using there = await createTestApp()
    await using stranger = await createTestApp()
    for (const each of [t, there, stranger])
      await each.app.operator.fraud.addPartner('coast', SHARED)
    await t.app.operator.fraud.importBatch('coast', await batchOf(there, 'known'))
    stranger.clock.advance(DAY)
    t.clock.advance(DAY)
    await assert.rejects(
      t.app.operator.fraud.importBatch('coast', await batchOf(stranger, 'strange')),
      /comes from another installation than coast's batches before/,
    )
  })
})

describe('an export', () => {
  test('beside a server can be taken in: with what was written anew, without what went', async () => {
    await using t = await createTestApp()
    await using there = await createTestApp()
    for (const each of [t, there]) await each.app.operator.fraud.addPartner('coast', SHARED)
    for (let n = 0; n < 5; n++) await report(there, { ...HOUSE, email: `p${n}@customer.example` })
    const path = await batchOf(there, 'beside', 'coast', async (lines) => {
      if (lines !== 1) return
      // The day ends, one report comes, one goes, one is written anew.
      there.clock.advance(DAY)
      await report(there, { ...HOUSE, email: 'new@customer.example' })
      await report(there, { ...HOUSE, email: 'p1@customer.example' })
      assert.equal(
        (
          await there.json('/v1/fraud/reports', {
            method: 'DELETE',
            body: JSON.stringify({ email: 'p0@customer.example' }),
          })
        ).status,
        200,
      )
    })
    assert.deepEqual(await t.app.operator.fraud.importBatch('coast', path), {
      reports: 4,
      dealers: 1,
      removed: 0,
    })
    const found = await Promise.all(
      ['p0', 'p1', 'p2', 'new'].map(
        async (name) => (await summary(t, { email: `${name}@customer.example` })).last_reported,
      ),
    )
    assert.deepEqual(found, [null, '2026-11-21', '2026-11-21', null])
  })

  test('leaves premises of dealers out, and what has nothing else', async () => {
    await using t = await createTestApp()
    await using there = await createTestApp()
    for (const each of [t, there]) await each.app.operator.fraud.addPartner('coast', SHARED)
    const pike = { billing_address_1: '410 Made Up Pike', billing_postcode: '37203' }
    await report(there, { ...HOUSE, ...pike })
    await report(there, { shipping_address_1: '410 Made Up Pike', shipping_postcode: '37203' })
    await there.app.ctx.db
      .insertInto('dealer')
      .values(
        dealerRow({
          premise_street: '410 MADE UP PIKE',
          premise_city: 'NASHVILLE',
          premise_state: 'TN',
          premise_zip: '37203',
        }),
      )
      .execute()
    assert.equal(
      (await t.app.operator.fraud.importBatch('coast', await batchOf(there, 'premises'))).reports,
      1,
    )
    assert.deepEqual(
      [(await summary(t, pike)).matched, (await summary(t, HOUSE)).billing_used],
      [false, 0],
    )
  })

  test('does not tell the order of reporting', async () => {
    await using t = await createTestApp()
    await t.app.operator.fraud.addPartner('coast', SHARED)
    for (let n = 0; n < 24; n++)
      await t.app.as(t.subscriber).fraud.report({ ...HOUSE, email: `p${n}@customer.example` })
    const key = partnerKey(await keyTexts(t), 'coast')!
    const place = new Map(
      Array.from({ length: 24 }, (_, n) => [
        String(key.hash('email', `p${n}@customer.example`)),
        n,
      ]),
    )
    const orders = await Promise.all(
      ['a', 'b'].map(async (name) =>
        readFileSync(await batchOf(t, name), 'utf8')
          .split('\n')
          .flatMap((text) =>
            [...text.matchAll(/\[3,"(-?\d+)"\]/g)].map(([, hash]) => place.get(hash!)!),
          ),
      ),
    )
    for (const order of orders) {
      assert.equal(order.length, 24)
      assert.notDeepEqual(
        order,
        order.toSorted((a, b) => a - b),
      )
    }
    assert.notDeepEqual(orders[0], orders[1])
  })
})

describe('an import', () => {
  test('that is refused half-way changes nothing, however its batch is sealed', async () => {
    await using t = await createTestApp()
    await t.app.operator.fraud.addPartner('coast', SHARED)
    const whole = Array.from({ length: 150 }, (_, n) => line(n + 1))
    assert.deepEqual(
      await t.app.operator.fraud.importBatch('coast', await forged(t, 'whole', whole)),
      {
        reports: 150,
        dealers: 150,
        removed: 0,
      },
    )
    const before = await t.app.operator.fraud.stats()
    for (const wrong of [
      {
        signals: [
          [1, '5'],
          [1, '5'],
        ],
      },
      {
        signals: [
          [1, '5'],
          [3, '5'],
        ],
      },
      { last: '9999-12-31' },
      { last: '1' },
    ]) {
      t.clock.advance(1)
      await assert.rejects(
        t.app.operator.fraud.importBatch(
          'coast',
          await forged(t, 'wrong', [...whole.map((_, n) => line(1_000 + n)), line(5_000, wrong)]),
        ),
        /says what cannot be: the \w+ of report 151/,
      )
    }
    assert.deepEqual(
      [
        await t.app.operator.fraud.stats(),
        (await t.app.ctx.read.selectFrom('fraud_report').select('id').execute()).length,
      ],
      [before, 150],
    )
  })

  test('believes the bytes that it has verified: a file that changes between the readings is refused', async () => {
    await using t = await createTestApp()
    await t.app.operator.fraud.addPartner('coast', SHARED)
    await t.app.operator.fraud.importBatch('coast', await forged(t, 'first', [line(1)]))
    t.clock.advance(1)
    const path = await forged(t, 'second', [line(2), line(3)])
    const other = readFileSync(await forged(t, 'third', [line(4), line(5)]), 'utf8')
    // The act that stands between the two readings: what an import that was cut off left is
    // removed.
    const { atomic } = t.app.ctx.engine
    let isSwapped = false
    Object.assign(t.app.ctx.engine, {
      atomic: (...args: Parameters<typeof atomic>) => {
        if (!isSwapped) writeFileSync(path, other)
        isSwapped = true
        return atomic(...args)
      },
    })
    await assert.rejects(
      t.app.operator.fraud.importBatch('coast', path),
      /was changed while it was read/,
    )
    Object.assign(t.app.ctx.engine, { atomic })
    assert.deepEqual(
      [
        isSwapped,
        (await t.app.operator.fraud.stats()).partners.map(({ reports }) => reports),
        (await t.app.ctx.read.selectFrom('fraud_report').select('id').execute()).length,
      ],
      [true, [1], 1],
    )
  })

  test('that is cut off is not seen, and the next one removes what it left', async () => {
    await using t = await createTestApp()
    await using there = await createTestApp()
    for (const each of [t, there]) await each.app.operator.fraud.addPartner('coast', SHARED)
    await report(there, HOUSE)
    const path = await batchOf(there, 'cut')
    await t.app.operator.fraud.importBatch('coast', path)
    // As a kill leaves it: rows of a batch that never came to hold.
    await t.app.ctx.db.updateTable('fraud_partner').set({ batch: 1, made_at: 0 }).execute()
    assert.deepEqual(
      [(await summary(t, HOUSE)).matched, (await t.app.operator.fraud.stats()).reports],
      [false, 0],
    )
    assert.deepEqual(await t.app.operator.fraud.importBatch('coast', path), {
      reports: 1,
      dealers: 1,
      removed: 0,
    })
    assert.deepEqual(
      [
        (await summary(t, HOUSE)).report_count,
        (await t.app.ctx.read.selectFrom('fraud_report').select('id').execute()).length,
      ],
      [1, 1],
    )
  })
})

describe("a partner's key that is damaged", () => {
  const COAST = 'fraud-partner-coast'
  const damages: [name: string, damage: (t: TestApp) => Promise<void>][] = [
    ['is cut off', (t) => writeKey(t, COAST, 'ab'.repeat(20))],
    ['is empty', (t) => writeKey(t, COAST, '')],
    ['cannot be read', (t) => spoilKey(t, COAST)],
  ]
  for (const [name, damage] of damages) {
    test(
      `${name}: that partner stops, all other checks and reports go on, ` +
        'and it comes back with its key',
      async () => {
        await using there = await createTestApp()
        await using other = await createTestApp()
        const lines: string[] = []
        const log = {
          ...silentLog,
          error: (_: unknown, message?: string) => {
            lines.push(message ?? '')
          },
        }
        await using opened = await createTestApp({
          log,
          expectErrors: [/the key of a partner cannot be read/],
        })
        await there.app.operator.fraud.addPartner('coast', SHARED)
        await other.app.operator.fraud.addPartner('river', OTHER)
        await opened.app.operator.fraud.addPartner('coast', SHARED)
        await opened.app.operator.fraud.addPartner('river', OTHER)
        await report(there, HOUSE)
        await report(other, { ...HOUSE, shipping_address_1: '77 Elm Road' })
        await opened.app.operator.fraud.importBatch('coast', await batchOf(there, `coast ${name}`))
        await opened.app.operator.fraud.importBatch(
          'river',
          await batchOf(other, `river ${name}`, 'river'),
        )
        const elm = { ...HOUSE, shipping_address_1: '77 Elm Road' }
        const counts = async (t: TestApp) => [
          (await summary(t, HOUSE)).report_count,
          (await summary(t, elm)).report_count,
        ]
        assert.deepEqual(await counts(opened), [1, 1])
        await damage(opened)
        await report(opened, { ...HOUSE, shipping_address_1: '5 Oak Lane' })
        assert.deepEqual(await counts(opened), [0, 1])
        assert.ok(lines.some((line) => line.startsWith('the key of a partner cannot be read')))
        assert.equal(
          (await summary(opened, { ...HOUSE, shipping_address_1: '5 Oak Lane' })).report_count,
          1,
        )
        await opened.app.jobs.run('fraud')
        await assert.rejects(batchOf(opened, `none ${name}`), /fraud-partner-coast/)
        await batchOf(opened, `still ${name}`, 'river')
        await opened.app.operator.fraud.addPartner('lake', 'ef'.repeat(32))
        await writeKey(opened, COAST, `${SHARED}\n`)
        assert.deepEqual(await counts(opened), [1, 1])
      },
    )
  }
})
