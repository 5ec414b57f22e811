/**
 * One thing in several spellings, for the index and for the query alike: letters
 * and digits joined or apart (`AR15`, `AR 15`), generations (`G5`, `Gen 5`, `5th generation`) and
 * brands (`GLK`, `S&W`; data/spellings).
 */
import spellings from '../../../data/spellings/words.json' with { type: 'json' }
import { chunksOf } from './tokens.js'
import type { Chunk } from './tokens.js'

/** What a query asks of the words of an offer. */
export type Condition =
  | { word: string; isWhole: boolean }
  | { all: readonly Condition[] }
  | { any: readonly Condition[] }

/** A spelling that stands at some place, and the words that it means. */
interface Phrase {
  /** How many runs it takes. */
  runs: number
  means: readonly string[]
}

interface Spelling {
  next: Map<string, Spelling>
  means: readonly string[] | null
  /** Where it counts: see the data. */
  where: Where
}

type Where = 'anywhere' | 'first' | 'notAfterNumber'

const ORDINALS = ['st', 'nd', 'rd', 'th', 'th', 'th', 'th', 'th', 'th']

/**
 * Letters, or digits: `19g5` has the runs 19, g and 5. The x between two numbers parts nothing:
 * 9x19, 3-9x40.
 */
const RUN = /[0-9]+(?:x[0-9]+)*|[^0-9]+/g

export function runsOf(word: string): string[] {
  return word.match(RUN) ?? []
}

const isNumber = (run: string) => run >= '0' && run < ':'

const table = spellingTable()

function spellingTable(): Spelling {
  const root: Spelling = { next: new Map(), means: null, where: 'anywhere' }
  const add = (text: string, means: readonly string[], where: Where = 'anywhere') => {
    let node = root
    for (const run of wordsOf(text).flatMap(runsOf)) {
      const next: Spelling = node.next.get(run) ?? { next: new Map(), means: null, where }
      node.next.set(run, next)
      node = next
    }
    Object.assign(node, { means, where })
  }
  const { brands, generations } = spellings as typeof spellings & { brands: BrandSpellings[] }
  ORDINALS.forEach((ordinal, i) => {
    const means = [`gen${i + 1}`]
    for (const before of generations.before) add(`${before} ${i + 1}`, means)
    for (const after of generations.after) add(`${i + 1}${ordinal} ${after}`, means)
  })
  for (const { name, ...lists } of brands) {
    for (const where of ['anywhere', 'first', 'notAfterNumber'] as const) {
      for (const text of lists[where] ?? []) add(text, wordsOf(name), where)
    }
  }
  return root
}

interface BrandSpellings extends Partial<Record<Where, string[]>> {
  name: string
}

function wordsOf(text: string): string[] {
  return chunksOf(text).flatMap(({ parts }) => parts)
}

/** Whether a spelling begins with this run. */
export function beginsSpelling(run: string): boolean {
  return table.next.has(run)
}

/** The longest spelling at a place of a text's runs; undefined where there is none. */
export function phraseAt(runs: readonly string[], at: number): Phrase | undefined {
  let found: Phrase | undefined
  let node = table.next.get(runs[at]!)
  for (let end = at + 1; node; end++) {
    const { means, where } = node
    const counts =
      at === 0 || where === 'anywhere' || (where === 'notAfterNumber' && !isNumber(runs[at - 1]!))
    if (means && counts) found = { runs: end - at, means }
    node = end < runs.length ? node.next.get(runs[end]!) : undefined
  }
  return found
}

/** A run of the query with its chunk, and whether a word of the query begins and ends with it. */
interface Place {
  run: string
  chunk: number
  begins: boolean
  ends: boolean
}

/** Conditions that an offer must all meet; none where the query has no word. */
export function conditionsOf(query: string): Condition[] {
  const chunks = chunksOf(query)
  const places = placesOf(chunks)
  const runs = places.map(({ run }) => run)
  const conditions: Condition[] = []
  for (let from = 0; from < places.length;) {
    const pieces: Piece[] = []
    let to = from
    // What one spelling spans is one condition: "smith and wesson".
    for (let last = places[from]!.chunk; to < places.length && places[to]!.chunk <= last;) {
      const phrase = phraseAt(runs, to)
      const length = phrase?.runs ?? 1
      pieces.push({ places: places.slice(to, to + length), means: phrase?.means ?? null })
      to += length
      last = Math.max(last, places[to - 1]!.chunk)
    }
    const own = chunks.slice(places[from]!.chunk, places[to - 1]!.chunk + 1)
    const joined = own.length === 1 ? withNeighbor(chunks[places[from]!.chunk - 1], own[0]!) : []
    conditions.push(anyOf([allOf(own.map(literally)), ...inPieces(pieces), ...joined]))
    from = to
  }
  return withoutImplied(conditions)
}

/** Some runs of the query: a spelling with its meaning, or else a single run. */
interface Piece {
  places: Place[]
  means: readonly string[] | null
}

function placesOf(chunks: readonly Chunk[]): Place[] {
  return chunks.flatMap(({ parts }, chunk) =>
    parts.flatMap((part) => {
      const runs = runsOf(part)
      return runs.map((run, i) => ({ run, chunk, begins: i === 0, ends: i === runs.length - 1 }))
    }),
  )
}

/** As it stands: every part begins a word, or else the parts in one do. */
function literally({ parts, joined }: Chunk): Condition {
  const apart = allOf(parts.map(begins))
  return joined === null ? apart : anyOf([apart, begins(joined)])
}

/**
 * With letters and digits apart, and spellings by what they mean; nothing where that is how it
 * stands.
 */
function inPieces(pieces: readonly Piece[]): Condition[] {
  const all: Condition[] = []
  let rest: Place[] = []
  const endRest = () => {
    if (rest.length > 1)
      all.push(anyOf([begins(rest.map(({ run }) => run).join('')), allOf(rest.map(asRun))]))
    else if (rest.length === 1)
      all.push(rest[0]!.begins && rest[0]!.ends ? begins(rest[0]!.run) : asRun(rest[0]!))
    rest = []
  }
  for (const { places, means } of pieces) {
    if (means === null) {
      if (places[0]!.begins) endRest()
      rest.push(places[0]!)
      continue
    }
    endRest()
    all.push(...means.map(begins))
  }
  endRest()
  const isOther = pieces.some(({ places, means }) => means !== null || !places[0]!.begins)
  return isOther ? [allOf(all)] : []
}

/** One or two letters inside of a word are a word: the `ar` of ar15 is not that of armory. */
function asRun({ run }: Place): Condition {
  return { word: run, isWhole: !isNumber(run) && run.length < 3 }
}

/**
 * A number after letters, or the other way around, may be joined to them in a SKU: `PA 195` and
 * PA195S201.
 */
function withNeighbor(before: Chunk | undefined, own: Chunk): Condition[] {
  if (!before || before.joined !== null || own.joined !== null) return []
  const words = [before.parts[0]!, own.parts[0]!]
  const isBorder =
    words.every((word) => runsOf(word).length === 1) && runsOf(words.join('')).length === 2
  return isBorder ? [begins(words.join(''))] : []
}

const begins = (word: string): Condition => ({ word, isWhole: false })
const allOf = (all: Condition[]): Condition => (all.length === 1 ? all[0]! : { all })

/**
 * Without alternatives that add nothing: whatever has `remington` has a word that begins with
 * `rem`.
 */
function anyOf(some: Condition[]): Condition {
  const all = some.flatMap((condition) => ('any' in condition ? condition.any : [condition]))
  const any = all.filter(
    (one, i) =>
      !all.some((other, j) => i !== j && implies(one, other) && (j < i || !implies(other, one))),
  )
  return any.length === 1 ? any[0]! : { any }
}

/**
 * Without conditions that another one implies: whatever has the word `glock` has its prefix `glo`.
 */
function withoutImplied(conditions: readonly Condition[]): Condition[] {
  const all = [
    ...new Map(conditions.map((condition) => [JSON.stringify(condition), condition])).values(),
  ]
  return all.filter((one, i) => !all.some((other, j) => i !== j && implies(other, one)))
}

function implies(condition: Condition, other: Condition): boolean {
  if (!('word' in other) || other.isWhole) return false
  if ('word' in condition) return condition.word.startsWith(other.word)
  return 'all' in condition
    ? condition.all.some((part) => implies(part, other))
    : condition.any.every((part) => implies(part, other))
}
