import { existsSync, writeFileSync } from 'node:fs'
import { refuseUnchecked } from '../../../lib/configuration/go-live.js'
import type { GoLivePlan } from '../../../lib/configuration/go-live.js'
import { distidOf } from '../../../lib/feeds/suggest.js'
import { setMode } from '../../../lib/distributors/modes.js'
import { argument, DRY_RUN, optional, required, UsageError } from '../command.js'
import { figure } from '../../../lib/core/figures.js'
import type { Command, Invocation } from '../command.js'
import type { Output } from '../output.js'
import { perform, withApp } from '../with-app.js'
import { present } from '../../../lib/core/present.js'
import { carriesOut } from '../operation-help.js'
import { feedOperations } from '../../../lib/feeds/operations.js'
import { configurationOperations } from '../../../lib/configuration/operations.js'
import { distributorOperations } from '../../../lib/distributors/operations.js'

async function list({ dir, out }: Invocation): Promise<void> {
  await withApp(dir, async ({ operator }) => {
    const { service, distributors } = await operator.distributors.list()
    out.table(distributors.map((distributor) => ({ ...distributor })))
    out.result({ service, distributors })
  })
}

/** Tells what it means, asks twice, and does it. */
async function goLive({ dir, args, values, out, ask, dryRun }: Invocation): Promise<void> {
  const named = argument(args, 0)
  const reason = required(values, 'reason', LIVE)
  await withApp(dir, async ({ ctx, operator }) => {
    const distid = distidOf(ctx.distributors, named)
    if (ctx.modes.of(distid) === 'live') {
      out.line(`It stays as it was: orders with ${distid} are real purchase orders.`)
      return out.result({ distid, mode: 'live', before: 'live', dry_run: dryRun })
    }
    const plan = await operator.distributors.planGoLive(distid)
    show(out, plan)
    refuseUnchecked(plan)
    if (dryRun) {
      out.line(DRY_RUN)
      return out.result({ ...plan, mode: 'live', before: 'simulator', dry_run: true })
    }
    await confirm(plan, values['orders-are-real'] === true, ask)
    await operator.distributors.goLive({ distid, reason })
    out.line(
      `From now on orders with ${plan.distributor} are real purchase orders, which cost real ` +
        'money. Orders that were placed before stay what they were.',
    )
    out.result({ ...plan, mode: 'live', before: 'simulator', dry_run: false })
  })
}

function show(out: Output, { distributor, addresses, shops }: GoLivePlan): void {
  out.line(`${distributor}: real purchase orders, which cost real money and cannot be undone.`)
  out.line(`They go to ${addresses.join(' and ')}, on these accounts:`)
  out.table(
    shops.map(({ subscriber, accounts, valid }) => ({
      subscriber,
      accounts,
      credentials: valid === null ? 'not reached' : valid ? 'valid' : 'refused',
    })),
  )
  out.line(
    'This connector was never tried with an account of the real one. See what it would send with ' +
      '`orders preflight ORDER.json --dry-run-orders`, place one small order first, and read ' +
      '`orders show ORDER --transcript`.',
  )
}

/** Whoever means it types the distid; a script says so with a flag of its own. */
export async function confirm(
  { distid, distributor }: GoLivePlan,
  isSaid: boolean,
  ask: Invocation['ask'],
): Promise<void> {
  if (isSaid) return
  if (!ask)
    throw new UsageError(
      `orders with ${distributor} would be real: say so with --orders-are-real, or on a terminal`,
    )
  const typed = await ask(`Type ${distid} to place real orders with ${distributor}: `)
  if (typed !== distid)
    throw new UsageError(`"${typed.slice(0, 40)}" is not ${distid}: nothing was changed`)
}

async function simulate({ dir, args, values, out, dryRun }: Invocation): Promise<void> {
  const named = argument(args, 0)
  const reason = optional(values, 'reason') ?? null
  await withApp(dir, async (app) => {
    const distid = distidOf(app.ctx.distributors, named)
    const result = await perform(app, dryRun, (ctx) =>
      setMode(ctx, { distid, mode: 'simulator', reason }),
    )
    const { name, simulator } = present(app.ctx.distributors.byDistid(result.distid), result.distid)
    const what = simulator
      ? `orders with ${name} go to its simulator, and nothing real is bought`
      : `orders with ${name} are refused: nobody plays it`
    out.line(
      result.before === 'simulator'
        ? `It stays as it was: ${what}.`
        : `${dryRun ? 'From then on' : 'From now on'} ${what}. Orders that were placed ` +
            'before stay what they were.',
    )
    out.result({ ...result, dry_run: dryRun })
  })
}

/** Asks the distributor as a subscriber's account, and writes down what it answers. */
async function record({ dir, args, values, out, dryRun }: Invocation): Promise<void> {
  const distid = argument(args, 0)
  const subscriber = required(values, 'subscriber', RECORD)
  const file = optional(values, 'file') ?? `${distid}.recording.json`
  if (existsSync(file)) throw new UsageError(`${file} is there already: name another with --file`)
  if (dryRun) {
    out.line(`It would ask ${distid} with the account of ${subscriber}, and write ${file}.`)
    out.line(DRY_RUN)
    return out.result({ file, dry_run: true })
  }
  await withApp(dir, async ({ operator }) => {
    const preset = optional(values, 'feed')
    const told = await operator.distributors.record({ distid, subscriber, preset })
    writeFileSync(file, `${JSON.stringify(told, null, 2)}\n`, { flag: 'wx' })
    const { check, feed, mode } = told
    out.line(`${distid} (${mode}) says of the credentials: ${check.outcome}.`)
    if (feed?.fault) out.line(`The feed ${feed.preset}: ${feed.fault}.`)
    if (feed?.whole)
      out.line(
        `The feed ${feed.preset} has ${figure(feed.whole.rows)} rows, ` +
          `${figure(feed.whole.rejected)} of them rejected.`,
      )
    out.line(
      `${file} holds the beginnings of the answers, without credentials, persons and prices. ` +
        'Read it before you send it to anybody.',
    )
    out.result({ file, ...told, dry_run: false })
  })
}

const RECORD = 'quartermaster distributors record RSR --subscriber "Main Street Guns"'

const LIVE =
  'quartermaster distributors live RSR --reason "account approved, first order agreed with ' +
  'their sales desk"'
const REASON = { reason: { type: 'string' } } as const

export const distributorCommands: Command[] = [
  carriesOut(feedOperations, 'distributors.list', {
    name: 'distributors list',
    effect: 'reads',
    example: 'quartermaster distributors list',
    run: list,
  }),
  carriesOut(configurationOperations, 'distributors.goLive', {
    name: 'distributors live',
    effect: 'writes',
    positionals: ['<DISTID>'],
    options: { ...REASON, 'orders-are-real': { type: 'boolean' } },
    help: { 'orders-are-real': 'where nobody can be asked: that real orders are meant' },
    example: LIVE,
    run: goLive,
  }),
  carriesOut(feedOperations, 'distributors.record', {
    name: 'distributors record',
    effect: 'writes',
    positionals: ['<DISTID>'],
    options: { subscriber: { type: 'string' }, feed: { type: 'string' }, file: { type: 'string' } },
    members: { feed: 'preset' },
    help: { file: 'where it is written; DISTID.recording.json by default' },
    example: RECORD,
    run: record,
  }),
  carriesOut(distributorOperations, 'distributors.setMode', {
    name: 'distributors simulate',
    effect: 'writes',
    positionals: ['<DISTID>'],
    options: REASON,
    example: 'quartermaster distributors simulate RSR',
    run: simulate,
  }),
]
