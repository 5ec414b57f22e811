import type { Caller } from '../accounts/caller.js'
import type { AccountsCtx } from '../accounts/ctx.js'
import type { Mode } from '../db/tables/column-types.js'
import type { Registry } from './registry.js'
import type { OperatorEgress } from './session/egress.js'
import type { Logins } from './session/logins.js'

export interface Modes {
  of(distid: string): Mode
  /** Over all distributors that orders can be placed with: what `X-Service-Mode` says. */
  readonly service: Mode | 'mixed'
}

export interface DistributorsCtx extends AccountsCtx {
  readonly distributors: Registry
  readonly modes: Modes
  readonly logins: Logins
  readonly egress: OperatorEgress
}

export interface DistributorsCall extends DistributorsCtx, Caller {}
