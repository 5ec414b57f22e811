/** One item against one destination. */
import { checkPart } from '../../../../lib/core/endpoint/endpoint.js'
import { isApiError } from '../../../../lib/core/errors.js'
import type { Fault } from '../../../../lib/core/errors.js'
import { CheckBody } from '../../../../lib/restrictions/shapes.js'
import { UsageError, list, optional, required } from '../../command.js'
import type { Invocation } from '../../command.js'
import { withApp } from '../../with-app.js'
import { classOf, stateOf, subscriberOf } from './values.js'
import { present } from '../../../../lib/core/present.js'

export async function test({ dir, values, out }: Invocation): Promise<number> {
  const [body, asOf] = [bodyOf(values), optional(values, 'as-of')]
  return withApp(dir, async (app) => {
    await app.ctx.catalog.refresh()
    const subscriber = await subscriberOf(app, optional(values, 'subscriber'))
    const result = await app.operator.rules
      .test(subscriber, { ...body, ...(asOf !== undefined && { asOf }) })
      .catch((error: unknown) => {
        throw misused(error)
      })
    const judged = present(result.items[0], 'the verdict on the item')
    const active = app.ctx.rules.active().index.rules.length
    if (active === 0)
      out.line(
        'No rule is active, so only a destination abroad is held; `rules accept` or ' +
          '`rules import` makes some active.',
      )
    out.line(
      judged.approved
        ? 'Approved.'
        : judged.blocking_rules.length > 0
          ? 'Blocked.'
          : 'Held for a person to decide.',
    )
    for (const [name, rules] of [
      ['blocks', judged.blocking_rules],
      ['needs a decision', judged.manual_review],
      ['warns', judged.warnings],
    ] as const) {
      for (const rule of rules)
        out.line(
          `  ${rule.rule_id} ${name}: ` +
            `${rule.reason}` +
            (rule.would_change.length > 0 ? ` (not for ${rule.would_change.join(', or ')})` : ''),
        )
    }
    out.result({ ...result, active_rules: active })
    return judged.approved ? 0 : 1
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
  return (
    '--' + (({ asOf: 'as-of', product_class: 'class' } as Record<string, string>)[member] ?? member)
  )
}

export const TEST =
  'quartermaster rules test --state CA --zip 90210 --class MG --attribute magazine_capacity=30'
