/**
 * How long the worst single requests hold the event loop of a server with a million offers. Bound:
 * 250 ms.
 *   npx tsx scripts/bench/hold.ts [offers]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { open } from '../../lib/app/open.js'
import { createServer } from '../../server/http/app.js'
import { MAX_BODY } from '../../server/http/decode.js'
import { BENCH_DISTIDS, writeOffers } from './offers.js'
import { benchDistributors, benchDocument } from './shop.js'

const OFFERS = Number(process.argv[2] ?? 1_000_000)

const dir = mkdtempSync(join(tmpdir(), 'qm-bench-'))
const app = await open({ dir, distributors: benchDistributors(), worker: false })
const server = createServer(app)
const { name } = await app.operator.subscribers.create({
  name: 'Bench',
  email: 'bench@shop.example',
})
const { key } = await app.operator.keys.create({
  subscriber: name,
  name: 'bench',
  tier: 'enterprise',
  ips: ['127.0.0.1'],
})
const catalog = openFile(filesIn(dir).catalog, { synchronous: 'NORMAL' })
writeOffers(catalog, OFFERS)
catalog.close()

/** A document whose every price differs: adjustments, handling in the cost, margins. */
const dear = benchDocument(BENCH_DISTIDS)
dear.pricing.cost_adjustments = [
  { percent: 0.03 },
  { product_class: 'FA', dollar: -5 },
  { brand: 'nobody', percent: 0.1 },
]
for (const entry of Object.values(dear.distributors))
  entry.shipping.handling = { amount: 5, order_threshold: 100, add_handling_to_unit_cost: true }
const save = async () => {
  await app.operator.configurations.put(name, { document: dear })
  for (const distid of BENCH_DISTIDS)
    await app.operator.configurations.recordCheck(name, distid, true)
}
await save()
await app.ctx.catalog.refresh()

/** The longest gap between two turns of the loop while the request runs. */
async function heldBy(
  path: string,
  body?: string,
  method = body === undefined ? 'GET' : 'POST',
): Promise<{ held: number; status: number }> {
  let last = performance.now()
  let held = 0
  let going = true
  const turn = () => {
    const now = performance.now()
    held = Math.max(held, now - last)
    last = now
    if (going) setImmediate(turn)
  }
  setImmediate(turn)
  const response = await server.fetch(
    new Request(`http://bench${path}`, {
      method,
      headers: { 'x-api-key': key },
      ...(body !== undefined && { body }),
    }),
    { address: '127.0.0.1' },
  )
  await response.arrayBuffer()
  held = Math.max(held, performance.now() - last)
  going = false
  return { held, status: response.status }
}

const filled = (start: string, piece: (i: number) => string, end: string) => {
  let text = start
  for (let i = 0; text.length + 40 < MAX_BODY; i++) text += (i > 0 ? ',' : '') + piece(i)
  return text + end
}

const kept = (bound_book: string) =>
  '{"distributors":{},"targets":{},"notification_email":"a@shop.example","pricing":{},' +
  `"product_restrictions":{},"bound_book":${bound_book}}`
const faulty = (pricing: string) => kept('{}').replace('"pricing":{}', `"pricing":{${pricing}}`)

const cases: [what: string, path: string, body?: string, method?: string][] = [
  ['first search after a save, by price, every price its own', '/v1/products/search?sort=price'],
  [
    'a price range right after',
    '/v1/products/search?min_price=10&max_price=900&sort=-price&page=100&page_size=100',
  ],
  ['facets', '/v1/products/facets'],
  ['facets without restrictions', '/v1/products/facets?ignore_restrictions=true'],
  ['one letter', '/v1/products/search?q=a'],
  [
    'every letter',
    `/v1/products/search?q=${[...'abcdefghijklmnopqrstuvwxyz0123456789'].join('%20')}`,
  ],
  [
    'two thousand words',
    `/v1/products/search?q=${Array.from({ length: 2_000 }, (_, i) => i.toString(36)).join('%20')}`,
  ],
  ['a megabyte of brackets', '/v1/orders/quote', '['.repeat(MAX_BODY)],
  [
    'a megabyte of items',
    '/v1/orders/quote',
    filled('{"items":[', () => '{"upc":"012345678905","qty":1}', ']}'),
  ],
  [
    'a megabyte of unknown members',
    '/v1/orders/quote',
    filled('{"items":[{', (i) => `"m${i}":1`, '}]}'),
  ],
  ['a megabyte of faulty items', '/v1/orders/quote', filled('{"items":[', () => '{}', ']}')],
  [
    'a megabyte of control characters',
    '/v1/orders/quote',
    filled('{"items":[', () => '"\\u0001"', ']}'),
  ],
  [
    'a megabyte in one text',
    '/v1/orders/quote',
    `{"items":[{"upc":"${'1'.repeat(MAX_BODY - 60)}","qty":1}]}`,
  ],
  [
    'a quote of 100 lines',
    '/v1/orders/quote',
    JSON.stringify({
      items: Array.from({ length: 100 }, (_, i) => ({ upc: String(700_000_000_000 + i), qty: 1 })),
    }),
  ],
  [
    'a configuration of a megabyte of nested lists that is kept',
    '/v1/config',
    kept(
      filled('{"a":[', () => '[]', ']}')
        .slice(0, -400)
        .replace(/,[^,]*$/, ']}'),
    ),
    'PUT',
  ],
  [
    'a configuration of a megabyte of unknown members',
    '/v1/config',
    filled('{', (i) => `"m${i}":"a text of some length to fill a megabyte"`, '}')
      .slice(0, -100)
      .replace(/,[^,]*$/, '}'),
    'PUT',
  ],
  [
    'a configuration of a megabyte of faulty entries',
    '/v1/config',
    faulty(
      filled('"cost_adjustments":[', () => '{}', ']')
        .slice(0, -400)
        .replace(/,[^,]*$/, ']'),
    ),
    'PUT',
  ],
  [
    'a configuration of a megabyte of brands',
    '/v1/config',
    kept('{}').replace(
      '"product_restrictions":{}',
      `"product_restrictions":{"brand":{"exclude":${filled('[', (i) => `"brand ${i}"`, ']')
        .slice(0, -400)
        .replace(/,[^,]*$/, ']')}}}`,
    ),
    'PUT',
  ],
  ['its validation', '/v1/config/validate', ''],
  [
    'two hundred cost adjustments',
    '/v1/config',
    faulty(
      `"cost_adjustments":[${Array.from({ length: 200 }, (_, i) => adjustment(i)).join()}]`,
    ).replace('"distributors":{}', `"distributors":${JSON.stringify(dear.distributors)}`),
    'PUT',
  ],
  ['a search over them', '/v1/products/search'],
  [
    'lists that repeat one value',
    '/v1/config',
    JSON.stringify({ ...dear, product_restrictions: { sku: { exclude: Array(400_000).fill(1) } } }),
    'PUT',
  ],
  ['a search over those', '/v1/products/search'],
  [
    'fifty product groups',
    '/v1/config',
    JSON.stringify({
      ...dear,
      product_restrictions: {
        product_groups: Array.from({ length: 50 }, (_, i) => ({
          type: 'exclude',
          criteria: { min_quantity_to_list: 100 + i, cost: { min_cost: 1, max_cost: 2 } },
        })),
      },
    }),
    'PUT',
  ],
  ['a search over the rest', '/v1/products/search'],
  [
    'a save that is compared with the live catalog',
    '/v1/config?validate=true',
    JSON.stringify(dear),
    'PUT',
  ],
]
let worst = 0
for (let round = 0; round < 2; round++) {
  if (round > 0) await save()
  for (const [what, path, body, method] of cases) {
    const { held, status } = await heldBy(path, body, method)
    worst = Math.max(worst, held)
    console.log(`${held.toFixed(0).padStart(5)} ms  ${status}  ${what}`)
  }
}
console.log(
  `worst: ${worst.toFixed(0)} ms (bound 250 ms) on ${OFFERS.toLocaleString('en-US')} offers`,
)
await app.close()
rmSync(dir, { recursive: true, force: true })

function adjustment(i: number): string {
  return i % 2 ? '{"dollar":0.01}' : '{"product_class":"FA","percent":0.001}'
}
