/**
 * What the pages of the guide say is what the code does: codes, limits, commands, examples, and the
 * numbers of worked examples.
 */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { TIERS } from '../../lib/accounts/tiers.js'
import { shippingModel } from '../../lib/catalog/view/shipping.js'
import type { ConfigurationDocument, Pricing } from '../../lib/configuration/document/document.js'
import { ERRORS } from '../../lib/core/errors.js'
import { toCents } from '../../lib/core/money.js'
import { ROOM_FOR_FEEDS, ROOM_FOR_ORDERS } from '../../lib/core/storage/disk-space.js'
import { ORDER_STATUSES, SHIP_STATUSES } from '../../lib/db/tables/column-types.js'
import { builtin } from '../../lib/distributors/builtin/index.js'
import { allEndpoints } from '../../lib/app/endpoints.js'
import { FRAUD_QUOTAS } from '../../lib/fraud/reports/quota.js'
import { ORDER_QUOTAS } from '../../lib/orders/quota.js'
import { OPS, Rule } from '../../lib/restrictions/rules/rule.js'
import { starterRules } from '../../lib/restrictions/rules/starter.js'
import { SCENARIOS } from '../../lib/simulator/engine/scenarios/scenarios.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestOffer } from '../../server/testing/index.js'
import { GUIDE, blocks, page, rows } from './blocks.js'
import { run } from '../server/launcher.js'
import { compact } from '../harness/source.js'

const example = (name: string): string => readFileSync(join(GUIDE, 'examples', name), 'utf8')
const PAGES = readdirSync(GUIDE).filter((name) => name.endsWith('.md'))
const names = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!)

describe('the page of errors', () => {
  test('has every code with its status, in the order of the table of errors, and no other', () => {
    const told = rows(page('errors.md'), '## All codes').map(([code, status]) => [
      names(code!)[0],
      Number(status),
    ])
    assert.deepEqual(
      told,
      Object.entries(ERRORS).map(([code, [status]]) => [code, status]),
    )
  })

  test('tells what each endpoint answers beside what any of them does', () => {
    const told = Object.fromEntries(
      rows(page('errors.md'), '## Which endpoint answers what').map(([endpoint, codes]) => [
        names(endpoint!)[0],
        names(codes!),
      ]),
    )
    const real = allEndpoints
      .map(
        ({ method, path, errors }) =>
          [`${method} ${path}`, errors.filter((code) => code !== 'invalid_parameter')] as const,
      )
      .filter(([, errors]) => errors.length > 0)
    assert.deepEqual(told, Object.fromEntries(real))
  })

  test('names no code on any page that there is not', () => {
    const known = new Set(Object.keys(ERRORS))
    for (const name of PAGES)
      for (const [, code] of page(name).matchAll(/\b[45]\d\d `(\w+)`/g))
        assert.ok(known.has(code!) || /^(placed|partial|pending)$/.test(code!), `${name}: ${code}`)
  })

  test('its program repeats what may be repeated, and nothing else', async () => {
    const asked: string[] = []
    const server = createHttpServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers['x-api-key'] as string}`)
      const turn = asked.length
      if (turn === 1) return request.socket.destroy()
      if (turn === 2)
        return response
          .writeHead(429, { 'retry-after': '1' })
          .end('{"success":false,"error":{"code":"rate_limited","message":"."}}')
      if (turn === 3) return response.end('{"success":true,"data":{"status":"placed"}}')
      return response
        .writeHead(409)
        .end('{"success":false,"error":{"code":"duplicate_order","message":"."}}')
    })
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    const { port } = server.address() as AddressInfo
    const [program] = blocks(page('errors.md')).filter(({ language }) => language === 'js')
    // oxlint-disable-next-line no-implied-eval -- the program as it stands on the page
    const call = new Function('BASE', 'KEY', `${program!.text}\nreturn call`)(
      `http://127.0.0.1:${port}/v1`,
      'K',
    ) as (path: string, init?: RequestInit) => Promise<{ data?: unknown; error?: { code: string } }>
    assert.deepEqual(await call('/orders', { method: 'POST', body: '{}' }), {
      success: true,
      data: { status: 'placed' },
    })
    assert.equal(
      (await call('/orders', { method: 'POST', body: '{}' })).error!.code,
      'duplicate_order',
    )
    assert.deepEqual(
      asked,
      Array.from({ length: 4 }, () => 'POST /v1/orders K'),
    )
    await new Promise((resolve) => {
      server.close(resolve)
    })
  })
})

describe('the guide', () => {
  test("its limits are the server's", () => {
    const limits = Object.fromEntries(
      rows(page('guide.md'), '## Limits').map(([limit, value]) => [
        limit!,
        (value!.match(/\d[\d,]*/g) ?? []).map((digits) => Number(digits.replaceAll(',', ''))),
      ]),
    )
    for (const [tier, { per_minute, per_day }] of Object.entries(TIERS))
      assert.deepEqual(limits[`Requests, tier ${tier}`], [per_minute, per_day])
    assert.deepEqual(
      limits['Orders placed, a key'],
      ORDER_QUOTAS.map(({ limit }) => limit),
    )
    assert.deepEqual(limits['Fraud, a key, any 24 hours'], Object.values(FRAUD_QUOTAS))
  })

  test('the limits of parameters hold at their edge and not beyond', async () => {
    const t = await createTestApp()
    await t.stock([{ distid: 'RSR', stockid: 'A1', upc: '012345678905' }])
    await t.configure({ distributors: { 'RSR Group': { distid: 'RSR' } } })
    const ask = async (path: string, body?: unknown) =>
      (await t.json(path, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }))
        .status
    const items = (count: number) => ({
      items: Array.from({ length: count }, () => ({ upc: '012345678905', qty: 1 })),
    })
    for (const [fine, wrong] of [
      ['/v1/products/search?page_size=100', '/v1/products/search?page_size=101'],
      ['/v1/products/search?page_size=100&page=100', '/v1/products/search?page_size=100&page=101'],
      ['/v1/analytics/on-sale?limit=200', '/v1/analytics/on-sale?limit=201'],
      ['/v1/ffls?zip=60601&radius=50', '/v1/ffls?zip=60601&radius=51'],
      [`/v1/ffls?zip=60601&name=${'a'.repeat(60)}`, `/v1/ffls?zip=60601&name=${'a'.repeat(61)}`],
      ['/v1/fulfillment/history?limit=100', '/v1/fulfillment/history?limit=101'],
    ])
      assert.deepEqual([await ask(fine!), await ask(wrong!)], [200, 400], wrong)
    assert.deepEqual(
      [await ask('/v1/orders/quote', items(100)), await ask('/v1/orders/quote', items(101))],
      [200, 400],
    )
    await t.close()
  })

  test('tells every status of an order and of a parcel', () => {
    assert.deepEqual(
      rows(page('guide.md'), '### 9. Follow it').map(([status]) => names(status!)[0]),
      ORDER_STATUSES,
    )
    const [line] = /^`ship_status` is .*$/m.exec(page('guide.md'))!
    assert.deepEqual(
      names(line)
        .filter((name) => /^[a-z_]+$/.test(name))
        .filter((name) => !['ship_status', 'placed'].includes(name))
        .sort(),
      [...SHIP_STATUSES].sort(),
    )
  })

  test('its rehearsals are scenarios that there are', () => {
    const told = rows(page('guide.md'), '## Rehearse what goes wrong').map(
      ([po]) => /SIM-([A-Z-]+)/.exec(po!)![1]!,
    )
    assert.equal(told.length, 8)
    for (const name of told) assert.ok(Object.hasOwn(SCENARIOS, name), name)
  })

  test("what it shows of a program stands in the program, and the catalog's page has each of them whole", () => {
    const files = ['catalog.mjs', 'catalog.py', 'catalog.sh', 'catalog.sql'].map(example)
    for (const { language, text } of blocks(page('guide.md')))
      if (['js', 'python', 'sql'].includes(language))
        assert.ok(
          files.some((file) => file.includes(text)),
          text,
        )
    const shown = blocks(page('catalog.md')).map(({ text }) => text)
    for (const file of files) assert.ok(shown.includes(file), file.split('\n')[0])
  })
})

describe('the pages', () => {
  test('each begins with its title, and has no other of that level', () => {
    for (const name of PAGES)
      assert.equal(
        page(name)
          .replaceAll(/^```[\s\S]*?^```$/gm, '')
          .match(/^# .+$/gm)?.length,
        1,
        name,
      )
    for (const name of PAGES) assert.match(page(name), /^# \S/, name)
  })

  test('their links lead to pages and headings that there are', () => {
    const slug = (heading: string) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-')
    const anchors = new Map(
      PAGES.map((name) => [
        name,
        new Set([...page(name).matchAll(/^#+ (.+)$/gm)].map((match) => slug(match[1]!))),
      ]),
    )
    for (const name of PAGES) {
      for (const [, target] of page(name).matchAll(/\]\(([^)\s]+)\)/g)) {
        const [file, anchor] = target!.split('#') as [string, string | undefined]
        if (/^https?:/.test(target!) || !/^([\w-]+\.md)?$/.test(file)) continue
        assert.ok(anchors.has(file || name), `${name}: ${target}`)
        if (anchor !== undefined)
          assert.ok(anchors.get(file || name)!.has(anchor), `${name}: ${target}`)
      }
    }
  })

  test('the commands of their shell blocks are there, with the options that they are given', async () => {
    const helps = new Map<string, string>()
    for (const name of [
      'guide.md',
      'configuration.md',
      'restrictions.md',
      'operating.md',
      'dealers.md',
    ]) {
      for (const { language, text } of blocks(page(name))) {
        if (language !== 'sh') continue
        for (const [, line] of text.matchAll(/^quartermaster ([^#|\n]+)/gm)) {
          const words = line!
            .replaceAll(/"[^"]*"/g, 'TEXT')
            .trim()
            .split(/\s+/)
          // The longest beginning that is a command.
          const lengths = [3, 2, 1].filter((length) =>
            words.slice(0, length).every((word) => /^[a-z-]+$/.test(word) && !word.startsWith('-')),
          )
          const help = await (async () => {
            for (const length of lengths) {
              const command = words.slice(0, length).join(' ')
              if (!helps.has(command))
                helps.set(command, (await run('.', ...words.slice(0, length), '--help')).out)
              if (
                helps.get(command)!.includes(`Usage: quartermaster ${command}`) &&
                !helps.get(command)!.includes('COMMAND')
              )
                return helps.get(command)!
            }
            return ''
          })()
          assert.notEqual(help, '', `${name}: ${line}`)
          for (const option of words.filter((word) => word.startsWith('--')))
            assert.match(help, new RegExp(`${option}( |$)`, 'm'), `${name}: ${line}`)
        }
      }
    }
    assert.ok(helps.size > 20)
  })

  test('the variables of the environment are those that the server reads', async () => {
    const code = await compact(readFileSync(join('server', 'env.ts'), 'utf8'))
    const read = new Set(code.match(/(?<=")QUARTERMASTER_\w+(?=")/g))
    const told = new Set(
      rows(page('operating.md'), '## Environment').flatMap(([cell]) => names(cell!)),
    )
    // Those of others: OpenTelemetry's packages read theirs, glibc its own; systemd sets one.
    const others = ['CACHE_DIRECTORY', 'GLIBC_TUNABLES', 'OTEL_*']
    assert.deepEqual([...told].sort(), [...others, ...read].sort())
  })

  test("the room that is kept free is the server's", () => {
    const [, feeds, orders] = /below (\d+) MB of free space, new orders below (\d+) MB/.exec(
      page('operating.md'),
    )!
    assert.deepEqual(
      [Number(feeds), Number(orders)].map((mb) => mb * 1_048_576),
      [ROOM_FOR_FEEDS, ROOM_FOR_ORDERS],
    )
  })
})

describe('the page of the configuration', () => {
  const FILES = ['config-small.json', 'config-shop.json', 'config-store.json'] as const
  const text = page('configuration.md')
  const shop = JSON.parse(example('config-shop.json')) as ConfigurationDocument

  test('its documents are whole, fit the schema and are saved; a rollback brings the first one back', async () => {
    const shown = blocks(text).map((block) => block.text)
    const t = await createTestApp()
    for (const name of FILES) {
      assert.ok(shown.includes(example(name)), name)
      const body = example(name)
      assert.deepEqual(
        (await t.json('/v1/config/validate', { method: 'POST', body: `{"configuration":${body}}` }))
          .body.data,
        { dry_run: true, schema_valid: true, errors: [] },
      )
      const saved = (await t.json('/v1/config?validate=true', { method: 'PUT', body })).body
      assert.equal(saved.success, true, JSON.stringify(saved))
      // Read, edit, save: the masks keep what is stored.
      const read = await t.json('/v1/config')
      assert.doesNotMatch(JSON.stringify(read.body), /THE (OTHER )?(PASSWORD|TOKEN)/)
      const again = await t.json('/v1/config', {
        method: 'PUT',
        body: JSON.stringify(read.body.data),
        headers: { 'if-match': read.headers.get('etag')! },
      })
      assert.equal(again.status, 200)
      assert.equal(
        (await t.json('/v1/config', { method: 'PUT', body, headers: { 'if-match': '"0-old"' } }))
          .body.error.code,
        'precondition_failed',
      )
    }
    const [, commands] = blocks(text).filter(({ language }) => language === 'sh')
    const history = commands!.text
      .trim()
      .split('\n')
      .filter((line) => !line.includes('config put'))
      .map((line) => line.replace('old.json', join(t.app.dir, 'old.json')).split(' ').slice(1))
    assert.equal(history.length, 4)
    // By other hands than the server's, as an operator's are.
    for (const words of history)
      assert.equal((await run(t.app.dir, ...words)).err, '', words.join(' '))
    assert.deepEqual(
      JSON.parse(readFileSync(join(t.app.dir, 'old.json'), 'utf8')),
      JSON.parse(example('config-small.json')),
    )
    assert.deepEqual(
      (await t.json('/v1/config')).body.data.configuration,
      JSON.parse(example('config-small.json')),
    )
    await t.close()
  })

  test('its table of distributors is the registry', () => {
    const told = rows(text, '## Distributors')
      .filter((cells) => cells.length === 4)
      .map(([name, distid, credentials, orders]) => [
        name,
        distid,
        names(credentials!),
        orders === 'yes',
      ])
    assert.deepEqual(
      told,
      builtin.map(({ name, distid, settings, automatedFulfillment }) => [
        name,
        distid,
        namesOf(settings),
        automatedFulfillment,
      ]),
    )
  })

  /**
   * The required members, as the table has them: sections that are alike once, then what is in
   * each.
   */
  function namesOf(settings: (typeof builtin)[number]['settings']): string[] {
    const paths = Object.values(settings)
      .filter(({ required }) => required === true)
      .map(({ path }) => path.split('-'))
    if (paths.some(([first]) => first === 'product_feed')) return ['api_key', 'product_feed']
    const [direct, nested] = [
      paths.filter(({ length }) => length === 2).map((path) => path[1]!),
      paths.filter(({ length }) => length === 3),
    ]
    return [
      ...direct,
      ...new Set(nested.map((path) => path[1]!)),
      ...new Set(nested.map((path) => path[2]!)),
    ]
  }

  test('its shipping is computed as it says, part by part', () => {
    const table = rows(text, '## Shipping').filter((cells) => cells.length === 8)
    assert.equal(table.length, 6)
    for (const [distid, cost, productClass, qty, rate, insurance, handling, all] of table) {
      const { shipping } = Object.values(shop.distributors).find(
        (entry) => entry.distid === distid,
      )!
      const shipped = {
        cost: toCents(Number(cost)),
        productClass: productClass!,
        category: 'Other',
        feedEstimate: -1,
      }
      const model = ({ insurance: insured = true, handling: handled = true }) =>
        shippingModel({
          ...shipping,
          ...(!insured && { insurance: { include: false } }),
          ...(!handled && {
            handling: { amount: 0, order_threshold: 0, add_handling_to_unit_cost: false },
          }),
        })(shipped, Number(qty))
      const bare = model({ insurance: false, handling: false })
      const told = [rate, insurance, handling, all].map((cell) => toCents(Number(cell)))
      assert.deepEqual(
        told,
        [bare, model({ handling: false }) - bare, model({ insurance: false }) - bare, model({})],
        `${distid} ${cost} ${qty}`,
      )
    }
  })

  test('its retail prices are computed as it says, step by step', async () => {
    const table = rows(text, '## Prices').filter((cells) => cells.length === 9)
    assert.equal(table.length, 5)
    const t = await createTestApp()
    const { cost_adjustments: _, ...pricing } = shop.pricing
    await t.stock(
      table.map(([, productClass, cost, , , , , map], i): TestOffer => ({
        distid: 'RSR',
        stockid: `I${i}`,
        mfgName: 'Brand',
        productClass: productClass as 'FA',
        price: toCents(Number(cost)),
        map: map === 'none' ? null : toCents(Number(map)),
      })),
    )
    const prices = async (settings: Pricing) => {
      await t.configure({
        distributors: { 'RSR Group': { ...shop.distributors['RSR Group']!, distid: 'RSR' } },
        pricing: settings,
      })
      const { products } = await t.shop.products.search({ sort: 'name' })
      return products.map((product) => product.retail_price)
    }
    // Free of its MAP, each step of a price can be seen.
    const free = { ...pricing, ignore_map_brands: ['Brand'] }
    const column = (at: number) => table.map((cells) => Number(cells[at]))
    assert.deepEqual(
      await prices({ ...free, rounding: 'none', include_credit_card_fees_in_price: false }),
      column(4),
    )
    assert.deepEqual(await prices({ ...free, rounding: 'none' }), column(5))
    assert.deepEqual(await prices(free), column(6))
    assert.deepEqual(await prices(pricing), column(8))
    // The group that is named is the one that sets the price.
    for (const [i, cells] of table.entries()) {
      const name = cells[3]!
      const alone = { default: pricing.margin![name]! }
      assert.equal((await prices({ ...pricing, margin: alone }))[i], Number(cells[8]), name)
    }
    await t.close()
  })
})

describe('the page of restrictions', () => {
  test('its rules are taken in, and its examples come out as it shows', async () => {
    const text = page('restrictions.md')
    assert.ok(blocks(text).some((block) => block.text === example('rules.json')))
    await using t = await createTestApp()
    const { dir } = t.app
    const all = blocks(text.slice(text.indexOf('\n## Writing your own\n')))
    let compared = 0
    for (const [i, { language, text: lines }] of all.entries()) {
      if (language !== 'sh') continue
      let out = ''
      for (const line of lines.trim().split('\n')) {
        const words = [
          ...line
            .replaceAll('rules.json', join(GUIDE, 'examples', 'rules.json'))
            .matchAll(/"([^"]*)"|(\S+)/g),
        ].map((match) => match[1] ?? match[2]!)
        const done = await run(dir, ...words.slice(1))
        assert.equal(done.err, '', line)
        out += done.out
      }
      if (all[i + 1]?.language !== 'text') continue
      compared++
      const same = (shown: string) =>
        shown.replaceAll(/o_[0-9a-f]{16}/g, 'o_').replaceAll(/holds for .+\.$/gm, 'holds for them.')
      assert.equal(same(out), same(all[i + 1]!.text))
    }
    assert.equal(compared, 5)
  })

  test('counts the rules of the starter set', () => {
    assert.match(
      page('restrictions.md'),
      new RegExp(`^${starterRules().rules.length} rules of public law`, 'm'),
    )
  })

  test("its table of members is a rule's, and its operators are all that there are", () => {
    const told = rows(page('restrictions.md'), '## The format of a rule')
    const members = told.flatMap(([cell]) => names(cell!)).filter((name) => !name.includes('.'))
    assert.deepEqual(members, Object.keys(Rule.shape))
    assert.deepEqual(
      names(told.find(([cell]) => cell === '`match.attributes`')![1]!).slice(-OPS.length),
      [...OPS],
    )
  })
})
