/** Tells whether both places have the same rows: their number, and a digest over all columns. */
import { createHash } from 'node:crypto'
import type { Row, TableShape } from './tables.js'

export interface TableContent {
  rows: number
  /** SHA-256 in hex, of the rows in the order of their key. */
  digest: string
}

export interface ContentCount {
  take(rows: readonly Row[]): void
  end(): TableContent
}

/** Counts rows that are passed in the order of the table's key. */
export function countContent({ name, columns }: TableShape): ContentCount {
  // The columns belong to it: the same rows under another schema are not the same.
  const hash = createHash('sha256').update(JSON.stringify([name, columns]))
  let count = 0
  return {
    take(rows) {
      count += rows.length
      hash.update(rows.map((row) => `\n${JSON.stringify(row)}`).join(''))
    },
    end: () => ({ rows: count, digest: hash.digest('hex') }),
  }
}

export const isSame = (one: TableContent, other: TableContent): boolean =>
  one.rows === other.rows && one.digest === other.digest
