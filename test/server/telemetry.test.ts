/** OpenTelemetry by its own packages, which are lent for these tests, and its own variables. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, test } from 'node:test'
import { silentLog } from '../../lib/core/log.js'
import { createTestApp } from '../../server/testing/index.js'
import { FRESH, LAUNCHER, stop } from './launcher.js'
import { openTelemetry, wantsTelemetry } from '../../server/telemetry.js'

const FOLDER = '@opentelemetry'
const LENT = resolve('scripts/conformance/node_modules', FOLDER)
const PLACE = resolve('node_modules', FOLDER)
const skip = existsSync(join(LENT, 'sdk-node'))
  ? false
  : 'the packages are not installed: npm ci in scripts/conformance'

const scratch = mkdtempSync(join(tmpdir(), 'qm-telemetry-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

interface Sent {
  path: string
  text: string
}

/** A collector that takes what it is sent over HTTP, as JSON. */
async function collector() {
  const sent: Sent[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')))
    request.on('end', () => {
      sent.push({ path: request.url ?? '', text })
      response.setHeader('content-type', 'application/json').end('{}')
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Sets variables for a while: the SDK reads those of the process. */
async function withEnvironment(
  variables: Record<string, string>,
  use: () => Promise<void>,
): Promise<void> {
  Object.assign(process.env, variables)
  try {
    await use()
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name]
  }
}

const PARENT = '4bf92f3577b34da6a3ce929d0e0e4736'

describe('telemetry', () => {
  test('is asked for by the variables of OpenTelemetry alone', () => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }
    assert.equal(wantsTelemetry({}), false)
    assert.equal(wantsTelemetry({ OTEL_EXPORTER_OTLP_ENDPOINT: '' }), false)
    assert.equal(wantsTelemetry({ OTEL_TRACES_EXPORTER: 'none' }), false)
    assert.equal(wantsTelemetry(endpoint), true)
    assert.equal(wantsTelemetry({ ...endpoint, OTEL_SDK_DISABLED: 'true' }), false)
    assert.equal(wantsTelemetry({ OTEL_TRACES_EXPORTER: 'console' }), true)
  })

  // In a process of its own: one that has looked in vain for a package does not look again.
  test('without its packages is missed with one line, and the server serves', async () => {
    assert.equal(existsSync(PLACE), false, 'the packages are no part of the program')
    const child = spawn(
      process.execPath,
      [LAUNCHER, 'serve', '--dir', scratch, '--port', '0', '--admin', 'none', '--json'],
      { env: { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' } },
    )
    const told: string[] = []
    createInterface({ input: child.stderr }).on('line', (line) => told.push(line))
    const [first] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    const { url } = JSON.parse(first) as { url: string }
    const { status } = await fetch(`${url}/v1/openapi.json`, { headers: FRESH })
    assert.equal(status, 200)
    assert.equal(await stop(child), 0)
    const lines = told.filter((line) => line.includes('OTEL_'))
    assert.equal(lines.length, 1)
    assert.match(lines[0]!, /npm install @opentelemetry\/sdk-node @opentelemetry\/api"/)
  })

  test('sends a span and a duration for each request', { skip }, async () => {
    mkdirSync(resolve('node_modules'), { recursive: true })
    symlinkSync(LENT, PLACE)
    const { url, sent, close } = await collector()
    const variables = {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_LOGS_EXPORTER: 'none',
    }
    try {
      await withEnvironment(variables, async () => {
        const telemetry = await openTelemetry({ now: Date.now, log: silentLog })
        assert.ok(telemetry)
        {
          await using t = await createTestApp({ server: { observe: telemetry.observe } })
          await t.request('/v1/ping', {
            headers: { traceparent: `00-${PARENT}-00f067aa0ba902b7-01` },
          })
          await t.request('/v1/products/12')
        }
        await telemetry.close()
      })
    } finally {
      close()
      rmSync(PLACE)
    }
    const spans = spansIn(sent)
    assert.deepEqual(spans.map(({ name }) => name).sort(), [
      'GET /v1/ping',
      'GET /v1/products/{upc}',
    ])
    const ping = spans.find(({ name }) => name === 'GET /v1/ping')!
    assert.equal(ping.traceId, PARENT, 'it belongs to the trace of the caller')
    assert.equal(ping.parentSpanId, '00f067aa0ba902b7')
    assert.equal(attributeOf(ping, 'http.response.status_code'), 200)
    const refused = spans.find(({ name }) => name === 'GET /v1/products/{upc}')!
    assert.equal(attributeOf(refused, 'http.response.status_code'), 400)
    assert.equal(attributeOf(refused, 'error.type'), 'invalid_upc')
    const metrics = sent.filter(({ path }) => path === '/v1/metrics').map(({ text }) => text)
    assert.match(metrics.join('\n'), /"http\.server\.request\.duration"/)
    const all = sent.map(({ text }) => text).join('\n')
    assert.match(all, /"service\.name","value":\{"stringValue":"quartermaster"\}/)
    assert.doesNotMatch(all, /x-api-key/)
  })
})

interface SentSpan {
  name: string
  traceId: string
  parentSpanId?: string
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
}

function spansIn(sent: readonly Sent[]): SentSpan[] {
  return sent
    .filter(({ path }) => path === '/v1/traces')
    .flatMap(
      ({ text }) =>
        (
          JSON.parse(text) as {
            resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[]
          }
        ).resourceSpans,
    )
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
}

function attributeOf({ attributes }: SentSpan, name: string): string | number | undefined {
  const value = attributes.find(({ key }) => key === name)?.value
  return value?.stringValue ?? value?.intValue
}
