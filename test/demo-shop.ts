/** The demo's shop with nothing but the items that examples name: the same answers from the same clock, but for what is drawn. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesIn } from '../lib/db/engine.js'
import { openFile } from '../lib/db/sqlite.js'
import { open } from '../lib/open.js'
import type { App } from '../lib/open.js'
import { addDemoDealers } from '../lib/simulator/dealers.js'
import { demoDocument } from '../lib/simulator/demo.js'
import { writeDemoHistory } from '../lib/simulator/demo-history.js'
import { demoOffers, writeDemoFeeds } from '../lib/simulator/feeds.js'
import { createServer } from '../server/app.js'
import { checkAnswer } from '../server/check-answer.js'
import type { Answer } from '../server/testing.js'

export interface DemoShop {
  app: App
  clock: { ms: number }
  key: string
  subscriber: string
  /** One request from 127.0.0.1 with the key; its answer is held against the document. */
  ask(method: string, path: string, options?: { body?: unknown; headers?: Record<string, string>; key?: string | null; address?: string }): Promise<{ status: number; body: Answer; headers: Headers }>
  [Symbol.asyncDispose](): Promise<void>
}

/** Opens the shop at noon of 2026-11-21. */
export async function demoShop(): Promise<DemoShop> {
  const dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'qm-examples-'))
  const clock = { ms: Date.UTC(2026, 10, 21, 12) }
  const app = await open({ dir, now: () => clock.ms, worker: false, publicUrl: 'https://shop.example', faults: { freeBytes: () => Infinity }, fatal: (error) => { throw error } })
  const { name: subscriber } = await app.operator.subscribers.create({ name: 'Demo Shop', email: 'owner@demo-shop.example' })
  const history = openFile(filesIn(dir).history, { synchronous: 'NORMAL' })
  writeDemoHistory(history, demoOffers({ offers: 0 }), clock.ms)
  history.close()
  for (const { distid, preset, file } of await writeDemoFeeds(join(dir, 'simulator', 'feeds'), { asOf: clock.ms, offers: 0 })) {
    await app.operator.feeds.set({ distid, preset, location: file })
    await app.operator.feeds.pull({ distid })
  }
  await addDemoDealers(app.ctx)
  const document = demoDocument()
  await app.operator.configurations.put(subscriber, { document })
  await app.operator.configurations.checkCredentials(subscriber, Object.keys(document.distributors))
  const { key } = await app.operator.keys.create({ subscriber, name: 'demo key', tier: 'enterprise', ips: ['127.0.0.1', '::1'] })
  const server = createServer(app)
  return {
    app, clock, key, subscriber,
    async ask(method, path, { body, headers = {}, key: given = key, address = '127.0.0.1' } = {}) {
      const request = new Request(new URL(path, 'https://shop.example'), { method, headers: { ...given !== null && { 'x-api-key': given }, ...headers }, ...body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) } })
      const response = await server.fetch(request, { address })
      await checkAnswer(app, request, response.clone())
      return { status: response.status, headers: response.headers, body: await response.json() as Answer }
    },
    async [Symbol.asyncDispose]() {
      await app.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
