/**
 * Takes the place of lib/app/record.ts where suites run on PostgreSQL: each state folder has a
 * database of its own, and a copy of a folder a copy of it.
 */
import { createHash } from 'node:crypto'
import { readFileSync, realpathSync, writeFileSync, existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { RecordOptions } from '../../lib/app/record.js'
import type { Engine } from '../../lib/db/engine.js'
import { removeNode } from '../../lib/app/nodes/queries.js'
import { pause } from '../../lib/core/async/wait.js'
import type { Client } from '../../lib/db/postgres/driver.js'
import { openPostgresEngine } from '../../lib/db/postgres/engine.js'
import { superClient, testClock } from './postgres.js'

/** A database that has the schema, of which those of new folders are copies. */
export const TEMPLATE = 'with_schema'

/** The server that the run of the suites has started. */
function serverAddress(): string {
  const address = process.env['TEST_POSTGRES']
  if (address === undefined) throw new Error('npm test -- --postgres starts the server')
  return address
}

export async function openRecord({ dir, log, random, now }: RecordOptions): Promise<Engine> {
  const address = new URL(serverAddress())
  address.pathname = `/${await databaseOf(dir)}`
  // Clocks that no test moves: a lease lasts, as long as its holder does.
  const clocks = { now: Date.now, monotonic: () => performance.now() }
  const engine = await openPostgresEngine({ dir, address: address.href, log, random, ...clocks })
  await ledByAnybody(engine)
  return withClock(await noted(engine), address.href, now)
}

/** Stands for the lead, and waits until it has it, or another app of the folder does. */
async function ledByAnybody({ db, lead }: Engine): Promise<void> {
  lead!.stand()
  while (lead!.epoch === null) {
    const { rows } = await sql<{ owner: string }>`select owner from lease`.execute(db)
    if (rows.some(({ owner }) => owner !== lead!.node)) return
    await pause(10)
  }
}

/**
 * The node is noted as its server would note it, so that it may take feeds in where it leads; by no
 * clock of a suite it is gone.
 */
async function noted(engine: Engine): Promise<Engine> {
  const { db, dir, lead, close } = engine
  await sql`insert into node values (${lead!.node}, ${hostname()}, ${dir}, ${process.pid}, '', 0,
    ${Date.UTC(2100, 0)}, 0, null)`.execute(db)
  return Object.defineProperties(engine, {
    close: {
      async value() {
        await removeNode(db, lead!.node).catch(() => {})
        await close()
      },
    },
  })
}

/** The server has the clock of the suite: it is set whenever somebody may ask for it. */
async function withClock(engine: Engine, address: string, now: () => number): Promise<Engine> {
  const clock = await testClock(address)
  const { meter, calls, close } = engine
  return Object.defineProperties(engine, {
    time: { value: async ({ now: own }: { now(): number }) => own() },
    meter: {
      value: {
        ...meter,
        alone: (ctx, name, work) => meter.alone(ctx, name, () => work(ctx.now())),
      } satisfies Engine['meter'],
    },
    calls: {
      value: {
        async count(call) {
          await clock.set(now())
          return calls!.count(call)
        },
      } satisfies Engine['calls'],
    },
    close: {
      async value() {
        await close()
        await clock.close()
      },
    },
  })
}

/** A folder knows its database; one that was copied from another gets a copy of that one's. */
async function databaseOf(dir: string): Promise<string> {
  const note = join(dir, 'database')
  const name = `t${createHash('sha256').update(realpathSync(dir)).digest('hex').slice(0, 24)}`
  const known = existsSync(note) ? readFileSync(note, 'utf8') : null
  if (known === name) return name
  const client = superClient(serverAddress())
  await client.connect()
  try {
    await dropUnused(client)
    await client.query(`drop database if exists ${name} with (force)`)
    await client.query(`create database ${name} template ${known ?? TEMPLATE} strategy file_copy`)
  } finally {
    await client.end()
  }
  writeFileSync(note, name)
  made.set(name, note)
  return name
}

/** Databases that this process has made, by the note in their folder. */
const made = new Map<string, string>()

/** Drops those whose folder is gone: of all suites together they would fill a disk. */
async function dropUnused(client: Client): Promise<void> {
  for (const [name, note] of made) {
    if (existsSync(note)) continue
    await client.query(`drop database if exists ${name} with (force)`)
    made.delete(name)
  }
}
