/** What sharing needs of the rest. */
import type { Background } from '../../core/async/background.js'
import type { Log } from '../../core/log.js'
import type { Lead } from '../../db/lead.js'
import type { ObjectStore } from '../../objects/store.js'
import type { SharedName } from './publication.js'
import type { RecordCtx } from './record.js'
import type { SharedTasks } from './tasks.js'

export interface SharingParts extends Omit<RecordCtx, 'name'> {
  lead: Lead
  background: Background<SharedTasks>
  objects: ObjectStore
  log: Pick<Log, 'info' | 'warn' | 'debug'>
  /** Milliseconds by a clock that never steps. */
  monotonic: () => number
  /** Where the node runs that leads, and whether its folder is this one; null where none does. */
  leader: () => Promise<{ host: string; dir: string; isHere: boolean } | null>
  /**
   * Told that another file has the place of catalog.db and is at the state that is wanted, before
   * it is opened: until this resolves, the one of before is read on.
   */
  adopted: () => Promise<void>
  /** Told when catalog.db is at another state; `isReplaced` where it is another file. */
  changed: (isReplaced: boolean) => void
  /** Moves with the files that go along with the history. */
  filesMoved: () => string
  /**
   * Changes after which the whole is published: as many as these, or more bytes than these,
   * where it is not larger. 1 MB and 300 by default.
   */
  baseAfter?: { bytes: number; changes: number }
}

/** For one of the databases; `changed` of the catalog alone. */
export interface LineParts extends Omit<SharingParts, 'changed'> {
  name: SharedName
  changed: SharingParts['changed'] | undefined
}
