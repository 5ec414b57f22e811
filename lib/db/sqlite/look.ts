/** Whether the files of a folder can be used, as the handles that serve it see them. */
import { existsSync } from 'node:fs'
import { present } from '../../core/present.js'
import { filesIn } from './folder.js'
import type { Engine } from '../engine.js'
import type { Raw } from './sqlite.js'
import { catalogSchema } from '../migrations/catalog.js'
import { decisionsSchema } from '../migrations/decisions.js'
import { meterSchema } from '../migrations/meter.js'
import { quartermasterSchema } from '../migrations/quartermaster.js'

/** A file that cannot be used, and why; null where all can. */
export function unusableFile(engine: Engine): string | null {
  if (engine.hasFailed()) return 'the disk failed under quartermaster.db'
  for (const [path, raw] of handlesOf(engine))
    try {
      if (!existsSync(path)) return `${path} is not there any more`
      raw.pragma('schema_version', { simple: true })
    } catch (error) {
      return `${path} cannot be read: ${(error as Error).message}`
    }
  return null
}

/** A file whose schema is not that of this release, and which it has; null where all have it. */
export function unmigratedFile(engine: Engine): string | null {
  for (const [path, raw, steps] of handlesOf(engine)) {
    const version = raw.pragma('user_version', { simple: true }) as number
    if (version !== steps.length)
      return `${path} has schema ${version}, and this release needs ${steps.length}`
  }
  return null
}

/** Those of this process: on PostgreSQL the record is none of its files. */
function handlesOf(engine: Engine): [path: string, raw: Raw, steps: readonly string[]][] {
  const { dir, meter, decisions, catalog, lead } = engine
  const files = filesIn(dir)
  if (lead !== null) return [[files.catalog, catalog.raw, catalogSchema]]
  const { reader } = engine
  return [
    [files.record, reader.raw, quartermasterSchema],
    [files.meter, present(meter.file, 'meter.db').raw, meterSchema],
    [files.decisions, present(decisions.file, 'decisions.db').raw, decisionsSchema],
    [files.catalog, catalog.raw, catalogSchema],
  ]
}
