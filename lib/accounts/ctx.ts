import type { DbCtx } from '../db/ctx.js'
import type { Caller, Subscriber } from './caller.js'
import type { Limits } from './limits/limits.js'

export interface AccountsCtx extends DbCtx {
  readonly limits: Limits
}

export interface AccountsCall extends AccountsCtx, Caller {
  /** What the account's answer tells of the subscriber's document. */
  readonly configurations: {
    of(subscriber: Subscriber): {
      readonly document: { readonly distributors: Readonly<Record<string, { active: boolean }>> }
    }
  }
}
