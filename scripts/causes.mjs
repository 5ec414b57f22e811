/**
 * Loaded into each process of `npm test`: notes what fails outside any test, which the runner tells
 * of as "test failed" alone. Shown by scripts/test.mjs where a run failed.
 */
import { appendFileSync } from 'node:fs'
import { basename } from 'node:path'
import { after } from 'node:test'
import { inspect } from 'node:util'

const file = process.env.TEST_CAUSES
const note = (what, error) =>
  appendFileSync(
    file,
    `${basename(process.argv[1] ?? '')}: ${what}${error === undefined ? '' : `\n${inspect(error)}`}\n\n`,
  )

/** Milliseconds after the last test in which a process ends by itself. */
const LINGERING = 30_000
const open = () => process.getActiveResourcesInfo().join(', ') || 'nothing'

if (file) {
  process.on('unhandledRejection', (error) =>
    note('a promise was rejected and nobody handled it', error),
  )
  process.on('uncaughtExceptionMonitor', (error) =>
    note('an exception was thrown outside any test', error),
  )
  // All tests have ended, so that nothing is wrong but the end itself: it is told, and made.
  if (process.env.NODE_TEST_CONTEXT && process.argv[1]?.endsWith('.test.mjs'))
    after(() => {
      setTimeout(() => {
        const told = `all tests have ended, and the process has not, with ${open()} open`
        note(told)
        console.error(`${basename(process.argv[1] ?? '')}: ${told}`)
        process.exit()
      }, LINGERING).unref()
    })
  // The runner itself ends with 1 where a test failed, and has told of it.
  process.on('exit', (code) => {
    if (code > 1) note(`the process ended with status ${code}`)
  })
}
