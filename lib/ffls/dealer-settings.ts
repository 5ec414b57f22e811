/**
 * What the operator says of a dealer: fees, contact, marks, a later end, and dealers that no list
 * has.
 */
import { audit } from '../accounts/audit.js'
import { isEmail } from '../accounts/subscribers.js'
import { dayOf } from '../core/clock.js'
import type { FflsCtx } from './ctx.js'
import { ApiError, invalid } from '../core/errors.js'
import { toCents, toDollars } from '../core/money.js'
import { textFault } from '../core/text.js'
import { touch } from '../db/state.js'
import { putDealers } from './dealer-store.js'
import { findDealer, isActive } from './find.js'
import type { StoredDealer } from './find.js'
import { DEALER_TYPES, REGIONS, asLicense, expiryDate, parseLicense } from './license.js'
import type { KnownDealer } from './lists/diff.js'
import { phoneOf, premiseOf } from './lists/rows.js'

/** The dearest transfer that anybody asks for, cents. */
const MAX_FEE = 100_000

/** What may be set; null takes a value away. */
export interface DealerSettings {
  /** Transfer fees in dollars. */
  fee_longgun?: number | null
  fee_handgun?: number | null
  email?: string | null
  /** No list replaces it; null lets the next one bring its own. */
  phone?: string | null
  residential?: boolean
  contact_required?: boolean
  on_file?: boolean
  sot?: boolean
  /**
   * `YYYY-MM-DD`, up to three years later than the license's own date; needs a reason, and ends
   * with that license.
   */
  valid_until?: string | null
  reason?: string
}

type Columns = Partial<
  Pick<
    StoredDealer,
    | 'fee_longgun'
    | 'fee_handgun'
    | 'email'
    | 'voice_phone'
    | 'own_phone'
    | 'residential'
    | 'contact_required'
    | 'marked_on_file'
    | 'sot_on_file'
    | 'valid_until'
  >
>

/**
 * Sets what the operator knows of a dealer. `license`: full, masked, or region-district-sequence.
 */
export async function setDealer(
  ctx: FflsCtx,
  license: string,
  settings: DealerSettings,
): Promise<DealerView> {
  const { reason, ...wanted } = settings
  if (reason !== undefined) checkText('reason', reason)
  const view = await ctx.engine.atomic(ctx, async (tx) => {
    const dealer = await findDealer(tx, asLicense(license))
    const columns = columnsOf(wanted, dealer)
    if (Object.keys(columns).length === 0)
      throw new ApiError('invalid_parameter', { message: 'there is nothing to set' })
    if (columns.valid_until !== undefined && reason === undefined)
      throw invalid(
        'reason',
        'is missing: say why the license is valid for longer, or no longer is',
      )
    await tx.db.updateTable('dealer').set(columns).where('id', '=', dealer.id).execute()
    await audit(tx, 'ffls.set', {
      license_number: dealer.license_number,
      ...wanted,
      ...(reason !== undefined && { reason }),
    })
    await touch(tx.db, 'dealers')
    return viewDealer(tx, dealer.license_number)
  })
  await ctx.dealers.refresh()
  return view
}

function columnsOf(settings: Omit<DealerSettings, 'reason'>, dealer: StoredDealer): Columns {
  const {
    fee_longgun,
    fee_handgun,
    email,
    phone,
    residential,
    contact_required,
    on_file,
    sot,
    valid_until,
  } = settings
  const flag = (value: boolean) => (value ? 1 : 0)
  return {
    ...(fee_longgun !== undefined && { fee_longgun: feeOf('fee_longgun', fee_longgun) }),
    ...(fee_handgun !== undefined && { fee_handgun: feeOf('fee_handgun', fee_handgun) }),
    ...(email !== undefined && { email: emailOf(email) }),
    ...(phone !== undefined && {
      voice_phone: checkedPhone(phone),
      own_phone: phone === null ? null : 1,
    }),
    ...(residential !== undefined && { residential: flag(residential) }),
    ...(contact_required !== undefined && { contact_required: flag(contact_required) }),
    ...(on_file !== undefined && { marked_on_file: flag(on_file) }),
    ...(sot !== undefined && { sot_on_file: flag(sot) }),
    ...(valid_until !== undefined && { valid_until: laterEnd(valid_until, dealer) }),
  }
}

function feeOf(name: string, dollars: number | null): number | null {
  if (dollars === null) return null
  const cents = toCents(dollars)
  if (!Number.isFinite(dollars) || cents < 0 || cents > MAX_FEE)
    throw invalid(name, `must be 0 to ${toDollars(MAX_FEE)} dollars`)
  return cents
}

function emailOf(email: string | null): string | null {
  if (email !== null && !isEmail(email))
    throw invalid('email', `"${email}" is not an e-mail address`)
  return email
}

function checkedPhone(phone: string | null): string | null {
  const digits = phone === null ? null : phoneOf(phone)
  if (phone !== null && digits === null)
    throw invalid('phone', `"${phone}" is not a telephone number of 10 digits`)
  return digits
}

/** Years: a license itself is given for so many. */
const LONGEST_EXTENSION = 3

function laterEnd(day: string | null, { expires_on }: StoredDealer): string | null {
  if (day === null) return null
  if (!isDay(day)) throw invalid('valid_until', `"${day}" is not a day; write 2027-03-31`)
  if (day <= expires_on)
    throw invalid('valid_until', `the license itself is valid through ${expires_on}`)
  const latest = `${Number(expires_on.slice(0, 4)) + LONGEST_EXTENSION}${expires_on.slice(4)}`
  if (day > latest)
    throw invalid(
      'valid_until',
      `must be at most ${latest}, ${LONGEST_EXTENSION} years after the license's own date`,
    )
  return day
}

function isDay(text: string): boolean {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(ms) && dayOf(ms) === text
}

const LONGEST = 200

function checkText(name: string, text: string): string {
  const trimmed = text.trim()
  const fault = textFault(trimmed)
  if (trimmed === '' || trimmed.length > LONGEST || fault)
    throw invalid(name, fault ?? `must be 1 to ${LONGEST} characters`)
  return trimmed
}

export interface NewDealer {
  /** In full. */
  license_number: string
  name: string
  business_name?: string
  street: string
  city: string
  state: string
  zip: string
  phone?: string
  email?: string
  reason: string
}

/**
 * Adds a dealer that no list has, or brings back one that is gone from them. A list that names it
 * takes over.
 */
export async function addDealer(ctx: FflsCtx, input: NewDealer): Promise<DealerView> {
  const dealer = readNew(ctx, input)
  const reason = checkText('reason', input.reason)
  const email = input.email === undefined ? undefined : emailOf(input.email)
  const view = await ctx.engine.atomic(ctx, async (tx) => {
    const known = await tx.db
      .selectFrom('dealer')
      .select(['license_number', 'listed'])
      .where('id', '=', dealer.id)
      .executeTakeFirst()
    if (known?.listed)
      throw invalid(
        'license_number',
        `the dealer is there already, as ${known.license_number}; \`ffls set\` changes it`,
      )
    await putDealers(tx, [dealer])
    if (dealer.voice_phone !== null)
      await tx.db
        .updateTable('dealer')
        .set({ voice_phone: dealer.voice_phone, own_phone: 1 })
        .where('id', '=', dealer.id)
        .execute()
    if (email !== undefined)
      await tx.db.updateTable('dealer').set({ email }).where('id', '=', dealer.id).execute()
    await audit(tx, 'ffls.add', {
      license_number: dealer.license_number,
      name: dealer.license_name,
      reason,
      replaced: known?.license_number ?? null,
    })
    await touch(tx.db, 'dealers')
    return viewDealer(tx, dealer.license_number)
  })
  await ctx.dealers.refresh()
  return view
}

function readNew(ctx: FflsCtx, input: NewDealer): KnownDealer {
  const license = parseLicense(input.license_number)
  if (!license || !REGIONS.has(license.number.charAt(0)))
    throw invalid(
      'license_number',
      `"${input.license_number}" is not a license number such as 1-57-033-01-7E-67890`,
    )
  if (!DEALER_TYPES.includes(license.type))
    throw invalid(
      'license_number',
      `a license of type ${license.type} takes in no firearms for customers; types ` +
        `${DEALER_TYPES.join(', ')} do`,
    )
  const [street, city] = [checkText('street', input.street), checkText('city', input.city)]
  const premise = premiseOf({ street, city, state: input.state, zip: input.zip })
  if ('reason' in premise) throw invalid('premise', premise.reason)
  return {
    id: license.id,
    license_number: license.number,
    license_type: license.type,
    expires_on: expiryDate(license.expiryCode, ctx.now()),
    license_name: checkText('name', input.name),
    business_name:
      input.business_name === undefined ? null : checkText('business_name', input.business_name),
    ...premise,
    mail_street: null,
    mail_city: null,
    mail_state: null,
    mail_zip: null,
    voice_phone: checkedPhone(input.phone ?? null),
    listed: 1,
    source: 'operator',
    updated_at: ctx.now(),
  }
}

/**
 * A dealer as the operator sees it: all that is stored, fees in dollars, and what follows from it.
 */
export interface DealerView extends Omit<
  StoredDealer,
  | 'row'
  | 'updated_at'
  | 'on_file'
  | 'listed'
  | 'own_phone'
  | 'residential'
  | 'contact_required'
  | 'marked_on_file'
  | 'sot_on_file'
> {
  active: boolean
  /** False: gone from the newest list of its state. */
  listed: boolean
  /** No list replaces `voice_phone`. */
  own_phone: boolean
  residential: boolean
  contact_required: boolean
  marked_on_file: boolean
  sot_on_file: boolean
  /** Distributors whose lists have the license. */
  on_file_with: string[]
  documents: string[]
}

/**
 * A dealer by its license: full, masked, or region-district-sequence. 404 where there is none, or
 * several fit.
 */
export async function viewDealer(ctx: FflsCtx, license: string): Promise<DealerView> {
  const dealer = await findDealer(ctx, asLicense(license))
  const {
    row: _row,
    updated_at: _updated,
    on_file: _onFile,
    fee_longgun,
    fee_handgun,
    ...columns
  } = dealer
  const marks = await ctx.read
    .selectFrom('dealer_on_file')
    .select('distid')
    .where('dealer_id', '=', dealer.id)
    .orderBy('distid')
    .execute()
  const documents = await ctx.read
    .selectFrom('dealer_document')
    .select('kind')
    .where('dealer_id', '=', dealer.id)
    .orderBy('kind')
    .execute()
  return {
    ...columns,
    fee_longgun: fee_longgun === null ? null : toDollars(fee_longgun),
    fee_handgun: fee_handgun === null ? null : toDollars(fee_handgun),
    active: isActive(dealer, dayOf(ctx.now())),
    listed: dealer.listed === 1,
    own_phone: dealer.own_phone === 1,
    residential: dealer.residential === 1,
    contact_required: dealer.contact_required === 1,
    marked_on_file: dealer.marked_on_file === 1,
    sot_on_file: dealer.sot_on_file === 1,
    on_file_with: marks.map(({ distid }) => distid),
    documents: documents.map(({ kind }) => kind),
  }
}
