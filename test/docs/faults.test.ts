/** The page on faults names tests and scripts that there are, and suites whose results it shows. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { page, rows } from './blocks.js'

const FAULTS = 36
const text = page('faults.md')
const GROUPS = [
  '## The process',
  '## The disk and the database',
  '## Distributors, feeds and the bucket',
  '## Callers and strangers',
]
const table = GROUPS.flatMap((heading) => rows(text, heading))

describe('the page on faults', () => {
  test('lists every fault once, each with what happens and what proves it', () => {
    assert.deepEqual(
      table.map(([number]) => Number(number)),
      Array.from({ length: FAULTS }, (_, i) => i + 1),
    )
    for (const [number, fault, outcome, proof] of table) {
      assert.ok(fault && outcome, number)
      assert.match(proof ?? '', /`test\/|`npx tsx scripts\//, number)
    }
  })

  test('names tests that stand in these files under these names', () => {
    let named = 0
    for (const [number, , , proof] of table)
      for (const [, file, names] of proof!.matchAll(/`(test\/[^`]+)`:((?: "[^"]+")+)/g)) {
        const source = readFileSync(file!, 'utf8')
        for (const [, name] of names!.matchAll(/"([^"]+)"/g)) {
          named++
          const isThere = ["'", '"', '`'].some((quote) => source.includes(quote + name + quote))
          assert.ok(isThere, `fault ${number}: ${file} has no test "${name}"`)
        }
      }
    assert.ok(named > FAULTS)
    for (const [file] of text.matchAll(/test\/[\w/-]+\.test\.ts/g))
      assert.ok(existsSync(file), file)
  })

  test('names scripts that there are, with options that they know', () => {
    for (const [, script, options] of text.matchAll(
      /`(?:npx tsx|node) (scripts\/\S+?)( [^`]*)?`/g,
    )) {
      const source = readFileSync(script!, 'utf8')
      for (const [, option] of (options ?? '').matchAll(/--([\w-]+)/g))
        assert.match(source, new RegExp(`\\b${option}: \\{`), `${script} ${option}`)
    }
  })

  test('shows the result of suites that it names, and of no failed one', () => {
    const results = rows(text, '## Last result')
    assert.ok(results.length > 0)
    const proofs = table.map(([, , , proof]) => proof).join()
    for (const [suite, result, release] of results) {
      assert.ok(proofs.includes(suite!), suite)
      assert.match(result!, /^passed, \d+ tests(, \d+ skipped)?$/, suite)
      assert.match(release!, /^\d+\.\d+\.\d+/)
    }
  })
})
