/** Removals that the last lists of dealers would have made, and that wait for an operator. */
import type { FflsCtx } from '../ctx.js'
import type { KeptState } from './diff.js'
import type { ImportResult } from './import.js'
import type { OnFileResult } from '../on-file.js'

/** What one list lacks, and why it may not take it away. */
export interface HeldRemovals extends Omit<KeptState, 'state'> {
  /** Whose list it is; null: the ATF's. */
  distid: string | null
  /** Of the ATF's list: where the dealers are. */
  state: string | null
  /** When the list was made. */
  as_of: string
}

/** So many acts are looked through for the last lists: what is older waits for nobody. */
const ACTS = 20_000

/**
 * What the last list of the ATF, and the last one of each distributor, lack without having removed
 * it, the newest first: `ffls.import` and `ffls.on-file` say in the audit what they held.
 */
export async function heldRemovals({ read }: Pick<FflsCtx, 'read'>): Promise<HeldRemovals[]> {
  const acts = await read
    .selectFrom('audit')
    .select(['action', 'detail'])
    .where('seq', '>', (query) =>
      query.selectFrom('audit').select(({ eb, fn }) => eb(fn.max('seq'), '-', ACTS).as('first')),
    )
    .where('action', 'in', ['ffls.import', 'ffls.on-file'])
    .orderBy('seq', 'desc')
    .execute()
  const held = new Map<string | null, HeldRemovals[]>()
  for (const { action, detail } of acts) {
    if (action === 'ffls.import') {
      if (held.has(null)) continue
      const { as_of, kept } = JSON.parse(detail) as Pick<ImportResult, 'as_of' | 'kept'>
      held.set(
        null,
        kept.map((part) => ({ distid: null, as_of, ...part })),
      )
    } else {
      const { distid, as_of, kept } = JSON.parse(detail) as Pick<
        OnFileResult,
        'distid' | 'as_of' | 'kept'
      >
      if (!held.has(distid)) held.set(distid, kept ? [{ distid, as_of, state: null, ...kept }] : [])
    }
  }
  return [...held.values()].flat()
}

/** How many dealers and marks they are. */
export async function countHeld(ctx: Pick<FflsCtx, 'read'>): Promise<number> {
  return (await heldRemovals(ctx)).reduce((sum, { missing }) => sum + missing, 0)
}
