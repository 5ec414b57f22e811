/** Changes of two people to one document. */
import { pointerSteps } from '../../../lib/core/pointer.js'
import { isRecord, valueAt } from './schema.js'
import type { Json } from './schema.js'

/**
 * My changes on top of theirs, where both began with `base`. What only one of us changed is as they
 * left it; where both changed one place, mine stays.
 */
export function onTop(base: Json, mine: Json, theirs: Json): Json {
  return together(base, mine, theirs) ?? null
}

/** Of the places that they changed, those that would not be as they left them. */
export function replacedBy(merged: Json, theirs: Json, places: readonly string[]): Set<string> {
  return new Set(
    places.filter((place) => {
      const steps = pointerSteps(place)
      return !same(valueAt(merged, steps), valueAt(theirs, steps))
    }),
  )
}

/** Of one place; undefined where it is not there. */
function together(
  base: Json | undefined,
  mine: Json | undefined,
  theirs: Json | undefined,
): Json | undefined {
  if (same(mine, base)) return theirs
  if (same(theirs, base)) return mine
  if (isRecord(mine) && isRecord(theirs)) {
    const names = new Set([...Object.keys(theirs), ...Object.keys(mine)])
    const members = [...names].map(
      (name) =>
        [
          name,
          together(memberOf(base, name), memberOf(mine, name), memberOf(theirs, name)),
        ] as const,
    )
    return Object.fromEntries(members.filter((one): one is [string, Json] => one[1] !== undefined))
  }
  if (Array.isArray(base) && Array.isArray(mine) && Array.isArray(theirs)) {
    const isAligned = mine.length === base.length && theirs.length === base.length
    if (isAligned) return base.map((one, at) => together(one, mine[at], theirs[at]) ?? null)
  }
  return mine
}

const memberOf = (value: Json | undefined, name: string) =>
  value === undefined ? undefined : valueAt(value, [name])

const same = (one: Json | undefined, other: Json | undefined) =>
  JSON.stringify(one) === JSON.stringify(other)
