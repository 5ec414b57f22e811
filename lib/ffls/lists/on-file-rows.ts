/** The rows of a distributor's list of dealers: their licenses, and where the dealers are. */
import { invalid } from '../../core/errors.js'
import { textFault } from '../../core/text.js'
import type { KnownDealer } from './diff.js'
import type { ListFile } from './file.js'
import { REGIONS, expiryDate, parseLicense } from '../license.js'
import type { License } from '../license.js'
import { NAMED, Rejects, TWICE, shown } from './report.js'
import type { ListReport } from './report.js'
import { premiseOf } from './rows.js'
import { present } from '../../core/present.js'

/** A row with a license wins over any without. */
export function licenseFit(cells: readonly string[]): number {
  return cells.length + (cells.some((cell) => parseLicense(cell.trim())) ? 1_000 : 0)
}

export type Address = Pick<
  KnownDealer,
  'license_name' | 'premise_street' | 'premise_city' | 'premise_state' | 'premise_zip'
>

export interface Entry {
  license: License
  expires: string
  /** Null where the row is a license alone. */
  address: Address | null
}

export interface Entries {
  entries: Map<string, Entry>
  /** Identities of rows that cannot be used. */
  mentioned: Set<string>
  report: ListReport
}

export function readEntries(
  file: ListFile,
  {
    types,
    asOf,
    known,
  }: { types: ReadonlySet<string>; asOf: number; known: ReadonlyMap<string, KnownDealer> },
): Entries {
  const { rows, cutOff } = partsOf(file)
  const rejects = new Rejects()
  for (const fault of file.broken) rejects.add(fault)
  const [entries, mentioned] = [new Map<string, Entry>(), new Set<string>()]
  for (const { line, cells } of rows) {
    const license = rejects.licenseOf({ line, cells }, licenseIn(cells), types)
    if (!license) continue
    const reject = (reason: string) => rejects.add(shown(line, cells, reason))
    const address = addressOf(cells)
    const expires = expiryDate(license.expiryCode, asOf)
    const other = entries.get(license.id)
    if (other && other.expires >= expires) reject(TWICE)
    // A dealer that is known already needs no address.
    else if (address && 'reason' in address && !known.has(license.id)) {
      reject(address.reason)
      mentioned.add(license.id)
    } else {
      if (other)
        rejects.add({
          line,
          reason: TWICE,
          text: `${other.license.number}, in a line before this one`,
        })
      entries.set(license.id, {
        license,
        expires,
        address: address && 'reason' in address ? null : address,
      })
    }
  }
  return {
    entries,
    mentioned,
    report: {
      as_of: new Date(asOf).toISOString(),
      rows: rows.length + file.broken.length,
      ...rejects.report(),
      cut_off: cutOff,
    },
  }
}

/** The rows without a header and without a cut-off end. Throws where no row has a license. */
function partsOf({ rows, unterminated, cutOff }: ListFile): {
  rows: ListFile['rows']
  cutOff: ListReport['cut_off']
} {
  const first = rows.findIndex(({ cells }) => hasLicense(cells))
  if (first < 0)
    throw invalid(
      'file',
      'this is not a list of licenses: no row has a number such as 1-57-033-01-7E-67890; ' +
        `its first is ${rows[0]?.cells.join(' | ').slice(0, NAMED) ?? 'missing'}`,
    )
  const isHeader = first === 1 && /licen[cs]e|ffl/i.test((rows[0]?.cells ?? []).join(' '))
  const body = isHeader ? rows.slice(1) : rows
  const last = present(body.at(-1), 'the last row')
  // The license is the end of a row, and has a form of its own.
  if (!unterminated || hasLicense(last.cells)) return { rows: body, cutOff }
  return { rows: body.slice(0, -1), cutOff: shown(last.line, last.cells, 'the line is cut off') }
}

const hasLicense = (cells: readonly string[]) => !('reason' in licenseIn(cells))

function licenseIn(cells: readonly string[]): License | { reason: string } {
  if (cells.length !== 1 && cells.length !== 6)
    return {
      reason:
        `the row has ${cells.length} columns; there must be 6 ` +
        '(name, street, city, state, ZIP, license), or the license alone',
    }
  const license = parseLicense(present(cells.at(-1), 'the last cell').trim())
  if (!license) return { reason: 'the license is not a license number' }
  return REGIONS.has(license.number.charAt(0))
    ? license
    : { reason: `the region is none of ${[...REGIONS].join(', ')}` }
}

function addressOf(cells: readonly string[]): Address | { reason: string } | null {
  if (cells.length === 1) return null
  const [name, street, city, state, zip] = cells.map((cell) =>
    cell.replaceAll(/\s+/g, ' ').trim(),
  ) as [string, string, string, string, string]
  const fault = textFault(cells.join(' '))
  if (fault) return { reason: `the row ${fault}` }
  if (name === '') return { reason: 'there is no name' }
  const premise = premiseOf({ street, city, state, zip })
  return 'reason' in premise ? premise : { license_name: name, ...premise }
}
