/** Metrics are what happened, in a form that Prometheus takes; dashboard and alerts name no other. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { createAdmin } from '../../../server/admin/admin.js'
import { listen } from '../../../server/http/listen.js'
import { createTestApp } from '../../../server/testing/index.js'
import type { TestApp } from '../../../server/testing/index.js'
import { openWatching } from '../../../server/watching.js'
import type { Watching } from '../../../server/watching.js'
import { isOnPostgres } from '../../harness/record.js'

const scratch = mkdtempSync(join(tmpdir(), 'qm-metrics-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

const FILES = join('data', 'operating')
const read = (name: string) => readFileSync(join(FILES, name), 'utf8')
const hasPromtool = spawnSync('promtool', ['--version']).status === 0
const skip = hasPromtool ? false : 'promtool is missing'

/** A test app whose requests are counted, and what /metrics answers of it. */
async function watched(
  use: (t: TestApp, scrape: () => Promise<string>, watching: Watching) => Promise<void>,
  accessLog?: string,
): Promise<void> {
  let watching: Watching | undefined
  await using t = await createTestApp({
    server: { observe: (served) => watching?.observe?.(served) },
  })
  watching = await openWatching(t.app, { isCounting: true, accessLog })
  const listening = await listen(
    { nodeHandler: createAdmin(t.app, { metrics: watching.metrics }) },
    { port: 0, host: '127.0.0.1' },
  )
  try {
    const scrape = async () => {
      const response = await fetch(`${listening.url}/metrics`, {
        headers: { connection: 'close' },
      })
      assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
      return response.text()
    }
    await use(t, scrape, watching)
  } finally {
    await watching.close()
    await listening.close(0)
  }
}

/** The value of a line, by its name and labels as they stand. */
function valueOf(text: string, line: string): number | undefined {
  const found = text.split('\n').find((one) => one.startsWith(`${line} `))
  return found === undefined ? undefined : Number(found.slice(line.length + 1))
}

describe('metrics', () => {
  test('count requests by route and status, and limits that were hit', () =>
    watched(async ({ request, app }, scrape) => {
      for (let i = 0; i < 3; i++) await request('/v1/ping')
      await request('/v1/products/012345678905')
      await request('/v1/ping', { key: null })
      await request('/v1/there/is/none')
      await request('/v1/docs', { key: null })
      for (let i = 0; i < 21; i++) await request('/v1/ping', { key: 'wrong' })
      const text = await scrape()
      const counted = (route: string, status: number) =>
        valueOf(text, `quartermaster_http_requests_total{route="${route}",status="${status}"}`)
      assert.equal(counted('GET /v1/ping', 200), 3)
      assert.equal(counted('GET /v1/ping', 401), 1)
      assert.equal(counted('GET /v1/ping', 429), 1)
      assert.equal(counted('unknown', 404), 1)
      assert.equal(counted('docs', 200), 1)
      assert.ok(!text.includes('012345678905'), 'a route, not an address')
      assert.equal(valueOf(text, 'quartermaster_limits_hit_total{limit="rate_limited"}'), 1)
      const route = 'route="GET /v1/ping"'
      const buckets = [
        ...text.matchAll(/duration_seconds_bucket\{route="GET \/v1\/ping".* (\d+)$/gm),
      ]
      assert.equal(
        Number(buckets.at(-1)![1]),
        valueOf(text, `quartermaster_http_request_duration_seconds_count{${route}}`),
      )
      assert.ok(buckets.every(([, n], i) => Number(n) >= Number(buckets[i - 1]?.[1] ?? 0)))
      assert.ok(app.dir.length > 0)
    }))

  test('tell of feeds, orders, jobs, files and the process', () =>
    watched(async ({ app, clock, stock, key, subscriber }, scrape) => {
      await stock([{ distid: 'RSR', stockid: 'A1' }])
      const feed = join(scratch, 'feed.csv')
      writeFileSync(feed, 'I,Q,P,UPC\n1,1,10.00,\n2,1,20.00,\n')
      await app.operator.feeds.set({ distid: 'TSW', location: feed })
      await app.operator.feeds.pull({ distid: 'TSW' })
      clock.advance(90_000)
      await app.jobs.run('alarms')
      const text = await scrape()
      const [source] = await app.operator.feeds.status()
      const labels = `{source="${source!.source}",distid="TSW"}`
      for (const [line, value] of [
        [`quartermaster_feed_age_seconds${labels}`, 90],
        [`quartermaster_feed_stale${labels}`, 0],
        [`quartermaster_feed_rows${labels}`, 2],
        ['quartermaster_orders{state="review"}', 0],
        ['quartermaster_orders_paused', 0],
        ['quartermaster_ready{check="files"}', 1],
        ['quartermaster_ready{check="sender"}', Number(isOnPostgres)],
        ['quartermaster_job_runs_total{job="alarms"}', 1],
        ['quartermaster_job_run_failures_total{job="alarms"}', 0],
        ['quartermaster_catalog_offers', 3],
      ] as const)
        assert.equal(valueOf(text, line), value, line)
      for (const line of [
        ...(isOnPostgres ? [] : ['quartermaster_wal_bytes{file="record"}']),
        'process_cpu_seconds_total',
        'process_resident_memory_bytes',
        'process_open_fds',
        'process_start_time_seconds',
      ])
        assert.ok(valueOf(text, line)! > 0, line)
      for (const secret of [key, subscriber, 'owner@shop.example', app.dir])
        assert.ok(!text.includes(secret), secret)
    }))

  test('are taken by promtool', { skip }, () =>
    watched(async ({ request, stock }, scrape) => {
      await stock([{ distid: 'RSR', stockid: 'A1' }])
      await request('/v1/ping')
      const { status, stderr, stdout } = spawnSync('promtool', ['check', 'metrics'], {
        input: await scrape(),
        encoding: 'utf8',
      })
      assert.deepEqual([status, stderr, stdout], [0, '', ''])
    }),
  )

  test('have every metric that dashboard and alerts name', () =>
    watched(async ({ app, request }, scrape) => {
      await request('/v1/ping')
      const feed = join(scratch, 'named.csv')
      writeFileSync(feed, 'I,Q,P,UPC\n1,1,10.00,\n')
      await app.operator.feeds.set({ distid: 'TSW', location: feed })
      await app.operator.feeds.pull({ distid: 'TSW' })
      await app.jobs.run('alarms')
      const text = await scrape()
      const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
      const named = [read('grafana-dashboard.json'), read('prometheus-alerts.yml')].flatMap(
        (file) =>
          [...file.matchAll(/\b((?:quartermaster|process|nodejs)_[a-z_]+)\b/g)].map(([, name]) =>
            name!.replace(/_bucket$/, ''),
          ),
      )
      assert.ok(named.length > 30)
      // What several nodes have in common, test/postgres/serve.test.ts asks them for.
      const shared = ['quartermaster_database_up', 'quartermaster_catalog_lag_seconds']
      for (const name of named) assert.ok(known.has(name) || shared.includes(name), name)
    }))

  test('have alert rules that fire when they should, and only then', { skip }, () => {
    for (const args of [
      ['check', 'rules', 'prometheus-alerts.yml'],
      ['test', 'rules', 'prometheus-alerts-test.yml'],
    ]) {
      const { status, stdout, stderr } = spawnSync('promtool', args, {
        cwd: FILES,
        encoding: 'utf8',
      })
      assert.equal(status, 0, stdout + stderr)
    }
  })
})

describe('the access log', () => {
  const linesIn = (file: string) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>)

  test('has a line for each request, and no key, query or body', async () => {
    const file = join(scratch, 'access.log')
    await watched(async ({ json, request, key, keyId }, _scrape, watching) => {
      await request('/v1/ping?secret=1', { headers: { 'x-request-id': 'R-1' } })
      await request('/v1/ping', { key: 'a-wrong-key-of-somebody' })
      await json('/v1/orders/quote', { method: 'POST', body: '{"items":[]}' })
      await watching.close()
      const [ping, refused, quote] = linesIn(file)
      const { ms, time, bytes, ...rest } = ping!
      assert.deepEqual(rest, {
        request_id: 'R-1',
        key_id: keyId,
        method: 'GET',
        route: 'GET /v1/ping',
        status: 200,
      })
      assert.equal(time, '2026-11-21T12:00:00.000Z')
      assert.ok(Number(ms) >= 0 && Number(bytes) > 10)
      assert.deepEqual(
        [refused!['status'], refused!['code'], refused!['key_id']],
        [403, 'invalid_api_key', null],
      )
      assert.deepEqual([quote!['route'], quote!['status']], ['POST /v1/orders/quote', 400])
      const text = readFileSync(file, 'utf8')
      for (const secret of [key, 'secret', 'a-wrong-key', 'items'])
        assert.ok(!text.includes(secret), secret)
    }, file)
  })

  test('goes on in a new file after SIGHUP', async () => {
    const file = join(scratch, 'rotated.log')
    await watched(async ({ request }, _scrape, watching) => {
      await request('/v1/ping')
      // What waits is written within a second; the file of before has it.
      while (linesIn(file).length < 1)
        await new Promise((resolve) => {
          setTimeout(resolve, 20)
        })
      renameSync(file, `${file}.1`)
      process.kill(process.pid, 'SIGHUP')
      for (let made = false; !made;) {
        await new Promise((resolve) => {
          setTimeout(resolve, 20)
        })
        try {
          made = readFileSync(file) !== undefined
        } catch {
          made = false
        }
      }
      await request('/v1/ping')
      await watching.close()
      assert.deepEqual([linesIn(`${file}.1`).length, linesIn(file).length], [1, 1])
    }, file)
  })
})
