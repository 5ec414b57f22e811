/**
 * Bugs of real processes and real disks that the harness must find. Those that only show where a
 * distributor is late or contradicts itself are the simulation's (planted.ts).
 */
import { openSession } from '../../../lib/distributors/session/open-session.js'
import { isApiError } from '../../../lib/core/errors.js'
import type { OrdersCall } from '../../../lib/orders/ctx.js'
import type * as Sqlite from '../../../lib/db/sqlite/sqlite.js'
import type { Submission } from '../../../lib/distributors/fulfillment.js'
import { samePo } from '../../../lib/orders/matching/match.js'
import type * as Match from '../../../lib/orders/matching/match.js'
import type * as Holder from '../../../lib/orders/place/holder.js'
import type * as Intent from '../../../lib/orders/place/intent.js'
import { afterSend } from '../../../lib/orders/engine/rules/after-send.js'
import type * as AfterSend from '../../../lib/orders/engine/rules/after-send.js'
import { openOrder } from '../../../lib/orders/engine/sender/open-order.js'
import { ORDER_QUOTAS } from '../../../lib/orders/quota.js'
import type * as Quota from '../../../lib/orders/quota.js'
import { move } from '../../../lib/orders/engine/transitions.js'
import type { StoredPo } from '../../../lib/orders/stored.js'
import type { Planted, Seam } from '../../plants/seam.js'
import { EVERYBODY_SENDS, UNSYNCED_LINES } from '../plants/shared.js'

export interface CrashPlant extends Planted {
  what: string
  /** The harness that finds it. */
  by: 'kill' | 'two' | 'powercut'
}

/** Milliseconds after which a call that never ends lets go of the transaction. */
const LONGEST_CALL = 2_000

/** Sends an order before it is written down, and writes down what came back. */
async function sendInside(tx: OrdersCall, order: StoredPo): Promise<StoredPo> {
  const opened = await openOrder(tx, order)
  if (typeof opened === 'string') throw new Error(opened)
  const { connector, content, distributor, settings } = opened
  const signal = AbortSignal.timeout(LONGEST_CALL)
  let stage: string | null = null
  const sent = await connector
    .submit(
      {
        ...openSession(distributor, { settings, signal, now: tx.now }),
        stage,
        keepStage: async (kept) => {
          stage = kept
        },
      },
      content,
    )
    .catch((): Submission => ({ outcome: 'unknown', reason: 'the connection failed' }))
  tx.orders.free(order.account!)
  const change = { ...afterSend(order, sent, connector, tx.now()), stage }
  return (await move(tx, order, change))!.order
}

/** Power cuts may take what was committed. */
const NORMAL_COMMITS: Seam = {
  at: 'lib/db/sqlite/sqlite.ts#openFile',
  make:
    (real: typeof Sqlite.openFile): typeof real =>
    (path, options) =>
      real(path, { ...options, synchronous: 'NORMAL' }),
}

export const NORMAL: CrashPlant = {
  name: 'commits are not synced',
  by: 'powercut',
  what: 'of what was answered a power cut takes the last, and the journal tells of it',
  seams: [NORMAL_COMMITS],
}

export const UNSYNCED: CrashPlant = {
  name: 'neither commits nor the journal are synced',
  by: 'powercut',
  what: 'of what was answered a power cut takes the last, and nothing tells of it',
  seams: [NORMAL_COMMITS, UNSYNCED_LINES],
}

export const PLANTS: readonly CrashPlant[] = [
  {
    name: 'send, then record',
    by: 'kill',
    what: 'the order is written down once the distributor has answered',
    seams: [
      {
        at: 'lib/orders/place/intent.ts#writeIntent',
        make:
          (real: typeof Intent.writeIntent): typeof real =>
          (ctx, input) =>
            ctx.engine.atomic(ctx, async (tx) => {
              const intent = await real(tx, input)
              const purchaseOrders: StoredPo[] = []
              for (const order of intent.purchaseOrders) {
                const after = order.state === 'sending' ? await sendInside(tx, order) : order
                if (after.state === 'planned') purchaseOrders.push(after)
              }
              return { ...intent, purchaseOrders }
            }),
      },
    ],
  },
  {
    name: 'blind resend at restart',
    by: 'kill',
    what: 'what a dead process was sending is sent again without a look',
    seams: [
      {
        at: 'lib/orders/engine/rules/after-send.ts#afterDeath',
        make:
          (real: typeof AfterSend.afterDeath): typeof real =>
          (order, now) =>
            order.state === 'sending'
              ? { to: 'planned', owner: null, next_at: now }
              : real(order, now),
      },
    ],
  },
  {
    name: 'news are taken by their PO alone',
    by: 'kill',
    what: "a stranger's order under the PO of ours gives it their number and status",
    seams: [
      {
        at: 'lib/orders/matching/match.ts#isOthers',
        make:
          (real: typeof Match.isOthers): typeof real =>
          (told, sent) =>
            told.po === '' && real(told, sent),
      },
      {
        at: 'lib/orders/matching/match.ts#isNewsOf',
        make:
          (real: typeof Match.isNewsOf): typeof real =>
          (news, sent, context) =>
            samePo(news.po, sent.po) === 'same' || real(news, sent, context),
      },
    ],
  },
  {
    name: 'an order_id is free after a restart',
    by: 'kill',
    what: 'the holder of an order_id is looked for among the orders of this life',
    seams: [
      {
        at: 'lib/orders/place/holder.ts#holderOf',
        make:
          (real: typeof Holder.holderOf): typeof real =>
          async (ctx, orderId) => {
            const holder = await real(ctx, orderId)
            const isOfThisLife =
              holder &&
              (await ctx.read
                .selectFrom('purchase_order')
                .select('id')
                .where('placement_id', '=', holder.id)
                .where('owner', '=', (ctx as OrdersCall).orders.owner)
                .executeTakeFirst())
            return isOfThisLife && holder
          },
      },
      {
        at: 'lib/orders/place/holder.ts#earlierPlacements',
        make:
          (real: typeof Holder.earlierPlacements): typeof real =>
          async (ctx, orderId) => {
            const { attempt } = await real(ctx, orderId)
            const { db, subscriber } = ctx as OrdersCall
            if (db.isTransaction) {
              await db
                .updateTable('placement')
                .set({ holds_id: 0 })
                .where('subscriber_id', '=', subscriber.id)
                .where('order_id', '=', orderId)
                .execute()
            }
            return { isHeld: false, attempt }
          },
      },
    ],
  },
  {
    name: 'no engine lock',
    by: 'two',
    what: 'every process takes itself for the sender',
    seams: [EVERYBODY_SENDS],
  },
  {
    name: 'the quota counts one process',
    by: 'two',
    what: 'orders of the last hour are those that this process took in',
    seams: [
      {
        at: 'lib/orders/quota.ts#checkQuota',
        make:
          (real: typeof Quota.checkQuota): typeof real =>
          async (tx, counts, keyId) => {
            const times = [...(counts.times.get(keyId)?.values() ?? [])]
            const isOver = ORDER_QUOTAS.some(
              ({ limit, window }) =>
                times.filter((at) => at > tx.monotonic() - window).length >= limit,
            )
            return real(tx, counts, keyId).catch((error: unknown) => {
              if (isOver || !isApiError(error) || error.code !== 'order_volume_limit') throw error
              return tx.engine.time(tx)
            })
          },
      },
    ],
  },
  NORMAL,
  UNSYNCED,
]
