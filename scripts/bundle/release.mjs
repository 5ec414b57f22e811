/**
 * `npm run build:release`: for Linux on x64 and on arm64, an archive with Node in it, which runs
 * where nothing is installed.
 *
 *   dist/release/quartermaster-VERSION-linux-ARCH.tar.xz, and SHA256SUMS
 *
 * `--arch arm64` makes one of them; amd64, as containers call it, is x64. `--folder DIR` leaves the
 * folder there in place of an archive. `--out DIR` is another place for the archives, `--level 0`
 * packs them faster and larger. Node and the natives come from npm, and each archive has to
 * be the one whose digest stands here or in package-lock.json. Nothing else is fetched. Exit code 3:
 * npm's registry cannot be reached.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundleProgram, completeProgram } from '../../build.mjs'
import { installed } from './natives.mjs'
import { sizeOf } from './sizes.mjs'

/** What runs a release, and the digest of the package that has it. */
const NODE = '24.21.0'
const NODES = {
  x64: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  arm64:
    'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
}
const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|network/
const EXIT_UNREACHABLE = 3
/** Of every file in an archive, so that the same sources give the same bytes. */
const TIME = `@${process.env['SOURCE_DATE_EPOCH'] ?? 1_767_225_600}`

const { values } = parseArgs({
  options: {
    arch: { type: 'string' },
    folder: { type: 'string' },
    out: { type: 'string', default: join('dist', 'release') },
    level: { type: 'string', default: '6' },
  },
})
const { out } = values
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const { packages: locked } = JSON.parse(readFileSync('package-lock.json', 'utf8'))

const wanted = values.arch?.replace(/^amd64$/, 'x64')
const archs = Object.keys(NODES).filter((arch) => wanted === undefined || arch === wanted)
if (archs.length === 0 || (values.folder !== undefined && archs.length > 1)) {
  console.error('--arch is x64 (or amd64) or arm64; --folder needs it')
  process.exit(2)
}

const scratch = mkdtempSync(join(tmpdir(), 'qm-release-'))
try {
  for (const arch of archs) {
    const name = `quartermaster-${version}-linux-${arch}`
    const folder = join(scratch, name)
    await makeFolder(folder, arch)
    console.log(sizeOf(values.folder === undefined ? pack(folder) : move(folder, values.folder)))
  }
  if (values.folder === undefined) writeSums()
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

async function makeFolder(folder, arch) {
  const node = fetch(`node-linux-${arch}`, NODE, NODES[arch])
  const inputs = await bundleProgram(folder)
  const bindings = `@duckdb/node-bindings-linux-${arch}`
  const fetched = {
    'better-sqlite3': fetchLocked('better-sqlite3'),
    [bindings]: fetchLocked(bindings),
  }
  // What Node 24 needs: version 12 of better-sqlite3, and what that one stands on, are for Node 20.
  const left = ['better-sqlite3-12', 'bindings', 'file-uri-to-path']
  completeProgram(folder, inputs, {
    platform: `linux-${arch}`,
    find: (name) => (left.includes(name) ? undefined : (fetched[name] ?? installed(name))),
    runtime: { name: 'node', version: NODE, license: readFileSync(join(node, 'LICENSE'), 'utf8') },
  })
  copyFileSync(join(node, 'bin', 'node'), join(folder, 'node'))
  chmodSync(join(folder, 'node'), 0o755)
}

function fetchLocked(name) {
  const { version: which, integrity } = locked[`node_modules/${name}`]
  return fetch(name, which, integrity)
}

/** Gets a package from npm, holds it against its digest, and unpacks it; tells where. */
function fetch(name, which, integrity) {
  const folder = join(scratch, 'node_modules', name)
  mkdirSync(folder, { recursive: true })
  let packed
  try {
    const words = ['pack', `${name}@${which}`, '--json', '--ignore-scripts', '--fetch-retries=1']
    const stdio = ['ignore', 'pipe', 'pipe']
    const told = execFileSync('npm', [...words, '--pack-destination', scratch], { stdio })
    packed = join(scratch, Object.values(JSON.parse(told))[0].filename)
  } catch (error) {
    if (!UNREACHABLE.test(String(error.stderr))) throw error
    console.error(`${name} ${which} cannot be had: npm's registry cannot be reached`)
    process.exit(EXIT_UNREACHABLE)
  }
  const digest = `sha512-${createHash('sha512').update(readFileSync(packed)).digest('base64')}`
  if (digest !== integrity)
    throw new Error(`${name} ${which} is not what it was: ${digest} in place of ${integrity}`)
  execFileSync('tar', ['xzf', packed, '-C', folder, '--strip-components=1', '--no-same-owner'])
  return folder
}

function pack(folder) {
  const archive = join(out, `${basename(folder)}.tar.xz`)
  mkdirSync(out, { recursive: true })
  const same = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', `--mtime=${TIME}`]
  execFileSync(
    'tar',
    [...same, '--mode=u+rwX,go+rX,go-w', '-cJf', archive, '-C', scratch, basename(folder)],
    // Two threads, whatever the machine has: their number is seen in the bytes.
    { env: { ...process.env, XZ_OPT: `-${values.level} -T2` } },
  )
  return archive
}

function move(folder, to) {
  mkdirSync(dirname(to), { recursive: true })
  try {
    renameSync(folder, to)
  } catch {
    // Another file system.
    cpSync(folder, to, { recursive: true })
  }
  return to
}

function writeSums() {
  const lines = archs.map((arch) => {
    const name = `quartermaster-${version}-linux-${arch}.tar.xz`
    return `${createHash('sha256')
      .update(readFileSync(join(out, name)))
      .digest('hex')}  ${name}\n`
  })
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''))
}
