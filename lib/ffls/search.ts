/** Looking for a dealer as a person does: by a part of its name, its license, or its ZIP. */
import { dayOf } from '../core/clock.js'
import { nextTurn } from '../core/async/wait.js'
import type { FflsCtx } from './ctx.js'
import { zipNumber } from './directory.js'
import { dealersAt, isActive, lastDay } from './find.js'

export interface FoundDealer {
  license_number: string
  name: string
  street: string
  city: string
  state: string
  zip: string
  phone: string | null
  /** The day that it is valid through, `YYYY-MM-DD`. */
  expires: string
  active: boolean
  on_file: boolean
  sot_on_file: boolean
}

export interface DealerSearch {
  /** A part of the business or license name, a part of the license number, or five digits. */
  text?: string | undefined
  /** Only those of whom a license is on file. */
  onFile?: boolean | undefined
  limit?: number | undefined
  offset?: number | undefined
}

/** Dealers that one turn of the loop looks at: a few milliseconds. */
const STEP = 20_000

/** Dealers of the directory that fit, by license number; `count` of all of them. */
export async function searchDealers(
  ctx: FflsCtx,
  { text = '', onFile, limit = 50, offset = 0 }: DealerSearch = {},
): Promise<{ count: number; dealers: FoundDealer[] }> {
  const { dealers, places } = await ctx.dealers.current()
  const wanted = text.trim().toLowerCase()
  const zip = /^\d{5}$/.test(wanted) ? zipNumber(wanted) : null
  const license = wanted.replaceAll(/[^0-9a-z]/g, '')
  const isLicense = /^[\d-]+[0-9a-z-]*$/.test(wanted) && /\d/.test(license)
  const isOnFile = onFile === undefined ? null : onFileOf(places, dealers.row.length)
  const fits = (i: number) =>
    (isOnFile === null || isOnFile[i] === (onFile ? 1 : 0)) &&
    (wanted === '' ||
      dealers.names[i]!.includes(wanted) ||
      (zip !== null && dealers.zip[i] === zip) ||
      (isLicense && dealers.license[i]!.replaceAll('-', '').toLowerCase().includes(license)))
  const found: number[] = []
  for (let i = 0; i < dealers.row.length; i++) {
    if (i > 0 && i % STEP === 0) await nextTurn()
    if (fits(i)) found.push(i)
  }
  found.sort((a, b) => (dealers.license[a]! < dealers.license[b]! ? -1 : 1))
  const today = dayOf(ctx.now())
  // The directory may be a moment old: who has gone since then is left out.
  const rows = found.slice(offset, offset + limit).map((i) => dealers.row[i]!)
  const shown = await ctx.engine.look(() => dealersAt(rows))
  return {
    count: found.length,
    dealers: shown.map((dealer) => ({
      license_number: dealer.license_number,
      name: dealer.business_name ?? dealer.license_name,
      street: dealer.premise_street,
      city: dealer.premise_city,
      state: dealer.premise_state,
      zip: dealer.premise_zip,
      phone: dealer.voice_phone,
      expires: lastDay(dealer),
      active: isActive(dealer, today),
      on_file: dealer.on_file === 1,
      sot_on_file: dealer.sot_on_file === 1,
    })),
  }
}

/** 1 for each dealer that stands among those on file of its place. */
function onFileOf(
  { from, others }: { from: Uint32Array; others: Uint32Array },
  size: number,
): Uint8Array {
  const marks = new Uint8Array(size)
  for (let place = 0; place < others.length; place++) marks.fill(1, from[place], others[place])
  return marks
}
