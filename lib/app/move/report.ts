/** What a move tells when it is done, whichever way it went. */
import type { TableContent } from '../../db/move/digest.js'
import type { TableShape } from '../../db/move/tables.js'
import type { HistoryReport, MoveInput, MoveReport } from './input.js'
import { leftIn } from './left.js'

/** What a run found out, besides its tables; `began` by the steady clock. */
export interface RunEnd extends Pick<MoveReport, 'was_done' | 'journal' | 'audit'> {
  began: number
}

interface Moved extends Pick<MoveReport, 'to' | 'database'> {
  input: MoveInput
  /** In the order of the report. */
  shapes: readonly TableShape[]
  /** By table; one that an earlier run was done with may be missing. */
  contents: ReadonlyMap<string, TableContent>
  /** Milliseconds, by table. */
  took: ReadonlyMap<string, number>
  history: HistoryReport | null
}

export function reportOf(
  { input: { dir, monotonic }, to, database, shapes, contents, took, history }: Moved,
  { began, ...end }: RunEnd,
): MoveReport {
  const tables = shapes.flatMap(({ name }) => {
    const content = contents.get(name)
    return content ? [{ table: name, ...content, took: took.get(name) ?? 0 }] : []
  })
  return {
    to,
    dir,
    database,
    ...end,
    tables,
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    took: monotonic() - began,
    history,
    left: leftIn(dir, { hasHistoryMoved: history !== null }),
  }
}
