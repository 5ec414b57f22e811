/** What the operator says of one dealer. */
import type { DealerSettings, DealerView, NewDealer } from '../../../../lib/ffls/dealer-settings.js'
import { addDealer, setDealer } from '../../../../lib/ffls/dealer-settings.js'
import { argument, DRY_RUN, UsageError, optional, required } from '../../command.js'
import type { Invocation } from '../../command.js'
import { perform, withApp } from '../../with-app.js'

export const ADD =
  'quartermaster ffls add 1-57-033-01-9E-67890 --name "Pine Ridge Arms LLC" --street "12 ' +
  'Mill Rd" --city Macon --state GA --zip 31201 --reason "license seen, issued this week"'

function yesNo(values: Invocation['values'], name: string): boolean | undefined {
  const value = optional(values, name)
  if (value !== undefined && value !== 'yes' && value !== 'no')
    throw new UsageError(`--${name} must be yes or no`)
  return value === undefined ? undefined : value === 'yes'
}

/** `none` takes a value away. */
function orNone(values: Invocation['values'], name: string): string | null | undefined {
  const value = optional(values, name)
  return value?.toLowerCase() === 'none' ? null : value
}

function dollars(values: Invocation['values'], name: string): number | null | undefined {
  const value = orNone(values, name)
  if (typeof value !== 'string') return value
  if (!/^\$?\d+(\.\d{1,2})?$/.test(value))
    throw new UsageError(
      `--${name} "${value}" is not an amount of dollars; write 25 or 25.50, or none`,
    )
  return Number(value.replace('$', ''))
}

function settingsIn(values: Invocation['values']): DealerSettings {
  const settings = {
    fee_longgun: dollars(values, 'fee-longgun'),
    fee_handgun: dollars(values, 'fee-handgun'),
    email: orNone(values, 'email'),
    phone: orNone(values, 'phone'),
    residential: yesNo(values, 'residential'),
    contact_required: yesNo(values, 'contact-required'),
    on_file: yesNo(values, 'on-file'),
    sot: yesNo(values, 'sot'),
    valid_until: orNone(values, 'valid-until'),
    reason: optional(values, 'reason'),
  }
  return Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined),
  ) as DealerSettings
}

export function showDealer({ out, dryRun }: Invocation, dealer: DealerView): void {
  const text = (value: unknown) =>
    Array.isArray(value)
      ? value.join(', ') || '-'
      : value === null
        ? '-'
        : value === true
          ? 'yes'
          : value === false
            ? 'no'
            : String(value)
  for (const [name, value] of Object.entries(dealer)) out.line(`${name.padEnd(18)}${text(value)}`)
  if (dryRun) out.line(DRY_RUN)
  out.result({ ...dealer, ...(dryRun && { dry_run: true }) })
}

export async function set(invocation: Invocation): Promise<void> {
  const settings = settingsIn(invocation.values)
  if (Object.keys(settings).every((name) => name === 'reason'))
    throw new UsageError('there is nothing to set. See `quartermaster ffls set --help`.')
  const license = argument(invocation.args, 0)
  await withApp(invocation.dir, async (app) =>
    showDealer(
      invocation,
      await perform(app, invocation.dryRun, (ctx) => setDealer(ctx, license, settings)),
    ),
  )
}

export async function add(invocation: Invocation): Promise<void> {
  const { values, args } = invocation
  const license = argument(args, 0)
  const need = (name: string) => required(values, name, ADD)
  const [business, phone, email] = [
    optional(values, 'business'),
    optional(values, 'phone'),
    optional(values, 'email'),
  ]
  const input: NewDealer = {
    license_number: license,
    name: need('name'),
    street: need('street'),
    city: need('city'),
    state: need('state'),
    zip: need('zip'),
    reason: need('reason'),
    ...(business !== undefined && { business_name: business }),
    ...(phone !== undefined && { phone }),
    ...(email !== undefined && { email }),
  }
  await withApp(invocation.dir, async (app) =>
    showDealer(invocation, await perform(app, invocation.dryRun, (ctx) => addDealer(ctx, input))),
  )
}

export async function showExpiring({ dir, values, out }: Invocation): Promise<void> {
  const days = optional(values, 'days')
  if (days !== undefined && !/^\d+$/.test(days))
    throw new UsageError('--days must be a whole number from 0 to 366')
  await withApp(dir, async (app) => {
    const dealers = await app.operator.ffls.expiring(
      days === undefined ? {} : { days: Number(days) },
    )
    if (dealers.length === 0) out.line('No license of a dealer that you work with ends soon.')
    else
      out.table(
        dealers.map(({ reminder: _, ffl_on_file, last_order, ...dealer }) => ({
          ...dealer,
          on_file: ffl_on_file ? 'yes' : 'no',
          last_order: last_order ?? '-',
        })),
      )
    out.result({ dealers })
  })
}
