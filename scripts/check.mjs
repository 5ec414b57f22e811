/**
 * `npm run check`: format, types, lint, directions of imports, what the package is made of, and a
 * table of what has grown large (it informs, it does not fail).
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { build } from '../build.mjs'

const run = (name, command, args) => {
  const { status } = spawnSync(command, args, { stdio: 'inherit' })
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${name}`)
  return status === 0
}

const files = ['lib', 'server', 'scripts', 'test'].flatMap((folder) =>
  readdirSync(folder, { recursive: true })
    .filter((file) => /\.(ts|mjs)$/.test(file) && !file.includes('node_modules'))
    .map((file) => join(folder, file)),
)

/** Loaded in a process of its own. */
const ENGINES = /^@duckdb\/node-api$/
/**
 * Domains call each other without circles; this order is the proof: a domain imports only domains
 * to its left.
 */
const ORDER = [
  'core',
  'client',
  'db',
  'objects',
  'places',
  'accounts',
  'catalog',
  'distributors',
  'configuration',
  'feeds',
  'ffls',
  'restrictions',
  'exports',
  'analytics',
  'simulator',
  'orders',
  'quotes',
  'fraud',
  'app',
]

function importsOf(file) {
  const text = readFileSync(file, 'utf8')
  // Types are erased, so they tie nothing together at run time.
  return [
    ...text.matchAll(/^(?:import|export)\s+(?!type\b)(?:[^'"]*?\bfrom\s+)?['"]([^'"]+)['"]/gm),
  ]
    .map((match) => match[1])
    .concat([...text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g)].map((match) => match[1]))
}

function layerFault(file, target) {
  if (!target.startsWith('.')) {
    if (target.startsWith('better-sqlite3'))
      return 'which better-sqlite3 runs depends on Node: use lib/db/driver.ts, which loads it'
    if (
      ENGINES.test(target) &&
      !/^lib\/(exports|analytics)\//.test(file) &&
      /^(lib|server)\//.test(file)
    )
      return `${target} may be imported in lib/exports and lib/analytics only`
    if (/^(h3|h3\/)/.test(target) && file !== 'server/http/app.ts' && /^(lib|server)\//.test(file))
      return 'h3 may be imported in server/http/app.ts only'
    return null
  }
  const path = relative('.', resolve(dirname(file), target))
  if (file.startsWith('lib/') && path.startsWith('server/')) return 'lib must not import server'
  const [, from] = /^lib\/([^/]+)\//.exec(file) ?? []
  const [, to] = /^lib\/([^/]+)\//.exec(path) ?? []
  if (!from || !to || from === to) return null
  if (ORDER.indexOf(from) < 0)
    return `lib/${from} is missing in the order of layers (scripts/check.mjs)`
  return ORDER.indexOf(to) < ORDER.indexOf(from) ? null : `${from} must not import ${to}`
}

function checkLayers() {
  const faults = files
    .flatMap((file) => importsOf(file).map((target) => [file, target, layerFault(file, target)]))
    .filter(([, , fault]) => fault)
  for (const [file, target, fault] of faults) console.log(`${file}: ${fault} (imports ${target})`)
  const clocks = files.filter(
    (file) =>
      file.startsWith('lib/') &&
      file !== 'lib/app/open.ts' &&
      /\b(Date\.now|Math\.random|performance\.now)\(/.test(readFileSync(file, 'utf8')),
  )
  for (const file of clocks) console.log(`${file}: time and randomness come from the context`)
  console.log(`${faults.length + clocks.length === 0 ? 'ok  ' : 'FAIL'} layers`)
  return faults.length + clocks.length === 0
}

/**
 * What may go into a bundle of the package; `<stdin>` is the line that has its entries share one.
 */
const SHIPPED = /^(lib|server|data)\/|(^|\/)node_modules\/|^<stdin>$/

/** A plant, a harness or a suite in the package would be a bug that somebody has on purpose. */
async function checkPackage() {
  const dist = mkdtempSync(join(tmpdir(), 'qm-check-'))
  try {
    const inputs = await build(dist, { quick: true })
    const strangers = inputs.filter((file) => !SHIPPED.test(file))
    for (const file of strangers) console.log(`${file}: must not be part of the package`)
    console.log(`${strangers.length === 0 ? 'ok  ' : 'FAIL'} package`)
    return strangers.length === 0
  } finally {
    rmSync(dist, { recursive: true, force: true })
  }
}

function informAboutSizes() {
  const large = files
    .map((file) => [file, readFileSync(file, 'utf8').split('\n').length])
    .filter(([, lines]) => lines > 300)
    .sort((a, b) => b[1] - a[1])
  if (large.length > 0)
    console.log(
      `\nlarger than 300 lines:\n${large.map(([file, lines]) => `  ${String(lines).padStart(5)}  ${file}`).join('\n')}`,
    )
}

const results = [
  run('format', process.execPath, [
    join('node_modules', 'oxfmt', 'bin', 'oxfmt'),
    '--check',
    'lib',
    'server',
    'scripts',
    'test',
    'build.mjs',
  ]),
  run('types', process.execPath, [join('node_modules', 'typescript', 'bin', 'tsc'), '-p', '.']),
  run('lint', process.execPath, [
    join('node_modules', 'oxlint', 'bin', 'oxlint'),
    '--deny-warnings',
    'lib',
    'server',
    'scripts',
    'test',
    'build.mjs',
  ]),
  checkLayers(),
  await checkPackage(),
]
informAboutSizes()
process.exit(results.every(Boolean) ? 0 : 1)
