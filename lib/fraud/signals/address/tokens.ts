/** Lines of an address as words. A comma between them is a word of its own. */
import { folded } from '../fold.js'
import { ordinalWord, suffix, tensWord, wordAt } from './postal-words.js'

/** Nobody's line is longer; what follows is not read. */
const LONGEST_LINE = 200
export const COMMA = ','

const isDigit = (code: number) => code >= 48 && code <= 57
const isLetter = (code: number) => (code >= 97 && code <= 122) || code >= 128

/**
 * The words of a line, in lower case: letters and digits; `#` and `,` for themselves, `and` for
 * `&`, `c/o`, fractions, and numbers with what their hyphens join (`112-10`, `12-a` as `12a`). Full
 * stops join initials (`n.w.` is `nw`). Words in brackets at the end are set off by a comma: `Main
 * St (house)`.
 */
export function tokensOf(line: string): string[] {
  const text = folded(line, LONGEST_LINE)
  const bracket = text.includes(')') ? / \([^()\d]*\)\s*$/.exec(text)?.index : undefined
  const tokens: string[] = []
  let word = ''
  const end = () => {
    if (word !== '') tokens.push(word)
    word = ''
  }
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (isDigit(code) || isLetter(code)) {
      word += text[i]
      continue
    }
    const next = text.charCodeAt(i + 1)
    if ((code === 39 || code === 96) && word !== '' && isLetter(next)) continue
    if (word !== '' && joins(code, word, next, text.charCodeAt(i + 2))) {
      if (
        code === 45
          ? isDigit(next) && isDigit(word.charCodeAt(word.length - 1))
          : code !== 46 || isDigit(next)
      )
        word += text[i]
      continue
    }
    end()
    if (code === 44 || code === 59 || code === 10 || code === 13 || i === bracket)
      tokens.push(COMMA)
    else if (code === 35) tokens.push('#')
    else if (code === 38) tokens.push('and')
    else if (code === 37) tokens.push('c/o')
  }
  end()
  return ordinalsIn(tokens)
}

/** Whether a sign between two characters joins them to one word. */
function joins(sign: number, word: string, next: number, afterNext: number): boolean {
  const last = word.charCodeAt(word.length - 1)
  const nextIsAlone = !isLetter(afterNext) && !isDigit(afterNext)
  // Full stops: 39.2 and n.w., but not "st.apt 4".
  if (sign === 46)
    return isDigit(last)
      ? isDigit(next) && /^\d+$/.test(word)
      : isLetter(next) &&
          nextIsAlone &&
          /^[a-z]{1,3}$/.test(word) &&
          (word.length === 1 || afterNext === 46)
  // Hyphens: 112-10, 12-a and b-4; words that they join are words of their own.
  if (sign === 45)
    return isDigit(last)
      ? isDigit(next) || (isLetter(next) && (nextIsAlone || isDirectionAndDigit(next, afterNext)))
      : isDigit(next) && /^(?:[a-z]|[nsew]?\d+[a-z])$/.test(word)
  // Slashes: 1/2, 912/914 and c/o.
  if (sign === 47)
    return (isDigit(last) && isDigit(next)) || (word === 'c' && next === 111 && nextIsAlone)
  return false
}

const isDirectionAndDigit = (next: number, afterNext: number) =>
  (next === 110 || next === 115 || next === 101 || next === 119) && isDigit(afterNext)

/** Ordinals as digits and `th`, whatever their ending: `first`, `1st`, `twenty-second`, `22d`. */
function ordinalsIn(tokens: string[]): string[] {
  for (let i = 0; i < tokens.length; i++) {
    const token = wordAt(tokens, i)
    const first = token.charCodeAt(0)
    if (isDigit(first)) {
      const last = token.charCodeAt(token.length - 1)
      if (last !== 104 && last !== 116 && last !== 100) continue
      const match = /^(\d+)(?:st|[nr]?d|th)$/.exec(token)
      // `22d St` is an old spelling of 22nd; elsewhere 22d is a number with a letter.
      if (
        match &&
        (!/\dd$/.test(token) ||
          (i > 0 && /[23]d$/.test(token) && suffix(tokens[i + 1]) !== undefined))
      )
        tokens[i] = `${match[1]}th`
      continue
    }
    const whole = ordinalWord(token)
    if (whole !== undefined) tokens[i] = `${whole}th`
    const ten = tensWord(token)
    const one = ten === undefined ? undefined : ordinalWord(tokens[i + 1])
    if (ten !== undefined && one !== undefined && one < 10) tokens.splice(i, 2, `${ten + one}th`)
  }
  return tokens
}
