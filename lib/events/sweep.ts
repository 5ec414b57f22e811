/** Events of more than a year ago are removed. */
import { DAY } from '../core/clock.js'
import type { Job } from '../core/async/job.js'
import type { EventsCtx } from './events.js'

const KEPT = 400 * DAY

export const eventJob: Job<EventsCtx> = {
  name: 'events',
  every: DAY,
  run: async ({ db, now }) => {
    await db
      .deleteFrom('event')
      .where('at', '<', now() - KEPT)
      .execute()
  },
}
