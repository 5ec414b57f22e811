import { csvCell } from '../../core/text.js'
import type { Family } from './market.js'

/** Cents as a feed writes them; blank where there is no amount. */
export function dollars(cents: number | null): string {
  if (cents === null) return ''
  const rest = cents % 100
  return `${(cents - rest) / 100}${rest < 10 ? '.0' : '.'}${rest}`
}

export function pounds(ounces: number): string {
  return dollars(Math.max(5, Math.round((ounces * 100) / 16)))
}

/** Length, width and height in inches: long guns are long, all else is a box of its weight. */
export function packageSize(family: Family, ounces: number): [string, string, string] {
  if (family.class === 'FA' && ounces > 60) return ['46', '9', '4']
  const side = Math.cbrt(ounces * 4)
  return [tenths(side * 1.5), tenths(side), tenths(side * 0.7)]
}

function tenths(inches: number): string {
  const whole = Math.round(inches * 10)
  return `${(whole - (whole % 10)) / 10}.${whole % 10}`
}

/** A row of comma-separated values. */
export function csvRow(cells: string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}
