/**
 * Loaded into each process of `npm test`: notes what fails outside any test, which the runner tells
 * of as "test failed" alone. Shown by scripts/test.mjs where a run failed.
 */
import { appendFileSync } from 'node:fs'
import { basename } from 'node:path'
import { inspect } from 'node:util'

const file = process.env.TEST_CAUSES
const note = (what, error) =>
  appendFileSync(
    file,
    `${basename(process.argv[1] ?? '')}: ${what}${error === undefined ? '' : `\n${inspect(error)}`}\n\n`,
  )

if (file) {
  process.on('unhandledRejection', (error) =>
    note('a promise was rejected and nobody handled it', error),
  )
  process.on('uncaughtExceptionMonitor', (error) =>
    note('an exception was thrown outside any test', error),
  )
  // The runner itself ends with 1 where a test failed, and has told of it.
  process.on('exit', (code) => {
    if (code > 1) note(`the process ended with status ${code}`)
  })
}
