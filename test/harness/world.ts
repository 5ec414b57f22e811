/**
 * Distributors in memory that outlive every process. They know what was really executed; on the way
 * to them and back everything goes wrong that can.
 */
import type {
  FulfillmentLimits,
  OrderSession,
  PurchaseOrder,
  Recovery,
} from '../../lib/distributors/fulfillment.js'
import type { Executed } from './invariants.js'
import type { Rng } from './random.js'
import type { VirtualTime } from './time.js'

const SECOND = 1_000

/** What a distributor tells of the orders that it has. */
export interface Tells {
  /** Our reference. */
  ref: boolean
  /** Its own number. */
  number: boolean
  /** Items and destination. */
  content: boolean
  placedAt: 'exact' | 'day' | null
  /** How it gives back a PO. */
  po: 'same' | 'upper' | 'cut'
}

export interface Nature {
  distid: string
  name: string
  recovery: Recovery
  /** One cart for the whole account. */
  isCart?: boolean
  /** It orders whatever is in the cart. */
  isCareless?: boolean
  hasFind: boolean
  tells: Tells
  /** Of a `resend` one: it looks at stock and address before it looks at the reference. */
  validatesFirst: boolean
  limits: FulfillmentLimits
  /** Longest time until an order that was executed can be found. */
  lag: number
  /** Orders that no report ever tells of. */
  unreported: number
}

export interface Execution extends Executed {
  /** Where the distributor shows it to go, once it has mixed it up with another one. */
  shownTo?: Executed['shipTo'] | undefined
  at: number
  visibleAt: number
}

/** A process, as distributors see it: it may end at any moment of a call. */
export interface Process {
  readonly isDead: boolean
  point(name: string): Promise<never> | undefined
}

/** What a simulation is told of. */
export interface Witness {
  /** A send begins: what must be on the disk by now? */
  sent(nature: Nature, order: PurchaseOrder, process: Process, account: string): void
  /** Nothing of a send has reached its distributor. */
  notSent(clientRef: string): void
  /**
   * A distributor that is asked for the order shows it under our reference with a destination that
   * is another order's.
   */
  misshown(clientRef: string): void
  executed(execution: Execution): void
  trace(text: () => string): void
}

/** The request never left, or was refused before anything was looked at. */
export class NotSent extends Error {
  constructor(
    message: string,
    readonly retryAfter?: number,
  ) {
    super(message)
  }
}

const FAULTS = {
  refused: 3,
  limited: 1,
  cutBefore: 3,
  cutAfter: 4,
  errorAfter: 2,
  hangBefore: 1,
  hangAfter: 2,
  late: 3,
  garbage: 2,
  slow: 3,
  tooSlow: 1,
} as const
export type CallFault = keyof typeof FAULTS
export const CALL_FAULTS = Object.keys(FAULTS) as CallFault[]
const SEARCH_FAULTS = { cut: 5, hang: 1, garbage: 1, slow: 2 } as const
export type SearchFault = keyof typeof SEARCH_FAULTS

/** What goes wrong, instead of being drawn. */
export interface Plan {
  call(isLast: boolean): CallFault | null
  search(): SearchFault | null
  /** Why the order is refused, at its so manieth send; null where it is not. */
  refuses(sends: number): string | null
}

export class World {
  readonly executions: Execution[] = []
  /** Orders that somebody else placed with one of our accounts, under a PO of ours. */
  readonly strangers: Execution[] = []
  /** Calls, and how many of them went wrong. */
  calls = 0
  faulty = 0
  /** All calls, also those of a time without faults. */
  requests = 0
  /** Share of calls that go wrong; 0 also stops refusals. */
  faultRate: number
  plan: Plan | null = null
  readonly #processes = new WeakMap<() => number, Process>()
  #numbers = 100_000
  /** Moments in which a distributor shows nothing, although it was asked. */
  #blind: { from: number; until: number } = { from: -Infinity, until: -Infinity }

  /** When the first look for an order was answered so. */
  readonly #blindFor = new Map<string, number>()
  /** Sends of each order that reached a distributor. */
  readonly #sends = new Map<string, number>()

  constructor(
    readonly rng: Rng,
    readonly time: VirtualTime,
    readonly witness: Witness,
    faultRate: number,
  ) {
    this.faultRate = faultRate
  }

  /** A process is known by its clock. */
  register(clock: () => number, process: Process): void {
    this.#processes.set(clock, process)
  }

  processOf({ now }: Pick<OrderSession, 'now'>): Process {
    const process = this.#processes.get(now)
    if (!process) throw new Error('a call of a process that nobody knows')
    return process
  }

  nextNumber(distid: string): string {
    return `${distid}-${++this.#numbers}`
  }

  execute(
    nature: Nature,
    account: string,
    number: string | null,
    {
      clientRef,
      po,
      lines,
      shipTo,
    }: Pick<PurchaseOrder, 'clientRef' | 'po' | 'shipTo'> & {
      lines: readonly { distsku: string; qty: number }[]
    },
  ): Execution {
    const at = this.time.outside()
    const execution: Execution = {
      distid: nature.distid,
      account,
      clientRef,
      number,
      po,
      lines: lines.map(({ distsku, qty }) => ({ distsku, qty })),
      shipTo: { name: shipTo.name, address1: shipTo.address1, zip: shipTo.zip },
      ...(nature.tells.ref &&
        this.faultRate > 0 &&
        this.rng.chance(0.02) && {
          shownTo: this.executions.findLast(({ shipTo: { zip } }) => zip !== shipTo.zip)?.shipTo,
        }),
      at,
      visibleAt: this.rng.chance(nature.unreported)
        ? Infinity
        : at + Math.floor(this.rng.next() * nature.lag),
    }
    this.executions.push(execution)
    this.witness.trace(() => `${nature.distid} EXECUTES ${clientRef} as ${number}`)
    this.witness.executed(execution)
    return execution
  }

  /**
   * Now and then somebody else uses the PO of an order, for other items or another place; only who
   * tells those can be seen through.
   */
  drawStranger(
    nature: Nature,
    account: string,
    { clientRef, po, lines, shipTo }: PurchaseOrder,
  ): void {
    if (this.plan || this.faultRate === 0 || !nature.tells.content || !this.rng.chance(0.06)) return
    const isElsewhere = this.rng.chance(0.5)
    const number = this.nextNumber(nature.distid)
    this.strangers.push({
      distid: nature.distid,
      account,
      clientRef,
      number,
      po,
      lines: lines.map(({ distsku, qty }) => ({ distsku, qty: isElsewhere ? qty : qty + 1 })),
      shipTo: isElsewhere
        ? { name: 'Walk-in', address1: '1 Other Street', zip: '99999' }
        : { name: shipTo.name, address1: shipTo.address1, zip: shipTo.zip },
      at: this.time.outside(),
      visibleAt: this.time.outside(),
    })
    this.witness.trace(() => `${nature.distid} has a stranger's ${number} under ${po}`)
  }

  /** A send begins. */
  sent(nature: Nature, order: PurchaseOrder, session: OrderSession): void {
    this.#sends.set(order.clientRef, (this.#sends.get(order.clientRef) ?? 0) + 1)
    this.witness.trace(() => `${nature.distid} hears ${order.clientRef} stage ${session.stage}`)
    this.witness.sent(nature, order, this.processOf(session), String(session.settings['account']))
  }

  /** Our order's turn at a distributor that has run out, or does not want it. */
  refuses(order: PurchaseOrder): string | null {
    if (this.plan) return this.plan.refuses(this.#sends.get(order.clientRef) ?? 1)
    if (this.faultRate === 0) return null
    // The same order is refused for its address every time, for its stock only sometimes.
    if (order.serial % 19 === 0) return 'the address is not accepted'
    return this.rng.chance(0.06) ? 'out of stock' : null
  }

  /**
   * One request that has an effect there; only the one that an order hangs on may be late. What it
   * resolves to is what the distributor answers.
   */
  async call<T>(
    session: OrderSession,
    {
      name,
      isLast = false,
      garbage = [],
    }: { name: string; isLast?: boolean; garbage?: readonly unknown[] },
    effect: () => T,
  ): Promise<T> {
    const process = this.processOf(session)
    if (process.isDead) return forever()
    if (session.signal.aborted) throw new Error('aborted')
    await process.point(`connector: before the ${name}`)
    this.requests++
    if (this.faultRate > 0) this.calls++
    const drawn = this.plan
      ? this.plan.call(isLast)
      : this.rng.chance(this.faultRate)
        ? this.rng.weighted<CallFault>(FAULTS)
        : null
    const fault = drawn === 'late' && !isLast ? 'cutBefore' : drawn
    if (fault) this.faulty++
    if (fault) this.witness.trace(() => `  ${name}: ${fault}`)
    // What leads up to an order is given up with the connection; the call that makes it one is not.
    const arrives = isLast ? effect : () => (process.isDead ? (undefined as T) : effect())
    const answer = await this.#answer({ process, session, fault, garbage }, arrives)
    await process.point(`connector: after the ${name}`)
    return process.isDead ? forever() : answer
  }

  async #answer<T>(
    {
      process,
      session,
      fault,
      garbage,
    }: {
      process: Process
      session: OrderSession
      fault: CallFault | null
      garbage: readonly unknown[]
    },
    effect: () => T,
  ): Promise<T> {
    switch (fault) {
      case null:
        return effect()
      case 'refused':
        throw new NotSent('connection refused')
      case 'limited':
        throw new NotSent('429', this.rng.int(1, 120))
      case 'cutBefore':
        throw reset()
      case 'cutAfter':
        effect()
        throw reset()
      case 'errorAfter':
        effect()
        throw new Error('HTTP 500')
      case 'hangBefore':
        return hang(session)
      case 'hangAfter':
        effect()
        return hang(session)
      case 'late':
        return this.#late(process, session, effect)
      case 'garbage':
        effect()
        return (garbage.length > 0 ? this.rng.pick(garbage) : undefined) as T
      case 'slow':
        return this.#slow(this.rng.int(1, 50) * SECOND, effect)
      case 'tooSlow':
        return this.#slow(this.rng.int(61, 100) * SECOND, effect)
    }
  }

  /** The connection is gone, and the distributor goes on with what it has read. */
  #late<T>(process: Process, session: OrderSession, effect: () => T): Promise<T> {
    this.time.later(this.rng.int(20, 530) * SECOND, () => void quietly(effect))
    return this.rng.chance(0.5) && !process.isDead ? Promise.reject(reset()) : hang(session)
  }

  #slow<T>(ms: number, effect: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.time.later(ms, () => {
        try {
          resolve(effect())
        } catch (error) {
          reject(error as Error)
        }
      })
    })
  }

  /** A question, which has no effect. */
  async ask<T>(session: OrderSession, answer: () => T): Promise<T> {
    const process = this.processOf(session)
    if (process.isDead) return forever()
    await process.point('connector: before the search')
    this.requests++
    if (this.faultRate > 0) this.calls++
    const fault = this.plan
      ? this.plan.search()
      : this.rng.chance(this.faultRate)
        ? this.rng.weighted<SearchFault>(SEARCH_FAULTS)
        : null
    if (fault) {
      this.faulty++
      this.witness.trace(() => `  search: ${fault}`)
      if (fault === 'cut') throw reset()
      if (fault === 'hang') return hang(session)
      if (fault === 'garbage')
        return this.rng.pick([undefined, null, {}, { outcome: 'perhaps' }]) as T
      await this.#slow(this.rng.int(1, 40) * SECOND, () => {})
    }
    // It has ended while it waited: what the distributor says nobody hears.
    if (process.isDead) return forever()
    const result = answer()
    await process.point('connector: after the search')
    return process.isDead ? forever() : result
  }

  /**
   * Now and then an answer comes from a copy that lags behind, for less than a minute, and once for
   * each order: two looks that are further apart tell the truth, and more can be asked of nobody.
   */
  isBlind(clientRef: string): boolean {
    const now = this.time.steady
    if (now > this.#blind.until && this.rng.chance(this.faultRate / 6))
      this.#blind = { from: now, until: now + this.rng.int(1, 50) * SECOND }
    const before = this.#blindFor.get(clientRef)
    const isBlind =
      this.faultRate > 0 &&
      now <= this.#blind.until &&
      (before === undefined || now - before <= 50 * SECOND)
    if (isBlind && before === undefined) this.#blindFor.set(clientRef, now)
    return isBlind
  }
}

/** Made anew each time: what waits for a promise is kept by it. */
export function forever(): Promise<never> {
  return new Promise(() => {})
}

/** No answer, until whoever asked gives up. */
function hang({ signal }: Pick<OrderSession, 'signal'>): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }),
  )
}

function reset(): Error {
  return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
}

function quietly(effect: () => unknown): void {
  try {
    effect()
  } catch {
    // Nobody is there any more to be told.
  }
}
