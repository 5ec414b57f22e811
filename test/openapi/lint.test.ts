/**
 * The document under two linters that are not ours. They have a lockfile of their own: `npm ci` in
 * scripts/conformance.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createTestApp } from '../../server/testing/index.js'

const LINT = join('scripts', 'conformance', 'lint.mjs')
const skip = existsSync(join('scripts', 'conformance', 'node_modules'))
  ? false
  : 'the linters are not installed: npm ci in scripts/conformance'

describe('the OpenAPI document', () => {
  test('gives Spectral and Redocly nothing to say, not even a warning', { skip }, async () => {
    await using t = await createTestApp()
    const dir = mkdtempSync(join(tmpdir(), 'qm-lint-'))
    try {
      const [ours, faulty] = [join(dir, 'openapi.json'), join(dir, 'faulty.json')]
      writeFileSync(ours, await (await t.request('/v1/openapi.json', { key: null })).text())
      // One that has something wrong for each of them, so that silence means something.
      const content = { 'application/json': { schema: { type: 'integer' }, example: 'seven' } }
      writeFileSync(
        faulty,
        JSON.stringify({
          openapi: '3.0.3',
          info: { title: 'Faulty', version: '1' },
          paths: { '/a': { get: { responses: { 200: { description: 'ok', content } } } } },
        }),
      )
      const { stdout, stderr } = spawnSync(process.execPath, [LINT, '--quick', ours, faulty], {
        encoding: 'utf8',
      })
      assert.equal(stderr, '')
      const found = JSON.parse(stdout) as { file: string; linter: string; rule: string }[]
      assert.deepEqual(
        found.filter(({ file }) => file === ours),
        [],
      )
      const rules = found.map(({ linter, rule }) => `${linter} ${rule}`)
      for (const expected of [
        'spectral operation-operationId',
        'spectral info-description',
        'redocly security-defined',
        'redocly no-invalid-media-type-examples',
      ])
        assert.ok(rules.includes(expected), expected)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })
})
