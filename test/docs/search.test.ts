import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { findFolders, readAssets } from '../../server/docs/files.js'
import { readPage, renderPage } from '../../server/docs/guide.js'
import { PAGES, addressOf } from '../../server/docs/pages.js'
import type { SearchIndex } from '../../server/docs/search.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'

describe('what the search looks through', () => {
  let t: TestApp
  let index: SearchIndex
  before(async () => {
    t = await createTestApp()
    index = (await t.json('/docs/search.json', { key: null })).body as SearchIndex
  })
  after(() => t.close())

  test('has every section of every page, under the anchor that the page has', async () => {
    const folders = findFolders()
    const assets = await readAssets(folders)
    assert.deepEqual(
      index.pages.slice(0, -1),
      PAGES.map((page) => [page.title, addressOf(page)]),
    )
    for (const [at, page] of PAGES.entries()) {
      const { headings } = await renderPage(await readPage(folders.guide, page), assets)
      assert.deepEqual(
        index.sections.filter(([of]) => of === at).map(([, id, heading]) => ({ id, heading })),
        headings.map(({ id, text }) => ({ id, heading: text })),
        page.name,
      )
    }
  })

  test('has every operation, under the anchor that the reference has', async () => {
    const html = await (await t.request('/v1/docs', { key: null })).text()
    const anchors = [...html.matchAll(/<article class="operation" id="([^"]*)"/g)].map(
      (match) => match[1]!,
    )
    assert.deepEqual(index.pages.at(-1), ['API reference', '/v1/docs'])
    assert.deepEqual(
      index.sections.filter(([of]) => of === PAGES.length).map(([, id]) => id),
      anchors,
    )
  })

  test('has the words of lists, tables and code, and no marks of Markdown', () => {
    const text = (name: string, id: string) =>
      index.sections.find(([at, anchor]) => PAGES[at]?.name === name && anchor === id)?.[3] ?? ''
    const guide = text('guide', 'what-this-is-and-what-it-is-not')
    assert.ok(guide.includes('It is not a shop: it shows nothing to customers'))
    assert.ok(guide.includes("An offer is one distributor's stock item"))
    const all = index.sections.filter(([at]) => at < PAGES.length).map((section) => section[3])
    assert.ok(all.some((words) => words.includes('quartermaster backup')))
    // Of a row of a table, the cells alone.
    assert.ok(text('guide', '9-follow-it').includes('order_status'))
    for (const words of all) assert.doesNotMatch(words, /\n|\]\([\w-]+\.md/)
  })
})
