/**
 * Which feeds are not taken: the catalog that serves stays as it is until one is
 * better.
 */
import { missingColumns } from '../../distributors/generic/columns.js'
import type { Preset } from '../../distributors/generic/generic.js'
import { parseCells } from '../read/cells.js'

/**
 * What a finished reading says about a feed. Shares are compared in whole numbers, so that an edge
 * is an edge.
 */
export interface Evidence {
  rows: number
  rejected: number
  /** Rows that named an offer or could. */
  usable: number
  /** Offers that the rows named. */
  claimed: number
  /** The last line ends in the middle. */
  cutOff: boolean
  /** The last line ends without a newline, and that of the source's last file had one. */
  newlineLost: boolean
  asOf: number
  /** Of the last feed of this source; null for its first. */
  previousAsOf: number | null
  /** Offers that the source's last feed named, and those of them that this one does not. */
  named: number
  lost: number
  /** Prices before, and those that moved by more than half or went. */
  priced: number
  priceMoves: number
  /** Offers in stock before, and those that have none any more or are gone. */
  stocked: number
  emptied: number
  /**
   * UPCs of the last feed's offers that this one names too, and those that are gone or are others
   * now.
   */
  upcs: number
  upcsLost: number
  /** What about the feed as a whole moved out of proportion (`movedShape`). */
  moved: string[]
}

/** One share of a feed that the guard watches: `part` of `of`, and the most that it may be. */
export interface WatchedShare {
  name: 'rejected' | 'missing' | 'price_moves' | 'emptied' | 'upcs_lost'
  part: number
  of: number
  /** In percent. */
  most: number
  /** Too much of it: the feed is refused for that. */
  over: boolean
}

/** UPCs of which fewer may be gone or others whatever share they are. */
const FEW_UPCS = 20

/** What the guard measures of a feed, beside what it allows; of a first feed the rejected rows alone. */
export function watchedShares(evidence: Evidence): WatchedShare[] {
  const { rejected, rows, named, lost, priced, priceMoves, stocked, emptied, upcs, upcsLost } =
    evidence
  const share = (name: WatchedShare['name'], part: number, of: number, most: number) => ({
    name,
    part,
    of,
    most,
    // In whole numbers.
    over: part * 100 > of * most && (name !== 'upcs_lost' || part >= FEW_UPCS),
  })
  const all = [
    share('rejected', rejected, rows, 1),
    share('missing', lost, named, 20),
    share('price_moves', priceMoves, priced, 5),
    share('emptied', emptied, stocked, 30),
    share('upcs_lost', upcsLost, upcs, 5),
  ]
  return all.filter(({ part, of }) => of > 0 || part > 0)
}

const percent = (part: number, of: number) =>
  `${(Math.floor((part / of) * 1000) / 10).toFixed(1)} %`

/**
 * Why the feed is refused. `force` says that the operator accepts it; nobody can accept a file that
 * says nothing.
 */
export function judge(evidence: Evidence, force: boolean): string[] {
  const { rows, usable, claimed, named } = evidence
  if (rows === 0) return ['the file is empty: it has no rows']
  if (usable === 0)
    return [`none of the ${rows} rows can be used; the file or its preset is the wrong one`]
  if (claimed === 0 && named > 0)
    return [
      `none of the ${rows} rows names an item that is known, and the last feed named ${named}; ` +
        'the file or its preset is the wrong one',
    ]
  if (force) return []
  const shares = watchedShares(evidence).filter(({ over }) => over)
  return [
    ...faultsOfForm(evidence),
    ...shares.filter(({ name }) => name === 'rejected').map(faultOfShare),
    ...faultsOfAge(evidence),
    ...shares.filter(({ name }) => name !== 'rejected').map(faultOfShare),
    ...evidence.moved,
  ]
}

/** Says why, in the words of each share that is over. */
const SHARE_FAULTS: Readonly<
  Record<WatchedShare['name'], (part: number, of: number, most: number) => string>
> = {
  rejected: (part, of, most) =>
    `${part} of ${of} rows are bad (${percent(part, of)}; at most ${most} % may be)`,
  missing: (part, of, most) =>
    `${part} of ${of} offers are missing (${percent(part, of)}; at most ${most} % may be)`,
  price_moves: (part, of, most) =>
    `${part} of ${of} prices move by more than half (${percent(part, of)}; at most ${most} % may)`,
  emptied: (part, of, most) =>
    `${part} of ${of} offers in stock would have none (${percent(part, of)}; at most ${most} % may)`,
  upcs_lost: (part, of, most) =>
    `${part} of ${of} UPCs are gone or others (${percent(part, of)}; at most ${most} % may be)`,
}

const faultOfShare = ({ name, part, of, most }: WatchedShare): string =>
  SHARE_FAULTS[name](part, of, most)

function faultsOfForm({ cutOff, newlineLost }: Evidence): string[] {
  const reasons: string[] = []
  if (cutOff) reasons.push('the file is cut off: its last line ends before the last column')
  else if (newlineLost)
    reasons.push(
      'the file is cut off: its last line ends without a newline, and that of the last file had one',
    )
  return reasons
}

function faultsOfAge({ asOf, previousAsOf }: Evidence): string[] {
  if (previousAsOf === null || asOf >= previousAsOf) return []
  return [
    `the file is older than the last one: it is of ${new Date(asOf).toISOString()}, ` +
      `the last was of ${new Date(previousAsOf).toISOString()}`,
  ]
}

const DELIMITERS: readonly (readonly [string, string])[] = [
  [',', 'a comma'],
  [';', 'a semicolon'],
  ['\t', 'a tab'],
  ['|', 'a pipe'],
]

/**
 * The columns of the file, or why its beginning is not that of such a feed. `first` is its first
 * line that is not blank.
 */
export function readHeader(
  preset: Preset,
  first: string,
): { columns: string[] | null } | { reasons: string[] } {
  if (first.startsWith('PK\u0003\u0004'))
    return { reasons: ['the file is a ZIP archive: unpack it first; gzip is read as it is'] }
  if (/^\s*</.test(first))
    return {
      reasons: [
        /html/i.test(first)
          ? 'the file is an HTML page, such as a login or error page, and no feed'
          : 'the file is HTML or XML and no feed of this preset',
      ],
    }
  const cells = (delimiter: string) => {
    const [row] = parseCells([first], { ...preset.format, delimiter })
    return typeof row === 'string' ? [] : row!.map((cell) => cell.trim())
  }
  const own = cells(preset.format.delimiter)
  const fits = (row: readonly string[]) =>
    preset.format.header
      ? missingColumns(preset, row).length === 0
      : row.length >= leastColumns(preset, [])
  if (fits(own)) return { columns: preset.format.header ? own : null }
  const other = DELIMITERS.find(
    ([delimiter]) => delimiter !== preset.format.delimiter && fits(cells(delimiter)),
  )
  const hint = other ? `; with ${other[1]} as separator the file would fit` : ''
  // Without a header a short first row is only a bad row, unless another separator explains it.
  if (!preset.format.header)
    return other
      ? {
          reasons: [
            `the first row has ${own.length} columns, at least ${leastColumns(preset, [])} are needed${hint}`,
          ],
        }
      : { columns: null }
  return {
    reasons: [
      `the header has no column ${missingColumns(preset, own)
        .map((name) => `"${name}"`)
        .join(', ')}${hint}`,
    ],
  }
}

/** How many cells a row needs. */
export function leastColumns({ format }: Preset, columns: readonly string[]): number {
  return format.minColumns ?? (format.header ? columns.length : (format.columns?.length ?? 0))
}
