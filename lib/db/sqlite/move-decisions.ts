/** Brings the log of decisions of an older release into its own file. */
import { existsSync } from 'node:fs'
import { openFile } from './sqlite.js'
import type { Raw } from './sqlite.js'

const COLUMNS = [
  'seq',
  'at',
  'subscriber_id',
  'digest',
  'state',
  'zip',
  'target',
  'approved',
  'items',
] as const
type Row = Record<(typeof COLUMNS)[number], number | string | null>

/**
 * Copies what meter.db of an older release has of decisions, on the disk before meter.db drops it.
 * Whatever cuts this off, the next start does it again: a row that is there already is not copied
 * twice.
 */
export function moveDecisions({ meter, decisions }: { meter: string; decisions: string }): void {
  if (!existsSync(meter)) return
  const from = openFile(meter, { synchronous: 'NORMAL', patient: true })
  try {
    const hasTable =
      from.prepare("SELECT 1 FROM sqlite_master WHERE name = 'restriction_decision'").get() !==
      undefined
    if (!hasTable) return
    const to = openFile(decisions, { synchronous: 'FULL', patient: true })
    try {
      to.transaction(() => copy(from, to)).immediate()
    } finally {
      to.close()
    }
  } finally {
    from.close()
  }
}

function copy(from: Raw, to: Raw): void {
  const known = to.prepare(`SELECT ${COLUMNS.join(', ')} FROM restriction_decision WHERE seq = ?`)
  const insert = to.prepare(
    `INSERT INTO restriction_decision (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map((name) => `@${name}`).join(', ')})`,
  )
  for (const row of from
    .prepare(`SELECT ${COLUMNS.join(', ')} FROM restriction_decision ORDER BY seq`)
    .iterate() as IterableIterator<Row>) {
    const there = known.get(row.seq) as Row | undefined
    if (!there) insert.run(row)
    // A backup of a newer release was put back beside this meter.db: its rows have the same
    // numbers.
    else if (COLUMNS.some((name) => there[name] !== row[name])) insert.run({ ...row, seq: null })
  }
}
