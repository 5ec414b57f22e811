/** On PostgreSQL alone, so that no migration of quartermaster.db makes it. */
import type { Generated } from 'kysely'

/** What the leader has published of the databases of its folder. */
export interface PublicationTable {
  /** Of which database. */
  name: 'catalog' | 'history'
  number: number
  kind: 'base' | 'change'
  /** The state that a change goes on from; null for a base. */
  before: string | null
  /** The state after it. */
  mark: string
  form: number
  made: string
  revision: number
  /** The highest number that was given to a text. */
  fragments: number
  /** JSON of `Part`s. */
  parts: string
  /** JSON of `SharedFile`s. */
  files: string
  bytes: number
  published_at: number
  epoch: number
  /** 1: a node found an object of it missing or changed. */
  is_broken: Generated<number>
}
