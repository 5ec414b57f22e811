/**
 * Builds all metrics anew, in the process that has DuckDB: reads catalog and history once, and
 * writes a build that all subscribers share.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { packArena } from '../../catalog/snapshot/arena.js'
import type { ChildProgress } from '../../core/async/child.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { openFile } from '../../db/sqlite/sqlite.js'
import { fedDistributors } from '../../catalog/queries.js'
import { BuildFile, publish, sectionName } from './files.js'
import type { Part } from './files.js'
import { openHistory } from '../history/history.js'
import { METRICS } from '../metrics/index.js'
import { WINDOWS } from '../metrics/metric.js'
import { PREPARING, prepare } from './prepare.js'
import { readCatalog, writeListings } from './read-catalog.js'
import { readRows } from '../answers/rows.js'
import { present } from '../../core/present.js'

export interface RebuildInput {
  dir: string
  /** Milliseconds since 1970; what `as_of` says. */
  now: number
}

export interface RebuildTools {
  duck: DuckDBConnection
  /** A folder of this work alone, on the disk of the state folder. */
  work: string
  onProgress: (...progress: ChildProgress) => void
}

export interface Rebuilt {
  /** The build's name. */
  build: string
  /** When its data were read, milliseconds since 1970. */
  at: number
  /** UPCs that somebody offers. */
  items: number
  /** Rows of all metrics and windows, before any distributors are combined. */
  rows: number
  /** Days of the history that were left out: their files are damaged. */
  damaged: string[]
}

/** Sections of a build: each metric with each of its windows. */
const SECTIONS = METRICS.flatMap((metric) =>
  (metric.hasWindow ? WINDOWS : ([0] as const)).map((days) => ({ metric, days })),
)
/** Offers, history, preparing, texts, sections. */
const STEPS = 3 + PREPARING + SECTIONS.length

export async function rebuild(
  { dir, now }: RebuildInput,
  { duck, work, onProgress }: RebuildTools,
): Promise<Rebuilt> {
  let done = 0
  const tell = (words: string) => onProgress(done++, STEPS, words)
  const files = filesIn(dir)
  const catalog = openFile(files.catalog, { synchronous: 'NORMAL', readonly: true, patient: true })
  const history = openFile(files.history, { synchronous: 'NORMAL', readonly: true, patient: true })
  try {
    // Offers, and which distributors have any, are read at different times: both out of one state
    // of the catalog.
    catalog.exec('BEGIN')
    const draft = join(work, 'build')
    mkdirSync(draft, { mode: 0o700 })
    tell('the catalog')
    const texts = await readCatalog(duck, catalog, draft)
    // After the catalog: of a first load it takes the most memory, and the system does not get all
    // of it back.
    tell('the history')
    const damaged = await openHistory(duck, { dir, historyDb: history, now })
    await prepare(duck, now, tell)
    tell('names')
    const { items, part } = await writeListings(duck, texts, draft)
    const { sections, rows } = await writeSections(duck, draft, tell)
    const distids = (await duck.runAndReadAll('SELECT distid FROM known_dist ORDER BY dist'))
      .getRows()
      .map(([distid]) => String(distid))
    const fed = fedDistributors(catalog)
    const build = publish(dir, draft, { at: now, distids, fed, items, listings: part, sections })
    onProgress(STEPS, STEPS, 'done')
    return { build, at: now, items, rows, damaged }
  } finally {
    history.close()
    catalog.close()
  }
}

async function writeSections(
  duck: DuckDBConnection,
  draft: string,
  tell: (words: string) => void,
): Promise<{ sections: Record<string, Part>; rows: number }> {
  const sections: Record<string, Part> = {}
  const written = new Map<string, BuildFile>()
  let rows = 0
  for (const { metric, days } of SECTIONS) {
    tell(days === 0 ? metric.slug : `${metric.slug}, ${days} days`)
    let file = written.get(metric.slug)
    if (!file) written.set(metric.slug, (file = new BuildFile(draft, metric.slug)))
    const columns = await readRows(duck, metric, days)
    rows += present(columns['item'], 'the column of items').length
    sections[sectionName(metric.slug, days)] = file.writeArena(packArena(columns))
  }
  for (const file of written.values()) file.close()
  return { sections, rows }
}
