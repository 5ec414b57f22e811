/**
 * The starter set: facts of public law and carriers' policy, dated and graded. Not legal advice;
 * active once it is accepted.
 */
import ammunition from '../../../data/rules/ammunition.json' with { type: 'json' }
import distributors from '../../../data/rules/distributors.json' with { type: 'json' }
import firearms from '../../../data/rules/firearms.json' with { type: 'json' }
import magazines from '../../../data/rules/magazines.json' with { type: 'json' }
import nfa from '../../../data/rules/nfa.json' with { type: 'json' }
import others from '../../../data/rules/others.json' with { type: 'json' }
import { Rule } from './rule.js'

/** The day of its last review. */
const DATE = '2026-11-21'

/** What the set is made of, each a part that can be accepted by itself. */
const FAMILIES = { magazines, firearms, nfa, ammunition, others, distributors } as const

export type StarterFamily = keyof typeof FAMILIES
export const STARTER_FAMILIES = Object.keys(FAMILIES) as StarterFamily[]

/**
 * The rules of some families, of all by default; read and checked anew with each call, since it is
 * used when an operator accepts them.
 */
export function starterRules(families: readonly StarterFamily[] = STARTER_FAMILIES): {
  date: string
  rules: Rule[]
} {
  const parts: readonly unknown[][] = families.map((family) => FAMILIES[family])
  return { date: DATE, rules: parts.flat().map((rule) => Rule.parse(rule)) }
}
