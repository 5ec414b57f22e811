/** On PostgreSQL alone, so that no migration of quartermaster.db makes them. */
import { SECOND } from '../../core/clock.js'

/** Milliseconds between two notes of a node that it is there. */
export const BEAT = 5 * SECOND
/** Milliseconds without such a note after which a node counts as gone. */
export const GONE = 4 * BEAT

/** A node that serves, for who looks on. */
export interface NodeTable {
  /** The life of its process. */
  id: string
  host: string
  dir: string
  pid: number
  release: string
  /** Milliseconds by the server's clock, as `seen_at`. */
  started_at: number
  seen_at: number
  /** Milliseconds of its own clock before the server's. */
  clock_ahead: number
  /** The state of its catalog.db; null before it has any. */
  catalog_mark: string | null
  /** JSON: the documents of distributors as it knows them; null of a release that reads none. */
  documents: string | null
}

/** A document of a distributor, which one folder has in `distributors/`. */
export interface DistributorDocumentTable {
  distid: string
  /** JSON, as it was given. */
  text: string
}

/** A key of fraud signals, which one folder has in `keys/`. */
export interface FraudKeyTable {
  name: string
  /** Under the operator's data key. */
  sealed: string
}

/** There for as long as somebody leads. */
export interface LeaseTable {
  name: string
  owner: string
  epoch: number
  mark: string
  /** Milliseconds by the server's clock. */
  renewed_at: number
}
