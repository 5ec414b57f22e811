/** UPCs are compared as GTIN-14 and shown as the feed gave them. */

/**
 * Digits of a UPC as one comparable number: its GTIN-14 value. 12, 13 and 14 digits of one item
 * meet; blanks and dashes between them do not matter. Null where it is none.
 */
export function gtinKey(upc: string): number | null {
  const digits = /^\d+$/.test(upc) ? upc : upc.replaceAll(/[\s-]/g, '')
  return /^\d{8,14}$/.test(digits) ? Number(digits) : null
}

/** Whether the last digit is the check digit of the ones before it, left-padded to GTIN-14. */
export function hasValidCheckDigit(digits: string): boolean {
  const padded = digits.padStart(14, '0')
  let sum = 0
  for (let i = 0; i < 14; i++) sum += (padded.charCodeAt(i) - 48) * (i % 2 === 0 ? 3 : 1)
  return sum % 10 === 0
}

/**
 * A UPC out of a feed cell: `#819644028284#`, ` 082442884752`, `82442884752` (leading zero lost),
 * `8.19644E+11`. Null where there is none (`0`, `nan`, blank, letters); lost leading zeros come
 * back only when the check digit proves it.
 */
export function parseUpc(text: string): string | null {
  const bare = text
    .trim()
    .replace(/^['#="]+|['#"]+$/g, '')
    .replace(/\.0$/, '')
    .replace(/[\s-]/g, '')
  if (!/^\d{1,14}$/.test(bare) || /^0+$/.test(bare)) return null
  if (bare.length >= 12) return bare
  if (bare.length >= 6 && bare.length !== 8 && hasValidCheckDigit(bare))
    return bare.padStart(12, '0')
  return bare.length >= 8 ? bare : null
}
