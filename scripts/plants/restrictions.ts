/** Bugs of the restriction rules. */
import type * as Check from '../../lib/restrictions/check.js'
import type * as Destination from '../../lib/restrictions/destination.js'
import type * as Evaluate from '../../lib/restrictions/evaluate.js'
import type * as ItemFacts from '../../lib/restrictions/item-facts.js'
import type * as Overrides from '../../lib/restrictions/rules/overrides.js'
import type * as Predicates from '../../lib/restrictions/rules/predicates.js'
import type { Plant } from './seam.js'

export const RESTRICTIONS: readonly Plant[] = [
  {
    name: 'a rule that may apply does not',
    suites: ['restrictions/check', 'restrictions/holes'],
    seams: [
      {
        at: 'lib/restrictions/evaluate.ts#evaluate',
        make:
          (real: typeof Evaluate.evaluate): typeof real =>
          (rule, item, place) => {
            const finding = real(rule, item, place)
            return finding?.certain ? finding : null
          },
      },
    ],
  },
  {
    name: 'a rule that may apply does',
    suites: ['restrictions/check', 'restrictions/holes'],
    seams: [
      {
        at: 'lib/restrictions/evaluate.ts#evaluate',
        make:
          (real: typeof Evaluate.evaluate): typeof real =>
          (rule, item, place) => {
            const finding = real(rule, item, place)
            return finding && { ...finding, certain: true }
          },
      },
    ],
  },
  {
    name: 'military mail is mail',
    suites: ['restrictions/check', 'restrictions/holes', 'restrictions/starter-rules'],
    seams: [
      {
        at: 'lib/restrictions/destination.ts#placeOf',
        make:
          (real: typeof Destination.placeOf): typeof real =>
          (...args) => {
            const place = real(...args)
            return {
              ...place,
              kinds: new Set([...place.kinds].filter((kind) => kind !== 'military')),
            }
          },
      },
    ],
  },
  {
    name: 'a city is only itself in one spelling',
    suites: ['restrictions/check', 'restrictions/holes', 'restrictions/rules'],
    seams: [
      {
        at: 'lib/restrictions/destination.ts#isInCity',
        make: (): typeof Destination.isInCity => (place, _state, wanted) =>
          place.city === null ? null : place.city === wanted,
      },
    ],
  },
  {
    name: 'an override holds for ever',
    suites: ['restrictions/check', 'restrictions/sets', 'restrictions/rules', 'restrictions/holes'],
    seams: [
      {
        at: 'lib/restrictions/rules/overrides.ts#applyOverrides',
        make:
          (real: typeof Overrides.applyOverrides): typeof real =>
          (lists, overrides, item, when) =>
            real(
              lists,
              overrides.map((override) => ({
                ...override,
                rule: { ...override.rule, rule: { ...override.rule.rule, effective_to: null } },
              })),
              item,
              when,
            ),
      },
    ],
  },
  {
    name: 'an override lifts every rule',
    suites: ['restrictions/check', 'restrictions/sets', 'restrictions/rules', 'restrictions/holes'],
    seams: [
      {
        at: 'lib/restrictions/rules/overrides.ts#applyOverrides',
        make:
          (real: typeof Overrides.applyOverrides): typeof real =>
          (lists, overrides, ...rest) => {
            const every = new Set(
              [...lists.blocking_rules, ...lists.manual_review].map(({ rule_id: id }) => id),
            )
            return real(
              lists,
              overrides.map((override) =>
                override.effect === 'allow' ? { ...override, ruleIds: every } : override,
              ),
              ...rest,
            )
          },
      },
    ],
  },
  {
    name: 'a feature that is not told of is not there',
    suites: ['restrictions/check', 'restrictions/holes', 'restrictions/rules'],
    seams: [
      {
        at: 'lib/restrictions/rules/predicates.ts#askFact',
        make:
          (real: typeof Predicates.askFact): typeof real =>
          (ready, fact) =>
            real(ready, fact) ?? false,
      },
    ],
  },
  {
    name: 'the catalog is not asked what an item is',
    suites: ['restrictions/check', 'restrictions/holes'],
    seams: [
      {
        at: 'lib/restrictions/item-facts.ts#itemFacts',
        make:
          (real: typeof ItemFacts.itemFacts): typeof real =>
          (item, sources, to) =>
            real(item, { ...sources, snapshot: null }, to),
      },
    ],
  },
  {
    name: 'an item that a rule blocks is approved with a warning',
    suites: ['restrictions/check', 'restrictions/rules'],
    seams: [
      {
        at: 'lib/restrictions/check.ts#checkRestrictions',
        make:
          (real: typeof Check.checkRestrictions): typeof real =>
          async (...args) => {
            const { items } = await real(...args)
            return {
              approved: true,
              items: items.map((item) => ({
                ...item,
                approved: true,
                blocking_rules: [],
                warnings: [...item.blocking_rules, ...item.warnings],
              })),
            }
          },
      },
    ],
  },
]
