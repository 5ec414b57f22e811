/** What the proof of the audit asks of the database. */
import { query } from '../db/query.js'
import { lastGiven } from '../db/words.js'

/** The last row that there is, and the last number that was ever given; 0 where there is none. */
export const auditReach = query((db) =>
  db.selectFrom('audit').select(({ fn, val }) => [
    fn.coalesce(fn.max('seq'), val(0)).as('last'),
    // A row that was cut off leaves its number there.
    lastGiven('audit').as('given'),
  ]),
)

/** The next rows, in their order. */
export const auditAfter = query((db, given: { seq: number; limit: number }) =>
  db
    .selectFrom('audit')
    .select(['seq', 'at', 'actor', 'action', 'detail', 'mac'])
    .where('seq', '>', given.seq)
    .orderBy('seq')
    .limit(given.limit),
)
