/**
 * What a feed's cell may look like, and what it means. A cast that cannot read a cell returns
 * undefined: a bad row.
 */
import { DAY } from '../../core/clock.js'

/** The greatest quantity and price that fit the catalog's columns. */
export const MAX_INT = 2_147_483_647

/**
 * A stock count: `5`, `0000005`, `5.0`, `1,200`, `99+` (at least 99, so 99), `A*` (allocated, so
 * 0), blank (0). Negative counts, fractions and words are undefined: guessing a stock sells what is
 * not there.
 */
export function readQty(cell: string): number | undefined {
  const text = cell.trim()
  if (text === '' || text === 'A*') return 0
  if (!/^(\d+|\d{1,3}(,\d{3})+)(\.0*)?\+?$/.test(text)) return undefined
  return Math.min(Number(text.replaceAll(',', '').replace('+', '')), MAX_INT)
}

/**
 * Text without control characters (newline and tab aside) and outer blanks; '' where there is none.
 */
export function readText(cell: string): string {
  const text = cell.trim()
  const clean = CONTROL.test(text)
    ? text.replace(/\r\n?/g, '\n').replaceAll(CONTROLS, ' ').trim()
    : text
  return /^(nan|n\/a|null)$/i.test(clean) ? '' : clean
}

// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL = /[\u0000-\u0008\u000B-\u001F\u007F]/
const CONTROLS = new RegExp(`${CONTROL.source}+`, 'g')

/**
 * The last millisecond of a day such as `3/31/2023` or `2023-03-31`, in UTC; undefined for what is
 * no date, null for blank.
 */
export function readEndOfDay(cell: string): number | null | undefined {
  const text = cell.trim()
  if (text === '') return null
  const american = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text)
  const iso = /^(\d{4})-(\d{2})-(\d{2})/.exec(text)
  const parts = american ? [american[3], american[1], american[2]] : iso ? iso.slice(1, 4) : null
  if (!parts) return undefined
  const [year, month, day] = parts.map(Number) as [number, number, number]
  const start = Date.UTC(year, month - 1, day)
  return new Date(start).getUTCDate() === day ? start + DAY - 1 : undefined
}

/**
 * The form under which column names and listed values are compared: outer blanks and case do not
 * matter.
 */
export function fold(text: string): string {
  return text.trim().toLowerCase()
}
