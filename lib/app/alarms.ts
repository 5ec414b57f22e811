/** Looks every minute at what is not well, and has it told: each alarm once, and its end once. */
import type { Job } from '../core/async/job.js'
import { MINUTE } from '../core/clock.js'
import { orWell } from '../core/finding.js'
import type { Finding } from '../core/finding.js'
import { tellAlarms } from '../events/events.js'
import { LOW_DISK, findings } from './health.js'
import type { OperatorCtx } from './ctx.js'

/** Milliseconds without the right to send: a server that takes over from another has it sooner. */
const LOST = MINUTE

/**
 * Milliseconds for which a server that was down may bring its feeds: they are old when it starts,
 * and need nobody.
 */
const FEEDS_COME = 10 * MINUTE

/**
 * Free bytes from which a disk is no longer low: one at the edge would be told every other minute.
 */
const ENOUGH_DISK = LOW_DISK * 1.1

/** The job of one app: it knows how long that has been looking. */
export function makeAlarmJob(): Job<OperatorCtx> {
  let first: number | undefined
  return {
    name: 'alarms',
    every: MINUTE,
    run: async (ctx) => {
      first ??= ctx.monotonic()
      const isEarly = ctx.monotonic() - first < FEEDS_COME
      const found = [...(await findings(ctx)), ...senderFindings(ctx)].filter(
        ({ check }) => !(isEarly && check === 'feed_stale'),
      )
      const checks = new Set(found.map(({ check }) => check))
      if (ctx.space.free() < ENOUGH_DISK) checks.delete('disk_low')
      await tellAlarms(ctx, found, checks)
    },
  }
}

/** What only the process that serves can say. */
function senderFindings({ orders, monotonic }: OperatorCtx): readonly Finding[] {
  const { waitingSince } = orders
  const isLost = waitingSince !== null && monotonic() - waitingSince >= LOST
  const lost: Finding = {
    check: 'sender_lost',
    subject: '',
    severity: 'bad',
    message: 'the server cannot send orders: the log says why',
    mend: 'quartermaster orders journal verify',
  }
  return orWell(isLost ? [lost] : [], 'sender_lost', 'orders are sent')
}
