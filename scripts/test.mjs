/**
 * Bundles the suites and runs them with node's test runner: `npm test`, or `npm test -- quotes
 * orders/journal catalog/view` for those of a folder, or one of them. `--long` runs those that a
 * whole run leaves out, `--coverage` all of them under c8; `--postgres` runs those of the domains
 * with the system of record of their apps on a PostgreSQL that is started for the run.
 */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { build } from 'esbuild'
import { bundleLauncher, bundleTree, transpileTree } from '../build.mjs'

const names = process.argv.slice(2).filter((arg) => !arg.startsWith('--'))
const coverage = process.argv.includes('--coverage')
const isLong = process.argv.includes('--long')
/** What has the system of record: a folder's file, or a server that is started for the run. */
const onPostgres = process.argv.includes('--postgres')
/**
 * Measured on two idle cores: 5 min 48 s to 6 min 21 s; with --long 12 to 14 minutes. Of --postgres a
 * third, on two busy ones: 3 min 14 s.
 */
const DURATION = onPostgres
  ? 'It takes five to eight minutes on two cores.'
  : isLong
    ? 'It takes a quarter to half an hour on two cores.'
    : 'It takes six to nine minutes on two cores.'
/** Of node's own, or the path of a module. */
const reporter =
  process.argv.find((arg) => arg.startsWith('--reporter='))?.slice('--reporter='.length) ?? 'spec'
/** What takes minutes, or tens of seconds of processor time, and breaks seldom: a step of its own. */
const LONG = [
  // A browser over every page.
  'console/actions.test.ts',
  'console/first-steps.test.ts',
  'console/keyboard.test.ts',
  'console/map.test.ts',
  'console/nodes.test.ts',
  'console/orders.test.ts',
  'console/pages.test.ts',
  'console/restart.test.ts',
  'console/sessions.test.ts',
  'console/shown-first.test.ts',
  'console/two-operators.test.ts',
  'docs/browser-pages.test.ts',
  // The package, its archives and its container, and what operators put beside it.
  'bundle/container.test.ts',
  'bundle/program.test.ts',
  'bundle/release.test.ts',
  'operating/log.test.ts',
  'server/package.test.ts',
  // Other people's programs and tests.
  'client/third-party-proxy.test.ts',
  'configuration/json-schema-suite.test.ts',
  'distributors/lipseys/strangers-client.test.ts',
  'objects/s3-faults.test.ts',
  // Commands, servers and builds, each started as a process of its own.
  'analytics/builds.test.ts',
  'analytics/commands.test.ts',
  'analytics/properties.test.ts',
  'configuration/commands.test.ts',
  'docs/first-feed.test.ts',
  'docs/walk.test.ts',
  'exports/attributes.test.ts',
  'exports/faults.test.ts',
  'exports/processes.test.ts',
  'exports/sweep.test.ts',
  'fraud/sharing-commands.test.ts',
  'orders/journal/copy.test.ts',
  'postgres/catalog/faults.test.ts',
  'postgres/catalog/history.test.ts',
  'postgres/catalog/sequences.test.ts',
  'postgres/cluster.test.ts',
  'postgres/move-cut.test.ts',
  'postgres/move.test.ts',
  'postgres/orders.test.ts',
  'postgres/serve.test.ts',
  'server/mistakes.test.ts',
  'server/process-faults.test.ts',
  'server/process.test.ts',
  'simulator/server.test.ts',
  // Every scenario at every distributor, every line end of a list.
  'ffls/cuts.test.ts',
  'simulator/page.test.ts',
  'simulator/engine.test.ts',
  'simulator/scenarios.test.ts',
  // Months of prices, and real data.
  'analytics/demo.test.ts',
  'analytics/history/demo.test.ts',
  'analytics/history/job.test.ts',
  'analytics/history/real.test.ts',
  'feeds/real.test.ts',
  'ffls/real.test.ts',
  'ffls/workbook.test.ts',
  'quotes/real.test.ts',
]
/**
 * What `--postgres` leaves out, beside the long ones and those that open no app; whoever names one
 * runs it there all the same.
 */
const NOT_ON_POSTGRES = {
  'has a PostgreSQL of its own': ['postgres'],
  'is about the files of a folder': [
    'analytics/history/backup',
    'app/background',
    'database',
    'orders/journal',
  ],
  'is about processes, commands and servers on a folder': [
    'feeds/status',
    'ffls/commands',
    'ffls/held',
    'fraud/commands',
    'operating',
    'orders/engine/crash-findings',
    'orders/engine/crashes',
    'orders/engine/faults',
    'orders/engine/simulation',
    'orders/operator/commands',
    'restrictions/commands',
    'server/admin/console',
    'server/closing',
    'server/commands',
    'server/doctor',
    'server/environment',
    'server/help',
    'server/log-lines',
    'server/start',
  ],
  'is about the program, its pages and documents': [
    'bundle',
    'client/guide',
    'console',
    'docs',
    'openapi',
    'server/fuzz',
  ],
  'has a distributor, and no record that differs': ['distributors', 'simulator'],
}
/**
 * Processes of a whole run, beside the suites that start themselves once more, or use up what a
 * process has: those begin.
 */
const GROUPS = 12
/** Milliseconds after which a process counts as hung; the slowest takes nine minutes. */
const HUNG = 30 * 60_000
const ALONE = [
  'app/background.test.ts',
  'simulator/stock.test.ts',
  'server/fuzz.test.ts',
  'server/closing.test.ts',
]
/** Suites that run on PostgreSQL open their apps by another module than the product's. */
const recordOnPostgres = {
  name: 'record-on-postgres',
  setup(build) {
    const path = resolve('test/harness/record-on-postgres.ts')
    build.onResolve({ filter: /\/record\.js$/ }, ({ path: wanted, resolveDir }) =>
      resolve(resolveDir, wanted) === resolve('lib/app/record.js') ? { path } : null,
    )
  },
}
const isNamed = (file, name) => file === `${name}.test.ts` || file.startsWith(`${name}/`)
const isLeftOut = (file) =>
  onPostgres &&
  Object.values(NOT_ON_POSTGRES)
    .flat()
    .some((name) => isNamed(file, name))
const isWanted = (file) =>
  names.length > 0
    ? names.some((name) => isNamed(file, name))
    : coverage || (LONG.includes(file) === isLong && !isLeftOut(file))
const found = readdirSync('test', { recursive: true })
  .filter((file) => file.endsWith('.test.ts'))
  .filter(isWanted)
const suites = onPostgres && names.length === 0 ? await openingApps(found) : found
const unknown = names.filter((name) => !suites.some((file) => isNamed(file, name)))
if (unknown.length > 0) {
  console.error(`there is no suite ${unknown.join(', ')}`)
  process.exit(2)
}

/** In one folder: what a suite starts stands beside it. */
const entryOf = (file) => ({
  name: file.replace(/\.ts$/, '').replaceAll('/', '-'),
  file: join('test', file),
})

mkdirSync('dist', { recursive: true })
const outdir = mkdtempSync(join('dist', 'test-'))
const isEach = names.length > 0 || coverage || isLong
const groups = isEach ? suites.map(entryOf) : grouped(outdir)
let status = 1
try {
  // The launcher and the library stand beside the suites, for those that start a process or run
  // README's code.
  const beside = { index: 'lib/index.ts' }
  const suiteDir = coverage ? join(outdir, 'test') : outdir
  if (coverage) {
    // File by file: coverage of a bundle cannot be told apart by its sources.
    for (const folder of new Set(suites.map(dirname)))
      await bundleTree(join(suiteDir, folder), { ...beside, quartermaster: 'server/cli/main.ts' })
    await transpileTree(outdir)
    cpSync('data', join(outdir, 'data'), { recursive: true })
  } else {
    await bundleTree(
      outdir,
      {
        ...beside,
        ...(onPostgres && { 'with-postgres': 'test/harness/with-postgres.ts' }),
        ...Object.fromEntries(groups.map(({ name, file }) => [name, file])),
      },
      onPostgres ? { plugins: [recordOnPostgres] } : {},
    )
    await bundleLauncher(outdir)
  }
  const files = coverage
    ? suites.map((file) => join(suiteDir, file.replace(/\.ts$/, '.js')))
    : groups.map(({ name }) => join(outdir, `${name}.mjs`))
  // Mapping every stack back to its source costs a tenth of a whole run; a suite that is named has
  // it.
  const maps = isEach ? ['--enable-source-maps'] : []
  const causes = resolve(outdir, 'causes.txt')
  const runner = [
    ...(onPostgres ? [process.execPath, join(outdir, 'with-postgres.mjs')] : []),
    process.execPath,
    ...maps,
    `--import=${new URL('causes.mjs', import.meta.url)}`,
    '--max-semi-space-size=32',
    '--test',
    `--test-reporter=${reporter}`,
    '--test-concurrency=3',
    `--test-timeout=${HUNG}`,
    ...files,
  ]
  const command = coverage
    ? [
        'npx',
        'c8',
        '--exclude-after-remap',
        '--include=lib/**',
        '--include=server/**',
        '--reporter=text-summary',
        '--reporter=lcov',
        ...runner,
      ]
    : runner
  if (names.length === 0)
    console.log(`${suites.length} suites in ${groups.length} processes, 3 at a time. ${DURATION}`)
  status =
    spawnSync(command[0], command.slice(1), {
      stdio: 'inherit',
      env: { ...process.env, TEST_CAUSES: causes },
    }).status ?? 1
  // The runner says of a file in which something failed outside any test that it failed, and no
  // more.
  if (status !== 0 && existsSync(causes))
    console.error(`\nOutside any test:\n\n${readFileSync(causes, 'utf8')}`)
} finally {
  rmSync(outdir, { recursive: true, force: true })
}
process.exit(status)

/** Those suites that open an app: the others have no record. */
async function openingApps(files) {
  const { metafile } = await build({
    entryPoints: files.map((file) => join('test', file)),
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    write: false,
    metafile: true,
    outdir: 'dist',
    logLevel: 'error',
  })
  const opening = Object.values(metafile.outputs)
    .filter(({ inputs }) => 'lib/app/record.ts' in inputs)
    .map(({ entryPoint }) => entryPoint)
  return files.filter((file) => opening.includes(join('test', file)))
}

/**
 * Several suites in one process: starting one for each, and warming its code up, would cost more
 * than most of them. Neighbours in the alphabet, which take about equally long, go into different
 * groups.
 */
function grouped(dir) {
  const together = suites.filter((file) => !ALONE.includes(file))
  // The runner begins with what comes first in the alphabet.
  const alone = suites
    .filter((file) => ALONE.includes(file))
    .map(entryOf)
    .map((entry) => ({ ...entry, name: `0-${entry.name}` }))
  return alone.concat(
    Array.from({ length: GROUPS }, (_, n) => {
      const mine = together.filter((_, i) => i % GROUPS === n)
      const file = join(dir, `group-${n}.test.ts`)
      writeFileSync(
        file,
        mine.map((suite) => `import '../../test/${suite.replace(/\.ts$/, '.js')}'\n`).join(''),
      )
      return { name: `group-${n}.test`, file }
    }),
  )
}
