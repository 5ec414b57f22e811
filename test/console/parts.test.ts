import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { csvOf } from '../../console/core/csv.js'
import { ago, bytes, timeOf } from '../../console/core/format.js'
import { linkTo, readPlace } from '../../console/core/router.js'
import { onTop, replacedBy } from '../../console/pages/configuration/merge.js'
import { beginning, withValue } from '../../console/pages/configuration/schema.js'

describe('parts of the console', () => {
  test('a spreadsheet reads what is exported, and runs none of it', () => {
    assert.equal(
      csvOf(
        ['name', 'price'],
        [
          { name: 'A "good", one', price: 9.5 },
          { name: '=1+1', price: null },
        ],
      ),
      'name,price\r\n"A ""good"", one",9.5\r\n\'=1+1,',
    )
  })

  test('an address is read back as it was written', () => {
    for (const path of [['orders', 'W/1 ä'], ['feeds', 'RSR/rsr'], ['today']])
      assert.deepEqual(readPlace(linkTo(path, { q: 'a&b=c d', page: 2, none: '' })), {
        path,
        query: { q: 'a&b=c d', page: '2' },
      })
    assert.deepEqual(readPlace(''), { path: [], query: {} })
    assert.deepEqual(readPlace('#/orders/%E0%A4%A'), { path: ['orders', '%E0%A4%A'], query: {} })
  })

  test('times and sizes are told as people tell them', () => {
    const now = Date.UTC(2026, 10, 25, 12)
    assert.deepEqual(
      [now - 5_000, now - 61_000, now + 3 * 86_400_000, now - 40 * 86_400_000].map((at) =>
        ago(at, now),
      ),
      ['now', '1 minute ago', 'in 3 days', 'last month'],
    )
    assert.equal(timeOf('2026-11-25 12:00:00'), now)
    assert.deepEqual(
      [bytes(0), bytes(999), bytes(1_500), bytes(76_474_000_000)],
      ['0 B', '999 B', '1.5 kB', '76.5 GB'],
    )
  })

  test('one place of a document changes, and the others stay the same objects', () => {
    const document = { a: { b: [1, 2, 3] }, c: { d: 'x' } }
    const changed = withValue(document, ['a', 'b', '1'], 9)
    assert.deepEqual(changed, { a: { b: [1, 9, 3] }, c: { d: 'x' } })
    assert.equal((changed as typeof document).c, document.c)
    assert.deepEqual(withValue(document, ['a', 'b', '0'], undefined), {
      a: { b: [2, 3] },
      c: { d: 'x' },
    })
    assert.deepEqual(withValue(document, ['c'], undefined), { a: { b: [1, 2, 3] } })
    assert.deepEqual(withValue({}, ['new', 'deep'], true), { new: { deep: true } })
    const schema = {
      type: 'object',
      required: ['cost', 'kind'],
      properties: {
        cost: { type: 'number', minimum: 1 },
        kind: { type: 'string', enum: ['a', 'b'] },
      },
    }
    assert.deepEqual(beginning(schema, {}), { cost: 1, kind: 'a' })
  })

  test('changes of two people go together, and mine stay where both changed one place', () => {
    const base = { email: 'a', rules: [{ max: 1 }, { max: 2 }], zanders: { on: true, key: '***' } }
    const theirs = {
      email: 'theirs',
      rules: [{ max: 1 }, { max: 3 }],
      zanders: { key: '***' },
      rsr: {},
    }
    const mine = {
      email: 'mine',
      rules: [{ max: 5 }, { max: 2 }],
      zanders: { on: true, key: 'new' },
    }
    const merged = onTop(base, mine, theirs)
    assert.deepEqual(merged, {
      email: 'mine',
      rules: [{ max: 5 }, { max: 3 }],
      zanders: { key: 'new' },
      rsr: {},
    })
    // A secret that both changed shows alike before and after, and theirs is replaced all the same.
    const changed = ['/email', '/rules/1/max', '/zanders/on', '/zanders/key', '/rsr']
    assert.deepEqual([...replacedBy(merged, theirs, changed)], ['/email', '/zanders/key'])
    assert.deepEqual(onTop(base, { ...base, rules: [] }, theirs), { ...theirs, rules: [] })
    assert.deepEqual(onTop(base, base, theirs), theirs)
  })

  test('every text of the pages stands in one file', () => {
    const strays = readdirSync('console', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.tsx'))
      .flatMap((file) =>
        [
          ...readFileSync(join('console', file), 'utf8').matchAll(
            />\s*([A-Z][a-z]+ [a-z]+[^<>{}]*)</g,
          ),
        ].map(([, text]) => `${file}: ${text}`),
      )
    assert.deepEqual(strays, [])
  })
})
