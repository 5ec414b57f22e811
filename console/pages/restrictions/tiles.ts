/** A map of the states as tiles of one size: row and column of each. */
import { STATES } from '../../../lib/places/states.js'

export const STATE_NAMES: Readonly<Record<string, string>> = STATES

const ROWS = [
  'AK .. .. .. .. .. .. .. .. .. ME',
  '.. .. .. .. .. .. .. .. .. VT NH',
  'WA ID MT ND MN IL WI MI NY RI MA',
  'OR NV WY SD IA IN OH PA NJ CT ..',
  'CA UT CO NE MO KY WV VA MD DE ..',
  '.. AZ NM KS AR TN NC SC DC .. ..',
  '.. .. .. OK LA MS AL GA .. .. ..',
  'HI .. .. TX .. .. .. .. FL .. PR',
]

export interface Tile {
  code: string
  row: number
  column: number
}

export const TILES: readonly Tile[] = ROWS.flatMap((line, row) =>
  line
    .split(' ')
    .map((code, column) => ({ code, row: row + 1, column: column + 1 }))
    .filter(({ code }) => code !== '..'),
)
