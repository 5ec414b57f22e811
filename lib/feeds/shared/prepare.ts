/** Makes publications out of catalog.db: the worker's part of leading. */
import { closeSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readState } from '../../catalog/queries.js'
import { openSqlite } from '../../db/sqlite/driver.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { openFile } from '../../db/sqlite/sqlite.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import { linesFor, namedIn, writeChange } from './change.js'
import { encodePage } from './pages.js'
import { packFile, writeAll } from './parts.js'
import { formIn, pointOf, sharedFolder } from './point.js'
import type { Publication } from './publication.js'
import {
  clearDigests,
  clearNotes,
  copyInto,
  countChanged,
  highestFragment,
  linesOf,
  randomMark,
  readPoint,
  setLines,
  sourcesWithLines,
  writePoint,
} from './queries.js'

/** More than this share of the offers is published as a whole. */
const LARGE = 0.5
/** Fewer offers than this are never too many for a change. */
const FEW = 10_000

export function isTooMuch(raw: Raw): boolean {
  const { added, all } = countChanged(raw)
  return added > FEW && added > all * LARGE
}

/** What changed, in one transaction with the note that it is ready. */
export function prepareChange(dir: string, raw: Raw): Publication {
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
export function prepareBase(dir: string, raw: Raw): Publication {
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
    if (!isPublished) clearDigests(raw)
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
    clearDigests(raw)
    writePoint(raw, { mark, fragments, pending: null, epoch: null })
  } finally {
    raw.close()
  }
}
