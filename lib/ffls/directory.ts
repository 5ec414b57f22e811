/**
 * The dealers of the list in memory. Dealers of one ZIP area stand at one place, so the index is one of places: those of
 * one band of latitude side by side, by longitude, each with its dealers in the order in which they are listed.
 */
import type { Engine } from '../db/engine.js'
import { remembered } from '../db/state.js'
import { placeOfZip, unitVector } from '../places/zips.js'

/** Columns by dealer (in no order) and by place. Whatever is in it never changes: a change makes a new one. */
export interface Directory {
  readonly dealers: DealerColumns
  /** The place of a ZIP that has dealers. */
  readonly placeOfZip: ReadonlyMap<number, number>
  readonly places: readonly Place[]
  readonly bands: Bands
}

export interface DealerColumns {
  /** `dealer.row` */
  readonly row: number[]
  readonly licence: string[]
  /** The premise's five digits as a number, -1 for none. */
  readonly zip: number[]
  /** The last day that it is valid, as 20270301. */
  readonly lastDay: number[]
  readonly onFile: boolean[]
  /** Business and licence name in lower case, a newline between them. */
  readonly names: string[]
}

export interface Place {
  /** Degrees; null where no position is known. Such a place has one ZIP alone. */
  readonly position: { readonly lat: number; readonly lng: number; readonly vector: readonly [number, number, number] } | null
  /** Each in the order of their licence numbers. */
  readonly onFile: number[]
  readonly others: number[]
}

/** Places with a position: band `i` holds those from `start[i]` to `start[i + 1]`, by longitude. */
export interface Bands {
  readonly start: Uint32Array
  readonly place: Uint32Array
  readonly lng: Float64Array
  /** Of the unit sphere, three numbers a place. */
  readonly vectors: Float64Array
}

export interface Dealers {
  /** The directory as it was last changed, by this process or another. */
  current(): Promise<Directory>
}

/** Dealers that one step reads: about 10 ms. */
const STEP = 4_000

/**
 * Loads the directory when it is first asked for, and again after a change. A load takes about half a second for 80,000
 * dealers, so it is made in steps, between which the process answers others.
 */
export function openDealers(engine: Engine): Dealers {
  let round = 0
  // Counted, not kept: loading waits, and `remembered` does not.
  const latest = remembered(engine, 'dealers', () => ++round)
  let loaded: { round: number; directory: Directory } | undefined
  let loading: Promise<void> | undefined

  async function load(): Promise<void> {
    const started = latest()
    try {
      loaded = { round: started, directory: await buildDirectory(engine) }
    } finally {
      loading = undefined
    }
  }

  return {
    async current() {
      const wanted = latest()
      // What is being loaded may be older than this call: then the next one is waited for, and no more than that.
      while (!loaded || loaded.round < wanted) await (loading ??= load())
      return loaded.directory
    },
  }
}

/** Lets everything else that waits have its turn. */
const turn = () => new Promise<void>((resolve) => { setImmediate(resolve) })

async function buildDirectory(engine: Engine): Promise<Directory> {
  const draft = { dealers: { row: [], licence: [], zip: [], lastDay: [], onFile: [], names: [] } as DealerColumns, placeOfZip: new Map<number, number>(), places: [] as Place[] }
  const byPosition = new Map<string, number>()
  for (let rows = readStep(engine, 0); rows.length > 0; rows = readStep(engine, rows.at(-1)![0])) {
    for (const row of rows) addDealer(draft, byPosition, row)
    if (rows.length < STEP) break
    await turn()
  }
  for (let from = 0; from < draft.places.length; from += STEP) {
    for (const place of draft.places.slice(from, from + STEP)) sortPlace(place, draft.dealers.licence)
    if (draft.places.length > STEP) await turn()
  }
  return { ...draft, bands: await makeBands(draft.places) }
}

type Row = [row: number, licence: string, zip: string, lastDay: string, onFile: number, business: string | null, name: string]

/** The next dealers that are listed. Not a cursor: nothing is held open while others have their turn. */
function readStep(engine: Engine, after: number): Row[] {
  return engine.reader.prepare(`
    SELECT row, license_number, substr(premise_zip, 1, 5), max(expires_on, coalesce(valid_until, expires_on)),
      marked_on_file OR EXISTS (SELECT 1 FROM dealer_on_file WHERE dealer_id = dealer.id), business_name, license_name
    FROM dealer WHERE listed = 1 AND row > ? ORDER BY row LIMIT ${STEP}`).raw().all(after) as Row[]
}

type Draft = Pick<Directory, 'dealers'> & { placeOfZip: Map<number, number>; places: Place[] }

function addDealer({ dealers, placeOfZip: known, places }: Draft, byPosition: Map<string, number>, [row, licence, zip, lastDay, onFile, business, name]: Row): void {
  const number = zipNumber(zip)
  let place = known.get(number)
  if (place === undefined) known.set(number, place = addPlace(places, byPosition, zip))
  const dealer = dealers.row.push(row) - 1
  dealers.licence.push(licence)
  dealers.zip.push(number)
  dealers.lastDay.push(dayNumber(lastDay))
  dealers.onFile.push(onFile === 1)
  dealers.names.push((business === null ? name : `${business}\n${name}`).toLowerCase())
  places[place]![onFile === 1 ? 'onFile' : 'others'].push(dealer)
}

/** Several ZIPs share a place: one that is no ZIP area takes that of its neighbour. */
function addPlace(places: Place[], byPosition: Map<string, number>, zip: string): number {
  const at = placeOfZip(zip)
  const key = at === null ? zip : `${at.lat} ${at.lng}`
  const known = byPosition.get(key)
  if (known !== undefined) return known
  const place = places.push({ position: at && { lat: at.lat, lng: at.lng, vector: unitVector(at.lat, at.lng) }, onFile: [], others: [] }) - 1
  byPosition.set(key, place)
  return place
}

function sortPlace(place: Place, licence: readonly string[]): void {
  const byLicence = (a: number, b: number) => licence[a]! < licence[b]! ? -1 : 1
  if (place.onFile.length > 1) place.onFile.sort(byLicence)
  if (place.others.length > 1) place.others.sort(byLicence)
}

/** The five digits as a number; -1 for anything else, which no caller can ask for. */
export function zipNumber(zip: string): number {
  return /^\d{5}$/.test(zip) ? Number(zip) : -1
}

/** `2027-03-01` -> 20270301. */
export function dayNumber(day: string): number {
  return Number(day.slice(0, 4)) * 10_000 + Number(day.slice(5, 7)) * 100 + Number(day.slice(8, 10))
}

/** Degrees of latitude of a band, about 17 miles: narrow enough that a search looks at little that is too far. */
const BAND = 0.25
const BANDS = 180 / BAND

/** The band of a latitude, also of one beyond a pole. */
export function bandOf(lat: number): number {
  return Math.min(BANDS - 1, Math.max(0, Math.floor((lat + 90) / BAND)))
}

export async function makeBands(places: readonly Place[]): Promise<Bands> {
  const bands: number[][] = Array.from({ length: BANDS }, () => [])
  places.forEach(({ position }, place) => { if (position) bands[bandOf(position.lat)]!.push(place) })
  const start = new Uint32Array(BANDS + 1)
  bands.forEach((band, i) => { start[i + 1] = start[i]! + band.length })
  const size = start[BANDS]!
  const made = { start, place: new Uint32Array(size), lng: new Float64Array(size), vectors: new Float64Array(3 * size) }
  for (const [i, band] of bands.entries()) {
    band.sort((a, b) => places[a]!.position!.lng - places[b]!.position!.lng)
    band.forEach((place, at) => {
      const { lng, vector } = places[place]!.position!
      made.place[start[i]! + at] = place
      made.lng[start[i]! + at] = lng
      made.vectors.set(vector, 3 * (start[i]! + at))
    })
    if (i % 40 === 39 && size > STEP) await turn()
  }
  return made
}
