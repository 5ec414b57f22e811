/** Removals that the last lists of dealers would have made, and that wait for an operator. */
import type { FflsCtx } from '../ctx.js'
import type { ImportResult } from './import.js'
import type { OnFileResult } from '../on-file.js'

/** So many acts are looked through for the last lists: what is older waits for nobody. */
const ACTS = 20_000

/**
 * How many dealers the last list, and the last one of each distributor, lack without having removed
 * them: `ffls.import` and `ffls.on-file` say in the audit what they held.
 */
export async function heldRemovals({ read }: Pick<FflsCtx, 'read'>): Promise<number> {
  const acts = await read
    .selectFrom('audit')
    .select(['action', 'detail'])
    .where('seq', '>', (query) =>
      query.selectFrom('audit').select(({ eb, fn }) => eb(fn.max('seq'), '-', ACTS).as('first')),
    )
    .where('action', 'in', ['ffls.import', 'ffls.on-file'])
    .orderBy('seq', 'desc')
    .execute()
  const held = new Map<string, number>()
  for (const { action, detail } of acts) {
    if (action === 'ffls.import') {
      if (held.has(action)) continue
      const { kept } = JSON.parse(detail) as Pick<ImportResult, 'kept'>
      held.set(
        action,
        kept.reduce((sum, { missing }) => sum + missing, 0),
      )
    } else {
      const { distid, kept } = JSON.parse(detail) as Pick<OnFileResult, 'distid' | 'kept'>
      if (!held.has(distid)) held.set(distid, kept?.missing ?? 0)
    }
  }
  return [...held.values()].reduce((sum, missing) => sum + missing, 0)
}
