/** Documents of distributors over nodes: rows of their database, the same ones for every node. */
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { moveFromPostgres, moveToPostgres } from '../../lib/app/move/move.js'
import type { MoveInput } from '../../lib/app/move/move.js'
import { listNodes } from '../../lib/app/nodes/list.js'
import { nodeFindings } from '../../lib/app/nodes/findings.js'
import type { App, OpenOptions } from '../../lib/app/open.js'
import { builtin, presets } from '../../lib/distributors/builtin/index.js'
import { addDocument, textOf } from '../../lib/distributors/document/kept/add.js'
import { documentFile } from '../../lib/distributors/document/kept/folder.js'
import { sharedDigests, sharedDocuments } from '../../lib/distributors/document/kept/queries.js'
import { addShared, dropShared, tryShared } from '../../lib/distributors/document/kept/shared.js'
import type { DistributorDocument } from '../../lib/distributors/document/schema.js'
import { memoryStore } from '../../lib/objects/memory.js'
import { createTestApp } from '../../server/testing/index.js'
import { openForTest } from '../../server/testing/open.js'
import { missing, startServer } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'
import { until } from '../harness/until.js'
import { documentOf, feedOf } from '../distributors/document/rig.js'
import { CUSTOMER } from '../orders/shop.js'

const SECRET = '5e'.repeat(32)
const KNOWN = { distributors: builtin, presets }
const UPC = '798681501687'

describe('documents of distributors over nodes', { skip: missing }, () => {
  let server: TestServer
  let scratch: string
  before(async () => {
    server = await startServer()
    scratch = mkdtempSync(join(tmpdir(), 'qm-shared-documents-'))
  })
  after(async () => {
    await server?.close()
    rmSync(scratch, { recursive: true, force: true })
  })

  /** Acme has a folder of its own, from which its feed comes and into which its orders go. */
  function acmeOf(name: string, more: Partial<DistributorDocument> = {}): DistributorDocument {
    const path = join(scratch, name)
    mkdirSync(join(path, 'in'), { recursive: true })
    writeFileSync(
      join(path, 'items.csv'),
      `item,upc,name,price,qty,kind\nA-1,${UPC},Scope,20,9,optic\n`,
    )
    return documentOf(
      { kind: 'folder', path },
      {
        settings: { account: { label: 'Account' } },
        feeds: [
          feedOf(
            {},
            {
              map: {
                upc: { from: ['upc'] },
                name: { from: ['name'] },
                price: { from: ['price'] },
                qty: { from: ['qty'] },
              },
            },
          ),
        ],
        orders: {
          by: 'file',
          connection: 'main',
          path: 'in/{po}.txt',
          po: { max: 24 },
          templates: { customer: { escape: 'pipe', line: '{account}|{line.sku}|{line.qty}\n' } },
        },
        ...more,
      },
    )
  }
  const optionsOf = (database: string): OpenOptions & { database: string } => ({
    database,
    secretKey: SECRET,
    objects: memoryStore({ now: Date.now }),
    worker: false,
  })
  const openNode = (database: string, name: string, more: OpenOptions = {}) =>
    openForTest({ ...optionsOf(database), dir: join(scratch, name), ...more })
  const distidsOf = ({ ctx }: App) =>
    ctx.distributors.all
      .map(({ distid }) => distid)
      .filter((distid) => !builtin.some((one) => one.distid === distid))
  const stored = async ({ ctx }: App) =>
    (await sharedDocuments(ctx.read)).map(({ distid }) => distid)
  const lacksIn = async ({ ctx }: App) => {
    const { nodes } = await listNodes(ctx)
    return nodes.flatMap(({ dir, lacks }) =>
      lacks.map(({ distid, why }) => `${dir} ${distid} ${why}`),
    )
  }
  /** How many offers a shop finds there; null before the node has the catalog. */
  const offersAt = ({ as }: App, subscriber: string): Promise<number | null> =>
    as(subscriber)
      .products.search()
      .then(
        ({ products }) => products.length,
        () => null,
      )
  /** Notes the node, as its server does. */
  const noted = async (app: App) => {
    app.ctx.register!.start('1.0.0')
    await until(
      async () => (await listNodes(app.ctx)).nodes.some(({ dir }) => dir === app.dir),
      'the node is noted',
    )
  }

  test('one that was added at another machine brings its feed and takes orders at all nodes', async () => {
    const database = await server.database()
    const acme = acmeOf('acme')
    {
      await using desk = await openNode(database, 'desk')
      assert.deepEqual(await addShared(desk.ctx, KNOWN, acme), { isNew: true, wasLive: false })
      // As in one folder, it holds from the next start on.
      assert.deepEqual(distidsOf(desk), [])
    }
    const { objects } = optionsOf(database)
    await using t = await createTestApp({ ...optionsOf(database), objects: objects! })
    await using second = await openNode(database, 'second', {
      objects: objects!,
      now: () => t.clock.ms,
    })
    const nodes = [t.app, second]
    for (const node of nodes) assert.deepEqual(distidsOf(node), ['ACME'])
    for (const { ctx } of nodes) ctx.sharing!.start()
    const { lead } = t.app.ctx.engine
    lead!.stand()
    await until(() => lead!.epoch !== null, 'the first leads')
    await t.configure({
      distributors: { Acme: { distid: 'ACME', fulfillment: { account: '4711' } } as never },
    })
    await second.operator.feeds.set({
      distid: 'ACME',
      location: 'account',
      subscriber: t.subscriber,
    })
    const [pulled] = await t.app.operator.feeds.pull({ distid: 'ACME' })
    assert.equal(pulled!.outcome, 'taken', JSON.stringify(pulled))
    const offers = () => offersAt(second, t.subscriber)
    await until(async () => (await offers()) === 1, 'the second has its offer')

    await second.operator.distributors.goLive({ distid: 'ACME', reason: 'agreed' })
    t.app.orders.start()
    const placed = await second.as(t.subscriber).orders.place({
      order_id: 'W-1',
      items: [{ distid: 'ACME', distsku: 'A-1', upc: UPC, qty: 2 }],
      customer: CUSTOMER,
    } as never)
    assert.equal(placed.status, 'placed')
    const files = readdirSync(join(scratch, 'acme', 'in'))
    assert.equal(files.length, 1)
    assert.equal(readFileSync(join(scratch, 'acme', 'in', files[0]!), 'utf8'), '4711|A-1|2\n')

    // As in one folder, it then takes no more orders there, and the others are still known.
    await dropShared(second.ctx, 'ACME')
    await using third = await openNode(database, 'third', {
      objects: objects!,
      now: () => t.clock.ms,
    })
    assert.deepEqual(distidsOf(third), [])
    const shop = third.as(t.subscriber)
    third.ctx.sharing!.start()
    await until(async () => (await offersAt(third, t.subscriber)) === 1, 'it has the catalog')
    await assert.rejects(
      shop.orders.place({
        order_id: 'W-2',
        items: [{ distid: 'ACME', distsku: 'A-1', upc: UPC, qty: 2 }],
        customer: CUSTOMER,
      } as never),
      { code: 'invalid_parameter' },
    )
    const { configuration } = await shop.config.get()
    assert.deepEqual(Object.keys(configuration['distributors'] as object), ['Acme'])
    const known = await shop.orders.get({ order_id: 'W-1' })
    assert.equal(known.fulfillment_orders.length, 1)
  })

  test('an order for one that the leader does not know is not sent, and may come again', async () => {
    const database = await server.database()
    const { objects } = optionsOf(database)
    const acme = acmeOf('waits')
    const t = await createTestApp({ ...optionsOf(database), objects: objects! })
    const { lead } = t.app.ctx.engine
    lead!.stand()
    await until(() => lead!.epoch !== null, 'the first leads')
    await t.stock([
      { distid: 'ACME', stockid: 'A-1', upc: UPC, name: 'Scope', price: 2_000, qty: 9 },
    ])
    t.app.ctx.sharing!.start()
    await addShared(t.app.ctx, KNOWN, acme)
    await using second = await openNode(database, 'waits-second', {
      objects: objects!,
      now: () => t.clock.ms,
    })
    second.ctx.sharing!.start()
    await t.configure({
      distributors: { Acme: { distid: 'ACME', fulfillment: { account: '4711' } } as never },
    })
    await second.operator.configurations.recordCheck(t.subscriber, 'Acme', true)
    const shop = second.as(t.subscriber)
    const offers = () => offersAt(second, t.subscriber)
    await until(async () => (await offers()) === 1, 'the second has its offer')
    await second.operator.distributors.goLive({ distid: 'ACME', reason: 'agreed' })
    t.app.orders.start()
    const order = {
      order_id: 'W-1',
      items: [{ distid: 'ACME', distsku: 'A-1', upc: UPC, qty: 2 }],
      customer: CUSTOMER,
    }
    await assert.rejects(shop.orders.place(order as never), { code: 'distributor_unavailable' })
    const [row] = await second.ctx.read
      .selectFrom('purchase_order')
      .select(['state', 'reason'])
      .execute()
    assert.deepEqual(row, {
      state: 'expired',
      reason: 'there is no connector for ACME in mode live',
    })
    const files = () => readdirSync(join(scratch, 'waits', 'in'))
    assert.deepEqual(files(), [])
    await t.close()
    second.ctx.engine.lead!.stand()
    await until(() => {
      t.clock.ms += 50
      return second.ctx.engine.lead!.epoch !== null
    }, 'the second leads')
    second.orders.start()
    assert.equal((await shop.orders.place(order as never)).status, 'placed')
    assert.equal(files().length, 1)
  })

  test('a node that runs is told of as one that does not know what has changed', async () => {
    const database = await server.database()
    const warned: unknown[] = []
    const log = {
      debug: () => {},
      info: () => {},
      warn: (fields: object, message: string) => warned.push({ ...fields, message }),
      error: () => {},
    }
    const acme = acmeOf('told')
    await using old = await openNode(database, 'old', { log })
    await noted(old)
    assert.deepEqual(await lacksIn(old), [])
    await addShared(old.ctx, KNOWN, acme)
    assert.deepEqual(await lacksIn(old), [`${old.dir} ACME added`])
    const finding = (await nodeFindings(old.ctx)).find(({ check }) => check === 'node_documents')!
    assert.equal(finding.severity, 'warn')
    assert.match(
      finding.message,
      /have changed since the node .*old started: ACME \(added\); start it/,
    )
    await until(() => warned.length > 0, 'its log tells', 15)
    assert.deepEqual(warned, [
      {
        documents: 'ACME (added)',
        message:
          'documents of distributors have changed: this node takes it in when it starts again',
      },
    ])

    await using young = await openNode(database, 'young')
    await noted(young)
    // Whoever goes live agrees to what all nodes do.
    const live = { distid: 'ACME', reason: 'agreed' }
    await assert.rejects(young.operator.distributors.goLive(live), {
      code: 'invalid_parameter',
      message:
        /the node .*old does not have its document .*: ACME \(added\)\. Start that node again/,
    })
    await addShared(young.ctx, KNOWN, { ...acme, writtenFrom: 'a second edition' })
    assert.deepEqual((await lacksIn(old)).toSorted(), [
      `${old.dir} ACME added`,
      `${young.dir} ACME replaced`,
    ])
    await dropShared(old.ctx, 'ACME')
    assert.deepEqual(await lacksIn(old), [`${young.dir} ACME removed`])
    await using third = await openNode(database, 'third')
    assert.deepEqual(distidsOf(third), [])
    await assert.rejects(
      dropShared(old.ctx, 'ACME'),
      /there is no document of "ACME" in the database/,
    )
  })

  test('one that a node cannot use leaves out no other, and its digest is that of its text', async () => {
    const database = await server.database()
    const [acme, beta] = [
      acmeOf('first'),
      acmeOf('next', {
        distid: 'BETA',
        name: 'Beta',
        feeds: [feedOf({}, { id: 'beta' })] as never,
      }),
    ]
    {
      await using node = await openNode(database, 'writer')
      for (const document of [acme, beta]) await addShared(node.ctx, KNOWN, document)
      const put = (distid: string, text: string) =>
        node.ctx.db
          .withTables<{ distributor_document: { distid: string; text: string } }>()
          .insertInto('distributor_document')
          .values({ distid, text })
          .execute()
      // Of a newer release, of another hand, and one whose name a release has taken since.
      await put('AAAA', textOf({ ...acme, distid: 'AAAA', name: 'A', speed: 'fast' } as never))
      await put('BROKEN', '{')
      await put('CCCC', textOf({ ...acmeOf('c'), distid: 'CCCC', name: 'Acme' }))
    }
    const cannot = /a document cannot be used: this node is without it/
    await using node = await openNode(database, 'reader', { expectErrors: [cannot] } as never)
    assert.deepEqual(distidsOf(node), ['ACME', 'BETA'])
    await noted(node)
    const [{ nodes }, digests] = [await listNodes(node.ctx), await sharedDigests(node.ctx.read)]
    assert.deepEqual(
      nodes[0]!.lacks.map(({ distid, why, fault }) => [distid, why, fault]),
      [
        ['AAAA', 'unusable', 'speed: is not known here'],
        ['BROKEN', 'unusable', nodes[0]!.lacks[1]!.fault],
        ['CCCC', 'unusable', 'CCCC: ACME is called "Acme" already'],
      ],
    )
    assert.match(nodes[0]!.lacks[1]!.fault!, /^this is not JSON: /)
    assert.deepEqual(
      digests,
      node.ctx.documents!.known.map(({ distid, sha256 }) => ({ distid, sha256 })),
    )
    const bad = (await nodeFindings(node.ctx)).filter(({ severity }) => severity === 'bad')
    assert.match(
      bad.find(({ subject }) => subject.endsWith('AAAA'))!.message,
      /release 1\.0\.0, is without AAAA, whose document it cannot use: speed: is not known here/,
    )
    // They are put right from here as well.
    for (const distid of ['AAAA', 'BROKEN', 'CCCC']) await dropShared(node.ctx, distid)
    assert.deepEqual(await stored(node), ['ACME', 'BETA'])
  })

  test('one that another is in the way of is refused, also where both come at once', async () => {
    const database = await server.database()
    await using one = await openNode(database, 'one')
    await using two = await openNode(database, 'two')
    const acme = acmeOf('same')
    const other = { ...acmeOf('other'), distid: 'OTHR', name: 'Acme' }
    const both = await Promise.allSettled([
      addShared(one.ctx, KNOWN, acme),
      addShared(two.ctx, KNOWN, other),
    ])
    assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
    const [first] = await stored(one)
    const [own, foreign] = first === 'ACME' ? [acme, other] : [other, acme]
    const refused = async (document: DistributorDocument, message: RegExp) => {
      for (const act of [
        () => addShared(two.ctx, KNOWN, document),
        () => tryShared(two.ctx.read, KNOWN, two.dir, document),
      ])
        await assert.rejects(act(), { code: 'invalid_parameter', message })
    }
    await refused(foreign, /is called "Acme" already/)
    await refused({ ...foreign, name: 'Two' }, /two feed presets share an id/)
    await refused(
      { ...own, distid: 'TWO', name: 'Two', feeds: undefined! },
      /would both write orders to/,
    )
    await refused(acmeOf('rsr', { distid: 'RSR', name: 'RSR Group' }), /comes with the program/)
    await refused(
      { ...own, connections: { main: { kind: 'folder', path: two.dir } } },
      /holds the state folder, or lies in it/,
    )
    assert.deepEqual(await stored(one), [first])
    // Its own place is not in its way.
    assert.deepEqual(await addShared(two.ctx, KNOWN, own), { isNew: false, wasLive: false })
  })

  test('one that orders elsewhere than before has to go live again, in the same transaction', async () => {
    const database = await server.database()
    const acme = acmeOf('live')
    await using node = await openNode(database, 'live-node')
    await addShared(node.ctx, KNOWN, acme)
    await using knows = await openNode(database, 'knows')
    await knows.operator.distributors.setMode({ distid: 'ACME', mode: 'live', reason: 'agreed' })
    // By whoever has not heard of it yet.
    const more = { ...acme, writtenFrom: 'a second edition' }
    assert.deepEqual(await addShared(node.ctx, KNOWN, more), { isNew: false, wasLive: false })
    const elsewhere = { ...acme, orders: { ...acme.orders, path: 'in/{account}-{po}.txt' } }
    assert.deepEqual(await addShared(node.ctx, KNOWN, elsewhere as never), {
      isNew: false,
      wasLive: true,
    })
    await until(() => knows.ctx.modes.of('ACME') === 'simulator', 'the others know of it')
    const audit = await node.ctx.read
      .selectFrom('audit')
      .select(['action', 'detail'])
      .where('action', 'like', 'distributors.%')
      .orderBy('seq')
      .execute()
    assert.deepEqual(
      audit.map(({ action }) => action.replace('distributors.', '')),
      ['document', 'mode', 'document', 'document', 'mode'],
    )
    assert.match(audit.at(-1)!.detail, /its document orders in another way/)
    // Removed and added again, nobody has agreed to it.
    await knows.operator.distributors.setMode({ distid: 'ACME', mode: 'live', reason: 'agreed' })
    await dropShared(node.ctx, 'ACME')
    assert.equal((await addShared(node.ctx, KNOWN, acme)).wasLive, true)
  })

  test("files of a node's folder are not used, and those that nobody else has are told of", async () => {
    const database = await server.database()
    const dir = join(scratch, 'own')
    const [acme, beta] = [acmeOf('mine'), acmeOf('ours', { distid: 'BETA', name: 'Beta' })]
    await using desk = await openNode(database, 'files-desk')
    await addShared(desk.ctx, KNOWN, acme)
    addDocument(dir, KNOWN, { ...acme, name: 'Acme of old' })
    const file = addDocument(dir, KNOWN, { ...beta, feeds: undefined! }).file
    const broken = documentFile(dir, 'BROKEN')
    writeFileSync(broken, '{')
    await using node = await openNode(database, 'own')
    assert.deepEqual(distidsOf(node), ['ACME'])
    assert.equal(node.ctx.distributors.byDistid('ACME')!.name, 'Acme')
    assert.deepEqual(node.ctx.documents!.strayFiles, [file, broken])
    assert.equal(existsSync(file), true)
  })

  describe('a move', () => {
    const input = (dir: string, address: string, more: Partial<MoveInput> = {}): MoveInput => ({
      dir,
      address,
      secretKey: SECRET,
      now: Date.now,
      monotonic: () => performance.now(),
      random: (bytes) => Buffer.alloc(bytes, 7),
      ...more,
    })
    /** A folder with two documents, of which one was put there by hand. */
    async function folder(name: string): Promise<{ dir: string; texts: string[] }> {
      const dir = join(scratch, name)
      await (await openForTest({ dir, secretKey: SECRET, worker: false })).close()
      addDocument(dir, KNOWN, acmeOf(`${name}-acme`))
      const beta = { ...acmeOf(`${name}-beta`), distid: 'BETA', name: 'Bêta ☃', feeds: undefined }
      const byHand = `\uFEFF${JSON.stringify(beta)}`
      writeFileSync(join(dir, 'distributors', '0-by-hand.json'), byHand)
      return { dir, texts: [readFileSync(documentFile(dir, 'ACME'), 'utf8'), byHand] }
    }
    const digestIn = ({
      tables,
    }: {
      tables: { table: string; rows: number; digest: string }[]
    }) => {
      const found = tables.find(({ table }) => table === 'distributor_document')
      return { rows: found?.rows, digest: found?.digest }
    }

    test('carries them over and back, as they were written', async () => {
      const database = await server.database()
      const { dir, texts } = await folder('moves')
      const tried = await moveToPostgres(input(dir, database, { dryRun: true }))
      const there = await moveToPostgres(input(dir, database))
      assert.equal(digestIn(there).rows, 2)
      assert.deepEqual(digestIn(there), digestIn(tried))
      {
        // A node may have the folder that was moved: its files are those that have moved.
        await using node = await openForTest({ ...optionsOf(database), dir })
        assert.deepEqual(distidsOf(node), ['ACME', 'BETA'])
        assert.deepEqual(
          (await sharedDocuments(node.ctx.read)).map(({ text }) => text),
          texts,
        )
        await dropShared(node.ctx, 'ACME')
        await addShared(node.ctx, KNOWN, acmeOf('moves-gamma', { distid: 'GAMA', name: 'Gamma' }))
      }
      {
        await using node = await openForTest({ ...optionsOf(database), dir })
        assert.deepEqual(node.ctx.documents!.strayFiles, [])
      }
      const back = await moveFromPostgres(input(dir, database))
      assert.deepEqual(
        digestIn(await moveFromPostgres(input(dir, database))).rows,
        undefined,
        'it was done',
      )
      assert.equal(digestIn(back).rows, 2)
      assert.deepEqual(readdirSync(join(dir, 'distributors')), ['BETA.json', 'GAMA.json'])
      assert.equal(readFileSync(documentFile(dir, 'BETA'), 'utf8'), texts[1])
      // What was there is laid aside.
      const aside = readdirSync(dir).find((name) => name.startsWith('replaced-by-move-of-'))!
      assert.deepEqual(readdirSync(join(dir, aside, 'distributors')), [
        '0-by-hand.json',
        'ACME.json',
      ])
      await using app = await openForTest({ dir, secretKey: SECRET, worker: false })
      assert.deepEqual(distidsOf(app), ['BETA', 'GAMA'])
    })

    test('that was cut off takes what is there when it is run again', async () => {
      const database = await server.database()
      const { dir } = await folder('again')
      let isCut = false
      const cut = moveToPostgres(
        input(dir, database, {
          onProgress({ doing }) {
            if (doing !== 'verifying' || isCut) return
            isCut = true
            throw new Error('cut off')
          },
        }),
      )
      await assert.rejects(cut, /cut off/)
      rmSync(documentFile(dir, 'ACME'))
      const moved = await moveToPostgres(input(dir, database))
      assert.equal(digestIn(moved).rows, 1)
      await using node = await openNode(database, 'again-node')
      assert.deepEqual(distidsOf(node), ['BETA'])
    })

    test('of two documents of one distributor is refused, and of one that cannot be read', async () => {
      const database = await server.database()
      const { dir } = await folder('refused')
      const text = readFileSync(documentFile(dir, 'ACME'), 'utf8')
      const second = join(dir, 'distributors', 'second.json')
      writeFileSync(second, text)
      await assert.rejects(
        moveToPostgres(input(dir, database, { dryRun: true })),
        /ACME\.json and .*second\.json are both of ACME: make one document of them/,
      )
      writeFileSync(second, '{')
      await assert.rejects(
        moveToPostgres(input(dir, database, { dryRun: true })),
        /second\.json is not a document of a distributor/,
      )
      await assert.rejects(moveToPostgres(input(dir, database)), /second\.json cannot be used/)
      rmSync(second)
      assert.equal(digestIn(await moveToPostgres(input(dir, database))).rows, 2)
    })
  })
})
