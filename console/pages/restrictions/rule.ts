/** A rule as pages read it: of the members that a file may have, those that are shown. */
import type { Rule } from '../../../lib/restrictions/rules/rule.js'

export type ShownRule = Pick<Rule, 'rule_id' | 'version' | 'kind'> & Partial<Rule>

/** What a rule is about, in one line. */
export function aboutOf({ match = {} }: ShownRule): string {
  const { attributes = [], ...lists } = match
  return [
    ...Object.values(lists).flatMap((list) => (Array.isArray(list) ? [list.join(', ')] : [])),
    ...attributes.map(({ name, op, value }) => `${name} ${OPS[op] ?? op} ${String(value)}`),
  ].join('; ')
}

const OPS: Readonly<Record<string, string>> = {
  eq: '=',
  ne: '≠',
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
}

/** Where it holds, in one line. */
export function whereOf({ scope }: ShownRule): string {
  const { country = 'US', state, county, city, zip, place } = scope ?? {}
  return [
    state?.join(', ') ?? country,
    county?.join(', '),
    city?.join(', '),
    zip?.join(', '),
    place?.join(', '),
  ]
    .filter(Boolean)
    .join(' · ')
}
