import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { WITHOUT_BROWSER, openBrowser, sideways } from '../docs/browser.js'
import { BIPOD, SHOP, openConsole } from './console.js'
import type { DemoConsole } from './console.js'
import { PAGES, PICTURES } from './page-list.js'
import { LOOKS, assertClean, barriers, enter, goTo } from './visit.js'
import type { Browser, Page } from './visit.js'
import { CUSTOMER } from '../orders/shop.js'

/** Labels of the fields whose control is wider than their place: it would lie on the next one. */
const stickingOut = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('.field')]
    .filter((one) => one.scrollWidth > one.clientWidth + 1)
    .map((one) => 'wider than its place: ' + one.querySelector('label')?.innerText)`)

describe('every page of the console', { skip: WITHOUT_BROWSER }, () => {
  let console: DemoConsole
  let browser: Browser
  before(async () => {
    console = await openConsole()
    await console.app.as(SHOP).orders.place({
      order_id: 'W-1',
      customer: CUSTOMER,
      items: [{ distid: 'CSSI', distsku: 'SLW-07919', upc: BIPOD, qty: 1 }],
    })
    await console.app.operator.rules.accept()
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await console?.close()
  })

  for (const [look, options] of Object.entries(LOOKS))
    test(`${look}: shows what it is about, keeps nobody out, and asks no other server`, async () => {
      await using visited = await enter(browser, console, { look: options })
      const { page } = visited
      const found: Record<string, string[]> = {}
      for (const [address, title] of Object.entries(PAGES)) {
        await goTo(page, address)
        const headings = await page.locator('main h1').allInnerTexts()
        const faults = [
          ...(headings.length === 1 && title.test(headings[0]!) ? [] : [`h1: ${headings.join()}`]),
          ...((await sideways(page)) === 0 ? [] : ['it can be moved sideways']),
          ...(await stickingOut(page)),
          ...(await page.locator('.fault').allInnerTexts()),
          // In the dark only colors are others.
          ...(await barriers(page, look === 'dark' ? ['color-contrast'] : undefined)),
        ]
        if (faults.length > 0) found[address] = faults
      }
      assert.deepEqual(found, {})
      assertClean(visited, console.url)
    })

  test('on a phone: fades where there is more to the side, and has its tab in view', async () => {
    await using visited = await enter(browser, console, { look: LOOKS['phone']! })
    const { page } = visited
    const more = (selector: string) =>
      page.locator(`.sideways:has(> ${selector})`).first().getAttribute('data-more')
    await goTo(page, 'analytics')
    assert.equal(await more('.tabs'), 'right')
    await goTo(page, 'analytics/price-gaps')
    assert.equal(await more('.tabs'), 'left')
    const tab = (await page.locator('.tabs [aria-current]').boundingBox())!
    assert.ok(tab.x >= 0 && tab.x + tab.width <= 390, JSON.stringify(tab))
    await goTo(page, `catalog/${BIPOD}`)
    assert.equal(await more('.table'), 'right')
    await page.evaluate("document.querySelector('main .table').scrollLeft = 9_999")
    await page.locator('.sideways[data-more=left] > .table').waitFor()
    await goTo(page, 'distributors')
    assert.equal(await more('.table'), '')
  })

  test('stands in the guide, with a picture of its size now', async (context) => {
    await using visited = await enter(browser, console, { look: PICTURED })
    const { page } = visited
    // Its policy does not hold for a page of nobody.
    const developer = await page.context().newPage()
    const guide = readFileSync('data/guide/console.md', 'utf8')
    // With it set, the pictures of the guide are made anew.
    const isAnew = process.env['QUARTERMASTER_PICTURES'] === '1'
    for (const [name, address, shows] of PICTURES) {
      await goTo(page, address)
      // Nothing of it points at where the mouse was.
      await page.mouse.move(0, 0)
      const taken = await page.screenshot({ animations: 'disabled' })
      const path = join('data/guide/pictures', `console-${name}.webp`)
      if (isAnew) writeFileSync(path, await toWebp(developer, taken))
      assert.ok(guide.includes(`![${shows}](pictures/console-${name}.webp)`), name)
      const kept = readFileSync(path)
      const { width, height } = PICTURED.viewport
      assert.deepEqual(await sizeOf(developer, kept), [width, height], name)
      assert.ok(kept.length < 100_000, `${name}: ${kept.length} bytes`)
    }
    if (isAnew) context.diagnostic('the pictures of the guide were made anew')
  })
})

const PICTURED = { viewport: { width: 1200, height: 780 }, deviceScaleFactor: 1 }

/** A picture in a quarter of the bytes; only the browser can make it here. */
async function toWebp(page: Page, png: Buffer): Promise<Buffer> {
  const text = await page.evaluate<string>(`(async () => {
    const canvas = await (${drawn})('${png.toString('base64')}')
    return canvas.toDataURL('image/webp', 0.75).split(',')[1]
  })()`)
  return Buffer.from(text, 'base64')
}

/** Width and height, in pixels, as a browser shows it. */
const sizeOf = (page: Page, picture: Buffer) =>
  page.evaluate<number[]>(`(async () => {
    const { width, height } = await (${drawn})('${picture.toString('base64')}')
    return [width, height]
  })()`)

/** Run in the page: a picture on a canvas of its size. */
const drawn = `async (base64) => {
  const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0))
  const bitmap = await createImageBitmap(new Blob([bytes]))
  const canvas = Object.assign(document.createElement('canvas'), {
    width: bitmap.width,
    height: bitmap.height,
  })
  canvas.getContext('2d').drawImage(bitmap, 0, 0)
  return canvas
}`
