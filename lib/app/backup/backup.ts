/**
 * Backups: a folder with everything that cannot be made again, but for the secret key. Databases
 * are copied by SQLite itself: a file of one that is opened and closed beside it in the same
 * process loses its locks.
 */
import { syncPath, writeWholeNow } from '../../core/storage/durable.js'
import { createHash } from 'node:crypto'
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { chmod, copyFile, mkdir, readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { MB, figure } from '../../core/figures.js'
import { audit } from '../../accounts/audit.js'
import { secretKeyId } from '../../accounts/data-keys.js'
import type { Background } from '../../core/async/background.js'
import type { Tasks } from '../background/tasks.js'
import type { OperatorCtx } from '../ctx.js'
import { codeOf, invalid } from '../../core/errors.js'
import { ROOM_FOR_FEEDS } from '../../core/storage/disk-space.js'
import { checkDatabase } from '../../db/sqlite/copy.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { query, readerOver } from '../../db/query.js'
import { openFile } from '../../db/sqlite/sqlite.js'
import { macOf } from '../../orders/journal/chain.js'
import { journalPath, openJournalFile } from '../../orders/journal/file.js'

export interface BackupFile {
  /** Below the backup's folder, with slashes. */
  path: string
  size: number
  /** SHA-256 in hex. */
  sha256: string
}

export interface Manifest {
  format: 1
  /** When it was begun: whatever was placed later may be missing. */
  made_at: string
  /** Version of the schema of quartermaster.db. */
  schema: number
  /** Id of the secret key that it needs, and that it does not hold. */
  secret_key_id: string
  /**
   * The last line of the order journal in quartermaster.db: an anchor for `orders journal verify`.
   */
  journal: { seq: number; mac: string } | null
  /**
   * The last row of the audit in quartermaster.db: an anchor for `audit verify`. Backups of older
   * releases have none.
   */
  audit?: { seq: number; mac: string } | null
  /**
   * `record`: the system of record and what is chained to it. The other files of the folder stay
   * when it is put back.
   */
  scope?: 'record'
  files: BackupFile[]
}

export const MANIFEST = 'manifest.json'
export const RECORD = 'quartermaster.db'
export const DECISIONS = 'decisions.db'
export const JOURNAL = 'orders.journal'
/** Begins the name of the folder in which a restore is put together; one that was cut off leaves it. */
export const STAGING = '.restoring-'

export interface BackupInput {
  /** A folder that is not there yet, or is empty. */
  to: string
  /** Looks and tells, and writes nothing. */
  dryRun?: boolean
  onProgress?: ((done: number, total: number, files: number) => void) | undefined
}

export interface Backup extends Manifest {
  to: string
  bytes: number
}

/**
 * Copies the installation while it runs. In this order, so that the journal is never behind the
 * database: database, journal, files.
 */
export async function makeBackup(
  ctx: OperatorCtx,
  background: Background<Tasks>,
  { to: given, dryRun = false, onProgress }: BackupInput,
): Promise<Backup> {
  if (ctx.engine.lead !== null)
    throw invalid(
      'to',
      'what several nodes share is not copied by a command: take the database with pg_dump or by its ' +
        'own backups, and the bucket with its own means, as the guide says (Several nodes)',
    )
  const { dir } = ctx.engine
  const to = resolve(given)
  const madeAt = new Date(ctx.now()).toISOString()
  const sources = [...sourcesIn(dir)]
  const total = sources.reduce((bytes, path) => bytes + sizeOf(join(dir, path)), 0)
  checkTarget(dir, to, total)
  if (dryRun) {
    const files = sources.map((path) => ({ path, size: sizeOf(join(dir, path)), sha256: '' }))
    return {
      to,
      format: 1,
      made_at: madeAt,
      ...recordFacts(filesIn(dir).record),
      files,
      bytes: total,
    }
  }
  const isNew = !existsSync(to)
  mkdirSync(to, { recursive: true, mode: 0o700 })
  try {
    let done = 0
    const copied: string[] = []
    for (const path of sourcesIn(dir)) {
      await copyOne(background, join(dir, path), join(to, path))
      copied.push(path)
      onProgress?.((done += sizeOf(join(dir, path))), total, copied.length)
    }
    const files: BackupFile[] = []
    for (const path of copied)
      if (existsSync(join(to, path))) files.push({ path, ...(await digestOf(join(to, path))) })
    const manifest: Manifest = {
      format: 1,
      made_at: madeAt,
      ...recordFacts(join(to, RECORD)),
      files,
    }
    writeWholeNow(join(to, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`)
    await ctx.engine.atomic(ctx, (tx) =>
      audit(tx, 'backup', { to, made_at: madeAt, journal: manifest.journal }),
    )
    return { to, ...manifest, bytes: files.reduce((bytes, { size }) => bytes + size, 0) }
  } catch (error) {
    // Half of a backup is none.
    for (const name of readdirSync(to)) rmSync(join(to, name), { recursive: true, force: true })
    if (isNew) rmSync(to, { recursive: true, force: true })
    throw error
  }
}

/** What is copied, in the order of copying; each folder is looked into when it is its turn. */
function* sourcesIn(dir: string): Generator<string> {
  yield RECORD
  if (existsSync(journalPath(dir))) yield JOURNAL
  if (existsSync(join(dir, DECISIONS))) yield DECISIONS
  // Drafts are nobody's yet, and exports are built again.
  for (const path of filesBelow(dir, 'objects'))
    if (!/^objects\/(\.drafts|(\.types\/)?exports)(\/|$)/.test(path)) yield path
  for (const path of filesBelow(dir, 'distributors')) if (path.endsWith('.json')) yield path
  yield* historyIn(dir)
}

/**
 * A day may be rolled up meanwhile, which leaves history.db last: what is no longer in it must be
 * in the days, so it is copied first, and the days after the state that names the last of them.
 * What is there twice then, the next roll-up does again.
 */
function* historyIn(dir: string): Generator<string> {
  const isDay = (path: string) => path.startsWith('history/days/')
  const isDraft = (path: string) => path.endsWith('.draft')
  const database = 'history/history.db'
  if (existsSync(join(dir, database))) yield database
  for (const path of filesBelow(dir, 'history'))
    if (path !== database && !isDay(path) && !isDraft(path)) yield path
  for (const path of filesBelow(dir, 'history')) if (isDay(path) && !isDraft(path)) yield path
}

/** Files in a folder, with slashes. What belongs to an open database comes with it. */
function filesBelow(dir: string, folder: string): string[] {
  if (!existsSync(join(dir, folder))) return []
  const paths = readdirSync(join(dir, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
    .sort()
  return paths.filter(
    (path) =>
      !/-(wal|shm|journal)$/.test(path) &&
      statSync(join(dir, path), { throwIfNoEntry: false })?.isFile(),
  )
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function checkTarget(dir: string, to: string, bytes: number): void {
  const stat = statSync(to, { throwIfNoEntry: false })
  if (stat && !stat.isDirectory()) throw invalid('to', `${to} is a file; a backup needs a folder`)
  if (stat && readdirSync(to).length > 0)
    throw invalid('to', `${to} is not empty; name a folder that is, or one that is not there yet`)
  if (`${to}/`.startsWith(`${dir}/`))
    throw invalid('to', `${to} lies in the state folder, which the backup is to outlive`)
  let place = to
  while (!existsSync(place)) place = dirname(place)
  const { bavail, bsize } = statfsSync(place)
  // On the same disk, orders need room while the backup lies there.
  const left =
    bavail * bsize - bytes - (statSync(place).dev === statSync(dir).dev ? ROOM_FOR_FEEDS : 0)
  if (left < 0)
    throw invalid(
      'to',
      `there is too little room in ${place}: ` +
        `${figure(Math.ceil(-left / MB))} MB more are needed`,
    )
}

async function copyOne(background: Background<Tasks>, from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  if (from.endsWith('.db')) await background.run('copyDatabase', { from, to })
  else {
    try {
      await copyFile(from, to)
    } catch (error) {
      // A file that expired meanwhile.
      if (codeOf(error) === 'ENOENT') return
      throw error
    }
    // It may be in the middle of a line.
    if (to.endsWith(JOURNAL)) await (await openJournalFile(dirname(to))).close()
  }
  await chmod(to, 0o600)
  await syncPath(to)
}

const lastLine = query((db) =>
  db.selectFrom('journal').select(['seq', 'line']).orderBy('seq', 'desc').limit(1),
)
const lastAct = query((db) =>
  db.selectFrom('audit').select(['seq', 'mac']).orderBy('seq', 'desc').limit(1),
)

/** What the manifest says of the system of record. */
export function recordFacts(
  path: string,
): Pick<Manifest, 'schema' | 'secret_key_id' | 'journal' | 'audit'> {
  const raw = openFile(path, { synchronous: 'FULL', readonly: true })
  try {
    const reader = readerOver(raw)
    // Older releases have neither of these.
    const has = (table: string, column: string) =>
      (raw.pragma(`table_info(${table})`) as { name: string }[]).some(({ name }) => name === column)
    const last = has('journal', 'line') ? reader.first(lastLine) : undefined
    return {
      schema: raw.pragma('user_version', { simple: true }) as number,
      secret_key_id: reader.value(secretKeyId) ?? '',
      journal: last ? { seq: last.seq, mac: macOf(last.line) } : null,
      audit: (has('audit', 'mac') && reader.first(lastAct)) || null,
    }
  } finally {
    raw.close()
  }
}

/** Size and digest of a file, or of its first bytes. */
export async function digestOf(
  path: string,
  size = sizeOf(path),
): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256')
  if (size > 0)
    for await (const bytes of createReadStream(path, { end: size - 1 }))
      hash.update(bytes as Buffer)
  return { size, sha256: hash.digest('hex') }
}

/** What is wrong with a folder that has no manifest. */
function noBackup(from: string): string {
  if (!existsSync(from)) return `there is no folder ${from}`
  if (!statSync(from).isDirectory()) return `${from} is a file, and a backup is a folder`
  const newest = backupsIn(from)[0]
  return newest === undefined
    ? `${from} has no ${MANIFEST}: it is not a backup, or it was cut off`
    : `${from} holds backups and is none itself: name one of them; the newest is ${newest.path}`
}

/** The backups in a folder, as their manifests say, the newest first. None is checked. */
export function backupsIn(folder: string): { path: string; madeAt: number }[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(folder, entry.name, MANIFEST)))
    .map((entry) => ({
      path: join(folder, entry.name),
      madeAt: madeAtOf(join(folder, entry.name)),
    }))
    .filter(({ madeAt }) => !Number.isNaN(madeAt))
    .sort((a, b) => b.madeAt - a.madeAt)
}

/** Bytes that the manifest names; 0 where it cannot be read, which whoever reads it whole will say. */
export function sizeOfBackup(backup: string): number {
  try {
    const { files } = JSON.parse(readFileSync(join(backup, MANIFEST), 'utf8')) as Manifest
    return files.reduce((sum, { size }) => sum + size, 0)
  } catch {
    return 0
  }
}

/** NaN for a manifest that cannot be read. */
function madeAtOf(backup: string): number {
  try {
    const { made_at: at } = JSON.parse(readFileSync(join(backup, MANIFEST), 'utf8')) as Manifest
    return Date.parse(at)
  } catch {
    return NaN
  }
}

/**
 * The manifest of a backup, once every file of it is what the manifest says. Throws for anything
 * else.
 */
export async function verifyBackup(from: string): Promise<Manifest> {
  const text = await readFile(join(from, MANIFEST), 'utf8').catch(() => null)
  if (text === null) throw invalid('backup', noBackup(from))
  let manifest: Manifest
  try {
    manifest = JSON.parse(text) as Manifest
    if (
      manifest.format !== 1 ||
      !Array.isArray(manifest.files) ||
      Number.isNaN(Date.parse(manifest.made_at))
    )
      throw new Error('format')
  } catch {
    throw invalid('backup', `${join(from, MANIFEST)} is not of a form that this release reads`)
  }
  if (!manifest.files.some(({ path }) => path === RECORD))
    throw invalid('backup', `${from} holds no ${RECORD}`)
  for (const { path, size, sha256 } of manifest.files) {
    if (
      path.split('/').some((part) => part === '' || part.startsWith('..')) ||
      path.startsWith('/')
    )
      throw invalid('backup', `${path} lies outside of the backup`)
    if (!existsSync(join(from, path))) throw invalid('backup', `${path} is missing`)
    const found = await digestOf(join(from, path))
    if (found.size !== size || found.sha256 !== sha256)
      throw invalid(
        'backup',
        `${path} is not what was backed up: its ${found.size === size ? 'digest' : 'size'} differs`,
      )
  }
  checkDatabase(join(from, RECORD))
  return manifest
}
