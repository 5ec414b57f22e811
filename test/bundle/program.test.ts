/** The folder that `npm run build` makes of the command: it needs nothing but Node. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import {
  assertToldOf,
  assertValidBill,
  buildProgram,
  machinesIn,
  noValidator,
  walk,
} from './harness.js'

let scratch: string
let folder: string
before(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-program-'))
  folder = join(scratch, 'quartermaster')
  await buildProgram(folder)
})
after(() => rmSync(scratch, { recursive: true, force: true }))

describe('the built folder', () => {
  test('serves in an empty directory without a network, with its documentation, and takes in a feed', () =>
    walk('serve', scratch, [process.execPath, join(folder, 'quartermaster.mjs')], {
      PATH: '/nowhere',
    }))

  test('is started by `quartermaster` with the Node of the path, and has large pages unless told otherwise', () => {
    const path = join(scratch, 'path')
    mkdirSync(path)
    const node = join(path, 'node')
    writeFileSync(node, '#!/bin/sh\necho "$GLIBC_TUNABLES" "$(basename "$1")" "$2"\n', {
      mode: 0o755,
    })
    const launcher = join(scratch, 'linked')
    symlinkSync(join(folder, 'quartermaster'), launcher)
    const run = (env: Record<string, string>) =>
      execFileSync(launcher, ['--version'], {
        env: { PATH: `${path}:/usr/bin:/bin`, ...env },
        encoding: 'utf8',
      })
    assert.equal(run({}), 'glibc.malloc.hugetlb=1 quartermaster.mjs --version\n')
    const own = 'glibc.malloc.arena_max=2'
    assert.equal(run({ GLIBC_TUNABLES: own }), `${own} quartermaster.mjs --version\n`)
  })

  test('has native parts for this machine alone, and none of their sources', () => {
    const machines = machinesIn(folder)
    assert.deepEqual([...new Set(Object.values(machines))], [process.arch])
    const names = Object.keys(machines).map((file) => file.replace(/^.*\//, ''))
    assert.ok(names.includes('duckdb.node') && names.some((name) => /sqlite3|linux/.test(name)))
    const files = readdirSync(folder, { recursive: true }) as string[]
    assert.deepEqual(
      files.filter((file) => /\.(c|cc|cpp|h|hpp|map|ts)$/.test(file)),
      [],
    )
  })

  test('tells each package in it, with its license', () => assertToldOf(folder))

  test('has a bill of materials that fits the schema of CycloneDX', { skip: noValidator }, () =>
    assertValidBill(folder),
  )
})
