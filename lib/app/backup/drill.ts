/**
 * The restore drill: the newest backup is put back into a throwaway folder, proved and opened, and
 * the folder removed. Nothing of the installation, of the bucket or of a distributor is touched.
 */
import { existsSync, mkdtempSync, rmSync, statSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { verifyAudit } from '../../accounts/verify-audit.js'
import type { AuditVerification } from '../../accounts/verify-audit.js'
import { MB, figure } from '../../core/figures.js'
import { invalid } from '../../core/errors.js'
import { present } from '../../core/present.js'
import { proveJournal } from '../../orders/journal/verify.js'
import type { Verification } from '../../orders/journal/verify.js'
import { findKey, openClosed } from '../look/closed-folder.js'
import type { KeyPlaces } from '../look/closed-folder.js'
import { contentCounts } from '../look/queries.js'
import type { OpenOptions } from '../options.js'
import { MANIFEST, backupsIn, sizeOfBackup } from './backup.js'
import type { Contents } from './check.js'
import { putBack } from './put-back.js'
import type { OpenFolder } from './put-back.js'

export interface DrillInput extends KeyPlaces, Pick<OpenOptions, 'distributors'> {
  /** A backup, or a folder of backups, of which the newest is taken. */
  from: string
  /** Where the throwaway folder is made; the system's folder for such by default. */
  scratch?: string | undefined
  now: () => number
  /** A clock that never steps, in milliseconds. */
  monotonic: () => number
}

export interface Drill {
  backup: string
  made_at: string
  /** Milliseconds since it was made. */
  age: number
  bytes: number
  contents: Contents
  journal: Verification
  audit: AuditVerification
  /** Milliseconds until it was in place, and until it was opened and proved. */
  restored_in: number
  proved_in: number
  sound: boolean
}

/** A restore needs the backup's room twice: its copy is made ready beside the folder. */
const COPIES = 2

/** Throws what the restore would throw; the throwaway folder is gone then, too. */
export async function drill(open: OpenFolder, input: DrillInput): Promise<Drill> {
  const { scratch = tmpdir(), now, monotonic, distributors = [] } = input
  const backup = backupOf(resolve(input.from))
  const secretKey = keyOf(backup, input)
  const began = monotonic()
  needRoom(scratch, backup)
  const dir = mkdtempSync(join(scratch, 'quartermaster-drill-'))
  try {
    const options = { dir, secretKey, now, distributors, actor: 'drill' }
    const restored = await putBack(open, { backup, ...options })
    const inPlace = monotonic()
    const proved = await prove(open, options)
    return {
      backup,
      made_at: restored.made_at,
      age: now() - Date.parse(restored.made_at),
      bytes: restored.bytes,
      ...proved,
      restored_in: Math.round(inPlace - began),
      proved_in: Math.round(monotonic() - began),
      sound: proved.journal.sound && proved.audit.sound,
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** The backup itself, or the newest of a folder. */
export function backupOf(from: string): string {
  if (existsSync(join(from, MANIFEST))) return from
  if (!existsSync(from)) throw invalid('backup', `there is no folder ${from}`)
  if (!statSync(from).isDirectory())
    throw invalid('backup', `${from} is a file, and backups are folders`)
  const [newest] = backupsIn(from)
  if (!newest)
    throw invalid('backup', `${from} holds no backup: \`quartermaster backup\` makes one`)
  return newest.path
}

/** Handed on as it is, so that no key is written into the throwaway folder. */
function keyOf(backup: string, places: KeyPlaces): string {
  const folder = openClosed(backup)
  try {
    const found = findKey(folder, places)
    if ('why' in found) throw invalid('keys', `${found.why}: name your copy of keys/ with --keys`)
    return found.text
  } finally {
    folder.close()
  }
}

function needRoom(scratch: string, backup: string): void {
  if (!statSync(scratch, { throwIfNoEntry: false })?.isDirectory())
    throw invalid('scratch', `there is no folder ${scratch}`)
  const { bavail, bsize } = statfsSync(scratch)
  const missing = sizeOfBackup(backup) * COPIES - bavail * bsize
  if (missing > 0)
    throw invalid(
      'scratch',
      `there is too little room in ${scratch}: ${figure(Math.ceil(missing / MB))} MB more are ` +
        'needed; name another folder with --scratch',
    )
}

/** Opened as a server opens it, without its jobs, its bucket and its sender. */
async function prove(open: OpenFolder, options: OpenOptions) {
  const app = await open({ worker: false, ...options })
  try {
    return {
      contents: present(app.ctx.engine.reader.first(contentCounts), 'the counts'),
      journal: await proveJournal(app.ctx),
      audit: await verifyAudit(app.ctx),
    }
  } finally {
    await app.close()
  }
}
