/** Predicates on attributes, made ready to be asked of many values. */
import type { Possible } from '../destination.js'
import type { FeedFlags } from '../feed-flags.js'
import { attributeName, numberOf, plainValue, words } from '../attributes.js'
import type { AttributeValue } from '../attributes.js'
import type { Predicate } from './rule.js'

/**
 * A value that is told of an attribute, in the forms that rules compare; each is made when it is
 * first asked for.
 */
export class ComparableValue {
  readonly value: AttributeValue
  readonly #name: string
  #plain: string | undefined
  #words: ReadonlySet<string> | undefined
  #number: number | null | undefined

  /** `name` as rules call the attribute. */
  constructor(name: string, value: AttributeValue) {
    this.#name = name
    this.value = value
  }

  get plain(): string {
    return (this.#plain ??= plainValue(this.value))
  }

  get words(): ReadonlySet<string> {
    return (this.#words ??= wordsOf(this.plain))
  }

  get number(): number | null {
    return this.#number === undefined
      ? (this.#number = numberOf(this.value, this.#name))
      : this.#number
  }
}

/**
 * A list of values for each source that tells of an attribute; where they differ, any may be true.
 */
export type AttributeFact = readonly (readonly ComparableValue[])[]

export interface ReadyPredicate {
  readonly predicate: Predicate
  /** As items call the attribute. */
  readonly name: string
  /** True, false, or null where the value cannot tell. */
  readonly meets: (value: ComparableValue) => boolean | null
}

export function readyPredicate(predicate: Predicate): ReadyPredicate {
  const name = attributeName(predicate.name)
  return { predicate, name, meets: valueTest(predicate, name) }
}

/** Attributes whose values rules know one and all: any other word cannot tell. */
const CLOSED = new Map(
  Object.entries({
    frame_receiver: new Set(['serialized', 'unserialized']),
    knife_opening: new Set([
      'automatic',
      'assisted',
      'manual',
      'fixed',
      'ballistic',
      'gravity',
      'butterfly',
      'folding',
    ]),
    nfa_kind: new Set([
      'suppressor',
      'sbr',
      'sbs',
      'aow',
      'machine_gun',
      'machine gun',
      'machinegun',
      'mg',
      'short barreled rifle',
      'short barreled shotgun',
      'any other weapon',
      'destructive device',
      'dd',
    ]),
  }),
)

const TRUTHS = new Map(Object.entries({ true: true, 1: true, false: false, 0: false }))

const not = (answer: boolean | null): boolean | null => (answer === null ? null : !answer)

/** Whether any is true; null where one that is not known might be. */
export const some = (answers: readonly (boolean | null)[]): boolean | null =>
  answers.includes(true) ? true : answers.includes(null) ? null : false

const wordsOf = (text: string): ReadonlySet<string> => new Set(words(text).split(' '))
const isWithin = (few: ReadonlySet<string>, many: ReadonlySet<string>): boolean =>
  few.size <= many.size && [...few].every((word) => many.has(word))

function valueTest({ op, value: wanted }: Predicate, name: string): ReadyPredicate['meets'] {
  if (op === 'exists') return () => wanted as boolean
  if (op === 'eq' || op === 'ne' || op === 'in') {
    const [one, ...others] = [wanted].flat().map((value) => equals(value, name)) as [
      ReadyPredicate['meets'],
      ...ReadyPredicate['meets'][],
    ]
    return op === 'ne'
      ? (value) => not(one(value))
      : others.length === 0
        ? one
        : (value) => some([one, ...others].map((test) => test(value)))
  }
  const bound = wanted as number
  return ({ number }) =>
    number === null
      ? null
      : op === 'gt'
        ? number > bound
        : op === 'gte'
          ? number >= bound
          : op === 'lt'
            ? number < bound
            : number <= bound
}

/**
 * Text meets text as it is written. Null where that cannot tell: a number or truth is asked for and
 * none is given, one text holds all words of the other (`50 BMG (12.7x99 NATO)`), or the word is
 * none that is known of the attribute.
 */
function equals(wanted: AttributeValue, name: string): ReadyPredicate['meets'] {
  const plain = plainValue(wanted)
  const wantedWords = wordsOf(plain)
  const closed = CLOSED.get(name)
  return (value) => {
    if (value.plain === plain) return true
    if (typeof wanted === 'string')
      return (closed && !closed.has(value.plain)) ||
        isWithin(wantedWords, value.words) ||
        isWithin(value.words, wantedWords)
        ? null
        : false
    const found = typeof wanted === 'number' ? value.number : (TRUTHS.get(value.plain) ?? null)
    return found === null ? null : found === wanted
  }
}

/** Attributes of which an item has one value. */
const SINGLE = new Set([
  'action',
  'firearm_type',
  'caliber',
  'frame_receiver',
  'knife_opening',
  'nfa_kind',
  'ammo_kind',
  'restricted_features',
  'machinegun_convertible',
  'gas_operated',
])

/** That an attribute is not told of does not prove that there is none. */
export function askFact(
  { predicate: { op, value }, name, meets }: ReadyPredicate,
  fact: AttributeFact | undefined,
): boolean | null {
  if (!fact) return op === 'exists' && !value ? true : null
  const [first, ...others] = fact
  if (others.length === 0 && first!.length === 1) return meets(first![0]!)
  return unanimous(fact.map((values) => overList(values.map(meets), op, name)))
}

/**
 * A list of features has one if any of them is it, and is without one that none of them is; values
 * that contradict each other cannot tell.
 */
function overList(
  answers: readonly (boolean | null)[],
  op: Predicate['op'],
  name: string,
): boolean | null {
  if (op === 'eq' || op === 'in') return some(answers)
  // One thing cannot be two: its values contradict each other.
  if (op === 'ne' && !SINGLE.has(name)) return not(some(answers.map(not)))
  return unanimous(answers)
}

/** What all of them say; null where they differ. */
function unanimous(answers: readonly (boolean | null)[]): boolean | null {
  return answers.every((answer) => answer === answers[0]) ? (answers[0] ?? null) : null
}

const WORDS: Record<Predicate['op'], string> = {
  eq: 'is',
  ne: 'is not',
  in: 'is one of',
  gt: 'is greater than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  exists: 'is given',
}
const OPPOSITES: Record<Predicate['op'], string> = {
  eq: 'other than',
  ne: 'of',
  in: 'other than',
  gt: 'of at most',
  gte: 'below',
  lt: 'of at least',
  lte: 'above',
  exists: '',
}

/** `magazine_capacity 30 is greater than 10`. */
export function describeMatch({ name, op, value }: Predicate, fact: AttributeFact = []): string {
  const found = new Set(fact.flat().map((told) => told.value))
  return op === 'exists'
    ? `${name} is ${value ? '' : 'not '}given`
    : `${name} ${[...found].join(', ')} ${WORDS[op]} ${[value].flat().join(', ')}`
}

/** What would keep a rule from applying: `a magazine_capacity of at most 10`. */
export function describeOpposite({ name, op, value }: Predicate): string {
  return op === 'exists'
    ? `${value ? 'no ' : 'a '}${name}`
    : `a ${name} ${OPPOSITES[op]} ${[value].flat().join(', ')}`
}

export interface ItemFacts {
  /** GTIN-14 values. */
  readonly upc: Possible<number>
  /** Lower case. */
  readonly sku: Possible<string>
  readonly distid: Possible<string>
  readonly productClass: Possible<string>
  /** Lower case. */
  readonly category: Possible<string>
  /** By the names that rules use. */
  readonly attributes: ReadonlyMap<string, AttributeFact>
  readonly destination: Possible<'consumer' | 'ffl'>
  /** What distributors' feeds say of where it may go. */
  readonly flags: FeedFlags
}
