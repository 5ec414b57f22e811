/** How nodes share catalog.db. */
import { readState } from '../../../catalog/queries.js'
import { writeState } from '../../ingest/queries.js'
import type { SharedDatabase } from '../database.js'
import { firstRevision, lastFragment } from '../publication.js'
import { readPoint } from '../queries.js'
import { linesFor, namedIn, openApplying, writeChange } from './change.js'
import {
  clearDigests,
  clearNotes,
  countChanged,
  formOf,
  hasNotes,
  highestFragment,
  installNotes,
  linesOf,
  nameAnew,
  raiseFragments,
  setLines,
  sourcesWithLines,
} from './queries.js'

/** More than this share of the offers is published as a whole. */
const LARGE = 0.5
/** Fewer offers than this are never too many for a change. */
const FEW = 10_000

export const catalogDatabase: SharedDatabase = {
  formOf,
  installNotes,
  hasNotes,
  clearNotes,
  openApplying,
  onNewBase: clearDigests,
  factsOf(raw) {
    const { made, revision } = readState(raw)
    return { made, revision, fragments: highestFragment(raw) }
  },
  // As before the first feed.
  isEmpty: (raw) => readState(raw).revision === 0,
  isTooMuch(raw) {
    const { added, all } = countChanged(raw)
    return added > FEW && added > all * LARGE
  },
  startAt(raw, revision, now) {
    if (readState(raw).revision < revision) writeState(raw, revision, true, now)
  },
  writeChange(raw, write) {
    writeChange(raw, { after: readPoint(raw)!.fragments }, write)
  },
  strip(raw) {
    for (const source of sourcesWithLines(raw)) {
      const { named, dropped } = namedIn(linesOf(raw, source)!)
      setLines(raw, source, linesFor(named, dropped))
    }
    clearDigests(raw)
  },
  lead(raw, { epoch, last, isAnew, now }) {
    const { revision } = readState(raw)
    // Of an empty file nobody makes a snapshot.
    if (revision > 0)
      writeState(raw, Math.max(firstRevision(last, epoch), revision + 1), isAnew, now)
    raiseFragments(raw, lastFragment(last, epoch))
    if (isAnew) nameAnew(raw)
  },
}
