/** The folder: that it is there, whose it is, and that nobody else reads it. */
import { accessSync, constants, existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Finding } from '../../core/finding.js'
import { codeOf } from '../../core/errors.js'
import { filesIn } from '../../db/sqlite/folder.js'
import type { DoctorInput } from './input.js'
import { lockHolder } from './machine.js'
import { shellWord, tell } from './tell.js'

export async function lookAtFolder({ dir }: DoctorInput): Promise<readonly Finding[]> {
  const found = statSync(dir, { throwIfNoEntry: false })
  if (!found)
    return [
      tell('folder', 'bad', `there is no folder ${dir}`, {
        mend: `quartermaster init --dir ${shellWord(dir)}`,
      }),
    ]
  if (!found.isDirectory())
    return [tell('folder', 'bad', `${dir} is a file, and an installation is a folder`)]
  if (!mayUse(dir))
    return [
      tell(
        'folder',
        'bad',
        `the folder belongs to user ${found.uid}, and user ${process.getuid?.()} may not use it: ` +
          'run doctor as its owner',
      ),
    ]
  if (!existsSync(filesIn(dir).record))
    return [
      tell('folder', 'bad', `there is no installation in ${dir}`, {
        mend: existsSync(join(dir, 'orders.journal'))
          ? `quartermaster restore BACKUP --dir ${shellWord(dir)}`
          : `quartermaster init --dir ${shellWord(dir)}`,
      }),
    ]
  const pid = lockHolder(join(dir, 'serve.lock'))
  return [
    ...owner(dir, found.uid),
    ...modes(dir, found.mode),
    ...(typeof pid === 'number' ? reserve(dir) : []),
    server(dir, pid),
  ]
}

function mayUse(dir: string): boolean {
  try {
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK)
    return true
  } catch (error) {
    if (/^(EACCES|EPERM|EROFS)$/.test(codeOf(error))) return false
    throw error
  }
}

/** Files of another user, as a command run by root leaves them: the server cannot write them. */
function owner(dir: string, uid: number): Finding[] {
  const foreign = namesIn(dir).filter((name) => lstatSync(join(dir, name)).uid !== uid)
  if (foreign.length > 0)
    return [
      tell(
        'owner',
        'bad',
        `the folder belongs to user ${uid}, and these do not: ${foreign.slice(0, 5).join(', ')}`,
        { mend: `sudo chown -R ${uid} ${shellWord(dir)}` },
      ),
    ]
  const me = process.getuid?.() ?? uid
  return [
    me === uid
      ? tell('owner', 'ok', `everything in the folder belongs to user ${uid}`)
      : tell(
          'owner',
          'warn',
          `everything in the folder belongs to user ${uid}, and this is user ${me}: run commands as its ` +
            'owner, or the server may not be able to write what they leave',
        ),
  ]
}

const OTHERS = 0o077

function modes(dir: string, mode: number): Finding[] {
  const open = namesIn(dir).filter(
    (name) =>
      !lstatSync(join(dir, name)).isSymbolicLink() && statSync(join(dir, name)).mode & OTHERS,
  )
  const keys = open.filter((name) => name.startsWith('keys'))
  const mend = `chmod -R go-rwx ${shellWord(dir)}`
  return [
    keys.length > 0
      ? tell('key_modes', 'bad', `other users can read ${keys.join(', ')}`, {
          mend: `chmod -R go-rwx ${shellWord(join(dir, 'keys'))}`,
        })
      : tell('key_modes', 'ok', 'the keys are for their owner alone'),
    open.length > 0 || mode & OTHERS
      ? tell('modes', 'warn', `other users can look into ${open[0] ?? 'the folder'}`, { mend })
      : tell('modes', 'ok', 'the folder is for its owner alone'),
  ]
}

/** What lies in the folder, and in keys/. Backups of a feed and files of callers are as they are. */
function namesIn(dir: string): string[] {
  const keys = existsSync(join(dir, 'keys')) ? readdirSync(join(dir, 'keys')) : []
  return [...readdirSync(dir), ...keys.map((name) => join('keys', name))].filter((name) =>
    existsSync(join(dir, name)),
  )
}

function reserve(dir: string): Finding[] {
  return existsSync(join(dir, 'reserve'))
    ? []
    : [tell('reserve', 'info', 'the reserve for a full disk is given up; the server makes it anew')]
}

function server(dir: string, pid: number | null | undefined): Finding {
  if (pid === undefined) return tell('server', 'info', 'whether a server runs cannot be told here')
  return pid === null
    ? tell('server', 'info', 'no server runs on the folder', {
        mend: `quartermaster serve --dir ${shellWord(dir)}`,
      })
    : tell('server', 'ok', `a server runs on the folder, process ${pid}`)
}
