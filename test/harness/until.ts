/** Waits for what others do. */
import assert from 'node:assert/strict'
import { pause } from '../../lib/core/async/wait.js'

/** Resolves once it is so; fails after so many seconds, and says for `what` it waited. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  what: string,
  seconds = 20,
): Promise<void> {
  for (const since = performance.now(); !(await isSo()); await pause(5))
    assert.ok(performance.now() - since < seconds * 1_000, `not within ${seconds} seconds: ${what}`)
}
