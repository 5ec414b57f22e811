/**
 * Prism between a caller and the server: every request and every answer is held against the served
 * document by somebody else's validator.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { allEndpoints } from '../../lib/app/endpoints.js'
import { pathPattern } from '../../lib/core/endpoint/routes.js'
import { BLOCKED_UPC, GUN_UPC, TOOLS, UPC, skipped, thirdPartyShop } from './third-party-shop.js'

const CUSTOMER = {
  name: 'Pat Doe',
  email: 'pat@customer.example',
  phone: '602-555-0100',
  address1: '12 Main St',
  city: 'Phoenix',
  state: 'AZ',
  zip: '85001',
}
const SIGNALS = {
  shipping_address_1: '12 Shady Grove Ln',
  shipping_postcode: '37203',
  phone: '6155551200',
}
const order = (id: string, items: object[], more: object = {}) => ({
  order_id: id,
  customer: CUSTOMER,
  items,
  ...more,
})
const BIPOD = { distid: 'RSR', distsku: 'A1', upc: UPC, qty: 1 }
const PISTOL = { distid: 'RSR', distsku: 'G1', upc: GUN_UPC, qty: 1, ffl_req: true }

interface Step {
  call: [method: string, path: string, body?: unknown, headers?: Record<string, string>]
  /** `200`, `409 duplicate_order`. */
  answer: string
  /** The request breaks the document, and Prism is to notice. */
  breaks?: boolean
  key?: null
}

/** In this order: later calls find what earlier ones have left. */
function scenario(license: string, configuration: object): Step[] {
  const good = (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Step => ({ call: [method, path, body, headers], answer: '200' })
  const refused = (
    answer: string,
    method: string,
    path: string,
    body?: unknown,
    more: Partial<Step> = {},
  ): Step => ({ call: [method, path, body], answer, ...more })
  const breaks = (answer: string, method: string, path: string, body?: unknown) =>
    refused(answer, method, path, body, { breaks: true })
  return [
    good('GET', '/v1/ping'),
    { ...breaks('401 missing_api_key', 'GET', '/v1/ping'), key: null },
    refused('403 invalid_api_key', 'GET', '/v1/ping', undefined, {}),
    good('GET', '/v1/account'),
    good('GET', '/v1/usage'),
    good('GET', '/v1/distributors'),
    good('GET', '/v1/config'),
    good('GET', '/v1/config/schema'),
    good('PUT', '/v1/config?validate=true', { configuration }),
    good('PUT', '/v1/config', configuration),
    refused('412 precondition_failed', 'PUT', '/v1/config', configuration),
    breaks('400 schema_validation_failed', 'PUT', '/v1/config', {
      configuration: { ...configuration, pricing: 7 },
    }),
    good('POST', '/v1/config/validate', {}),
    good('POST', '/v1/config/validate', { configuration }),
    breaks('400 invalid_parameter', 'POST', '/v1/config/validate', { document: {} }),
    good('GET', '/v1/products/search?q=pistol&in_stock=true&sort=-price&page_size=2'),
    breaks('400 invalid_parameter', 'GET', '/v1/products/search?page_size=101'),
    refused('404 not_found', 'GET', '/v1/products/search?distributor=XXX'),
    good('GET', '/v1/products/facets'),
    good('GET', `/v1/products/${UPC}`),
    refused('404 not_found', 'GET', '/v1/products/99999999'),
    breaks('400 invalid_upc', 'GET', '/v1/products/12'),
    good('GET', '/v1/products/catalog?include_attributes=true'),
    refused('429 catalog_polled_too_early', 'GET', '/v1/products/catalog'),
    breaks('400 invalid_parameter', 'GET', '/v1/products/catalog?expires_in=59'),
    good('GET', '/v1/analytics/on-sale?window=30d&limit=5'),
    breaks('404 not_found', 'GET', '/v1/analytics/nothing'),
    breaks('400 invalid_parameter', 'GET', '/v1/analytics/trending?limit=0'),
    good('GET', '/v1/ffls?zip=37203&radius=50'),
    breaks('400 invalid_parameter', 'GET', '/v1/ffls'),
    good('GET', `/v1/ffls/${license}`),
    refused('404 not_found', 'GET', '/v1/ffls/9-99-999-99-9X-99999'),
    good('POST', '/v1/restrictions/check', {
      shipping: { state: 'CA', zip: '90210' },
      items: [{ upc: BLOCKED_UPC }, { product_class: 'MG', attributes: { magazine_capacity: 30 } }],
      target: null,
    }),
    breaks('400 invalid_parameter', 'POST', '/v1/restrictions/check', { shipping: {}, items: [] }),
    good('POST', '/v1/orders/quote', {
      items: [
        { upc: UPC, qty: 2 },
        { upc: '99999999', qty: 1 },
      ],
    }),
    breaks('400 invalid_parameter', 'POST', '/v1/orders/quote', { items: [{ upc: UPC, qty: 0 }] }),
    good('POST', '/v1/orders', order('W-1', [BIPOD])),
    good(
      'POST',
      '/v1/orders',
      order('W-2', [BIPOD, PISTOL], { ffl: { licenseNumber: license }, po_number: 'PO 7' }),
    ),
    refused('409 duplicate_order', 'POST', '/v1/orders', order('W-1', [BIPOD])),
    refused(
      '409 order_rejected',
      'POST',
      '/v1/orders',
      order('W-3', [BIPOD], { po_number: 'SIM-REJECT' }),
    ),
    refused(
      '503 distributor_unavailable',
      'POST',
      '/v1/orders',
      order('W-4', [BIPOD], { po_number: 'SIM-UNREACHABLE' }),
    ),
    refused(
      '409 fulfillment_not_configured',
      'POST',
      '/v1/orders',
      order('W-5', [PISTOL], { ship_to_store: true }),
    ),
    refused(
      '400 invalid_parameter',
      'POST',
      '/v1/orders',
      order('W-6', [{ ...BIPOD, distsku: 'none' }]),
    ),
    breaks('400 invalid_parameter', 'POST', '/v1/orders', { ...order('W 7', []), more: 1 }),
    good('GET', '/v1/orders?limit=1&sort=order_id&direction=asc'),
    breaks('400 invalid_parameter', 'GET', '/v1/orders?limit=101'),
    good('GET', '/v1/orders/W-2'),
    refused('404 not_found', 'GET', '/v1/orders/W-0'),
    good('GET', `/v1/ffls/${license}/documents/ffl`),
    refused(
      '403 ffl_not_associated_with_order',
      'GET',
      '/v1/ffls/9-99-999-99-9X-99999/documents/sot',
    ),
    breaks('400 invalid_parameter', 'GET', `/v1/ffls/${license}/documents/tax`),
    good('GET', '/v1/fulfillment/history?reference=W-2&from=2026-11-01'),
    good('GET', '/v1/fulfillment/history?po_number=SIM-REJECT'),
    breaks('400 invalid_parameter', 'GET', '/v1/fulfillment/history?from=yesterday'),
    good('POST', '/v1/fraud/reports', { ...SIGNALS, notes: 'Chargeback', order_json: { id: 7 } }),
    good('POST', '/v1/fraud/check', SIGNALS),
    refused('400 invalid_parameter', 'POST', '/v1/fraud/check', { email: null }),
    refused('400 invalid_parameter', 'POST', '/v1/fraud/reports', {
      ...SIGNALS,
      shipping_is_ffl: true,
    }),
    good('DELETE', '/v1/fraud/reports', SIGNALS),
    refused('404 report_not_found', 'DELETE', '/v1/fraud/reports', SIGNALS),
  ]
}

/**
 * OpenAPI 3.0.3 wants null among the choices of what may be null; Prism's reader adds it by itself,
 * and a schema with a choice that stands twice is one that it silently leaves out.
 */
function withoutNullChoices(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNullChoices)
  if (typeof value !== 'object' || value === null) return value
  const { nullable, enum: choices } = value as { nullable?: unknown; enum?: unknown[] }
  const members = Object.entries(value).map(([name, member]): [string, unknown] => [
    name,
    withoutNullChoices(member),
  ])
  return Object.fromEntries(
    nullable === true && choices
      ? members.map(([name, member]): [string, unknown] => [
          name,
          name === 'enum' ? choices.filter((choice) => choice !== null) : member,
        ])
      : members,
  )
}

/** Starts the proxy on a port that was free a moment ago. */
async function startProxy(
  document: string,
  upstream: string,
): Promise<{ proxy: ChildProcess; url: string }> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  const proxy = spawn(
    process.execPath,
    [
      join(TOOLS, '@stoplight/prism-cli/dist/index.js'),
      'proxy',
      document,
      upstream,
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let said = ''
  await new Promise<void>((resolve, reject) => {
    const listen = (chunk: Buffer) => {
      said += String(chunk)
      if (said.includes('listening on')) resolve()
    }
    proxy.stdout.on('data', listen)
    proxy.stderr.on('data', listen)
    proxy.once('close', () => reject(new Error(`the proxy ended: ${said}`)))
  })
  return { proxy, url: `http://127.0.0.1:${port}` }
}

test(
  'a validating proxy finds nothing wrong with any answer, nor with any request that the document allows',
  { skip: skipped },
  async () => {
    const shop = await thirdPartyShop()
    const dir = mkdtempSync(join(tmpdir(), 'qm-proxy-'))
    const document = join(dir, 'openapi.json')
    writeFileSync(
      document,
      JSON.stringify(withoutNullChoices(await (await fetch(`${shop.url}/v1/openapi.json`)).json())),
    )
    const started = await startProxy(document, shop.url).catch(async (error: unknown) => {
      await shop.stop()
      throw error
    })
    const reached = new Set<string>()
    try {
      const { configuration } = await shop.shop.config.get()
      for (const {
        call: [method, path, body, headers],
        answer,
        breaks = false,
        key,
      } of scenario(shop.license, configuration)) {
        const sent: Record<string, string> = {
          ...headers,
          ...(key !== null && {
            'x-api-key': answer.endsWith('invalid_api_key') ? 'x'.repeat(40) : shop.key,
          }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(answer.startsWith('412') && { 'if-match': '"another"' }),
        }
        const response = await fetch(`${started.url}${path}`, {
          method,
          headers: sent,
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        const text = await response.text()
        const got = JSON.parse(text) as { error?: { code: string } }
        assert.equal(
          [response.status, got.error?.code].filter((part) => part !== undefined).join(' '),
          answer,
          `${method} ${path}: ${text.slice(0, 500)}`,
        )
        const violations = JSON.parse(response.headers.get('sl-violations') ?? '[]') as {
          location: string[]
          message: string
        }[]
        const of = (side: string) => violations.filter(({ location }) => location[0] === side)
        assert.deepEqual(of('response'), [], `${method} ${path}`)
        assert.equal(
          of('request').length > 0,
          breaks,
          `${method} ${path}: ${JSON.stringify(violations)}`,
        )
        const endpoint = allEndpoints
          .filter(
            (known) => known.method === method && pathPattern(known.path).test(path.split('?')[0]!),
          )
          .sort((a, b) => a.path.split('{').length - b.path.split('{').length)[0]
        if (answer === '200') reached.add(endpoint!.id)
      }
      assert.deepEqual(
        allEndpoints.map(({ id }) => id).filter((id) => !reached.has(id)),
        [],
        'every endpoint has answered 200',
      )
    } finally {
      started.proxy.removeAllListeners()
      started.proxy.kill('SIGKILL')
      await once(started.proxy, 'exit')
      rmSync(dir, { recursive: true, force: true })
      await shop.stop()
    }
  },
)
