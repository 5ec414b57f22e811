/** Conditions and rules of a preset, compiled against the columns of one file. */
import { UNCATEGORIZED } from '../feed-offer.js'
import type { ProductClass } from '../product-classes.js'
import { patternOf } from '../../core/text.js'
import { fold } from './casts.js'
import { namesGun } from './gun-words.js'
import type { Condition, NameTable, Outcome, Rule } from './preset.js'
import type { RowReader } from './row-reader.js'

export interface Kind {
  productClass: ProductClass
  fflReq: boolean
  categoryId: number | null
  categoryName: string
  mayDropShip: boolean
  /** Known by a name that a person has read: what its words may mean is settled. */
  named: boolean
}

/** Classes that only a licensed dealer may receive, whatever a preset forgot to say. */
const NEEDS_LICENSE: readonly ProductClass[] = ['FA', 'SO']

/** Whether the row meets the condition. */
export function meets(condition: Condition, row: RowReader): () => boolean {
  const place = row.places([condition.column])[0]
  if (place === undefined) return () => false
  const cell = () => row.folded(place)
  if ('in' in condition) {
    const values = new Set(condition.in.map(fold))
    return () => values.has(cell())
  }
  if ('filled' in condition) return () => cell() !== ''
  if ('namesGun' in condition) return gunNamed([condition.column], row)
  const pattern =
    'startsWith' in condition
      ? wordPattern(condition.startsWith, '^')
      : wordPattern(condition.contains, '')
  return once(row, place, (text) => pattern.test(fold(text)))
}

/** Whole words, the last one of each also in the plural. */
function wordPattern(words: readonly string[], start: '^' | ''): RegExp {
  const any = words.map((text) => patternOf(fold(text))).join('|')
  return new RegExp(`${start}(?<![a-z])(?:${any})(?:e?s)?(?![a-z])`)
}

/**
 * Texts of such columns are few, so each is judged once; a file that makes up new ones must not
 * fill the memory.
 */
function once<T>(row: RowReader, place: number, judge: (text: string) => T): () => T {
  const judged = new Map<string, T>()
  return () => {
    const text = row.cell(place)
    let found = judged.get(text)
    if (found === undefined) {
      if (judged.size >= 10_000) judged.clear()
      judged.set(text, (found = judge(text)))
    }
    return found
  }
}

/** Whether one of the columns names a firearm; each text is judged once. */
export function gunNamed(columns: readonly string[], row: RowReader): () => boolean {
  const judges = row.places(columns).map((place) => once(row, place, namesGun))
  return () => judges.some((judge) => judge())
}

/** The outcome of the first rule that fits, null where none does. */
export function compileRules(
  rules: readonly (Rule | NameTable)[],
  row: RowReader,
): () => Kind | null {
  const compiled = rules.map((rule) =>
    'names' in rule ? nameTable(rule, row) : wordRule(rule, row),
  )
  return () => {
    for (const kindOf of compiled) {
      const kind = kindOf()
      if (kind) return kind
    }
    return null
  }
}

function wordRule({ when, set }: Rule, row: RowReader): () => Kind | null {
  const conditions = when.map((condition) => meets(condition, row))
  const kind = kindOf(set, false)
  return () => (conditions.every((holds) => holds()) ? kind : null)
}

function kindOf(set: Outcome, named: boolean): Kind {
  return {
    productClass: set.productClass,
    fflReq: NEEDS_LICENSE.includes(set.productClass) || (set.ffl ?? false),
    categoryId: set.category?.[0] ?? null,
    categoryName: set.category?.[1] ?? UNCATEGORIZED,
    mayDropShip: set.dropShip ?? true,
    named,
  }
}

function nameTable({ column, separator, names }: NameTable, row: RowReader): () => Kind | null {
  const place = row.places([column])[0]
  if (place === undefined) return () => null
  const known = new Map<string, Named>()
  for (const { names: same, set, general } of names) {
    const named = { kind: kindOf(set, true), rank: rankOf(set) + (general ? GENERAL : 0) }
    for (const name of same) known.set(fold(name), named)
  }
  // Null is an answer too: nothing to be looked up again.
  const judge = once(row, place, (text) => ({
    kind: byName(text.split(separator).map(fold), known),
  }))
  return () => judge().kind
}

interface Named {
  kind: Kind
  /** The lowest of a cell's names decides. */
  rank: number
}

const [NFA, FIREARM, STORE_ONLY, HAZARDOUS, GOODS] = [0, 1, 2, 3, 4]
const GENERAL = GOODS + 1

function rankOf({ productClass, dropShip }: Outcome): number {
  if (productClass === 'SO') return NFA
  if (productClass === 'FA') return FIREARM
  if (dropShip === false) return STORE_ONLY
  return productClass === 'HZ' ? HAZARDOUS : GOODS
}

function byName(names: readonly string[], known: ReadonlyMap<string, Named>): Kind | null {
  let best: Named | undefined
  for (const name of names) {
    const found = known.get(name)
    if (found && (!best || found.rank < best.rank)) best = found
  }
  if (!best) return null
  return best.kind.fflReq || names.every((name) => known.has(name)) ? best.kind : null
}
