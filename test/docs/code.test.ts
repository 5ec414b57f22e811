import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'

const page = readFileSync('data/guide/code.md', 'utf8')

describe('the walk through the code', () => {
  test('names files that are there, and functions that they export', (t) => {
    if (!existsSync('lib')) return t.skip('there are no sources beside the suites')
    const names = [...page.matchAll(/`((?:lib|server|scripts)\/[\w/-]+\.(?:ts|mjs))(?:#(\w+))?`/g)]
    assert.ok(names.length > 40, `${names.length} names`)
    const wrong = names.filter(([, file, name]) => {
      if (!existsSync(file!)) return true
      const source = readFileSync(file!, 'utf8')
      const exported = `^export (?:default )?(?:async )?(?:function\\*?|const|class) ${name}\\b`
      return name !== undefined && !new RegExp(exported, 'm').test(source)
    })
    assert.deepEqual(
      wrong.map(([text]) => text),
      [],
    )
  })
})
