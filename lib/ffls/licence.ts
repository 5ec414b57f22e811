/** Licence numbers: `1-57-033-01-7E-67890` is region, district, county, type, expiry code and sequence (decisions 6.1-3). */

export interface Licence {
  /** Region, district and sequence: they stay with a renewal. */
  readonly id: string
  /** With dashes. */
  readonly number: string
  readonly type: string
  /** Year digit and month letter. */
  readonly expiryCode: string
}

const NUMBER = /^(\d)(\d{2})(\d{3})(\d{2})(\d[A-HJ-M])(\d{5})$/

/** A full licence number, dashes optional, case aside; null for anything else. */
export function parseLicence(text: string): Licence | null {
  const match = NUMBER.exec(text.replaceAll('-', '').toUpperCase())
  if (!match) return null
  const [, region, district, county, type, expiryCode, sequence] = match as unknown as [string, string, string, string, string, string, string]
  return { id: `${region}-${district}-${sequence}`, number: `${region}-${district}-${county}-${type}-${expiryCode}-${sequence}`, type, expiryCode }
}

/** Months of the expiry code; there is no I. */
const MONTHS = 'ABCDEFGHJKLM'
/** A licence is issued for three years, so its end is never far ahead of the list that it stands in. */
const YEARS_AHEAD = 4

/**
 * The day of an expiry code, `YYYY-MM-DD`: the first of its month. The year's last digit is all that the code has, so it
 * is the year of that digit from five years before the day of the list to four years after it.
 */
export function expiryDate(code: string, asOf: number): string {
  const latest = new Date(asOf).getUTCFullYear() + YEARS_AHEAD
  const year = latest - ((latest - Number(code[0])) % 10 + 10) % 10
  return `${year}-${String(MONTHS.indexOf(code[1]!) + 1).padStart(2, '0')}-01`
}

/** A licence number that may be masked with X, without dashes: 15 characters; null when it cannot be one. */
export function parseMask(text: string): string | null {
  const mask = text.replaceAll('-', '').toUpperCase()
  return /^[\dX]{9}[A-HJ-MX][\dX]{5}$/.test(mask) ? mask : null
}
