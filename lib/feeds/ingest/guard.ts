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
  return force ? [] : [...faultsOfForm(evidence), ...faultsOfComparison(evidence)]
}

function faultsOfForm({ cutOff, newlineLost, rejected, rows }: Evidence): string[] {
  const reasons: string[] = []
  if (cutOff) reasons.push('the file is cut off: its last line ends before the last column')
  else if (newlineLost)
    reasons.push(
      'the file is cut off: its last line ends without a newline, and that of the last file had one',
    )
  if (rejected * 100 > rows)
    reasons.push(
      `${rejected} of ${rows} rows are bad (${percent(rejected, rows)}; at most 1 % may be)`,
    )
  return reasons
}

/** A distributor's first feed has nothing to be compared with, so all of these are silent. */
function faultsOfComparison(evidence: Evidence): string[] {
  const {
    asOf,
    previousAsOf,
    named,
    lost,
    priced,
    priceMoves,
    stocked,
    emptied,
    upcs,
    upcsLost,
    moved,
  } = evidence
  const reasons: string[] = []
  if (previousAsOf !== null && asOf < previousAsOf) {
    reasons.push(
      `the file is older than the last one: it is of ${new Date(asOf).toISOString()}, ` +
        `the last was of ${new Date(previousAsOf).toISOString()}`,
    )
  }
  if (lost * 5 > named)
    reasons.push(
      `${lost} of ${named} offers are missing (${percent(lost, named)}; at most 20 % may be)`,
    )
  if (priceMoves * 20 > priced)
    reasons.push(
      `${priceMoves} of ${priced} prices move by more than half (${percent(priceMoves, priced)}; at most 5 % may)`,
    )
  if (emptied * 10 > stocked * 3)
    reasons.push(
      `${emptied} of ${stocked} offers in stock would have none (${percent(emptied, stocked)}; at most 30 % may)`,
    )
  if (upcsLost >= 20 && upcsLost * 20 > upcs)
    reasons.push(
      `${upcsLost} of ${upcs} UPCs are gone or others (${percent(upcsLost, upcs)}; at most 5 % may be)`,
    )
  return [...reasons, ...moved]
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
