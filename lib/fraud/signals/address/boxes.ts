/**
 * Places that mail knows by a box and not by a street: post offices, rural routes, highway
 * contracts, the military.
 */
import { COMMA } from './tokens.js'
import { wordAt } from './postal-words.js'

export interface Boxes {
  /** `po 12`, `rr 2 box 15`, `hc 1 box 12`, `psc 1 box 2`. */
  readonly boxes: readonly string[]
  /** What else the lines say. */
  readonly rest: readonly string[]
}

const NUMBER_SIGNS = new Set(['#', 'no', 'num', 'number', 'nbr', COMMA])
const BOX = new Set(['box', 'bx', 'boxes', 'bo'])
/** What Publication 28 (283) makes a PO box of. */
const PO_WORDS = new Set([...BOX, 'drawer', 'drwr', 'lockbox', 'bin', 'caller', 'b'])
const ROUTE_WORDS = new Set(['route', 'rt', 'rte', 'rd', 'delivery'])
const BOX_BEGINS = 'p|po|p0|pob|pobx|pobox|post|postal'
const ROUTE_BEGINS = 'r|rr|rfd|rd|rt|rte|route|rural|h|hc|hcr|highway|hwy|star|c|cmr|psc|unit'
const CANDIDATES = new RegExp(`^(?:${BOX_BEGINS}|${ROUTE_BEGINS})(?:\\d.*)?$`)
const GLUED = /^(pob|pobx|pobox|rr?|rfd|rt|rte|hc|hcr|psc|cmr|box|bx)(\d.*)$/

const isIdentifier = (word: string | undefined) =>
  word !== undefined &&
  ((/^[a-z]{0,2}\d[\da-z-]*$/.test(word) && word.length <= 12) || /^[a-z]$/.test(word))
const isRouteNumber = (word: string | undefined) =>
  word !== undefined && /^\d{1,4}[a-z]?$/.test(word)
const withoutZeros = (number: string) => number.replace(/^0+(?=.)/, '')

interface Match {
  readonly text: string
  readonly next: number
}

function skipSigns(tokens: readonly string[], from: number): number {
  let at = from
  while (at < tokens.length && NUMBER_SIGNS.has(wordAt(tokens, at))) at++
  return at
}

/**
 * A box's own number: `12`, `12-a` as `12a`; a single letter behind it belongs to it where the line
 * ends there.
 */
function identifierAt(tokens: readonly string[], from: number): Match | null {
  const at = skipSigns(tokens, from)
  const word = wordAt(tokens, at)
  if (!isIdentifier(word)) return null
  const letter = tokens[at + 1]
  const isEnd = tokens[at + 2] === undefined || tokens[at + 2] === COMMA
  return isEnd && letter !== undefined && /^[a-z]$/.test(letter) && /\d$/.test(word)
    ? { text: word + letter, next: at + 2 }
    : { text: word, next: at + 1 }
}

/** `P.O. Box 12`, `POB 12`, `Post Office Box 12`, `PO Drawer 12`. */
function poBoxAt(tokens: readonly string[], from: number): Match | null {
  let at = from
  let isSaid = false
  const word = tokens[at++]
  // With a zero for the O, as people write who are told that no PO box is taken.
  if (word === 'p' && (tokens[at] === 'o' || tokens[at] === '0')) at++
  else if (
    word === 'post' &&
    (tokens[at] === 'office' || tokens[at] === 'off' || tokens[at] === 'ofc')
  )
    at++
  else if (word === 'pob' || word === 'pobx' || word === 'pobox') isSaid = true
  else if (word !== 'po' && word !== 'p0' && word !== 'postal' && word !== 'post') return null
  if (tokens[at] === 'lock' && BOX.has(tokens[at + 1] ?? '')) at++
  const next = skipSigns(tokens, at)
  if (PO_WORDS.has(tokens[next] ?? '')) {
    at = next + 1
    isSaid = true
  }
  if (tokens[at] === 'x') at++
  const id = identifierAt(tokens, at)
  // `PO 12` is a box where it is the whole line; `Post 12` is not a box.
  const isWhole =
    (from === 0 || tokens[from - 1] === COMMA) &&
    (tokens[id?.next ?? at] === undefined || tokens[id?.next ?? at] === COMMA)
  return id && (isSaid || (isWhole && word !== 'post' && word !== 'postal' && /\d/.test(id.text)))
    ? { text: `po ${id.text}`, next: id.next }
    : null
}

/** The kind of a numbered route and where its number stands. */
function routeKind(tokens: readonly string[], from: number): { kind: string; at: number } | null {
  const [word, second, third] = [tokens[from], tokens[from + 1], tokens[from + 2]]
  if (
    word === 'rr' ||
    word === 'rfd' ||
    word === 'rd' ||
    word === 'rt' ||
    word === 'rte' ||
    word === 'route'
  )
    return { kind: 'rr', at: from + (ROUTE_WORDS.has(second ?? '') ? 2 : 1) }
  if (word === 'r')
    return {
      kind: 'rr',
      at: from + (second === 'r' || second === 'd' ? 2 : second === 'f' && third === 'd' ? 3 : 1),
    }
  if (word === 'rural')
    return ROUTE_WORDS.has(second ?? '')
      ? { kind: 'rr', at: from + 2 }
      : { kind: 'rr', at: from + 1 }
  // H.C., P.S.C. and C.M.R. with blanks.
  if (word === 'h' && second === 'c')
    return { kind: 'hc', at: from + (third === 'r' || ROUTE_WORDS.has(third ?? '') ? 3 : 2) }
  if (
    (word === 'p' && second === 's' && third === 'c') ||
    (word === 'c' && second === 'm' && third === 'r')
  )
    return { kind: `${word}${second}${third}`, at: from + 3 }
  if (word === 'hc' || word === 'hcr')
    return { kind: 'hc', at: from + (ROUTE_WORDS.has(second ?? '') ? 2 : 1) }
  if ((word === 'highway' || word === 'hwy') && second === 'contract')
    return { kind: 'hc', at: from + (ROUTE_WORDS.has(third ?? '') ? 3 : 2) }
  if (word === 'star' && ROUTE_WORDS.has(second ?? '')) return { kind: 'hc', at: from + 2 }
  return word === 'psc' || word === 'cmr' || word === 'unit' ? { kind: word, at: from + 1 } : null
}

/**
 * `RR 2 Box 15`, `HC 1 Box 12`, `PSC 1 Box 2`; only at the start of a line, since `120 Route 2 Box
 * 15` has a street.
 */
function routeAt(tokens: readonly string[], from: number): Match | null {
  const route = routeKind(tokens, from)
  if (!route) return null
  let at = skipSigns(tokens, route.at)
  const number = wordAt(tokens, at)
  if (!isRouteNumber(number)) return null
  at++
  while (tokens[at] === COMMA) at++
  const sign = tokens[at]
  if (sign === undefined || (!BOX.has(sign) && sign !== '#')) return null
  const id = identifierAt(tokens, at + 1)
  // `Unit 5, Box 3` is military mail only where no street is told.
  if (!id || (route.kind === 'unit' && (from > 0 || id.next < tokens.length))) return null
  return { text: `${route.kind} ${withoutZeros(number)} box ${id.text}`, next: id.next }
}

/**
 * Takes the boxes out of the words of an address. `Box 12` alone is one where nothing else is told.
 */
export function takeBoxes(words: readonly string[]): Boxes {
  const first = words[0]
  if (
    !words.some((word) => CANDIDATES.test(word)) &&
    first !== 'box' &&
    first !== 'bx' &&
    !/^bo?x\d/.test(first ?? '')
  )
    return { boxes: [], rest: words }
  const tokens = words.flatMap((word) => GLUED.exec(word)?.slice(1) ?? [word])
  const boxes: string[] = []
  const rest: string[] = []
  for (let i = 0; i < tokens.length;) {
    const isStart = i === 0 || tokens[i - 1] === COMMA
    const match = poBoxAt(tokens, i) ?? (isStart ? routeAt(tokens, i) : null)
    if (match) boxes.push(match.text)
    else rest.push(wordAt(tokens, i))
    i = match ? match.next : i + 1
  }
  if (boxes.length === 0 && BOX.has(wordAt(tokens, 0))) {
    const id = identifierAt(tokens, 1)
    if (id && id.next === tokens.length) return { boxes: [`po ${id.text}`], rest: [] }
  }
  return boxes.length === 0 ? { boxes, rest: words } : { boxes: [...new Set(boxes)], rest }
}
