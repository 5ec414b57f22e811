/**
 * The audit of what operators did: every row is chained, and whatever is done to it afterwards is
 * found.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { audit } from '../../lib/accounts/audit.js'
import { quartermasterSchema } from '../../lib/db/migrations/quartermaster.js'
import { openForTest as open } from '../../server/testing/open.js'
import { isOnPostgres, oneFolder, sqlOnRecord } from '../harness/record.js'
import { json, run } from '../server/launcher.js'

/** Where the engine has the highest number that it gave. */
const NUMBERS = isOnPostgres ? 'given_number' : 'sqlite_sequence'

/** A folder whose audit has the making of a subscriber and these acts after it. */
async function folderWith(acts: number) {
  const dir = mkdtempSync(join(tmpdir(), 'qm-audit-'))
  const app = await open({ dir, worker: false, actor: 'test' })
  await app.operator.subscribers.create({ name: 'Shop', email: 'a@shop.example' })
  for (let n = 2; n <= acts; n++) await audit(app.ctx, 'test.act', { n })
  await app.close()
  return {
    dir,
    sql: (text: string) => sqlOnRecord(dir, text),
    verify: async (anchor?: { seq: number; mac: string }) => {
      await using opened = await open({ dir, worker: false })
      return opened.operator.audit.verify({ anchor })
    },
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  }
}

describe('an audit that nobody touched', () => {
  test('is sound, and its head is its last row', async () => {
    using t = await folderWith(1_203)
    const found = await t.verify()
    assert.deepEqual(
      { ...found, head: found.head!.seq },
      { sound: true, rows: 1_203, head: 1_203, joined: [], faults: [] },
    )
    assert.deepEqual((await t.verify(found.head!)).faults, [])
  })

  test('is sound in an installation in which nothing was done', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'qm-audit-'))
    await using app = await open({ dir, worker: false })
    assert.deepEqual(await app.operator.audit.verify(), {
      sound: true,
      rows: 0,
      head: null,
      joined: [],
      faults: [],
    })
    rmSync(dir, { recursive: true })
  })

  test('goes on over restarts, and acts at the same moment follow one another', async () => {
    using t = await folderWith(3)
    await using app = await open({ dir: t.dir, worker: false })
    await using other = await open({ dir: t.dir, worker: false })
    await Promise.all(
      Array.from({ length: 40 }, (_, i) => audit((i % 2 ? app : other).ctx, 'test.act', { i })),
    )
    assert.deepEqual(
      [(await app.operator.audit.verify()).rows, (await app.operator.audit.verify()).faults],
      [43, []],
    )
  })
})

test('has every save and every import of a feed, by whom, and no dry run or refusal', async () => {
  using t = await folderWith(1)
  await using app = await open({ dir: t.dir, worker: false, actor: 'test' })
  const document = {
    distributors: {},
    targets: {},
    notification_email: 'a@shop.example',
    pricing: {},
    product_restrictions: {},
  }
  await app.operator.configurations.put('Shop', { document })
  await assert.rejects(app.operator.configurations.put('Shop', { document: {} }))
  const [file, broken] = [join(t.dir, 'davidsons.csv'), join(t.dir, 'broken.csv')]
  writeFileSync(
    file,
    'Item #,Item Description,Dealer Price,Quantity,UPC Code,Gun Type\nR1,A scope,90.00,5,012345678905,OPTICS\n',
  )
  writeFileSync(broken, '')
  await app.operator.feeds.import({ distid: 'DAV', file }, { dryRun: true })
  await app.operator.feeds.import({ distid: 'DAV', file })
  await app.operator.feeds.import({ distid: 'DAV', file: broken })
  const rows = await app.ctx.read
    .selectFrom('audit')
    .select(['actor', 'action', 'detail'])
    .where('seq', '>', 1)
    .orderBy('seq')
    .execute()
  const { id } = (await app.operator.subscribers.list())[0]!
  assert.deepEqual(
    rows.map(({ actor, action, detail }) => [actor, action, JSON.parse(detail)]),
    [
      ['test', 'config.save', { subscriber: id, version: 1 }],
      [
        'test',
        'feeds.import',
        { source: 'DAV/davidsons', file: 'davidsons.csv', force: false, outcome: 'taken' },
      ],
    ],
  )
  assert.equal((await app.operator.audit.verify()).sound, true)
})

describe('what is done to the audit afterwards', () => {
  const CHANGED = 'the row, or its place, was changed: its digest does not fit'
  const tampers: { name: string; sql: string; finds: { seq: number; fault: string }[] }[] = [
    {
      name: 'the time of a row',
      sql: 'UPDATE audit SET at = at + 1 WHERE seq = 4',
      finds: [{ seq: 4, fault: CHANGED }],
    },
    {
      name: 'its actor',
      sql: "UPDATE audit SET actor = 'cli' WHERE seq = 4",
      finds: [{ seq: 4, fault: CHANGED }],
    },
    {
      name: 'its action',
      sql: "UPDATE audit SET action = 'test.other' WHERE seq = 4",
      finds: [{ seq: 4, fault: CHANGED }],
    },
    {
      name: 'its detail',
      sql: 'UPDATE audit SET detail = \'{"n":5}\' WHERE seq = 4',
      finds: [{ seq: 4, fault: CHANGED }],
    },
    {
      name: 'its digest, which is also that of the row after it',
      sql: 'UPDATE audit SET mac = (SELECT mac FROM audit WHERE seq = 5) WHERE seq = 4',
      finds: [
        { seq: 4, fault: CHANGED },
        { seq: 5, fault: CHANGED },
      ],
    },
    {
      name: 'the first row',
      sql: "UPDATE audit SET actor = 'cli' WHERE seq = 1",
      finds: [{ seq: 1, fault: CHANGED }],
    },
    {
      name: 'the last row',
      sql: "UPDATE audit SET actor = 'cli' WHERE seq = 8",
      finds: [{ seq: 8, fault: CHANGED }],
    },
    {
      name: 'a row that is gone',
      sql: 'DELETE FROM audit WHERE seq = 4',
      finds: [{ seq: 4, fault: 'the row is missing' }],
    },
    {
      name: 'rows that are gone',
      sql: 'DELETE FROM audit WHERE seq BETWEEN 3 AND 5',
      finds: [{ seq: 3, fault: 'the rows up to 5 are missing' }],
    },
    {
      name: 'the first rows',
      sql: 'DELETE FROM audit WHERE seq < 3',
      finds: [{ seq: 1, fault: 'the rows up to 2 are missing' }],
    },
    {
      name: 'a row that is gone, and the others moved up',
      sql:
        'DELETE FROM audit WHERE seq = 4; UPDATE audit SET seq = seq - 1 WHERE seq > 4; UPDATE ' +
        `${NUMBERS} SET seq = 7`,
      finds: [4, 5, 6, 7].map((seq) => ({ seq, fault: CHANGED })),
    },
    {
      name: 'two rows that change places',
      sql:
        'UPDATE audit SET seq = 99 WHERE seq = 4; UPDATE audit SET seq = 4 WHERE seq = 5; ' +
        'UPDATE audit SET seq = 5 WHERE seq = 99; UPDATE ' +
        `${NUMBERS} SET seq = 8`,
      finds: [4, 5, 6].map((seq) => ({ seq, fault: CHANGED })),
    },
    {
      name: 'a row of somebody else',
      sql: "INSERT INTO audit (at, actor, action, detail) VALUES (1, 'cli', 'test.act', '{}')",
      finds: [{ seq: 9, fault: CHANGED }],
    },
    {
      name: 'the last rows, cut off',
      sql: 'DELETE FROM audit WHERE seq > 6',
      finds: [{ seq: 7, fault: 'the rows up to 8 are missing' }],
    },
  ]
  for (const { name, sql, finds } of tampers) {
    test(`${name}: is found`, async () => {
      using t = await folderWith(8)
      assert.equal((await t.verify()).sound, true)
      await t.sql(sql)
      const { sound, faults } = await t.verify()
      assert.deepEqual([sound, faults], [false, finds])
    })
  }

  test('a cut that hides the last numbers is found with an anchor, and so are rows written over it', async () => {
    using t = await folderWith(8)
    const { head } = await t.verify()
    await t.sql(`DELETE FROM audit WHERE seq > 6; UPDATE ${NUMBERS} SET seq = 6`)
    assert.equal((await t.verify()).sound, true, 'from inside it cannot be seen')
    assert.deepEqual((await t.verify(head!)).faults, [
      { seq: 7, fault: 'the rows up to 8 are missing' },
    ])
    await using app = await open({ dir: t.dir, worker: false })
    for (let n = 7; n <= 9; n++) await audit(app.ctx, 'test.act', { n: -n })
    assert.deepEqual((await app.operator.audit.verify({ anchor: head! })).faults, [
      { seq: 8, fault: 'the row is not the one of the anchor' },
    ])
  })

  test('a number that was cut off is not given again', async () => {
    using t = await folderWith(8)
    await t.sql('DELETE FROM audit WHERE seq > 6')
    await using app = await open({ dir: t.dir, worker: false })
    await audit(app.ctx, 'test.act', {})
    const { faults, head } = await app.operator.audit.verify()
    assert.deepEqual([faults, head!.seq], [[{ seq: 7, fault: 'the rows up to 8 are missing' }], 9])
  })

  test('at most a hundred faults are told', async () => {
    using t = await folderWith(150)
    await t.sql("UPDATE audit SET actor = 'cli'")
    assert.equal((await t.verify()).faults.length, 100)
  })
})

describe('a folder of an older release', { skip: oneFolder }, () => {
  const AT = quartermasterSchema.findIndex((step) => step.includes('ALTER TABLE audit'))
  /**
   * The folder as it was before the step that gave the audit its chain: without what that step and
   * later ones brought.
   */
  const later = (what: RegExp) =>
    quartermasterSchema.slice(AT).flatMap((step) => [...step.matchAll(what)])
  const OLDER = [
    // The last one first, since it may refer to earlier ones; some have another name by now.
    ...later(/^CREATE TABLE (\w+)/gm)
      .toReversed()
      .map(([, table]) => `DROP TABLE IF EXISTS ${table};`),
    ...later(/^ALTER TABLE (\w+) ADD COLUMN (\w+)/gm).map(
      ([, table, column]) => `ALTER TABLE ${table} DROP COLUMN ${column};`,
    ),
    `PRAGMA user_version = ${AT}`,
  ].join(' ')

  test('has its rows taken into the chain at its first start, once, and says so', async () => {
    using t = await folderWith(1_203)
    await t.sql(OLDER)
    const first = await t.verify()
    assert.deepEqual(
      [first.sound, first.rows, first.joined.map(({ up_to }) => up_to)],
      [true, 1_204, [1_203]],
    )
    assert.deepEqual(await t.verify(), first)
    await t.sql("UPDATE audit SET actor = 'cli' WHERE seq = 1000")
    assert.deepEqual(
      (await t.verify(first.head!)).faults.map(({ seq }) => seq),
      [1_000],
    )
  })

  test('whoever has rows taken in once more leaves a row that tells of it', async () => {
    using t = await folderWith(8)
    const { head } = await t.verify()
    await t.sql("UPDATE audit SET actor = 'cli' WHERE seq = 4; UPDATE audit SET mac = ''")
    const again = await t.verify(head!)
    assert.deepEqual(
      [again.joined.length, again.faults.map(({ seq, fault }) => [seq, fault])],
      [1, [[8, 'the row is not the one of the anchor']]],
    )
  })
})

describe('audit verify', { skip: oneFolder }, () => {
  test('says what is so, and ends with 1 where something was changed', async () => {
    using t = await folderWith(8)
    const sound = await run(t.dir, 'audit', 'verify')
    assert.equal(sound.status, 0)
    assert.match(
      sound.out,
      /^8 rows are as they were written\.\nHead: 8:[\w-]{43} \(keep it elsewhere/,
    )
    const { head } = (await json(t.dir, 'audit', 'verify')) as unknown as {
      head: { seq: number; mac: string }
    }
    await t.sql(`DELETE FROM audit WHERE seq > 6; UPDATE ${NUMBERS} SET seq = 6`)
    assert.equal((await run(t.dir, 'audit', 'verify')).status, 0)
    const cut = await run(t.dir, 'audit', 'verify', '--anchor', `${head.seq}:${head.mac}`, '--json')
    assert.equal(cut.status, 1)
    assert.deepEqual((JSON.parse(cut.out) as { faults: unknown }).faults, [
      { seq: 7, fault: 'the rows up to 8 are missing' },
    ])
    const wrong = await run(t.dir, 'audit', 'verify', '--anchor', 'x')
    assert.deepEqual(
      [wrong.status, wrong.err],
      [2, '--anchor must be SEQ:MAC, as this command prints the head\n'],
    )
  })
})
