/** Days as Lipsey's counts them: in Louisiana. */
import { DAY } from '../../../core/clock.js'
import { centralDay } from '../../days.js'

/** A day as it is asked for, and as it is kept. */
export interface ReportDay {
  /** `MM/DD/YYYY`. */
  readonly asked: string
  /** `YYYY-MM-DD`. */
  readonly day: string
  /** Noon there or close to it, milliseconds since 1970. */
  readonly noon: number
}

/** The day in Louisiana, `YYYY-MM-DD`. */
export const localDay = centralDay

/** Every day from one moment to another, both included. */
export function daysBetween(from: number, to: number): ReportDay[] {
  const days = new Set<string>()
  for (let at = from; at < to; at += DAY) days.add(localDay(at))
  days.add(localDay(to))
  return [...days].map((day) => {
    const [year, month, date] = day.split('-') as [string, string, string]
    return { day, asked: `${month}/${date}/${year}`, noon: Date.parse(`${day}T18:00:00Z`) }
  })
}
