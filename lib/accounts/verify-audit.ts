/**
 * Proves the audit: that no row was changed, removed or moved, and with an anchor that none was cut
 * off.
 */
import { nextTurn } from '../core/async/wait.js'
import type { AccountsCtx } from './ctx.js'
import type { Snapshot } from '../db/query.js'
import { all, first } from '../db/reading.js'
import { JOINED, auditMac } from './audit.js'
import { auditAfter, auditReach } from './queries.js'

export interface AuditHead {
  seq: number
  mac: string
}

export interface AuditFault {
  seq: number
  fault: string
}

export interface AuditVerification {
  sound: boolean
  rows: number
  /**
   * The last row: kept elsewhere, it is an anchor that later finds every row up to here. Null where
   * there is none.
   */
  head: AuditHead | null
  /**
   * When rows of before were taken into the chain: at the upgrade to this release, and never after
   * it.
   */
  joined: { at: string; up_to: number }[]
  /** Empty where all is as it was written; at most 100. */
  faults: AuditFault[]
}

export interface VerifyAuditOptions {
  /** A head that was noted before: the row must still be there, with this digest. */
  anchor?: AuditHead | undefined
  onProgress?: ((done: number, total: number, rows: number) => void) | undefined
}

const MAX_FAULTS = 100
/** Rows that are proved in one turn of the event loop: a few milliseconds. */
const STEP = 500

/** What the proof needs: a folder that nobody has opened will do. */
export interface AuditProofCtx {
  readonly engine: Pick<AccountsCtx['engine'], 'openSnapshot'>
  readonly secrets: Pick<AccountsCtx['secrets'], 'of'>
}

/** Verifies the whole audit. Nothing is written, and a server may run meanwhile. */
export async function verifyAudit(
  ctx: AuditProofCtx,
  options: VerifyAuditOptions = {},
): Promise<AuditVerification> {
  const snapshot = await ctx.engine.openSnapshot()
  try {
    return await prove(ctx, snapshot, options)
  } finally {
    await snapshot.close()
  }
}

async function prove(
  ctx: AuditProofCtx,
  snapshot: Snapshot,
  { anchor, onProgress }: VerifyAuditOptions,
): Promise<AuditVerification> {
  const { last, given } = (await snapshot.look(() => first(auditReach))) ?? { last: 0, given: 0 }
  const faults: AuditFault[] = []
  const joined: AuditVerification['joined'] = []
  let [seq, prev, rows] = [0, '', 0]
  const missing = (from: number, to: number) => {
    faults.push({
      seq: from,
      fault: from === to ? 'the row is missing' : `the rows up to ${to} are missing`,
    })
  }
  while (seq < last) {
    const step = { seq, limit: STEP }
    for (const row of await snapshot.look(() => all(auditAfter, step))) {
      // What follows a gap cannot be tied to what stood there; it is the gap that is told.
      if (row.seq !== seq + 1) missing(seq + 1, row.seq - 1)
      else if (auditMac(ctx.secrets, row, prev) !== row.mac)
        faults.push({
          seq: row.seq,
          fault: 'the row, or its place, was changed: its digest does not fit',
        })
      if (anchor?.seq === row.seq && anchor.mac !== row.mac)
        faults.push({ seq: row.seq, fault: 'the row is not the one of the anchor' })
      if (row.action === JOINED)
        joined.push({ at: new Date(row.at).toISOString(), up_to: row.seq - 1 })
      ;[seq, prev] = [row.seq, row.mac]
      rows++
    }
    onProgress?.(seq, last, rows)
    await nextTurn()
  }
  if (Math.max(given, anchor?.seq ?? 0) > last) missing(last + 1, Math.max(given, anchor?.seq ?? 0))
  return {
    sound: faults.length === 0,
    rows,
    head: last === 0 ? null : { seq: last, mac: prev },
    joined,
    faults: faults.slice(0, MAX_FAULTS),
  }
}
