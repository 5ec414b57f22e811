/**
 * What becomes of a folder whose files were damaged, cut, lost or put back while nobody had it
 * open.
 */
import assert from 'node:assert/strict'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { isApiError } from '../../../lib/core/errors.js'
import { DAY, MINUTE, SECOND } from '../../../lib/core/clock.js'
import { openFile } from '../../../lib/db/sqlite/sqlite.js'
import type { PlaceBody } from '../../../lib/orders/shapes.js'
import { readPause, resumeOrders } from '../../../lib/orders/engine/pause.js'
import { placeOrder } from '../../../lib/orders/place/place.js'
import { verifyJournal } from '../../../lib/orders/journal/verify.js'
import { CUSTOMER, UPC } from '../shop.js'
import { scripted } from '../scripted-distributor.js'
import { NAMES, openCopy, openShop } from '../../harness/shop.js'
import type { Shop } from '../../harness/shop.js'

const body = (orderId: string, distid = 'LOO'): PlaceBody => ({
  order_id: orderId,
  customer: { address2: null, ...CUSTOMER },
  ffl: null,
  ship_to_store: false,
  po_number: null,
  items: [{ distid, distsku: 'A1', upc: UPC, qty: 1, ffl_req: false }],
})

/** A shop at whose one distributor the orders W-1 to W-n are placed, by a key. */
async function shopWith(orders: number) {
  const clock = { ms: Date.UTC(2026, 10, 21, 12) }
  const known = new Map(
    Object.keys(NAMES).map((distid) => [
      distid,
      scripted({ distid, recovery: distid === 'FIL' ? 'file' : 'lookup' }),
    ]),
  )
  const [loo, fil] = [known.get('LOO')!, known.get('FIL')!]
  const connectors = new Map([...known].map(([distid, { connector }]) => [distid, connector]))
  const planned = [/^orders are paused; /]
  const setting = {
    now: () => clock.ms,
    random: (await import('node:crypto')).randomBytes,
    planned,
  }
  const shop = await openShop(connectors, setting)
  const place = (orderId: string, at: Shop = shop, distid = 'LOO') =>
    placeOrder({ ...at.app.ctx, ...at.callers[0]! }, body(orderId, distid)).then(
      ({ status }) => status,
      (error: unknown) => (isApiError(error) ? error.code : String(error)),
    )
  for (let n = 1; n <= orders; n++) assert.equal(await place(`W-${n}`), 'placed')
  let held: (() => void) | null = null
  return {
    shop,
    clock,
    loo,
    fil,
    place,
    /**
     * Starts the server's sender. Until its own first look the right to send would be given back
     * after each order, so it is held here.
     */
    async start() {
      shop.app.orders.start()
      held = (await shop.app.orders.lease())?.release ?? null
    },
    letGo() {
      held?.()
      held = null
    },
    copy: (of: string) => openCopy(of, connectors, setting),
    pass: (at: Shop = shop) => at.app.orders.pass(),
    pause: (at: Shop = shop) => readPause(at.app.ctx),
    async [Symbol.asyncDispose]() {
      held?.()
      await shop.close()
    },
  }
}

/** Orders that count against the quota of their key, by the database. */
const counted = async ({ app }: Shop) =>
  (await app.ctx.read.selectFrom('order_count').selectAll().execute())
    .map(({ key_id: key, placement_id: id }) => `${key} ${id}`)
    .toSorted()
const placements = async ({ app }: Shop) =>
  (await app.ctx.read.selectFrom('placement').select(['id', 'key_id']).execute())
    .map(({ id, key_id: key }) => `${key} ${id}`)
    .toSorted()

const journalOf = (dir: string) => join(dir, 'orders.journal')
const linesOf = (dir: string) => readFileSync(journalOf(dir), 'utf8').split('\n').slice(0, -1)
const databaseLines = async ({ app }: Shop) =>
  (await app.ctx.read.selectFrom('journal').select('line').orderBy('seq').execute()).map(
    ({ line }) => line,
  )

function write(dir: string, change: (lines: string[]) => string[]): void {
  writeFileSync(
    journalOf(dir),
    change(linesOf(dir))
      .map((line) => `${line}\n`)
      .join(''),
  )
}

function sql(dir: string, text: string): void {
  const raw = openFile(join(dir, 'quartermaster.db'), { synchronous: 'FULL' })
  raw.exec(text)
  raw.close()
}

/** One bit of a file. */
function flip(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes[at] = bytes[at]! ^ 1
  writeFileSync(path, bytes)
}

describe('damage that the verification finds', () => {
  const damages: { name: string; damage: (dir: string) => void; finds: RegExp }[] = [
    {
      name: 'a bit of a line of the file',
      damage: (dir) =>
        flip(journalOf(dir), Buffer.byteLength(linesOf(dir).slice(0, 2).join('\n')) + 60),
      finds: /^orders.journal 3: the line was changed/,
    },
    {
      name: 'a line of the file is gone',
      damage: (dir) => write(dir, (lines) => lines.toSpliced(2, 1)),
      finds: /^orders.journal 3: the line is missing: 4 stands in its place/,
    },
    {
      name: 'two lines of the file change places',
      damage: (dir) => write(dir, (lines) => lines.with(1, lines[2]!).with(2, lines[1]!)),
      finds: /^orders.journal 2: the line is missing: 3 stands in its place/,
    },
    {
      name: 'a line of the database is changed',
      damage: (dir) =>
        sql(
          dir,
          "UPDATE journal SET line = replace(line, '12 Main', '13 Main') || ' ' WHERE seq = 3",
        ),
      finds: /^database 3: .*orders.journal has it as it was written/,
    },
    {
      name: 'the last character of a line of the database, of which no digest tells',
      damage: (dir) =>
        sql(
          dir,
          "UPDATE journal SET line = substr(line, 1, length(line) - 1) || ']' WHERE seq = 3",
        ),
      finds: /^database 3: the line was changed.*orders.journal has it as it was written/,
    },
    {
      name: 'a line of the database is gone',
      damage: (dir) => sql(dir, 'DELETE FROM journal WHERE seq = 3'),
      finds: /^database 3: the line is missing: 4 stands in its place/,
    },
    {
      name: 'the state of a purchase order',
      damage: (dir) => sql(dir, "UPDATE purchase_order SET state = 'rejected' WHERE id = 2"),
      finds: /^purchase orders null: purchase order 2: state is rejected/,
    },
    {
      name: 'the number of a purchase order',
      damage: (dir) =>
        sql(dir, "UPDATE purchase_order SET distributor_order_id = 'LOO-9' WHERE id = 2"),
      finds: /^purchase orders null: purchase order 2: distributor_order_id is LOO-9/,
    },
    {
      name: 'the account of a purchase order',
      damage: (dir) => sql(dir, "UPDATE purchase_order SET account = 'another' WHERE id = 2"),
      finds: /^purchase orders null: purchase order 2: account is another/,
    },
    {
      name: 'that nothing of it was ever in doubt',
      damage: (dir) => sql(dir, 'UPDATE purchase_order SET ever_unknown = 1 WHERE id = 2'),
      finds: /^purchase orders null: purchase order 2: ever_unknown is 1/,
    },
    {
      name: 'a number of one that has none yet',
      damage: (dir) =>
        sql(dir, "UPDATE purchase_order SET distributor_order_id = 'FIL-9' WHERE id = 5"),
      finds: /^purchase orders null: purchase order 5: distributor_order_id is FIL-9/,
    },
    {
      name: 'the digest of what was frozen',
      damage: (dir) => sql(dir, "UPDATE purchase_order SET payload_digest = 'x' WHERE id = 2"),
      finds: /^purchase orders null: purchase order 2: payload_digest is x/,
    },
    {
      name: 'a purchase order is gone',
      damage: (dir) =>
        sql(dir, 'PRAGMA foreign_keys = OFF; DELETE FROM purchase_order WHERE id = 2'),
      finds: /^purchase orders null: purchase order 2 is missing/,
    },
  ]
  for (const { name, damage, finds } of damages) {
    test(name, async () => {
      await using t = await shopWith(4)
      // A file is taken in before it has a number.
      t.fil.acts.push({ accept: true, answer: { outcome: 'accepted', number: null } })
      assert.equal(await t.place('W-5', t.shop, 'FIL'), 'placed')
      assert.deepEqual((await verifyJournal(t.shop.app.ctx)).faults, [])
      await t.shop.reopen(damage)
      const { faults, sound } = await verifyJournal(t.shop.app.ctx)
      assert.equal(sound, false)
      assert.match(`${faults[0]!.where} ${faults[0]!.seq}: ${faults[0]!.fault}`, finds)
    })
  }
})

describe('damage that the next sender finds before it sends', () => {
  const damages: {
    name: string
    damage: (dir: string) => void
    pauses: RegExp | null
    isForGood?: boolean
  }[] = [
    {
      name: 'the last line was cut off while it was written',
      damage: (dir) => truncateSync(journalOf(dir), readFileSync(journalOf(dir)).length - 20),
      pauses: null,
    },
    {
      name: 'the newline of a last line that was known to be there',
      damage: (dir) => truncateSync(journalOf(dir), readFileSync(journalOf(dir)).length - 1),
      pauses: /orders.journal ends at line 7, and had 8/,
    },
    {
      name: 'more was cut off than a write',
      damage: (dir) => write(dir, (lines) => lines.slice(0, -2)),
      pauses: /orders.journal ends at line 6, and had 8/,
    },
    {
      name: 'the file is gone',
      damage: (dir) => rmSync(journalOf(dir)),
      pauses: /orders.journal ends at line 0, and had 8/,
    },
    {
      name: 'the file is empty',
      damage: (dir) => truncateSync(journalOf(dir), 0),
      pauses: /orders.journal ends at line 0, and had 8/,
    },
    {
      name: 'a bit of its last line',
      damage: (dir) => flip(journalOf(dir), readFileSync(journalOf(dir)).length - 40),
      pauses: /orders.journal, line 8: the line was changed/,
    },
    {
      name: 'a last line of its own, of another installation',
      damage: (dir) => write(dir, (lines) => [...lines.slice(0, -1), lines[0]!]),
      pauses: /orders.journal, line 8: the line is missing: 1 stands in its place/,
    },
    {
      name: "the database's last line",
      damage: (dir) =>
        sql(dir, "UPDATE journal SET line = replace(line, 'placed', 'review') WHERE seq = 8"),
      pauses: /orders.journal and the database tell of different orders/,
      isForGood: true,
    },
  ]
  for (const { name, damage, pauses, isForGood = false } of damages) {
    test(name, async () => {
      await using t = await shopWith(4)
      if (name.startsWith('the last line was cut off')) {
        // As after a crash: the mark does not reach as far as the line that was being written.
        await t.shop.reopen((dir) =>
          sql(dir, "UPDATE order_engine SET value = '7' WHERE name = 'journaled'"),
        )
      }
      await t.shop.reopen(damage)
      await t.pass()
      const pause = await t.pause()
      if (pauses) assert.match(pause?.reason ?? 'not paused', pauses)
      else assert.equal(pause, null)
      // The file is made anew from the database, and what was in it is kept.
      assert.deepEqual(linesOf(t.shop.dir), await databaseLines(t.shop))
      if (pauses && !name.includes('is gone'))
        assert.equal(
          readdirSync(t.shop.dir).filter((file) => file.startsWith('orders.journal.damaged-'))
            .length,
          1,
        )
      assert.equal(await t.place('W-5'), pauses ? 'service_unavailable' : 'placed')
      assert.equal(t.loo.sends.length, pauses ? 4 : 5)
      await resumeOrders(t.shop.app.ctx)
      // What somebody wrote into the database's own journal does not become right by being
      // acknowledged.
      if (isForGood) return assert.equal(await t.place('W-5'), 'service_unavailable')
      assert.equal(await t.place('W-5'), pauses ? 'placed' : 'duplicate_order')
      assert.equal(await t.place('W-1'), 'duplicate_order')
      assert.equal(t.loo.orders.length, 5)
    })
  }
})

describe('a database that has lost orders', () => {
  /**
   * What must hold once the database has lost all of W-3 and W-4: they come back, and nothing is
   * bought twice.
   */
  async function comesBack(
    t: Awaited<ReturnType<typeof shopWith>>,
    at: Shop,
    orders: string[],
  ): Promise<void> {
    await t.pass(at)
    const pause = await t.pause(at)
    assert.deepEqual(pause?.orders, orders)
    assert.match(pause!.reason, /the database had lost \d+ lines of the order journal/)
    for (const order of ['W-1', 'W-4', 'W-5'])
      assert.equal(
        await t.place(order, at),
        order === 'W-5' ? 'service_unavailable' : 'duplicate_order',
      )
    t.clock.ms += 5 * MINUTE
    await t.pass(at)
    const rows = await at.app.ctx.read
      .selectFrom('purchase_order')
      .select(['state', 'distributor_order_id', 'sends'])
      .orderBy('id')
      .execute()
    assert.deepEqual(
      [(await counted(at)).length, await counted(at)],
      [4, await placements(at)],
      'what came back counts again',
    )
    assert.deepEqual(
      rows,
      [1, 2, 3, 4].map((n) => ({ state: 'placed', distributor_order_id: `LOO-${n}`, sends: 1 })),
    )
    assert.deepEqual((await verifyJournal(at.app.ctx)).faults, [])
    await resumeOrders(at.app.ctx)
    assert.equal(await t.place('W-5', at), 'placed')
    assert.deepEqual([t.loo.sends.length, t.loo.orders.length], [5, 5])
  }

  test('an older quartermaster.db was put back', async () => {
    await using t = await shopWith(2)
    const old = join(t.shop.dir, 'older.db')
    await t.shop.reopen((dir) => copyFileSync(join(dir, 'quartermaster.db'), old))
    await t.place('W-3')
    // What became of the last one was not known yet.
    t.loo.acts.push({ accept: true, answer: { outcome: 'unknown', reason: 'timeout' } })
    assert.equal(await t.place('W-4'), 'pending')
    await t.shop.reopen((dir) => copyFileSync(old, join(dir, 'quartermaster.db')))
    await comesBack(t, t.shop, ['W-3', 'W-4'])
  })

  for (const [name, damage] of [
    ['the write-ahead log is gone', (dir: string) => rmSync(join(dir, 'quartermaster.db-wal'))],
    [
      'one bit of the write-ahead log',
      (dir: string) => flip(join(dir, 'quartermaster.db-wal'), 3_000),
    ],
    [
      'the write-ahead log was cut',
      (dir: string) => truncateSync(join(dir, 'quartermaster.db-wal'), 4_000),
    ],
  ] as const) {
    test(name, async () => {
      await using t = await shopWith(4)
      const killed = `${t.shop.dir}-killed`
      // The files as a kill leaves them; by another process, since a copy by this one would drop
      // the database's locks.
      execFileSync('cp', ['-r', t.shop.dir, killed])
      try {
        assert.ok(existsSync(join(killed, 'quartermaster.db-wal')))
        rmSync(join(killed, 'quartermaster.db-shm'), { force: true })
        damage(killed)
        const copy = await t.copy(killed)
        try {
          await comesBack(t, copy, ['W-1', 'W-2', 'W-3', 'W-4'])
        } finally {
          await copy.close()
        }
      } finally {
        rmSync(killed, { recursive: true, force: true })
      }
    })
  }
})

describe('the journal under a running server', () => {
  /** Waits for what the server does by itself; fails after five seconds. */
  async function until(isSo: () => Promise<boolean> | boolean, what: string): Promise<void> {
    for (let waited = 0; !(await isSo()); waited += 10) {
      if (waited > 5_000) assert.fail(what)
      await new Promise((resolve) => {
        setTimeout(resolve, 10)
      })
    }
  }
  const asideIn = (dir: string) =>
    readdirSync(dir).filter((file) => file.startsWith('orders.journal.damaged-'))

  const disturbances: {
    name: string
    disturb: (path: string) => void
    says: RegExp
    aside?: number
  }[] = [
    {
      name: 'removed',
      disturb: (path) => rmSync(path),
      says: /orders\.journal was removed or moved away while the server ran/,
      aside: 0,
    },
    {
      name: 'moved away, as logrotate does',
      disturb: (path) => renameSync(path, `${path}.1`),
      says: /orders\.journal was removed or moved away/,
      aside: 0,
    },
    {
      name: 'moved away, with an empty file in its place',
      disturb: (path) => {
        renameSync(path, `${path}.1`)
        writeFileSync(path, '')
      },
      says: /orders\.journal was replaced by another file/,
      aside: 1,
    },
    {
      name: 'replaced by a copy of itself',
      disturb: (path) => {
        copyFileSync(path, `${path}.copy`)
        renameSync(`${path}.copy`, path)
      },
      says: /orders\.journal was replaced by another file/,
      aside: 0,
    },
    {
      name: 'emptied, as logrotate does with copytruncate',
      disturb: (path) => truncateSync(path, 0),
      says: /orders\.journal was changed while the server ran: it has 0 bytes, and should have \d+/,
      aside: 1,
    },
    {
      name: 'cut by a byte',
      disturb: (path) => truncateSync(path, readFileSync(path).length - 1),
      says: /was changed while the server ran: it has \d+ bytes, and should have \d+/,
    },
    {
      name: 'written to by somebody else',
      disturb: (path) => appendFileSync(path, 'not a line\n'),
      says: /was changed while the server ran.*orders\.journal, line 9: the line was changed/,
      aside: 1,
    },
  ]
  for (const { name, disturb, says, aside } of disturbances) {
    test(`${name}: orders are paused within a second, and the file is made anew`, async () => {
      await using t = await shopWith(4)
      const { orders } = t.shop.app
      await t.start()
      assert.equal(await t.pause(), null)
      disturb(journalOf(t.shop.dir))
      const since = performance.now()
      await until(async () => (await t.pause()) !== null, 'orders are not paused')
      assert.ok(performance.now() - since < 5_000)
      await orders.pass()
      assert.match((await t.pause())!.reason, says)
      assert.deepEqual(linesOf(t.shop.dir), await databaseLines(t.shop))
      if (aside !== undefined) assert.equal(asideIn(t.shop.dir).length, aside)
      assert.equal(await t.place('W-5'), 'service_unavailable')
      assert.equal(t.loo.sends.length, 4)
      assert.deepEqual((await verifyJournal(t.shop.app.ctx)).faults, [])
      await resumeOrders(t.shop.app.ctx)
      assert.equal(await t.place('W-5'), 'placed')
      assert.equal(await t.place('W-1'), 'duplicate_order')
      // What was told once is not found again, neither now nor at the next start.
      await orders.pass()
      t.letGo()
      await t.shop.reopen()
      await t.pass()
      assert.equal(await t.pause(), null)
      assert.deepEqual(linesOf(t.shop.dir), await databaseLines(t.shop))
    })
  }

  test('a process without a server notices it before it writes a line', async () => {
    await using t = await shopWith(2)
    const lease = await t.shop.app.orders.lease()
    rmSync(journalOf(t.shop.dir))
    await t.shop.app.orders.flush()
    lease?.release()
    assert.match((await t.pause())!.reason, /was removed or moved away/)
    assert.deepEqual(linesOf(t.shop.dir), await databaseLines(t.shop))
  })

  test('an order that was never sent stays one: the database was open all the time', async () => {
    await using t = await shopWith(1)
    t.loo.acts.push({
      accept: false,
      answer: { outcome: 'not_sent', reason: 'out of reach', retryAfter: DAY },
    })
    const { orders } = t.shop.app
    await t.start()
    await t.place('W-2')
    const states = async () =>
      (
        await t.shop.app.ctx.read
          .selectFrom('purchase_order')
          .select('state')
          .orderBy('id')
          .execute()
      ).map(({ state }) => state)
    const before = await states()
    assert.equal(before.length, 2)
    rmSync(journalOf(t.shop.dir))
    await until(async () => (await t.pause()) !== null, 'orders are not paused')
    await orders.pass()
    assert.deepEqual(await states(), before)
  })

  /**
   * Damages the folder, starts the sender, and lets so much time pass that it proves the journal.
   */
  async function proved(
    t: Awaited<ReturnType<typeof shopWith>>,
    damage: (dir: string) => void,
  ): Promise<void> {
    await t.shop.reopen(damage)
    t.shop.app.orders.start()
    await t.pass()
    assert.equal(await t.pause(), null, 'the start does not read the middle')
    await new Promise((resolve) => {
      setTimeout(resolve, 300)
    })
    t.clock.ms += 9 * SECOND
    await new Promise((resolve) => {
      setTimeout(resolve, 500)
    })
    assert.equal(await t.pause(), null, 'not before ten seconds')
    t.clock.ms += SECOND
  }

  test('damage in the middle of the file pauses orders, and the file is made anew', async () => {
    await using t = await shopWith(4)
    await proved(t, (dir) =>
      flip(journalOf(dir), Buffer.byteLength(linesOf(dir).slice(0, 2).join('\n')) + 60),
    )
    await until(async () => (await t.pause()) !== null, 'orders are not paused')
    assert.equal(
      (await t.pause())!.reason,
      'orders.journal, line 3: the line was changed: its digest does not fit',
    )
    await t.pass()
    assert.deepEqual(
      [linesOf(t.shop.dir), asideIn(t.shop.dir).length],
      [await databaseLines(t.shop), 1],
    )
    await resumeOrders(t.shop.app.ctx)
    assert.equal(await t.place('W-5'), 'placed')
    t.clock.ms += DAY
    await new Promise((resolve) => {
      setTimeout(resolve, 500)
    })
    assert.equal(await t.pause(), null, 'the file is whole again')
  })

  test('damage of the database pauses orders once: what is known does not again', async () => {
    await using t = await shopWith(4)
    await proved(t, (dir) =>
      sql(dir, "UPDATE journal SET line = replace(line, 'sending', 'planned') WHERE seq = 3"),
    )
    await until(async () => (await t.pause()) !== null, 'orders are not paused')
    assert.match(
      (await t.pause())!.reason,
      /^database, line 3: the line was changed: .*orders\.journal has it as it was written$/,
    )
    assert.equal(asideIn(t.shop.dir).length, 0, 'the file that is right stays')
    await resumeOrders(t.shop.app.ctx)
    assert.equal(await t.place('W-5'), 'placed')
    await proved(t, () => {})
    await new Promise((resolve) => {
      setTimeout(resolve, 500)
    })
    assert.equal(await t.pause(), null)
  })

  test('a purchase order that is not what its lines say pauses orders', async () => {
    await using t = await shopWith(4)
    await proved(t, (dir) =>
      sql(dir, "UPDATE purchase_order SET distributor_order_id = 'LOO-9' WHERE id = 2"),
    )
    await until(async () => (await t.pause()) !== null, 'orders are not paused')
    assert.match(
      (await t.pause())!.reason,
      /^purchase orders: purchase order 2: distributor_order_id is LOO-9/,
    )
  })

  test('an app that closes does not wait until the journal is proved', async () => {
    const t = await shopWith(4)
    await proved(t, () => {})
    const since = performance.now()
    await t.shop.close()
    assert.ok(performance.now() - since < 5_000)
  })
})
