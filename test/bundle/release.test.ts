/**
 * The archives of `npm run build:release`, made from what npm has, and the one for this machine
 * taken to a place where there is no Node. One of the long suites.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import {
  assertToldOf,
  assertValidBill,
  buildProgram,
  machinesIn,
  noValidator,
  walk,
} from './harness.js'

const RELEASE = join('scripts', 'bundle', 'release.mjs')
const UNREACHABLE = 3
const ARCHS = ['x64', 'arm64'] as const

let scratch: string
/** Why there are no archives, if there are none. */
let missing: string | undefined
const archives = () => readdirSync(join(scratch, 'out')).filter((name) => name.endsWith('.tar.xz'))
const folderOf = (arch: string) =>
  join(
    scratch,
    archives()
      .find((name) => name.includes(arch))!
      .replace(/\.tar\.xz$/, ''),
  )
const isMissing = (t: TestContext) => {
  if (missing !== undefined) t.skip(missing)
  return missing !== undefined
}

before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-release-test-'))
  if (process.platform !== 'linux') {
    missing = 'releases are made on Linux'
    return
  }
  const { status, stderr } = spawnSync(
    process.execPath,
    [RELEASE, '--out', join(scratch, 'out'), '--level', '0'],
    { encoding: 'utf8' },
  )
  if (status === UNREACHABLE) missing = stderr.trim()
  else assert.equal(status, 0, stderr)
  if (missing !== undefined) return
  for (const name of archives())
    execFileSync('tar', ['xJf', join(scratch, 'out', name), '-C', scratch])
})
after(() => rmSync(scratch, { recursive: true, force: true }))

describe('the folder that the build makes', () => {
  test('serves the demo with Node alone, takes in a feed and exports Parquet', async () => {
    const folder = join(scratch, 'quartermaster')
    await buildProgram(folder)
    await walk('demo', scratch, [process.execPath, join(folder, 'quartermaster.mjs')], {
      PATH: '/nowhere',
    })
  })
})

describe('a release', () => {
  test('serves the demo where there is no Node, takes in a feed and exports Parquet', async (t) => {
    if (isMissing(t)) return
    if (process.arch !== 'x64' && process.arch !== 'arm64') return t.skip('none for this machine')
    // All that the launcher itself needs of the machine.
    const path = join(scratch, 'path')
    mkdirSync(path)
    for (const name of ['dirname', 'readlink'])
      symlinkSync(join('/usr/bin', name), join(path, name))
    // As it would be put on the path.
    const launcher = join(scratch, 'linked')
    symlinkSync(join(folderOf(process.arch), 'quartermaster'), launcher)
    await walk('demo', scratch, [launcher], { PATH: path })
  })

  for (const arch of ARCHS)
    test(`for ${arch} has binaries for that machine alone, and tells each package in it`, async (t) => {
      if (isMissing(t)) return
      const folder = folderOf(arch)
      assert.deepEqual(machinesIn(folder), {
        node: arch,
        [`node_modules/@duckdb/node-bindings-linux-${arch}/duckdb.node`]: arch,
        [`node_modules/@duckdb/node-bindings-linux-${arch}/libduckdb.so`]: arch,
        [`node_modules/better-sqlite3/prebuilds/linux-${arch}.node`]: arch,
        [`node_modules/better-sqlite3/prebuilds/linuxmusl-${arch}.node`]: arch,
      })
      assertToldOf(folder)
      if (noValidator === false) await assertValidBill(folder)
      assert.match(readFileSync(join(folder, 'THIRD-PARTY-NOTICES'), 'utf8'), /^Node\.js 24\./m)
    })

  test('is told by its sum', (t) => {
    if (isMissing(t)) return
    const said = execFileSync('sha256sum', ['--check', 'SHA256SUMS'], {
      cwd: join(scratch, 'out'),
      encoding: 'utf8',
    })
    assert.equal(
      said,
      archives()
        .map((name) => `${name}: OK\n`)
        .toSorted()
        .toReversed()
        .join(''),
    )
  })

  test('differs from the other in nothing but its binaries and what is told of them', (t) => {
    if (isMissing(t)) return
    const { stdout } = spawnSync('diff', ['-rq', ...ARCHS.map(folderOf)], { encoding: 'utf8' })
    const differing = [...stdout.matchAll(/^Files \S+?-linux-x64\/(\S+) /gm)].map(
      ([, file]) => file,
    )
    assert.deepEqual(differing.toSorted(), ['THIRD-PARTY-NOTICES', 'node', 'sbom.cdx.json'])
  })
})
