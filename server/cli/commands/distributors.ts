import type { Mode } from '../../../lib/db/tables/column-types.js'
import { offersOf } from '../../../lib/catalog/queries.js'
import { setMode } from '../../../lib/distributors/modes.js'
import { optional, required } from '../command.js'
import type { Command, Invocation } from '../command.js'
import { perform, withApp } from '../with-app.js'

async function list({ dir, out }: Invocation): Promise<void> {
  await withApp(dir, async ({ ctx }) => {
    const offers = offersOf(ctx.engine.catalog)
    const distributors = ctx.distributors.all.map(
      ({ distid, name, automatedFulfillment, fulfillment, simulator }) => ({
        distid,
        name,
        mode: ctx.modes.of(distid),
        orders: fulfillment ? 'live or simulator' : simulator ? 'simulator' : 'none',
        automated_fulfillment: automatedFulfillment,
        offers: offers(distid),
      }),
    )
    out.table(distributors)
    out.result({ service: ctx.modes.service, distributors })
  })
}

async function change(
  { dir, args: [distid], values, out, dryRun }: Invocation,
  mode: Mode,
): Promise<void> {
  const reason =
    mode === 'live' ? required(values, 'reason', LIVE) : (optional(values, 'reason') ?? null)
  await withApp(dir, async (app) => {
    const result = await perform(app, dryRun, (ctx) =>
      setMode(ctx, { distid: distid!, mode, reason }),
    )
    const name = app.ctx.distributors.byDistid(result.distid)!.name
    const what =
      mode === 'live'
        ? `orders with ${name} are real purchase orders, which cost real money`
        : `orders with ${name} go to its simulator, and nothing real is bought`
    out.line(
      result.before === mode
        ? `It stays as it was: ${what}.`
        : `${dryRun ? 'From then on' : 'From now on'} ${what}. Orders that were placed ` +
            'before stay what they were.',
    )
    out.result({ ...result, dry_run: dryRun })
  })
}

const LIVE =
  'quartermaster distributors live RSR --reason "account approved, first order agreed with ' +
  'their sales desk"'
const DISTID = { '<DISTID>': '`distributors list` shows them' }
const REASON = { reason: { type: 'string' } } as const

export const distributorCommands: Command[] = [
  {
    name: 'distributors list',
    summary: 'Known distributors, their modes, and how many offers each has',
    effect: 'reads',
    example: 'quartermaster distributors list',
    run: list,
  },
  {
    name: 'distributors live',
    summary: 'Place real purchase orders with a distributor from now on',
    effect: 'writes',
    positionals: ['<DISTID>'],
    options: REASON,
    help: { ...DISTID, reason: 'why; kept in the audit' },
    example: LIVE,
    run: (invocation) => change(invocation, 'live'),
  },
  {
    name: 'distributors simulate',
    summary: "Place orders with a distributor's simulator from now on, as on a fresh installation",
    effect: 'writes',
    positionals: ['<DISTID>'],
    options: REASON,
    help: { ...DISTID, reason: 'why; kept in the audit' },
    example: 'quartermaster distributors simulate RSR',
    run: (invocation) => change(invocation, 'simulator'),
  },
]
