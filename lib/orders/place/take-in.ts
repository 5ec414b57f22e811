/** Has an order written down before anybody is asked, also where a database does not say that it has. */
import type { OrdersCall } from '../ctx.js'
import { pause } from '../../core/async/wait.js'
import { MINUTE } from '../../core/clock.js'
import { ApiError } from '../../core/errors.js'
import { isCommitUnknown, isDuplicate, isUnavailable } from '../../db/faults.js'
import { LeadLost } from '../../db/lead.js'
import { isIoError } from '../../db/sqlite/sqlite.js'
import { rememberOrder } from '../quota.js'
import type { PlaceBody } from '../shapes.js'
import type { CheckedOrder } from './check-order.js'
import { OrderIdHeld, requestDigest } from './holder.js'
import { writeIntent, writtenIntent } from './intent.js'
import type { Intent, PlannedGroup } from './intent.js'
import { refuseDuplicate } from './refusals.js'

/** Milliseconds until a database is asked again that did not say whether it has an order. */
const AGAIN = 250
/** Milliseconds after which a server that shows nothing of it has not committed it, and will not. */
const SURELY = MINUTE

export interface TakingIn {
  body: PlaceBody
  order: CheckedOrder
  groups: readonly PlannedGroup[]
  /** In which parts may be sent at once. */
  epoch: number | null
  /** Whether the caller was told that nobody knows: from then on it is looked for, and not written. */
  isAnswered: () => boolean
}

/**
 * Writes the intent down. Whatever goes wrong here, nothing was sent. Where a database does not say
 * whether it was written, it is looked for and written again until it does: of the same order_id
 * there is one, and whoever writes it waits for who is about to.
 */
export async function takeIn(ctx: OrdersCall, given: TakingIn): Promise<Intent> {
  const intent = await new Writing(ctx, given).run()
  if (ctx.key) rememberOrder(ctx.orders.counts, ctx.key.id, intent)
  return intent
}

class Writing {
  readonly #ctx: OrdersCall
  readonly #given: TakingIn
  #groups: readonly PlannedGroup[]
  /** An attempt may have been committed. */
  #isDoubted = false
  /** What said since then that somebody has the order_id: this very order, or another. */
  #held: unknown = null
  /** Since when it is looked for alone, by the steady clock. */
  #lookedSince: number | undefined

  constructor(ctx: OrdersCall, given: TakingIn) {
    this.#ctx = ctx
    this.#given = given
    this.#groups = given.groups
  }

  async run(): Promise<Intent> {
    const { orders } = this.#ctx
    for (;;) {
      try {
        const intent = await this.#attempt()
        if (intent) return intent
      } catch (error) {
        if (!this.#maySettle(error)) {
          freeSlots(this.#ctx, this.#groups)
          if (!(error instanceof LeadLost))
            throw await refusalOf(this.#ctx, this.#given.body, error)
          // Another node leads by now, and sends it.
          this.#groups = this.#groups.map(sentLater)
          continue
        }
      }
      if (orders.stopping.aborted) {
        freeSlots(this.#ctx, this.#groups)
        throw notKnown('database')
      }
      await pause(AGAIN)
    }
  }

  /** Null where it is to be asked again. */
  async #attempt(): Promise<Intent | null> {
    const [ctx, { body, order, epoch, isAnswered }] = [this.#ctx, this.#given]
    const own = this.#isDoubted ? await writtenIntent(ctx, this.#groups) : null
    if (own) {
      // What is to be sent here has its slot still.
      freeSlots(ctx, this.#groups, new Set(own.purchaseOrders.map(({ client_ref: ref }) => ref)))
      return own
    }
    if (this.#held !== null) throw this.#held
    if (this.#isDoubted && isAnswered()) {
      this.#lookedSince ??= ctx.monotonic()
      // Should it be there after all, whoever leads takes it over.
      if (ctx.monotonic() - this.#lookedSince >= SURELY) throw notKnown('database')
      return null
    }
    return writeIntent(ctx, {
      order,
      epoch,
      digest: requestDigest(body),
      owner: ctx.orders.owner,
      groups: this.#groups,
      counts: ctx.orders.counts,
    })
  }

  /** Whether a further attempt may tell what became of this one. */
  #maySettle(error: unknown): boolean {
    if (isCommitUnknown(error)) return (this.#isDoubted = true)
    if (!this.#isDoubted) return false
    if (isUnavailable(error)) return true
    if (!isHeldByOther(error) || this.#held !== null) return false
    this.#held = error
    return true
  }
}

/** Somebody has the order_id, or a row that only one can have. */
const isHeldByOther = (error: unknown): boolean =>
  error instanceof OrderIdHeld || isDuplicate(error)

/** What the caller is told of an order that was not taken in. */
async function refusalOf(ctx: OrdersCall, body: PlaceBody, error: unknown): Promise<unknown> {
  if (isHeldByOther(error)) {
    await refuseDuplicate(ctx, body)
    // Whoever held it has just let it go.
    return new ApiError('service_unavailable', {
      message: 'The same order was being placed at this moment, and nothing came of it. Try again.',
      headers: { 'retry-after': '1' },
    })
  }
  return isIoError(error) ? notKnown('disk') : error
}

/** 503 of an order that may or may not have been written down. */
export const notKnown = (what: 'disk' | 'database'): ApiError =>
  new ApiError('service_unavailable', {
    message:
      `The ${what} failed while the order was written down, so it is not known whether it was. ` +
      (what === 'disk' ? 'Nothing was sent; try' : 'Try') +
      ' the same order_id again later.',
  })

/** Of the parts that have one but those that keep it. */
function freeSlots(
  { orders }: OrdersCall,
  groups: readonly PlannedGroup[],
  keeping: ReadonlySet<string> = new Set(),
): void {
  for (const { account, parts } of groups)
    for (const { isSentNow, clientRef } of parts)
      if (isSentNow && !keeping.has(clientRef)) orders.free(account)
}

const sentLater = (group: PlannedGroup): PlannedGroup => ({
  ...group,
  parts: group.parts.map((part) => ({ ...part, isSentNow: false })),
})
