/** Made-up dealers of the demo, over all states; the same on every machine in the same month. */
import facts from '../../../data/demo/dealers.json' with { type: 'json' }
import type { FflsCtx } from '../../ffls/ctx.js'
import { touch } from '../../db/state.js'
import type { DealerDocumentTable, DealerTable } from '../../db/tables/ffls.js'
import { countyOf } from '../../places/counties.js'
import { milesChord, unitVector, zipTable } from '../../places/zips.js'
import { DEMO_DISTIDS, DEMO_SEED } from './market.js'
import { makePdf } from './pdf.js'
import { createRandom } from './random.js'
import type { Random } from './random.js'

/** A row of the directory that is to be. */
export type DemoDealer = Omit<
  DealerTable,
  | 'row'
  | 'residential'
  | 'contact_required'
  | 'marked_on_file'
  | 'sot_on_file'
  | 'listed'
  | 'own_phone'
> & {
  residential: number
  contact_required: number
  marked_on_file: number
  sot_on_file: number
  listed: number
}

export interface DemoDealers {
  dealers: DemoDealer[]
  /** Whose lists say that a dealer's license is on file. */
  onFile: { distid: string; dealer_id: string }[]
  documents: { dealer: DemoDealer; kind: DealerDocumentTable['kind'] }[]
}

interface City {
  zip: string
  name: string
  /** ZIP areas of its state around it, nearest first. */
  around: { zip: string; fips: string; isCity: boolean }[]
}

interface State {
  code: string
  /** Region and district of its licenses. */
  license: string
  /** Of its telephones. */
  area: string
  cities: City[]
  /** Dealers in it. */
  count: number
}

/** About this many over all states, and at least so many in each. */
const DEALERS = 600
const LEAST = 3
/**
 * Miles around a city in which its dealers stand, and within which they name it in their address.
 */
const REACH = 40
const CITY = 8

/**
 * Every state's first dealer stands in the ZIP of its largest city, is on file, SOT and has fees;
 * each city has one on file in its own ZIP, and most have another beside it. The others are
 * scattered around.
 */
export function makeDemoDealers(asOf: number): DemoDealers {
  const made: DemoDealers = { dealers: [], onFile: [], documents: [] }
  for (const state of demoStates()) {
    const random = createRandom(DEMO_SEED, `dealers of ${state.code}`)
    for (let i = 0; i < state.count; i++) addDealer(made, state, i, { random, asOf })
  }
  return made
}

function demoStates(): State[] {
  const byState = zipsByState()
  const all = [...byState.values()].reduce((sum, zips) => sum + zips.length, 0)
  const states = Object.entries(facts.states)
  const rest = DEALERS - LEAST * states.length
  return states.map(([code, { license, area, cities }]) => {
    const zips = byState.get(code)!
    return {
      code,
      license,
      area,
      count: LEAST + Math.round((rest * zips.length) / all),
      cities: cities.map(([zip, name]) => makeCity(zip!, name!, zips)),
    }
  })
}

interface ZipArea {
  zip: string
  fips: string
  vector: [number, number, number]
}

/** ZIP areas of the fifty states and DC. */
function zipsByState(): Map<string, ZipArea[]> {
  const { numbers, lat, lng, counties } = zipTable()
  const byState = new Map<string, ZipArea[]>(Object.keys(facts.states).map((code) => [code, []]))
  numbers.forEach((number, i) => {
    const fips = counties[i]!.slice(0, 5)
    byState
      .get(countyOf(fips)?.state ?? '')
      ?.push({ zip: String(number).padStart(5, '0'), fips, vector: unitVector(lat[i]!, lng[i]!) })
  })
  return byState
}

function makeCity(zip: string, name: string, zips: readonly ZipArea[]): City {
  const [x, y, z] = zips.find((area) => area.zip === zip)!.vector
  const around = zips
    .map((area) => ({
      ...area,
      distance: (area.vector[0] - x) ** 2 + (area.vector[1] - y) ** 2 + (area.vector[2] - z) ** 2,
    }))
    .filter(({ distance }) => distance <= milesChord(REACH))
    .sort((a, b) => a.distance - b.distance)
  return {
    zip,
    name,
    around: around.map(({ zip: near, fips, distance }) => ({
      zip: near,
      fips,
      isCity: distance <= milesChord(CITY),
    })),
  }
}

/** The `i`th dealer of a state. */
function addDealer(
  made: DemoDealers,
  { code, license, area, cities }: State,
  i: number,
  { random, asOf }: { random: Random; asOf: number },
): void {
  const round = Math.floor(i / cities.length)
  const city = cities[i % cities.length]!
  const place = round < 2 ? city.around[0]! : random.pick(city.around)
  const isFirst = i === 0
  const type = isFirst
    ? '01'
    : random.pick(['01', '01', '01', '01', '01', '01', '02', '07'] as const)
  const expiry = expiryOf(
    asOf,
    round >= 2 && random.chance(0.03) ? -random.int(1, 10) : random.int(4, 34),
  )
  const sequence = String(((made.dealers.length + 1) * 7_919) % 100_000).padStart(5, '0')
  const id = `${license}-${sequence}`
  const onFile = round === 0 || (round > 1 && random.chance(0.28))
  const mark = onFile && random.chance(0.1)
  const address = {
    street: `${random.int(100, 9_899)} ${random.pick(facts.streets).toUpperCase()}`,
    city: place.isCity ? city.name : random.pick(facts.towns),
    zip: place.zip,
  }
  const dealer: DemoDealer = {
    id,
    license_number: `${license}-${place.fips.slice(2)}-${type}-${expiry.code}-${sequence}`,
    license_type: type,
    expires_on: expiry.day,
    valid_until: null,
    ...namesOf(type, random),
    premise_street: address.street,
    premise_city: address.city,
    premise_state: code,
    premise_zip: address.zip,
    ...mailOf(address, code, random),
    voice_phone: `${area}55501${String(random.int(0, 99)).padStart(2, '0')}`,
    ...(isFirst ? { fee_longgun: 2_500, fee_handgun: 3_000 } : feesOf(random)),
    residential: type !== '02' && !isFirst && random.chance(0.15) ? 1 : 0,
    contact_required: !isFirst && random.chance(0.12) ? 1 : 0,
    marked_on_file: mark ? 1 : 0,
    sot_on_file: isFirst || random.chance(type === '07' ? 0.6 : 0.1) ? 1 : 0,
    listed: round > 1 && random.chance(0.01) ? 0 : 1,
    source: 'atf',
    updated_at: asOf,
  }
  made.dealers.push(dealer)
  if (onFile && !mark)
    for (const distid of DEMO_DISTIDS)
      if (random.chance(0.6) || distid === 'RSR') made.onFile.push({ distid, dealer_id: id })
  // Files are written one by one and each to the disk: a few are enough to try them.
  if (isFirst && DOCUMENT_STATES.has(code))
    made.documents.push({ dealer, kind: 'ffl' }, { dealer, kind: 'sot' })
}

const DOCUMENT_STATES = new Set(['AZ', 'FL', 'OH', 'TN', 'TX'])

/** January to December on a license; there is no I. */
const MONTHS = 'ABCDEFGHJKLM'

/** The first day of a month so many months from now, and its code on a license. */
function expiryOf(asOf: number, months: number): { code: string; day: string } {
  const now = new Date(asOf)
  const day = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1))
  return {
    code: `${day.getUTCFullYear() % 10}${MONTHS[day.getUTCMonth()]!}`,
    day: day.toISOString().slice(0, 10),
  }
}

function namesOf(
  type: '01' | '02' | '07',
  random: Random,
): Pick<DemoDealer, 'license_name' | 'business_name' | 'email'> {
  const person = `${random.pick(facts.people)}, ${random.pick(facts.given)}`
  // Some trade under their own name.
  if (type === '01' && random.chance(0.2))
    return { license_name: person, business_name: null, email: null }
  const shop = random.pick(facts.shops)
  const name = `${shop} ${random.pick(facts.kinds[type])}`.toUpperCase()
  return {
    license_name: random.chance(0.6) ? `${name} LLC` : person,
    business_name: name,
    email: random.chance(0.3) ? `ffl@${shop.toLowerCase().replaceAll(' ', '-')}.example` : null,
  }
}

function mailOf(
  { street, city, zip }: { street: string; city: string; zip: string },
  state: string,
  random: Random,
): Pick<DemoDealer, 'mail_street' | 'mail_city' | 'mail_state' | 'mail_zip'> {
  return {
    mail_street: random.chance(0.2) ? `PO BOX ${random.int(10, 9_999)}` : street,
    mail_city: city,
    mail_state: state,
    mail_zip: zip,
  }
}

function feesOf(random: Random): Pick<DemoDealer, 'fee_longgun' | 'fee_handgun'> {
  if (!random.chance(0.4)) return { fee_longgun: null, fee_handgun: null }
  const longgun = random.int(3, 10) * 500
  return { fee_longgun: longgun, fee_handgun: random.chance(0.7) ? longgun : longgun + 500 }
}

/** Rows of one statement. */
const BATCH = 200

/**
 * Puts the dealers of the demo into a folder that has none; one with dealers of any kind is left as
 * it is.
 */
export async function addDemoDealers(ctx: FflsCtx): Promise<void> {
  if (await ctx.read.selectFrom('dealer').select('row').limit(1).executeTakeFirst()) return
  const { dealers, onFile, documents } = makeDemoDealers(ctx.now())
  const stored = await Promise.all(
    documents.map(async ({ dealer, kind }) => {
      const object_key = `documents/${ctx.random(16).toString('hex')}.pdf`
      await ctx.objects.put(
        object_key,
        makePdf([
          'MADE UP FOR THE DEMO',
          `${kind.toUpperCase()} document of ${dealer.license_number}`,
          dealer.license_name,
        ]),
        { contentType: 'application/pdf' },
      )
      return {
        dealer_id: dealer.id,
        kind,
        object_key,
        content_type: 'application/pdf',
        stored_at: ctx.now(),
      }
    }),
  )
  await ctx.engine.atomic(ctx, async ({ db }) => {
    for (let at = 0; at < dealers.length; at += BATCH)
      await db
        .insertInto('dealer')
        .values(dealers.slice(at, at + BATCH))
        .execute()
    await db.insertInto('dealer_on_file').values(onFile).execute()
    await db.insertInto('dealer_document').values(stored).execute()
    await touch(db, 'dealers')
  })
}
