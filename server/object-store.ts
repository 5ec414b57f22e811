/** The S3 store that the environment names, and what a server does with it before it serves. */
import type { Log } from '../lib/core/log.js'
import { s3Store } from '../lib/objects/s3.js'
import type { S3Store } from '../lib/objects/s3.js'
import { UsageError } from './cli/command.js'
import { s3FromEnvironment, s3Variable, wantsJournalCopy } from './env.js'
import type { S3Place } from './env.js'

/**
 * For `open()`: nothing where neither the environment nor `place` names a bucket. Asks nobody. Throws a UsageError that
 * names the variable.
 */
export function objectsFromEnvironment(place: S3Place = {}): { objects?: S3Store } {
  const settings = s3FromEnvironment(place)
  if (!settings) return {}
  try {
    return { objects: s3Store({ ...settings, now: Date.now }) }
  } catch (error) {
    const { message } = error as Error
    const variable = s3Variable(/^(\w+): /.exec(message)?.[1] ?? '')
    throw new UsageError(
      variable === undefined ? message : `${variable}${message.slice(message.indexOf(':'))}`,
    )
  }
}

/**
 * For `open()`: the bucket as the place of the journal's second copy, where that is wanted. Throws
 * a UsageError where there is no bucket.
 */
export function journalCopyIn(
  { objects }: { objects?: S3Store },
  isAsked: boolean,
): { journalCopy?: S3Store } {
  if (!isAsked && !wantsJournalCopy()) return {}
  if (!objects)
    throw new UsageError(
      'the copy of the journal (--journal-copy) needs a bucket outside of this machine: ' +
        'set QUARTERMASTER_S3_*. A folder would be set back together with the machine, and ' +
        'show nothing',
    )
  return { journalCopy: objects }
}

/** What is uploaded in parts, and may be left half uploaded. */
const FOLDERS = ['documents/', 'exports/']

/**
 * Tries the store. What is set wrong refuses to start, since nobody would notice before a caller
 * does; an S3 server that cannot be reached does not, since everything else works without it and it
 * may be back at any time. Throws a UsageError.
 */
export async function prepareObjects({ objects }: { objects?: S3Store }, log: Log): Promise<void> {
  if (!objects) return
  const { verdict, line } = await objects.check()
  if (verdict === 'wrong') throw new UsageError(`QUARTERMASTER_S3_*: ${line}`)
  if (verdict === 'doubtful') {
    log.warn({}, `files of callers: ${line}`)
    return
  }
  log.info({}, line)
  // Beside the serving: a lifecycle rule of the bucket does it too, and then the right to look for
  // them may be missing.
  void Promise.all(FOLDERS.map((folder) => objects.tidy(folder))).catch((error: unknown) =>
    log.info(
      { err: error },
      'uploads that were left unfinished cannot be removed; leave them to a lifecycle rule ' +
        'of the bucket',
    ),
  )
}
