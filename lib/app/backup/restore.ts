/** Putting a backup back, and rehearsing it, for whoever embeds the package or sits at the command line. */
import { open } from '../open.js'
import { drill } from './drill.js'
import type { Drill, DrillInput } from './drill.js'
import { putBack } from './put-back.js'
import type { RestoreInput, Restored } from './put-back.js'

export type { RestoreInput, Restored } from './put-back.js'

/**
 * Restores a backup. Throws, and has changed nothing, where the backup, the key or the folder is
 * not fit for it.
 */
export function restoreBackup(input: RestoreInput): Promise<Restored> {
  return putBack(open, input)
}

/** Rehearses a restore in a throwaway folder. Throws what the restore would throw. */
export function drillBackup(input: DrillInput): Promise<Drill> {
  return drill(open, input)
}
