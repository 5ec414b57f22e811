/** What the operator does with orders, whether they are checked, and their journal. */
import type { ObjectStore } from '../objects/store.js'
import type { OrdersCtx } from './ctx.js'
import { fetchJournal } from './journal/fetch.js'
import type { FetchOptions } from './journal/fetch.js'
import { verifyJournal } from './journal/verify.js'
import type { VerifyOptions } from './journal/verify.js'
import { activityOf } from './operator/activity.js'
import { pauseByOperator } from './operator/pause.js'
import { lookBack } from './operator/reconcile.js'
import { resolveOrder } from './operator/resolve.js'
import { listPurchaseOrders, showOrder } from './operator/view.js'
import { enforcesRestrictions, setEnforcement } from './place/enforcement.js'
import { preflightFor } from './place/preflight.js'

export const orders = {
  list: listPurchaseOrders,
  show: showOrder,
  resolve: resolveOrder,
  pause: pauseByOperator,
  lookBack,
}

/** How orders with a distributor went. */
export const distributors = { activity: activityOf }

export const ordersOfSubscriber = { preflight: preflightFor }

/** Whether the rules are enforced when an order is placed. */
export const enforcement = {
  enforce: setEnforcement,
  enforced: async (ctx: OrdersCtx) => ({ on: await enforcesRestrictions(ctx) }),
}

/** `copy` is the store of the journal's second copy, where one is kept. */
export function journalFunctions(copy: ObjectStore | undefined) {
  return {
    verifyJournal: (ctx: OrdersCtx, options: VerifyOptions = {}) =>
      verifyJournal(ctx, { copy, ...options }),
    fetchJournal: async (ctx: OrdersCtx, options: FetchOptions) => {
      if (!copy)
        throw new Error('no copy of the journal is kept: give `open` the store as journalCopy')
      return fetchJournal(ctx, copy, options)
    },
  }
}
