/** Money is whole cents inside and a number with at most two decimals outside. */

/**
 * Dollars to cents, halves rounded away from zero: 12.5 -> 1250, 1.005 -> 101 as a person would
 * round what was written.
 */
export function toCents(dollars: number): number {
  const cents = Number(`${Math.abs(dollars)}e2`)
  const rounded = Number.isNaN(cents) ? Math.round(Math.abs(dollars) * 100) : Math.round(cents)
  return dollars < 0 ? -rounded : rounded
}

/**
 * Whether an amount in dollars is one of whole cents, as every amount from outside must be.
 */
export function hasWholeCents(dollars: number): boolean {
  return Number(dollars.toFixed(2)) === dollars
}

/** What is said of an amount that is not. */
export const WHOLE_CENTS = 'must have at most two decimals'

/** Cents to the number that goes on the wire: 1250 -> 12.5. */
export function toDollars(cents: number): number {
  return cents / 100
}

/** As `toDollars`, for a column in which a negative value stands for "none". */
export function toDollarsOrNull(cents: number): number | null {
  return cents < 0 ? null : cents / 100
}

/**
 * `toDollars` as JSON text, without the detour over floating point: 1250 -> `12.5`. Takes no
 * negative amount.
 */
export function dollarsText(cents: number): string {
  const dollars = Math.floor(cents / 100)
  const rest = cents - dollars * 100
  if (rest === 0) return `${dollars}`
  if (rest % 10 === 0) return `${dollars}.${rest / 10}`
  return rest < 10 ? `${dollars}.0${rest}` : `${dollars}.${rest}`
}

/**
 * Text of a feed to cents: `$1,234.00`, ` 12.5 `, `.99`. Null for blank, `nan`, `N/A`; undefined
 * for what is not an amount.
 */
export function parseMoney(text: string): number | null | undefined {
  const bare = text.trim().replace(/^\$\s*/, '')
  if (bare === '' || /^(nan|n\/a|null|none|-)$/i.test(bare)) return null
  const plain = /^\d{1,3}(,\d{3})+(\.\d*)?$/.test(bare) ? bare.replaceAll(',', '') : bare
  if (!/^(\d+(\.\d*)?|\.\d+)$/.test(plain)) return undefined
  const cents = toCents(Number(plain))
  return cents <= MAX_CENTS ? cents : undefined
}

/** The dearest price that fits the catalog's columns: just under 21.5 million dollars. */
export const MAX_CENTS = 2_147_483_647
