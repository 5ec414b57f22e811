/**
 * The demo, with fewer of the offers that no page names, behind a real socket, by a clock that the
 * guide's `sleep` moves, and a shell in which the guide's lines run.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openForTest as open } from '../../server/testing/open.js'
import type { App } from '../../lib/app/open.js'
import { prepareDemo } from '../../lib/app/demo.js'
import { createServer } from '../../server/http/app.js'
import { listen } from '../../server/http/listen.js'
import { LAUNCHER } from '../server/launcher.js'
import { hearErrors } from '../server/process-errors.js'

const OFFERS = 1_000

export interface GuideShop {
  app: App
  /** The folder in which a reader works: `var` and `dist/quartermaster` are in it. */
  cwd: string
  url: string
  key: string
  /** Moves the clock, and has all be done that is due then. */
  later(seconds: number): Promise<void>
  /** What a script prints, run by bash in the folder; fails on its first command that fails. */
  shell(script: string, env?: Record<string, string>): Promise<string>
  close(): Promise<void>
}

export async function openGuideShop(): Promise<GuideShop> {
  const cwd = mkdtempSync(join(tmpdir(), 'qm-guide-'))
  let ahead = 0
  const app = await open({ dir: join(cwd, 'var'), now: () => Date.now() + ahead })
  const { key } = await prepareDemo(app, { offers: OFFERS, history: false })
  await app.ctx.catalog.refresh()
  const server = await listen(createServer(app), { port: 0, host: '127.0.0.1' })
  app.listensAt(server.url)
  app.orders.start()
  mkdirSync(join(cwd, 'dist'))
  symlinkSync(dirname(LAUNCHER), join(cwd, 'dist', 'quartermaster'))
  const later = async (seconds: number) => {
    ahead += seconds * 1_000
    await app.monitors.pass()
  }
  const clock = createHttpServer((request, response) => {
    void later(Number(request.url!.slice(1))).then(
      () => response.end(),
      (error: unknown) => response.destroy(error as Error),
    )
  })
  await new Promise<void>((resolve) => {
    clock.listen(0, '127.0.0.1', resolve)
  })
  const { port } = clock.address() as AddressInfo
  return {
    app,
    cwd,
    url: server.url,
    key,
    later,
    shell: (script, env = {}) =>
      runShell(`set -eu\nsleep() { curl -sS http://127.0.0.1:${port}/$1; }\n${script}`, cwd, env),
    async close() {
      clock.close()
      await server.close(1_000)
      await app.close()
      rmSync(cwd, { recursive: true, force: true })
    },
  }
}

function runShell(script: string, cwd: string, env: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', [], { cwd, env: { ...process.env, ...env } })
    let [out, err] = ['', '']
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
    })
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString()
    })
    child.on('close', (code) => {
      hearErrors(err)
      if (code === 0) resolve(out)
      else
        reject(
          new assert.AssertionError({
            message: `the shell ended with ${code}: ${err}\n${out.slice(-2_000)}`,
          }),
        )
    })
    child.stdin.end(script)
  })
}
