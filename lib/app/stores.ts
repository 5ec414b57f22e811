/** The stores of files: the one that callers download from, and the one of the journal's copy. */
import { join } from 'node:path'
import type { Secrets } from '../core/storage/secrets.js'
import { OPERATOR } from '../core/storage/secrets.js'
import { diskStore } from '../objects/disk.js'
import { endingStore } from '../objects/timeout-store.js'
import type { ObjectStore } from '../objects/store.js'
import type { Settings } from './options.js'

export interface Stores {
  objects: ObjectStore
  journalCopy: ObjectStore | undefined
}

/** No call of either waits longer than until `closing` is aborted. */
export async function openStores(
  settings: Settings,
  secrets: Secrets,
  closing: AbortSignal,
): Promise<Stores> {
  const { objects, journalCopy, faults } = settings
  const ending = (store: ObjectStore) => endingStore(store, closing, faults.objects)
  return {
    objects: ending(objects ?? (await openFolder(settings, secrets))),
    journalCopy: journalCopy && ending(journalCopy),
  }
}

/** The store that the state folder has: files, and URLs of this very server. */
async function openFolder(
  { dir, now, random, log, publicUrl }: Settings,
  secrets: Secrets,
): Promise<ObjectStore> {
  const store = diskStore({
    dir: join(dir, 'objects'),
    now,
    random,
    publicUrl: () => publicUrl.current,
    signingKey: () => secrets.of(OPERATOR).fingerprint('URLs of the object store'),
  })
  await store
    .tidy()
    .catch((error: unknown) =>
      log.warn({ err: error }, 'drafts of files that were left behind cannot be removed'),
    )
  return store
}
