/** Text as it is compared: case, accents and forms of one character do not matter. */

/** Letters that no decomposition brings down to ASCII. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
}
/** Decomposed they would run into the number before them: `123½` is not 1231/2. */
const FRACTIONS: Readonly<Record<string, string>> = {
  '¼': ' 1/4 ',
  '½': ' 1/2 ',
  '¾': ' 3/4 ',
  '⅓': ' 1/3 ',
  '⅔': ' 2/3 ',
  '⅛': ' 1/8 ',
  '⅜': ' 3/8 ',
  '⅝': ' 5/8 ',
  '⅞': ' 7/8 ',
}

export function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 128) return false
  return true
}

/**
 * Lower case without accents, invisible characters, typographic quotes and dashes; at most `most`
 * characters are read. `Peñón` is `penon`, `Ｍａｉｎ` is `main`, `O’Brien` is `o'brien`, `123½` is `123
 * 1/2 `.
 */
export function folded(text: string, most: number): string {
  const cut = text.length > most ? text.slice(0, most) : text
  if (isAscii(cut)) return cut.toLowerCase()
  return cut
    .toLowerCase()
    .replaceAll(/[¼½¾⅓⅔⅛⅜⅝⅞]/g, (sign) => FRACTIONS[sign] ?? sign)
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Cf}]+/gu, '')
    .replaceAll(/[ßæœøłđðþı]/g, (letter) => LETTERS[letter] ?? letter)
    .replaceAll(/[\u2018\u2019\u201B\u02BC\u0060\u00B4]/g, "'")
    .replaceAll(/\p{Pd}|\u2212/gu, '-')
    .replaceAll('\u2044', '/')
}

/** The letters and digits of a folded text, in words. */
export function wordsOf(text: string): string[] {
  return text.match(isAscii(text) ? /[a-z0-9]+/g : /[\p{L}\p{N}]+/gu) ?? []
}
