/** Bugs of what is written down: states, order ids, quotas, the history and the journal. */
import type * as Durable from '../../../lib/core/storage/durable.js'
import type * as Failures from '../../../lib/orders/history/failures.js'
import type * as Holder from '../../../lib/orders/place/holder.js'
import type * as Intent from '../../../lib/orders/place/intent.js'
import type * as Journal from '../../../lib/orders/journal/chain.js'
import type * as AfterSend from '../../../lib/orders/engine/rules/after-send.js'
import type * as PoNumber from '../../../lib/orders/place/po-number.js'
import { refuseOverQuota } from '../../../lib/orders/quota.js'
import type * as Quota from '../../../lib/orders/quota.js'
import type * as Recover from '../../../lib/orders/engine/recover.js'
import { FAILED } from '../../../lib/orders/stored.js'
import type * as Stored from '../../../lib/orders/stored.js'
import type { StateData } from '../../../lib/orders/engine/transitions.js'
import type * as Transitions from '../../../lib/orders/engine/transitions.js'
import type { Planted, Seam } from '../../plants/seam.js'
import { EVERYBODY_SENDS, UNSYNCED_LINES } from './shared.js'

type Move = typeof Transitions.move

/** Does something more with a purchase order that was moved, in the same transaction. */
function moved(
  then: (
    tx: Parameters<Move>[0],
    before: Stored.StoredPo,
    after: Stored.StoredPo | null,
  ) => Promise<void>,
): Seam {
  return {
    at: 'lib/orders/engine/transitions.ts#move',
    make:
      (real: Move): Move =>
      async (tx, order, change) => {
        const after = await real(tx, order, change)
        await then(tx, order, after?.order ?? null)
        return after
      },
  }
}

export const BOOKS: readonly Planted[] = [
  { name: "the sender's place is taken over from a live one", seams: [EVERYBODY_SENDS] },
  {
    name: 'what a dead sender left is not taken over',
    seams: [
      {
        at: 'lib/orders/engine/recover.ts#takeOver',
        make: (): typeof Recover.takeOver => async () => {},
      },
    ],
  },
  {
    name: 'a fault of ours leaves an order in sending',
    seams: [
      {
        at: 'lib/orders/engine/rules/after-send.ts#afterFault',
        make: (): typeof AfterSend.afterFault => () => ({ to: 'sending' }),
      },
    ],
  },
  {
    name: "a change is written over somebody else's",
    seams: [
      {
        at: 'lib/orders/engine/transitions.ts#move',
        make:
          (real: Move): Move =>
          async (tx, order, change) => {
            const now = await tx.db
              .selectFrom('purchase_order')
              .select(['state', 'sends'])
              .where('id', '=', order.id)
              .executeTakeFirstOrThrow()
            return real(tx, { ...order, ...now }, change)
          },
      },
    ],
  },
  {
    name: 'no unique holder of an order_id, and no look for one in the transaction',
    seams: [
      {
        at: 'lib/db/migrations/quartermaster.ts#quartermasterSchema',
        make: (real: readonly string[]): typeof real => [...real, 'DROP INDEX placement_holder'],
      },
      {
        at: 'lib/orders/place/holder.ts#earlierPlacements',
        make:
          (real: typeof Holder.earlierPlacements): typeof real =>
          async (...given) => ({ ...(await real(...given)), isHeld: false }),
      },
    ],
  },
  {
    name: 'an order_id is free while an outcome is not known',
    seams: [
      moved(async (tx, { placement_id: id }, after) => {
        const frees = [...FAILED, 'unknown']
        if (!after || !frees.includes(after.state)) return
        const orders = await tx.db
          .selectFrom('purchase_order')
          .select('state')
          .where('placement_id', '=', id)
          .execute()
        if (!orders.every(({ state }) => frees.includes(state))) return
        await tx.db.updateTable('placement').set({ holds_id: 0 }).where('id', '=', id).execute()
      }),
    ],
  },
  {
    name: 'an order_id is never free again',
    seams: [
      moved(async (tx, { placement_id: id }, after) => {
        if (!after || !FAILED.includes(after.state)) return
        await tx.db.updateTable('placement').set({ holds_id: 1 }).where('id', '=', id).execute()
      }),
    ],
  },
  {
    name: "a second attempt has the first one's PO",
    seams: [
      {
        at: 'lib/orders/place/po-number.ts#poOfAttempt',
        make: (): typeof PoNumber.poOfAttempt => (po) => po,
      },
    ],
  },
  {
    name: 'the quota is checked outside the transaction',
    suites: ['orders/place/rules', 'orders/engine/crashes'],
    seams: [
      {
        at: 'lib/orders/place/intent.ts#writeIntent',
        make:
          (real: typeof Intent.writeIntent): typeof real =>
          async (ctx, input) => {
            const { key } = ctx
            if (key) await ctx.engine.atomic(ctx, (tx) => refuseOverQuota(tx, input.counts, key.id))
            return real(ctx, input)
          },
      },
      {
        at: 'lib/orders/quota.ts#checkQuota',
        make: (): typeof Quota.checkQuota => (tx) => tx.engine.time(tx),
      },
    ],
  },
  {
    name: 'a placement of which nobody was asked counts',
    seams: [
      {
        at: 'lib/orders/quota.ts#uncountOrder',
        make: (): typeof Quota.uncountOrder => async () => {},
      },
    ],
  },
  {
    name: 'a failure is not listed',
    seams: [
      {
        at: 'lib/orders/history/failures.ts#listFailure',
        make:
          (real: typeof Failures.listFailure): typeof real =>
          async (tx, record, order) => {
            if (order.state === 'rejected') await real(tx, record, order)
          },
      },
    ],
  },
  {
    name: 'an answer says placed of what is not known',
    seams: [
      {
        at: 'lib/orders/stored.ts#isPending',
        make: (): typeof Stored.isPending => (orders) =>
          orders.some(({ state }) => state === 'sending'),
      },
    ],
  },
  {
    name: 'a change is not in the journal',
    seams: [
      {
        at: 'lib/orders/journal/chain.ts#appendJournal',
        make:
          (real: typeof Journal.appendJournal): typeof real =>
          async (tx, kind, data) =>
            kind === 'state' && (data as StateData).set.state === 'unknown'
              ? 0
              : real(tx, kind, data),
      },
    ],
  },
  {
    name: "the journal's file is not cut at its last whole line",
    seams: [
      {
        at: 'lib/core/storage/durable.ts#endOfLastLine',
        make: (): typeof Durable.endOfLastLine => async (file) => (await file.stat()).size,
      },
    ],
  },
  {
    name: 'lines that a dead process left are not synced',
    seams: [
      {
        at: 'lib/core/storage/durable.ts#syncData',
        make: (real: typeof Durable.syncData): typeof real => {
          const opened = new WeakSet<object>()
          return async (file) => {
            if (opened.has(file)) await real(file)
            opened.add(file)
          }
        },
      },
    ],
  },
  { name: 'the end of the journal is noted before it is synced', seams: [UNSYNCED_LINES] },
]
