/** What keeps this person from a state folder: it is a file, or it belongs to somebody else. */
import { accessSync, constants, existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { codeOf } from '../../lib/core/errors.js'

/**
 * Why nothing can be read or written in the folder, in one line with the mend; null where nothing
 * stands in the way. A folder that is not there is judged by the one that it would be made in.
 */
export function folderFault(dir: string): string | null {
  const folder = resolve(dir)
  const place = nearestPlace(folder)
  const { isFolder, denied } = lookAt(place)
  if (!isFolder)
    return place === folder
      ? `${folder} is a file, and an installation is a folder: name another with --dir`
      : `${place} is a file, so there can be no folder ${folder}: name another with --dir`
  if (denied) return place === folder ? foreignFolder(folder) : foreignPlace(place, folder)
  const foreign = place === folder ? foreignFile(folder) : undefined
  return foreign === undefined ? null : foreignFolder(folder, foreign)
}

/** The folder, or the nearest one above it that can be seen. */
function nearestPlace(folder: string): string {
  let place = folder
  while (place !== dirname(place) && !existsSync(place)) place = dirname(place)
  return place
}

function lookAt(place: string): { isFolder: boolean; denied: boolean } {
  const isFolder = statSync(place).isDirectory()
  return {
    isFolder,
    denied: isFolder && !mayUse(place, constants.R_OK | constants.W_OK | constants.X_OK),
  }
}

function mayUse(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch (error) {
    return !/^(EACCES|EPERM)$/.test(codeOf(error))
  }
}

/** A file in the folder that this person may not write, though the folder is theirs to write. */
function foreignFile(folder: string): string | undefined {
  return [...readdirSync(folder), join('keys', 'secret-key')].find(
    (name) => !mayUse(join(folder, name), constants.R_OK | constants.W_OK),
  )
}

function foreignFolder(folder: string, name?: string): string {
  const path = name === undefined ? folder : join(folder, name)
  const owner = ownerOf(path)
  return (
    `permission denied: ${path} belongs to ${owner}, and you are ${me()}: run the command as ` +
    `${owner}, as with \`sudo -u ${owner} quartermaster ...\``
  )
}

function foreignPlace(place: string, folder: string): string {
  return (
    `permission denied: ${place} belongs to ${ownerOf(place)}, and you are ${me()}: have the folder ` +
    `made for you (\`sudo install -d -m 700 -o ${me()} ${folder}\`), or name another with --dir`
  )
}

/** The name of whose it is; the number, where it has none. */
export function ownerOf(path: string): string {
  return userName(statSync(path).uid)
}

/** The name of a user of this machine by its number. */
export function userName(uid: number): string {
  const line = passwords()
    .split('\n')
    .find((user) => user.split(':')[2] === String(uid))
  return line?.split(':')[0] ?? `the user with the number ${uid}`
}

function passwords(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8')
  } catch {
    return ''
  }
}

function me(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run under a number that has no name.
    return `the user with the number ${process.getuid?.() ?? '?'}`
  }
}
