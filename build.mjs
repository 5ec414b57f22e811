/**
 * Builds the package. `--quick` leaves out the type declarations.
 *
 *   dist/lib          the library: ESM entries over shared chunks, index.cjs, connect.cjs, worker.mjs, duckdb.mjs
 *   dist/types        declarations
 *   dist/docs         what the documentation page is made of, Swagger UI among it
 *   dist/quartermaster  the launcher in one bundle with what it seldom needs beside it, its worker.mjs and duckdb.mjs; only natives stay outside
 */
import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as esbuild from 'esbuild'

const NATIVE = ['better-sqlite3', '@duckdb/node-api']
const common = { bundle: true, platform: 'node', target: 'node20.19', sourcemap: true, legalComments: 'none', logLevel: 'warning' }

/** ESM entries that share their chunks, with the worker beside them. Packages stay imports. `plugins` are of tests alone. */
export async function bundleTree(outdir, entryPoints, plugins = []) {
  await esbuild.build({ ...common, plugins, entryPoints, outdir, format: 'esm', splitting: true, packages: 'external', outExtension: { '.js': '.mjs' } })
  await bundleWorker(outdir, plugins)
}

/** The same for `require`, each entry in one file. */
export async function bundleCommonJs(outdir, entryPoints) {
  await esbuild.build({ ...common, entryPoints, outdir, format: 'cjs', packages: 'external', outExtension: { '.js': '.cjs' }, define: { 'import.meta.url': '__importMetaUrl' }, banner: { js: "const __importMetaUrl = require('node:url').pathToFileURL(__filename).href;" } })
}

/** Every file of its own, as it lies in the tree. */
export async function transpileTree(outdir) {
  const entryPoints = ['lib', 'server', 'scripts', 'test'].flatMap((folder) => readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.ts') && !file.includes('node_modules')).map((file) => join(folder, file)))
  await esbuild.build({ ...common, bundle: false, entryPoints, outdir, outbase: '.', format: 'esm' })
  await bundleWorker(join(outdir, 'lib'))
}

/** The worker, and the process that has DuckDB, have no shared chunks: their files alone are enough wherever they are copied. */
async function bundleWorker(outdir, plugins = []) {
  await esbuild.build({ ...common, plugins, entryPoints: { worker: 'lib/worker.ts', duckdb: 'lib/duckdb.ts' }, outdir, format: 'esm', external: NATIVE, outExtension: { '.js': '.mjs' }, banner: REQUIRE })
}

/** The command in one file, which starts in half the time that its packages' own files would take; what is imported late lies beside it. */
export async function bundleLauncher(outdir, plugins = []) {
  await esbuild.build({ ...common, plugins, entryPoints: { quartermaster: 'server/main.ts' }, outdir, format: 'esm', splitting: true, external: [...NATIVE, 'listhen'], outExtension: { '.js': '.mjs' }, banner: { js: `#!/usr/bin/env node\n${REQUIRE.js}` } })
}

/** Bundled CommonJS packages call require. */
const REQUIRE = { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" }

/** What the documentation page takes of Swagger UI, and what its licence asks to go along. */
const SWAGGER_UI = ['swagger-ui-bundle.js', 'swagger-ui.css', 'swagger-ui-bundle.js.LICENSE.txt', 'LICENSE', 'NOTICE']

async function build() {
  rmSync('dist', { recursive: true, force: true })
  await bundleTree('dist/lib', { index: 'lib/index.ts', connect: 'lib/connect.ts', server: 'server/index.ts', testing: 'server/testing.ts' })
  await bundleCommonJs('dist/lib', { index: 'lib/index.ts', connect: 'lib/connect.ts' })
  await bundleLauncher('dist/quartermaster')
  await bundleWorker('dist/quartermaster')
  cpSync('data', 'dist/data', { recursive: true })
  cpSync('server/docs/assets', 'dist/docs', { recursive: true })
  for (const file of SWAGGER_UI) cpSync(join('node_modules/swagger-ui-dist', file), join('dist/docs/swagger-ui', file))
  if (!process.argv.includes('--quick')) {
    const tsc = join('node_modules', 'typescript', 'bin', 'tsc')
    execFileSync(process.execPath, [tsc, '-p', '.', '--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--rootDir', '.', '--outDir', 'dist/types'], { stdio: 'inherit' })
    for (const folder of ['test', 'scripts']) rmSync(join('dist/types', folder), { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build()
