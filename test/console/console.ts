/** The console of an app, as a server has it: its page as built, its calls, people who may. */
import { createServer } from 'node:http'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContextOptions } from 'playwright-core'
import { buildConsole } from '../../console/build.mjs'
import { prepareDemo } from '../../lib/app/demo.js'
import type { DemoOptions } from '../../lib/app/demo.js'
import type { App } from '../../lib/app/open.js'
import { createConsole } from '../../server/console/console.js'
import { openForTest } from '../../server/testing/open.js'
import type { WatchedApp } from '../../server/testing/open.js'

export const PASSWORD = 'a password for the console'
export const SHOP = 'Demo Shop'
/** An item that all three distributors of the demo have. */
export const BIPOD = '493162079197'

export type Role = 'operator' | 'viewer'

export interface ServedConsole {
  /** Its origin. */
  url: string
  /** The address of a link that sets a password. */
  link(name: string, role?: Role): Promise<string>
  /** A browser's profile in which somebody has signed in. */
  profile(who?: Who): Promise<BrowserContextOptions>
  close(): Promise<void>
}

/** Two operators, and one who may only look. */
const PEOPLE = { pat: 'operator', ann: 'operator', sam: 'viewer' } as const
export type Who = keyof typeof PEOPLE

/**
 * Builds the page and serves it with its calls, to the people above. A port is one at which an app
 * of the same folder was served before, whose people are known.
 */
export async function serveConsole(app: App, port?: number): Promise<ServedConsole> {
  const files = mkdtempSync(join(tmpdir(), 'qm-page-'))
  await buildConsole(files)
  const answer = createConsole(app, { files })
  const server = createServer((request, response) => {
    void answer(request, response).then((isOurs) => {
      if (!isOurs) response.writeHead(404).end()
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(port ?? 0, '127.0.0.1', resolve)
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const tokenOf = async (name: string, role: Role) => {
    const { token } = (await app.operate('console.link', { name, role })) as { token: string }
    return token
  }
  for (const [name, role] of port === undefined ? Object.entries(PEOPLE) : [])
    await start(url, { token: await tokenOf(name, role), password: PASSWORD })
  return {
    url,
    link: async (name, role = 'operator') => `${url}/#link=${await tokenOf(name, role)}`,
    async profile(who = 'pat') {
      const [name, value] = await start(url, { name: who, password: PASSWORD })
      const cookie = { name, value, domain: '127.0.0.1', path: '/', expires: -1 }
      return {
        storageState: {
          cookies: [{ ...cookie, httpOnly: true, secure: false, sameSite: 'Strict' }],
          origins: [],
        },
      }
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
      rmSync(files, { recursive: true, force: true })
    },
  }
}

/** Signs in as a page would; the name and the value of the cookie. */
async function start(url: string, input: object): Promise<[string, string]> {
  const answer = await fetch(`${url}/operator/session/start`, {
    method: 'POST',
    headers: { origin: url, 'content-type': 'application/json' },
    body: JSON.stringify(input),
  })
  const [, name, value] = /^([^=]+)=([^;]*)/.exec(answer.headers.get('set-cookie') ?? '') ?? []
  if (name === undefined || value === undefined) throw new Error(await answer.text())
  return [name, value]
}

export interface DemoConsole extends ServedConsole {
  app: WatchedApp
}

/** The console of a small demo: 90 days of history, and what was ordered by the suite. */
export async function openConsole(options: DemoOptions = {}): Promise<DemoConsole> {
  const root = mkdtempSync(join(tmpdir(), 'qm-console-'))
  const app = await openForTest({ dir: join(root, 'state') })
  await prepareDemo(app, { offers: 150, ...options })
  const served = await serveConsole(app)
  return {
    ...served,
    app,
    async close() {
      await served.close()
      await app.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}
