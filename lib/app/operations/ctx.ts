import type { Background } from '../../core/async/background.js'
import type { ObjectStore } from '../../objects/store.js'
import type { OpenFolder } from '../backup/put-back.js'
import type { Tasks } from '../background/tasks.js'
import type { OperatorCtx } from '../ctx.js'
import type { Jobs } from '../jobs.js'
import type { KeyPlaces } from '../look/closed-folder.js'

/** What the operations of all domains get: the operator's context, and what else an app has. */
export interface OperationCtx extends OperatorCtx {
  readonly background: Background<Tasks>
  /** The store of the journal's second copy. */
  readonly journalCopy: ObjectStore | undefined
  /** Aborted when the app closes. */
  readonly closing: AbortSignal
  /** Opens another folder. */
  readonly open: OpenFolder
  /** Where the secret key of this installation is, for what was copied of it. */
  readonly keyPlaces: KeyPlaces
  readonly schedule: Pick<Jobs, 'run' | 'names'>
}
