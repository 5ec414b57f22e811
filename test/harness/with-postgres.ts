/** Runs a command beside a PostgreSQL of its own: `with-postgres node --test ...`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { missing, startServer } from './postgres.js'

if (missing !== false) throw new Error(missing)
const server = await startServer()
const [command, ...args] = process.argv.slice(2)
const child = spawn(command!, args, {
  stdio: 'inherit',
  env: { ...process.env, TEST_POSTGRES: server.address() },
})
const [status] = (await once(child, 'exit')) as [number | null]
await server.close()
process.exit(status ?? 1)
