/** The database files: that each can be read, is of this release, and has not grown out of hand. */
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import type { Finding } from '../../core/finding.js'
import { MB, megabytes } from '../../core/figures.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { catalogSchema } from '../../db/migrations/catalog.js'
import { decisionsSchema } from '../../db/migrations/decisions.js'
import { historySchema } from '../../db/migrations/history.js'
import { meterSchema } from '../../db/migrations/meter.js'
import { quartermasterSchema } from '../../db/migrations/quartermaster.js'
import { readMoved } from '../../db/sqlite/moved.js'
import { openFile } from '../../db/sqlite/sqlite.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import type { DoctorInput } from './input.js'
import { shellWord, tell } from './tell.js'

type Name = 'record' | 'decisions' | 'history' | 'catalog' | 'meter'

const STEPS: Readonly<Record<Name, readonly string[]>> = {
  record: quartermasterSchema,
  decisions: decisionsSchema,
  history: historySchema,
  catalog: catalogSchema,
  meter: meterSchema,
}
/** A larger one would be read for minutes; what a feed brings back is looked at no further. */
const MOST_READ = 256 * MB
/** SQLite cuts a log back to 64 MB: one that is longer is held by somebody who reads for long. */
const LONG_LOG = 256 * MB

export async function lookAtDatabases({ dir }: DoctorInput): Promise<readonly Finding[]> {
  const files = filesIn(dir)
  if (!existsSync(files.record)) return []
  const names = (Object.keys(STEPS) as Name[]).filter((name) => existsSync(files[name]))
  return [
    ...names.map((name) => database(name, files[name], dir)),
    ...names.flatMap((name) => log(files[name])),
    ...strangers(files.record),
  ]
}

function database(name: Name, path: string, dir: string): Finding {
  const subject = basename(path)
  const damaged = (why: string) =>
    tell('database', 'bad', `${subject} is damaged: ${why}`, { subject, mend: mendOf(name, dir) })
  if (statSync(path).size === 0) return damaged('it is empty')
  let raw: Raw | undefined
  try {
    raw = openFile(path, { synchronous: 'NORMAL', readonly: true })
    const version = raw.pragma('user_version', { simple: true }) as number
    const known = STEPS[name].length
    if (version > known)
      return tell(
        'database',
        'bad',
        `${subject} has schema ${version}, and this release knows ${known}: a newer one wrote it`,
        { subject, mend: 'install that release again' },
      )
    const fault = faultIn(raw, path)
    if (fault !== null) return damaged(fault)
    const moved = name === 'record' ? readMoved(raw) : null
    if (moved !== null)
      return tell(
        'database',
        'bad',
        `${subject} was moved into ${moved.place}, and is not served`,
        {
          subject,
          mend: `quartermaster move --from-file FILE --dir ${shellWord(dir)}`,
        },
      )
    const mode = raw.pragma('journal_mode', { simple: true })
    if (mode !== 'wal')
      return tell('database', 'warn', `${subject} has journal mode ${String(mode)}, not wal`, {
        subject,
      })
    return version < known
      ? tell(
          'database',
          'info',
          `${subject} has schema ${version}; the next start brings it to ${known}`,
          {
            subject,
          },
        )
      : tell('database', 'ok', `${subject} is sound, ${megabytes(statSync(path).size)}`, {
          subject,
        })
  } catch (error) {
    return damaged((error as Error).message)
  } finally {
    raw?.close()
  }
}

/** Null for a database that is sound, or too large to be read now. */
function faultIn(raw: Raw, path: string): string | null {
  if (statSync(path).size > MOST_READ) return null
  const found = raw.pragma('quick_check(1)', { simple: true }) as string
  return found === 'ok' ? null : found.replaceAll('\n', ' ')
}

function mendOf(name: Name, dir: string): string {
  const place = shellWord(dir)
  switch (name) {
    case 'record':
    case 'decisions':
    case 'history':
      return `quartermaster restore BACKUP --dir ${place}`
    case 'catalog':
    case 'meter':
      return `stop the server, and rm ${shellWord(filesIn(dir)[name])}: it is made anew`
  }
}

function log(path: string): Finding[] {
  const size = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const subject = `${basename(path)}-wal`
  return size > LONG_LOG
    ? [
        tell(
          'wal',
          'warn',
          `${subject} has ${megabytes(size)}: somebody reads for long, or nobody closes`,
          {
            subject,
            mend: 'restart the server',
          },
        ),
      ]
    : [tell('wal', 'ok', `${subject} has ${megabytes(size)}`, { subject })]
}

/** Processes other than ours that have the database open; Linux tells, as far as this user may see. */
function strangers(path: string): Finding[] {
  const found = processesWith(path).filter(
    ({ name }) => !/^(node|quartermaster|MainThread)/.test(name),
  )
  if (!existsSync('/proc/self/fd')) return []
  return found.length > 0
    ? found.map(({ pid, name }) =>
        tell(
          'stranger',
          'warn',
          `${name} (process ${pid}) has ${basename(path)} open: another SQLite beside the server can ` +
            'corrupt it; look into a backup instead',
          { subject: String(pid), mend: `kill ${pid}` },
        ),
      )
    : [tell('stranger', 'ok', `no other program has ${basename(path)} open`)]
}

function processesWith(path: string): { pid: number; name: string }[] {
  if (!existsSync('/proc/self/fd')) return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && hasOpen(name, path))
    .map((pid) => ({ pid: Number(pid), name: readFileSync(`/proc/${pid}/comm`, 'utf8').trim() }))
}

/** False for a process that has ended meanwhile, or is somebody else's. */
function hasOpen(pid: string, path: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === path)
  } catch {
    return false
  }
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}
