import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { highlight } from '../../server/docs/highlight.js'
import { blocks, page } from './blocks.js'

/** What a browser shows of it. */
const shown = (html: string) =>
  html
    .replaceAll(/<\/?span[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')

describe('code with its words told apart', () => {
  test('is the same text, in every block of the guide', () => {
    const all = readdirSync(join('data', 'guide'))
      .filter((name) => name.endsWith('.md'))
      .flatMap((name) => blocks(page(name)))
    assert.ok(all.length > 100)
    for (const { language, text } of all) {
      const html = highlight(text, language)
      assert.equal(shown(html), text)
      assert.doesNotMatch(html, /<(?!\/span>|span class="(comment|string|name|figure|word)">)/)
    }
  })

  test('is the same text, in the programs of the guide', () => {
    const folder = join('data', 'guide', 'examples')
    const languages: Record<string, string> = { mjs: 'js', py: 'python', sh: 'sh', sql: 'sql' }
    const languageOf = (name: string) => languages[name.split('.').at(-1)!]
    const files = readdirSync(folder).filter((name) => languageOf(name) !== undefined)
    assert.ok(files.length >= 4)
    for (const name of files) {
      const text = readFileSync(join(folder, name), 'utf8')
      const html = highlight(text, languageOf(name)!)
      assert.equal(shown(html), text, name)
      assert.match(html, /<span class="word">/, name)
    }
  })

  const mark = (kind: string, text: string) => `<span class="${kind}">${text}</span>`
  const cases: [language: string, text: string, html: string][] = [
    [
      'json',
      '{ "a\\"b": "c: 1", "d": -1.5e3, "e": null }',
      `{ ${mark('name', '&quot;a\\&quot;b&quot;')}: ${mark('string', '&quot;c: 1&quot;')}, ` +
        `${mark('name', '&quot;d&quot;')}: ${mark('figure', '-1.5e3')}, ` +
        `${mark('name', '&quot;e&quot;')}: ${mark('word', 'null')} }`,
    ],
    [
      'sh',
      "curl -s 'x # y' $KEY # all",
      `${mark('word', 'curl')} ${mark('name', '-s')} ${mark('string', '&#39;x # y&#39;')} ` +
        `${mark('name', '$KEY')} ${mark('comment', '# all')}`,
    ],
    [
      'sql',
      "SELECT 'it''s' -- FROM",
      `${mark('word', 'SELECT')} ${mark('string', '&#39;it&#39;&#39;s&#39;')} ${mark('comment', '-- FROM')}`,
    ],
    ['text', 'null "<b>"', 'null &quot;&lt;b&gt;&quot;'],
    ['constructor', '1 & 2', '1 &amp; 2'],
  ]
  for (const [language, text, html] of cases)
    test(`${language}: ${text}`, () => assert.equal(highlight(text, language), html))
})
