/**
 * Puts a backup back. All of it is made ready and proved beside the installation,
 * and only then moved in. It starts with orders paused: whatever was placed after the backup may be
 * forgotten, and a caller's retry would buy it again.
 */
import { syncPath } from '../../core/storage/durable.js'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { copyFile, cp } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { audit } from '../../accounts/audit.js'
import {
  DECISIONS,
  JOURNAL,
  RECORD,
  STAGING,
  digestOf,
  recordFacts,
  verifyBackup,
} from './backup.js'
import type { Manifest } from './backup.js'
import type { OperatorCtx } from '../ctx.js'
import { invalid } from '../../core/errors.js'
import { loadSecretKey, openVault, writeKeyFile } from '../../core/storage/secrets.js'
import { filesIn } from '../../db/sqlite/folder.js'
import type { Migrations } from '../../db/sqlite/migrate.js'
import { decisionsSchema } from '../../db/migrations/decisions.js'
import { historySchema } from '../../db/migrations/history.js'
import { meterSchema } from '../../db/migrations/meter.js'
import { openFile } from '../../db/sqlite/sqlite.js'
import { quartermasterSchema } from '../../db/migrations/quartermaster.js'
import { fraudKeyFiles } from '../../fraud/keys/files.js'
import { decisionAt, lastDecision } from '../../restrictions/queries.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import type { OpenOptions } from '../options.js'
import { journalPath } from '../../orders/journal/file.js'
import { lockFolder } from '../folder-lock.js'
import { pauseOrders } from '../../orders/engine/pause.js'

/** What is needed of an app over the folder that is made ready. */
export interface OpenedFolder {
  readonly ctx: OperatorCtx
  close(): Promise<void>
}

/** Opens a state folder: `open` of this package, which itself can put a backup back. */
export type OpenFolder = (options: OpenOptions) => Promise<OpenedFolder>

export interface RestoreInput extends Pick<
  OpenOptions,
  'now' | 'random' | 'log' | 'secretKey' | 'distributors' | 'actor'
> {
  /** Folder of the backup. */
  backup: string
  /** The state folder: empty, or an installation that nobody serves. */
  dir: string
  /** A folder with a copy of keys/, where the state folder has none. */
  keys?: string | undefined
  /** Checks everything, and changes nothing. */
  dryRun?: boolean
}

export interface Restored {
  dir: string
  made_at: string
  /** Files and bytes of the backup, all of which are what they were. */
  files: number
  bytes: number
  /**
   * The folder's own journal goes on from the backup's, so it was kept: what it tells was written
   * down again.
   */
  journal_kept: boolean
  /** Lines that the database did not have. */
  replayed: number
  /**
   * Orders that were to be sent when the backup was made, of which it is not known whether they
   * were.
   */
  doubted: number
  /** Where what was there before lies now; null where nothing was. */
  replaced: string | null
}

const FOLDERS = ['objects', 'history', 'distributors'] as const
/** What was computed from what is replaced. */
const COMPUTED = ['analytics'] as const

/**
 * Restores a backup. Throws, and has changed nothing, where the backup, the key or the folder is
 * not fit for it.
 */
export async function putBack(open: OpenFolder, input: RestoreInput): Promise<Restored> {
  const [from, dir] = [resolve(input.backup), resolve(input.dir)]
  const manifest = await verifyBackup(from)
  const { schema, secret_key_id: keyId } = recordFacts(join(from, RECORD))
  if (schema > quartermasterSchema.length)
    throw invalid(
      'backup',
      `it was made by a newer release (schema ${schema}, this one knows ` +
        `${quartermasterSchema.length})`,
    )
  const key = keyOf(input, dir, keyId)
  const fraudKeys = fraudKeysOf(input, dir)
  checkFolder(dir)
  // Nobody serves the folder, and nobody begins to, until it is given back.
  const unlock = lockFolder(dir, {
    purpose: 'a backup is put back',
    dryRun: input.dryRun === true,
  })
  let staging: string | null = null
  try {
    const keeps = await continues(dir, manifest)
    const facts = {
      dir,
      made_at: manifest.made_at,
      files: manifest.files.length,
      bytes: manifest.files.reduce((sum, { size }) => sum + size, 0),
      journal_kept: keeps,
    }
    if (input.dryRun) return { ...facts, replayed: 0, doubted: 0, replaced: null }
    for (const left of readdirSync(dir))
      if (left.startsWith(STAGING)) rmSync(join(dir, left), { recursive: true, force: true })
    staging = mkdtempSync(join(dir, STAGING))
    await stage({ from, dir, staging, manifest, keeps })
    const prepared = await prepare(open, input, staging, { key, manifest, keeps })
    if (input.keys !== undefined) writeKeyFile(join(dir, 'keys', 'secret-key'), key.toString('hex'))
    for (const [name, text] of fraudKeys) writeKeyFile(join(dir, 'keys', name), text)
    const logged = bringsDecisions(dir, staging, manifest)
    const replaced = await putInPlace(dir, staging, { keeps, logged, manifest })
    return { ...facts, ...prepared, replaced }
  } finally {
    if (staging !== null) rmSync(staging, { recursive: true, force: true })
    unlock()
  }
}

/** The secret key that the backup was made with, wherever it is. */
function keyOf(
  { secretKey, keys, random = noRandom }: RestoreInput,
  dir: string,
  keyId: string,
): Buffer {
  const own = join(dir, 'keys', 'secret-key')
  const idOf = (key: Buffer) => openVault(key, random).id
  if (keys !== undefined) {
    const brought = join(keys, 'secret-key')
    if (!existsSync(brought))
      throw invalid(
        'keys',
        existsSync(join(keys, 'keys', 'secret-key'))
          ? `${brought} is missing; the folder to name is ${join(keys, 'keys')}`
          : `${brought} is missing`,
      )
    const key = loadSecretKey(dir, {
      fresh: false,
      random,
      fromEnvironment: readFileSync(brought, 'utf8').trim(),
    })
    if (idOf(key) !== keyId)
      throw invalid('keys', `${brought} is not the key of the backup, which names ${keyId}`)
    if (existsSync(own) && idOf(loadSecretKey(dir, { fresh: false, random })) !== keyId)
      throw invalid('keys', `${own} is another key: move it away first`)
    return key
  }
  if (secretKey === undefined && !existsSync(own))
    throw invalid(
      'keys',
      `${own} is missing, and a backup holds no key: bring your own copy with --keys`,
    )
  const key = loadSecretKey(dir, {
    fresh: false,
    random,
    ...(secretKey !== undefined && { fromEnvironment: secretKey }),
  })
  if (idOf(key) !== keyId)
    throw invalid(
      'keys',
      `the secret key is not the one of the backup (it has the id ${idOf(key)}, the backup ` +
        `names ${keyId}): bring the copy of that time`,
    )
  return key
}

/**
 * The keys of fraud signals that are brought and not there yet. One that is there stays: under it,
 * reports are hashed anew.
 */
function fraudKeysOf({ keys }: RestoreInput, dir: string): [name: string, text: string][] {
  if (keys === undefined) return []
  try {
    return [...fraudKeyFiles(keys)].filter(([name]) => !existsSync(join(dir, 'keys', name)))
  } catch (error) {
    throw invalid('keys', error instanceof Error ? error.message : String(error))
  }
}

function noRandom(): never {
  throw new Error('nothing is sealed here')
}

/** Names of what a state folder may hold. */
const OURS = [
  /^(keys|objects|exports|feeds|history|distributors|analytics|simulator|snapshot|uploads)$/,
  /^(lost\+found|reserve|backups)$/,
  /^(orders\.journal|replaced-|\.restoring-|\.moving-).*$/,
  /^(quartermaster|catalog|meter|decisions|simulator)\.db(-wal|-shm)?$/,
  /^(serve|engine)\.lock(-journal)?$/,
]

/** A folder that is not there, is empty, or is ours. */
function checkFolder(dir: string): void {
  if (!existsSync(dir)) return
  if (!statSync(dir).isDirectory()) throw invalid('dir', `${dir} is a file`)
  const other = readdirSync(dir).find((name) => !OURS.some((ours) => ours.test(name)))
  if (other !== undefined && !existsSync(join(dir, RECORD)))
    throw invalid('dir', `${dir} holds something else (${other})`)
}

/**
 * Whether the folder's own journal begins with the whole of the backup's: then it knows what came
 * after.
 */
async function continues(dir: string, { files }: Manifest): Promise<boolean> {
  const path = journalPath(dir)
  const known = files.find((file) => file.path === JOURNAL)
  const size = existsSync(path) ? statSync(path).size : -1
  if (size < (known?.size ?? 0)) return false
  return known === undefined || (await digestOf(path, known.size)).sha256 === known.sha256
}

/** A whole state folder but for its keys, beside the installation. */
async function stage({
  from,
  dir,
  staging,
  manifest,
  keeps,
}: {
  from: string
  dir: string
  staging: string
  manifest: Manifest
  keeps: boolean
}): Promise<void> {
  for (const { path } of manifest.files) await cp(join(from, path), join(staging, path))
  if (keeps) await copyFile(journalPath(dir), journalPath(staging))
}

/**
 * Opens it as it will be opened, which brings back what the journal knows, and pauses its orders.
 */
async function prepare(
  open: OpenFolder,
  input: RestoreInput,
  staging: string,
  { key, manifest, keeps }: { key: Buffer; manifest: Manifest; keeps: boolean },
): Promise<{ replayed: number; doubted: number }> {
  const { now, random, log, distributors, actor = 'library' } = input
  const app = await open({
    dir: staging,
    worker: false,
    actor,
    secretKey: key.toString('hex'),
    fatal: (error) => {
      throw error
    },
    ...(now && { now }),
    ...(random && { random }),
    ...(log && { log }),
    ...(distributors && { distributors }),
  })
  try {
    const before = await headOf(app)
    const lease = await app.ctx.orders.lease().catch((error: unknown) => {
      if (!keeps) throw error
      throw new Error(
        `orders.journal of ${input.dir} cannot be applied to the backup ` +
          `(${error instanceof Error ? error.message : String(error)}): move it away, and what ` +
          'it tells is looked for at the distributors',
        { cause: error },
      )
    })
    try {
      const replayed = (await headOf(app)) - before
      const isWhole = keeps && !readdirSync(staging).some((name) => name.startsWith(`${JOURNAL}.`))
      const doubted = isWhole ? 0 : await countPlanned(app.ctx)
      // Its catalog is not in a backup: every source is due at once.
      await app.ctx.db.updateTable('feed_source').set({ last_pull_at: null }).execute()
      await pauseOrders(app.ctx, {
        reason:
          'restored from the backup of ' +
          `${manifest.made_at}${isWhole ? ', with the journal of what came after it' : ''}`,
        lookBackTo: Date.parse(manifest.made_at),
        isForgetful: !isWhole,
      })
      await audit(app.ctx, 'restore', {
        made_at: manifest.made_at,
        journal_kept: keeps,
        replayed,
        doubted,
      })
      await app.ctx.orders.flush()
      return { replayed, doubted }
    } finally {
      lease?.release()
    }
  } finally {
    await app.close()
  }
}

/**
 * Orders that were to be sent when the backup was made may have been sent since: they are looked
 * for, and not sent blindly.
 */
async function countPlanned({ read }: Pick<OperatorCtx, 'read'>): Promise<number> {
  const { orders } = await read
    .selectFrom('purchase_order')
    .select((query) => query.fn.countAll<number>().as('orders'))
    .where('state', '=', 'planned')
    .executeTakeFirstOrThrow()
  return orders
}

async function headOf({ ctx }: OpenedFolder): Promise<number> {
  const { last } = await ctx.read
    .selectFrom('journal')
    .select((query) => query.fn.max<number | null>('seq').as('last'))
    .executeTakeFirstOrThrow()
  return last ?? 0
}

/**
 * Moves what was there aside and the new in. The system of record goes first and comes last:
 * whatever cuts this off leaves a folder without an installation, which the same restore finishes.
 */
async function putInPlace(
  dir: string,
  staging: string,
  { keeps, logged, manifest }: { keeps: boolean; logged: boolean; manifest: Manifest },
): Promise<string | null> {
  const old = [
    RECORD,
    `${RECORD}-wal`,
    `${RECORD}-shm`,
    ...(keeps ? [] : [JOURNAL]),
    ...(logged ? [DECISIONS, `${DECISIONS}-wal`, `${DECISIONS}-shm`] : []),
    ...(manifest.scope === 'record' ? [] : FOLDERS),
    ...newerFiles(dir),
    ...COMPUTED,
  ].filter((name, i, all) => existsSync(join(dir, name)) && all.indexOf(name) === i)
  const replaced =
    old.length > 0
      ? placeFor(join(dir, `replaced-by-backup-of-${manifest.made_at.replaceAll(':', '-')}`))
      : null
  if (replaced !== null) for (const name of old) renameSync(join(dir, name), join(replaced, name))
  const fresh = [
    ...readdirSync(staging).filter((name) => name.startsWith(JOURNAL)),
    ...(logged ? [DECISIONS] : []),
    ...FOLDERS,
    RECORD,
  ].filter((name) => existsSync(join(staging, name)))
  for (const name of fresh) {
    await syncPath(join(staging, name))
    renameSync(join(staging, name), join(dir, name))
  }
  await syncPath(dir)
  return replaced
}

/** What a newer release has left that this one would refuse: counts and prices begin anew. */
function newerFiles(dir: string): string[] {
  const { meter, history } = filesIn(dir)
  return [
    ...(isNewer(meter, meterSchema) ? ['meter.db', 'meter.db-wal', 'meter.db-shm'] : []),
    ...(isNewer(history, historySchema) ? ['history'] : []),
  ]
}

function isNewer(path: string, steps: Migrations): boolean {
  if (!existsSync(path)) return false
  const raw = openFile(path, { synchronous: 'NORMAL', readonly: true })
  try {
    return (raw.pragma('user_version', { simple: true }) as number) > steps.length
  } finally {
    raw.close()
  }
}

/**
 * Whether the log of decisions comes from the backup: it has one, and the folder's own does not go
 * on from it.
 */
function bringsDecisions(dir: string, staging: string, { files }: Manifest): boolean {
  if (!files.some(({ path }) => path === DECISIONS)) return false
  const own = join(dir, DECISIONS)
  if (!existsSync(own)) return true
  const last = readDecisions(join(staging, DECISIONS), lastDecision)
  try {
    if (isNewer(own, decisionsSchema)) return true
    if (last === undefined) return false
    const there = readDecisions(own, (decisions) => decisionAt(decisions, last.seq))
    return there === undefined || there.text !== last.text
  } catch {
    // Damaged: it is moved aside.
    return true
  }
}

function readDecisions<T>(path: string, read: (decisions: Raw) => T): T {
  const raw = openFile(path, { synchronous: 'NORMAL', readonly: true })
  try {
    return read(raw)
  } finally {
    raw.close()
  }
}

/** A new folder of this name, or of it with a number. */
function placeFor(path: string): string {
  let place = path
  for (let n = 2; existsSync(place); n++) place = `${path}-${n}`
  mkdirSync(place, { mode: 0o700 })
  return place
}
