/**
 * What goes along with history.db where several nodes share it: the days that were rolled up, the
 * state after them, and the build of the analytics that serves.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { takeLock } from '../db/sqlite/locks.js'
import type { FolderFiles } from '../feeds/shared/files.js'
import {
  analyticsFolder,
  buildsIn,
  currentFile,
  readCurrent,
  stampOfCurrent,
} from './builds/files.js'
import { dayFile, daysIn, historyPaths } from './history/files.js'

const DAYS = 'history/days'
const STATE = 'history/state.parquet'
const CURRENT = 'analytics/current'

export const historyFiles: FolderFiles = {
  list(dir) {
    const build = readCurrent(dir)
    const isThere = build !== null && existsSync(join(analyticsFolder(dir), build, 'meta'))
    return [
      ...daysIn(dir).map((day) => `${DAYS}/${day}.parquet`),
      ...(existsSync(historyPaths(dir).state) ? [STATE] : []),
      ...(isThere
        ? readdirSync(join(analyticsFolder(dir), build))
            .sort()
            .map((name) => `analytics/${build}/${name}`)
        : []),
      // Once what it names is there.
      ...(isThere ? [CURRENT] : []),
    ]
  },
  groupOf: (path) => (path.startsWith('analytics/') ? 'analytics' : path),
  makeWay(dir, paths) {
    for (const folder of new Set(paths.map((path) => dirname(path)))) {
      if (!folder.startsWith('analytics/build-') || !existsSync(join(dir, folder))) continue
      // Whoever reads it sees that it is another one now.
      if (readCurrent(dir) === basename(folder)) rmSync(currentFile(dir))
      rmSync(join(dir, folder), { recursive: true })
    }
  },
  alone(dir, work) {
    const lock = holdHistory(dir)
    if (!lock) return null
    try {
      return work()
    } finally {
      lock.close()
    }
  },
  prune(dir, wanted) {
    for (const day of daysIn(dir))
      if (!wanted.has(`${DAYS}/${day}.parquet`)) rmSync(dayFile(dir, day))
    if (!wanted.has(STATE)) rmSync(historyPaths(dir).state, { force: true })
    const current = readCurrent(dir)
    const builds = buildsIn(dir)
    // The one before it stays for whoever reads it.
    const kept = current === null ? builds : [current, builds[builds.indexOf(current) + 1]]
    for (const name of builds)
      if (!kept.includes(name)) rmSync(join(analyticsFolder(dir), name), { recursive: true })
  },
}

/** Keeps roll-ups, rebuilds and looks at an item away until it is closed; null where one is at work. */
export function holdHistory(dir: string): { close(): void } | null {
  mkdirSync(analyticsFolder(dir), { recursive: true, mode: 0o700 })
  return takeLock(join(analyticsFolder(dir), 'lock'))
}

/** Moves with every roll-up and every rebuild. */
export function historyFilesMoved(dir: string): string {
  const state = statSync(historyPaths(dir).state, { throwIfNoEntry: false })
  return `${state ? `${state.ino} ${state.mtimeMs}` : ''} ${stampOfCurrent(dir)}`
}
