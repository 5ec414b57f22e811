/** A real PostgreSQL, as Debian packages it, in a throwaway folder. */
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { turnsByName } from '../../lib/core/async/turns.js'
import { pause } from '../../lib/core/async/wait.js'
import { loadPg } from '../../lib/db/postgres/driver.js'
import type { Client, ClientOptions, Result } from '../../lib/db/postgres/driver.js'
import { SUPERUSER, postgresPrograms, serverUser } from './postgres-installed.js'

const PASSWORD = 'pass word/with:all@of?it#%'

const bin = postgresPrograms()

/** Why the suites of PostgreSQL cannot run here; false where they can. */
export const missing: string | false = (() => {
  if (bin === undefined) return 'PostgreSQL is not installed (Debian: postgresql)'
  try {
    loadPg()
    return false
  } catch (error) {
    return (error as Error).message
  }
})()

export interface AddressOf {
  database?: string
  user?: string
  password?: string
  port?: number
  parameters?: string
}

export interface TestServer {
  readonly port: number
  readonly dir: string
  /** The text of a database file. */
  address(given?: AddressOf): string
  /** Makes a database; `options` follow its name. Returns the text of its file. */
  database(options?: string): Promise<string>
  /** Runs SQL as the superuser. */
  run(address: string, sql: string, values?: unknown[]): Promise<Result>
  /** Stops at once, as after a crash. */
  crash(): Promise<void>
  start(settings?: readonly string[]): Promise<void>
  close(): Promise<void>
}

/**
 * Starts a server whose language is not "C", so that a text that is compared by it stands out, and
 * which wants passwords. `settings` are `name=value`, and it lies in a new folder below `place`.
 */
export async function startServer({
  settings = [],
  place = tmpdir(),
}: { settings?: readonly string[]; place?: string } = {}): Promise<TestServer> {
  const dir = mkdtempSync(join(place, 'qm-pg-'))
  const owner = serverUser()
  if (owner) chownSync(dir, owner.uid, owner.gid)
  const passwords = join(dir, 'password')
  writeFileSync(passwords, PASSWORD, { mode: 0o644 })
  execFileSync(
    join(bin!, 'initdb'),
    [
      '-D',
      join(dir, 'data'),
      '-N',
      '--auth=scram-sha-256',
      `--pwfile=${passwords}`,
      `--username=${SUPERUSER}`,
      '--encoding=UTF8',
      '--locale=C.UTF-8',
      '--locale-provider=icu',
      '--icu-locale=en-US',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], cwd: dir, ...owner },
  )
  const port = await freePort()
  let server: ChildProcess | undefined
  let databases = 0

  const address = ({
    database = 'postgres',
    user = SUPERUSER,
    password = PASSWORD,
    port: other = port,
    parameters = '',
  }: AddressOf = {}) =>
    `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${other}/${database}${parameters}`

  async function run(where: string, sql: string, values?: unknown[]): Promise<Result> {
    const client = superClient(where)
    await client.connect()
    try {
      return await client.query(sql, values)
    } finally {
      await client.end()
    }
  }

  const self: TestServer = {
    port,
    dir,
    address,
    run,
    async database(options = '') {
      const name = `db${++databases}`
      await run(address(), `create database ${name} ${options}`)
      return address({ database: name })
    },
    async crash() {
      const gone = once(server!, 'exit')
      server!.kill('SIGQUIT')
      await gone
      server = undefined
    },
    async start(settings = []) {
      const all = [
        'fsync=off',
        'full_page_writes=off',
        'shared_buffers=64MB',
        'max_connections=60',
        'autovacuum=off',
        'log_min_messages=fatal',
        `port=${port}`,
        'listen_addresses=127.0.0.1',
        `unix_socket_directories=${dir}`,
        ...settings,
      ]
      server = spawn(
        join(bin!, 'postgres'),
        ['-D', join(dir, 'data'), ...all.flatMap((setting) => ['-c', setting])],
        { stdio: 'ignore', cwd: dir, ...owner },
      )
      const started = server
      const stop = () => started.kill('SIGQUIT')
      process.once('exit', stop)
      started.once('exit', () => process.off('exit', stop))
      for (;;) {
        if (started.exitCode !== null) throw new Error('PostgreSQL did not start')
        try {
          await run(address(), 'select 1')
          return
        } catch {
          await pause(20)
        }
      }
    },
    async close() {
      if (server) await self.crash()
      rmSync(dir, { recursive: true, force: true })
    },
  }
  await self.start(settings)
  return self
}

/** The driver as it is, without anything of ours but types, where they are given. */
export function superClient(address: string, types?: ClientOptions['types']): Client {
  const { Client: Plain } = loadPg()
  const { hostname: host, port, pathname, username: user, password } = new URL(address)
  const place = { host, port: Number(port), database: pathname.slice(1), user }
  const options = { ...place, ...(types && { types }) }
  const client = new Plain({ ...options, password: decodeURIComponent(password) } as never)
  client.on('error', () => {})
  return client
}

/** Has the nodes of a database ask a table what time it is, in ms. */
export async function testClock(
  address: string,
): Promise<{ set(ms: number): Promise<void>; close(): Promise<void> }> {
  const client = superClient(address)
  await client.connect()
  await client.query(`create table if not exists quartermaster.test_clock (
      one bigint primary key, ms bigint not null);
    insert into quartermaster.test_clock values (1, 0) on conflict do nothing;
    create or replace function quartermaster.now_ms() returns bigint language sql volatile
    as 'select ms from quartermaster.test_clock'`)
  const inTurn = turnsByName()
  return {
    async set(ms) {
      // The driver wants no statement beside another one on the same connection.
      await inTurn('clock', () => client.query('update quartermaster.test_clock set ms = $1', [ms]))
    },
    close: () => client.end(),
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}
