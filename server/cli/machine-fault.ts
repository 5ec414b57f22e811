/**
 * What the machine refused, in the words of whoever has to put it right: a disk that is full or
 * failed, a damaged database, a folder that is somebody else's.
 */
import { statfsSync } from 'node:fs'
import { resolve } from 'node:path'
import { codeOf } from '../../lib/core/errors.js'
import { MB } from '../../lib/core/figures.js'
import { folderFault } from './folder.js'

/** The disk failed, or is full: whoever starts the program again does it after a look at the disk. */
export const DISK_FAILED = 70

export interface MachineFault {
  line: string
  status: number
}

/** Below this many bytes SQLite and the file system say in many ways that there is no room. */
const FULL_BELOW = MB
const NO_ROOM = /^(ENOSPC|EDQUOT|SQLITE_FULL)$/
const DISK_ERROR = /^(SQLITE_IOERR|EIO$)/
const DAMAGED = /^SQLITE_(CORRUPT|NOTADB)/
const REFUSED = /^(EACCES|EPERM|EEXIST|ENOTDIR|SQLITE_(CANTOPEN|READONLY|PERM))/

/** Null for an error that says by itself what is wrong. */
export function machineFault(error: unknown, dir: string): MachineFault | null {
  const code = codeOf(error)
  if (NO_ROOM.test(code) || (DISK_ERROR.test(code) && freeBytes(dir) < FULL_BELOW))
    return { line: fullLine(dir), status: DISK_FAILED }
  if (DISK_ERROR.test(code)) return { line: failedLine(dir, code), status: DISK_FAILED }
  if (DAMAGED.test(code)) return { line: damagedLine(error, dir), status: 1 }
  const refused = REFUSED.test(code) ? folderFault(dir) : null
  if (refused !== null) return { line: refused, status: 1 }
  const line = fileLine(error)
  return line === null ? null : { line, status: 1 }
}

function freeBytes(dir: string): number {
  try {
    const { bavail, bsize } = statfsSync(dir)
    return bavail * bsize
  } catch {
    return Infinity
  }
}

function fullLine(dir: string): string {
  const free = freeBytes(dir)
  const left = free === Infinity ? '' : ` (${(free / MB).toFixed(1)} MB left)`
  return (
    `the disk under ${resolve(dir)} is full${left}: free some room, and run it again. Backups do not ` +
    `belong on this disk; \`du -sh ${resolve(dir)}/*\` shows what is large in the folder. Never ` +
    'delete orders.journal or quartermaster.db'
  )
}

function failedLine(dir: string, code: string): string {
  return (
    `the disk under ${resolve(dir)} failed (${code}), and what was written last is not known: look ` +
    'at the disk (`dmesg`), then run `quartermaster doctor`'
  )
}

function damagedLine(error: unknown, dir: string): string {
  const { message } = error as Error
  return (
    `${message}: a database of ${resolve(dir)} is damaged. \`quartermaster doctor --dir ` +
    `${resolve(dir)}\` says which, and what brings it back`
  )
}

const FILE_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder, and should be a file',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'it is there already',
  EROFS: 'it lies on a file system that can only be read',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many files are open: raise the limit with `ulimit -n`',
}

/** An error of Node about one file. */
function fileLine(error: unknown): string | null {
  const path = error instanceof Error && 'path' in error ? error.path : undefined
  const says = FILE_FAULTS[codeOf(error)]
  return says === undefined || typeof path !== 'string' ? null : `${path}: ${says}`
}
