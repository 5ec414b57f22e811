/** What one machine counts and notes beside its system of record, each in a file of its own. */
import type { Metered, RawHandle } from '../metered.js'
import { writerOver } from '../query.js'
import { kyselyOver, rememberStatements, whenFree } from './sqlite.js'
import type { openFile } from './sqlite.js'

export interface MeteredFile<T> extends Metered<T> {
  readonly file: RawHandle
  close(): Promise<void>
}

/** Survives a kill, but not a power cut. */
export function openMetered<T>(path: string, file: typeof openFile): MeteredFile<T> {
  const raw = file(path, { synchronous: 'NORMAL' })
  // A disk error here loses counts: no reason to end the process.
  const db = kyselyOver<T>(raw, () => {})
  const writer = writerOver(raw)
  return {
    db,
    // Within one turn, and so no transaction of several turns is ever open on this handle.
    change: (query, given) => whenFree(() => writer.change(query, ...([given] as never))),
    alone: (ctx, _name, work) => whenFree(() => writer.work(() => work(ctx.now()))),
    file: { raw, prepare: rememberStatements(raw) },
    async close() {
      raw.close()
      await db.destroy()
    },
  }
}
