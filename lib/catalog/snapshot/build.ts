/**
 * Makes the parts of a snapshot out of catalog.db: plain objects that a thread can post, with every
 * column in one of two shared buffers. Runs in a worker for a large catalog, inline for a small
 * one.
 */
import type { SnapshotParts } from './parts.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import { readState } from '../queries.js'
import { packArena } from './arena.js'
import { buildText } from './build-text.js'
import { applyOffers, emptyTick, packTick, previousTick } from './build-tick.js'

/** Reads the whole catalog, in one read transaction. */
export function buildSnapshot(raw: Raw): SnapshotParts {
  return raw.transaction(() => {
    const { columns, ...dictionaries } = buildText(raw)
    const text = packArena(columns)
    const tick = emptyTick(dictionaries.rows)
    applyOffers(raw, tick, text, null)
    return { ...readState(raw), ...dictionaries, text, ...packTick(raw, tick, text) }
  })()
}

/**
 * The snapshot after a price-and-stock update: reads only offers that changed since `previous` and
 * shares its text arena. Null when offers came, went or were re-worded: then it takes a full build.
 */
export function buildTick(raw: Raw, previous: SnapshotParts): SnapshotParts | null {
  return raw.transaction(() => {
    const state = readState(raw)
    if (state.made !== previous.made || state.textRevision !== previous.textRevision) return null
    if (state.revision < previous.revision) return null
    const tick = previousTick(previous)
    if (!applyOffers(raw, tick, previous.text, previous.revision)) return null
    return { ...previous, ...state, ...packTick(raw, tick, previous.text) }
  })()
}
