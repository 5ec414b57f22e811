/** Deliveries that are due, within one turn of the event loop. */
import { query } from '../db/query.js'

/** Who has something to be told of now: one that is due further ahead comes from a wrong clock. */
export const dueReceivers = query((db, given: { now: number; farthest: number }) =>
  db
    .selectFrom('event_receiver')
    .select('id')
    .where((receiver) =>
      receiver.exists(
        receiver
          .selectFrom('event_delivery')
          .select('event_id')
          .whereRef('receiver_id', '=', 'event_receiver.id')
          .where('state', '=', 'waiting')
          .where((delivery) =>
            delivery.or([
              delivery('next_at', '<=', given.now),
              delivery('next_at', '>', given.farthest),
            ]),
          ),
      ),
    )
    .orderBy('id'),
)
