/** Licenses that end soon, of the dealers that an installation works with. */
import { DAY, dayOf } from '../core/clock.js'
import { tellEvent } from '../events/events.js'
import type { Job } from '../core/async/job.js'
import { invalid } from '../core/errors.js'
import type { FflsCtx } from './ctx.js'
import { lastDay } from './find.js'
import { parseLicense } from './license.js'
import { onFile } from './queries.js'

/** Days ahead of its end at which a license is worth a call: a copy of the new one is asked for. */
export const REMINDERS = [60, 30, 7, 0] as const
const FURTHEST = 366
/** Days for which one that has ended is shown: a list of the next month has its renewal. */
const ENDED = 30
/** Days since the last order within which a dealer is one that is worked with. */
const WORKED_WITH = 365

export interface ExpiringLicense {
  license_number: string
  name: string
  city: string
  state: string
  /** The day that it is valid through, `YYYY-MM-DD`. */
  expiration_date: string
  /** Below 0: it has ended. */
  days_left: number
  /** The last of the reminders that is due, in days. */
  reminder: (typeof REMINDERS)[number] | null
  /** A copy is stored, or somebody has one. */
  ffl_on_file: boolean
  /** When something was ordered to it last, `YYYY-MM-DD`. */
  last_order: string | null
}

/**
 * Dealers whose license ends within so many days, or has just ended, the first to end first: those
 * of whom there is a copy, and those that something was ordered to within a year. Throws 400 for
 * days that are no whole number from 0 to 366.
 */
export async function expiringLicenses(
  ctx: FflsCtx,
  { days = REMINDERS[0] }: { days?: number } = {},
): Promise<ExpiringLicense[]> {
  if (!Number.isSafeInteger(days) || days < 0 || days > FURTHEST)
    throw invalid('days', `must be a whole number from 0 to ${FURTHEST}`)
  const now = ctx.now()
  const [ordered, dealers] = await Promise.all([
    lastOrders(ctx, now - WORKED_WITH * DAY),
    endingDealers(ctx, { from: dayOf(now - ENDED * DAY), to: dayOf(now + days * DAY) }),
  ])
  return dealers
    .filter(({ id, on_file, has_copy }) => on_file === 1 || has_copy === 1 || ordered.has(id))
    .map((dealer) => {
      const expires = lastDay(dealer)
      const left = Math.round((Date.parse(expires) - Date.parse(dayOf(now))) / DAY)
      const last = ordered.get(dealer.id)
      return {
        license_number: dealer.license_number,
        name: dealer.business_name ?? dealer.license_name,
        city: dealer.premise_city,
        state: dealer.premise_state,
        expiration_date: expires,
        days_left: left,
        reminder: REMINDERS.findLast((reminder) => left <= reminder) ?? null,
        ffl_on_file: dealer.on_file === 1 || dealer.has_copy === 1,
        last_order: last === undefined ? null : dayOf(last),
      }
    })
    .toSorted((a, b) => a.days_left - b.days_left || (a.license_number < b.license_number ? -1 : 1))
}

/** When each dealer was ordered to last, by identity: a license has another number once renewed. */
async function lastOrders({ read }: FflsCtx, since: number): Promise<Map<string, number>> {
  const rows = await read
    .selectFrom('fulfillment_order')
    .select(['ffl', ({ fn }) => fn.max('order_date').as('last')])
    .where('ffl', 'is not', null)
    .where('visible', '=', 1)
    .where('order_date', '>=', since)
    .groupBy('ffl')
    .execute()
  const last = new Map<string, number>()
  for (const row of rows) {
    const id = parseLicense(row.ffl!)?.id
    if (id !== undefined) last.set(id, Math.max(row.last, last.get(id) ?? 0))
  }
  return last
}

/** Of those that are listed: one that is off the list has no license any more. */
const endingDealers = ({ read }: FflsCtx, { from, to }: { from: string; to: string }) =>
  read
    .selectFrom('dealer')
    .select([
      'id',
      'license_number',
      'license_name',
      'business_name',
      'premise_city',
      'premise_state',
      'expires_on',
      'valid_until',
    ])
    .select((dealer) => [
      onFile(dealer).as('on_file'),
      dealer
        .exists(
          dealer
            .selectFrom('dealer_document')
            .select('kind')
            .whereRef('dealer_document.dealer_id', '=', 'dealer.id'),
        )
        .$castTo<number>()
        .as('has_copy'),
    ])
    .where('listed', '=', 1)
    .where(
      ({ fn }) => fn<string>('max', ['expires_on', fn.coalesce('valid_until', 'expires_on')]),
      '>=',
      from,
    )
    .where(
      ({ fn }) => fn<string>('max', ['expires_on', fn.coalesce('valid_until', 'expires_on')]),
      '<=',
      to,
    )
    .execute()

/** Tells of each license 60, 30, 7 and 0 days before it ends, once for each. */
export const licenseJob: Job<FflsCtx> = {
  name: 'licenses',
  every: DAY,
  run: async (ctx, signal) => {
    for (const one of await expiringLicenses(ctx)) {
      if (signal.aborted) return
      const { license_number: number, name, expiration_date: day, days_left: left, reminder } = one
      if (reminder === null) continue
      const when = left < 0 ? `ended on ${day}` : `ends on ${day}, in ${left} days`
      await tellEvent(ctx, {
        kind: 'license_expiring',
        subject: `${number} ${day} ${reminder}`,
        message: `the license ${number} of ${name} ${when}: ask for a copy of the new one`,
      })
    }
  },
}
