import type { Caller, Subscriber } from '../accounts/caller.js'
import type { CatalogCtx } from '../catalog/ctx.js'
import type { FflsCtx } from '../ffls/ctx.js'
import type { CompiledRule, RuleIndex } from './rules/compile.js'

export interface ActiveRules {
  /** SHA-256 of the rules; of no rules, before the first import. */
  readonly digest: string
  readonly index: RuleIndex
}

export interface Rules {
  active(): ActiveRules
  /** Those that were not withdrawn; whether one holds on a day, its rule says. */
  overridesOf(subscriber: Subscriber): readonly Override[]
}

export interface Override {
  readonly id: string
  readonly effect: 'allow' | 'block'
  /** Rules that an `allow` lifts. */
  readonly ruleIds: ReadonlySet<string>
  /** What and where it holds for, as a rule says it. */
  readonly rule: CompiledRule
  readonly author: string
  readonly reason: string
  /** The last day, `YYYY-MM-DD`; null for no end. */
  readonly expires: string | null
}

export interface RestrictionsCtx extends CatalogCtx, FflsCtx {
  readonly rules: Rules
}

export interface RestrictionsCall extends RestrictionsCtx, Caller {}
