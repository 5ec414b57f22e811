/** Runs a command beside a PostgreSQL of its own: `with-postgres node --test ...`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { openPostgres } from '../../lib/db/postgres/connect.js'
import { migratePostgres } from '../../lib/db/postgres/schema.js'
import { missing, startServer } from './postgres.js'
import { TEMPLATE } from './record-on-postgres.js'

/** A database for each folder is a thousand files: in memory it is made in a third of the time. */
const MEMORY = '/dev/shm'
const hasRoom = (place: string): boolean => {
  if (!existsSync(place)) return false
  const { bavail, bsize } = statfsSync(place)
  return bavail * bsize > 4 * 2 ** 30
}

if (missing !== false) throw new Error(missing)
const server = await startServer({
  settings: ['max_connections=500', 'max_wal_size=256MB'],
  place: hasRoom(MEMORY) ? MEMORY : tmpdir(),
})
await server.run(server.address(), `create database ${TEMPLATE} template template0 encoding 'UTF8'`)
const template = await openPostgres(server.address({ database: TEMPLATE }))
await migratePostgres(template)
await template.close()
const [command, ...args] = process.argv.slice(2)
const child = spawn(command!, args, {
  stdio: 'inherit',
  env: { ...process.env, TEST_POSTGRES: server.address() },
})
// Whoever ends it early leaves no server behind, and no files in memory.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
const [status] = (await once(child, 'exit')) as [number | null]
await server.close()
process.exit(status ?? 1)
