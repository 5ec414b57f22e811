/**
 * Database files that were removed, or replaced, under the process that has them open. What it
 * writes then is in no folder any more and ends with the process, but until then its handles have
 * all of it.
 */
import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { LRUCache } from 'lru-cache'
import { putInPlace, syncPathNow } from '../../core/storage/durable.js'
import { checkDatabase } from './copy.js'
import type { Raw, Statement } from './driver.js'

/** Which file has this name now; null where none has. */
export function fileAt(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat ? `${stat.dev} ${stat.ino}` : null
}

export interface Rescued {
  path: string
  /** It has the name that it had. */
  isInPlace: boolean
}

/**
 * Writes what an open handle reads to the disk, under the file's own name where it is free, else
 * beside the file that took its place. All within one turn, so that nothing is committed meanwhile.
 *  */
export function rescueNow(raw: Raw, path: string, now: number): Rescued {
  const isFree = !existsSync(path)
  const stamp = new Date(now).toISOString().replaceAll(/[-:]/g, '').slice(0, 15)
  const rescued = `${path}.rescued-${stamp}`
  rmSync(rescued, { force: true })
  raw.prepare('VACUUM INTO ?').run(rescued)
  checkDatabase(rescued)
  syncPathNow(rescued)
  if (!isFree) return { path: rescued, isInPlace: false }
  // The log of the file that is gone must not be taken for that of the new one.
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
  renameSync(rescued, path)
  syncPathNow(dirname(path))
  return { path, isInPlace: true }
}

/** Writes a file back from an open handle, a few pages at a time. */
export async function writeBack(raw: Raw, path: string): Promise<void> {
  const draft = `${path}.draft`
  rmSync(draft, { force: true })
  try {
    await raw.backup(draft, { progress: () => PAGES })
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
    await putInPlace(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** Pages of one step of a copy: a few milliseconds. */
const PAGES = 1_000
/** Statements kept prepared; the least recently used one goes first. */
const STATEMENTS = 500

/** A handle that can be opened anew under those who hold its statements. */
export interface Renewable {
  readonly raw: Raw
  readonly prepare: (sql: string) => Statement
  /** Grows with every `renew`. */
  readonly generation: number
  renew(): void
  close(): void
}

export function openRenewable(open: () => Raw): Renewable {
  let raw = open()
  let generation = 0
  const statements = new LRUCache<string, Statement>({ max: STATEMENTS })
  return {
    get raw() {
      return raw
    },
    get generation() {
      return generation
    },
    prepare(sql) {
      let statement = statements.get(sql)
      if (!statement) statements.set(sql, (statement = following(sql, () => raw)))
      return statement
    },
    renew() {
      const next = open()
      raw.close()
      raw = next
      generation++
    },
    close: () => void raw.close(),
  }
}

/** A statement that is prepared anew where its handle is another than before. */
function following(sql: string, current: () => Raw): Statement {
  let raw = current()
  let prepared = raw.prepare(sql)
  const modes = new Map<string, (statement: Statement) => void>()
  const statement = () => {
    if (raw !== current()) {
      raw = current()
      prepared = raw.prepare(sql)
      for (const mode of modes.values()) mode(prepared)
    }
    return prepared
  }
  const remember = (name: string, mode: (statement: Statement) => void) => {
    modes.set(name, mode)
    mode(statement())
    return self
  }
  const self: Statement = {
    get reader() {
      return statement().reader
    },
    run: (...values) => statement().run(...values),
    get: (...values) => statement().get(...values),
    all: (...values) => statement().all(...values),
    iterate: (...values) => statement().iterate(...values),
    columns: () => statement().columns(),
    pluck: (on = true) => remember('pluck', (each) => each.pluck(on)),
    raw: (on = true) => remember('raw', (each) => each.raw(on)),
    bind: (...values) => remember('bind', (each) => each.bind(...values)),
    safeIntegers: (on = true) => remember('safeIntegers', (each) => each.safeIntegers(on)),
  }
  return self
}
