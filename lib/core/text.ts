/** Rules for text that comes in from outside. */
import { distance } from 'fastest-levenshtein'

/**
 * Why a text is refused, or null: no NUL, no control character but newline and tab, no lone
 * surrogate.
 */
export function textFault(text: string): string | null {
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  const control = /[\u0000-\u0008\u000B-\u001F\u007F]/.exec(text)
  if (control)
    return (
      'holds the control character ' +
      `U+${control[0].charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}; remove it`
    )
  if (/\p{Surrogate}/u.test(text)) return 'holds half of a surrogate pair; send well-formed Unicode'
  return null
}

/** Why a text is not a name: as `textFault`, and it must stand in one line of a list or a log. */
export function nameFault(text: string): string | null {
  return (
    textFault(text) ??
    (/[\n\t\u0080-\u009F\u2028\u2029]/.test(text) ? 'must be one line without tabs' : null)
  )
}

/**
 * Text of somebody else's system for storing and showing: one line without control characters, cut.
 */
export function cleaned(text: string, most: number): string {
  return text
    .replaceAll(UNSEEN, ' ')
    .trim()
    .slice(0, most)
    .replace(/[\uD800-\uDBFF]$/, '')
}

// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const UNSEEN = /[\u0000-\u001F\u007F-\u009F\p{Surrogate}]+/gu

/** A text as a field of CSV: quoted where it must be (RFC 4180), and otherwise as it is. */
export function csvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A text as SQL writes it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** A text as a regular expression that matches it and nothing else. */
export function patternOf(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/**
 * Compares by code point, as every sort on the wire does; `<` compares UTF-16 units, which differ
 * above U+FFFF.
 */
export function byCodePoint(a: string, b: string): number {
  if (a === b) return 0
  const n = Math.min(a.length, b.length)
  for (let i = 0; i < n; i++) {
    let x = a.charCodeAt(i)
    let y = b.charCodeAt(i)
    if (x === y) continue
    // A surrogate stands for a code point above every other UTF-16 unit.
    if (x >= 0xd800 && y >= 0xd800) {
      x = x >= 0xe000 ? x - 0x800 : x + 0x2000
      y = y >= 0xe000 ? y - 0x800 : y + 0x2000
    }
    return x - y
  }
  return a.length - b.length
}

/** Nobody misspells a longer one. */
const LONGEST_NAME = 60

/** The candidate nearest to a misspelt name, for error messages; null where none is close. */
export function nearest(name: string, candidates: Iterable<string>): string | null {
  if (name.length > LONGEST_NAME) return null
  const wanted = name.toLowerCase()
  let best: string | null = null
  let fewest = Math.max(2, Math.floor(name.length / 3)) + 1
  for (const candidate of candidates) {
    const given = candidate.toLowerCase()
    // What differs in length by so much is as many edits away.
    if (Math.abs(given.length - wanted.length) >= fewest) continue
    const edits = distance(wanted, given)
    if (edits < fewest) [best, fewest] = [candidate, edits]
  }
  return best
}
