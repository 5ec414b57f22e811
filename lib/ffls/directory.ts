/**
 * The dealers of the list in memory. Dealers of one ZIP area stand at one place, so the index is
 * one of places: those of one band of latitude side by side, by longitude, each with its dealers in
 * the order in which they are listed.
 */
import { nextTurn } from '../core/async/wait.js'
import { present } from '../core/present.js'
import type { Engine } from '../db/engine.js'
import { highestRow, directoryRows } from './queries.js'
import { lists, value } from '../db/reading.js'
import { changesOf } from '../db/state.js'
import { placeOfZip, unitVector } from '../places/zips.js'

/** Columns. Whatever is in it never changes: a change makes a new one. */
export interface Directory {
  /** By place; in a place those on file first; then by license number. */
  readonly dealers: DealerColumns
  readonly places: PlaceColumns
  /** The place of a ZIP that has dealers. */
  readonly placeOfZip: ReadonlyMap<number, number>
}

export interface DealerColumns {
  /** `dealer.row` */
  readonly row: Uint32Array
  /** The premise's five digits as a number, -1 for none. */
  readonly zip: Int32Array
  /** The last day that it is valid, as 20270301. */
  readonly lastDay: Uint32Array
  /** Business and license name in lower case, a newline between them. */
  readonly names: readonly string[]
  readonly license: readonly string[]
}

/**
 * Places by band and longitude, so that neighbours are neighbours in memory; those without a known
 * position at the end.
 */
export interface PlaceColumns {
  /**
   * The dealers of place `i` are those from `from[i]` to `from[i + 1]`, on file up to `others[i]`.
   */
  readonly from: Uint32Array
  readonly others: Uint32Array
  /** Degrees; no number where there is no position. */
  readonly lng: Float64Array
  /** Of the unit sphere, three numbers a place. */
  readonly vectors: Float64Array
  /** Band `i` holds the places from `bands[i]` to `bands[i + 1]`. */
  readonly bands: Uint32Array
}

export interface Dealers {
  /**
   * The directory, whoever changed it. A large one is loaded anew beside its callers: until that is
   * done, within a second of the change, they get the one before.
   */
  current(): Promise<Directory>
  /**
   * Waits until `current` holds everything that is committed now; not at all where nobody has asked
   * for it yet.
   */
  refresh(): Promise<void>
  /** Ends the look for changes, and waits for a load that is under way. */
  stop(): Promise<void>
}

/** Dealers that one step reads: about 10 ms. A directory of no more is loaded on the spot. */
const STEP = 4_000

/** Milliseconds between two looks for a change that nobody's call has noticed. */
const WATCH = 400

/**
 * Loads the directory when it is first asked for, and again after a change. A load takes about half
 * a second for 80,000 dealers, so it is made in steps, between which the process answers others.
 */
export function openDealers(engine: Engine): Dealers {
  let watching: NodeJS.Timeout | undefined
  let isStopped = false
  const loads = openLoads(engine, () => {
    if (!isStopped) watching ??= setInterval(watch, WATCH).unref()
  })

  function watch(): void {
    try {
      const loaded = loads.loaded()
      if (loaded && loaded.round < loads.latest()) loads.begin()
    } catch {
      // The app was closed; if it was not, the next load watches again.
      clearInterval(watching)
      watching = undefined
    }
  }

  return {
    async current() {
      const wanted = loads.latest()
      const loaded = loads.loaded()
      if (!loaded) return loads.reach(0)
      if (loaded.round < wanted) {
        const highest = await engine.look(() => value(highestRow))
        if ((highest ?? 0) <= STEP) return loads.reach(wanted)
        if (present(loads.loaded(), 'what was loaded').round < wanted) loads.begin()
      }
      return present(loads.loaded(), 'what was loaded').directory
    },
    async refresh() {
      if (!loads.loaded() && !loads.underWay()) return
      engine.lookAgain()
      await loads.reach(loads.latest())
    },
    async stop() {
      isStopped = true
      clearInterval(watching)
      await loads.underWay()?.catch(() => {})
    },
  }
}

/** The directory as it was loaded last, and the load that is under way. */
interface Loads {
  /** Grows with every change. */
  latest(): number
  /** What was loaded last, as of which round. */
  loaded(): { round: number; directory: Directory } | undefined
  underWay(): Promise<void> | undefined
  /** Loads beside its callers: the one before serves on. */
  begin(): void
  /** The directory of a round or a later one. */
  reach(wanted: number): Promise<Directory>
}

function openLoads(engine: Engine, onLoaded: () => void): Loads {
  const latest = changesOf(engine, 'dealers')
  let loaded: { round: number; directory: Directory } | undefined
  let loading: Promise<void> | undefined

  async function load(): Promise<void> {
    const started = latest()
    try {
      loaded = { round: started, directory: await buildDirectory(engine) }
      onLoaded()
    } finally {
      loading = undefined
    }
  }

  return {
    latest,
    loaded: () => loaded,
    underWay: () => loading,
    begin() {
      // Where it fails, the next look tries again.
      ;(loading ??= load()).catch(() => {})
    },
    async reach(wanted) {
      // What is being loaded may be older than this call: then the next one is waited for, and no
      // more than that.
      while (!loaded || loaded.round < wanted) await (loading ??= load())
      return loaded.directory
    },
  }
}

/** What is read, before it has its order. */
export interface Draft {
  dealers: DraftDealer[]
  places: DraftPlace[]
  placeOfZip: Map<number, number>
}

export interface DraftDealer {
  row: number
  zip: number
  lastDay: number
  names: string
  license: string
}

export interface DraftPlace {
  /** Degrees. */
  position: { lat: number; lng: number } | null
  onFile: DraftDealer[]
  others: DraftDealer[]
}

async function buildDirectory(engine: Engine): Promise<Directory> {
  const draft: Draft = { dealers: [], places: [], placeOfZip: new Map() }
  const byPosition = new Map<string, number>()
  for (let after = 0; ;) {
    const rows = (await engine.look(() => readStep(after))) as Row[]
    for (const row of rows) {
      addDealer(draft, byPosition, row)
      after = row[0]
    }
    if (rows.length < STEP) break
    await nextTurn()
  }
  return arrange(draft)
}

type Row = [
  row: number,
  license: string,
  zip: string,
  lastDay: string,
  onFile: number,
  business: string | null,
  name: string,
]

/**
 * The next dealers that are listed. Not a cursor: nothing is held open while others have their
 * turn.
 */
const readStep = (after: number) => lists(directoryRows, { after, limit: STEP })

function addDealer(
  { dealers, placeOfZip: known, places }: Draft,
  byPosition: Map<string, number>,
  [row, license, text, lastDay, onFile, business, name]: Row,
): void {
  const zip = zipNumber(text)
  let place = known.get(zip)
  if (place === undefined) known.set(zip, (place = addPlace(places, byPosition, text)))
  const dealer = {
    row,
    zip,
    lastDay: dayNumber(lastDay),
    names: (business === null ? name : `${business}\n${name}`).toLowerCase(),
    license,
  }
  dealers.push(dealer)
  places[place]![onFile === 1 ? 'onFile' : 'others'].push(dealer)
}

/**
 * Several ZIPs share a place: one that is not a ZIP area takes that of its neighbour. One without a
 * position is a place of its own.
 */
function addPlace(places: DraftPlace[], byPosition: Map<string, number>, zip: string): number {
  const position = placeOfZip(zip)
  const key = position === null ? zip : `${position.lat} ${position.lng}`
  const known = byPosition.get(key)
  if (known !== undefined) return known
  const place = places.push({ position, onFile: [], others: [] }) - 1
  byPosition.set(key, place)
  return place
}

/** The five digits as a number; -1 for anything else, which no caller can ask for. */
export function zipNumber(zip: string): number {
  return /^\d{5}$/.test(zip) ? Number(zip) : -1
}

/** `2027-03-01` -> 20270301. */
export function dayNumber(day: string): number {
  return Number(day.slice(0, 4)) * 10_000 + Number(day.slice(5, 7)) * 100 + Number(day.slice(8, 10))
}

/**
 * Degrees of latitude of a band, about 17 miles: narrow enough that a search looks at little that
 * is too far.
 */
const BAND = 0.25
const BANDS = 180 / BAND

/** The band of a latitude, also of one beyond a pole. */
export function bandOf(lat: number): number {
  return Math.min(BANDS - 1, Math.max(0, Math.floor((lat + 90) / BAND)))
}

/** Puts places and dealers into their order. */
export async function arrange({
  dealers: all,
  places: some,
  placeOfZip: byZip,
}: Draft): Promise<Directory> {
  const { order, bands } = inBands(some)
  const dealers = {
    row: new Uint32Array(all.length),
    zip: new Int32Array(all.length),
    lastDay: new Uint32Array(all.length),
    names: new Array<string>(all.length),
    license: new Array<string>(all.length),
  }
  const places = {
    from: new Uint32Array(order.length + 1),
    others: new Uint32Array(order.length),
    lng: new Float64Array(order.length),
    vectors: new Float64Array(3 * order.length),
    bands,
  }
  let next = 0
  const add = ({ row, zip, lastDay, names, license }: DraftDealer) => {
    dealers.row[next] = row
    dealers.zip[next] = zip
    dealers.lastDay[next] = lastDay
    dealers.names[next] = names
    dealers.license[next++] = license
  }
  for (const [i, place] of order.entries()) {
    const { position, onFile, others } = some[place]!
    onFile.sort(byLicense).forEach(add)
    places.others[i] = next
    others.sort(byLicense).forEach(add)
    places.from[i + 1] = next
    places.lng[i] = position?.lng ?? NaN
    places.vectors.set(position ? unitVector(position.lat, position.lng) : [NaN, NaN, NaN], 3 * i)
    if (i % STEP === STEP - 1) await nextTurn()
  }
  const placed = new Uint32Array(order.length)
  order.forEach((place, i) => {
    placed[place] = i
  })
  return {
    dealers,
    places,
    placeOfZip: new Map([...byZip].map(([zip, place]) => [zip, placed[place]!])),
  }
}

const byLicense = (a: DraftDealer, b: DraftDealer) => (a.license < b.license ? -1 : 1)

/** Places in their order, and where each band begins. */
function inBands(places: readonly DraftPlace[]): { order: number[]; bands: Uint32Array } {
  const members: number[][] = Array.from({ length: BANDS }, () => [])
  const nowhere: number[] = []
  places.forEach(({ position }, place) =>
    (position ? members[bandOf(position.lat)]! : nowhere).push(place),
  )
  const bands = new Uint32Array(BANDS + 1)
  members.forEach((band, i) => {
    band.sort((a, b) => places[a]!.position!.lng - places[b]!.position!.lng)
    bands[i + 1] = bands[i]! + band.length
  })
  return { order: [...members.flat(), ...nowhere], bands }
}
