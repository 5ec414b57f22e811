/**
 * Dealers as callers see them: the list around a ZIP, and one by its license (contract "FFL
 * directory").
 */
import type { Selectable } from 'kysely'
import type { FflsCtx } from './ctx.js'
import { dayOf } from '../core/clock.js'
import { ApiError } from '../core/errors.js'
import { toDollarsOrNull } from '../core/money.js'
import { placeOfZip } from '../places/zips.js'
import { dayNumber } from './directory.js'
import type { Reading, RowOf } from '../db/query.js'
import { all } from '../db/reading.js'
import { DEALER_TYPES, parseLicense, parseMask } from './license.js'
import { nearDealers } from './near.js'
import { listedDealers, onFile } from './queries.js'
import type { Dealer, FullDealer, NearQuery } from './shapes.js'
import type { DealerTable } from '../db/tables/ffls.js'

/** A row of the directory; `on_file` is 1 when the operator or a distributor's list says so. */
export type StoredDealer = Selectable<DealerTable> & { on_file: number }

/** A dealer as the list reads it. */
type ListedDealer = RowOf<typeof listedDealers>

/**
 * Dealers near a ZIP, at most 150, best first. An unknown ZIP has the dealers that stand in exactly
 * that ZIP, or none.
 */
export async function findNear(
  ctx: FflsCtx,
  { zip, radius, name }: NearQuery,
): Promise<{ count: number; ffls: Dealer[] }> {
  const directory = await ctx.dealers.current()
  const today = dayOf(ctx.now())
  const found = nearDealers(directory, { zip, radius, name, today: dayNumber(today) })
  // The directory may be a moment old: who has gone since then is left out.
  const rows = found.map((place) => directory.dealers.row[place]!)
  const dealers = await ctx.engine.look(() => dealersAt(rows))
  const ffls = dealers
    .filter((dealer) => isActive(dealer, today))
    .map((dealer) => listRecord(dealer, today))
  return { count: ffls.length, ffls }
}

/** Those of the directory's rows that are still there, in the given order. */
export function* dealersAt(rows: readonly number[]): Reading<ListedDealer[]> {
  const dealers = yield* all(listedDealers, { rows })
  const byRow = new Map(dealers.map((dealer) => [dealer.row, dealer]))
  return rows.flatMap((row) => byRow.get(row) ?? [])
}

/** The day that a license is valid through, `YYYY-MM-DD`. */
export function lastDay({
  expires_on,
  valid_until,
}: Pick<StoredDealer, 'expires_on' | 'valid_until'>): string {
  return valid_until !== null && valid_until > expires_on ? valid_until : expires_on
}

/** Listed, and valid on a day. */
export function isActive(
  dealer: Pick<StoredDealer, 'expires_on' | 'valid_until' | 'listed'>,
  day: string,
): boolean {
  return dealer.listed === 1 && day <= lastDay(dealer)
}

function listRecord(dealer: ListedDealer, today: string): Dealer {
  const place = placeOfZip(dealer.premise_zip)
  return {
    license_number: dealer.license_number,
    list_name: dealer.business_name ?? dealer.license_name,
    business_name: dealer.business_name,
    license_name: dealer.license_name,
    premise_street: dealer.premise_street,
    premise_city: dealer.premise_city,
    premise_state: dealer.premise_state,
    premise_zip_code: dealer.premise_zip,
    voice_phone: dealer.voice_phone,
    email: dealer.email,
    lat: place?.lat ?? null,
    lng: place?.lng ?? null,
    ffl_on_file: flag(dealer.on_file),
    sot_on_file: flag(dealer.sot_on_file),
    expiration_date: lastDay(dealer),
    active: isActive(dealer, today) ? 1 : 0,
  }
}

/** The full record of a dealer; fees in dollars. */
export function fullRecord(dealer: StoredDealer, today: string): FullDealer {
  return {
    ...listRecord(dealer, today),
    transfer_fee_longgun: dollars(dealer.fee_longgun),
    transfer_fee_handgun: dollars(dealer.fee_handgun),
    residential: flag(dealer.residential),
    contact_required: flag(dealer.contact_required),
    mail_street: dealer.mail_street,
    mail_city: dealer.mail_city,
    mail_state: dealer.mail_state,
    mail_zip_code: dealer.mail_zip,
  }
}

const flag = (value: number): 0 | 1 => (value === 1 ? 1 : 0)
const dollars = (cents: number | null) => (cents === null ? null : toDollarsOrNull(cents))

/** What a license number looks like, for messages. */
export const LICENSE_FORM =
  'a license number is 15 digits and letters as 1-57-033-01-7E-67890, where unknown ones may ' +
  'be X and dashes may be left out'

/**
 * The dealer of a full or masked license number, whatever its state. Throws `not_found` when there
 * is none, when a mask fits several, and when the number is that of a license which was renewed.
 */
export async function findDealer(ctx: Pick<FflsCtx, 'read'>, text: string): Promise<StoredDealer> {
  const mask = parseMask(text)
  if (mask === null)
    throw new ApiError('not_found', {
      message: `"${text.slice(0, 40)}" is not a dealer's license: ${LICENSE_FORM}.`,
    })
  const pattern = dashed(mask)
  const id = parseLicense(text)?.id ?? idOf(pattern)
  return id === null ? findByMask(ctx, pattern) : findById(ctx, id, pattern)
}

/** With dashes, and X where anything may stand. */
function dashed(mask: string): string {
  return mask.replace(/^(.)(..)(...)(..)(..)(.....)$/, '$1-$2-$3-$4-$5-$6')
}

/** Region, district and sequence of a mask that has them, which is enough to tell dealers apart. */
function idOf(pattern: string): string | null {
  const [region, district, , , , sequence] = pattern.split('-')
  const id = `${region}-${district}-${sequence}`
  return id.includes('X') ? null : id
}

async function findById(
  { read }: Pick<FflsCtx, 'read'>,
  id: string,
  pattern: string,
): Promise<StoredDealer> {
  const dealer = await selectDealer(read).where('id', '=', id).executeTakeFirst()
  if (!dealer) throw new ApiError('not_found', { message: `No dealer has the license ${pattern}.` })
  if (!fits(dealer.license_number, pattern)) {
    throw new ApiError('not_found', {
      message:
        `The license ${pattern} was renewed or changed; its number is ${dealer.license_number} ` +
        'now.',
      details: { license_number: dealer.license_number },
    })
  }
  return dealer
}

function fits(number: string, pattern: string): boolean {
  return [...pattern].every((character, i) => character === 'X' || character === number[i])
}

/** Why a dealer may receive nothing today, or null. */
export function whyUnfit(dealer: StoredDealer, now: number): string | null {
  if (dayOf(now) > lastDay(dealer)) return `the license expired on ${lastDay(dealer)}`
  if (!isActive(dealer, dayOf(now))) return 'the dealer is no longer on the list of licensees'
  return DEALER_TYPES.includes(dealer.license_type)
    ? null
    : `a license of type ${dealer.license_type} cannot receive orders for customers`
}

async function findByMask({ read }: Pick<FflsCtx, 'read'>, pattern: string): Promise<StoredDealer> {
  const like = pattern.replaceAll('X', '_')
  const dealers = await selectDealer(read).where('license_number', 'like', like).limit(2).execute()
  if (dealers.length > 1) {
    const { count } = await read
      .selectFrom('dealer')
      .select((query) => query.fn.countAll<number>().as('count'))
      .where('license_number', 'like', like)
      .executeTakeFirstOrThrow()
    throw new ApiError('not_found', {
      message: `${pattern} fits ${count} dealers; leave less of it masked.`,
      details: { matches: count },
    })
  }
  const [dealer] = dealers
  if (!dealer) throw new ApiError('not_found', { message: `No dealer's license fits ${pattern}.` })
  return dealer
}

function selectDealer(read: FflsCtx['read']) {
  return read
    .selectFrom('dealer')
    .selectAll()
    .select((dealer) => onFile(dealer).as('on_file'))
}
