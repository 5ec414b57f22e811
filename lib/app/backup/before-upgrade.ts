/**
 * Before a release changes the schema of the system of record, it makes a backup in the folder
 * itself: the way back, should the release be left again. The release before refuses the folder.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { chmod, copyFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { MB, figure } from '../../core/figures.js'
import type { Log } from '../../core/log.js'
import { ROOM_FOR_ORDERS, openSpace } from '../../core/storage/disk-space.js'
import { syncPath, writeWholeNow } from '../../core/storage/durable.js'
import { copyDatabase } from '../../db/sqlite/copy.js'
import { RECORD_ID, quartermasterSchema } from '../../db/migrations/quartermaster.js'
import { openFile } from '../../db/sqlite/sqlite.js'
import { openJournalFile } from '../../orders/journal/file.js'
import {
  DECISIONS,
  JOURNAL,
  MANIFEST,
  RECORD,
  STAGING,
  digestOf,
  recordFacts,
  verifyBackup,
} from './backup.js'
import type { Manifest } from './backup.js'

/** Backups before upgrades that are kept. */
const KEPT = 3
const NAME = /^before-schema-\d+-\d{8}T\d{6}$/

const backupsIn = (dir: string) => join(dir, 'backups')

interface Upgrade {
  dir: string
  now: () => number
  log: Log
  /** What is free on the disk, for suites. */
  freeBytes?: (() => number) | undefined
}

/**
 * Makes and verifies a backup where the system of record is of an older schema. Throws where there
 * is no room for it, and for a folder of a newer release; nothing is changed then.
 */
export async function backUpBeforeUpgrade({ dir, now, log, freeBytes }: Upgrade): Promise<void> {
  // What a restore puts together has its backup already.
  if (basename(dir).startsWith(STAGING)) return
  const schema = schemaOf(dir)
  if (schema === null || schema === quartermasterSchema.length) return
  if (schema > quartermasterSchema.length) throw new Error(refusalOf(dir, schema))
  const sources = [RECORD, JOURNAL, DECISIONS].filter((name) => existsSync(join(dir, name)))
  checkRoom(dir, sources, openSpace(dir, freeBytes).free())
  const folder = backupsIn(dir)
  const stamp = new Date(now()).toISOString().replaceAll(/[-:]/g, '').slice(0, 15)
  const to = join(folder, `before-schema-${quartermasterSchema.length}-${stamp}`)
  const draft = join(folder, `.draft-${process.pid}`)
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true, mode: 0o700 })
  try {
    const files: Manifest['files'] = []
    for (const path of sources) {
      await copyOne(join(dir, path), draft, path)
      files.push({ path, ...(await digestOf(join(draft, path))) })
    }
    const manifest: Manifest = {
      format: 1,
      made_at: new Date(now()).toISOString(),
      ...recordFacts(join(draft, RECORD)),
      scope: 'record',
      files,
    }
    writeWholeNow(join(draft, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`)
    await verifyBackup(draft)
    // Another process that upgrades at the same moment has made the same one.
    if (!existsSync(to)) renameSync(draft, to)
    await syncPath(folder)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  log.warn(
    { backup: to, from: schema, to: quartermasterSchema.length },
    'the system of record is brought up to date; the way back is the backup that was made of it',
  )
  for (const name of backupsOf(dir).slice(KEPT))
    rmSync(join(folder, name), { recursive: true, force: true })
}

/** The schema of the system of record; null where there is none yet, or the file is not ours. */
function schemaOf(dir: string): number | null {
  const path = join(dir, RECORD)
  if (!existsSync(path)) return null
  const raw = openFile(path, { synchronous: 'FULL', readonly: true, patient: true })
  try {
    const isOurs = raw.pragma('application_id', { simple: true }) === RECORD_ID
    const schema = raw.pragma('user_version', { simple: true }) as number
    return isOurs && schema > 0 ? schema : null
  } finally {
    raw.close()
  }
}

/** SQLite copies its own files; the journal may be in the middle of a line. */
async function copyOne(from: string, folder: string, name: string): Promise<void> {
  const to = join(folder, name)
  if (name === JOURNAL) {
    await copyFile(from, to)
    await (await openJournalFile(folder)).close()
  } else copyDatabase({ from, to })
  await chmod(to, 0o600)
  await syncPath(to)
}

/** The copy, and as much again for what the new schema needs. */
function checkRoom(dir: string, sources: readonly string[], free: number): void {
  const bytes = sources.reduce((sum, name) => sum + statSync(join(dir, name)).size, 0)
  const lacking = 2 * bytes + ROOM_FOR_ORDERS - free
  if (lacking > 0)
    throw new Error(
      `this release changes the schema of ${join(dir, RECORD)}, and there is no room for the ` +
        `backup that it makes first: free ${figure(Math.ceil(lacking / MB))} MB, and start again`,
    )
}

function refusalOf(dir: string, schema: number): string {
  const fitting = backupsOf(dir).find((name) => {
    try {
      const text = readFileSync(join(backupsIn(dir), name, MANIFEST), 'utf8')
      return (JSON.parse(text) as Manifest).schema <= quartermasterSchema.length
    } catch {
      return false
    }
  })
  return (
    `${RECORD} was written by a newer release (schema ${schema}, this one knows ` +
    `${quartermasterSchema.length}); install that release again, or restore a backup that was ` +
    'made before the upgrade' +
    (fitting === undefined
      ? ''
      : `: quartermaster restore ${join(backupsIn(dir), fitting)} --dir ${dir}`)
  )
}

/** Backups before upgrades, the newest first. */
function backupsOf(dir: string): string[] {
  const folder = backupsIn(dir)
  if (!existsSync(folder)) return []
  const madeAt = (name: string) => name.slice(name.lastIndexOf('-') + 1)
  return readdirSync(folder)
    .filter((name) => NAME.test(name))
    .sort((a, b) => (madeAt(a) < madeAt(b) ? 1 : -1))
}
