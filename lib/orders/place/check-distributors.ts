/**
 * Can orders be placed with the distributors of a cart? (decisions 8.3:
 * `fulfillment_not_configured`)
 */
import type { Saved } from '../../configuration/document/saved.js'
import type { OrdersCtx } from '../ctx.js'
import { ApiError } from '../../core/errors.js'
import { settingsOf, unsetSettings } from '../../distributors/distributor.js'
import type { Mode } from '../../db/tables/column-types.js'
import type { Fulfillment } from '../../distributors/fulfillment.js'
import { connectorOf } from '../../distributors/modes.js'

export interface CartDistributor {
  distid: string
  name: string
  mode: Mode
  connector: Fulfillment
  /** Values of its settings as they are saved: the secret ones sealed. */
  settings: Readonly<Record<string, unknown>>
}

/** Why no order can be placed, a line each. */
export interface NotConfigured {
  distid: string | null
  distributor: string | null
  reason: string
}

/**
 * The distributors of a cart by distid, and the mode of all of them. Throws 409
 * `fulfillment_not_configured` that lists what is missing.
 */
export function checkDistributors(
  ctx: Pick<OrdersCtx, 'distributors' | 'modes'>,
  saved: Saved,
  distids: ReadonlySet<string>,
): { mode: Mode; distributors: ReadonlyMap<string, CartDistributor> } {
  const problems: NotConfigured[] = []
  const cart = new Map<string, CartDistributor>()
  for (const distid of distids) {
    const distributor = ctx.distributors.byDistid(distid)
    const name = distributor?.name ?? null
    const mode = ctx.modes.of(distid)
    const problem = distributorProblem(ctx, saved, distid)
    const connector = connectorOf(ctx, distid, mode)
    if (problem) problems.push({ distid, distributor: name, reason: problem.reason })
    else if (distributor && connector) {
      const settings = settingsOf(distributor, savedEntry(saved, distid)?.[1])
      cart.set(distid, { distid, name: distributor.name, mode, connector, settings })
    }
  }
  const modes = new Set([...cart.values()].map(({ mode }) => mode))
  if (modes.size > 1) {
    for (const { distid, name, mode } of cart.values())
      problems.push({
        distid,
        distributor: name,
        reason: `it is in mode ${mode}, others of the cart are not: order from them separately`,
      })
  }
  const [first, ...others] = problems
  if (first) throw notConfigured(first, others)
  const [mode] = modes
  if (mode === undefined) throw new Error('a cart without a distributor')
  return { mode, distributors: cart }
}

/** The refusal for these problems, of which the message names the first. */
export function notConfigured(first: NotConfigured, others: NotConfigured[] = []): ApiError {
  const more = others.length > 0 ? ` (and ${others.length} more, see details)` : ''
  return new ApiError('fulfillment_not_configured', {
    message: `${first.distributor ?? 'The store'}: ${first.reason}${more}`,
    details: [first, ...others],
  })
}

/** Why no order can be placed with one distributor, or null. */
export function distributorProblem(
  ctx: Pick<OrdersCtx, 'distributors' | 'modes'>,
  saved: Saved,
  distid: string,
): DistributorProblem | null {
  const reason = reasonAgainst(ctx, saved, distid)
  if (reason !== null) return { code: 'fulfillment_not_configured', reason }
  const mode = ctx.modes.of(distid)
  if (connectorOf(ctx, distid, mode)) return null
  return {
    code: 'distributor_takes_no_orders',
    reason:
      mode === 'live'
        ? 'no connector places real orders with it'
        : ctx.distributors.byDistid(distid)?.fulfillment
          ? 'nobody plays it, and it is not live: no order is sent before ' +
            `\`quartermaster distributors live ${distid}\``
          : 'it has no automated fulfillment',
  }
}

export interface DistributorProblem {
  code: 'fulfillment_not_configured' | 'distributor_takes_no_orders'
  reason: string
}

function reasonAgainst(
  { distributors }: Pick<OrdersCtx, 'distributors'>,
  saved: Saved,
  distid: string,
): string | null {
  const [name, entry] = savedEntry(saved, distid) ?? []
  const distributor = distributors.byDistid(distid)
  if (name === undefined || !entry || !distributor) return 'it is not configured'
  if (!entry.active) return 'it is not active'
  if (!saved.validated.has(name))
    return 'its credentials have not passed validation; call POST /v1/config/validate'
  if (!entry.fulfillment) return 'its entry has no fulfillment section'
  const unset = unsetSettings(distributor, entry)
  return unset.length > 0
    ? `its entry lacks ${unset.map(({ path }) => path.replaceAll('-', '.')).join(', ')}`
    : null
}

const savedEntry = (saved: Saved, distid: string) =>
  Object.entries(saved.document.distributors).find(([, entry]) => entry.distid === distid)
