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
import { carriesOut } from '../../operation-help.js'
import { ruleOperations } from '../../../../lib/restrictions/operations.js'
import { orderOperations } from '../../../../lib/orders/operations.js'

const REPLACE = { replace: { type: 'boolean' } } as const

const FORCE = { force: { type: 'boolean' } } as const

const many = { type: 'string', multiple: true } as const

export const one = { type: 'string' } as const

/** Options that set members of a member, by the same names. */
const within = (member: string, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, `${member}.${name}`]))

export const ruleCommands: Command[] = [
  carriesOut(ruleOperations, 'rules.import', {
    name: 'rules import',
    effect: 'writes',
    positionals: ['<FILE>'],
    options: { ...REPLACE, ...FORCE },
    members: { '<FILE>': 'text' },
    help: { force: 'take an empty list, which with --replace leaves no rule' },
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
  }),
  carriesOut(ruleOperations, 'rules.accept', {
    name: 'rules accept',
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
  }),
  carriesOut(ruleOperations, 'rules.list', {
    name: 'rules list',
    effect: 'reads',
    options: { state: one, class: one },
    members: { class: 'product_class' },
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
  }),
  carriesOut(ruleOperations, 'rules.test', {
    name: 'rules test',
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
    members: {
      ...within('shipping', ['state', 'city', 'county', 'zip', 'country']),
      ...within('items', ['upc', 'sku', 'distid', 'category']),
      class: 'items.product_class',
    },
    adds: { subscriber: 'whose overrides hold; the only one by default' },
    help: { attribute: 'NAME=VALUE' },
    example: TEST,
    run: test,
  }),
  carriesOut(ruleOperations, 'rules.diff', {
    name: 'rules diff',
    effect: 'reads',
    positionals: ['[FILE]'],
    options: REPLACE,
    note: 'of the starter set where no file is given',
    members: { '[FILE]': 'text' },
    adds: { '[FILE]': 'the starter set where none is given' },
    example: 'quartermaster rules diff ./rules.json',
    run: diff,
  }),
  carriesOut(ruleOperations, 'rules.override', {
    name: 'rules override',
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
    acts: { withdraw: 'rules.withdraw' },
    members: { allow: 'rule_ids', withdraw: 'id' },
    adds: { subscriber: 'the only one by default', allow: 'without it the items are blocked' },
    help: {
      state: 'only there',
      upc: 'only for it',
      sku: 'only for it',
      class: 'only for items of this product class',
      category: 'only for items of it',
    },
    example: OVERRIDE,
    run: override,
  }),
  carriesOut(orderOperations, 'rules.enforce', {
    name: 'rules enforce',
    effect: 'writes',
    positionals: ['<on|off>'],
    options: { reason: one },
    note: 'they are refused by default',
    members: { '<on|off>': 'on' },
    example: ENFORCE,
    run: enforce,
  }),
]
