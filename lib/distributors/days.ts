/** Days as distributors write them, and as several of them count them. */
import { DAY, dayOf } from '../core/clock.js'

/** Days that a spreadsheet counts begin with this one. */
const FIRST = Date.UTC(1899, 11, 30)
/** Numbers of days from 1982 to 2064: a year, or a number that is none, is another. */
const COUNTED = /^[3-5]\d{4}$/

/** Made when a day is first asked for: it takes longer than most of a program's start. */
let central: Intl.DateTimeFormat | undefined

/**
 * `YYYY-MM-DD` of a day as a person, a program or a spreadsheet writes it, whatever follows; null
 * for what is no day.
 */
export function writtenDay(text: string): string | null {
  if (COUNTED.test(text)) return dayOf(FIRST + Number(text) * DAY)
  const [, y1, m1, d1] = /^(\d{4})-?(\d{2})-?(\d{2})(?!\d)/.exec(text) ?? []
  const [, m2, d2, y2] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?!\d)/.exec(text) ?? []
  const [year, month, day] = [y1 ?? y2, m1 ?? m2, d1 ?? d2]
  if (year === undefined) return null
  const written = `${year}-${month!.padStart(2, '0')}-${day!.padStart(2, '0')}`
  const ms = Date.parse(written)
  return !Number.isNaN(ms) && dayOf(ms) === written ? written : null
}

/** The day in Central time, `YYYY-MM-DD`: several distributors count by it. */
export function centralDay(ms: number): string {
  central ??= new Intl.DateTimeFormat('en-CA', {
    timeZone: 'America/Chicago',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  return central.format(ms)
}
