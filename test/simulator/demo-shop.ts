/**
 * The demo's shop with nothing but the items that examples name: the same answers from the same
 * clock, but for what is drawn.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openForTest as open } from '../../server/testing/open.js'
import type { App } from '../../lib/app/open.js'
import { prepareDemo } from '../../lib/app/demo.js'
import { createServer } from '../../server/http/app.js'
import { checkAnswer } from '../../server/testing/check-answer.js'
import type { Answer } from '../../server/testing/index.js'

export interface DemoShop {
  app: App
  clock: { ms: number }
  key: string
  subscriber: string
  /** One request from 127.0.0.1 with the key; its answer is held against the document. */
  ask(
    method: string,
    path: string,
    options?: {
      body?: unknown
      headers?: Record<string, string>
      key?: string | null
      address?: string
    },
  ): Promise<{ status: number; body: Answer; headers: Headers }>
  [Symbol.asyncDispose](): Promise<void>
}

/** Opens the shop at noon of 2026-11-21. */
export async function demoShop(): Promise<DemoShop> {
  const dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'qm-examples-'))
  const clock = { ms: Date.UTC(2026, 10, 21, 12) }
  const app = await open({
    dir,
    now: () => clock.ms,
    worker: false,
    publicUrl: 'https://shop.example',
    faults: { freeBytes: () => Infinity },
    fatal: (error) => {
      throw error
    },
  })
  const { key, subscriber } = await prepareDemo(app, { offers: 0, metrics: false })
  const server = createServer(app)
  return {
    app,
    clock,
    key,
    subscriber,
    async ask(method, path, { body, headers = {}, key: given = key, address = '127.0.0.1' } = {}) {
      const request = new Request(new URL(path, 'https://shop.example'), {
        method,
        headers: { ...(given !== null && { 'x-api-key': given }), ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const response = await server.fetch(request, { address })
      await checkAnswer(app, request, response.clone())
      return {
        status: response.status,
        headers: response.headers,
        body: (await response.json()) as Answer,
      }
    },
    async [Symbol.asyncDispose]() {
      await app.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
