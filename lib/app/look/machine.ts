/** The machine: versions, the clock, the disk under the folder, and who else reads its databases. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  statfsSync,
  writeSync,
} from 'node:fs'
import { execFile } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { SECOND } from '../../core/clock.js'
import { MB, figure } from '../../core/figures.js'
import type { Finding } from '../../core/finding.js'
import { ROOM_FOR_FEEDS, ROOM_FOR_ORDERS } from '../../core/storage/disk-space.js'
import { isTrustedSqlite, sqliteVersion } from '../../db/sqlite/sqlite.js'
import type { DoctorInput } from './input.js'
import { shellWord, tell } from './tell.js'

export async function lookAtMachine(input: DoctorInput): Promise<readonly Finding[]> {
  return [
    ...versions(input),
    ...(await otherSqlites()),
    ...clock(input),
    ...(isFolder(input.dir) ? disk(input) : []),
  ]
}

const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

function versions({ program }: DoctorInput): Finding[] {
  const { node } = process.versions
  const told = (sqlite: string) =>
    `Quartermaster ${program}, Node ${node}, SQLite ${sqlite}, ${process.platform} ${process.arch}`
  try {
    const sqlite = sqliteVersion()
    return isTrustedSqlite(sqlite)
      ? [tell('versions', 'ok', told(sqlite))]
      : [
          tell('versions', 'bad', `${told(sqlite)}: this SQLite can corrupt a database`, {
            mend: 'npm ci',
          }),
        ]
  } catch (error) {
    return [tell('versions', 'bad', `${told('missing')}: ${(error as Error).message}`)]
  }
}

const execute = promisify(execFile)

/** A `sqlite3` of the system that is too old to be used beside a running server. */
async function otherSqlites(): Promise<Finding[]> {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const path = folders.map((folder) => join(folder, 'sqlite3')).find((file) => existsSync(file))
  if (path === undefined) return [tell('other_sqlite', 'ok', 'no other SQLite is on the PATH')]
  const version = await execute(path, ['--version'], { timeout: 5 * SECOND }).then(
    ({ stdout }) => stdout.split(' ')[0] ?? '',
    () => '',
  )
  return [
    isTrustedSqlite(version)
      ? tell('other_sqlite', 'ok', `${path} is SQLite ${version}`)
      : tell(
          'other_sqlite',
          'info',
          `${path} is SQLite ${version || 'of an unknown version'}: below 3.51.3 it can corrupt a ` +
            'database that a server has open; look into copies alone',
        ),
  ]
}

const STEPS = 1_000
/** Before the first release: a clock that was never set. */
const EARLIEST = Date.UTC(2026, 0, 1)

function clock({ now }: DoctorInput): Finding[] {
  const at = new Date(now()).toISOString()
  let last = now()
  for (let step = 0; step < STEPS; step++) {
    const next = now()
    if (next < last)
      return [
        tell('clock', 'bad', `the clock went back by ${last - next} ms while it was read`, {
          mend: 'timedatectl set-ntp true',
        }),
      ]
    last = next
  }
  return [
    last < EARLIEST
      ? tell('clock', 'bad', `the clock says ${at}, which is long past`, {
          mend: 'timedatectl set-ntp true',
        })
      : tell('clock', 'ok', `the clock says ${at}`),
  ]
}

function disk(input: DoctorInput): Finding[] {
  const { bavail, bsize, type } = statfsSync(input.dir)
  return [room(input.dir, bavail * bsize), ...fileSystem(type), ...sync(input)]
}

function room(dir: string, free: number): Finding {
  const mend = `du -sh ${shellWord(dir)}/*`
  const left = `${figure(Math.floor(free / MB))} MB are free under the folder`
  if (free < ROOM_FOR_ORDERS)
    return tell('disk', 'bad', `${left}: below ${ROOM_FOR_ORDERS / MB} MB no order is taken`, {
      mend,
    })
  return free < ROOM_FOR_FEEDS
    ? tell('disk', 'warn', `${left}: below ${ROOM_FOR_FEEDS / MB} MB no feed is taken in`, { mend })
    : tell('disk', 'ok', left)
}

/** By the number that Linux gives each (statfs(2)). */
const UNFIT: Readonly<Record<number, string>> = {
  0x6969: 'a network share (NFS)',
  0x517b: 'a network share (SMB)',
  0xff534d42: 'a network share (CIFS)',
  0xfe534d42: 'a network share (SMB)',
  0x01021994: 'memory (tmpfs), which is empty after the next start of the machine',
}

function fileSystem(type: number): Finding[] {
  const name = UNFIT[type]
  return name === undefined
    ? []
    : [
        tell('file_system', 'warn', `the folder lies on ${name}: it belongs on a local disk`, {
          mend: 'quartermaster backup /backups/before-the-move',
        }),
      ]
}

const SYNCS = 9
const BLOCK = Buffer.alloc(4_096, 1)
/** Milliseconds above which every order waits noticeably, and above which something is broken. */
const SLOW_SYNC = 50
const HOPELESS_SYNC = 1_000
/** A file's time and the clock may differ by the resolution of the file system. */
const SKEW = 2 * SECOND

/** How long the disk takes to keep 4 KB, and what time it gives a file. */
function sync({ dir, now, monotonic }: DoctorInput): Finding[] {
  const path = join(dir, `.doctor-${process.pid}`)
  const took: number[] = []
  let skew = 0
  try {
    const file = openSync(path, 'wx', 0o600)
    try {
      for (let n = 0; n < SYNCS; n++) {
        const began = monotonic()
        writeSync(file, BLOCK)
        fsyncSync(file)
        took.push(monotonic() - began)
      }
    } finally {
      closeSync(file)
    }
    skew = statSync(path).mtimeMs - now()
  } catch (error) {
    return [
      tell('sync', 'bad', `nothing can be written in the folder: ${(error as Error).message}`),
    ]
  } finally {
    rmSync(path, { force: true })
  }
  const median = took.sort((a, b) => a - b)[SYNCS >> 1]!
  const told = `the disk keeps 4 KB in ${median.toFixed(1)} ms`
  return [
    median >= SLOW_SYNC
      ? tell(
          'sync',
          median >= HOPELESS_SYNC ? 'bad' : 'warn',
          `${told}: every order waits for it several times`,
        )
      : tell('sync', 'ok', told),
    Math.abs(skew) > SKEW
      ? tell(
          'file_times',
          'warn',
          `files get a time ${Math.round(skew / SECOND)} s from the clock's`,
        )
      : tell('file_times', 'ok', 'files get the time of the clock'),
  ]
}

/**
 * The process that holds a lock: null where none does, undefined where that cannot be told (Linux
 * alone lists locks). The lock itself is left alone: a server that starts at this moment wants it.
 */
export function lockHolder(path: string): number | null | undefined {
  try {
    const { ino } = statSync(path)
    const line = readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .find((lock) => lock.includes(` WRITE `) && lock.includes(`:${ino} `))
    return line === undefined ? null : Number(line.trim().split(/\s+/)[4])
  } catch {
    return existsSync(path) ? undefined : null
  }
}
