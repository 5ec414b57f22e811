/**
 * `npm run check`: format, types, lint, the row types of the database, lengths of lines, directions
 * of imports, what the package is made of, and a table of what has grown large (it informs, it does
 * not fail).
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { build } from '../build.mjs'
import { MOST_BYTES, buildConsole } from '../console/build.mjs'

const run = (name, command, args) => {
  const { status } = spawnSync(command, args, { stdio: 'inherit' })
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${name}`)
  return status === 0
}

/** Where code stands. */
const FOLDERS = ['lib', 'server', 'console', 'scripts', 'test']

const files = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true })
    .filter((file) => /\.(tsx?|mjs)$/.test(file) && !file.includes('node_modules'))
    .map((file) => join(folder, file)),
)

/** Loaded in a process of its own. */
const ENGINES = /^@duckdb\/node-api$/
/**
 * Layers of lib: a file imports only from its own layer and from those above it in this list, types
 * as well as values. A path with two parts is a layer of its own within its domain.
 */
const LAYERS = [
  'core',
  'db',
  'objects',
  'places',
  'accounts',
  'console',
  'configuration/document',
  'distributors',
  'events',
  'catalog',
  'configuration',
  'feeds',
  'ffls',
  'restrictions',
  'exports',
  'analytics',
  'simulator/market',
  'simulator/engine',
  'simulator/wire',
  'distributors/builtin',
  'simulator',
  'orders',
  'quotes',
  'fraud',
  'app',
  'client',
]

/** The place of a file's layer in the list; -1 where it has none. */
function layerOf(file) {
  const [, folder, room] = /^lib\/([^/]+)\/(?:([^/]+)\/)?/.exec(file) ?? []
  if (folder === undefined) return -1
  const own = LAYERS.indexOf(`${folder}/${room}`)
  return own >= 0 ? own : LAYERS.indexOf(folder)
}

function importsOf(file) {
  const text = readFileSync(file, 'utf8')
  return [
    ...text.matchAll(/^(?:import|export)\s+(?:[^'"]*?\bfrom\s+)?['"]([^'"]+)['"]/gm),
    ...text.matchAll(/\bimport\(\s*['"]([^'"]+)['"],?\s*\)/g),
  ].map((match) => match[1])
}

/** The file that an import names. */
const targetOf = (file, target) =>
  relative('.', resolve(dirname(file), target)).replace(/\.js$/, '.ts')

function layerFault(file, target) {
  if (!target.startsWith('.')) {
    if (target.startsWith('better-sqlite3'))
      return 'which better-sqlite3 runs depends on Node: use lib/db/sqlite/driver.ts, which loads it'
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
  const path = targetOf(file, target)
  if (file.startsWith('lib/') && path.startsWith('server/')) return 'lib must not import server'
  if (!/^lib\/[^/]+\//.test(file) || !/^lib\/[^/]+\//.test(path)) return null
  const [from, to] = [layerOf(file), layerOf(path)]
  if (from < 0) return 'its folder is missing in the list of layers (scripts/check.mjs)'
  return to <= from ? null : `${LAYERS[from]} must not import ${LAYERS[to]}`
}

/** Where statements stand, whichever database they are for. */
const HOMES = /^lib\/db\/|queries\.ts$/
/** A statement that is prepared, or a text of Kysely's `sql`. */
const STATEMENT = /\.prepare\(|\bprepare\(\s*['"`]|\bsql(<[^`]*>)?`/

/** Files with a statement in the middle of a rule. */
const withStatements = () =>
  files.filter(
    (file) =>
      /^(lib|server)\//.test(file) &&
      !HOMES.test(file) &&
      STATEMENT.test(readFileSync(file, 'utf8')),
  )

/** Files of lib and server that import each other in a circle, types included (Tarjan). */
function circles() {
  const known = files.filter((file) => /^(lib|server)\//.test(file))
  const edges = new Map(
    known.map((file) => [
      file,
      importsOf(file)
        .filter((target) => target.startsWith('.'))
        .map((target) => targetOf(file, target)),
    ]),
  )
  const [numbers, lowest, stack, found] = [new Map(), new Map(), [], []]
  function visit(file) {
    numbers.set(file, numbers.size)
    lowest.set(file, numbers.get(file))
    stack.push(file)
    for (const next of edges.get(file)) {
      if (!edges.has(next)) continue
      if (!numbers.has(next)) visit(next)
      if (stack.includes(next)) lowest.set(file, Math.min(lowest.get(file), lowest.get(next)))
    }
    if (lowest.get(file) !== numbers.get(file)) return
    const circle = stack.splice(stack.indexOf(file))
    if (circle.length > 1) found.push(circle)
  }
  for (const file of known) if (!numbers.has(file)) visit(file)
  return found
}

function checkLayers() {
  const faults = files
    .flatMap((file) => importsOf(file).map((target) => [file, target, layerFault(file, target)]))
    .filter(([, , fault]) => fault)
  for (const [file, target, fault] of faults) console.log(`${file}: ${fault} (imports ${target})`)
  const clocks = files.filter(
    (file) =>
      file.startsWith('lib/') &&
      file !== 'lib/app/options.ts' &&
      /\b(Date\.now|Math\.random|performance\.now)\(/.test(readFileSync(file, 'utf8')),
  )
  for (const file of clocks) console.log(`${file}: time and randomness come from the context`)
  const homeless = withStatements()
  for (const file of homeless)
    console.log(`${file}: statements stand in lib/db and in the queries.ts of a room`)
  const rings = circles()
  for (const ring of rings) console.log(`a circle of imports: ${ring.join(', ')}`)
  const isRight = faults.length + clocks.length + homeless.length + rings.length === 0
  console.log(`${isRight ? 'ok  ' : 'FAIL'} layers`)
  return isRight
}

/**
 * What may go into a bundle of the package; `<stdin>` is the line that has its entries share one.
 */
const SHIPPED = /^(lib|server|console|data)\/|(^|\/)node_modules\/|^<stdin>$/

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

/** Pure files that the page shares with the program, where a second copy would drift apart. */
const SHARED_WITH_PAGE = [
  'lib/configuration/secret-names.ts',
  'lib/core/pointer.ts',
  'lib/distributors/product-classes.ts',
  'lib/places/states.ts',
]

/** The page takes hardly anything but types from the program, and stays small. */
async function checkConsole() {
  const outdir = mkdtempSync(join(tmpdir(), 'qm-console-'))
  try {
    const { inputs, bytes } = await buildConsole(outdir)
    const strangers = inputs.filter(
      (file) => /^(lib|server)\//.test(file) && !SHARED_WITH_PAGE.includes(file),
    )
    for (const file of strangers) console.log(`${file}: the console may take only types of it`)
    if (bytes > MOST_BYTES) console.log(`the console has ${bytes} bytes; ${MOST_BYTES} are allowed`)
    const isRight = strangers.length === 0 && bytes <= MOST_BYTES
    console.log(`${isRight ? 'ok  ' : 'FAIL'} console (${(bytes / 1000).toFixed(1)} kB compressed)`)
    return isRight
  } finally {
    rmSync(outdir, { recursive: true, force: true })
  }
}

/** The formatter cannot break a text, nor a pattern: who writes one can. */
const LONGEST_LINE = 120

function checkLines() {
  const faults = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, i) => (line.length > LONGEST_LINE ? [`${file}:${i + 1}`] : [])),
  )
  for (const place of faults) console.log(`${place}: longer than ${LONGEST_LINE} characters`)
  console.log(`${faults.length === 0 ? 'ok  ' : 'FAIL'} lines`)
  return faults.length === 0
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
    ...FOLDERS,
    'build.mjs',
  ]),
  run('types', process.execPath, [join('node_modules', 'typescript', 'bin', 'tsc'), '-p', '.']),
  run('types of the console', process.execPath, [
    join('node_modules', 'typescript', 'bin', 'tsc'),
    '-p',
    'console',
  ]),
  run('lint', process.execPath, [
    join('node_modules', 'oxlint', 'bin', 'oxlint'),
    '--deny-warnings',
    ...FOLDERS,
    'build.mjs',
  ]),
  run('tables', process.execPath, [
    join('node_modules', 'tsx', 'dist', 'cli.mjs'),
    join('scripts', 'tables', 'run.ts'),
    '--check',
  ]),
  checkLines(),
  checkLayers(),
  await checkPackage(),
  await checkConsole(),
]
informAboutSizes()
process.exit(results.every(Boolean) ? 0 : 1)
