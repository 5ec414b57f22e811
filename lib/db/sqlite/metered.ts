/** What one machine counts and notes beside its system of record, each in a file of its own. */
import type { Metered, RawHandle } from '../metered.js'
import { kyselyOver, rememberStatements, transact } from './sqlite.js'
import type { Raw, openFile } from './sqlite.js'

export interface MeteredFile<T> extends Metered<T> {
  readonly file: RawHandle
  close(): Promise<void>
}

/** Survives a kill, but not a power cut. */
export function openMetered<T>(path: string, file: typeof openFile): MeteredFile<T> {
  const raw = file(path, { synchronous: 'NORMAL' })
  // Apart: what is written within a turn must not come into a transaction of several.
  const own = file(path, { synchronous: 'NORMAL' })
  const owner = {}
  // A disk error here loses counts: no reason to end the process.
  const db = kyselyOver<T>(own, () => {}, owner)
  return {
    db,
    alone: (ctx, _name, fn) => transact(db, owner, (tx) => fn(tx, ctx.now())),
    file: handleOf(raw),
    async close() {
      for (const handle of [own, raw]) handle.close()
      await db.destroy()
    },
  }
}

const handleOf = (raw: Raw): RawHandle => ({ raw, prepare: rememberStatements(raw) })
