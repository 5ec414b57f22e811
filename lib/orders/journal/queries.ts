/** What the proof of the order journal asks of the database. */
import { query } from '../../db/query.js'

/** The last line, and the last one that the file has for sure; 0 where there is none. */
export const journalReach = query((db) =>
  db.selectNoFrom(({ fn, val, selectFrom }) => [
    fn
      .coalesce(
        selectFrom('journal').select((row) => row.fn.max('seq').as('seq')),
        val(0),
      )
      .as('last'),
    fn
      .coalesce(
        selectFrom('order_engine')
          .select((row) => row.cast<number>('value', 'integer').as('value'))
          .where('name', '=', 'journaled'),
        val(0),
      )
      .as('marked'),
  ]),
)

/** The next lines, in their order. */
export const linesAfter = query((db, given: { seq: number; limit: number }) =>
  db
    .selectFrom('journal')
    .select(['seq', 'line'])
    .where('seq', '>', given.seq)
    .orderBy('seq')
    .limit(given.limit),
)

/** The last line, and the one of that number, in their order. */
export const lastLineAndAt = query((db, given: { seq: number }) =>
  db
    .selectFrom('journal')
    .select(['seq', 'line'])
    .where((row) =>
      row.or([
        row('seq', '=', given.seq),
        row(
          'seq',
          '=',
          row.selectFrom('journal as last').select((last) => last.fn.max('last.seq').as('seq')),
        ),
      ]),
    )
    .orderBy('seq'),
)

export const lineAt = query((db, given: { seq: number }) =>
  db.selectFrom('journal').select('line').where('seq', '=', given.seq),
)
