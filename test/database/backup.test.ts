import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { verifyBackup } from '../../lib/app/backup/backup.js'
import type { Manifest } from '../../lib/app/backup/backup.js'
import { MINUTE, SECOND } from '../../lib/core/clock.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { builtin } from '../../lib/distributors/builtin/index.js'
import { TEMPLATES } from '../../lib/distributors/document/templates.js'
import type { Fulfillment, Recovery, Submission } from '../../lib/distributors/fulfillment.js'
import { downloadsOf } from '../../lib/feeds/fetch/downloads.js'
import { openForTest as open } from '../../server/testing/open.js'
import type { App } from '../../lib/app/open.js'
import { restoreBackup } from '../../lib/app/backup/restore.js'
import { UPC, orderShop } from '../orders/shop.js'
import type { OrderShop } from '../orders/shop.js'
import { scripted } from '../orders/scripted-distributor.js'
import type { Scripted } from '../orders/scripted-distributor.js'

let scratch: string
before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-backup-'))
})
after(() => rmSync(scratch, { recursive: true, force: true }))
let places = 0
const place = () => join(scratch, `place-${++places}`)

/** Has a scripted distributor tell of every order that it has, as its list of orders would. */
function telling(tst: Scripted): Scripted {
  const connector = tst.connector as { -readonly [N in keyof Fulfillment]: Fulfillment[N] }
  connector.updates = async function* (_session, since) {
    for (const { number, order } of tst.orders) {
      if (order.takenAt >= since)
        yield {
          number,
          po: order.po,
          clientRef: order.clientRef,
          at: order.takenAt,
          lines: order.lines.map(({ distsku, qty }) => ({ distsku, qty })),
          shipTo: { name: order.shipTo.name, zip: order.shipTo.zip },
        }
    }
  }
  return tst
}

const unreachable: Submission = { outcome: 'not_sent', reason: 'refused' }
const pos = ({ ctx }: App) =>
  ctx.read.selectFrom('purchase_order').selectAll().orderBy('id').execute()

/** The shop's folder opened anew, as a server would after a restore. */
async function reopened(t: OrderShop, some: readonly Scripted[]): Promise<App> {
  const app = await open({
    dir: t.app.dir,
    worker: false,
    now: () => t.clock.ms,
    distributors: [...builtin, ...some.map(({ distributor }) => distributor)],
    fatal: (error) => {
      throw error
    },
  })
  await app.ctx.catalog.refresh()
  return app
}

async function code(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'done',
    (error: { code?: string }) => error.code ?? String(error),
  )
}

describe('a restore forgets nothing and buys nothing twice', () => {
  const classes: Recovery[] = ['resend', 'lookup', 'staged', 'file']
  for (const recovery of classes) {
    for (const withJournal of [true, false]) {
      test(
        `${recovery}, ` +
          `${withJournal ? 'with the journal of what came after it' : 'without any journal: the distributors tell'}`,
        async () => {
          const tst = telling(scripted({ recovery }))
          const other = telling(scripted({ distid: 'OTH', name: 'Other', recovery }))
          await using t = await orderShop([tst, other])
          const both = (order_id: string) =>
            t.body({
              order_id,
              items: ['TST', 'OTH'].map((distid) => ({ distid, distsku: 'A1', upc: UPC, qty: 1 })),
            })
          await t.place(t.body({ order_id: 'BEFORE' }))
          // It waits for a distributor that is out of reach when the backup is made, and is sent
          // after it.
          tst.acts.push({ accept: false, answer: unreachable })
          await t.place(both('WAITS'))
          const backup = place()
          await t.app.operator.backup({ to: backup })
          await t.later(5 * SECOND)
          const bodies = [both('AFTER-1'), t.body({ order_id: 'AFTER-2' }), both('AFTER-3')]
          for (const body of bodies) assert.equal((await t.place(body)).body.data.status, 'placed')
          const sent = [tst.sends.length, other.sends.length]
          const numbers = [...tst.orders, ...other.orders].map(({ number }) => number).sort()

          await t.app.close()
          if (!withJournal) rmSync(join(t.app.dir, 'orders.journal'))
          t.clock.advance(MINUTE)
          const done = await restoreBackup({ backup, dir: t.app.dir, now: () => t.clock.ms })
          assert.deepEqual(
            [done.journal_kept, done.replayed > 0, done.doubted],
            [withJournal, withJournal, withJournal ? 0 : 1],
          )

          const app = await reopened(t, [tst, other])
          try {
            const shop = app.as({ key: t.key })
            for (const body of bodies)
              assert.equal(
                await code(shop.orders.place(body as never)),
                withJournal ? 'duplicate_order' : 'service_unavailable',
              )
            assert.equal(await code(shop.orders.place(t.body() as never)), 'service_unavailable')
            const report = await app.operator.orders.lookBack({})
            assert.deepEqual(
              report.adopted.map(({ distributor_order_id: number }) => number).sort(),
              withJournal
                ? []
                : numbers
                    .slice()
                    .filter((number) => !['TST-1', 'OTH-1', 'TST-2'].includes(number))
                    .sort(),
            )
            assert.deepEqual(
              [report.others, report.in_doubt, report.resumed, report.since],
              [[], [], false, '2026-11-21T12:00:00.000Z'],
            )
            const resumed = await app.operator.orders.lookBack({ resume: true })
            assert.deepEqual([resumed.resumed, resumed.adopted], [true, []])
            for (const body of bodies)
              assert.equal(await code(shop.orders.place(body as never)), 'duplicate_order')
            assert.deepEqual(
              [...(await pos(app))]
                .map(({ state, distributor_order_id: number }) => [state, number])
                .map(([, number]) => number)
                .sort(),
              numbers,
            )
            assert.deepEqual([tst.sends.length, other.sends.length], sent, 'nothing was sent again')
            assert.equal(
              await code(shop.orders.place(t.body({ order_id: 'NEW' }) as never)),
              'done',
            )
            assert.deepEqual((await app.operator.orders.verifyJournal()).faults, [])
          } finally {
            await app.close()
          }

          // What was adopted stands in the journal, so that a second restore with it brings it back.
          await restoreBackup({ backup, dir: t.app.dir, now: () => t.clock.ms })
          const again = await reopened(t, [tst, other])
          assert.deepEqual(
            (await pos(again)).map(({ distributor_order_id: number }) => number).sort(),
            [...numbers, `TST-${tst.orders.length}`].sort(),
          )
          await again.close()
        },
      )
    }
  }
})

/** A shop with an order, a stored object and some history, and a backup of it. */
async function backedUp(): Promise<{ t: OrderShop; tst: Scripted; backup: string }> {
  const tst = telling(scripted())
  const t = await orderShop([tst])
  await t.place(t.body({ order_id: 'ONE' }))
  await t.app.ctx.objects.put('documents/a.csv', Buffer.from('a,b\n'), { contentType: 'text/csv' })
  await t.app.ctx.objects.put('exports/a.csv', Buffer.from('a,b\n'), { contentType: 'text/csv' })
  const backup = place()
  await t.app.operator.backup({ to: backup })
  return { t, tst, backup }
}

describe('a backup', () => {
  test('holds all but the key and what can be made again, and its manifest tells what', async () => {
    const { t, backup } = await backedUp()
    await using _ = t
    const files = readdirSync(backup, { recursive: true, encoding: 'utf8' })
      .filter((path) => statSync(join(backup, path)).isFile())
      .sort()
    assert.deepEqual(files, [
      'decisions.db',
      'history/history.db',
      'manifest.json',
      'objects/.types/documents/a.csv',
      'objects/documents/a.csv',
      'orders.journal',
      'quartermaster.db',
    ])
    for (const path of files) assert.equal(statSync(join(backup, path)).mode & 0o077, 0, path)
    const manifest = await verifyBackup(backup)
    const { head } = await t.app.operator.orders.verifyJournal()
    const { head: last } = await t.app.operator.audit.verify()
    assert.equal(manifest.audit!.seq, last!.seq - 1, 'the backup is itself the next act')
    assert.deepEqual((await t.app.operator.audit.verify({ anchor: manifest.audit! })).faults, [])
    assert.deepEqual(
      [manifest.made_at, manifest.journal, manifest.secret_key_id],
      ['2026-11-21T12:00:00.000Z', head, t.app.ctx.secrets.keyId],
    )
    const key = readFileSync(join(t.app.dir, 'keys', 'secret-key'), 'utf8').trim()
    for (const path of files) assert.ok(!readFileSync(join(backup, path)).includes(key), path)
    const raw = openFile(join(backup, 'quartermaster.db'), { synchronous: 'FULL', readonly: true })
    assert.equal(raw.prepare('SELECT count(*) FROM purchase_order').pluck().get(), 1)
    raw.close()
  })

  test('has the documents of distributors, and a restore brings them', async () => {
    const { t } = await backedUp()
    await using _ = t
    const { distid } = TEMPLATES['davidsons']!
    const known = JSON.stringify(TEMPLATES['davidsons'])
    mkdirSync(join(t.app.dir, 'distributors'))
    writeFileSync(join(t.app.dir, 'distributors', `${distid}.json`), known)
    writeFileSync(join(t.app.dir, 'distributors', 'half.json.draft'), '{')
    const backup = place()
    await t.app.operator.backup({ to: backup })
    const { files } = await verifyBackup(backup)
    assert.deepEqual(
      files.map(({ path }) => path).filter((path) => path.startsWith('distributors/')),
      ['distributors/DAV.json'],
    )
    const dir = place()
    await restoreBackup({ backup, dir, keys: join(t.app.dir, 'keys'), now: () => t.clock.ms })
    assert.equal(readFileSync(join(dir, 'distributors', 'DAV.json'), 'utf8'), known)
    // Over an installation the other documents lie beside it, and it may be done again.
    writeFileSync(join(dir, 'distributors', 'MGE.json'), JSON.stringify(TEMPLATES['mge']))
    const again = await restoreBackup({ backup, dir, now: () => t.clock.ms })
    assert.deepEqual(readdirSync(join(dir, 'distributors')), ['DAV.json'])
    assert.deepEqual(readdirSync(join(again.replaced!, 'distributors')).sort(), [
      'DAV.json',
      'MGE.json',
    ])
  })

  test('goes into an empty folder only, and never into the state folder', async () => {
    const { t, backup } = await backedUp()
    await using _ = t
    await assert.rejects(t.app.operator.backup({ to: backup }), /is not empty/)
    await assert.rejects(
      t.app.operator.backup({ to: join(t.app.dir, 'backup') }),
      /lies in the state folder/,
    )
    const file = place()
    writeFileSync(file, '')
    await assert.rejects(t.app.operator.backup({ to: file }), /is a file/)
    const dry = place()
    const { files, bytes } = await t.app.operator.backup({ to: dry, dryRun: true })
    assert.deepEqual([existsSync(dry), files.length, bytes > 0], [false, 6, true])
  })

  test('what fails leaves nothing behind', async () => {
    const { t } = await backedUp()
    await using _ = t
    await t.app.ctx.engine.atomic(t.app.ctx, async () => {})
    writeFileSync(join(t.app.dir, 'history', 'broken.db'), 'no database')
    const to = place()
    await assert.rejects(t.app.operator.backup({ to }))
    assert.ok(!existsSync(to))
    mkdirSync(to)
    await assert.rejects(t.app.operator.backup({ to }))
    assert.deepEqual(readdirSync(to), [])
  })

  test('is consistent while orders are being placed', async () => {
    const tst = telling(scripted())
    await using t = await orderShop([tst])
    let placing = true
    const orders = (async () => {
      for (let i = 0; placing && i < 200; i++) await t.place(t.body(), {}).catch(() => {})
    })()
    const backup = place()
    await t.app.operator.backup({ to: backup })
    placing = false
    await orders
    const dir = place()
    await restoreBackup({ backup, dir, now: () => t.clock.ms, keys: join(t.app.dir, 'keys') })
    const app = await open({
      dir,
      worker: false,
      now: () => t.clock.ms,
      distributors: [...builtin, tst.distributor],
    })
    assert.deepEqual((await app.operator.orders.verifyJournal()).faults, [])
    await app.close()
  })
})

describe('restoring', () => {
  test('into an empty folder, with the key brought', async () => {
    const { t, tst, backup } = await backedUp()
    await using _ = t
    const dir = place()
    await assert.rejects(restoreBackup({ backup, dir }), /bring your own copy with --keys/)
    await assert.rejects(restoreBackup({ backup, dir, keys: scratch }), /secret-key is missing/)
    await assert.rejects(
      restoreBackup({ backup, dir, secretKey: 'ab'.repeat(32) }),
      /not the one of the backup/,
    )
    assert.ok(!existsSync(dir))
    const dry = await restoreBackup({ backup, dir, keys: join(t.app.dir, 'keys'), dryRun: true })
    assert.deepEqual([existsSync(dir), dry.files], [false, 6])
    const done = await restoreBackup({
      backup,
      dir,
      keys: join(t.app.dir, 'keys'),
      now: () => t.clock.ms,
    })
    assert.deepEqual(
      [done.replaced, done.journal_kept, readdirSync(dir).sort()],
      [
        null,
        false,
        [
          'decisions.db',
          'engine.lock',
          'history',
          'keys',
          'objects',
          'orders.journal',
          'quartermaster.db',
          'serve.lock',
        ],
      ],
    )
    const app = await open({
      dir,
      worker: false,
      now: () => t.clock.ms,
      distributors: [...builtin, tst.distributor],
    })
    try {
      assert.equal(app.ctx.engine.reader.raw.pragma('journal_mode', { simple: true }), 'wal')
      assert.deepEqual(
        (await pos(app)).map(({ state }) => state),
        ['placed'],
      )
      assert.equal(await app.ctx.objects.has('documents/a.csv'), true)
      assert.match(
        (await app.operator.orders.lookBack()).paused!.reason,
        /restored from the backup of 2026-11-21T12:00:00.000Z/,
      )
    } finally {
      await app.close()
    }
  })

  test('over an installation: what was there lies beside it, and no server may run', async () => {
    const { t, backup } = await backedUp()
    await using _ = t
    await t.place(t.body({ order_id: 'TWO' }))
    assert.ok(t.app.ctx.engine.lock('serve'))
    await assert.rejects(restoreBackup({ backup, dir: t.app.dir }), /a server runs on/)
    t.app.ctx.engine.unlock('serve')
    await t.app.close()
    const { replaced } = await restoreBackup({ backup, dir: t.app.dir, now: () => t.clock.ms })
    assert.deepEqual(readdirSync(replaced!).sort(), ['history', 'objects', 'quartermaster.db'])
    assert.deepEqual(
      readdirSync(t.app.dir).filter((name) => name.startsWith('.')),
      [],
    )
  })

  test('a journal that does not go on from the backup is laid aside', async () => {
    const { t, tst, backup } = await backedUp()
    await using _ = t
    await t.app.close()
    const journal = join(t.app.dir, 'orders.journal')
    writeFileSync(journal, readFileSync(journal, 'utf8').replace('"seq":1', '"seq":7'))
    const { journal_kept: kept, replaced } = await restoreBackup({
      backup,
      dir: t.app.dir,
      now: () => t.clock.ms,
    })
    assert.deepEqual([kept, existsSync(join(replaced!, 'orders.journal'))], [false, true])
    const app = await reopened(t, [tst])
    assert.deepEqual((await app.operator.orders.verifyJournal()).faults, [])
    await app.close()
  })

  test('a damaged end of the kept journal: its good lines come back, and the rest is looked for', async () => {
    const { t, tst, backup } = await backedUp()
    await using _ = t
    for (const id of ['TWO', 'THREE']) await t.place(t.body({ order_id: id }))
    await t.app.close()
    const journal = join(t.app.dir, 'orders.journal')
    const lines = readFileSync(journal, 'utf8').split('\n')
    writeFileSync(journal, lines.with(4, lines[4]!.replace('THREE', 'OTHER')).join('\n'))
    const { replayed } = await restoreBackup({ backup, dir: t.app.dir, now: () => t.clock.ms })
    assert.equal(replayed, 2)
    const app = await reopened(t, [tst])
    assert.deepEqual(
      (await app.operator.orders.lookBack()).adopted.map(({ order_id: id }) => id),
      ['THREE'],
    )
    await app.close()
  })

  test('a journal that tells of a shop that the backup does not know is left where it is, and said', async () => {
    const { t, tst, backup } = await backedUp()
    await using _ = t
    await t.app.operator.subscribers.create({ name: 'New shop', email: 'new@shop.example' })
    const { document } = await t.app.ctx.configurations.of({
      id: (
        await t.app.ctx.read
          .selectFrom('subscriber')
          .select('id')
          .where('name', '=', t.subscriber)
          .executeTakeFirstOrThrow()
      ).id,
      name: '',
      email: '',
    })
    await t.save('New shop', document)
    await t.app.operator.configurations.recordCheck('New shop', tst.distributor.name, true)
    await t.app.as('New shop').orders.place(t.body({ order_id: 'THEIRS' }) as never)
    await t.app.close()
    const files = () =>
      readdirSync(t.app.dir)
        .filter((name) => !name.endsWith('.lock'))
        .sort()
    const [before, journal] = [files(), readFileSync(join(t.app.dir, 'orders.journal'), 'utf8')]
    await assert.rejects(
      restoreBackup({ backup, dir: t.app.dir, now: () => t.clock.ms }),
      /orders\.journal of .* cannot be applied .*move it away/,
    )
    assert.deepEqual(
      [files(), readFileSync(join(t.app.dir, 'orders.journal'), 'utf8')],
      [before, journal],
    )
  })

  test('a cut-off restore is finished by the next', async () => {
    const { t, backup } = await backedUp()
    await using _ = t
    await t.place(t.body({ order_id: 'TWO' }))
    await t.app.close()
    mkdirSync(join(t.app.dir, '.restoring-xyz'))
    mkdirSync(downloadsOf(t.app.dir, 'DAV/davidsons'), { recursive: true })
    // What was computed from what is replaced goes aside with it.
    mkdirSync(join(t.app.dir, 'analytics'), { recursive: true })
    writeFileSync(join(t.app.dir, 'analytics', 'current'), 'of another time')
    rmSync(join(t.app.dir, 'quartermaster.db'))
    const done = await restoreBackup({ backup, dir: t.app.dir, now: () => t.clock.ms })
    assert.deepEqual(
      [
        done.journal_kept,
        done.replayed,
        readdirSync(t.app.dir).filter((name) => /^\.|^analytics$/.test(name)),
      ],
      [true, 2, []],
    )
    assert.equal(
      readFileSync(join(done.replaced!, 'analytics', 'current'), 'utf8'),
      'of another time',
    )
  })

  const damages: [name: string, damage: (backup: string) => void, says: RegExp][] = [
    ['no manifest', (dir) => rmSync(join(dir, 'manifest.json')), /has no manifest.json/],
    [
      'another format',
      (dir) => writeFileSync(join(dir, 'manifest.json'), '{"format":2}'),
      /not of a form/,
    ],
    [
      'a file that is missing',
      (dir) => rmSync(join(dir, 'orders.journal')),
      /orders\.journal is missing/,
    ],
    [
      'a file that was cut off',
      (dir) => writeFileSync(join(dir, 'orders.journal'), ''),
      /its size differs/,
    ],
    [
      'a byte that was changed',
      (dir) => {
        const bytes = readFileSync(join(dir, 'quartermaster.db'))
        bytes[5_000]! ^= 1
        writeFileSync(join(dir, 'quartermaster.db'), bytes)
      },
      /its digest differs/,
    ],
    [
      'a path that leads out of it',
      (dir) => {
        const manifest = JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8')) as Manifest
        writeFileSync(
          join(dir, 'manifest.json'),
          JSON.stringify({
            ...manifest,
            files: [...manifest.files, { path: '../x', size: 0, sha256: '' }],
          }),
        )
      },
      /lies outside/,
    ],
  ]
  test('what is not a whole backup is refused, and nothing is touched', async () => {
    const { t, backup } = await backedUp()
    await using _ = t
    const key = join(t.app.dir, 'keys')
    for (const [name, damage, says] of damages) {
      const copy = place()
      cpSync(backup, copy, { recursive: true })
      damage(copy)
      const dir = place()
      await assert.rejects(restoreBackup({ backup: copy, dir, keys: key }), says, name)
      assert.ok(!existsSync(dir), name)
    }
    const full = place()
    mkdirSync(full)
    writeFileSync(join(full, 'letter.txt'), '')
    await assert.rejects(
      restoreBackup({ backup, dir: full, keys: key }),
      /holds something else \(letter.txt\)/,
    )
  })

  test('a release cannot read the backup of a newer one', async () => {
    const { t, backup } = await backedUp()
    await using _ = t
    const path = join(backup, 'quartermaster.db')
    const raw = openFile(path, { synchronous: 'FULL' })
    raw.pragma('user_version = 999')
    raw.pragma('journal_mode = DELETE')
    raw.close()
    const { digestOf } = await import('../../lib/app/backup/backup.js')
    const manifest = JSON.parse(readFileSync(join(backup, 'manifest.json'), 'utf8')) as Manifest
    const files = await Promise.all(
      manifest.files.map(async ({ path: name }) => ({
        path: name,
        ...(await digestOf(join(backup, name))),
      })),
    )
    writeFileSync(join(backup, 'manifest.json'), JSON.stringify({ ...manifest, files }))
    await assert.rejects(
      restoreBackup({ backup, dir: place(), keys: join(t.app.dir, 'keys') }),
      /made by a newer release \(schema 999/,
    )
  })
})

test('state files have the names that a backup knows', () => {
  assert.deepEqual(Object.keys(filesIn('.')).sort(), [
    'catalog',
    'decisions',
    'history',
    'meter',
    'record',
    'simulator',
  ])
})
