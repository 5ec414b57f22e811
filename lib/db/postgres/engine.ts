/**
 * The engine of a node whose system of record is PostgreSQL, with what nodes count and note together.
 * What is its own, and may be lost, lies in its folder: offers.
 */
import { Kysely } from 'kysely'
import { inTime } from '../../core/async/wait.js'
import { SECOND } from '../../core/clock.js'
import type { Log } from '../../core/log.js'
import { holdFolder } from '../sqlite/folder.js'
import { openOwnFiles } from '../sqlite/own-files.js'
import type { OwnFiles } from '../sqlite/own-files.js'
import type { Engine } from '../engine.js'
import type { Reading } from '../query.js'
import { lookWithin } from '../reading.js'
import { openSnapshotOn } from './snapshot.js'
import { noteTouches } from '../state.js'
import type { StateName } from '../tables/column-types.js'
import type { DecisionTables, MeterTables, Tables } from '../tables/tables.js'
import { openCalls } from './counts/calls.js'
import { watchChanges } from './changes.js'
import { openPostgres } from './connect.js'
import type { Postgres } from './connect.js'
import { openLead } from './lead/lead.js'
import type { NodeClocks } from './lead/lead.js'
import { refuseMoved } from './moved.js'
import { openMemory } from './memory.js'
import { meteredOver, serverTime } from './counts/metered.js'
import { migratePostgres } from './schema.js'

/** Milliseconds for which an answer waits until what it changed is read again. */
const REFRESH = SECOND

export interface PostgresEngineOptions extends NodeClocks {
  dir: string
  /** The text of the database file. */
  address: string
  log: Pick<Log, 'info' | 'warn'>
}

/** Connects, brings the schema up to date, and opens the files of the node. */
export async function openPostgresEngine({
  address,
  ...options
}: PostgresEngineOptions): Promise<Engine> {
  const postgres = await openPostgres(address)
  try {
    await refuseMoved(postgres)
    await migratePostgres(postgres)
    return await engineOver(postgres, options)
  } catch (error) {
    await postgres.close()
    throw error
  }
}

async function engineOver(
  postgres: Postgres,
  options: Omit<PostgresEngineOptions, 'address'>,
): Promise<Engine> {
  const { dir, log } = options
  const lead = openLead(postgres, options)
  const own = ownFiles(dir)
  const look = <T>(read: () => Reading<T>): Promise<T> => lookAt(postgres.read, read)
  const memory = openMemory(look, log)
  let commits = 0
  const changes = await watchChanges({
    postgres,
    log,
    moved(names) {
      commits++
      memory.refreshSoon(names)
    },
    ordersTold: lead.told,
    leaseShown: lead.shown,
  }).catch((error: unknown) => {
    own.close()
    throw error
  })
  const calls = openCalls(postgres)
  const isHere = (what: string) => () => {
    throw new Error(`${what} of the system of record: it is on PostgreSQL`)
  }

  return {
    dir,
    db: postgres.db,
    read: postgres.read,
    fatal: () => {},
    hasFailed: () => false,
    get reader(): never {
      return isHere('there is no handle')()
    },
    look,
    lead,
    remember: memory.remember,
    ready: () => memory.refresh(),
    openSnapshot: () => openSnapshotOn(postgres.read),
    ...own.handles,
    meter: meteredOver<MeterTables>(postgres),
    decisions: meteredOver<DecisionTables>(postgres),
    calls,
    time: ({ db }) => serverTime(db),
    async atomic(ctx, fn, options) {
      if (ctx.db.isTransaction) return fn(ctx)
      let touched: ReadonlySet<StateName> = new Set()
      const result = await postgres.atomic(
        ctx,
        (tx) => {
          touched = noteTouches(tx.db)
          return fn(tx)
        },
        options,
      )
      commits++
      // Whoever changed it finds it changed. But it is committed, whatever becomes of the reading.
      const refreshed = () => memory.refresh(touched).catch(() => memory.refreshSoon(touched))
      await inTime(refreshed, { ms: REFRESH, late: () => {} })
      return result
    },
    version: () => commits,
    catchUp: (name) => memory.refresh([name]),
    lookAgain: own.forgetCatalogVersion,
    isGone: (name) => name === 'catalog' && own.isCatalogGone(),
    rescueRecord: isHere('there is no file'),
    async close() {
      await calls.close()
      await lead.close()
      await changes.close()
      await memory.close()
      own.close()
      await postgres.close()
    },
  }
}

function ownFiles(dir: string): OwnFiles {
  const release = holdFolder(dir, { hasRecord: false })
  try {
    return openOwnFiles(dir)
  } finally {
    release()
  }
}

/** Runs a reading over one state of the database. */
function lookAt<T>(db: Kysely<Tables>, read: () => Reading<T>): Promise<T> {
  // As over SQLite, it may be asked for within a transaction, and sees what is committed.
  return db
    .withoutPlugins()
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute((tx) => lookWithin(tx, read))
}
