/** Faults that the fuzzer must find: `npx tsx scripts/fuzz/planted.ts [words of a name]`. Each is a change of the source, text for text. */
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Patch } from '../crash/lib-bundle.js'
import { bundleWorker } from './bundle.js'
import type { EpochResult } from './epoch.js'

const REQUESTS = 20_000

interface Planted {
  name: string
  patches: Patch[]
  /** The rule that must notice, and what it says. */
  found: RegExp
}

const at = (file: string, find: string, replace: string): Patch => ({ file, find, replace })

const PLANTED: Planted[] = [
  { name: 'an endpoint throws on a long text', found: /^server error: productsSearch 500/, patches: [at('lib/catalog/endpoints.ts', 'const { rows, total } = searchView(view, query)', 'if ((query.q ?? \'\').length > 40) throw new TypeError(\'too long\')\n    const { rows, total } = searchView(view, query)')] },
  { name: 'an endpoint throws on a name of the prototype', found: /^server error: \w+ 500/, patches: [at('lib/restrictions/endpoints.ts', 'run: async (ctx, { body }) =>', 'run: async (ctx, { body }) => ({} as Record<string, unknown>)[String(body.target)] !== undefined ? (null as never as { x: { y: never } }).x.y :')] },
  { name: 'a code that the document has not', found: /^undocumented: fflsNear 404/, patches: [at('lib/ffls/endpoints.ts', 'run: async (ctx, { query }) => findNear(ctx, query),', 'run: async (ctx, { query }) => {\n    if (query.radius === 50) throw Object.assign(new Error(\'none\'), { name: \'ApiError\', code: \'report_not_found\', status: 404, headers: {} })\n    return findNear(ctx, query)\n  },')] },
  { name: 'a member is missing', found: /^shape: productsFacets 200/, patches: [at('lib/catalog/endpoints.ts', 'serialized(JSON.stringify(facetsOf(await ctx.catalog.view(ctx.subscriber, query.ignore_restrictions))))', 'serialized(JSON.stringify({ ...facetsOf(await ctx.catalog.view(ctx.subscriber, query.ignore_restrictions)), product_classes: undefined }))')] },
  { name: 'null where there must be a number', found: /^shape: (fulfillmentHistory|orders\w+) 200/, patches: [at('lib/fulfillment/records.ts', 'ship_to_store: flag(row.ship_to_store)', 'ship_to_store: null as never')] },
  { name: 'a secret is not masked', found: /^leak: config/, patches: [at('lib/configuration/secrets.ts', 'passcode|secret|token', 'passcode|token')] },
  {
    name: 'other dealers\' notes are told', found: /^leak: fraud/,
    patches: [at('lib/fraud/summary.ts', 'const mine = hits.filter((hit) => hit.mine === 1)', 'const mine = hits'), at('lib/fraud/summary.ts', "'SELECT id, notes FROM", "'SELECT id, notes, subscriber_id FROM"), at('lib/fraud/summary.ts', 'openNotes(ctx, subscriberId, row)', 'openNotes(ctx, (row as never as { subscriber_id: string }).subscriber_id, row)')],
  },
  {
    name: 'what was thrown is shown', found: /^leak: productsSearch/,
    patches: [
      at('server/handle.ts', "return new ApiError('internal_error', { details: { request_id: requestId } })", "return new ApiError('not_found', { message: String((error as Error).stack) })"),
      at('lib/catalog/endpoints.ts', 'const { rows, total } = searchView(view, query)', 'if ((query.q ?? \'\').length > 40) throw new TypeError(\'too long\')\n    const { rows, total } = searchView(view, query)'),
    ],
  },
  { name: 'a slow path', found: /^slow: ordersList/, patches: [at('lib/fulfillment/endpoints.ts', 'run: async (ctx, { query }) => orderPage(ctx, query),', 'run: async (ctx, { query }) => {\n    if (query.sort === \'ship_date\') for (const end = performance.now() + 300; performance.now() < end;);\n    return orderPage(ctx, query)\n  },')] },
  { name: 'a body of a byte more is taken', found: /a megabyte and a byte/, patches: [at('server/decode.ts', 'export const MAX_BODY = 1_048_576', 'export const MAX_BODY = 1_048_577')] },
  { name: 'a body of a megabyte is not taken', found: /a megabyte of blanks/, patches: [at('server/decode.ts', 'export const MAX_BODY = 1_048_576', 'export const MAX_BODY = 1_048_575')] },
  { name: 'a level more is taken', found: /65 levels/, patches: [at('lib/core/json.ts', 'export const MAX_DEPTH = 64', 'export const MAX_DEPTH = 65')] },
  { name: 'a call more in a minute', found: /^state: the limit of a minute/, patches: [at('lib/accounts/limits.ts', 'this.#times = new Float64Array(limit)', 'this.#times = new Float64Array(limit + 1)')] },
  { name: 'a parameter twice is taken once', found: /twice/, patches: [at('server/decode.ts', 'if (values.length > 1) {', 'if (values.length > 2) {')] },
  { name: 'infinity is a number', found: /^not refused|^server error|^shape/, patches: [at('server/decode.ts', "faults.push({ path: name, message: 'must be a number' })\n      else query[name] = Number(text)", "faults.push({ path: name, message: 'must be a number' })\n      else query[name] = Math.max(-1e300, Math.min(1e300, Number(text)))")] },
  { name: 'half a surrogate pair is text', found: /half/, patches: [at('lib/core/text.ts', "if (/\\p{Surrogate}/u.test(text)) return 'holds half of a surrogate pair; send well-formed Unicode'", '')] },
  { name: '__proto__ is dropped', found: /prototype|__proto__/, patches: [at('lib/core/json.ts', "name === '__proto__' && way.length === 0 ? 'must not be __proto__' : textFault(name)", 'textFault(name)')] },
  { name: 'a fault is at another place', found: /^wrong answer/, patches: [at('lib/core/json.ts', "typeof part === 'number' ? `[${part}]`", "typeof part === 'number' ? `[${part + 1}]`")] },
  { name: 'a refusal without the limits', found: /^header: /, patches: [at('server/handle.ts', 'const { key, admission } = gate(request.headers, peer, route)\n      Object.assign(headers, limitHeaders(admission))\n      const input = await decode(request, params, search)', 'const { key, admission } = gate(request.headers, peer, route)\n      const input = await decode(request, params, search)\n      Object.assign(headers, limitHeaders(admission))')] },
  { name: 'an order is sent twice', found: /^state: a double/, patches: [at('lib/orders/send.ts', 'line.connector.submit({ ...session, signal }, line.content)', 'line.connector.submit({ ...session, signal }, line.content).then(() => line.connector.submit({ ...session, signal }, line.content))')] },
  { name: 'a filter lets one through', found: /^promise: productsSearch/, patches: [at('lib/catalog/search.ts', 'if (query.drop_ship_only) yield snapshot.dropShip', 'if (query.drop_ship_only && query.q === undefined) yield snapshot.dropShip')] },
  { name: 'another shop\'s order is shown', found: /^leak: ordersGet/, patches: [at('lib/fulfillment/history.ts', 'WHERE subscriber_id = ? AND visible = 1 AND order_id = ? ORDER BY id', 'WHERE ? IS NOT NULL AND visible = 1 AND order_id = ? ORDER BY id')] },
  { name: 'a timer is left', found: /^LEFT/, patches: [at('server/handle.ts', 'const headers = baseHeaders(app, request)\n    try {\n      const { key, admission }', 'const headers = baseHeaders(app, request)\n    setTimeout(() => {}, 600_000)\n    try {\n      const { key, admission }')] },
]

interface Outcome {
  after: number
  signs: string[]
}

function run(root: string): Promise<Outcome> {
  const child = spawn(process.execPath, [join(root, 'fuzz', 'worker.mjs'), '1', '1', '1', String(REQUESTS), '2', 'stop'], { stdio: ['ignore', 'pipe', 'pipe'] })
  const outcome: Outcome = { after: 0, signs: [] }
  let wrong = ''
  child.stderr.on('data', (chunk) => { wrong += String(chunk) })
  createInterface({ input: child.stdout }).on('line', (line) => {
    const said = JSON.parse(line) as { result?: EpochResult; done?: boolean; left?: string[] }
    if (said.result) {
      outcome.after = Math.min(...said.result.failures.map((failure) => failure.at), said.result.requests)
      outcome.signs.push(...said.result.failures.map(({ sign }) => sign))
    }
    if (said.done) {
      if (said.left!.length > 0) outcome.signs.push(`LEFT ${said.left!.length} timers`)
      child.kill()
    }
  })
  return new Promise((resolve) => child.once('close', () => {
    if (outcome.after === 0) outcome.signs.push(`the worker ended: ${wrong.slice(0, 300)}`)
    resolve(outcome)
  }))
}

const wanted = process.argv.slice(2).join(' ')
let missed = 0
for (const { name, patches, found } of PLANTED.filter((planted) => planted.name.includes(wanted))) {
  const begun = Date.now()
  const root = await bundleWorker(patches)
  try {
    const { after, signs } = await run(root)
    const sign = signs.find((text) => found.test(text))
    if (sign === undefined) missed++
    console.log(`${sign === undefined ? 'MISSED' : 'found '} ${name.padEnd(44)} ${String(after).padStart(6)} requests ${((Date.now() - begun) / 1_000).toFixed(0).padStart(4)} s  ${sign ?? signs.slice(0, 3).join(' | ')}`)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}
console.log(missed === 0 ? 'all were found' : `${missed} were missed`)
process.exit(missed === 0 ? 0 : 1)
