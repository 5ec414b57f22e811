/** Exceptions for one subscriber, and whether rules refuse orders at all. */
import { setEnforcement } from '../../../../lib/orders/place/enforcement.js'
import { addOverride, withdrawOverride } from '../../../../lib/restrictions/rules/overrides.js'
import type { NewOverride } from '../../../../lib/restrictions/rules/overrides.js'
import { findSubscriber } from '../../../../lib/accounts/subscribers.js'
import { UsageError, list, optional, required } from '../../command.js'
import type { Invocation } from '../../command.js'
import { perform, withApp } from '../../with-app.js'
import { classOf, stateOf, subscriberOf } from './values.js'

export async function override(invocation: Invocation): Promise<void> {
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

export async function enforce({
  dir,
  args: [word],
  values,
  out,
  dryRun,
}: Invocation): Promise<void> {
  if (word !== 'on' && word !== 'off') throw new UsageError('write on or off')
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

export const ENFORCE =
  'quartermaster rules enforce off --reason "counsel decides every order by hand until March"'

export const OVERRIDE =
  'quartermaster rules override --allow us-ca-magazine-10 --state CA --upc 012345678905 ' +
  '--author "J. Doe" --reason "exempt: law enforcement" --expires 2027-06-30'
