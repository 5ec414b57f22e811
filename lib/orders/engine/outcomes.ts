/**
 * What another process has made of orders that are placed here. All that wait are looked for
 * together: as many statements for a thousand of them as for one.
 */
import { pause } from '../../core/async/wait.js'
import { isCommitUnknown, isUnavailable } from '../../db/faults.js'
import type { PoState } from '../../db/tables/orders.js'
import { all, lookWithin } from '../../db/reading.js'
import type { OrdersCtx } from '../ctx.js'
import type { Outcome } from '../stored.js'
import { unsentPlacements } from './queries.js'

/** How often it is looked where nobody tells, and how long a look comes after the one before, in ms. */
const POLL = 100
const LEAST = 10

export interface Outcomes {
  /**
   * What became of a placement, as the next look finds it: once another node tells of orders, and
   * within a tenth of a second. Null where the database is away for the moment.
   */
  next(placementId: number): Promise<Outcome | null>
}

export function openOutcomes(ctx: OrdersCtx, stopping: AbortSignal): Outcomes {
  return new OutcomeWatch(ctx, stopping)
}

type Waiting = Map<number, ((outcome: Outcome | null) => void)[]>

class OutcomeWatch implements Outcomes {
  readonly #ctx: OrdersCtx
  readonly #stopping: AbortSignal
  #waiting: Waiting = new Map()
  /** Those that a look is under way for. */
  #looked: Waiting = new Map()
  #isRunning = false
  /** When the last look began, by the steady clock. */
  #lookedAt = -Infinity
  /** Somebody has told of one of these since the last look began. */
  #news = new AbortController()

  constructor(ctx: OrdersCtx, stopping: AbortSignal) {
    this.#ctx = ctx
    this.#stopping = stopping
    const isWanted = (placement: number) =>
      this.#waiting.has(placement) || this.#looked.has(placement)
    ctx.engine.lead?.onTold(
      'moved',
      (placement) => {
        if (placement === null || isWanted(placement)) this.#news.abort()
      },
      stopping,
    )
  }

  next(placementId: number): Promise<Outcome | null> {
    return new Promise((resolve) => {
      this.#waiting.set(placementId, [...(this.#waiting.get(placementId) ?? []), resolve])
      if (!this.#isRunning) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.size > 0) {
      await pause(POLL, this.#news.signal)
      // Many tellings are one look.
      const early = this.#lookedAt + LEAST - this.#ctx.monotonic()
      if (early > 0) await pause(early, this.#stopping)
      this.#lookedAt = this.#ctx.monotonic()
      this.#news = new AbortController()
      this.#looked = this.#waiting
      this.#waiting = new Map()
      await this.#look(this.#looked)
    }
    this.#isRunning = false
  }

  async #look(waiting: Waiting): Promise<void> {
    const ctx = this.#ctx
    const ids = [...waiting.keys()]
    const unsent = await laterIfAway(() =>
      lookWithin(ctx.read, () => all(unsentPlacements, { ids })),
    ).catch((error: unknown) => {
      ctx.log.error({ err: error }, 'what became of orders cannot be read; it is looked for again')
      return null
    })
    for (const [id, resolvers] of waiting) {
      const outcome = unsent && outcomeOf(unsent.filter((part) => part.placement_id === id))
      for (const resolve of resolvers) resolve(outcome)
    }
  }
}

/** Of the parts of one placement that are not through. */
function outcomeOf(parts: readonly { state: PoState; is_paused: 0 | 1 }[]): Outcome {
  if (parts.length === 0) return 'through'
  const isHeld = parts.every((part) => part.is_paused === 1 && part.state !== 'sending')
  return isHeld ? 'paused' : 'open'
}

/** Null where the database is away for the moment: it is asked again. */
export async function laterIfAway<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask()
  } catch (error) {
    // What the lead takes over when it begins may be in doubt, too: it is taken over again.
    if (isUnavailable(error) || isCommitUnknown(error)) return null
    throw error
  }
}
