/** Readers of long answers: however the bytes are split, the rows are the same, or there are none. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { JsonFault, JsonRows } from '../../../lib/distributors/session/json-rows.js'
import { XmlFault, escapeXml } from '../../../lib/distributors/session/xml.js'
import { XmlRows } from '../../../lib/distributors/session/xml-rows.js'

function* split(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

function json(text: string | Buffer, path: string[], size = 1_000_000) {
  const rows: unknown[] = []
  const reader = new JsonRows(path, (row) => rows.push(row))
  for (const piece of split(Buffer.from(text), size)) reader.push(piece)
  const { members, hasRows } = reader.end()
  return { rows, hasRows, members: Object.fromEntries(members) }
}

describe('the elements of an array in JSON', () => {
  const items = [
    { a: 'x"y\\', b: [1, { c: ']},' }], é: '€😀' },
    {},
    [],
    -1.5e3,
    'a,b]',
    null,
    true,
    { deep: { deep: { deep: ['\\"'] } } },
  ]
  const value = { success: true, errors: ['no', { a: '}' }], data: { next: 'z', items, 'n"': 1 } }

  for (const size of [1, 2, 3, 7, 64, 1_000])
    for (const indent of [0, 2])
      test(`in pieces of ${size} bytes, indented by ${indent}`, () =>
        assert.deepEqual(json(JSON.stringify(value, null, indent), ['data', 'items'], size), {
          rows: items,
          hasRows: true,
          members: {
            success: true,
            errors: value.errors,
            'data.next': 'z',
            'data.n"': 1,
          },
        }))

  for (const size of [1, 3, 1_000])
    test(`where it is the whole answer, in pieces of ${size} bytes`, () => {
      for (const indent of [0, 2])
        assert.deepEqual(json(` ${JSON.stringify(items, null, indent)}\n`, [], size), {
          rows: items,
          hasRows: true,
          members: {},
        })
      assert.deepEqual(json('[]', [], size), { rows: [], hasRows: true, members: {} })
      assert.deepEqual(json('{"message":"no","items":[1]}', [], size), {
        rows: [],
        hasRows: false,
        members: { message: 'no', items: [1] },
      })
      for (const broken of ['[', '[{"a":1}', '[{"a":1},', '[1]]', '[1] 2', '"x"'])
        assert.throws(() => json(broken, [], size), JsonFault, broken)
    })

  test('where there is none, its place is told like any other', () => {
    const none = (text: string) => json(text, ['data', 'items'])
    assert.deepEqual(none('{"data":null,"ok":false}'), {
      rows: [],
      hasRows: false,
      members: { data: null, ok: false },
    })
    assert.deepEqual(none('\uFEFF {"data":{"items":[]}} \n'), {
      rows: [],
      hasRows: true,
      members: {},
    })
    assert.deepEqual(none('{}'), { rows: [], hasRows: false, members: {} })
  })

  const whole = JSON.stringify(value)
  test('cut off anywhere, it is no answer', () => {
    for (let to = 0; to < whole.length; to++)
      assert.throws(() => json(whole.slice(0, to), ['data', 'items'], 5), JsonFault, String(to))
  })

  for (const bad of [
    '[]',
    'null',
    '{"a":1}{',
    '{"a":1,}',
    '{"a" 1}',
    '{,"a":1}',
    '{"data":[1,]}',
    '{"data":[1,,2]}',
    '{"data":[,1]}',
    '{"data":[1 2]}',
    '{"data":[{"a":1]}',
    '{"data":[1}}',
    '{"data":[01]}',
    '{"data":[1],"data":[2]}',
    '{a:1}',
    '<html></html>',
  ])
    test(`${bad} is none`, () => assert.throws(() => json(bad, ['data']), JsonFault))

  test('an item has a length and a depth', () => {
    const long = (bytes: number) => `{"data":["${'x'.repeat(bytes)}"]}`
    assert.equal(json(long(1_000_000), ['data'], 65_536).rows.length, 1)
    assert.throws(() => json(long(1_100_000), ['data'], 65_536), /longer than/)
    const deep = (levels: number) => `{"data":[${'['.repeat(levels)}${']'.repeat(levels)}]}`
    assert.equal(json(deep(20), ['data']).rows.length, 1)
    assert.throws(() => json(deep(21), ['data']), /deeper than 20/)
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`m${i}`, 1]))
    assert.throws(() => json(JSON.stringify(many), ['data']), JsonFault)
  })

  test('of random values, all come as JSON.parse has them', () => {
    let seed = 7
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
    const texts = ['', '"', '\\', '{', ']', ',', ':', '\n', 'é', '😀', '\u0000']
    const made = (depth: number): unknown => {
      const kind = random(depth > 3 ? 4 : 6)
      if (kind === 0) return random(1_000) / 8
      if (kind === 1) return Array.from({ length: random(5) }, () => texts[random(11)]).join('')
      if (kind === 2) return null
      if (kind === 3) return random(2) === 0
      const parts = Array.from({ length: random(4) }, () => made(depth + 1))
      return kind === 4
        ? parts
        : Object.fromEntries(parts.map((part, i) => [texts[random(11)]! + i, part]))
    }
    for (let round = 0; round < 300; round++) {
      const data = Array.from({ length: random(6) }, () => made(0))
      const text = JSON.stringify({ data }, null, random(3))
      assert.deepEqual(json(text, ['data'], 1 + random(40)).rows, data)
    }
  })
})

const HEAD = '<?xml version="1.0" encoding="utf-8"?>\r\n<string xmlns="http://x.example/">'

function xml(text: string, size = 1_000_000) {
  const rows: unknown[] = []
  const reader = new XmlRows((row, element) => rows.push([element, row]))
  for (const piece of split(Buffer.from(text), size)) reader.push(piece)
  return { rows, word: reader.end() }
}

const escaped = (inner: string) => `${HEAD}${escapeXml(inner)}</string>`

describe('the rows of an escaped document', () => {
  const inner =
    '<NewDataSet>\r\n  <Table>\r\n    <ITEMNO>1</ITEMNO>\r\n    <IDESC>A &amp;lt; B &lt;c&gt; &#8364; é😀</IDESC>' +
    '<SHDESC /><mixed> x </mixed></Table>\r\n<Table id="a>b"><ITEMNO>2</ITEMNO></Table><Table />\r\n</NewDataSet>'
  const rows = [
    ['Table', { ITEMNO: '1', IDESC: 'A &lt; B <c> € é😀', SHDESC: '', MIXED: 'x' }],
    ['Table', { ITEMNO: '2' }],
  ]
  for (const size of [1, 2, 5, 13, 1_000])
    test(`in pieces of ${size} bytes`, () =>
      assert.deepEqual(xml(escaped(inner), size), { rows, word: null }))

  test('none at all, or a word instead', () => {
    assert.deepEqual(xml(escaped('<NewDataSet />')), { rows: [], word: null })
    assert.deepEqual(xml(escaped('NOT AUTHENTICATED'), 3), { rows: [], word: 'NOT AUTHENTICATED' })
    assert.deepEqual(xml(escaped('')), { rows: [], word: '' })
    assert.deepEqual(xml('<string />'), { rows: [], word: '' })
  })

  test('cut off anywhere, inside or outside, it is no answer', () => {
    const whole = escaped(inner)
    for (let to = 0; to < whole.length; to++)
      assert.throws(() => xml(whole.slice(0, to), 7), XmlFault, String(to))
    // Whole outside, and not inside: what it had was no more than a part.
    for (let to = 1; to < inner.length; to++)
      assert.throws(() => xml(escaped(inner.slice(0, to))), XmlFault, inner.slice(0, to))
  })

  for (const bad of [
    escaped('<Other><a>1</a></Other>'),
    escaped('<NewDataSet><Table><A><B>1</B></A></Table></NewDataSet>'),
    escaped('<NewDataSet><Table>word</Table></NewDataSet>'),
    escaped('<NewDataSet>word</NewDataSet>'),
    escaped('<NewDataSet></NewDataSet><NewDataSet></NewDataSet>'),
    escaped('<!DOCTYPE a [<!ENTITY b "c">]><NewDataSet></NewDataSet>'),
    escaped('<NewDataSet><Table><A>&unknown;</A></Table></NewDataSet>'),
    `${HEAD}&other;</string>`,
    `${HEAD}</string><string>`,
    `<!DOCTYPE string><string></string>`,
    '{"data":[]}',
  ])
    test(`${bad.slice(-70)} is none`, () => assert.throws(() => xml(bad), XmlFault))

  test('a row has a length', () => {
    const row = (chars: number) =>
      escaped(`<NewDataSet><Table><A>${'x'.repeat(chars)}</A></Table></NewDataSet>`)
    assert.equal(xml(row(1_000_000), 65_536).rows.length, 1)
    assert.throws(() => xml(row(1_200_000), 65_536), /longer than/)
    assert.throws(() => xml('x'.repeat(10_000)), XmlFault)
  })
})
