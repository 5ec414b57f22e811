/** What the doctor is told: where to look, and by which clocks. */
import type { S3Store } from '../../objects/s3.js'
import type { ObjectStore } from '../../objects/store.js'
import type { Distributor } from '../../distributors/distributor.js'
import type { OperatorEgress } from '../../distributors/session/egress.js'

export interface DoctorInput {
  /** The state folder. */
  dir: string
  /** The address of the PostgreSQL that nodes share, where there are several. */
  database?: string | undefined
  /** The release of this program. */
  program: string
  now: () => number
  /** A clock that never steps, in milliseconds. */
  monotonic: () => number
  /** 64 hex digits, where the key is not in the folder. */
  secretKey?: string | undefined
  /** The bucket, where one is set. */
  objects?: S3Store | undefined
  /** Where a copy of the order journal is kept, where one is. */
  journalCopy?: ObjectStore | undefined
  /** With the documents of the folder; without those that nodes have in their database. */
  distributors: readonly Distributor[]
  egress: OperatorEgress
  /** A folder of backups. */
  backups?: string | undefined
  /** Asks nobody outside of this machine. */
  offline: boolean
}
