/** How old the last backup is. */
import { existsSync, statSync } from 'node:fs'
import { DAY, HOUR } from '../../core/clock.js'
import type { Finding } from '../../core/finding.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { backupsIn } from '../backup/backup.js'
import { openClosed } from './closed-folder.js'
import type { DoctorInput } from './input.js'
import { lastBackup } from './queries.js'
import { shellWord, tell } from './tell.js'

/** One is made every night: a day, and the time that it takes. */
const OLD = DAY + 2 * HOUR
const VERY_OLD = 7 * DAY

export async function lookAtBackups(input: DoctorInput): Promise<readonly Finding[]> {
  return input.backups === undefined ? told(input) : [inFolder(input.backups, input)]
}

function inFolder(folder: string, input: DoctorInput): Finding {
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
  const newest = isFolder ? backupsIn(folder)[0] : undefined
  if (!newest)
    return tell('backups', 'bad', `there is no backup in ${folder}`, {
      mend: mendFor(input, folder),
    })
  return aged(newest.path, newest.madeAt, { ...input, mend: mendFor(input, folder) })
}

/** As the audit has it: where each backup is kept, only its keeper knows. */
function told(input: DoctorInput): Finding[] {
  if (!existsSync(filesIn(input.dir).record)) return []
  const folder = openClosedOrNull(input.dir)
  if (!folder) return []
  try {
    const last = folder.reader.first(lastBackup)
    const mend = mendFor(input, '/backups')
    if (!last) return [tell('backups', 'warn', 'no backup was ever made', { mend })]
    const { to } = JSON.parse(last.detail) as { to: string }
    return [aged(to, last.at, { ...input, mend })]
  } finally {
    folder.close()
  }
}

function openClosedOrNull(dir: string) {
  try {
    return openClosed(dir)
  } catch {
    // What is wrong with it was told by whoever looked at the files.
    return null
  }
}

function aged(
  path: string,
  madeAt: number,
  { now, mend }: Pick<DoctorInput, 'now'> & { mend: string },
): Finding {
  const age = now() - madeAt
  const message = `the newest backup, ${path}, is ${Math.floor(age / HOUR)} hours old`
  if (age > OLD) return tell('backups', age > VERY_OLD ? 'bad' : 'warn', message, { mend })
  return tell('backups', 'ok', message, { mend: `quartermaster drill ${shellWord(path)}` })
}

function mendFor({ dir, now }: DoctorInput, folder: string): string {
  const day = new Date(now()).toISOString().slice(0, 10)
  return `quartermaster backup ${shellWord(`${folder.replace(/\/$/, '')}/${day}`)} --dir ${shellWord(dir)}`
}
