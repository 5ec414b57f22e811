/**
 * Which build serves: the one that `current` names, or where that is damaged, the one before it.
 * Another process may replace it at any time.
 */
import { codeOf } from '../../core/errors.js'
import type { Log } from '../../core/log.js'
import { buildsIn, idOf, readCurrent, stampOfCurrent } from '../builds/files.js'
import { openBuild } from '../builds/open.js'
import type { Build } from '../builds/open.js'

export interface Serving {
  /** The build of now; null where there is none. */
  current(): Build | null
  /**
   * Runs `fn` with the build of now; with the next best one where that turns out to be damaged, and
   * with null where there is none.
   */
  use<T>(fn: (build: Build | null) => Promise<T>): Promise<T>
  /** Whether `current` names another build than the one that serves. */
  isSecondChoice(): boolean
}

/** The machine has too little of something at the moment: that says nothing about a build. */
const BUSY: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'])

/** Builds that may serve, the one of now first, then those before it. */
function candidatesIn(dir: string): string[] {
  const named = readCurrent(dir)
  const all = buildsIn(dir)
  // One that is newer than `current` says was not finished.
  return named === null ? all : [named, ...all.slice(all.indexOf(named) + 1)]
}

/** `onChange` is told when another build serves. */
export function openServing(dir: string, log: Log, onChange: () => void): Serving {
  const damaged = new Set<string>()
  let stamp: string | undefined
  let build: Build | null = null

  function choose(): Build | null {
    for (const name of candidatesIn(dir)) {
      const id = idOf(dir, name)
      if (damaged.has(id)) continue
      try {
        return build?.id === id ? build : openBuild(dir, name)
      } catch (error) {
        giveUp({ id, name }, error)
      }
    }
    return null
  }

  function giveUp({ id, name }: Pick<Build, 'id' | 'name'>, error: unknown): void {
    damaged.add(id)
    log.error(
      { err: error, build: name },
      'a build of the analytics cannot be read; the one before it serves, where there is one',
    )
  }

  function look(): Build | null {
    const now = stampOfCurrent(dir)
    if (now === stamp) return build
    stamp = now
    const next = choose()
    if (next !== build) onChange()
    return (build = next)
  }

  return {
    current: look,
    async use(fn) {
      for (;;) {
        const chosen = look()
        if (!chosen) return fn(null)
        try {
          return await fn(chosen)
        } catch (error) {
          if (BUSY.has(codeOf(error))) throw error
          if (stampOfCurrent(dir) === stamp) giveUp(chosen, error)
          // Else it was replaced, and may be gone: that speaks against nobody.
          stamp = undefined
        }
      }
    },
    isSecondChoice() {
      const chosen = look()
      return chosen !== null && chosen.name !== readCurrent(dir)
    },
  }
}
