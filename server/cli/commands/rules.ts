import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { CLASS_CODES } from '../../../lib/distributors/product-classes.js'
import type { ProductClass } from '../../../lib/distributors/product-classes.js'
import { checkPart } from '../../../lib/core/endpoint/endpoint.js'
import { invalid, isApiError } from '../../../lib/core/errors.js'
import type { Fault } from '../../../lib/core/errors.js'
import { stateCode } from '../../../lib/places/states.js'
import type { StateCode } from '../../../lib/places/states.js'
import { setEnforcement } from '../../../lib/orders/place/enforcement.js'
import { addOverride, withdrawOverride } from '../../../lib/restrictions/rules/overrides.js'
import type { NewOverride } from '../../../lib/restrictions/rules/overrides.js'
import {
  acceptStarter,
  currentRules,
  diffRules,
  importRules,
} from '../../../lib/restrictions/rules/sets.js'
import type { ImportInput, RuleChanges } from '../../../lib/restrictions/rules/sets.js'
import { rulesImpact } from '../../../lib/restrictions/rules/impact.js'
import type { StateImpact } from '../../../lib/restrictions/rules/impact.js'
import { CheckBody } from '../../../lib/restrictions/shapes.js'
import { starterRules } from '../../../lib/restrictions/rules/starter.js'
import type { App } from '../../../lib/app/open.js'
import { findSubscriber } from '../../../lib/accounts/subscribers.js'
import { UsageError, list, optional, required } from '../command.js'
import type { Command, Invocation, Output } from '../command.js'
import { perform, withApp } from '../with-app.js'

function readText(file: string): string {
  if (!existsSync(file)) throw invalid('file', `cannot read ${file}`)
  return readFileSync(file, 'utf8')
}

function classOf(text: string): ProductClass {
  const code = CLASS_CODES.find((known) => known === text.trim().toUpperCase())
  if (!code)
    throw new UsageError(
      `--class "${text}" is not a product class; known are ${CLASS_CODES.join(', ')}`,
    )
  return code
}

function stateOf(text: string): StateCode {
  const code = stateCode(text)
  if (!code) throw new UsageError(`--state "${text}" is not a state; write its two letters`)
  return code
}

/** New rules that are named one by one; a whole set would hide what else is said. */
const MOST_NAMED = 30

function showChanges(
  out: Output,
  { added, changed, removed, unchanged, replaced, kept }: RuleChanges,
): void {
  if (added.length > MOST_NAMED)
    out.line(
      `+ ${added.length} rules; --json names each, and rules list shows those that are active`,
    )
  for (const [mark, ids] of [
    ['+', added.length > MOST_NAMED ? [] : added],
    ['~', changed],
    ['-', removed],
  ] as const)
    for (const id of ids) out.line(`${mark} ${id}`)
  // Where a rule stays as it was, its version is replaced by itself.
  const versions = (some: readonly string[]) =>
    some
      .filter((version) => changed.includes(version.slice(0, version.lastIndexOf(' '))))
      .join(', ')
  if (versions(replaced) !== '') out.line(`Versions replaced: ${versions(replaced)}.`)
  if (versions(kept) !== '')
    out.line(`Versions that hold on beside the new ones: ${versions(kept)}.`)
  out.line(
    `${added.length} added, ${changed.length} changed, ${removed.length} removed, ${unchanged} as they were.`,
  )
}

function showImpact(
  out: Output,
  { offers, states }: { offers: number; states: StateImpact[] },
): void {
  if (offers === 0) return out.line('There is no catalog yet to compare with.')
  if (states.length === 0)
    return out.line(
      `For none of the ${offers.toLocaleString('en-US')} offers anything changes in any state.`,
    )
  out.table(
    states.map(({ state, before, after, changed }) => ({
      state,
      changed,
      blocked: `${before.blocked} -> ${after.blocked}`,
      held: `${before.held} -> ${after.held}`,
      approved: `${before.approved} -> ${after.approved}`,
    })),
  )
}

async function takeRules(
  invocation: Invocation,
  change: (app: App) => ImportInput | null,
): Promise<void> {
  const { dir, out, dryRun } = invocation
  await withApp(dir, async (app) => {
    const input = change(app)
    const result = await perform(app, dryRun, (ctx) =>
      input ? importRules(ctx, input) : acceptStarter(ctx),
    )
    showChanges(out, result)
    out.line(
      dryRun
        ? `The active set would have ${result.rules} rules.`
        : `${result.rules} rules are active, digest ${result.digest.slice(0, 12)}.`,
    )
    out.result({ ...result, dry_run: dryRun })
  })
}

async function diff({ dir, args: [file], values, out }: Invocation): Promise<void> {
  await withApp(dir, async (app) => {
    await app.ctx.catalog.refresh()
    const { rules, ...changes } =
      file === undefined
        ? starterDiff(app)
        : diffRules(app.ctx, { text: readText(file), replace: values['replace'] === true })
    const impact = await rulesImpact(app.ctx, rules)
    showChanges(out, changes)
    showImpact(out, impact)
    out.result({ ...changes, impact })
  })
}

function starterDiff(app: App) {
  return diffRules(app.ctx, { text: JSON.stringify(starterRules().rules) })
}

async function test({ dir, values, out }: Invocation): Promise<number> {
  const [body, asOf] = [bodyOf(values), optional(values, 'as-of')]
  return withApp(dir, async (app) => {
    await app.ctx.catalog.refresh()
    const subscriber = await subscriberOf(app, optional(values, 'subscriber'))
    const result = await app.operator.rules
      .test(subscriber, { ...body, ...(asOf !== undefined && { asOf }) })
      .catch((error: unknown) => {
        throw misused(error)
      })
    const [judged] = result.items
    const active = app.ctx.rules.active().index.rules.length
    if (active === 0)
      out.line(
        'No rule is active, so nothing but a destination abroad is held; `rules accept` or `rules import` makes some active.',
      )
    out.line(
      judged!.approved
        ? 'Approved.'
        : judged!.blocking_rules.length > 0
          ? 'Blocked.'
          : 'Held for a person to decide.',
    )
    for (const [name, rules] of [
      ['blocks', judged!.blocking_rules],
      ['needs a decision', judged!.manual_review],
      ['warns', judged!.warnings],
    ] as const) {
      for (const rule of rules)
        out.line(
          `  ${rule.rule_id} ${name}: ${rule.reason}${rule.would_change.length > 0 ? ` (not for ${rule.would_change.join(', or ')})` : ''}`,
        )
    }
    out.result({ ...result, active_rules: active })
    return judged!.approved ? 0 : 1
  })
}

/** What the options ask, of the shapes that the endpoint takes: what it refuses is refused here. */
function bodyOf(values: Invocation['values']): CheckBody {
  const attributes = Object.fromEntries(
    list(values, 'attribute').map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) throw new UsageError(`--attribute "${pair}" must be NAME=VALUE`)
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
  const text = (name: string) => optional(values, name)
  const [state, country, productClass] = [
    required(values, 'state', TEST),
    text('country'),
    text('class'),
  ]
  const isAbroad = country !== undefined && country.toUpperCase() !== 'US'
  const shipping = {
    state: isAbroad ? state : stateOf(state),
    city: text('city'),
    county: text('county'),
    zip: text('zip'),
    country,
  }
  const item = {
    upc: text('upc'),
    sku: text('sku'),
    distid: text('distid'),
    product_class: productClass === undefined ? undefined : classOf(productClass),
    category: text('category'),
    attributes,
  }
  const faults: Fault[] = []
  const body = checkPart(CheckBody, { shipping, items: [item], target: 'rules test' }, faults)
  if (faults.length > 0) throw misusedBy(faults)
  return body
}

/** A refusal of what the options say, in their words; any other error as it is. */
function misused(error: unknown): unknown {
  return isApiError(error) && error.code === 'invalid_parameter' && Array.isArray(error.details)
    ? misusedBy(error.details as Fault[])
    : error
}

function misusedBy(faults: readonly Fault[]): UsageError {
  return new UsageError(
    faults.map(({ path, message }) => `${optionOf(path)} ${message}`).join('; '),
  )
}

/** The option that a member of the request comes from. */
function optionOf(path: string): string {
  const member = path.replace(/^(shipping|items\[0\])\./, '')
  if (member.startsWith('attributes'))
    return ['--attribute', member.slice('attributes'.length).replace(/^\./, '')].join(' ').trim()
  return `--${({ asOf: 'as-of', product_class: 'class' } as Record<string, string>)[member] ?? member}`
}

async function subscriberOf(app: App, name: string | undefined): Promise<string> {
  if (name !== undefined) return name
  const shops = await app.operator.subscribers.list()
  if (shops.length !== 1)
    throw new UsageError(
      shops.length === 0
        ? 'there is no subscriber yet; `subscribers create` makes one'
        : `--subscriber is missing: ${shops.map((shop) => shop.name).join(', ')}`,
    )
  return shops[0]!.id
}

async function override(invocation: Invocation): Promise<void> {
  const { dir, values, out, dryRun } = invocation
  const withdrawn = optional(values, 'withdraw')
  await withApp(dir, async (app) => {
    if (withdrawn !== undefined) {
      await perform(app, dryRun, (ctx) => withdrawOverride(ctx, withdrawn))
      out.line(`Override ${withdrawn} ${dryRun ? 'would end' : 'has ended'}.`)
      return out.result({ id: withdrawn, withdrawn: true, dry_run: dryRun })
    }
    const shop = await findSubscriber(
      app.ctx,
      await subscriberOf(app, optional(values, 'subscriber')),
    )
    const { id } = await perform(app, dryRun, (ctx) => addOverride(ctx, shop, overrideOf(values)))
    out.line(dryRun ? 'The override would hold.' : `Override ${id} holds for ${shop.name}.`)
    out.result({ ...(!dryRun && { id }), subscriber: shop.name, dry_run: dryRun })
  })
}

function overrideOf(values: Invocation['values']): NewOverride {
  const allow = list(values, 'allow')
  const states = list(values, 'state').map(stateOf)
  const some = (name: string) => (list(values, name).length > 0 ? list(values, name) : undefined)
  const match = {
    ...(some('upc') && { upc: some('upc') }),
    ...(some('sku') && { sku: some('sku') }),
    ...(some('class') && { product_class: list(values, 'class').map(classOf) }),
    ...(some('category') && { category: some('category') }),
  }
  return {
    effect: allow.length > 0 ? 'allow' : 'block',
    rule_ids: allow,
    match,
    scope: { country: 'US', ...(states.length > 0 && { state: states }) },
    destination: 'any',
    author: required(values, 'author', OVERRIDE),
    reason: required(values, 'reason', OVERRIDE),
    expires: optional(values, 'expires') ?? null,
  }
}

async function enforce({ dir, args: [word], values, out, dryRun }: Invocation): Promise<void> {
  if (word !== 'on' && word !== 'off') throw new UsageError('say on or off')
  const on = word === 'on'
  const reason = on ? (optional(values, 'reason') ?? null) : required(values, 'reason', ENFORCE)
  await withApp(dir, async (app) => {
    const { before } = await perform(app, dryRun, (ctx) => setEnforcement(ctx, { on, reason }))
    const what = on
      ? 'an order that a rule blocks is refused'
      : 'an order that a rule blocks is placed'
    out.line(
      before === on
        ? `It stays as it was: ${what}.`
        : `${dryRun ? 'From then on' : 'From now on'} ${what}.`,
    )
    out.result({ on, before, dry_run: dryRun })
  })
}

const ENFORCE =
  'quartermaster rules enforce off --reason "counsel decides every order by hand until March"'
const TEST =
  'quartermaster rules test --state CA --zip 90210 --class MG --attribute magazine_capacity=30'
const OVERRIDE =
  'quartermaster rules override --allow us-ca-magazine-10 --state CA --upc 012345678905 --author "J. Doe" --reason "exempt: law enforcement" --expires 2027-06-30'
const REPLACE = { replace: { type: 'boolean' } } as const
const REPLACE_HELP = {
  '<FILE>': 'JSON: a list of rules, or a rule a line',
  replace: 'drop every rule that the file does not have',
}
const FORCE = { force: { type: 'boolean' } } as const
const many = { type: 'string', multiple: true } as const
const one = { type: 'string' } as const

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
      takeRules(invocation, () => ({
        text: readText(invocation.args[0]!),
        origin: basename(invocation.args[0]!),
        replace: invocation.values['replace'] === true,
        refuseEmpty: invocation.values['force'] !== true,
      })),
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
          `The starter set of ${date} has ${rules.length} rules, gathered from public law and carriers' policy. It is not legal advice: have a lawyer look at it.`,
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
        const rules = currentRules(app.ctx).filter(
          ({ scope, match }) =>
            (state === undefined || !scope.state || scope.state.includes(state)) &&
            (productClass === undefined ||
              !match.product_class ||
              match.product_class.includes(productClass)),
        )
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
      'What importing a file, or accepting the starter set, would change: rules, and offers state by state',
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
