/** The commands of the restriction rules. */
import { basename } from 'node:path'
import { findRules } from '../../../../lib/restrictions/rules/active-rules.js'
import { starterRules } from '../../../../lib/restrictions/rules/starter.js'
import { argument, optional } from '../../command.js'
import type { Command } from '../../command.js'
import { withApp } from '../../with-app.js'
import { ENFORCE, OVERRIDE, enforce, override } from './overrides.js'
import { diff, readText, takeRules } from './sets.js'
import { TEST, test } from './test.js'
import { classOf, stateOf } from './values.js'

const REPLACE = { replace: { type: 'boolean' } } as const

const REPLACE_HELP = {
  '<FILE>': 'JSON: a list of rules, or a rule a line',
  replace: 'drop every rule that the file does not have',
}

const FORCE = { force: { type: 'boolean' } } as const

const many = { type: 'string', multiple: true } as const

export const one = { type: 'string' } as const

export const ruleCommands: Command[] = [
  {
    name: 'rules import',
    summary: 'Take in restriction rules, which are active at once',
    effect: 'writes',
    positionals: ['<FILE>'],
    options: { ...REPLACE, ...FORCE },
    help: { ...REPLACE_HELP, force: 'take an empty list, which with --replace leaves no rule' },
    example: 'quartermaster rules import ./rules.json',
    run: (invocation) =>
      takeRules(invocation, () => {
        const file = argument(invocation.args, 0)
        return {
          text: readText(file),
          origin: basename(file),
          replace: invocation.values['replace'] === true,
          refuseEmpty: invocation.values['force'] !== true,
        }
      }),
  },
  {
    name: 'rules accept',
    summary: 'Make the starter set active; it is not legal advice',
    effect: 'writes',
    example: 'quartermaster rules accept',
    run: (invocation) =>
      takeRules(invocation, () => {
        const { rules, date } = starterRules()
        invocation.out.line(
          `The starter set of ${date} has ${rules.length} rules, gathered from public law ` +
            "and carriers' policy. It is not legal advice: have a lawyer look at it.",
        )
        return null
      }),
  },
  {
    name: 'rules list',
    summary: 'The active rules',
    effect: 'reads',
    options: { state: one, class: one },
    help: {
      state: 'only those that name this state, or none',
      class: 'only those that name this product class, or none',
    },
    example: 'quartermaster rules list --state CA --class MG',
    run: ({ dir, values, out }) =>
      withApp(dir, async (app) => {
        const [stateText, classText] = [optional(values, 'state'), optional(values, 'class')]
        const state = stateText === undefined ? undefined : stateOf(stateText)
        const productClass = classText === undefined ? undefined : classOf(classText)
        const rules = findRules(app.ctx, { state, productClass })
        out.table(
          rules.map(
            ({
              rule_id,
              version,
              kind,
              scope,
              match,
              destination,
              legal_status,
              confidence,
              reviewed,
            }) => ({
              rule_id,
              version,
              kind,
              states: scope.state ?? null,
              classes: match.product_class ?? null,
              destination,
              legal_status,
              confidence,
              reviewed,
            }),
          ),
        )
        out.result({ digest: app.ctx.rules.active().digest, rules })
      }),
  },
  {
    name: 'rules test',
    summary: 'Check one item against one destination, and say why',
    effect: 'reads',
    options: {
      subscriber: one,
      state: one,
      city: one,
      county: one,
      zip: one,
      country: one,
      upc: one,
      sku: one,
      distid: one,
      class: one,
      category: one,
      attribute: many,
      'as-of': one,
    },
    help: {
      subscriber: 'whose overrides hold; the only one by default',
      attribute: 'NAME=VALUE; may be repeated',
      'as-of': 'the day whose law holds, YYYY-MM-DD; today by default',
    },
    example: TEST,
    run: test,
  },
  {
    name: 'rules diff',
    summary:
      'What importing a file, or accepting the starter set, would change: rules, and ' +
      'offers state by state',
    effect: 'reads',
    positionals: ['[FILE]'],
    options: REPLACE,
    help: { '[FILE]': 'the starter set where none is given', replace: REPLACE_HELP.replace },
    example: 'quartermaster rules diff ./rules.json',
    run: diff,
  },
  {
    name: 'rules override',
    summary: 'Lift rules for a subscriber, or block something for it',
    effect: 'writes',
    options: {
      subscriber: one,
      allow: many,
      state: many,
      upc: many,
      sku: many,
      class: many,
      category: many,
      author: one,
      reason: one,
      expires: one,
      withdraw: one,
    },
    help: {
      subscriber: 'name or id; the only one by default',
      allow: 'rule_id that is lifted; without it the items are blocked',
      state: 'only there; may be repeated',
      upc: 'only for it; may be repeated',
      author: 'who answers for it',
      reason: 'why',
      expires: 'the last day, YYYY-MM-DD',
      withdraw: 'id of an override that ends now',
    },
    example: OVERRIDE,
    run: override,
  },
  {
    name: 'rules enforce',
    summary: 'Whether an order that a rule blocks is refused: on by default',
    effect: 'writes',
    positionals: ['<on|off>'],
    options: { reason: one },
    help: {
      '<on|off>': 'off places such orders; the pre-flight and the check still tell of the rules',
      reason: 'why; needed for off',
    },
    example: ENFORCE,
    run: enforce,
  },
]
