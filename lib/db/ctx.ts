import type { Kysely } from 'kysely'
import type { CoreCtx } from '../core/ctx.js'
import type { Engine } from './engine.js'
import type { Tables } from './tables/tables.js'

export interface DbCtx extends CoreCtx {
  /** The writer; within `atomic`, the transaction. */
  readonly db: Kysely<Tables>
  /** Reads that never wait for a transaction; within `atomic`, the transaction. */
  readonly read: Kysely<Tables>
  readonly engine: Engine
}
