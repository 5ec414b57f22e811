/**
 * One rule against one item and one destination. Every predicate is true, false, or not known: a rule that is false in
 * any of them does not apply; one that is not known in some may apply, and then a person decides (decisions 7.3).
 */
import type { AttributeValue } from './attributes.js'
import type { CompiledRule } from './compile.js'
import type { Condition } from './conditions.js'
import type { Place, Possible } from './destination.js'

/** A list of values for each source that tells of an attribute; where they differ, any may be true. */
export type AttributeFact = readonly (readonly AttributeValue[])[]

export interface ItemFacts {
  /** GTIN-14 values. */
  readonly upc: Possible<number>
  /** Lower case. */
  readonly sku: Possible<string>
  readonly distid: Possible<string>
  readonly productClass: Possible<string>
  /** Lower case. */
  readonly category: Possible<string>
  /** By the names that rules use. */
  readonly attributes: ReadonlyMap<string, AttributeFact>
  readonly destination: Possible<'consumer' | 'ffl'>
}

export interface Finding {
  readonly rule: CompiledRule
  /** False: the rule may apply; what is missing would tell. */
  readonly certain: boolean
  /** The predicates that held, with the values that they met. */
  readonly met: string[]
  /** Facts that are not known. */
  readonly missing: string[]
}

/** Null when the rule does not apply. Most rules end at an early condition: only what applies is put into words. */
export function evaluate(rule: CompiledRule, item: ItemFacts, place: Place): Finding | null {
  let open: Condition[] | null = null
  for (const condition of rule.conditions) {
    const answer = condition.answer(item, place)
    if (answer === false) return null
    if (answer === null) (open ??= []).push(condition)
  }
  const met = rule.conditions.filter((condition) => !open?.includes(condition)).map((condition) => condition.met(item, place)).filter((words) => words !== null)
  return { rule, certain: open === null, met, missing: open?.map((condition) => condition.missing(item, place)) ?? [] }
}
