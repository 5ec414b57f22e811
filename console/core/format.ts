/** Figures, money and times as a person reads them. */
import { signal } from '@preact/signals'

/** Minutes that a page may be open for: relative times follow it. */
export const now = signal(Date.now())

/** Lets relative times go on; twice a minute is enough for what is told in minutes. */
export function startClock(): void {
  window.setInterval(() => {
    now.value = Date.now()
  }, 20_000)
}

const whole = new Intl.NumberFormat('en-US')
const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })
const short = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })
const percents = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 })

export const count = (value: number) => whole.format(value)
export const compact = (value: number) => short.format(value)
export const percent = (fraction: number) => percents.format(fraction)
export const money = (value: number | null | undefined) =>
  value === null || value === undefined ? '–' : dollars.format(value)

/** `one order`, `3 orders`. */
export const counted = (value: number, one: string, many = `${one}s`) =>
  `${whole.format(value)} ${value === 1 ? one : many}`

const BYTES = ['B', 'kB', 'MB', 'GB', 'TB']

export function bytes(value: number): string {
  const power = value < 1 ? 0 : Math.min(BYTES.length - 1, Math.floor(Math.log10(value) / 3))
  const shown = value / 1000 ** power
  return `${power === 0 || shown >= 100 ? Math.round(shown) : shown.toFixed(1)} ${BYTES[power]}`
}

/** Milliseconds since 1970 of a text that is a time: RFC 3339, or `YYYY-MM-DD HH:MM:SS` in UTC. */
export function timeOf(text: string): number {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text)
  return Date.parse(
    day ? `${text}T00:00:00Z` : text.includes('T') ? text : `${text.replace(' ', 'T')}Z`,
  )
}

const STEPS: readonly (readonly [number, Intl.RelativeTimeFormatUnit])[] = [
  [60, 'second'],
  [60, 'minute'],
  [24, 'hour'],
  [30, 'day'],
  [12, 'month'],
  [Infinity, 'year'],
]
const relativeTime = new Intl.RelativeTimeFormat('en-US', { numeric: 'auto' })

/** `5 minutes ago`, `in 3 days`. */
export function ago(at: number, from: number): string {
  let value = Math.round((at - from) / 1000)
  if (Math.abs(value) < 20) return relativeTime.format(0, 'second')
  for (const [size, unit] of STEPS) {
    if (Math.abs(value) < size) return relativeTime.format(Math.trunc(value), unit)
    value /= size
  }
  return ''
}

const exactTime = new Intl.DateTimeFormat('en-US', {
  dateStyle: 'medium',
  timeStyle: 'long',
  timeZone: 'UTC',
})

export const exact = (at: number) => exactTime.format(at)

/** `Nov 21`. */
const dayFormat = new Intl.DateTimeFormat('en-US', {
  month: 'short',
  day: 'numeric',
  timeZone: 'UTC',
})
export const day = (at: number) => dayFormat.format(at)

export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`
  if (seconds < 48 * 3600) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} days`
}

/** `Partially Fulfilled` of `partially_fulfilled`. */
export const words = (text: string) => {
  const plain = text
    .split(/[_-]/)
    .map((word) => ABBREVIATIONS.get(word.toLowerCase()) ?? word.replace(/^[A-Z]+$/, lowered))
    .join(' ')
  return plain.charAt(0).toUpperCase() + plain.slice(1)
}

const lowered = (word: string) => word.toLowerCase()

/** Words of names that are written in capitals, by their small letters. */
const ABBREVIATIONS = new Map(
  [
    'API',
    'FFL',
    'FTP',
    'ID',
    'IP',
    'MAP',
    'MSRP',
    'POS',
    'SID',
    'SKU',
    'SMS',
    'UPC',
    'URL',
    'ZIP',
  ].map((word) => [word.toLowerCase(), word] as const),
)
