/** Whether the copy of the order journal outside of the machine tells what the database tells. */
import { inTime } from '../../core/async/wait.js'
import { MINUTE, SECOND } from '../../core/clock.js'
import { figure } from '../../core/figures.js'
import type { Finding } from '../../core/finding.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { kyselyOver, openFile } from '../../db/sqlite/sqlite.js'
import type { Tables } from '../../db/tables/tables.js'
import type { ObjectStore } from '../../objects/store.js'
import { proveCopy } from '../../orders/journal/copy.js'
import { closedOrNull, findKey } from './closed-folder.js'
import type { DoctorInput } from './input.js'
import { tell } from './tell.js'

/** Milliseconds that the store has to list all of the copy. */
const PATIENCE = MINUTE
const CHECK = 'journal_copy'

export async function lookAtJournalCopy(input: DoctorInput): Promise<readonly Finding[]> {
  const { journalCopy: store, offline, dir, now } = input
  if (!store || offline) return []
  const folder = closedOrNull(dir)
  if (!folder) return []
  const record = openFile(filesIn(dir).record, { synchronous: 'FULL', readonly: true })
  try {
    const key = findKey(folder, input)
    // What is wrong with the key was told by whoever looked for it.
    if (!folder.isCurrent || 'why' in key) return []
    return await compareCopy(
      { read: kyselyOver<Tables>(record, () => {}), secrets: key.secrets, now },
      store,
    )
  } finally {
    record.close()
    folder.close()
  }
}

/** Compares the copy in a store with the journal of a record that is open. */
export async function compareCopy(
  ctx: Parameters<typeof proveCopy>[0],
  store: ObjectStore,
): Promise<readonly Finding[]> {
  try {
    const { reach, faults } = await inTime(() => proveCopy(ctx, store), {
      ms: PATIENCE,
      late: () => {
        throw new Error(`the store did not answer within ${PATIENCE / SECOND} s`)
      },
    })
    const [fault] = faults
    if (fault)
      return [tell(CHECK, 'bad', fault.fault, { mend: 'quartermaster orders journal verify' })]
    return [
      tell(
        CHECK,
        'ok',
        reach
          ? `the copy of the order journal has lines ${figure(reach.from)} to ${figure(reach.to)}, ` +
              `as the database has them; ${figure(reach.pending)} are not there yet`
          : 'the copy of the order journal has no line yet',
      ),
    ]
  } catch (error) {
    const { message } = error as Error
    return [
      tell(CHECK, 'warn', `the copy of the order journal cannot be compared: ${message}`, {
        mend: 'look at QUARTERMASTER_S3_*',
      }),
    ]
  }
}
