/**
 * Runs the suites that the page on faults names, and writes what came of them to its last section:
 * `node scripts/faults.mjs [suite...]`. Suites that are not named here keep their line. Ends with 1
 * where one failed.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const PAGE = 'data/guide/faults.md'
const HEADING = '## Last result'
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const named = (text) => [
  ...new Set([...text.matchAll(/`test\/([^`]+)\.test\.ts`/g)].map((match) => match[1])),
]
const suites = named(readFileSync(PAGE, 'utf8').split(HEADING)[0])
const asked = process.argv.slice(2)
const unknown = asked.filter((suite) => !suites.includes(suite))
if (unknown.length > 0) {
  console.error(`the page does not name ${unknown.join(', ')}`)
  process.exit(2)
}

const wanted = asked.length > 0 ? asked : suites
const reporter = new URL('faults-reporter.mjs', import.meta.url).href
const { stdout } = spawnSync(
  process.execPath,
  ['scripts/test.mjs', `--reporter=${reporter}`, ...wanted],
  { encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'inherit'] },
)
const tests = stdout
  .split('\n')
  .filter((line) => line.startsWith('{"file"'))
  .map((line) => JSON.parse(line))
for (const suite of wanted) {
  const own = tests.filter(({ file }) => file?.endsWith(`/test/${suite}.test.ts`))
  const failed = own.filter(({ isFine }) => !isFine)
  const skipped = own.filter(({ isSkipped }) => isSkipped).length
  const isFine = own.length > skipped && failed.length === 0
  if (!isFine) process.exitCode = 1
  for (const { name } of failed) console.log(`${suite}: ${name}`)
  const result = isFine
    ? `passed, ${own.length - skipped} tests${skipped > 0 ? `, ${skipped} skipped` : ''}`
    : 'failed'
  note(suite, `| \`test/${suite}.test.ts\` | ${result} | ${version} |`)
  console.log(`${suite}: ${result}`)
}

/** Puts the line of a suite into the table, in the order in which the page names them. */
function note(suite, line) {
  const [body, last] = readFileSync(PAGE, 'utf8').split(HEADING)
  const lines = new Map(
    last
      .split('\n')
      .map((row) => [/^\| `test\/(.+)\.test\.ts`/.exec(row)?.[1], row])
      .filter(([name]) => name !== undefined),
  )
  lines.set(suite, line)
  const intro = last.trim().split('\n')[0]
  const table = suites.map((name) => lines.get(name)).filter((row) => row !== undefined)
  writeFileSync(
    PAGE,
    `${body}${HEADING}\n\n${intro}\n\n| Suite | Result | Release |\n|---|---|---|\n${table.join('\n')}\n`,
  )
}
