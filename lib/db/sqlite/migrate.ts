/** Brings one database file to the newest version of its schema. */
import { rmSync } from 'node:fs'
import type { Raw } from './sqlite.js'
import { present } from '../../core/present.js'

/** SQL of one step; its number is its place in the list, kept in `user_version`. */
export type Migrations = readonly string[]

/** Runs the missing steps, each in a transaction. A file from a newer release is refused. */
export function migrate(raw: Raw, name: string, steps: Migrations): void {
  const version = () => raw.pragma('user_version', { simple: true }) as number
  if (version() > steps.length) {
    throw new Error(
      `${name} was written by a newer release (schema ${version()}, ` +
        `this one knows ${steps.length}); install that release again`,
    )
  }
  for (let next = version(); next < steps.length; next = version()) {
    raw
      .transaction(() => {
        // Two processes may start at once: whoever comes second finds the step done.
        if (version() !== next) return
        raw.exec(present(steps[next], `step ${next}`))
        raw.pragma(`user_version = ${next + 1}`)
      })
      .immediate()
  }
}

/** Removes a file that may be rebuilt at any time, with what belongs to it. It must not be open. */
export function discard(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
}
