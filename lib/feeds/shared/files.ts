/**
 * Files of the folder that go along with a database: packed where their content is not known yet,
 * and put in place from what another node has packed.
 */
import { mkdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { codeOf } from '../../core/errors.js'
import { syncPathNow, writeWholeNow } from '../../core/storage/durable.js'
import { packFile, unpackFile } from './parts.js'
import { sharedFolder } from './point.js'
import { contentOf } from './publication.js'
import type { Part, SharedFile, SharedName } from './publication.js'

/** Which files these are, and who else works on them. */
export interface FolderFiles {
  /** Paths below the folder, in the order in which they are put in place. */
  list(dir: string): string[]
  /** Files of one group are put in place together: one that is another makes all of them others. */
  groupOf(path: string): string
  /** Before these are put where others may lie. */
  makeWay(dir: string, paths: readonly string[]): void
  /** Runs what nobody may disturb; null where somebody else works on them. */
  alone<T>(dir: string, work: () => T): T | null
  /** Removes what is not wanted any more. */
  prune(dir: string, wanted: ReadonlySet<string>): void
}

export const NO_FILES: FolderFiles = {
  list: () => [],
  groupOf: (path) => path,
  makeWay: () => {},
  alone: (_, work) => work(),
  prune: () => {},
}

/** What is known of the files that lie in a folder. */
type Known = Record<string, { stamp: string; parts: Part[] }>

const knownPath = (dir: string, name: SharedName) => join(dir, 'shared', `${name}.json`)

function readKnown(dir: string, name: SharedName): Known {
  try {
    return JSON.parse(readFileSync(knownPath(dir, name), 'utf8')) as Known
  } catch (error) {
    // One that cannot be read says nothing; what it said is found out anew.
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError) return {}
    throw error
  }
}

const writeKnown = (dir: string, name: SharedName, known: Known) =>
  writeWholeNow(knownPath(dir, name), JSON.stringify(known))

/** Tells one content of a path from another. */
function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : ''
}

/** The files that there are; without parts where their content is not known. */
export function filesNow(dir: string, name: SharedName, files: FolderFiles): SharedFile[] {
  const paths = files.list(dir)
  if (paths.length === 0) return []
  const known = readKnown(dir, name)
  return paths.map((path) => {
    const found = known[path]
    const isSame = found !== undefined && found.stamp === stampOf(join(dir, path))
    return { path, parts: isSame ? found.parts : [] }
  })
}

/** Packs those whose content is not known; all of them where that is so for the store, too. */
export function packFiles(
  dir: string,
  name: SharedName,
  { files, isAnew }: { files: FolderFiles; isAnew: boolean },
): SharedFile[] {
  const now = filesNow(dir, name, files)
  if (now.length === 0) return []
  const known: Known = {}
  const packed = now.map(({ path, parts }) => {
    const stamp = stampOf(join(dir, path))
    const all =
      parts.length > 0 && !isAnew ? parts : packFile(join(dir, path), sharedFolder(dir, name))
    known[path] = { stamp, parts: all }
    return { path, parts: all }
  })
  writeKnown(dir, name, known)
  return packed
}

/** Which of the wanted files have to be fetched. */
export function lackingFiles(
  dir: string,
  name: SharedName,
  { files, wanted }: { files: FolderFiles; wanted: readonly SharedFile[] },
): SharedFile[] {
  const now = new Map(filesNow(dir, name, files).map(({ path, parts }) => [path, contentOf(parts)]))
  const lacks = ({ path, parts }: SharedFile) => now.get(path) !== contentOf(parts)
  const groups = new Set(wanted.filter(lacks).map(({ path }) => files.groupOf(path)))
  return wanted.filter(({ path }) => groups.has(files.groupOf(path)))
}

/**
 * Puts the wanted files in place. Their parts lie in the folder for them;
 * throws a BrokenPart where one does not.
 */
export function placeFiles(
  dir: string,
  name: SharedName,
  { files, wanted }: { files: FolderFiles; wanted: readonly SharedFile[] },
): void {
  const lacking = lackingFiles(dir, name, { files, wanted })
  const drafts = lacking.map(({ path, parts }, at) => {
    const draft = join(sharedFolder(dir, name), `file-${at}`)
    unpackFile(sharedFolder(dir, name), parts, draft)
    return { path: join(dir, path), draft }
  })
  files.makeWay(
    dir,
    lacking.map(({ path }) => path),
  )
  for (const { path, draft } of drafts) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    renameSync(draft, path)
  }
  for (const folder of new Set(drafts.map(({ path }) => dirname(path)))) syncPathNow(folder)
  files.prune(dir, new Set(wanted.map(({ path }) => path)))
  const known: Known = {}
  for (const { path, parts } of wanted) known[path] = { stamp: stampOf(join(dir, path)), parts }
  writeKnown(dir, name, known)
}
