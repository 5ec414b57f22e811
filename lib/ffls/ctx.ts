import type { Caller } from '../accounts/caller.js'
import type { DistributorsCtx } from '../distributors/ctx.js'
import type { ObjectStore } from '../objects/store.js'
import type { Dealers } from './directory.js'

export interface FflsCtx extends DistributorsCtx {
  readonly dealers: Dealers
  /** Where files are kept that callers download. */
  readonly objects: ObjectStore
}

export interface FflsCall extends FflsCtx, Caller {}
