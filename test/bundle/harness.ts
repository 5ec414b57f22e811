/** Built folders, and what a suite sees of one that runs in an empty directory. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { parquetMetadata } from 'hyparquet'

const execute = promisify(execFile)

interface Build {
  bundleProgram(folder: string): Promise<string[]>
  completeProgram(folder: string, inputs: readonly string[]): void
}

/** Makes what `npm run build` makes of dist/quartermaster. */
export async function buildProgram(folder: string): Promise<void> {
  // Named at run time, so that it is not bundled with the suite.
  const build = (await import(pathToFileURL(resolve('build.mjs')).href)) as Build
  build.completeProgram(folder, await build.bundleProgram(folder))
}

/** In a network of its own that has this machine alone. */
const OFFLINE = ['unshare', '-rn', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']

/** The words before a command that take its network away; none where the machine forbids it. */
function offline(): readonly string[] {
  const [program, ...words] = OFFLINE
  return spawnSync(program!, [...words, 'true']).status === 0 ? OFFLINE : []
}

interface Walk {
  version: string
  health: number
  guide: [number, boolean]
  asset: number
  feed: [string, number]
  /** Of the demo's shop. */
  products?: number
  code: number
  log: string
}

/**
 * Starts the program in an empty directory, without a network where the machine permits it, and
 * takes test/bundle/walk.mjs through it.
 */
export async function walk(
  mode: 'serve' | 'demo',
  scratch: string,
  program: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const cwd = mkdtempSync(join(scratch, 'empty-'))
  const script = resolve('test', 'bundle', 'walk.mjs')
  const [first, ...words] = [...offline(), process.execPath, script, mode]
  const given = [JSON.stringify(program), JSON.stringify(env)]
  const { stdout } = await execute(first!, [...words, ...given], { cwd })
  const seen = JSON.parse(stdout) as Walk
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  assert.match(seen.version, new RegExp(`\\b${version.replaceAll('.', '\\.')}$`))
  assert.deepEqual([seen.health, seen.guide, seen.asset], [200, [200, true], 200])
  assert.deepEqual(seen.feed, ['taken', 5])
  assert.equal(seen.code, 0)
  assert.equal(seen.log, '')
  if (mode === 'serve') return
  assert.ok(seen.products! > 10_000, `${seen.products} products`)
  const bytes = new Uint8Array(readFileSync(join(cwd, 'catalog.parquet')))
  const { num_rows: rows } = parquetMetadata(bytes.buffer)
  assert.ok(rows > 10_000n, `${rows} rows`)
}

/** The machine that an ELF file is for; null for a file of another kind. */
export function machineOf(file: string): 'x64' | 'arm64' | `machine ${number}` | null {
  const head = Buffer.alloc(20)
  const handle = openSync(file, 'r')
  readSync(handle, head, 0, head.length, 0)
  closeSync(handle)
  if (head.toString('latin1', 0, 4) !== '\x7fELF') return null
  const machine = head.readUInt16LE(18)
  return machine === 62 ? 'x64' : machine === 183 ? 'arm64' : `machine ${machine}`
}

/** The machines that the ELF files of a folder are for, by their paths in it. */
export function machinesIn(folder: string): Record<string, string> {
  return Object.fromEntries(
    (readdirSync(folder, { recursive: true, withFileTypes: true }) as never[])
      .map((entry: { parentPath: string; name: string; isFile(): boolean }) => entry)
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort()
      .flatMap((file) => {
        const machine = machineOf(file)
        return machine === null ? [] : [[file.slice(folder.length + 1), machine]]
      }),
  )
}

interface Bill {
  bomFormat: string
  metadata: { component: { name: string; version: string } }
  components: { type: string; group?: string; name: string; version: string }[]
}

/**
 * Holds a folder against what it says of itself: every package in it has its license in the notices
 * and its line in the bill, and nothing has that is not in it.
 */
export function assertToldOf(folder: string): void {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  const bill = JSON.parse(read('sbom.cdx.json')) as Bill
  const own = JSON.parse(read('package.json')) as { name: string; version: string }
  const { name, version } = bill.metadata.component
  assert.deepEqual({ name, version }, { name: own.name, version: own.version })
  const told = bill.components.map((one) =>
    one.type === 'platform'
      ? `Node.js ${one.version}`
      : `${one.group === undefined ? '' : `${one.group}/`}${one.name} ${one.version}`,
  )
  assert.deepEqual(
    [...read('THIRD-PARTY-NOTICES').matchAll(/^-{80}\n\n(.+)$/gm)].map((match) => match[1]!),
    told,
  )
  assert.ok(told.some((line) => line.startsWith('zod ')) && told.length > 50, told.join())
  for (const file of readdirSync(join(folder, 'node_modules'), { recursive: true }) as string[]) {
    if (!/^(@[^/]+\/)?[^/]+\/package\.json$/.test(file)) continue
    const native = JSON.parse(read(join('node_modules', file))) as typeof own
    assert.ok(told.includes(`${native.name} ${native.version}`), file)
  }
}

const CONFORMANCE = resolve('scripts', 'conformance')
/** Why a bill of materials cannot be validated, if it cannot. */
export const noValidator = existsSync(join(CONFORMANCE, 'node_modules', '@cyclonedx'))
  ? false
  : 'the validator is not installed: npm ci in scripts/conformance'

interface CycloneDX {
  Validation: {
    JsonStrictValidator: new (version: string) => { validate(text: string): Promise<unknown> }
  }
}

/** Holds a folder's bill of materials against the schema, by the validator of those who made it. */
export async function assertValidBill(folder: string): Promise<void> {
  const load = createRequire(pathToFileURL(join(CONFORMANCE, 'package.json')))
  const { Validation } = load('@cyclonedx/cyclonedx-library') as CycloneDX
  const validator = new Validation.JsonStrictValidator('1.6')
  const bill = readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')
  assert.equal(await validator.validate(bill), null)
  // Silence means something.
  assert.notEqual(await validator.validate(bill.replace('"purl"', '"purl_"')), null)
}
