/** What differs between the databases of a node's folder that several nodes share. */
import type { Raw } from '../../db/sqlite/sqlite.js'
import type { Page } from './pages.js'
import type { Highest } from './publication.js'

/** What is told of a state beside its mark; nothing of it names a history's. */
export interface StateFacts {
  made: string
  revision: number
  /** The highest number that was given to a text. */
  fragments: number
}

export interface Beginning {
  epoch: number
  last: Highest
  /** The file goes on from none that was published. */
  isAnew: boolean
  now: number
}

export interface SharedDatabase {
  /** Of the file's schema: files of two releases may differ. */
  formOf(raw: Raw): number
  /** Begins to note what changes; does nothing where that has begun. */
  installNotes(raw: Raw): void
  /** Whether anything was noted that is in no publication yet. */
  hasNotes(raw: Raw): boolean
  /** Everything that was noted is published, or lies ready to be. */
  clearNotes(raw: Raw): void
  factsOf(raw: Raw): StateFacts
  /** Whether there is anything at all to publish: other nodes may have better than nothing. */
  isEmpty(raw: Raw): boolean
  /** Whether so much changed that a base takes no more. */
  isTooMuch(raw: Raw): boolean
  /** Has a file that goes on from none that was published begin at this revision or after it. */
  startAt(raw: Raw, revision: number, now: number): void
  /** Writes what was noted as pages, in the order in which they are applied. */
  writeChange(raw: Raw, write: (page: Page) => void): void
  /** Makes what writes a page. Throws a RangeError for one that says what there is not. */
  openApplying(raw: Raw): (page: Page) => void
  /** A base is made that holds what no node has yet. */
  onNewBase(raw: Raw): void
  /** Leaves in a copy what other nodes need. */
  strip(raw: Raw): void
  /** Nothing from here on has a number that another leader may have given. */
  lead(raw: Raw, beginning: Beginning): void
}
