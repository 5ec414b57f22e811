/** Days as distributors write them. */

/**
 * `YYYY-MM-DD` of a day as services of .NET write one, of `MM/DD/YYYY` and of `YYYYMMDD`, whatever
 * follows; null for what is no day.
 */
export function dayIn(text: string): string | null {
  const [, y1, m1, d1] = /^(\d{4})-?(\d{2})-?(\d{2})(?!\d)/.exec(text) ?? []
  const [, m2, d2, y2] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?!\d)/.exec(text) ?? []
  const [year, month, day] = [y1 ?? y2, m1 ?? m2, d1 ?? d2]
  if (year === undefined) return null
  const written = `${year}-${month!.padStart(2, '0')}-${day!.padStart(2, '0')}`
  const ms = Date.parse(written)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(written) ? written : null
}
