/**
 * Which distributors are played by a simulator, and which get real purchase orders (decisions 1,
 * 8.11).
 */
import type { DistributorsCtx, Modes } from './ctx.js'
import { audit } from '../accounts/audit.js'
import { invalid } from '../core/errors.js'
import type { Engine } from '../db/engine.js'
import { query } from '../db/query.js'
import { all } from '../db/reading.js'
import { touch } from '../db/state.js'
import type { Mode } from '../db/tables/column-types.js'
import type { Fulfillment } from './fulfillment.js'
import type { Registry } from './registry.js'

const storedModes = query((db) => db.selectFrom('distributor_mode').select(['distid', 'mode']))

export function openModes(engine: Engine, registry: Registry): Modes {
  const known = engine.remember('modes', function* () {
    const rows = yield* all(storedModes)
    const byDistid = new Map(rows.map(({ distid, mode }) => [distid, mode]))
    const of = (distid: string): Mode => byDistid.get(distid) ?? 'simulator'
    const used = new Set(
      registry.all
        .filter(({ fulfillment, simulator }) => fulfillment ?? simulator)
        .map(({ distid }) => of(distid)),
    )
    return {
      of,
      service: used.size > 1 ? ('mixed' as const) : ([...used][0] ?? ('simulator' as const)),
    }
  })
  return {
    of: (distid) => known().of(distid),
    get service() {
      return known().service
    },
  }
}

/** What places orders with a distributor in a mode; undefined where nothing does. */
export function connectorOf(
  { distributors }: Pick<DistributorsCtx, 'distributors'>,
  distid: string,
  mode: Mode,
): Fulfillment | undefined {
  const distributor = distributors.byDistid(distid)
  return mode === 'live' ? distributor?.fulfillment : distributor?.simulator
}

/** What placed, or places, one purchase order; undefined where nothing does. */
export function connectorFor(
  ctx: Pick<DistributorsCtx, 'distributors'>,
  { distid, mode, lane }: { distid: string; mode: Mode; lane: string },
): Fulfillment | undefined {
  const connector = connectorOf(ctx, distid, mode)
  return connector?.inLane?.(lane) ?? connector
}

/**
 * Changes a distributor's mode, with a reason for the audit. Orders that were placed before stay in
 * the mode that they were placed in. Throws 400 where no connector speaks the distributor's own
 * protocol.
 */
export async function setMode(
  ctx: DistributorsCtx,
  input: { distid: string; mode: Mode; reason: string | null },
): Promise<{ distid: string; mode: Mode; before: Mode }> {
  const distributor = ctx.distributors.byDistid(input.distid)
  if (!distributor)
    throw invalid(
      'distid',
      `"${input.distid}" is not a distributor; known are ` +
        `${ctx.distributors.all.map(({ distid }) => distid).join(', ')}`,
    )
  if (input.mode === 'live' && !distributor.fulfillment) {
    throw invalid(
      'distid',
      `${distributor.name} cannot be live: this release has no connector that speaks its own ` +
        `protocol${distributor.simulator ? ', only its simulator' : ''}`,
    )
  }
  if (input.mode === 'live' && (input.reason ?? '').trim() === '')
    throw invalid(
      'reason',
      'say why: from then on real purchase orders are placed, which cost real money',
    )
  const before = ctx.modes.of(input.distid)
  await changeMode(ctx, input)
  return { distid: input.distid, mode: input.mode, before }
}

/** The same without a look at what the distributor can. */
export async function changeMode(
  ctx: DistributorsCtx,
  { distid, mode, reason }: { distid: string; mode: Mode; reason: string | null },
): Promise<void> {
  const before = ctx.modes.of(distid)
  await ctx.engine.atomic(ctx, async (tx) => {
    await tx.db
      .replaceInto('distributor_mode')
      .values({ distid, mode, changed_at: tx.now(), changed_by: ctx.actor })
      .execute()
    await audit(tx, 'distributors.mode', { distid, mode, before, reason })
    await touch(tx.db, 'modes')
  })
}
