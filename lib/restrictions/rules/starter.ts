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

/** Read and checked anew with each call; it is used when an operator accepts it. */
export function starterRules(): { date: string; rules: Rule[] } {
  const files: unknown[][] = [magazines, firearms, nfa, ammunition, others, distributors]
  return { date: DATE, rules: files.flat().map((rule) => Rule.parse(rule)) }
}
