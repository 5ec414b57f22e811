/**
 * Builds the package. `--quick` leaves out the type declarations.
 *
 *   dist/lib          the library: ESM entries over shared chunks; for `require` connect.cjs alone and the others over
 *                     shared.cjs; worker.mjs, duckdb.mjs
 *   dist/types        declarations, for `import`; dist/types-cjs the same for `require`
 *   dist/docs         what the documentation is made of: its styles, scripts and icon
 *   dist/quartermaster  the launcher and the program in one file each, its worker.mjs and duckdb.mjs, what
 *                     starts it with a shell, and the operator's console (npm packs one worker.mjs
 *                     and one duckdb.mjs, those of dist/lib); a whole build adds the
 *                     natives, the documentation, licenses and a bill of materials: the folder runs
 *                     wherever there is Node
 *                     (scripts/bundle/release.mjs makes archives of it that bring Node)
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as esbuild from 'esbuild'
import { buildConsole } from './console/build.mjs'
import { billOf } from './scripts/bundle/bill.mjs'
import { copyNatives, installed } from './scripts/bundle/natives.mjs'
import { noticesOf } from './scripts/bundle/notices.mjs'
import { packagesOf, sorted } from './scripts/bundle/packages.mjs'
import { sizeOf } from './scripts/bundle/sizes.mjs'

const NATIVE = ['better-sqlite3', '@duckdb/node-api']
const common = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  sourcemap: true,
  legalComments: 'none',
  logLevel: 'warning',
}

/**
 * Part of every bundle: the client has it too, and who bundles that one for an edge runtime would
 * not find it by its `main`.
 */
const alias = { 'fastest-levenshtein': './node_modules/fastest-levenshtein/esm/mod.js' }

/** Facts of `data` as texts that are parsed: V8 takes twice as long for literals of that size. */
const facts = {
  name: 'facts',
  setup(build) {
    build.onLoad({ filter: /[\\/]data[\\/].*\.json$/ }, ({ path }) => {
      const text = JSON.stringify(JSON.parse(readFileSync(path, 'utf8')))
      return { contents: `export default JSON.parse(${JSON.stringify(text)})`, loader: 'js' }
    })
  },
}

/** Runs esbuild, and tells the files that went into what it made. */
async function bundle(options) {
  const plugins = [facts, ...(options.plugins ?? [])]
  const { metafile } = await esbuild.build({ ...options, plugins, alias, metafile: true })
  return Object.keys(metafile.inputs)
}

/**
 * ESM entries that share their chunks, with the worker beside them. Packages stay imports.
 * `options` are esbuild's, as plugins of tests.
 */
export async function bundleTree(outdir, entryPoints, options = {}) {
  const inputs = await bundle({
    ...common,
    ...options,
    entryPoints,
    outdir,
    format: 'esm',
    splitting: true,
    packages: 'external',
    outExtension: { '.js': '.mjs' },
  })
  return [...inputs, ...(await bundleWorker(outdir, options))]
}

/** CommonJS has a path where a module has an address. */
const commonJs = {
  ...common,
  format: 'cjs',
  define: { 'import.meta.url': '__importMetaUrl' },
  banner: { js: "const __importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
}

/** The same for `require`, each entry in one file. */
export async function bundleCommonJs(outdir, entryPoints, options = {}) {
  return bundle({
    ...commonJs,
    ...options,
    entryPoints,
    outdir,
    packages: 'external',
    outExtension: { '.js': '.cjs' },
  })
}

/**
 * Entries for `require` that belong together: one file has them all, so that they share their state
 * as the ES modules do, and each begins to run when it is asked for. Packages that cannot be
 * required everywhere (jest) are in it too.
 */
async function bundleSharedCommonJs(outdir, entryPoints, options) {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  const external = Object.keys({ ...dependencies, ...optionalDependencies }).filter(
    (name) => !ES_MODULES_ONLY.includes(name),
  )
  const contents = Object.entries(entryPoints)
    .map(([name, file]) => `exports.${name} = () => require('./${file}')\n`)
    .join('')
  const inputs = await bundle({
    ...commonJs,
    ...options,
    stdin: { contents, resolveDir: '.' },
    outfile: join(outdir, 'shared.cjs'),
    external,
  })
  for (const name of Object.keys(entryPoints))
    writeFileSync(
      join(outdir, `${name}.cjs`),
      `module.exports = require('./shared.cjs').${name}()\n`,
    )
  return inputs
}
const ES_MODULES_ONLY = ['h3', 'marked', 'p-limit']

/** Every file of its own, as it lies in the tree. */
export async function transpileTree(outdir) {
  const entryPoints = ['lib', 'server', 'console', 'scripts', 'test'].flatMap((folder) =>
    readdirSync(folder, { recursive: true })
      .filter((file) => /\.tsx?$/.test(file) && !file.includes('node_modules'))
      .map((file) => join(folder, file)),
  )
  await esbuild.build({
    ...common,
    bundle: false,
    entryPoints,
    outdir,
    outbase: '.',
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
  })
  cpSync('console/build.mjs', join(outdir, 'console/build.mjs'))
  await bundleWorker(join(outdir, 'lib', 'app', 'background'))
}

/**
 * The worker, and the process that has DuckDB, have no shared chunks: their files alone are enough
 * wherever they are copied.
 */
async function bundleWorker(outdir, options = {}) {
  return bundle({
    ...common,
    ...options,
    entryPoints: { worker: 'lib/app/background/worker.ts', duckdb: 'lib/app/background/duckdb.ts' },
    outdir,
    format: 'esm',
    external: NATIVE,
    outExtension: { '.js': '.mjs' },
    banner: REQUIRE,
  })
}

/**
 * The command in one file, which starts in half the time that its packages' own files would take,
 * and the launcher that runs it. It is CommonJS, one function: code that is compiled in one process
 * can be kept for the next one only for such a script (server/compiled.ts).
 */
export async function bundleLauncher(outdir, options = {}) {
  const launcher = await bundle({
    ...common,
    ...options,
    entryPoints: { quartermaster: 'server/main.ts' },
    outdir,
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    banner: { js: '#!/usr/bin/env node' },
  })
  const program = await bundle({
    ...commonJs,
    ...options,
    entryPoints: { program: 'server/cli/main.ts' },
    outdir,
    external: [...NATIVE, 'listhen'],
    // Such a script has no `import()` of its own; `require` takes modules, too.
    supported: { 'dynamic-import': false },
    outExtension: { '.js': '.cjs' },
    banner: {
      js: `(function (exports, require, module, __filename, __dirname) {${commonJs.banner.js}`,
    },
    footer: { js: '})' },
  })
  // A text of bytes alone is read without a copy. esbuild leaves letters in expressions as they are.
  const file = join(outdir, 'program.cjs')
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/[^\0-\x7f]/g, escaped))
  return [...launcher, ...program]
}

const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Bundled CommonJS packages call require. */
const REQUIRE = {
  js:
    "import { createRequire as __createRequire } from 'node:module'; const require = " +
    '__createRequire(import.meta.url);',
}

const PARTS = ['lib', 'types', 'types-cjs', 'docs', 'data', 'quartermaster']

// Whoever has the package has no sources beside it: the names in the bundles are those of the
// sources, and their blanks are left out. What is there for `require` alone has short names, too: it
// is everything once more.
const dense = { sourcemap: false, minifyWhitespace: true, minifySyntax: true }

/** The command with its worker and its child; tells the files that went in. */
export async function bundleProgram(folder) {
  const page = await buildConsole(join(folder, 'console'))
  console.log(`console: ${(page.bytes / 1_000).toFixed(1)} kB compressed`)
  cpSync('scripts/bundle/launcher.sh', join(folder, 'quartermaster'))
  chmodSync(join(folder, 'quartermaster'), 0o755)
  return [
    ...(await bundleLauncher(folder, dense)),
    ...(await bundleWorker(folder, dense)),
    ...page.inputs,
  ]
}

function copyDocumentation(folder) {
  cpSync('data/guide', join(folder, 'data/guide'), { recursive: true })
  cpSync('server/docs/assets', join(folder, 'docs'), { recursive: true })
  cpSync('console/style/tokens.css', join(folder, 'docs/tokens.css'))
}

/**
 * Puts beside the bundled command whatever it needs besides Node, and what has to be said about
 * it. `inputs` are the files of the bundle. The natives are those of this machine; a release names
 * another platform, where their packages are found, and the Node that goes along.
 */
export function completeProgram(folder, inputs, { platform, find = installed, runtime } = {}) {
  const { name, version, description, license, engines } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  )
  copyDocumentation(folder)
  cpSync('data/operating', join(folder, 'operating'), { recursive: true })
  const natives = copyNatives(folder, platform ?? `${process.platform}-${process.arch}`, find)
  const packages = sorted([...packagesOf(inputs), ...natives])
  const own = { name, version, description, license, type: 'module', engines, private: true }
  const json = (value) => `${JSON.stringify(value, null, 2)}\n`
  writeFileSync(join(folder, 'package.json'), json(own))
  cpSync('LICENSE', join(folder, 'LICENSE'))
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES'), noticesOf(packages, runtime))
  writeFileSync(join(folder, 'sbom.cdx.json'), json(billOf(own, packages, runtime)))
}

/**
 * Builds all of the package in a folder: what stands there of an earlier build goes first, and
 * nothing else. Tells the files that went into its bundles.
 */
export async function build(dist = 'dist', { quick = false } = {}) {
  for (const part of PARTS) rmSync(join(dist, part), { recursive: true, force: true })
  const client = { connect: 'lib/connect.ts' }
  const library = {
    index: 'lib/index.ts',
    server: 'server/index.ts',
    testing: 'server/testing/index.ts',
  }
  const program = await bundleProgram(join(dist, 'quartermaster'))
  const inputs = [
    ...(await bundleTree(join(dist, 'lib'), { ...library, ...client }, dense)),
    ...(await bundleCommonJs(join(dist, 'lib'), client, dense)),
    ...(await bundleSharedCommonJs(join(dist, 'lib'), library, {
      ...dense,
      minifyIdentifiers: true,
    })),
    ...program,
  ]
  copyDocumentation(dist)
  if (!quick) {
    completeProgram(join(dist, 'quartermaster'), program)
    const tsc = join('node_modules', 'typescript', 'bin', 'tsc')
    execFileSync(
      process.execPath,
      [
        tsc,
        '-p',
        '.',
        '--noEmit',
        'false',
        '--declaration',
        '--emitDeclarationOnly',
        '--rootDir',
        '.',
        '--outDir',
        join(dist, 'types'),
      ],
      { stdio: 'inherit' },
    )
    keepReachable(join(dist, 'types'), [
      'lib/index.d.ts',
      'lib/connect.d.ts',
      'server/index.d.ts',
      'server/testing/index.d.ts',
    ])
    cpSync(join(dist, 'types'), join(dist, 'types-cjs'), { recursive: true })
    writeFileSync(join(dist, 'types-cjs/package.json'), '{ "type": "commonjs" }\n')
  }
  return [...new Set(inputs)]
}

/** Removes the declarations that no entry leads to. */
function keepReachable(folder, entries) {
  const kept = new Set()
  const walk = (file) => {
    if (kept.has(file)) return
    kept.add(file)
    const text = readFileSync(join(folder, file), 'utf8')
    for (const [, path] of text.matchAll(/(?:from |import\(|import )["'](\.[^"']+)\.js["']/g))
      walk(join(dirname(file), `${path}.d.ts`))
  }
  entries.forEach(walk)
  for (const file of readdirSync(folder, { recursive: true }))
    if (file.endsWith('.ts') && !kept.has(file)) rmSync(join(folder, file))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const quick = process.argv.includes('--quick')
  await build('dist', { quick })
  if (!quick) for (const part of PARTS) console.log(sizeOf(join('dist', part)))
}
