/** How a preset reads a file, for the person who sets up a feed. Writes nothing. */
import type { Preset } from '../distributors/generic.js'
import type { BrokenLine } from './lines.js'
import { brokenLine, readRows } from './read-rows.js'

export interface CheckedFeed {
  /** Why the file is no feed of this preset at all; empty where it is one. */
  reasons: string[]
  rows: number
  rejected: number
  /** The last line ends in the middle. */
  cut_off: boolean
  /** The first mapped rows: offers, or item numbers with their quantity. */
  offers: Record<string, unknown>[]
  /** The first rejected rows. */
  rejects: BrokenLine[]
}

/** Reads the whole file and shows its first `rows` mapped and rejected rows. `asOf` (ms) decides whether a sale is on. */
export async function checkFeed(input: { preset: Preset; file: string; rows: number; asOf: number }): Promise<CheckedFeed> {
  const checked: CheckedFeed = { reasons: [], rows: 0, rejected: 0, cut_off: false, offers: [], rejects: [] }
  const keys = new Set<string>()
  const reject = (fault: BrokenLine) => {
    checked.rows++
    checked.rejected++
    checked.rejects.push(fault)
    // The rows of a batch and its broken lines come apart.
    if (checked.rejects.length > input.rows * 2) checked.rejects = first(checked.rejects, input.rows)
  }
  const reading = await readRows({ ...input, at: input.asOf, seed: '' }, {
    begin: () => {},
    known: () => 0,
    unchanged: () => {},
    row(batch, index, row) {
      if (keys.has(row.stockid)) return reject(brokenLine(batch, index, 'duplicate key: an earlier row has the same item number'))
      keys.add(row.stockid)
      checked.rows++
      if (checked.offers.length < input.rows) checked.offers.push({ ...row })
    },
    joined: () => { checked.rows++ },
    rejected: reject,
    progress: () => {},
  })
  return { ...checked, reasons: reading.reasons, cut_off: reading.cutOff, rejects: first(checked.rejects, input.rows) }
}

function first(rejects: BrokenLine[], count: number): BrokenLine[] {
  return [...rejects].sort((a, b) => a.line - b.line).slice(0, count)
}
