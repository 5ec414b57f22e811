/** What an operator looks at first: is it well, what waits, what was sold. */
import { DAY, dayOf, startOfDay } from '../core/clock.js'
import type { Finding } from '../core/finding.js'
import { refusedFiles } from '../feeds/queries.js'
import { expiringLicenses } from '../ffls/expiring.js'
import { countHeld } from '../ffls/lists/held.js'
import { listPaperwork } from '../orders/operator/paperwork.js'
import { readPause } from '../orders/engine/pause.js'
import { all } from '../db/reading.js'
import { unitsByDay } from '../orders/history/queries.js'
import { isOpenPurchase } from '../orders/queries.js'
import { dailyRequests } from '../accounts/limits/queries.js'
import type { OperatorCtx } from './ctx.js'
import { findings } from './health.js'

export interface Overview {
  at: string
  /** Each check, also of what is well. */
  checks: Finding[]
  waiting: Waiting
  /** The oldest first, days without anything included. */
  days: OverviewDay[]
}

/** What waits for a person. */
export interface Waiting {
  /** Orders of which a person has to find out what became. */
  review: number
  /** Orders whose outcome is being found out. */
  unknown: number
  refused_feeds: string[]
  /** Orders that wait for papers. */
  paperwork: number
  /** Licenses that end within 30 days, or have just ended. */
  licenses: number
  /** Dealers that the last lists lack, and whose removal somebody has to accept. */
  held_removals: number
  /** Why orders are paused; null where they are not. */
  paused: string | null
}

export interface OverviewDay {
  /** `YYYY-MM-DD`, UTC. */
  day: string
  /** Fulfillment orders, by the day on which they were placed. */
  orders: number
  /** Pieces in them. */
  units: number
  /** Placements, or parts of one, that produced no distributor order. */
  refused: number
  /** Calls of the API. */
  requests: number
}

const DAYS = 14
/** Licenses that end within so many days wait for somebody. */
const SOON = 30

export async function overview(ctx: OperatorCtx): Promise<Overview> {
  return {
    at: new Date(ctx.now()).toISOString(),
    checks: await findings(ctx),
    waiting: await waiting(ctx),
    days: await lastDays(ctx),
  }
}

/** The part that every page shows: it is asked for once a minute. */
export async function waiting(ctx: OperatorCtx): Promise<Waiting> {
  const states = await ctx.read
    .selectFrom('purchase_order')
    .select((query) => ['state', query.fn.countAll<number>().as('orders')])
    .where(isOpenPurchase)
    .groupBy('state')
    .execute()
  const countOf = (wanted: string) => states.find(({ state }) => state === wanted)?.orders ?? 0
  return {
    review: countOf('review'),
    unknown: countOf('unknown'),
    refused_feeds: refusedFiles(ctx.engine.catalog).map(({ source }) => source),
    paperwork: (await listPaperwork(ctx)).length,
    licenses: (await expiringLicenses(ctx, { days: SOON })).length,
    held_removals: await countHeld(ctx),
    paused: (await readPause(ctx))?.reason ?? null,
  }
}

async function lastDays(ctx: OperatorCtx): Promise<OverviewDay[]> {
  const first = startOfDay(ctx.now()) - (DAYS - 1) * DAY
  const orders = await ctx.read
    .selectFrom('fulfillment_count')
    .select((query) => ['span', query.fn.sum<number>('orders').as('orders')])
    .where('days', '=', 1)
    .where('span', '>=', first / DAY)
    .groupBy('span')
    .execute()
  const units = await ctx.engine.look(() => all(unitsByDay, { first }))
  const refused = await ctx.read
    .selectFrom('failed_placement')
    .select('failed_at')
    .where('failed_at', '>=', first)
    .execute()
  ctx.limits.flush()
  const requests = await dailyRequests(ctx.engine.meter.db, first)
  return Array.from({ length: DAYS }, (_, i) => {
    const start = first + i * DAY
    return {
      day: dayOf(start),
      orders: Number(orders.find(({ span }) => span === start / DAY)?.orders ?? 0),
      units: units.find(({ span }) => span === start / DAY)?.units ?? 0,
      refused: refused.filter(({ failed_at: at }) => at >= start && at < start + DAY).length,
      requests: requests.find(({ day }) => day === start)?.requests ?? 0,
    }
  })
}
