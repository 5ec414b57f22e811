/**
 * An app that is closed in the middle of everything that it can be doing, again and again, and what
 * it must not leave behind. `scripts/closing.mjs` runs this file by itself, for as many rounds as
 * are asked for.
 */
import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Subscriber } from '../../lib/accounts/caller.js'
import type { Log } from '../../lib/core/log.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { defineDistributor } from '../../lib/distributors/distributor.js'
import type { Session } from '../../lib/distributors/session/session.js'
import { listen } from '../../server/index.js'
import { CUSTOMER, UPC, offersOf, orderShop } from '../orders/shop.js'
import type { OrderShop } from '../orders/shop.js'
import { scripted } from '../orders/scripted-distributor.js'
import type { Act, Scripted } from '../orders/scripted-distributor.js'
import { Rng } from '../harness/random.js'

/**
 * Milliseconds after the work began at which an app is closed, at most: some of it is over then,
 * and some has not begun.
 */
const LATEST = 60
const OFFERS = 30
const DAVIDSONS =
  'Item #, Item Description, MSP, Retail Price, Dealer Price, Sale Price, Sale Ends, ' +
  'Quantity, UPC Code, Manufacturer, Gun Type, Model Series, Caliber, Action, Capacity, ' +
  'Finish,Stock, Sights, Barrel Length, Overall Length, Features\n'

export interface Rounds {
  /** What was under way when its app was closed, by kind. */
  caught: Record<string, number>
  /** Orders that the distributor took. */
  orders: number
}

/**
 * Timers that are set and have neither gone off nor been taken back, whether they keep the process
 * alive or not; with where they were set.
 */
function watchTimers(): { left(): string[]; stop(): void } {
  const live = new Map<number, string>()
  const hook = createHook({
    init(id, type) {
      if (type === 'Timeout')
        live.set(id, new Error('set').stack!.split('\n').slice(3, 12).join('\n'))
    },
    destroy(id) {
      live.delete(id)
    },
  }).enable()
  // Node sets one of its own for the time in its answers.
  return {
    left: () => [...live.values()].filter((stack) => !stack.includes('node:internal/http')),
    stop: () => {
      hook.disable()
    },
  }
}

/** The worker beside the bundle; the calling thread works where there is none. */
function workerFile(): string | false {
  const file = fileURLToPath(new URL('./worker.mjs', import.meta.url))
  return existsSync(file) && file
}

/**
 * A distributor whose every answer takes a while, and a server that never comes to the end of a
 * feed.
 */
async function surroundings(random: () => number) {
  const scratch = mkdtempSync(join(tmpdir(), 'qm-closing-'))
  const feed = join(scratch, 'davidsons.csv')
  const row = (i: number) =>
    `AB-${i},ACM PISTOL ` +
    `${i},$450.00,$599.99,$399.99,,,${i % 9},#082442884752#,Acme,Pistol: ` +
    'Semi-Auto,P1,9MM,,15+1,Black,,,4,7,Night sights\n'
  writeFileSync(feed, DAVIDSONS + Array.from({ length: 300 }, (_, i) => row(i)).join(''))
  const slow = createServer((request, response) => {
    const timer = setInterval(() => response.write(DAVIDSONS), 20)
    response.on('close', () => clearInterval(timer))
    request.resume()
  })
  await new Promise<void>((resolve) => {
    slow.listen(0, '127.0.0.1', resolve)
  })
  const { port } = slow.address() as { port: number }
  const tst = scripted({ hasLogin: true })
  const act: Act = async (_session, order) => {
    await pause(Math.floor(random() * 30))
    const number = `TST-${tst.orders.length + 1}`
    tst.orders.push({ number, order })
    return { outcome: 'accepted', number }
  }
  return {
    tst,
    act,
    feed,
    scratch,
    slowFeed: `http://127.0.0.1:${port}/feed.csv`,
    async end() {
      slow.closeAllConnections()
      await new Promise((resolve) => {
        slow.close(resolve)
      })
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}

/** As `tst`, with a check of credentials and news of orders that take a while too. */
function withQuestions(
  { distributor, connector, orders }: Scripted,
  random: () => number,
): Scripted['distributor'] {
  const asked = {
    ...connector,
    async *updates({ signal, now }: Session) {
      await pause(Math.floor(random() * 30), undefined, { signal })
      for (const {
        number,
        order: { po },
      } of orders.slice(-2))
        yield { number, po, at: now(), status: 'Fulfilled' as const }
    },
  }
  return defineDistributor({
    ...distributor,
    simulator: asked,
    fulfillment: asked,
    async check({ signal }) {
      await pause(Math.floor(random() * 30), undefined, { signal })
      return 'valid'
    },
  })
}

const NAME = 'Test Wholesale'
const HOUSE = {
  shipping_address_1: '12 Main St',
  shipping_city: 'Phoenix',
  shipping_state: 'AZ',
  shipping_postcode: '85001',
}

/** The saved document with other credentials, which a save then checks. */
async function withAccount(t: OrderShop, account: string): Promise<unknown> {
  const { document } = await t.app.ctx.configurations.of({
    id: t.app.ctx.engine.reader.raw.prepare('SELECT id FROM subscriber').pluck().get(),
  } as Subscriber)
  const { fulfillment: _none, ...entry } = document.distributors[NAME] as unknown as Record<
    string,
    unknown
  >
  return {
    ...document,
    distributors: {
      ...document.distributors,
      [NAME]: { ...entry, product_restrictions: { min_quantity_to_list: 1 }, account },
    },
  }
}

type Work = [
  kind: string,
  begin: (t: OrderShop, more: { feed: string; scratch: string; n: number }) => Promise<unknown>,
]

const WORKS: readonly Work[] = [
  ['order', (t) => t.place(t.body())],
  ['order', (t) => t.shop.orders.place(t.body({ customer: CUSTOMER }) as never)],
  [
    'order',
    (t) => t.place(t.body({ items: [{ distid: 'TST', distsku: 'A1', upc: UPC, qty: 2 }] })),
  ],
  ['feed', (t, { feed }) => t.app.operator.feeds.import({ distid: 'DAV', file: feed })],
  ['pull', (t) => t.app.operator.feeds.pull({ distid: 'LIP' })],
  ['export', (t) => t.app.as(t.subscriber).products.catalog({})],
  ['metric', (t) => t.json('/v1/analytics/trending')],
  ['analytics', (t) => t.app.operator.analytics.rebuild()],
  [
    'credentials',
    async (t, { n }) =>
      t.app.operator.configurations.put(t.subscriber, {
        document: await withAccount(t, `other-${n}`),
      }),
  ],
  ['credentials', (t) => t.app.operator.configurations.checkCredentials(t.subscriber, [NAME])],
  [
    'report',
    (t, { n }) =>
      t.json('/v1/fraud/reports', {
        method: 'POST',
        body: JSON.stringify({
          ...HOUSE,
          email: `pat${n}@customer.example`,
          phone: '602-555-0100',
        }),
      }),
  ],
  [
    'check',
    (t) =>
      t.json('/v1/fraud/check', {
        method: 'POST',
        body: JSON.stringify({ phone: '602-555-0100' }),
      }),
  ],
  ['fraud upkeep', (t) => t.app.jobs.run('fraud')],
  ['fraud key', (t) => t.app.operator.fraud.rotateKey()],
  ['search', (t) => t.json('/v1/products/search?q=pistol')],
  ['dealers', (t) => t.json('/v1/ffls?zip=85004')],
  ['sender', (t) => t.app.orders.pass()],
  ['news', (t) => t.app.monitors.pass()],
  ['backup', (t, { scratch, n }) => t.app.operator.backup({ to: join(scratch, `copy-${n}`) })],
]

/**
 * Kinds that start a process, which takes a third of a second on an idle machine: not in each
 * round.
 */
const COSTLY = new Set(['export', 'analytics'])

interface Inside {
  random: () => number
  around: Awaited<ReturnType<typeof surroundings>>
  caught: Record<string, number>
}

/** Opens, works, closes. Throws where anything is left, was logged as an error, or got lost. */
async function round({ random, around, caught }: Inside, n: number): Promise<void> {
  const errors: string[] = []
  const nothing = () => {}
  const log: Log = {
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: ({ err }: { err?: unknown }, message: string) =>
      errors.push(`${message}: ${err instanceof Error ? err.stack : String(err)}`),
  }
  const { tst, act, feed, scratch, slowFeed } = around
  const idle = process.getActiveResourcesInfo().sort()
  const timers = watchTimers()
  const t = await orderShop([{ ...tst, distributor: withQuestions(tst, random) }], {
    log,
    worker: workerFile(),
    monotonic: () => performance.now(),
    offers: [
      ...offersOf('TST'),
      ...Array.from({ length: OFFERS }, (_, i) => ({
        distid: 'TST',
        stockid: `B${i}`,
        name: `Pistol ${i}`,
      })),
    ],
  })
  try {
    await t.app.operator.feeds.set({ distid: 'LIP', location: slowFeed, allowPrivate: true })
    await t.logIn(`account-${n}`)
    tst.acts.splice(0, Infinity, ...Array.from({ length: 50 }, () => act))
    const [before, sends] = [tst.orders.length, tst.sends.length]
    const server = await listen(t.server, { port: 0, host: '127.0.0.1' })
    for (const part of [t.app.jobs, t.app.orders, t.app.monitors]) if (random() < 0.5) part.start()
    const open = new Set<string>()
    const works = WORKS.filter(([kind]) => random() < (COSTLY.has(kind) ? 0.2 : 0.7)).map(
      async ([kind, begin], i) => {
        const name = `${kind} ${i}`
        open.add(name)
        await begin(t, { feed, n, scratch })
          .catch(nothing)
          .finally(() => open.delete(name))
      },
    )
    // An app that is busy comes to its orders late.
    if (random() < 0.7)
      while (tst.sends.length === sends && [...open].some((name) => name.startsWith('order')))
        await pause(1)
    await pause(Math.floor(random() * LATEST))
    for (const name of open) {
      const kind = name.replace(/ \d+$/, '')
      caught[kind] = (caught[kind] ?? 0) + 1
    }
    await Promise.all([t.app.close(), server.close(0)])
    await turn()
    await turn()
    assert.deepEqual([...open], [], 'work that a closed app has left under way')
    await Promise.all(works)
    assert.deepEqual(timers.left(), [], 'timers that a closed app has left')
    assert.deepEqual(
      process
        .getActiveResourcesInfo()
        .sort()
        .filter((name) => name !== 'Immediate' && name !== 'CloseReq'),
      idle.filter((name) => name !== 'Immediate' && name !== 'CloseReq'),
      'what a closed app keeps alive',
    )
    assert.deepEqual(errors, [])
    assertKept(t, tst, before)
  } finally {
    timers.stop()
    await t.close()
  }
}

/** What a distributor answered is written down before the app is closed. */
function assertKept(t: OrderShop, tst: Scripted, before: number): void {
  const record = openFile(filesIn(t.app.dir).record, { synchronous: 'FULL', readonly: true })
  const placed = record
    .prepare("SELECT distributor_order_id FROM purchase_order WHERE state = 'placed'")
    .pluck()
    .all() as string[]
  record.close()
  assert.deepEqual(
    placed.sort(),
    tst.orders
      .slice(before)
      .map(({ number }) => number)
      .sort(),
    'orders that the distributor took',
  )
}

/**
 * So many rounds one after the other. Rejects with what was left of the first that left anything,
 * or was rejected without a handler.
 */
export async function closingRounds(
  rounds: number,
  { seed = 1, onRound }: { seed?: number; onRound?: (n: number) => void } = {},
): Promise<Rounds> {
  const rng = new Rng(seed)
  const random = () => rng.next()
  const unhandled: unknown[] = []
  const keep = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', keep)
  const around = await surroundings(random)
  const caught: Record<string, number> = {}
  try {
    for (let n = 0; n < rounds; n++) {
      try {
        await round({ random, around, caught }, n)
      } catch (error) {
        throw new Error(
          `round ${n} of seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`,
          { cause: error },
        )
      }
      assert.deepEqual(
        unhandled,
        [],
        `a promise was rejected without a handler in round ${n} of seed ${seed}`,
      )
      onRound?.(n)
    }
    return { caught, orders: around.tst.orders.length }
  } finally {
    process.off('unhandledRejection', keep)
    await around.end()
  }
}
