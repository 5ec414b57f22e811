/** What other dealers sent stays unknown: an answer is a function of counts. */
import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { oneFolder } from '../harness/record.js'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { DAY } from '../../lib/core/clock.js'
import { openForTest as open } from '../../server/testing/open.js'
import { restoreBackup } from '../../lib/app/backup/restore.js'
import { createTestApp } from '../../server/testing/index.js'
import { shops } from './shops.js'

const HOUSE = { shipping_address_1: '12 Main Street', shipping_postcode: '85001' }

/** Which of a few values each report holds: the pattern of what is equal, without the values. */
interface Pattern {
  /** Three other dealers, the dealer that asks, and one of a partner. */
  dealer: number
  house: number
  billing: number | null
  email: number | null
  phone: number | null
  name: number | null
  ip: number | null
  item: number | null
}
const [ASKING, PARTNER] = [3, 4]
const some = (most: number) => fc.option(fc.integer({ min: 0, max: most }), { nil: null })
const pattern: fc.Arbitrary<Pattern> = fc.record({
  dealer: fc.integer({ min: 0, max: PARTNER }),
  house: fc.integer({ min: 0, max: 2 }),
  billing: some(2),
  email: some(2),
  phone: some(1),
  name: some(2),
  ip: some(2),
  item: some(2),
})

/**
 * The values of a pattern; those numbered 0 are what the asking dealer knows, all others follow
 * from a secret of their own.
 */
function reportOf(
  { house, billing, email, phone, name, ip, item }: Pattern,
  secret: string,
): Record<string, unknown> {
  const digits = (n: number) =>
    [...`${secret}${n}`]
      .reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 899_9999, 7)
      .toString()
      .padStart(7, '2')
      .replace(/^[01]/, '2')
  return {
    shipping_address_1:
      house === 0 ? '12 Main Street' : `${1 + (Number(digits(house)) % 9_000)} ${secret} Road`,
    shipping_postcode: house === 0 ? '85001' : '10001',
    ...(billing !== null && {
      billing_address_1:
        billing === 0 ? '9 Oak Avenue' : `${1 + (Number(digits(billing)) % 9_000)} ${secret} Lane`,
      billing_postcode: '10002',
    }),
    ...(email !== null && {
      email: email === 0 ? 'known@customer.example' : `${secret}${email}@customer.example`,
    }),
    ...(phone !== null && { phone: phone === 0 ? '602-555-0100' : `602${digits(phone)}` }),
    ...(name !== null && {
      shipping_name: name === 0 ? 'Pat Doe' : `${secret} Roe${'x'.repeat(name)}`,
    }),
    ...(ip !== null && {
      ip_address:
        ip === 0 ? '203.0.113.7' : `10.${Number(digits(ip)) % 250}.${secret.length}.${ip}`,
    }),
    ...(item !== null && {
      order_items: [
        {
          sku: item === 0 ? 'S-1' : `${secret}-${item}`,
          name: item === 0 ? 'Red Dot' : `${secret} item ${item}x`,
        },
      ],
    }),
    notes: `${secret} notes`,
    order_json: { secret },
  }
}

const ASKED = [
  HOUSE,
  { email: 'known@customer.example' },
  { phone: '602-555-0100', order_items: [{ sku: 'S-1' }, { name: 'Red Dot black' }] },
  {
    ...HOUSE,
    email: 'known@customer.example',
    shipping_name: 'Pat Doe',
    ip_address: '203.0.113.7',
  },
  { billing_address_1: '9 Oak Ave', billing_postcode: '10002' },
  { email: 'unknown@customer.example' },
]

async function answersTo(
  patterns: readonly Pattern[],
  secret: string,
  folder: string,
): Promise<string[]> {
  await using t = await createTestApp()
  await using there = await createTestApp()
  const dealers = await shops(t, 3)
  for (const each of [t, there]) await each.app.operator.fraud.addPartner('coast', 'ab'.repeat(32))
  for (const each of patterns) {
    const app = each.dealer === PARTNER ? there : t
    // What the asking dealer has reported itself, it knows.
    const body = JSON.stringify(reportOf(each, each.dealer === ASKING ? 'mine' : secret))
    assert.equal(
      (
        await app.json('/v1/fraud/reports', {
          method: 'POST',
          key: dealers[each.dealer]?.key ?? app.key,
          body,
        })
      ).status,
      200,
    )
  }
  const lines: string[] = []
  for await (const line of there.app.operator.fraud.exportBatch('coast')) lines.push(`${line}\n`)
  writeFileSync(join(folder, 'batch'), lines.join(''))
  await t.app.operator.fraud.importBatch('coast', join(folder, 'batch'))
  // Awaited here: the apps are closed at the end of this function.
  return await Promise.all(
    ASKED.map(async (body) =>
      (await t.request('/v1/fraud/check', { method: 'POST', body: JSON.stringify(body) })).text(),
    ),
  )
}

describe('what a dealer learns of others', () => {
  test('is the same to the byte where all their values are others, as long as the same ones are equal', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'qm-fraud-privacy-'))
    const known = Object.fromEntries(
      ['house', 'billing', 'email', 'phone', 'name', 'ip', 'item'].map((name) => [name, 0]),
    ) as unknown as Pattern
    const all = [0, 1, ASKING, PARTNER].flatMap((dealer) => [
      { ...known, dealer },
      { ...known, dealer, email: 1, ip: 1, billing: 1 },
    ])
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(pattern, { minLength: 1, maxLength: 8 }), async (patterns) => {
          assert.deepEqual(
            await answersTo(patterns, 'alder', folder),
            await answersTo(patterns, 'quince', folder),
          )
        }),
        { numRuns: 12, examples: [[all]] },
      )
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('an answer without a match has the same members as one with', async () => {
    await using t = await createTestApp()
    const [b] = await shops(t, 1)
    await t.json('/v1/fraud/reports', { method: 'POST', body: JSON.stringify(HOUSE) })
    const members = async (body: unknown) =>
      Object.keys(
        (
          await t.json('/v1/fraud/check', {
            method: 'POST',
            key: b!.key,
            body: JSON.stringify(body),
          })
        ).body.data.fraud,
      )
    assert.deepEqual(await members(HOUSE), await members({ email: 'nobody@customer.example' }))
  })

  test('guessing at what an order held ends after the own basket and ten more items a day', async () => {
    await using t = await createTestApp()
    const [b] = await shops(t, 1)
    await t.json('/v1/fraud/reports', {
      method: 'POST',
      key: b!.key,
      body: JSON.stringify({ ...HOUSE, order_items: [{ sku: 'S-11' }] }),
    })
    const overlap = async (sku: string) =>
      (
        await t.json('/v1/fraud/check', {
          method: 'POST',
          body: JSON.stringify({ ...HOUSE, order_items: [{ sku }] }),
        })
      ).body.data.fraud.items_overlap
    for (let n = 0; n < 11; n++) assert.equal(await overlap(`S-${n}`), 0)
    assert.deepEqual([await overlap('S-11'), await overlap('S-3')], [0, 0])
    t.clock.advance(DAY)
    assert.equal(await overlap('S-11'), 1)
  })

  test('another signal of the same report is not frozen by it', async () => {
    await using t = await createTestApp()
    const [b] = await shops(t, 1)
    await t.json('/v1/fraud/reports', {
      method: 'POST',
      key: b!.key,
      body: JSON.stringify({
        ...HOUSE,
        email: 'known@customer.example',
        order_items: [{ sku: 'S-1' }],
      }),
    })
    const overlap = async (body: object, sku: string) =>
      (
        await t.json('/v1/fraud/check', {
          method: 'POST',
          body: JSON.stringify({ ...body, order_items: [{ sku }] }),
        })
      ).body.data.fraud.items_overlap
    for (let n = 0; n < 12; n++) await overlap(HOUSE, `X-${n}`)
    assert.deepEqual(
      [
        await overlap(HOUSE, 'S-1'),
        await overlap(HOUSE, 'X-3'),
        await overlap({ email: 'known@customer.example' }, 'S-1'),
      ],
      [0, 0, 1],
    )
  })
})

describe('on the disk', () => {
  const SECRETS = [
    'Quincewood',
    'quincewood',
    '6025550143',
    '555-0143',
    'pat.quince',
    '203.0.113.77',
    'QUINCE-SKU',
    'private note of quince',
  ]

  test('no file of the folder holds a word of a report', async () => {
    await using t = await createTestApp()
    await t.json('/v1/fraud/reports', {
      method: 'POST',
      body: JSON.stringify({
        shipping_name: 'Pat Quincewood',
        shipping_address_1: '12 Quincewood Road',
        shipping_postcode: '85001',
        email: 'pat.quince@customer.example',
        phone: '602-555-0143',
        ip_address: '203.0.113.77',
        order_items: [{ sku: 'QUINCE-SKU' }],
        notes: 'private note of quince',
        order_json: { buyer: 'Quincewood' },
      }),
    })
    await t.json('/v1/fraud/check', {
      method: 'POST',
      body: JSON.stringify({ phone: '602-555-0143', order_items: [{ sku: 'QUINCE-SKU' }] }),
    })
    for (const path of filesOf(t.app.dir))
      for (const secret of SECRETS)
        assert.equal(readFileSync(path).includes(secret), false, `${secret} stands in ${path}`)
  })

  test(
    'the keys are outside the database, and a backup does not hold them',
    { skip: oneFolder },
    async () => {
      await using t = await createTestApp()
      await t.json('/v1/fraud/reports', { method: 'POST', body: JSON.stringify(HOUSE) })
      await t.app.operator.fraud.addPartner('coast', 'ab'.repeat(32))
      const to = mkdtempSync(join(tmpdir(), 'qm-fraud-backup-'))
      try {
        await t.app.operator.backup({ to })
        const [, secret] = readFileSync(join(t.app.dir, 'keys', 'fraud-keys'), 'utf8')
          .trim()
          .split(' ') as [string, string]
        const files = [
          ...filesOf(t.app.dir).filter((file) => !/fraud-(keys|partner-coast)$/.test(file)),
          ...filesOf(to),
        ]
        assert.ok(files.filter((file) => file.endsWith('quartermaster.db')).length === 2)
        for (const path of files) {
          const bytes = readFileSync(path)
          for (const hex of [secret, 'ab'.repeat(32)])
            assert.deepEqual(
              [bytes.includes(hex), bytes.includes(Buffer.from(hex, 'hex'))],
              [false, false],
              path,
            )
        }
      } finally {
        rmSync(to, { recursive: true })
      }
    },
  )

  test(
    'a restore brings them from their own copy; one that is there already stays',
    { skip: oneFolder },
    async () => {
      await using t = await createTestApp()
      await t.json('/v1/fraud/reports', { method: 'POST', body: JSON.stringify(HOUSE) })
      await t.app.operator.fraud.addPartner('coast', 'ab'.repeat(32))
      const scratch = mkdtempSync(join(tmpdir(), 'qm-fraud-restore-'))
      try {
        const [backup, dir, keys] = [
          join(scratch, 'backup'),
          join(scratch, 'dir'),
          join(t.app.dir, 'keys'),
        ]
        await t.app.operator.backup({ to: backup })
        mkdirSync(join(dir, 'keys'), { recursive: true })
        writeFileSync(join(dir, 'keys', 'fraud-partner-coast'), 'cd'.repeat(32))
        await restoreBackup({ backup, dir, keys, now: () => t.clock.ms, dryRun: true })
        assert.deepEqual(readdirSync(join(dir, 'keys')), ['fraud-partner-coast'])
        await restoreBackup({ backup, dir, keys, now: () => t.clock.ms })
        assert.equal(
          readFileSync(join(dir, 'keys', 'fraud-keys'), 'utf8'),
          readFileSync(join(keys, 'fraud-keys'), 'utf8'),
        )
        assert.equal(statSync(join(dir, 'keys', 'fraud-keys')).mode & 0o777, 0o600)
        assert.equal(
          readFileSync(join(dir, 'keys', 'fraud-partner-coast'), 'utf8'),
          'cd'.repeat(32),
        )
        await using restored = await open({ dir, worker: false, now: () => t.clock.ms })
        assert.equal(
          (await restored.as({ key: t.key }).fraud.check(HOUSE as never)).fraud.matched,
          true,
        )
        writeFileSync(join(keys, 'fraud-keys'), 'damaged')
        await assert.rejects(
          restoreBackup({ backup, dir: join(scratch, 'other'), keys }),
          /fraud-keys is damaged/,
        )
      } finally {
        rmSync(scratch, { recursive: true })
      }
    },
  )
})

function filesOf(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}
