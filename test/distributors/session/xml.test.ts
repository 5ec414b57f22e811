import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { escapeXml, parseXml, XmlFault } from '../../../lib/distributors/session/xml.js'

describe('an answer in XML', () => {
  test('is elements with their text; attributes and prefixes are left out', () =>
    assert.deepEqual(
      parseXml(
        '\uFEFF<?xml version="1.0"?>\r\n<s:a xmlns:s="x"><b c="1"> 1 &lt; 2&#x41;&#66; </b><b/></s:a>\n',
      ),
      {
        name: 'a',
        text: '',
        children: [
          { name: 'b', text: ' 1 < 2AB ', children: [] },
          { name: 'b', text: '', children: [] },
        ],
      },
    ))

  test('what is in CDATA stands as it is', () =>
    assert.equal(parseXml('<a>1<![CDATA[<b>&amp;]]>2</a>').text, '1<b>&amp;2'))

  for (const [what, text] of [
    ['nothing', ''],
    ['no XML', 'NOT AUTHENTICATED'],
    ['cut off within a text', '<a>tr'],
    ['cut off within a tag', '<a>true</a'],
    ['cut off after a row', '<a><b>1</b>'],
    ['crossed', '<a><b></a></b>'],
    ['text behind it', '<a/>x'],
    ['two roots', '<a/><b/>'],
    ['a document type', '<!DOCTYPE a><a/>'],
    ['an entity of its own', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
    ['an entity that is not known', '<a>&nbsp;</a>'],
    ['a character that there is not', '<a>&#x110000;</a>'],
    ['an entity without its end', '<a>&lt</a>'],
    ['a name that is none', '<a><__proto__>1</__proto__></a>'],
    ['21 elements within each other', '<a>'.repeat(21) + '</a>'.repeat(21)],
    ['too much', `<a>${' '.repeat(8 * 1_048_576)}</a>`],
  ] as const)
    test(`is none: ${what}`, () => assert.throws(() => parseXml(text), XmlFault))

  test('of 20 elements within each other is read', () =>
    assert.equal(parseXml('<a>'.repeat(20) + '</a>'.repeat(20)).name, 'a'))

  test('any text comes back as it was written, also as a document within a document', () =>
    fc.assert(
      fc.property(fc.stringMatching(/^[\x20-\x7e\r\n\u00e9\u{1f600}]*$/u), (text) => {
        const inner = `<b>${escapeXml(text)}</b>`
        const outer = `<a>${escapeXml(inner)}</a>`
        assert.equal(parseXml(parseXml(outer).text).text, text)
      }),
    ))

  test('and no cut of it is taken for the whole', () => {
    const whole =
      '<?xml version="1.0"?><string ' +
      `xmlns="x">${escapeXml('<NewDataSet><Table><A>1</A></Table></NewDataSet>')}</string>`
    for (let end = 0; end < whole.length; end++)
      assert.throws(() => parseXml(whole.slice(0, end)), XmlFault, whole.slice(0, end))
  })
})
