/**
 * Proves the journal of a running server in the background: soon after its start, and once a day.
 * What damage stands in its middle nobody else would see until the line is needed.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { DAY, SECOND } from '../../core/clock.js'
import type { OrdersCtx } from '../ctx.js'
import { pauseOrders, readKnownDamage } from '../engine/pause.js'
import { verifyJournal } from './verify.js'
import type { JournalFault, Verification } from './verify.js'
import type { JournalKeeper } from './writer.js'

/** Milliseconds from the start to the first time. */
const AFTER = 10 * SECOND
/**
 * Milliseconds between two steps, each of which takes about four: a million lines take two thirds
 * of a minute.
 */
const REST = 15

export interface Prover {
  /**
   * Begins where it is time, and returns at once. To be called when the journal's file has every
   * line.
   */
  look(journal: JournalKeeper): void
  /** Resolves once nothing is being proved. */
  ended(): Promise<void>
}

/** Ends soon after the signal is aborted. */
export function openProver(ctx: OrdersCtx, signal: AbortSignal): Prover {
  let due: number | undefined
  let running: Promise<void> | null = null

  return {
    look(journal) {
      due ??= ctx.monotonic() + AFTER
      if (running || signal.aborted || ctx.monotonic() < due) return
      due = ctx.monotonic() + DAY
      running = prove(ctx, journal, signal)
        .catch((error: unknown) => {
          if (!signal.aborted)
            ctx.log.warn(
              { err: error },
              'the journal of orders could not be proved; it is tried again in a day',
            )
        })
        .finally(() => {
          running = null
        })
    },
    ended: async () => {
      await running
    },
  }
}

async function prove(ctx: OrdersCtx, journal: JournalKeeper, signal: AbortSignal): Promise<void> {
  const { remakes } = journal
  const found = await verifyJournal(ctx, {
    rest: () => wait(REST, undefined, { signal, ref: false }),
  })
  // What was read is another file than the one that is there now; its damage has been told.
  if (journal.remakes === remakes) await act(ctx, journal, found)
}

async function act(
  ctx: OrdersCtx,
  journal: JournalKeeper,
  { faults, lines }: Verification,
): Promise<void> {
  if (faults.length === 0)
    return ctx.log.info({ lines }, 'the journal of orders is as it was written')
  const inFile = faults.find(({ where }) => where === 'orders.journal')
  const lasting = faults.filter(({ where }) => where !== 'orders.journal')
  // From a database that is damaged itself the file is not made anew: it may be the one that is
  // right.
  if (inFile && !lasting.some(({ where }) => where === 'database'))
    await journal.remake(inWords(inFile))
  const known = await readKnownDamage(ctx)
  const damage = lasting.map(inWords).filter((words) => !known.includes(words))
  const [reason] = damage
  if (reason !== undefined) await pauseOrders(ctx, { reason, damage, isForgetful: true })
  else if (lasting.length > 0)
    ctx.log.warn(
      { damage: lasting.map(inWords) },
      'the journal of orders is damaged, as the operator knows',
    )
}

function inWords({ where, seq, fault }: JournalFault): string {
  return seq === null ? `${where}: ${fault}` : `${where}, line ${seq}: ${fault}`
}
