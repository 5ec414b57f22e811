/** Names of persons, for counting how many were used: a name never makes a match. */
import { folded, wordsOf } from './fold.js'

const LONGEST_NAME = 120
const TITLES = new Set('mr mrs ms miss mx dr prof professor rev reverend sir'.split(' '))
const SUFFIXES = new Set(
  'jr sr junior senior ii iii iv esq esquire md phd dds dvm cpa rn'.split(' '),
)

/**
 * Given name and family name, as every spelling has them: `Mr. Pat Q. Doe Jr.`, `DOE, PAT` and `pat
 * doe` are `pat doe`. Accents, apostrophes and initials in the middle do not count, a hyphen is a
 * blank; whole middle names stay. Null where there is no letter.
 */
export function normalizeName(text: string): string | null {
  const parts = folded(text, LONGEST_NAME)
    .replaceAll(/\(.*?\)|['"]/g, '')
    .split(',')
    .map(wordsOf)
  // Behind a comma stands the given name, or a suffix: `Doe, Pat, Jr.`, `Pat Doe, MD`.
  const [first = [], ...others] = parts.map((words) =>
    words.filter((word, i) => !SUFFIXES.has(word) || (i === 0 && words.length > 1)),
  )
  const all = [...others.flat(), ...first]
  const titles = all.findIndex((word) => !TITLES.has(word))
  const words = titles > 0 ? all.slice(titles) : all
  const kept = words.filter((word, i) => i === 0 || i === words.length - 1 || word.length > 1)
  const name = kept.join(' ')
  return /\p{L}/u.test(name) ? name : null
}
