/** Which of several nodes leads: one of them does what no two may do at a time. */
import type { Kysely } from 'kysely'
import type { Tables } from './tables/tables.js'

/** An order waits for the node that leads, or that node has moved one on. */
export type OrderNews = 'waits' | 'moved'

export interface Lead {
  /** The life of this process: no other one has ever had it. */
  readonly node: string
  /** The epoch in which this node leads now; null where it does not, or cannot be sure. */
  readonly epoch: number | null
  /** Stands for the lead from now on, until the engine is closed: a server does, a command does not. */
  stand(): void
  /**
   * In the transaction of every write that only a leader may make; `epoch` is the one in which the
   * work began. Where that is over, also where this node leads again, the transaction rejects with
   * `LeadLost`, or this does; where it is not, nobody else can lead before it has ended.
   */
  fence(tx: Kysely<Tables>, epoch: number): Promise<void>
  /**
   * Whether work of that epoch may begin something that nobody can undo: less than half of the lease
   * has passed since the last renewal that was confirmed.
   */
  mayBegin(epoch: number): boolean
  /** In a transaction: once it is committed, all nodes are told of a placement. */
  tell(tx: Kysely<Tables>, news: OrderNews, placement: number): Promise<void>
  /**
   * Has somebody told of it until the signal is aborted. A telling may be lost; null is told by a
   * release that does not name the placement.
   */
  onTold(news: OrderNews, listener: (placement: number | null) => void, until: AbortSignal): void
}

/** Thrown inside a transaction: the epoch of its work is over. */
export class LeadLost extends Error {
  override readonly name = 'LeadLost'
  constructor() {
    super('another epoch has begun: the work of this one writes nothing more')
  }
}

/** Whether this process may do what one alone may: where there is one folder, its server does. */
export const leads = ({ lead }: { readonly lead: Lead | null }): boolean =>
  lead === null || lead.epoch !== null
