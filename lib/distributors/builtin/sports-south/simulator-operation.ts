/** An operation of Sports South's simulator: what it is given, and what it answers. */
import type { Handled, WireRequest } from '../../../simulator/wire/http-simulator.js'
import type { Caller } from '../../../simulator/wire/posted-order.js'
import type { Row } from './api.js'

/** One call, and who makes it. */
export interface Call extends Caller {
  /** Which order of this app it is about, where it is about one; and its first call or not. */
  readonly visit: WireRequest['visit']
  readonly isFirst: boolean
  /** What was given, by name. */
  field(name: string): string
}

/** What an operation answers, before it is written as a document. */
export type Told =
  | { readonly int: string }
  | { readonly boolean: boolean }
  | { readonly string: string }
  | { readonly rows: readonly Row[]; readonly element?: string }
  | { readonly down: true }

export interface Operation {
  /** Besides the login, in any order. */
  readonly params: readonly string[]
  act(call: Call): { told: Told; fault?: Handled['fault'] }
}
