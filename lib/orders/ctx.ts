import type { Caller } from '../accounts/caller.js'
import type { ConfigurationCtx } from '../configuration/ctx.js'
import type { Fulfillment } from '../distributors/fulfillment.js'
import type { Change, Moved, Outcome, StoredPo } from './stored.js'
import type { RestrictionsCtx } from '../restrictions/ctx.js'

/** The right to send, for as long as it is held: with several nodes, no longer than its epoch. */
export interface HeldLease {
  /** In which this node leads; null where there is one folder, whose lock nobody else can take. */
  readonly epoch: number | null
  /** False once another epoch has begun. */
  readonly isHeld: boolean
  release(): void
}

export interface OrderSender {
  /** This life of this process: what it is sending bears its name. */
  readonly owner: string
  readonly counts: OrderCounts
  /** Orders that are being placed here, by subscriber and order_id. */
  readonly placing: Map<string, Promise<unknown>>
  /** Named points at which a test may end this life. */
  step(name: string): Promise<void> | undefined
  /** Holds the right to send from now on, and does what is due. */
  start(): void
  /** It was started, and holds the right to send. */
  readonly isSender: boolean
  /** Since when, by the steady clock, it was started and has waited for that right; else null. */
  readonly waitingSince: number | null
  /**
   * The right to send, until it is given back; null where another process has it. Refused once the
   * disk has failed.
   */
  lease(): Promise<HeldLease | null>
  /**
   * What another process has made of a placement, as the next look finds it, within a tenth of a
   * second; null where the database is away for the moment.
   */
  outcomeOf(placementId: number): Promise<Outcome | null>
  /** Takes a slot for one send of an account, if one is free now. */
  tryTake(account: string, connector: Fulfillment): boolean
  free(account: string): void
  /** Has the journal's file hold every line that is committed now. To be called under a lease. */
  flush(): Promise<void>
  /**
   * Sends an order that was just written down: at once if it is `sending` (its slot is taken, and
   * freed then), else when its turn comes. Under a lease of that epoch. Resolves with how it was
   * written down then; null where that is not known.
   */
  deliver(order: StoredPo, epoch: number | null): Promise<Moved | null>
  /**
   * Writes a change of an order down; null when somebody else has moved it. Waits for a full disk
   * as long as the app is open.
   */
  record(order: StoredPo, change: Change): Promise<Moved | null>
  /** Aborted once it is told to stop: nothing new is begun. */
  readonly stopping: AbortSignal
  /** Throws 503 once the disk has failed: what is committed is not known from then on. */
  refuseFailed(): void
  /**
   * Takes up what is due, at most 500 of it, a few at a time, and waits for it; `force` also what
   * is due later. False where another process is the sender.
   */
  pass(options?: { force?: boolean }): Promise<boolean>
  /** Waits for what is being sent, at most 30 seconds, then gives the right back. */
  stop(): Promise<void>
}

/**
 * Counts of one process by its steady clock, beside those of the database by the wall clock: a wall
 * clock that is set ahead must not empty a window.
 */
export interface OrderCounts {
  /** Steady times of the orders of a key within the last day, by placement, oldest first. */
  readonly times: Map<string, Map<number, number>>
}

/** What all functions of orders get, those of the sender itself too. */
export interface OrdersCtx extends ConfigurationCtx, RestrictionsCtx {
  readonly configurations: ConfigurationCtx['configurations']
}

/** What functions get that have orders sent. */
export interface SendingCtx extends OrdersCtx {
  /** Sends purchase orders and finds out what became of them. */
  readonly orders: OrderSender
}

export interface OrdersCall extends SendingCtx, Caller {}
