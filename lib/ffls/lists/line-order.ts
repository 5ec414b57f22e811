/**
 * The order of the last whole list, by which a list that was cut off between two lines can be told.
 * Lists come state by state, but not cleanly: some states stand in several places. So nothing is
 * assumed; the order is that of the list before.
 */
import type { FflsCtx } from '../ctx.js'
import { present } from '../../core/present.js'

export interface ListOrder {
  /** When that list was made, ms. */
  asOf: number
  /** The first and the last row of each state. */
  states: Record<string, readonly [first: number, last: number]>
  /**
   * Dealers, by identity, of the states after whose last row no other state begins; in the order of
   * the list.
   */
  tail: readonly string[]
}

/** A row of a list, whatever its type of license. */
export interface OrderedRow {
  id: string
  state: string
}

/**
 * The order of a list. `held`: dealers that it lacks and that may stand behind its end; they keep
 * their place there.
 */
export function orderOf(
  rows: readonly OrderedRow[],
  asOf: number,
  held: readonly string[] = [],
): ListOrder {
  const states: Record<string, [first: number, last: number]> = {}
  rows.forEach(({ state }, row) => {
    ;(states[state] ??= [row, row])[1] = row
  })
  const lastStates = new Set(Object.keys(states).filter((state) => !isFollowed(states, state)))
  return {
    asOf,
    states,
    tail: [...rows.filter(({ state }) => lastStates.has(state)).map(({ id }) => id), ...held],
  }
}

/** Whether a state begins after the last row of this one. */
export function isFollowed(states: ListOrder['states'], state: string): boolean {
  const [, last] = present(states[state], state)
  return Object.values(states).some(([first]) => first > last)
}

/** The order of the last whole list; null where there is none. */
export async function readListOrder({ read }: Pick<FflsCtx, 'read'>): Promise<ListOrder | null> {
  const row = await read.selectFrom('dealer_list').select(['as_of', 'content']).executeTakeFirst()
  return row ? { asOf: row.as_of, ...(JSON.parse(row.content) as Omit<ListOrder, 'asOf'>) } : null
}

export async function saveListOrder(
  { db }: Pick<FflsCtx, 'db'>,
  { asOf, ...content }: ListOrder,
): Promise<void> {
  await db
    .replaceInto('dealer_list')
    .values({ one: 1, as_of: asOf, content: JSON.stringify(content) })
    .execute()
}
