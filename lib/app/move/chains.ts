/** Proves the chains of the journal and of the audit while their rows go by. */
import { auditMac } from '../../accounts/audit.js'
import { OPERATOR } from '../../core/storage/secrets.js'
import type { Secrets } from '../../core/storage/secrets.js'
import type { Row, TableShape } from '../../db/move/tables.js'
import { ChainWalk } from '../../orders/journal/chain.js'

/** A row or a line that is not as it was written. */
export interface ChainBreak {
  seq: number
  fault: string
}

export interface ChainProof {
  rows: number
  head: { seq: number; mac: string } | null
  /** The first one; what follows it is nobody's word any more. */
  fault: ChainBreak | null
}

/** Follows one table: rows come in the order of their numbers. */
export interface ChainFollower {
  take(rows: readonly Row[]): void
  end(): ChainProof
}

type Secret = Pick<Secrets, 'of'>

/** What follows a table that is a chain; undefined for any other. */
export function followerOf(shape: TableShape, secrets: Secret): ChainFollower | undefined {
  if (shape.name === 'journal') return followJournal(shape, secrets)
  return shape.name === 'audit' ? followAudit(shape, secrets) : undefined
}

/** The values of a row by their names. */
function valuesOf({ columns }: TableShape): (row: Row, name: string) => string {
  const places = new Map(columns.map(({ name }, i) => [name, i]))
  return (row, name) => row[places.get(name) ?? -1] ?? ''
}

function followJournal(shape: TableShape, secrets: Secret): ChainFollower {
  const valueOf = valuesOf(shape)
  const walk = new ChainWalk(secrets.of(OPERATOR))
  return followUp((row) => {
    const read = walk.next(valueOf(row, 'line'))
    if ('fault' in read) return read
    const seq = Number(valueOf(row, 'seq'))
    return seq === read.seq ? read : { seq, fault: `its line says that it is ${read.seq}` }
  })
}

function followAudit(shape: TableShape, secrets: Secret): ChainFollower {
  const valueOf = valuesOf(shape)
  let [last, prev] = [0, '']
  return followUp((row) => {
    const seq = Number(valueOf(row, 'seq'))
    if (seq !== last + 1) return { seq: last + 1, fault: 'the row is missing' }
    const [actor, action, detail] = ['actor', 'action', 'detail'].map((name) => valueOf(row, name))
    const act = {
      seq,
      at: Number(valueOf(row, 'at')),
      actor: actor!,
      action: action!,
      detail: detail!,
    }
    const mac = valueOf(row, 'mac')
    if (auditMac(secrets, act, prev) !== mac)
      return { seq, fault: 'the row, or its place, was changed: its digest does not fit' }
    ;[last, prev] = [seq, mac]
    return { seq, mac }
  })
}

function followUp(next: (row: Row) => { seq: number; mac: string } | ChainBreak): ChainFollower {
  let proof: ChainProof = { rows: 0, head: null, fault: null }
  return {
    take(rows) {
      for (const row of rows) {
        if (proof.fault) return
        const read = next(row)
        proof =
          'fault' in read
            ? { ...proof, fault: read }
            : { rows: proof.rows + 1, head: { seq: read.seq, mac: read.mac }, fault: null }
      }
    },
    end: () => proof,
  }
}
