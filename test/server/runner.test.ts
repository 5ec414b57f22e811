/** What `npm test` tells of a file that fails outside any test. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { test } from 'node:test'

for (const [name, body, cause] of [
  [
    'a rejection that nobody handles',
    "setTimeout(() => void Promise.reject(new Error('it is closed')), 20)",
    /late\.mjs: a promise was rejected and nobody handled it\nError: it is closed\n +at /,
  ],
  [
    'an exception after the end of the test',
    "setTimeout(() => { throw new Error('it is late') }, 20)",
    /late\.mjs: an exception was thrown outside any test\nError: it is late\n +at /,
  ],
  [
    'a process that ends itself',
    'setTimeout(() => process.exit(70), 20)',
    /late\.mjs: the process ended with status 70/,
  ],
] as const) {
  test(`${name} is noted with its cause, which the runner leaves out`, () => {
    const dir = mkdtempSync(join(tmpdir(), 'qm-runner-'))
    try {
      const [file, causes] = [join(dir, 'late.mjs'), join(dir, 'causes.txt')]
      writeFileSync(file, `import { test } from 'node:test'\ntest('passes', () => { ${body} })\n`)
      const { NODE_TEST_CONTEXT: _context, ...env } = process.env
      const preload = pathToFileURL(resolve('scripts', 'causes.mjs')).href
      const { status } = spawnSync(
        process.execPath,
        [`--import=${preload}`, '--test', '--test-reporter=spec', file],
        { env: { ...env, TEST_CAUSES: causes } },
      )
      assert.equal(status, 1)
      assert.match(readFileSync(causes, 'utf8'), cause)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })
}
