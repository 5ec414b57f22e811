/** Conditions and rules of a preset, compiled against the columns of one file. */
import { UNCATEGORIZED } from '../catalog/feed-offer.js'
import type { ProductClass } from '../catalog/product-classes.js'
import { fold } from './casts.js'
import { namesGun } from './gun-words.js'
import type { Condition, Rule } from './preset.js'
import type { RowReader } from './row-reader.js'

export interface Kind {
  productClass: ProductClass
  fflReq: boolean
  categoryId: number | null
  categoryName: string
  mayDropShip: boolean
}

/** Classes that only a licensed dealer may receive, whatever a preset forgot to say. */
const NEEDS_LICENCE: readonly ProductClass[] = ['FA', 'SO']

/** Whether the row meets the condition. */
export function meets(condition: Condition, row: RowReader): () => boolean {
  const place = row.places([condition.column])[0]
  if (place === undefined) return () => false
  const cell = () => row.folded(place)
  if ('in' in condition) {
    const values = new Set(condition.in.map(fold))
    return () => values.has(cell())
  }
  if ('startsWith' in condition) {
    const starts = condition.startsWith.map(fold)
    return () => {
      const value = cell()
      return starts.some((start) => value.startsWith(start))
    }
  }
  if ('contains' in condition) {
    const parts = condition.contains.map(fold)
    return () => {
      const value = cell()
      return parts.some((part) => value.includes(part))
    }
  }
  return () => cell() !== ''
}

/** Whether one of the columns names a firearm; each text is judged once. */
export function gunNamed(columns: readonly string[], row: RowReader): () => boolean {
  const places = row.places(columns)
  const judged = new Map<string, boolean>()
  const judge = (text: string) => {
    let found = judged.get(text)
    if (found === undefined) {
      // Categories are few; a file that makes up a new one for each row must not fill the memory.
      if (judged.size >= 10_000) judged.clear()
      judged.set(text, found = namesGun(text))
    }
    return found
  }
  return () => places.some((place) => judge(row.cell(place)))
}

/** The outcome of the first rule that fits, null where none does. */
export function compileRules(rules: readonly Rule[], row: RowReader): () => Kind | null {
  const compiled = rules.map(({ when, set }) => ({
    conditions: when.map((condition) => meets(condition, row)),
    kind: {
      productClass: set.productClass,
      fflReq: NEEDS_LICENCE.includes(set.productClass) || (set.ffl ?? false),
      categoryId: set.category?.[0] ?? null,
      categoryName: set.category?.[1] ?? UNCATEGORIZED,
      mayDropShip: set.dropShip ?? true,
    } satisfies Kind,
  }))
  return () => {
    for (const { conditions, kind } of compiled) {
      if (conditions.every((holds) => holds())) return kind
    }
    return null
  }
}
