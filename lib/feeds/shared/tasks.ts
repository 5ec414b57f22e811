/**
 * What the worker does for what several nodes share: each task opens the database for itself, and
 * leaves it at one state or another, never between two.
 */
import { adopt, applyChange, place } from './apply.js'
import type { Applied } from './apply.js'
import { takenAt } from './catalog/queries.js'
import type { Beginning } from './database.js'
import { NO_FILES, filesNow, lackingFiles } from './files.js'
import type { FolderFiles } from './files.js'
import { beginNotes, pointOf, sweepFolder, withShared } from './point.js'
import type { Opened, Point } from './point.js'
import { prepareBase, prepareChange } from './prepare.js'
import type { Publication, SharedFile, SharedName } from './publication.js'
import { writePoint } from './queries.js'

/** One database of a folder. */
interface Of {
  dir: string
  name: SharedName
}

export interface SharedTasks {
  /** Makes ready to note what changes, and tells how the file stands. */
  openShared(input: Of): Point
  /** When the last feed of each source was taken in, in milliseconds. */
  feedsTaken(input: { dir: string }): ReadonlyMap<string, number>
  /**
   * Makes the next publication: of what changed, or of everything. Null where nothing is to be
   * published, as before the first feed: other nodes may have better than nothing. `busy` where
   * somebody works on what is to be published.
   */
  prepareShared(
    input: Of & {
      wants: 'change' | 'base'
      /** The store has lost what it had. */
      isAnew: boolean
      /** The first revision that a file may have which goes on from none that was published. */
      least: number
      now: number
    },
  ): Publication | null | 'busy'
  /** What was prepared is published. */
  settleShared(input: Of & { mark: string }): void
  /**
   * Brings the file from one state to the next. Tells of an object that is missing or damaged, or
   * that the file is not at that state any more.
   */
  applyShared(input: Of & { change: Publication }): Applied
  /** Puts another file in the place of this one, and the files that go along with it. */
  adoptShared(input: Of & { base: Publication }): Applied
  /** Which of these files the folder lacks. */
  lackingShared(input: Of & { wanted: SharedFile[] }): SharedFile[]
  /** Puts files in place of a state that the database has. */
  placeShared(input: Of & { wanted: SharedFile[] }): Applied
  /** Begins an epoch: nothing from here on has a number that another leader may have given. */
  leadShared(input: Of & Beginning): void
}

/**
 * `forget` has the worker build the next snapshot from nothing that it remembers; `historyFiles` are
 * those that go along with history.db.
 */
export function sharedTasks(forget: (dir: string) => void, historyFiles: FolderFiles): SharedTasks {
  const filesOf = (name: SharedName) => (name === 'history' ? historyFiles : NO_FILES)
  return {
    openShared: ({ dir, name }) =>
      withShared(dir, name, (opened) => {
        beginNotes(opened)
        return { ...pointOf(opened), files: filesNow(dir, name, filesOf(name)) }
      }),
    feedsTaken: ({ dir }) => withShared(dir, 'catalog', ({ raw }) => takenAt(raw)),
    prepareShared: ({ dir, name, wants, isAnew, least, now }) =>
      withShared(dir, name, (opened) => {
        const { raw, database } = opened
        const { mark, isChanged } = pointOf(opened)
        if (database.isEmpty(raw) || (wants === 'change' && !isChanged && mark !== '')) return null
        if (mark === '') raw.transaction(() => database.startAt(raw, least, now)).immediate()
        const isWhole = wants === 'base' || mark === '' || database.isTooMuch(raw)
        if (!isWhole) return prepareChange(opened)
        return prepareBase(opened, { files: filesOf(name), isAnew }) ?? 'busy'
      }),
    settleShared: ({ dir, name, mark }) =>
      withShared(dir, name, (opened) => {
        if (pointOf(opened).pending?.mark === mark) writePoint(opened.raw, { mark, pending: null })
        sweepFolder(dir, name)
      }),
    applyShared: ({ dir, name, change }) =>
      withShared(dir, name, (opened) => applyChange(opened, change)),
    adoptShared: ({ dir, name, base }) =>
      adopt(dir, name, {
        base,
        files: filesOf(name),
        forget: name === 'catalog' ? forget : () => {},
      }),
    lackingShared: ({ dir, name, wanted }) =>
      lackingFiles(dir, name, { files: filesOf(name), wanted }),
    placeShared: ({ dir, name, wanted }) => place(dir, name, { files: filesOf(name), wanted }),
    leadShared: ({ dir, name, ...beginning }) =>
      withShared(dir, name, (opened) => lead(opened, beginning)),
  }
}

function lead({ raw, database }: Opened, beginning: Beginning): void {
  raw
    .transaction(() => {
      database.lead(raw, beginning)
      if (beginning.isAnew) writePoint(raw, { mark: '', pending: null })
      writePoint(raw, { epoch: beginning.epoch })
    })
    .immediate()
}
