/** The code of data/guide/extending.md and add-a-distributor.md, run as it stands. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { MINUTE } from '../../lib/core/clock.js'
import type { Distributor } from '../../lib/distributors/distributor.js'
import { builtin } from '../../lib/distributors/builtin/index.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { run } from '../server/launcher.js'
import { compact } from '../harness/source.js'

const page = ['extending', 'add-a-distributor']
  .map((name) => readFileSync(join('data', 'guide', `${name}.md`), 'utf8'))
  .join('\n')
const block = (language: string, words: string) =>
  page
    .split('```')
    .find((text) => text.startsWith(`${language}\n`) && text.includes(words))!
    .slice(language.length + 1)

interface AcmeOrder {
  number: string
  reference: string
  po: string
  lines: unknown[]
  placed_at: string
  changed_at: string
  tracking: string | null
}

/** The wholesaler of the page, over a real socket. `cut` has it lose its next answer. */
function startAcme(now: () => number) {
  const orders: AcmeOrder[] = []
  const state = { cut: false }
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const { pathname, searchParams } = new URL(request.url!, 'http://acme.test')
    if (request.headers.authorization !== 'Bearer acme-token') return answer(401, {})
    if (pathname === '/me') return answer(200, {})
    if (request.method === 'GET')
      return answer(200, {
        orders: orders.filter(({ reference }) =>
          [null, reference].includes(searchParams.get('reference')),
        ),
      })
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const { reference, po, lines } = JSON.parse(text) as AcmeOrder
    if (lines.some((line) => (line as { sku: string }).sku === 'A-GONE'))
      return answer(422, { message: 'A-GONE is discontinued' })
    const at = new Date(now()).toISOString()
    orders.push({
      number: `AC-${orders.length + 1}`,
      reference,
      po,
      lines,
      placed_at: at,
      changed_at: at,
      tracking: null,
    })
    if (state.cut) return request.socket.destroy()
    return answer(201, { number: orders.at(-1)!.number })
  })
  return new Promise<{ url: string; orders: AcmeOrder[]; state: typeof state; close(): void }>(
    (resolve) =>
      server.listen(0, '127.0.0.1', () =>
        resolve({
          url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
          orders,
          state,
          close: () => {
            server.closeAllConnections()
            server.close()
          },
        }),
      ),
  )
}

const FEED = `item,upc,title,brand,price,map,stock,type,drop ship
A-1,085000000019,Acme 4x32 Scope,Acme,40.00,59.99,7,optic,Y
A-2,085000000026,Acme 9mm Pistol,Acme,310.00,,3,pistol,Y
A-3,085000000033,Acme Mystery Item,Acme,12.00,,9,thing,Y
A-GONE,085000000040,Acme Old Scope,Acme,20.00,,5,optic,Y
`

describe('the page on extending', () => {
  let scratch: string
  let t: TestApp
  let acme: Awaited<ReturnType<typeof startAcme>>
  before(async () => {
    scratch = mkdtempSync(join(tmpdir(), 'qm-extending-'))
    const clock = { now: () => 0 }
    acme = await startAcme(() => clock.now())
    const library = pathToFileURL(fileURLToPath(new URL('./index.mjs', import.meta.url))).href
    writeFileSync(
      join(scratch, 'acme.mjs'),
      block('js', '// acme.mjs').replace("'quartermaster'", JSON.stringify(library)),
    )
    const { acme: distributor } = (await import(pathToFileURL(join(scratch, 'acme.mjs')).href)) as {
      acme: Distributor
    }
    t = await createTestApp({ distributors: [...builtin, distributor] })
    clock.now = () => t.clock.ms
    await t.configure({
      distributors: {
        'Acme Wholesale': {
          distid: 'ACME',
          fulfillment: { url: acme.url, token: 'acme-token' },
        } as never,
      },
    })
    writeFileSync(join(scratch, 'acme.csv'), FEED)
    const fed = await t.app.operator.feeds.import(
      { distid: 'ACME', file: join(scratch, 'acme.csv') },
      { asOf: t.clock.ms },
    )
    assert.deepEqual([fed.outcome, fed.offers], ['taken', 4])
    await t.app.operator.distributors.setMode({
      distid: 'ACME',
      mode: 'live',
      reason: 'the page is tried',
    })
  })
  after(async () => {
    await t.close()
    acme.close()
    rmSync(scratch, { recursive: true, force: true })
  })

  const order = (order_id: string, distsku: string, upc: string) =>
    t.shop.orders.place({
      order_id,
      items: [{ distid: 'ACME', distsku, upc, qty: 1 }],
      customer: {
        name: 'Pat Doe',
        email: 'pat@customer.example',
        address1: '12 Main St',
        city: 'Phoenix',
        state: 'AZ',
        zip: '85001',
      },
    })

  test('its endpoint stands in the code as it is shown', async () => {
    const code = await compact(readFileSync(join('lib', 'accounts', 'endpoints.ts'), 'utf8'))
    assert.ok(code.includes(await compact(block('ts', 'export const ping'))))
  })

  test('its distributor has a feed, whose unknown goods go to no consumer', async () => {
    const { products } = await t.shop.products.search({ distributor: 'ACME' })
    assert.deepEqual(
      products
        .map(({ distsku, product_class, ffl_req, drop_ship_flg, unit_price }) => [
          distsku,
          product_class,
          ffl_req,
          drop_ship_flg,
          unit_price,
        ])
        .toSorted(),
      [
        ['A-1', 'OP', 0, 1, 40],
        ['A-2', 'FA', 1, 1, 310],
        ['A-3', 'OT', 0, 0, 12],
        ['A-GONE', 'OP', 0, 1, 20],
      ],
    )
  })

  test('its distributor tells a good login from a wrong one, and the token is masked', async () => {
    const told = async () =>
      (
        (await t.shop.config.validate()) as {
          credentials: { distid: string; valid: boolean | null }[]
        }
      ).credentials.map(({ distid, valid }) => [distid, valid])
    assert.deepEqual(await told(), [['ACME', true]])
    const { configuration } = await t.shop.config.get()
    const { 'Acme Wholesale': entry } = configuration['distributors'] as Record<
      string,
      { fulfillment: { token: string } }
    >
    assert.equal(entry!.fulfillment.token, '********')
  })

  test('its distributor takes an order, refuses one, and ships', async () => {
    const placed = await order('X-1', 'A-1', '085000000019')
    assert.deepEqual(
      [placed.status, placed.mode, placed.fulfillment_orders[0]!.distributor_order_id],
      ['placed', 'live', 'AC-1'],
    )
    await assert.rejects(
      order('X-2', 'A-GONE', '085000000040'),
      (error: { code: string; details: unknown }) =>
        error.code === 'order_rejected' &&
        JSON.stringify(error.details).includes('A-GONE is discontinued'),
    )
    Object.assign(acme.orders[0]!, {
      tracking: '1Z999',
      changed_at: new Date(t.clock.ms + MINUTE).toISOString(),
    })
    t.clock.advance(20 * MINUTE)
    await t.app.monitors.pass()
    const {
      fulfillment_orders: [record],
    } = await t.shop.orders.get({ order_id: 'X-1' })
    assert.deepEqual(
      [record!.order_status, record!.ship_tracking_number, record!.ship_status],
      ['Fulfilled', '1Z999', 'in_transit'],
    )
  })

  test('an answer that it loses is looked up, and nothing is bought twice', async () => {
    acme.state.cut = true
    const { status } = await order('X-3', 'A-1', '085000000019')
    acme.state.cut = false
    assert.equal(status, 'pending')
    t.clock.advance(MINUTE)
    await t.app.orders.pass({ force: true })
    const {
      fulfillment_orders: [record],
    } = await t.shop.orders.get({ order_id: 'X-3' })
    assert.deepEqual([record!.order_status, record!.distributor_order_id], ['Submitted', 'AC-2'])
    assert.equal(acme.orders.length, 2)
  })

  test('its rule is imported and decides', async () => {
    const dir = join(scratch, 'rules')
    mkdirSync(dir)
    await run(dir, 'init')
    await run(
      dir,
      'subscribers',
      'create',
      '--name',
      'Main Street',
      '--email',
      'owner@shop.example',
    )
    writeFileSync(join(dir, 'rules.json'), block('json', 'shop-no-knives'))
    for (const line of block('sh', 'rules import').trim().split('\n')) {
      const words = line
        .replace(/#.*/, '')
        .trim()
        .split(/\s+/)
        .slice(1)
        .map((word) => (word === 'rules.json' ? join(dir, word) : word))
      const { status, out, err } = await run(dir, ...words)
      // A test of rules fails where they stop the item, so that a script can branch on it.
      assert.equal(status, words[1] === 'test' ? 1 : 0, out + err)
      if (words[1] === 'test') assert.match(out, /shop-no-knives-to-boston/)
    }
  })
})
