/** One string per telephone: `+` and digits, and an extension behind `x`. */
import { countryCode, isNorthAmerican } from './countries.js'

/** Nobody's number is written longer. */
const LONGEST_TEXT = 64
/** E.164. */
const MOST_DIGITS = 15
const FEWEST_DIGITS = 8
const KEYPAD = ['abc', 'def', 'ghi', 'jkl', 'mno', 'pqrs', 'tuv', 'wxyz']
const keyOf = new Map(
  KEYPAD.flatMap((letters, i) => [...letters].map((letter) => [letter, String(i + 2)] as const)),
)
const TOLL_FREE = /^8(?:00|33|44|55|66|77|88)/
/**
 * Behind a digit or a sign, in brackets or not; within a word of the keypad (`NEXT-123`) those
 * letters are none.
 */
const EXTENSION =
  /(?:\s*[,;]?\s*\(?\s*(?:(?<![a-z])(?:extension|extn|ext)|x|#)\.?\s*[:=#-]?\s*|\s*[,;]\s*)(\d{1,7})\s*\)?\s*$/

/**
 * The string that every spelling of a number shares: `(602) 555-0100`, `1-602-555-0100` and `+1
 * 602.555.0100` are `+16025550100`; `country` (the customer's; US where it is unknown) says what a
 * number without `+` means. Null for what nobody can be called at, and for what everybody types:
 * `000-000-0000`, `123-456-7890`, `602-555-5555`, `867-5309`.
 *
 * An extension is kept (`+16025550100x12`): behind the number of a company, a dormitory or an
 * inmate line each extension is another person, so that dropping it would match strangers. Nothing
 * is lost by it: who adds an extension to escape a match could as well have typed another number.
 */
export function normalizePhone(text: string, country?: string | null): string | null {
  if (text.length > LONGEST_TEXT) return null
  const folded = text
    .normalize('NFKC')
    .toLowerCase()
    .trim()
    .replace(/^(?:tel|phone|cell|mobile|home|work):\s*/, '')
  const extension = EXTENSION.exec(folded)
  const main = extension ? folded.slice(0, extension.index) : folded
  const number = e164(main, country)
  return number === null ? null : extension ? `${number}x${extension[1]}` : number
}

function e164(text: string, country?: string | null): string | null {
  const home = countryCode(country)
  const isAbroad = /^\W*\+/.test(text)
  // The zero of "+44 (0)20" is dialled at home only.
  const digits = (isAbroad ? text.replace(/\(0\)/, '') : text).replaceAll(/\D/g, '')
  // What is written between digits parts them: `602-555-010 room 5` is not 602-555-0105.
  if (/\d\D*\p{L}\D*\d/u.test(text))
    return !isAbroad && isNorthAmerican(home) ? phoneword(text) : null
  if (isAbroad) return international(digits)
  if (!isNorthAmerican(home))
    return digits.startsWith('00') ? international(digits.slice(2)) : national(digits, home)
  if (digits.startsWith('0111') && digits.length === 14) return northAmerican(digits.slice(4))
  if (digits.startsWith('011')) return international(digits.slice(3))
  if (digits.startsWith('001') && digits.length === 13) return northAmerican(digits.slice(3))
  if (digits.length === 10) return northAmerican(digits)
  if (digits.length === 11 && digits.startsWith('1')) return northAmerican(digits.slice(1))
  return phoneword(text)
}

function international(digits: string): string | null {
  if (digits.startsWith('1')) return digits.length === 11 ? northAmerican(digits.slice(1)) : null
  if (
    digits.length < FEWEST_DIGITS ||
    digits.length > MOST_DIGITS ||
    digits.startsWith('0') ||
    isTypedByAll(digits)
  )
    return null
  return `+${digits}`
}

/**
 * A number of another country as it is dialled there. What its plan makes of it is not known here,
 * so it stays one of its own.
 */
function national(digits: string, country: string): string | null {
  if (digits.length < FEWEST_DIGITS - 1 || digits.length > MOST_DIGITS || isTypedByAll(digits))
    return null
  return `${country} ${digits}`
}

/** Ten digits of the North American plan; null where no such number can be given out. */
function northAmerican(digits: string): string | null {
  const [area, exchange, line] = [digits.slice(0, 3), digits.slice(3, 6), digits.slice(6)]
  if (!/^[2-9]\d\d$/.test(area) || area[1] === '9' || area.endsWith('11')) return null
  // 1-800-411-7246 is one: only area codes of places have no N11 exchanges.
  if (!/^[2-9]\d\d$/.test(exchange) || (exchange.endsWith('11') && !TOLL_FREE.test(area)))
    return null
  if (isTypedByAll(digits) || isTypedByAll(exchange + line)) return null
  return `+1${digits}`
}

/** Directory assistance, and the number of a song. */
const FAMOUS = new Set(['5551212', '8675309'])

/** Digits that are one digit, or count up or down: typed to get past a form. */
function isTypedByAll(digits: string): boolean {
  if (FAMOUS.has(digits)) return true
  const step = (Number(digits[1]) - Number(digits[0]) + 10) % 10
  if (step !== 0 && step !== 1 && step !== 9) return false
  for (let i = 2; i < digits.length; i++)
    if ((Number(digits[i]) - Number(digits[i - 1]) + 10) % 10 !== step) return false
  return true
}

/**
 * `1-800-FLOWERS`: an area code and letters of the keypad; those behind the tenth are not dialled,
 * but digits there (`room 5`) are another person.
 */
function phoneword(text: string): string | null {
  const match = /^1?([2-9]\d\d)([2-9a-z][\da-z]{6})([a-z]{0,5})$/.exec(
    text.replaceAll(/[\s().\-*/]/g, ''),
  )
  // An O between digits is a zero misread, and no word.
  const [, area, word = '', more = ''] = match ?? []
  if (area === undefined || !/[a-z]{3}/.test(word + more) || /^[\do]+$/.test(word + more))
    return null
  return northAmerican(area + word.replaceAll(/[a-z]/g, (letter) => keyOf.get(letter) ?? letter))
}
