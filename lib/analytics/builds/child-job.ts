/**
 * Analytics work in the process that has DuckDB (lib/app/background/duckdb.ts). One at a time for a state
 * folder, whoever started it: the lock is the working process's own, so that it ends with that
 * process and not with the one that asked.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pause } from '../../core/async/wait.js'
import type { ChildProgress } from '../../core/async/child.js'
import { mostMemory } from '../../core/async/child-memory.js'
import { takeLock } from '../../db/sqlite/locks.js'
import type { AnalyticsJob, Tools } from './job.js'
import { rebuild } from './rebuild.js'
import type { Rebuilt } from './rebuild.js'
import { workFolder } from '../history/files.js'
import { readItemCourse } from '../history/item.js'
import type { ItemCourse } from '../history/item.js'
import { rollUp } from '../history/roll-up.js'
import type { RolledUp } from '../history/roll-up.js'

/** What its process took: the most bytes of memory that it had, and milliseconds of a processor. */
interface Cost {
  peak: number
  cpu: number
}

/** What each task tells. */
export interface AnalyticsResults {
  'roll-up': RolledUp & Cost
  rebuild: Rebuilt & Cost
  item: ItemCourse & Cost
}

/**
 * Megabytes for DuckDB. Node, what DuckDB does not count, and the columns of a build come on top: a
 * million offers stay under 600 MB. What does not fit goes by way of the disk, which is why
 * prepare.ts works on a part of the items at a time.
 */
const MEMORY = 256
/**
 * Freed memory goes back to the system soon: DuckDB would free 512 MB at once before it gives any
 * back.
 */
const FREED = '16MB'
/** Tries to get the lock, and milliseconds between two: a roll-up of one day takes seconds. */
const TURN = { tries: 1_200, pause: 250 } as const

/** Does one job. Rejects with what went wrong. */
export async function runAnalytics(
  job: AnalyticsJob,
  onProgress: (...progress: ChildProgress) => void,
): Promise<AnalyticsResults[AnalyticsJob['task']]> {
  const { default: duckdb } = await import('@duckdb/node-api')
  const root = join(job.dir, 'analytics')
  mkdirSync(root, { recursive: true, mode: 0o700 })
  const lock = await takeTurn(join(root, 'lock'))
  const work = workFolder(job.dir)
  // Whoever worked here before is gone.
  rmSync(work, { recursive: true, force: true })
  mkdirSync(work, { mode: 0o700 })
  const instance = await duckdb.DuckDBInstance.create(':memory:', {
    threads: '1',
    memory_limit: `${MEMORY}MB`,
    temp_directory: work,
    preserve_insertion_order: 'true',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allocator_flush_threshold: FREED,
    allocator_bulk_deallocation_flush_threshold: FREED,
  })
  try {
    const result = await doTask(job, { duck: await instance.connect(), work, onProgress })
    const { user, system } = process.cpuUsage()
    return { ...result, peak: mostMemory(), cpu: Math.round((user + system) / 1_000) }
  } finally {
    instance.closeSync()
    rmSync(work, { recursive: true, force: true })
    lock.close()
  }
}

async function doTask(job: AnalyticsJob, tools: Tools): Promise<RolledUp | Rebuilt | ItemCourse> {
  switch (job.task) {
    case 'roll-up':
      return rollUp(job, tools)
    case 'rebuild':
      return rebuild(job, tools)
    case 'item':
      return readItemCourse(job, tools)
  }
}

async function takeTurn(path: string): Promise<NonNullable<ReturnType<typeof takeLock>>> {
  for (let tries = 1; tries < TURN.tries; tries++) {
    const lock = takeLock(path)
    if (lock) return lock
    await pause(TURN.pause)
  }
  throw new Error('other analytics work has not ended for five minutes')
}
