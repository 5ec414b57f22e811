/** Days as distributors write them. */
import { DAY, dayOf } from '../core/clock.js'

/** Days that a spreadsheet counts begin with this one. */
const FIRST = Date.UTC(1899, 11, 30)
/** Numbers of days from 1982 to 2064: a year, or a number that is none, is another. */
const COUNTED = /^[3-5]\d{4}$/

/** `YYYY-MM-DD` of a day as a person, a program or a spreadsheet writes it; null for anything else. */
export function writtenDay(text: string): string | null {
  const [, month, day, year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})/.exec(text) ?? []
  if (year !== undefined) return `${year}-${month!.padStart(2, '0')}-${day!.padStart(2, '0')}`
  const parts = /^(\d{4})-?(\d{2})-?(\d{2})/.exec(text)
  if (parts) return `${parts[1]}-${parts[2]}-${parts[3]}`
  return COUNTED.test(text) ? dayOf(FIRST + Number(text) * DAY) : null
}
