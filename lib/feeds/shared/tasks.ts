/**
 * What the worker does for a catalog that several nodes share: each task opens catalog.db for
 * itself, and leaves it at one state or another, never between two.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { codeOf } from '../../core/errors.js'
import { syncPathNow } from '../../core/storage/durable.js'
import { readState } from '../../catalog/queries.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { openFile } from '../../db/sqlite/sqlite.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import { openSqlite } from '../../db/sqlite/driver.js'
import { writeState } from '../ingest/queries.js'
import { linesFor, namedIn, openApplying, writeChange } from './change.js'
import { DamagedPage, decodePage, encodePage, pageLength } from './pages.js'
import { BrokenPart, packFile, readPiece, unpackFile, writeAll } from './parts.js'
import type { Publication } from './publication.js'
import {
  clearNotes,
  copyInto,
  countChanged,
  formOf,
  hasNotes,
  highestFragment,
  installNotes,
  linesOf,
  nameAnew,
  raiseFragments,
  randomMark,
  readPoint,
  setLines,
  sourcesWithLines,
  takenAt,
  writePoint,
} from './queries.js'

/** Where a node's catalog.db stands. */
export interface Point {
  /** The published state that it goes on from; '' for none. */
  mark: string
  /** What has changed since, and lies ready to be published. */
  pending: Publication | null
  /** More has changed since. */
  isChanged: boolean
  /** In which this node has led; null where it follows another. */
  epoch: number | null
  form: number
  revision: number
  /** When the last feed of each source was taken in, in milliseconds. */
  taken: ReadonlyMap<string, number>
}

/** The highest numbers that are published, and by whom. */
export interface Highest {
  revision: number
  fragments: number
  epoch: number
}

export interface Beginning {
  dir: string
  epoch: number
  last: Highest
  /** The file goes on from none that was published. */
  isAnew: boolean
  now: number
}

/** At once where the code is there, later where it has to be loaded. */
type Soon<T> = T | Promise<T>

export interface SharedTasks {
  /** Makes ready to note what changes, and tells how the file stands. */
  openShared(input: { dir: string }): Soon<Point>
  /**
   * Makes the next publication: of what changed, or of everything. Null where nothing is to be
   * published, as before the first feed: other nodes may have better than nothing.
   */
  prepareShared(input: {
    dir: string
    wants: 'change' | 'base'
    /** The revision that a file which follows no other must come after. */
    above: number
    now: number
  }): Soon<Publication | null>
  /** What was prepared is published. */
  settleShared(input: { dir: string; mark: string }): Soon<void>
  /**
   * Brings the file from one state to the next. Tells of an object that is missing or damaged, or
   * that the file is not at that state any more.
   */
  applyShared(input: { dir: string; change: Publication }): Soon<Applied>
  /** Puts another file in the place of this one. */
  adoptShared(input: { dir: string; base: Publication }): Soon<Applied>
  /** Begins an epoch: nothing from here on has a number that another leader may have given. */
  leadShared(input: Beginning): Soon<void>
}

export type Applied = { outcome: 'done' } | { outcome: 'elsewhere' } | { outcome: 'broken' }

export const sharedFolder = (dir: string): string => join(dir, 'shared')

/** Raised with every change to what the pages say. */
const FORM = 1
/** Revisions that one leader may give before the numbers of the next one begin. */
const REVISIONS = 2 ** 20
/** The same of texts, whose numbers have 32 bits in a snapshot: enough for 16,000 leaders. */
const FRAGMENTS = 2 ** 18
const MOST_FRAGMENTS = 2 ** 32 - 2 ** 26
/** More than this share of the offers is published as a whole. */
const LARGE = 0.5
/** Fewer offers than this are never too many for a change. */
const FEW = 10_000
/** Of catalog.db while a change is applied; see `ingestFeed`. */
const CACHE_KB = 65_536

/** `forget` has the worker build the next snapshot from nothing that it remembers. */
export function sharedTasks(forget: (dir: string) => void): SharedTasks {
  return {
    openShared: ({ dir }) =>
      over(dir, (raw) => {
        installNotes(raw)
        return pointOf(raw)
      }),
    prepareShared: ({ dir, wants, above, now }) =>
      over(dir, (raw) => {
        const { mark, isChanged, revision } = pointOf(raw)
        if (revision === 0 || (wants === 'change' && !isChanged && mark !== '')) return null
        if (mark === '' && revision <= above)
          raw.transaction(() => writeState(raw, nextRange(above), true, now)).immediate()
        const isWhole = wants === 'base' || mark === '' || isTooMuch(raw)
        return isWhole ? prepareBase(dir, raw) : prepareChange(dir, raw)
      }),
    settleShared: ({ dir, mark }) =>
      over(dir, (raw) => {
        const { pending } = pointOf(raw)
        if (pending?.mark === mark) writePoint(raw, { mark, pending: null })
        sweepFolder(dir)
      }),
    applyShared: ({ dir, change }) => over(dir, (raw) => applyChange(dir, raw, change)),
    adoptShared: ({ dir, base }) => adopt(dir, base, forget),
    leadShared: ({ dir, ...beginning }) => over(dir, (raw) => lead(raw, beginning)),
  }
}

/** Of the file and of what is written about it: files of two releases do not go together. */
const formIn = (raw: Raw) => formOf(raw) * 2 ** 8 + FORM

function over<T>(dir: string, work: (raw: Raw) => T): T {
  const { catalog } = filesIn(dir)
  // SQLite would make an empty one in its place.
  if (!existsSync(catalog)) throw new Error(`${catalog} is gone`)
  mkdirSync(sharedFolder(dir), { recursive: true, mode: 0o700 })
  const raw = openFile(catalog, { synchronous: 'NORMAL', patient: true })
  try {
    return work(raw)
  } finally {
    raw.close()
  }
}

function pointOf(raw: Raw): Point {
  const { mark, pending, epoch } = readPoint(raw)!
  return {
    mark,
    pending: pending === null ? null : (JSON.parse(pending) as Publication),
    isChanged: hasNotes(raw),
    epoch,
    form: formIn(raw),
    revision: readState(raw).revision,
    taken: takenAt(raw),
  }
}

/** Removes what lay ready, and what was left behind. */
function sweepFolder(dir: string): void {
  for (const name of readdirSync(sharedFolder(dir)))
    rmSync(join(sharedFolder(dir), name), { force: true })
}

function isTooMuch(raw: Raw): boolean {
  const { added, all } = countChanged(raw)
  return added > FEW && added > all * LARGE
}

/** What changed, in one transaction with the note that it is ready. */
function prepareChange(dir: string, raw: Raw): Publication {
  const draft = join(sharedFolder(dir), 'change')
  return raw
    .transaction(() => {
      const point = readPoint(raw)!
      const file = openSync(draft, 'w', 0o600)
      try {
        writeChange(raw, { after: point.fragments }, (page) => writeAll(file, encodePage(page)))
      } finally {
        closeSync(file)
      }
      const parts = packFile(draft, sharedFolder(dir))
      rmSync(draft)
      const change = describe(raw, { kind: 'change', before: point.mark, parts })
      noteReady(raw, change)
      return change
    })
    .immediate()
}

function describe(
  raw: Raw,
  given: Pick<Publication, 'kind' | 'before' | 'parts'> & { mark?: string },
): Publication {
  const { made, revision } = readState(raw)
  return {
    mark: randomMark(raw),
    form: formIn(raw),
    made,
    revision,
    fragments: highestFragment(raw),
    ...given,
  }
}

function noteReady(raw: Raw, ready: Publication): void {
  clearNotes(raw)
  writePoint(raw, { fragments: ready.fragments, pending: JSON.stringify(ready) })
}

/**
 * Everything: a copy of the file. It has a mark of its own where something changed that nobody has
 * published.
 */
function prepareBase(dir: string, raw: Raw): Publication {
  const draft = join(sharedFolder(dir), 'base')
  rmSync(draft, { force: true })
  const reading = openFile(filesIn(dir).catalog, { synchronous: 'NORMAL', patient: true })
  let base: Publication
  // Nobody writes until it is noted which state the copy has.
  raw.exec('BEGIN IMMEDIATE')
  try {
    copyInto(reading, draft)
    const { mark, pending, isChanged } = pointOf(raw)
    const isPublished = mark !== '' && pending === null && !isChanged
    base = describe(raw, { kind: 'base', before: null, parts: [], ...(isPublished && { mark }) })
    clearNotes(raw)
    writePoint(raw, {
      fragments: base.fragments,
      pending: isPublished ? null : JSON.stringify(base),
    })
    raw.exec('COMMIT')
  } catch (error) {
    if (raw.inTransaction) raw.exec('ROLLBACK')
    throw error
  } finally {
    reading.close()
  }
  strip(draft, base)
  const whole = { ...base, parts: packFile(draft, sharedFolder(dir)) }
  rmSync(draft)
  if (pointOf(raw).pending?.mark === base.mark) writePoint(raw, { pending: JSON.stringify(whole) })
  return whole
}

/** Leaves in a copy what other nodes need, as theirs is when they have it. */
function strip(path: string, { mark, fragments }: Publication): void {
  const raw = openSqlite(path)
  try {
    raw.pragma('journal_mode = OFF')
    raw.pragma('synchronous = OFF')
    // What is freed is zeroes then, and takes no room in the objects.
    raw.pragma('secure_delete = ON')
    for (const source of sourcesWithLines(raw)) {
      const { named, dropped } = namedIn(linesOf(raw, source)!)
      setLines(raw, source, linesFor(named, dropped))
    }
    clearNotes(raw)
    writePoint(raw, { mark, fragments, pending: null, epoch: null })
  } finally {
    raw.close()
  }
}

function applyChange(dir: string, raw: Raw, change: Publication): Applied {
  const draft = join(sharedFolder(dir), 'change')
  try {
    unpackFile(sharedFolder(dir), change.parts, draft)
    raw.pragma(`cache_size = -${CACHE_KB}`)
    const isThere = raw.transaction(() => applyFile(raw, draft, change)).immediate()
    raw.pragma('wal_checkpoint(TRUNCATE)')
    sweepFolder(dir)
    return { outcome: isThere ? 'done' : 'elsewhere' }
  } catch (error) {
    if (isBroken(error)) return { outcome: 'broken' }
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** What no repetition makes right. */
const isBroken = (error: unknown): boolean =>
  error instanceof BrokenPart ||
  error instanceof DamagedPage ||
  error instanceof RangeError ||
  codeOf(error).startsWith('SQLITE_CONSTRAINT')

/** False for a file that is at another state. Inside a transaction. */
function applyFile(raw: Raw, draft: string, change: Publication): boolean {
  const point = pointOf(raw)
  if (point.mark !== change.before || point.pending !== null || point.isChanged) return false
  const apply = openApplying(raw)
  const file = openSync(draft, 'r')
  try {
    const prefix = Buffer.alloc(4)
    while (readPiece(file, prefix) === prefix.length) {
      const body = Buffer.alloc(pageLength(prefix))
      if (readPiece(file, body) < body.length) throw new DamagedPage('a page is cut off')
      apply(decodePage(body))
    }
  } finally {
    closeSync(file)
  }
  const { made, revision } = readState(raw)
  if (made !== change.made || revision !== change.revision)
    throw new DamagedPage('a change leads to another state than it says')
  clearNotes(raw)
  writePoint(raw, { mark: change.mark, fragments: change.fragments, epoch: null })
  return true
}

/** Whoever has the file open still reads the one of before. */
function adopt(dir: string, base: Publication, forget: (dir: string) => void): Applied {
  const { catalog } = filesIn(dir)
  const draft = join(sharedFolder(dir), 'base')
  try {
    mkdirSync(sharedFolder(dir), { recursive: true, mode: 0o700 })
    unpackFile(sharedFolder(dir), base.parts, draft)
    if (!isBaseOf(draft, base)) return { outcome: 'broken' }
    if (existsSync(catalog)) over(dir, (raw) => raw.pragma('wal_checkpoint(TRUNCATE)'))
    // What is remembered of the file of before may be something that was never published.
    forget(dir)
    // Nothing of the log of before may be taken for that of the new file.
    for (const suffix of ['-wal', '-shm']) rmSync(catalog + suffix, { force: true })
    renameSync(draft, catalog)
    syncPathNow(dirname(catalog))
    sweepFolder(dir)
    return { outcome: 'done' }
  } catch (error) {
    if (isBroken(error)) return { outcome: 'broken' }
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

function isBaseOf(path: string, { mark, form, made, revision }: Publication): boolean {
  const raw = openSqlite(path)
  try {
    const point = readPoint(raw)
    const state = readState(raw)
    return (
      point?.mark === mark &&
      formIn(raw) === form &&
      state.made === made &&
      state.revision === revision
    )
  } finally {
    raw.close()
  }
}

const nextRange = (revision: number, epochs = 1) =>
  (Math.floor(revision / REVISIONS) + epochs) * REVISIONS

/**
 * A leader that died may have given numbers that nobody knows of, and snapshots of that time may
 * still be in memory: each has a range of its own.
 */
function lead(raw: Raw, { epoch, last, isAnew, now }: Omit<Beginning, 'dir'>): void {
  raw
    .transaction(() => {
      // Of each epoch since, whoever led may have given numbers, and come to publish nothing.
      const epochs = Math.max(1, epoch - last.epoch)
      const known = { revision: readState(raw).revision, fragments: highestFragment(raw) }
      // Of an empty file nobody makes a snapshot.
      if (known.revision > 0) {
        const revision = nextRange(last.revision, epochs)
        writeState(
          raw,
          revision > known.revision ? revision : nextRange(known.revision),
          isAnew,
          now,
        )
      }
      const texts = Math.max(known.fragments, last.fragments + epochs * FRAGMENTS)
      raiseFragments(raw, Math.min(texts, MOST_FRAGMENTS))
      if (isAnew) {
        nameAnew(raw)
        writePoint(raw, { mark: '', pending: null })
      }
      writePoint(raw, { epoch })
    })
    .immediate()
}
