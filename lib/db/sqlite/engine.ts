/** The engine of an installation that has everything in one folder. */
import type { Engine } from '../engine.js'
import { filesIn } from './folder.js'
import { openMetered } from './metered.js'
import { oncePerTurn, openOwnFiles } from './own-files.js'
import { readerOver, snapshotOver } from '../query.js'
import { fileAt, rescueNow } from './rescue.js'
import { kyselyOver, openFile, transact } from './sqlite.js'
import type { Raw } from './sqlite.js'
import { rememberedOver } from '../state.js'
import type { DecisionTables, MeterTables, Tables } from '../tables/tables.js'

/**
 * Opens every handle, or leaves none open. `tell` is told of a disk error of the system of record
 * and is expected to end the process.
 */
export function openEngine(dir: string, tell: (error: unknown) => void): Engine {
  const opened: Raw[] = []
  try {
    return engineOver(dir, tell, (path, options) => {
      const raw = openFile(path, options)
      opened.push(raw)
      return raw
    })
  } catch (error) {
    for (const raw of opened.reverse()) raw.close()
    throw error
  }
}

function engineOver(dir: string, tell: (error: unknown) => void, file: typeof openFile): Engine {
  let failed = false
  const fatal = (error: unknown) => {
    failed = true
    tell(error)
  }
  const files = filesIn(dir)
  const writer = file(files.record, { synchronous: 'FULL' })
  const reader = file(files.record, { synchronous: 'FULL', readonly: true })
  const rawReader = file(files.record, { synchronous: 'FULL', readonly: true })
  const meter = openMetered<MeterTables>(files.meter, file)
  const decisions = openMetered<DecisionTables>(files.decisions, file)
  const own = openOwnFiles(dir, file)
  const place = fileAt(files.record)
  const records = readerOver(rawReader)
  const owner = {}
  const db = kyselyOver<Tables>(writer, fatal, owner)
  const read = kyselyOver<Tables>(reader, fatal)
  const version = oncePerTurn(rawReader.prepare('PRAGMA data_version').pluck())

  return {
    dir,
    db,
    read,
    lead: null,
    fatal,
    hasFailed: () => failed,
    reader: records,
    look: async (read) => records.run(read),
    remember: (name, load) => rememberedOver(records, version.read, { name, load }),
    // It is read when it is asked for.
    ready: async () => {},
    openSnapshot: async () =>
      snapshotOver(openFile(files.record, { synchronous: 'FULL', readonly: true })),
    ...own.handles,
    meter,
    decisions,
    calls: null,
    time: async ({ now }) => now(),
    async atomic(ctx, fn) {
      if (ctx.db.isTransaction) return fn(ctx)
      const result = await transact(db, owner, (tx) => fn({ ...ctx, db: tx, read: tx }))
      version.forget()
      return result
    },
    version: version.read,
    catchUp: () => null,
    lookAgain() {
      version.forget()
      own.forgetCatalogVersion()
    },
    isGone: (name) => (name === 'catalog' ? own.isCatalogGone() : fileAt(files.record) !== place),
    rescueRecord: (now) => rescueNow(rawReader, files.record, now),
    async close() {
      // Readers first: a reader that closes last leaves -wal and -shm behind.
      for (const raw of [rawReader, reader, writer]) raw.close()
      own.close()
      await Promise.all([meter.close(), decisions.close(), db.destroy(), read.destroy()])
    },
  }
}
