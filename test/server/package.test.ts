/** The package as npm packs it, unpacked in a folder of its own and used from there. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import { connect } from '../../lib/connect.js'
import { open } from '../../lib/app/open.js'
import { createTestApp } from '../../server/testing/index.js'
import { walk } from '../bundle/harness.js'

const execute = promisify(execFile)
const LIMIT = 4 * 1_048_576
const { scripts, dependencies, optionalDependencies } = JSON.parse(
  readFileSync('package.json', 'utf8'),
) as Record<'scripts' | 'dependencies' | 'optionalDependencies', Record<string, string>>

let folder: string
let packed: string
/** A package's folder in node_modules; the names of its files. */
let installed: string
let files: string[]

/**
 * Runs a program of node in the folder, a suite too; what it prints on both streams, with its
 * status.
 */
async function node(...words: string[]): Promise<{ status: number; said: string }> {
  try {
    const { stdout, stderr } = await execute(process.execPath, words, {
      cwd: folder,
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    })
    return { status: 0, said: stdout + stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { status: code, said: stdout + stderr }
  }
}

/**
 * Those that a shop would have beside it, and the types of Node, as they are in this repository.
 */
function linkPackages(names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(join(folder, 'node_modules', dirname(name)), { recursive: true })
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name))
  }
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'qm-package-'))
  const source = join(folder, 'source')
  // Named at run time, so that it is not bundled with the suite.
  const { build } = (await import(pathToFileURL(resolve('build.mjs')).href)) as {
    build(dist: string): Promise<void>
  }
  await build(join(source, 'dist'))
  for (const name of ['package.json', 'README.md', 'LICENSE'])
    copyFileSync(name, join(source, name))
  const { stdout } = await execute(
    'npm',
    ['pack', '--ignore-scripts', '--json', '--pack-destination', folder],
    { cwd: source },
  )
  packed = join(folder, Object.values(JSON.parse(stdout) as { filename: string }[])[0]!.filename)
  installed = join(folder, 'node_modules', 'quartermaster')
  mkdirSync(installed, { recursive: true })
  await execute('tar', ['xzf', packed, '-C', installed, '--strip-components=1'])
  rmSync(source, { recursive: true })
  files = (readdirSync(installed, { recursive: true }) as string[]).filter((name) =>
    statSync(join(installed, name)).isFile(),
  )
  const sqlite = ['better-sqlite3-12', 'better-sqlite3'].filter((name) =>
    readdirSync('node_modules').includes(name),
  )
  linkPackages([
    ...new Set([
      ...Object.keys({ ...dependencies, ...optionalDependencies }).filter(
        (name) => name !== 'better-sqlite3',
      ),
      ...sqlite,
      '@types/node',
    ]),
  ])
  for (const name of ['module.mts', 'common.cts', 'session.mts'])
    cpSync(join('test', 'server', 'package', `${name}.txt`), join(folder, name))
})
after(() => rmSync(folder, { recursive: true, force: true }))

describe('the package', () => {
  test('is built with its types before it is packed, without source maps and in less than 4 MB', () => {
    assert.equal(scripts['prepack'], 'node build.mjs')
    assert.ok(statSync(packed).size < LIMIT, `${statSync(packed).size} bytes`)
    assert.deepEqual(
      files.filter((name) => name.endsWith('.map')),
      [],
    )
    assert.deepEqual(
      files.filter(
        (name) =>
          /\.m?js$/.test(name) &&
          readFileSync(join(installed, name), 'utf8').includes('sourceMappingURL='),
      ),
      [],
    )
    for (const name of [
      'dist/lib/worker.mjs',
      'dist/lib/duckdb.mjs',
      'dist/docs/docs.css',
      'dist/quartermaster/console/index.html',
      'dist/data/guide/guide.md',
      'dist/types/lib/index.d.ts',
      'dist/quartermaster/THIRD-PARTY-NOTICES',
    ])
      assert.ok(files.includes(name), name)
    // What the library has already, and what the folder of the command has to run by itself: npm
    // brings it.
    assert.deepEqual(
      files.filter((name) =>
        /^dist\/quartermaster\/(?!console\/)(.*\/|package\.json|sbom|worker|duckdb)/.test(name),
      ),
      [],
    )
  })

  test('has a lockfile from which npm starts no compiler for better-sqlite3 13, whose binaries lie in it', () => {
    // npm leaves this out whenever it writes the file, and then asks for Python: put it back after
    // `npm install`.
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
      packages: Record<string, { version: string; gypfile?: boolean }>
    }
    const { version, gypfile } = packages['node_modules/better-sqlite3']!
    assert.deepEqual([version, gypfile], ['13.2.0', false])
  })

  for (const [module, resolution] of [
    ['node16', 'node16'],
    ['nodenext', 'nodenext'],
    ['preserve', 'bundler'],
  ] as const) {
    test(
      `has types that compile under ${resolution} resolution, for import and require, ` +
        'declarations included',
      async () => {
        const tsc = resolve('node_modules', 'typescript', 'bin', 'tsc')
        const { status, said } = await node(
          tsc,
          '--noEmit',
          '--strict',
          '--skipLibCheck',
          'false',
          '--target',
          'es2023',
          '--types',
          'node',
          '--module',
          module,
          '--moduleResolution',
          resolution,
          'module.mts',
          'common.cts',
          'session.mts',
        )
        assert.equal(said, '')
        assert.equal(status, 0)
      },
    )
  }

  const ENTRIES = {
    quartermaster: 'open',
    'quartermaster/client': 'connect',
    'quartermaster/server': 'listen',
    'quartermaster/testing': 'createTestApp',
  }
  test('gives the same names to import and to require, at each entry', async () => {
    for (const [entry, name] of Object.entries(ENTRIES)) {
      const { said } = await node(
        '-e',
        `import('${entry}').then((a) => { const b = require('${entry}'); ` +
          `console.log(typeof a.${name}, Object.keys(a).sort().join() === ` +
          'Object.keys(b).sort().join()) })',
      )
      assert.equal(said, 'function true\n', entry)
    }
  })

  test('has a command that works with the thread and the process of the library', () =>
    walk(
      'demo',
      folder,
      [process.execPath, join(installed, 'dist/quartermaster/quartermaster.mjs')],
      {
        PATH: process.env['PATH']!,
      },
    ))

  test('works where all of it is required: a shop, its server and a test app share what they know', async () => {
    writeFileSync(
      join(folder, 'shop.cjs'),
      `
      const { open, connect } = require('quartermaster')
      const { createServer } = require('quartermaster/server')
      const { createTestApp } = require('quartermaster/testing')
      ;(async () => {
        const app = await open({ dir: './var-cjs' })
        const { name: subscriber } = await app.operator.subscribers.create({ name: 'A', email: 'a@shop.example' })
        const { key } = await app.operator.keys.create({ subscriber, name: 'k', tier: 'standard', ips: ['127.0.0.1'] })
        const server = createServer(app)
        const fetch = (request) => server.fetch(request, { address: '127.0.0.1' })
        const shop = connect('http://shop.test', key, { fetch })
        console.log(typeof await shop.ping())
        await app.close()
        const t = await createTestApp()
        await t.configure({ distributors: { 'RSR Group': { distid: 'RSR' } } })
        await t.stock([{ distid: 'RSR', stockid: 'A' }])
        console.log((await t.remote.products.search({})).total)
        await t.close()
      })()`,
    )
    const { said } = await node('shop.cjs')
    assert.match(said, /^object\n1\n$/)
  })
})

describe('the page about testing', () => {
  test('has a test that runs as it stands: it orders, and the order ships', async () => {
    const page = readFileSync(join('data', 'guide', 'testing.md'), 'utf8')
    const text = page
      .split('```')
      .find((block) => block.startsWith('js\n// order.test.mjs'))!
      .slice('js\n'.length)
    writeFileSync(join(folder, 'order.test.mjs'), text)
    const { status, said } = await node('--test', '--test-reporter=tap', 'order.test.mjs')
    assert.match(said, /^# pass 1$/m)
    assert.equal(status, 0, said)
  })
})

describe('the client in a bundle', () => {
  for (const platform of ['browser', 'neutral'] as const) {
    test(
      `for ${platform === 'neutral' ? 'an edge runtime' : 'a browser'} needs nothing of ` +
        'Node, and asks a server',
      async () => {
        const esbuild = await import('esbuild')
        await using t = await createTestApp()
        await t.configure({ distributors: { 'RSR Group': { distid: 'RSR' } } })
        await t.stock([{ distid: 'RSR', stockid: 'A-1', name: 'Bipod' }])
        const { outputFiles, metafile } = await esbuild.build({
          stdin: {
            contents: "import * as client from 'quartermaster/client'; globalThis.client = client",
            resolveDir: folder,
          },
          bundle: true,
          write: false,
          metafile: true,
          platform,
          format: 'iife',
          conditions: ['import'],
          logLevel: 'silent',
        })
        assert.deepEqual(
          Object.values(metafile.outputs).flatMap(({ imports }) => imports),
          [],
        )
        const context = createContext({
          URL,
          URLSearchParams,
          Headers,
          Request,
          Response,
          AbortController,
          AbortSignal,
          TextDecoder,
          TextEncoder,
          WritableStream,
          ReadableStream,
          crypto,
          setTimeout,
          clearTimeout,
        })
        runInContext(outputFiles[0]!.text, context)
        const client = (context as { client: typeof import('../../lib/connect.js') }).client
        const shop = client.connect('http://shop.test', t.key, {
          fetch: (request) => t.server.fetch(request, { address: '127.0.0.1' }),
        })
        assert.equal((await shop.products.search({ q: 'bipod' })).total, 1)
        await assert.rejects(client.downloadCatalog(shop, '/tmp/catalog.parquet'), {
          name: 'TypeError',
          message: 'only Node writes a file by its path: give a WritableStream instead',
        })
      },
    )
  }
})

describe('an option that there is not', () => {
  test('is refused by open, with the name that was meant', async () => {
    await assert.rejects(
      open({ dir: join(folder, 'never'), publicURL: 'https://shop.example' } as never),
      { name: 'TypeError', message: 'open has no option "publicURL"; did you mean "publicUrl"?' },
    )
    await assert.rejects(open({ dir: join(folder, 'never'), quite_another_thing: 1 } as never), {
      name: 'TypeError',
      message: 'open has no option "quite_another_thing"',
    })
    assert.deepEqual(
      readdirSync(folder).filter((name) => name === 'never'),
      [],
    )
  })

  test('is refused by connect, with the name that was meant', () => {
    assert.throws(() => connect('http://shop.test', 'key', { timeOut: 5 } as never), {
      name: 'TypeError',
      message: 'connect has no option "timeOut"; did you mean "timeout"?',
    })
    assert.ok(connect('http://shop.test', 'key', { timeout: 5 }))
  })
})
