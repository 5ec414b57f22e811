/**
 * Orders of several nodes over one database: each is bought once, whichever node takes it in, whoever
 * leads, and wherever a connection is cut.
 */
import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createSecureServer } from 'node:https'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { verifyAudit } from '../../lib/accounts/verify-audit.js'
import type { OperatorCtx } from '../../lib/app/ctx.js'
import { openJobs } from '../../lib/app/jobs.js'
import type { Jobs } from '../../lib/app/jobs.js'
import { pause } from '../../lib/core/async/wait.js'
import { sql } from 'kysely'
import { LeadLost } from '../../lib/db/lead.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { builtin } from '../../lib/distributors/builtin/index.js'
import type { CallFault } from '../../lib/distributors/session/http.js'
import { record } from '../../lib/orders/engine/sender/record.js'
import type { SenderCtx } from '../../lib/orders/engine/sender/ctx.js'
import { readPause, resumeOrders } from '../../lib/orders/engine/pause.js'
import { verifyJournal } from '../../lib/orders/journal/verify.js'
import type { PlaceBody } from '../../lib/orders/shapes.js'
import { memoryStore } from '../../lib/objects/memory.js'
import { makeCertificate } from '../../lib/simulator/wire/certificate.js'
import { createServer } from '../../server/http/app.js'
import { openForTest } from '../../server/testing/open.js'
import type { WatchedApp } from '../../server/testing/open.js'
import { missing, startServer, superClient } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'
import { startProxy } from '../harness/tcp-proxy.js'
import { countTraffic } from '../harness/postgres-traffic.js'
import type { TcpProxy, Verdict } from '../harness/tcp-proxy.js'
import { until } from '../harness/until.js'
import { UPC, orderShop } from '../orders/shop.js'
import type { OrderShop } from '../orders/shop.js'
import { scripted } from '../orders/scripted-distributor.js'
import type { Act, Scripted } from '../orders/scripted-distributor.js'

const SECRET = '5e'.repeat(32)

/** A node with its own clock and its own way to the database. */
interface Node {
  app: WatchedApp
  clock: { ms: number }
  proxy: TcpProxy
}

interface Nodes extends AsyncDisposable {
  /** The one that leads. */
  first: Node & { shop: OrderShop }
  second: Node
  tst: Scripted
  address: string
  /** The second node's process ends, and another one has its folder. */
  reopenSecond(): Promise<WatchedApp>
  /** Places an order through a node; resolves with its status, or the code that refused it. */
  place(node: Node, body: Record<string, unknown>): Promise<string>
  orders(): ReturnType<OrderShop['purchaseOrders']>
}

/** What the steps of a send get. */
const senderCtxOf = ({ ctx }: WatchedApp): SenderCtx => ({
  ...ctx,
  owner: 'first',
  epoch: null,
  noNewWork: new AbortController().signal,
  abandonCalls: new AbortController().signal,
  flushJournal: async () => {},
  refuseFailed: () => {},
  step: () => undefined,
})

describe('orders of several nodes', { skip: missing }, () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(async () => {
    await server?.close()
  })

  async function nodes(
    given: Scripted | Scripted[] = scripted(),
    step: (name: string) => Promise<void> | undefined = () => undefined,
  ): Promise<Nodes> {
    const all = [given].flat()
    const tst = all[0]!
    const address = await server.database()
    const through = async () => {
      const proxy = await startProxy(server.port)
      return { proxy, database: address.replace(`:${server.port}/`, `:${proxy.port}/`) }
    }
    const [one, two] = [await through(), await through()]
    const dir = mkdtempSync(join(tmpdir(), 'qm-node-'))
    const objects = memoryStore({ now: Date.now })
    const shop = await orderShop(all, {
      secretKey: SECRET,
      database: one.database,
      objects,
      faults: { step },
    })
    for (const end of ['', '-wal']) {
      const file = `${filesIn(shop.app.dir).catalog}${end}`
      if (existsSync(file)) cpSync(file, `${filesIn(dir).catalog}${end}`)
    }
    const clock = { ms: shop.clock.ms }
    const openSecond = () =>
      openForTest({
        dir,
        database: two.database,
        objects,
        secretKey: SECRET,
        worker: false,
        distributors: [...builtin, ...all.map(({ distributor }) => distributor)],
        now: () => clock.ms,
      })
    const app = await openSecond()
    const first = { app: shop.app as WatchedApp, shop, clock: shop.clock, proxy: one.proxy }
    const second = { app, clock, proxy: two.proxy }
    first.app.ctx.engine.lead!.stand()
    await until(() => first.app.ctx.engine.lead!.epoch !== null, 'the first leads')
    first.app.orders.start()
    return {
      first,
      second,
      tst,
      address,
      async reopenSecond() {
        await app.close()
        return openSecond()
      },
      place: (node, body) =>
        node.app
          .as(shop.subscriber)
          .orders.place(body as PlaceBody)
          .then(
            ({ status }) => status,
            (error: { code?: string }) => error.code ?? String(error),
          ),
      orders: () => shop.purchaseOrders(),
      async [Symbol.asyncDispose]() {
        await app.close()
        await shop.close()
        await one.proxy.close()
        await two.proxy.close()
        rmSync(dir, { recursive: true })
      },
    }
  }

  /** The second node takes the lead: nobody has renewed it for longer than it lives. */
  async function leadMoves({ first, second }: Nodes): Promise<void> {
    first.proxy.isStalled = true
    second.app.ctx.engine.lead!.stand()
    second.app.orders.start()
    await until(() => {
      second.clock.ms += 1_000
      return second.app.ctx.engine.lead!.epoch !== null
    }, 'the second leads')
  }

  /** The first goes on; what had been on its way is lost. */
  async function thaw({ first }: Nodes): Promise<void> {
    first.proxy.isStalled = false
    first.proxy.cutAll()
    const read = () => first.app.ctx.read.selectFrom('setting').selectAll().execute()
    await until(
      () =>
        read().then(
          () => true,
          () => false,
        ),
      'the first reads again',
    )
  }

  /** Has the next commit that follows such a statement lose its connection. */
  function cutCommitAfter(proxy: TcpProxy, statement: RegExp, verdict: Verdict): () => boolean {
    const writing = new WeakSet<object>()
    let isCut = false
    proxy.judge = (bytes, connection) => {
      const text = bytes.toString('latin1')
      if (statement.test(text)) writing.add(connection)
      if (!writing.has(connection) || isCut || !/\bcommit\b/i.test(text)) return 'pass'
      isCut = true
      return verdict
    }
    return () => isCut
  }

  test('what another node takes in, the one that leads sends', async () => {
    await using t = await nodes()
    assert.equal(await t.place(t.second, t.first.shop.body()), 'placed')
    const [order] = await t.orders()
    assert.deepEqual(
      [order?.state, order?.sends, t.tst.sends.length, t.tst.orders.length],
      ['placed', 1, 1, 1],
    )
    // Either can prove it, and search in it.
    for (const { app } of [t.first, t.second]) {
      const { sound, lines, purchase_orders: orders } = await verifyJournal(app.ctx)
      assert.deepEqual([sound, lines > 0, orders], [true, true, 1])
      assert.ok((await verifyAudit(app.ctx)).sound)
    }
    await t.first.app.ctx.db.updateTable('purchase_order').set({ account: 'another' }).execute()
    const { sound, faults } = await verifyJournal(t.second.app.ctx)
    assert.deepEqual([sound, faults[0]?.where], [false, 'purchase orders'])
  })

  test('an order costs so many statements and round trips, and no more', async () => {
    await using t = await nodes()
    // As of a server, which has it all the time: else some orders would take it, and others not.
    const lease = await t.first.app.ctx.orders.lease()
    const [first, second] = [countTraffic(t.first.proxy), countTraffic(t.second.proxy)]
    /** Of several orders the least: whoever leads looks for what is due besides. */
    async function leastOf(
      place: () => Promise<string>,
    ): Promise<Record<'statements' | 'trips', number>> {
      const least = { statements: Infinity, trips: Infinity }
      for (let i = 0; i < 12; i++) {
        const sum = (what: 'statements' | 'trips') => first[what] + second[what]
        const [statements, trips] = [sum('statements'), sum('trips')]
        assert.equal(await place(), 'placed')
        least.statements = Math.min(least.statements, sum('statements') - statements)
        least.trips = Math.min(least.trips, sum('trips') - trips)
      }
      return least
    }
    const byKey = (node: Node) => {
      const http = createServer(node.app)
      return async () => {
        const answer = await http.fetch(
          new Request('http://shop.example/v1/orders', {
            method: 'POST',
            headers: { 'x-api-key': t.first.shop.key, 'content-type': 'application/json' },
            body: JSON.stringify(t.first.shop.body()),
          }),
          { address: '127.0.0.1' },
        )
        return ((await answer.json()) as { data: { status: string } }).data.status
      }
    }
    const least = {
      'at the leader': await leastOf(() => t.place(t.first, t.first.shop.body())),
      'at another node': await leastOf(() => t.place(t.second, t.first.shop.body())),
      // Whose calls and orders are counted.
      'by a key at the leader': await leastOf(byKey(t.first)),
      'by a key at another node': await leastOf(byKey(t.second)),
    }
    const most = {
      'at the leader': { statements: 27, trips: 7 },
      'at another node': { statements: 42, trips: 14 },
      'by a key at the leader': { statements: 30, trips: 7 },
      'by a key at another node': { statements: 45, trips: 14 },
    }
    for (const [where, { statements, trips }] of Object.entries(most)) {
      const cost = least[where as keyof typeof least]
      assert.ok(cost.statements <= statements, `${cost.statements} statements ${where}`)
      // Some that go together may not, where an answer is faster than the next of them.
      assert.ok(cost.trips <= trips + 2, `${cost.trips} round trips ${where}`)
    }
    lease!.release()
  })

  test('what was decided of an order is in the log before the order is, and of a repeated one nothing', async () => {
    await using t = await nodes()
    const { db } = t.first.app.ctx
    const decided = async () => {
      const { rows } = await sql`select 1 from restriction_decision`.execute(db)
      return rows.length
    }
    const body = t.first.shop.body()
    assert.equal(await t.place(t.first, body), 'placed')
    assert.equal(await decided(), 1)
    assert.equal(await t.place(t.first, body), 'duplicate_order')
    assert.equal(await decided(), 1)
    // Refused by what is looked at behind it.
    await sql`insert into order_engine (name, value) values
      ('paused', '{"since":1,"reason":"a test","orders":[]}')`.execute(db)
    assert.equal(await t.place(t.first, t.first.shop.body()), 'service_unavailable')
    assert.equal(await decided(), 2)
    await sql`delete from order_engine where name = 'paused'`.execute(db)
    await sql`alter table restriction_decision rename to away`.execute(db)
    assert.match(await t.place(t.first, t.first.shop.body()), /42P01/)
    assert.deepEqual([(await t.orders()).length, t.tst.sends.length], [1, 1])
  })

  test('the same order at the same moment through both is placed once', async () => {
    await using t = await nodes()
    const body = t.first.shop.body()
    const told = await Promise.all([t.place(t.first, body), t.place(t.second, body)])
    assert.deepEqual(told.sort(), ['duplicate_order', 'placed'])
    assert.equal(t.tst.sends.length, 1)
  })

  test('many at the same moment through both are all placed', async () => {
    await using t = await nodes()
    const told = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        t.place(n % 2 === 0 ? t.first : t.second, t.first.shop.body()),
      ),
    )
    assert.deepEqual(
      told,
      told.map(() => 'placed'),
    )
    assert.equal(t.tst.sends.length, 30)
    assert.ok((await verifyJournal(t.second.app.ctx)).sound)
  })

  for (const verdict of ['cut', 'cut once done'] as const)
    for (const [what, statement, logged] of [
      ['the intent', /insert into "purchase_order"/, []],
      ['what the distributor answered', /update "purchase_order"/, [/cannot be written down yet/]],
    ] as const)
      test(`a connection that is lost while ${what} is committed (${verdict})`, async () => {
        await using t = await nodes()
        t.first.app.expectErrors(...logged)
        const isCut = cutCommitAfter(t.first.proxy, statement, verdict)
        assert.equal(await t.place(t.first, t.first.shop.body()), 'placed')
        assert.ok(isCut())
        const orders = await t.orders()
        assert.deepEqual(
          [orders.map(({ state, sends }) => [state, sends]), t.tst.sends.length],
          [[['placed', 1]], 1],
        )
      })

  for (const verdict of ['cut', 'cut once done'] as const)
    test(`a connection that is lost while a claim is committed (${verdict})`, async () => {
      await using t = await nodes()
      t.first.app.expectErrors(/cannot be written down yet/)
      const isCut = cutCommitAfter(t.first.proxy, /update "purchase_order"/, verdict)
      assert.equal(await t.place(t.second, t.first.shop.body()), 'placed')
      assert.ok(isCut())
      const [order] = await t.orders()
      assert.deepEqual([order?.state, order?.sends, t.tst.sends.length], ['placed', 1, 1])
    })

  test('a leader whose lease is half over begins no send, and gives the order back', async () => {
    let isLate = false
    const tst = scripted()
    await using t = await nodes(tst, (name) => {
      if (name === 'before the send' && !isLate) {
        isLate = true
        t.first.clock.ms += 8_000
      }
      return undefined
    })
    const placing = t.place(t.first, t.first.shop.body())
    await until(async () => (await t.orders())[0]?.reason != null, 'it was given back')
    const [order] = await t.orders()
    assert.match(order!.reason!, /another node may be about to send/)
    assert.deepEqual([order!.failures, tst.sends.length], [0, 0])
    // Once the lease is renewed, it is sent.
    assert.equal(await placing, 'placed')
    assert.equal(tst.sends.length, 1)
  })

  test('a call whose connection was secure too late has sent nothing, and whoever leads sends', async () => {
    const made = makeCertificate({ now: Date.now() })
    const asked: string[] = []
    const secure = createSecureServer(
      { cert: made.certificate, key: made.key },
      (request, response) => {
        asked.push(request.url ?? '')
        response.end('{}')
      },
    )
    /** The handshake of the first connection waits until this is called. */
    let handshake: (() => void) | undefined
    const tcp = createTcpServer((socket) => {
      const goOn = () => void secure.emit('connection', socket)
      if (handshake) goOn()
      else handshake = goOn
    })
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve))
    const { port } = tcp.address() as AddressInfo
    const tst = scripted()
    const call: Act = async ({ httpAt }, { clientRef }) => {
      const egress = { hosts: [], simulator: { certificate: made.certificate } }
      const at = httpAt(`https://localhost:${port}/`, egress)
      try {
        await at({ method: 'POST', path: clientRef, body: '{}' })
        return { outcome: 'accepted', number: 'TST-1' }
      } catch (error) {
        const { sent, message } = error as CallFault
        return { outcome: sent ? 'unknown' : 'not_sent', reason: message }
      }
    }
    tst.acts.push(call, call)
    await using t = await nodes(tst)
    const placing = t.place(t.first, t.first.shop.body())
    await until(() => handshake !== undefined, 'it is connected')
    // Nobody renews the lease any more, and more than half of it passes.
    await epochEnds(t)
    t.first.clock.ms += 8_000
    t.second.clock.ms = t.first.clock.ms
    handshake!()
    await until(async () => (await t.orders())[0]?.reason != null, 'it was given back')
    const [order] = await t.orders()
    assert.match(order!.reason!, /another node may be about to send/)
    assert.deepEqual([order!.state, order!.failures, order!.ever_unknown], ['planned', 0, 0])
    assert.deepEqual(asked, [])
    t.second.app.ctx.engine.lead!.stand()
    t.second.app.orders.start()
    assert.equal(await placing, 'placed')
    assert.deepEqual([asked.length, (await t.orders())[0]!.sends], [1, 2])
    tcp.close()
    secure.closeAllConnections()
  })

  test('an order that waits while orders are paused is answered, and sent when they go on', async () => {
    const tst = scripted({ recovery: 'staged', limits: { concurrency: 1 } })
    let end = () => {}
    tst.acts.push((_session, order) => {
      tst.orders.push({ number: 'TST-1', order })
      return new Promise((resolve) => {
        end = () => resolve({ outcome: 'accepted', number: 'TST-1' })
      })
    })
    await using t = await nodes(tst)
    const first = t.place(t.first, t.first.shop.body())
    await until(() => tst.sends.length === 1, 'the account has its one call')
    const waiting = [t.first, t.second].map((node) => t.place(node, t.first.shop.body()))
    await until(async () => (await t.orders()).length === 3, 'the others are taken in')
    const since = performance.now()
    await t.first.app.operator.orders.pause({ reason: 'a call from the distributor' })
    end()
    assert.deepEqual(
      [await first, ...(await Promise.all(waiting))],
      ['placed', 'pending', 'pending'],
    )
    assert.ok(performance.now() - since < 5_000, 'nobody waits for what nobody sends')
    assert.equal(tst.sends.length, 1)
    await resumeOrders(t.first.app.ctx)
    await until(() => tst.sends.length === 3, 'they are sent')
  })

  test('what was being sent is looked up by the next leader, and bought once', async () => {
    const tst = scripted()
    let answer: () => void = () => {}
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    tst.acts.push(async (_session, order) => {
      tst.orders.push({ number: 'TST-1', order })
      await answered
      return { outcome: 'accepted', number: 'TST-1' }
    })
    await using t = await nodes(tst)
    t.first.app.expectErrors(/somebody has moved on meanwhile/)
    const placing = t.place(t.first, t.first.shop.body())
    await until(() => tst.sends.length === 1, 'it was sent')
    await leadMoves(t)
    const states = async () =>
      (await t.second.app.ctx.read.selectFrom('purchase_order').select('state').execute()).map(
        ({ state }) => state,
      )
    await until(
      async () => {
        // Longer than the lease: it is renewed before anything is done.
        t.second.clock.ms += 60_000
        await until(() => t.second.app.ctx.engine.lead!.epoch !== null, 'the second leads on')
        await pause(500)
        return (await states())[0] === 'placed'
      },
      'it was found',
      60,
    )
    // The one that was frozen goes on, and tells what it heard: it changes nothing.
    await thaw(t)
    answer()
    await placing
    assert.deepEqual([await states(), tst.sends.length], [['placed'], 1])
  })

  test('a leader that does not know yet that it is none claims nothing', async () => {
    const tst = scripted()
    await using t = await nodes(tst)
    const { engine } = t.first.app.ctx
    const epoch = engine.lead!.epoch!
    await leadMoves(t)
    await thaw(t)
    // By its own clocks, which stood still, it leads; and it may have heard by now that it does not.
    await assert.rejects(
      engine.atomic(t.first.app.ctx, (tx) => engine.lead!.fence(tx.db, epoch)),
      LeadLost,
    )
    assert.equal(await t.place(t.first, t.first.shop.body()), 'placed')
    assert.equal(tst.sends.length, 1)
    assert.equal((await t.orders())[0]!.sends, 1)
  })

  /** Another epoch begins, as if a node had taken the lead that the first has not heard of. */
  async function epochEnds({ first }: Nodes): Promise<void> {
    const { db } = first.app.ctx
    await sql`update leadership set owner = 'another', epoch = epoch + 1`.execute(db)
    await sql`delete from lease`.execute(db)
  }

  test('a claim in an epoch that is over is none', async () => {
    const tst = scripted()
    await using t = await nodes(tst)
    // The second takes it in, and the first has not looked for it yet.
    await t.first.app.orders.stop()
    const { engine } = t.first.app.ctx
    const epoch = engine.lead!.epoch!
    const placing = t.place(t.second, t.first.shop.body())
    await until(async () => (await t.orders()).length === 1, 'it was taken in')
    const [order] = await t.orders()
    await epochEnds(t)
    assert.equal(engine.lead!.epoch, epoch, 'by its own clocks it leads')
    await assert.rejects(
      record({ ...senderCtxOf(t.first.app), epoch }, order!, {
        to: 'sending',
        sends: 1,
        owner: 'first',
        next_at: null,
      }),
      LeadLost,
    )
    assert.deepEqual([(await t.orders())[0]!.state, tst.sends.length], ['planned', 0])
    t.second.app.ctx.engine.lead!.stand()
    t.second.app.orders.start()
    assert.equal(await placing, 'placed')
    assert.equal(tst.sends.length, 1)
  })

  test('what was sent before the lead was lost and regained is not sent again', async () => {
    // One part is placed at once, the other waits for a cart that is taken.
    const tst = scripted()
    const slow = scripted({ distid: 'TS2', name: 'Second Wholesale', limits: { concurrency: 1 } })
    let free: () => void = () => {}
    slow.acts.push(
      () =>
        new Promise((resolve) => {
          free = () => resolve({ outcome: 'rejected', reason: 'sold out' })
        }),
    )
    await using t = await nodes([tst, slow])
    const item = (distid: string) => ({ distid, distsku: 'A1', upc: UPC, qty: 1 })
    const first = t.place(t.first, t.first.shop.body({ items: [item('TS2')] }))
    await until(() => slow.sends.length === 1, 'the cart is taken')
    const second = t.place(t.first, t.first.shop.body({ items: [item('TST'), item('TS2')] }))
    await until(() => tst.sends.length === 1, 'the first part was sent')
    await epochEnds(t)
    free()
    await Promise.all([first, second])
    await until(
      async () => (await t.orders()).every(({ state }) => ['placed', 'rejected'].includes(state)),
      'all are through',
      40,
    )
    assert.deepEqual([tst.sends.length, slow.sends.length], [1, 2])
    // No slot was lost: another order of the same account goes through.
    assert.equal(await t.place(t.first, t.first.shop.body({ items: [item('TS2')] })), 'placed')
  })

  test('an order whose commit is in doubt while its epoch ends is sent once', async () => {
    const tst = scripted({ limits: { concurrency: 1 } })
    await using t = await nodes(tst)
    let isCut = false
    const cut = cutCommitAfter(t.first.proxy, /insert into "purchase_order"/, 'cut once done')
    const ended = until(cut, 'its commit was cut').then(() => {
      isCut = true
      return epochEnds(t)
    })
    const told = await t.place(t.first, t.first.shop.body())
    await ended
    assert.ok(isCut)
    assert.ok(['placed', 'pending'].includes(told), told)
    await until(async () => (await t.orders())[0]?.state === 'placed', 'it was placed', 60)
    assert.equal(tst.orders.length, 1)
    assert.equal(await t.place(t.first, t.first.shop.body()), 'placed')
  })

  /** As after the database was restored from a backup of before the lines behind `seq`. */
  async function setBack({ address }: Nodes, seq: number): Promise<void> {
    const client = superClient(address)
    await client.connect()
    try {
      await client.query('set search_path to quartermaster')
      // Neither triggers nor references: a restored database has no lines to refuse.
      await client.query('set session_replication_role = replica')
      await client.query('delete from journal where seq > $1', [seq])
      if (seq === 0)
        for (const table of ['purchase_order', 'fulfillment_order', 'placement', 'order_count'])
          await client.query(`delete from ${table}`)
    } finally {
      await client.end()
    }
  }

  const pauseAt = ({ first }: Nodes) => readPause(first.app.ctx)

  test('a database that was set back pauses orders, until the operator lets them go on', async () => {
    await using t = await nodes()
    t.first.app.expectErrors(/orders are paused/)
    assert.equal(await t.place(t.first, t.first.shop.body()), 'placed')
    const seen = join(t.first.app.dir, 'journal-seen.json')
    const head = () => (existsSync(seen) ? (JSON.parse(readFileSync(seen, 'utf8')) as object) : {})
    const { lines } = await verifyJournal(t.first.app.ctx)
    await until(() => 'seq' in head() && (head() as { seq: number }).seq === lines, 'it was seen')
    assert.equal(await pauseAt(t), null)
    await setBack(t, 0)
    t.first.clock.ms += 1_100
    await until(async () => (await pauseAt(t)) !== null, 'orders are paused')
    const { reason, lookBackTo } = (await pauseAt(t))!
    assert.match(reason, new RegExp(`does not have line ${lines} of the order journal`))
    assert.ok(lookBackTo! < t.first.clock.ms)
    assert.equal(await t.place(t.first, t.first.shop.body()), 'service_unavailable')
    assert.equal(t.tst.sends.length, 1)
    // Once they go on, it is known, and pauses nothing again.
    await resumeOrders(t.first.app.ctx)
    t.first.clock.ms += 2_000
    await pause(500)
    assert.equal(await pauseAt(t), null)
    assert.equal(await t.place(t.first, t.first.shop.body()), 'placed')
  })

  test('who begins to lead finds first that the database was set back', async () => {
    await using t = await nodes()
    assert.equal(await t.place(t.first, t.first.shop.body()), 'placed')
    // The second has seen it without leading.
    t.second.app.orders.start()
    await until(() => existsSync(join(t.second.app.dir, 'journal-seen.json')), 'it was seen')
    await t.second.app.orders.stop()
    await t.first.app.orders.stop()
    await setBack(t, 0)
    await using again = await t.reopenSecond()
    again.expectErrors(/orders are paused/)
    await epochEnds(t)
    again.ctx.engine.lead!.stand()
    await until(() => again.ctx.engine.lead!.epoch !== null, 'it leads')
    const lease = await again.orders.lease()
    assert.ok(lease)
    lease.release()
    assert.match((await pauseAt(t))!.reason, /was set back to an earlier state/)
  })

  test('over several nodes no line of the journal waits for a file', async () => {
    await using t = await nodes()
    assert.equal(await t.place(t.first, t.first.shop.body()), 'placed')
    const { sound, lines, file } = await verifyJournal(t.first.app.ctx)
    assert.deepEqual([sound, lines > 0, file.pending], [true, true, 0])
  })

  test('a job ends where another node leads, and has not failed', async () => {
    await using t = await nodes()
    let began: () => void = () => {}
    const hasBegun = new Promise<void>((resolve) => {
      began = resolve
    })
    const job = {
      name: 'long',
      every: 60_000,
      run: (_ctx: unknown, signal: AbortSignal) =>
        new Promise<void>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('cut short')))
          began()
        }),
    }
    const jobs = openJobs(t.first.app.ctx as OperatorCtx, [job])
    jobs.start()
    const run = assert.rejects(jobs.run('long'), /cut short/)
    await hasBegun
    await epochEnds(t)
    await run
    assert.equal(jobs.counts.get('long')!.failures, 0)
    await jobs.stop()
  })

  test('a job of an epoch that is over writes nothing, and has not failed', async () => {
    await using t = await nodes()
    const { ctx } = t.first.app
    let jobs: Jobs | undefined
    const written = async () =>
      (await ctx.read.selectFrom('feed_hold').select('account').execute()).map(
        ({ account }) => account,
      )
    const write = (given: OperatorCtx, account: string) =>
      given.engine.atomic(given, ({ db }) =>
        db.insertInto('feed_hold').values({ account, preset: 'p', not_before: 1 }).execute(),
      )
    let goOn: () => void = () => {}
    const hasBegun = new Promise<void>((began) => {
      const job = {
        name: 'writes',
        every: 60_000,
        async run(given: OperatorCtx) {
          await write(given, 'before')
          // Joined transactions are fenced as one.
          await given.engine.atomic(given, (tx) => write({ ...given, ...tx }, 'joined'))
          await new Promise<void>((resolve) => {
            goOn = resolve
            began()
          })
          await write(given, 'after')
        },
      }
      jobs = openJobs(ctx as OperatorCtx, [job])
    })
    const run = assert.rejects(jobs!.run('writes'), LeadLost)
    await hasBegun
    await epochEnds(t)
    // Its own clocks still say that it leads, as those of a node that froze and goes on do.
    assert.notEqual(ctx.engine.lead!.epoch, null)
    goOn()
    await run
    assert.deepEqual(await written(), ['before', 'joined'])
    assert.equal(jobs!.counts.get('writes')!.failures, 0)
    const [noted] = await ctx.read.selectFrom('job').selectAll().execute()
    assert.deepEqual([noted?.failures, noted?.last_finished_at], [0, null])
    await jobs!.stop()
  })

  test('what waits for the leader is looked for together', async () => {
    await using t = await nodes()
    await t.first.app.orders.stop()
    const placing = Array.from({ length: 12 }, (_, i) =>
      t.place(t.second, t.first.shop.body({ order_id: `together-${i}` })),
    )
    await until(async () => (await t.orders()).length === placing.length, 'all are taken in')
    let asked = 0
    t.second.proxy.judge = (bytes) => {
      asked += bytes.toString('latin1').split('from "purchase_order"').length - 1
      return 'pass'
    }
    await pause(1_000)
    assert.ok(asked > 0 && asked < 25, `${asked} statements in a second`)
    await epochEnds(t)
    t.second.app.ctx.engine.lead!.stand()
    t.second.app.orders.start()
    assert.deepEqual(new Set(await Promise.all(placing)), new Set(['placed']))
    assert.equal(t.tst.sends.length, placing.length)
  })

  test('a database that is away is told of once, and callers are refused by 503', async () => {
    await using t = await nodes()
    const { app } = t.second
    const told: string[] = []
    const note = (_fields: object, message: string) => void told.push(message)
    const log = { debug() {}, info: note, warn() {}, error: note }
    const http = createServer({ ...app, ctx: { ...app.ctx, log } })
    const list = () =>
      http.fetch(
        new Request('http://shop.example/v1/orders', {
          headers: { 'x-api-key': t.first.shop.key },
        }),
        { address: '127.0.0.1' },
      )
    assert.equal((await list()).status, 200)
    await server.crash()
    const answers = await Promise.all(Array.from({ length: 5 }, list))
    answers.push(await list())
    for (const { status, headers } of answers)
      assert.deepEqual([status, headers.get('retry-after')], [503, '1'])
    assert.equal(told.filter((line) => line.includes('cannot be reached')).length, 1)
    await pause(1_500)
    assert.equal(told.length, 1)
    await server.start()
    await until(() => told.includes('the database can be reached again'), 'it is back')
    assert.equal((await list()).status, 200)
    assert.equal(told.length, 2)
  })
})
