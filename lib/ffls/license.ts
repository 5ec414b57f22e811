/**
 * License numbers: `1-57-033-01-7E-67890` is region, district, county, type, expiry code and
 * sequence.
 */

export interface License {
  /** Region, district and sequence: they stay with a renewal. */
  readonly id: string
  /** With dashes. */
  readonly number: string
  readonly type: string
  /** Year digit and month letter. */
  readonly expiryCode: string
}

const NUMBER = /^(\d)(\d{2})(\d{3})(\d{2})(\d[A-HJ-M])(\d{5})$/

/** A full license number, dashes optional, case aside; null for anything else. */
export function parseLicense(text: string): License | null {
  const match = NUMBER.exec(text.replaceAll('-', '').toUpperCase())
  if (!match) return null
  const [, region, district, county, type, expiryCode, sequence] = match as unknown as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  return {
    id: `${region}-${district}-${sequence}`,
    number: `${region}-${district}-${county}-${type}-${expiryCode}-${sequence}`,
    type,
    expiryCode,
  }
}

/** Regions that there are: 2 and 7 stand in the place of a license in some distributors' lists. */
export const REGIONS: ReadonlySet<string> = new Set(['1', '3', '4', '5', '6', '8', '9'])

/**
 * Types of license that may take in firearms for customers; without collectors (03) and makers of
 * ammunition (06).
 */
export const DEALER_TYPES: readonly string[] = ['01', '02', '07', '08', '09', '10', '11']
/** Every type that the ATF issues. */
export const LICENSE_TYPES: readonly string[] = [
  '01',
  '02',
  '03',
  '06',
  '07',
  '08',
  '09',
  '10',
  '11',
]

/** Months of the expiry code; there is no I. */
const MONTHS = 'ABCDEFGHJKLM'
/**
 * A license is issued for three years, so its end is never far ahead of the list that it stands in.
 */
const YEARS_AHEAD = 4

/**
 * The day of an expiry code, `YYYY-MM-DD`: the first of its month. The year's last digit is all
 * that the code has, so it is the year of that digit from five years before the day of the list to
 * four years after it.
 */
export function expiryDate(code: string, asOf: number): string {
  const latest = new Date(asOf).getUTCFullYear() + YEARS_AHEAD
  const year = latest - ((((latest - Number(code[0])) % 10) + 10) % 10)
  return `${year}-${String(MONTHS.indexOf(code.charAt(1)) + 1).padStart(2, '0')}-01`
}

/**
 * What names a dealer to an operator, as a license number that may be masked: `1-57-67890` is
 * `1-57-XXX-XX-XX-67890`.
 */
export function asLicense(text: string): string {
  const identity = /^(\d)-?(\d{2})-?(\d{5})$/.exec(text.trim())
  return identity ? `${identity[1]}-${identity[2]}-XXX-XX-XX-${identity[3]}` : text
}

/**
 * A license number that may be masked with X, without dashes: 15 characters; null when it cannot be
 * one.
 */
export function parseMask(text: string): string | null {
  const mask = text.replaceAll('-', '').toUpperCase()
  return /^[\dX]{9}[A-HJ-MX][\dX]{5}$/.test(mask) ? mask : null
}
