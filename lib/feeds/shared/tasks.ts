/**
 * What the worker does for a catalog that several nodes share: each task opens catalog.db for
 * itself, and leaves it at one state or another, never between two.
 */
import type { Raw } from '../../db/sqlite/sqlite.js'
import { readState } from '../../catalog/queries.js'
import { writeState } from '../ingest/queries.js'
import { adopt, applyChange } from './apply.js'
import type { Applied } from './apply.js'
import { pointOf, sweepFolder, withCatalog } from './point.js'
import type { Point } from './point.js'
import { isTooMuch, prepareBase, prepareChange } from './prepare.js'
import { firstRevision, lastFragment } from './publication.js'
import type { Highest, Publication } from './publication.js'
import { installNotes, nameAnew, raiseFragments, writePoint } from './queries.js'

export interface Beginning {
  dir: string
  epoch: number
  last: Highest
  /** The file goes on from none that was published. */
  isAnew: boolean
  now: number
}

export interface SharedTasks {
  /** Makes ready to note what changes, and tells how the file stands. */
  openShared(input: { dir: string }): Point
  /**
   * Makes the next publication: of what changed, or of everything. Null where nothing is to be
   * published, as before the first feed: other nodes may have better than nothing.
   */
  prepareShared(input: {
    dir: string
    wants: 'change' | 'base'
    /** The first revision that a file may have which goes on from none that was published. */
    least: number
    now: number
  }): Publication | null
  /** What was prepared is published. */
  settleShared(input: { dir: string; mark: string }): void
  /**
   * Brings the file from one state to the next. Tells of an object that is missing or damaged, or
   * that the file is not at that state any more.
   */
  applyShared(input: { dir: string; change: Publication }): Applied
  /** Puts another file in the place of this one. */
  adoptShared(input: { dir: string; base: Publication }): Applied
  /** Begins an epoch: nothing from here on has a number that another leader may have given. */
  leadShared(input: Beginning): void
}

/** `forget` has the worker build the next snapshot from nothing that it remembers. */
export function sharedTasks(forget: (dir: string) => void): SharedTasks {
  return {
    openShared: ({ dir }) =>
      withCatalog(dir, (raw) => {
        installNotes(raw)
        return pointOf(raw)
      }),
    prepareShared: ({ dir, wants, least, now }) =>
      withCatalog(dir, (raw) => {
        const { mark, isChanged, revision } = pointOf(raw)
        if (revision === 0 || (wants === 'change' && !isChanged && mark !== '')) return null
        if (mark === '' && revision < least)
          raw.transaction(() => writeState(raw, least, true, now)).immediate()
        const isWhole = wants === 'base' || mark === '' || isTooMuch(raw)
        return isWhole ? prepareBase(dir, raw) : prepareChange(dir, raw)
      }),
    settleShared: ({ dir, mark }) =>
      withCatalog(dir, (raw) => {
        const { pending } = pointOf(raw)
        if (pending?.mark === mark) writePoint(raw, { mark, pending: null })
        sweepFolder(dir)
      }),
    applyShared: ({ dir, change }) => withCatalog(dir, (raw) => applyChange(dir, raw, change)),
    adoptShared: ({ dir, base }) => adopt(dir, base, forget),
    leadShared: ({ dir, ...beginning }) => withCatalog(dir, (raw) => lead(raw, beginning)),
  }
}

function lead(raw: Raw, { epoch, last, isAnew, now }: Omit<Beginning, 'dir'>): void {
  raw
    .transaction(() => {
      const { revision } = readState(raw)
      // Of an empty file nobody makes a snapshot.
      if (revision > 0)
        writeState(raw, Math.max(firstRevision(last, epoch), revision + 1), isAnew, now)
      raiseFragments(raw, lastFragment(last, epoch))
      if (isAnew) {
        nameAnew(raw)
        writePoint(raw, { mark: '', pending: null })
      }
      writePoint(raw, { epoch })
    })
    .immediate()
}
