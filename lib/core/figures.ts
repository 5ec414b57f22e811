/** Numbers as people read them. */

/** `1234567` -> `1,234,567`. */
export const figure = (n: number): string => n.toLocaleString('en-US')

/** Cents as dollars with both decimals: `123450` -> `1,234.50`. */
export const amount = (cents: number): string =>
  (cents / 100).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** Bytes: `1572864` -> `1.5 MB`. */
export const megabytes = (bytes: number): string =>
  `${(bytes / MB).toLocaleString('en-US', { maximumFractionDigits: 1 })} MB`

/** `one` -> `1 time`, `3` -> `3 times`. */
export const times = (n: number, what: string): string =>
  `${figure(n)} ${what}${n === 1 ? '' : 's'}`

/** A megabyte, as this program counts it. */
export const MB = 1_048_576
