/** Opens the state folder: its secret key, its database files and its data keys. */
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { joinAudit } from '../accounts/audit.js'
import { openSecrets } from '../accounts/data-keys.js'
import { loadSecretKey } from '../core/storage/secrets.js'
import type { Secrets } from '../core/storage/secrets.js'
import { filesIn } from '../db/sqlite/folder.js'
import type { Engine } from '../db/engine.js'
import { backUpBeforeUpgrade } from './backup/before-upgrade.js'
import type { Settings } from './options.js'
import { openRecord } from './record.js'

export interface State {
  engine: Engine
  secrets: Secrets
}

/** Creates the folder where it is missing, and upgrades its files. */
export async function openState({
  dir,
  database,
  now,
  monotonic,
  random,
  secretKey,
  fatal,
  log,
  faults,
}: Settings): Promise<State> {
  async function prepare(): Promise<void> {
    refuseEmptied(dir)
    await backUpBeforeUpgrade({ dir, now, log, freeBytes: faults.freeBytes })
  }

  const fresh = !existsSync(filesIn(dir).record)
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const key = loadSecretKey(dir, {
    fresh,
    random,
    ...(secretKey !== undefined && { fromEnvironment: secretKey }),
  })
  const engine = await openRecord({
    dir,
    database,
    log,
    now,
    monotonic,
    random,
    fatal,
    before: prepare,
  })
  try {
    const secrets = await openSecrets(engine, key, random)
    await engine.ready()
    await joinAudit({ engine, db: engine.db, read: engine.read, secrets, now })
    return { engine, secrets }
  } catch (error) {
    await engine.close()
    throw error
  }
}

/**
 * A start that was cut off leaves an empty file as the only one. Beside others it has lost what it
 * held, and a new one in its place would know of no order.
 */
function refuseEmptied(dir: string): void {
  const { record, decisions, meter } = filesIn(dir)
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const isEmptied = existsSync(record) && sizeOf(record) + sizeOf(`${record}-wal`) === 0
  if (isEmptied && sizeOf(decisions) + sizeOf(meter) > 0)
    throw new Error(
      `${record} is empty, and was not: restore a backup over ${dir}, which keeps orders.journal`,
    )
}
