/**
 * A client that others generate from the served document: its types compile, and what they promise
 * is what comes.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { TOOLS, skipped, thirdPartyShop } from './third-party-shop.js'

const STRICT = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noImplicitReturns: true,
  noFallthroughCasesInSwitch: true,
}
/** Declarations of libraries are not checked; the client's own types are no such file. */
const OPTIONS = {
  ...STRICT,
  target: 'es2022',
  lib: ['es2022', 'dom'],
  module: 'nodenext',
  moduleResolution: 'nodenext',
  skipLibCheck: true,
  types: [],
  outDir: 'out',
}

function run(...words: string[]): Promise<{ status: number; out: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, words, (_error, out, err) =>
      resolve({ status: child.exitCode ?? -1, out: out + err }),
    )
  })
}

test(
  'openapi-typescript and openapi-fetch make a typed client of the document, and a shop runs on it',
  { skip: skipped },
  async () => {
    const shop = await thirdPartyShop()
    const dir = mkdtempSync(join(tmpdir(), 'qm-client-'))
    try {
      const { default: generate, astToString } = (await import(
        pathToFileURL(join(TOOLS, 'openapi-typescript/dist/index.mjs')).href
      )) as { default(document: string): Promise<unknown>; astToString(ast: unknown): string }
      const served = await (await fetch(`${shop.url}/v1/openapi.json`)).text()
      writeFileSync(join(dir, 'api.ts'), astToString(await generate(served)))
      cpSync('scripts/conformance/scenario.ts.txt', join(dir, 'scenario.ts'))
      writeFileSync(join(dir, 'package.json'), '{"type":"module"}')
      writeFileSync(
        join(dir, 'tsconfig.json'),
        JSON.stringify({ compilerOptions: OPTIONS, files: ['scenario.ts'] }),
      )
      symlinkSync(TOOLS, join(dir, 'node_modules'))
      const compiled = await run(join(TOOLS, 'typescript/bin/tsc'), '-p', dir)
      assert.deepEqual(compiled, { status: 0, out: '' })
      const { status, out } = await run(
        join(dir, 'out', 'scenario.js'),
        shop.url,
        shop.key,
        shop.license,
      )
      assert.equal(status, 0, out)
      assert.deepEqual(JSON.parse(out), [
        'search RSR 25',
        'quote 60',
        'check BLOCK',
        'place Submitted simulator',
        'history',
        'fraud',
        'config',
        '409 duplicate_order 1',
        '412 precondition_failed',
        '400 zip',
        '404 not_found',
        '401 missing_api_key',
      ])
    } finally {
      rmSync(dir, { recursive: true, force: true })
      await shop.stop()
    }
  },
)
