import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { listen } from '../../server/http/listen.js'
import type { Listening } from '../../server/http/listen.js'
import { PAGES, addressOf } from '../../server/docs/pages.js'
import { DESKTOP, PHONE, WITHOUT_BROWSER, openBrowser, sideways, visit } from './browser.js'
import type { Browser, Page } from './browser.js'
import { orderShop } from '../orders/shop.js'
import type { OrderShop } from '../orders/shop.js'
import { scripted } from '../orders/scripted-distributor.js'
import { barriers } from '../console/visit.js'

const PING = '[id="/account/ping"]'
const PLACE = '[id="/orders/ordersPlace"]'

describe('in a browser', { skip: WITHOUT_BROWSER }, () => {
  const wholesaler = scripted()
  let t: OrderShop
  let listening: Listening
  let browser: Browser
  before(async () => {
    t = await orderShop([wholesaler])
    listening = await listen(t.server, { port: 0, host: '127.0.0.1' })
    browser = await openBrowser()
  })
  after(async () => {
    await browser.close()
    await listening.close()
    await t.close()
  })

  const open = (path: string, options = DESKTOP) => visit(browser, listening.url + path, options)
  const openReference = async (options = DESKTOP) => {
    const visited = await open('/v1/docs', options)
    await visited.page.locator('#mode', { hasText: /^(Simulator|Live|Partly)/ }).waitFor()
    return visited
  }
  const tryOut = (page: Page, id: string) => page.click(`${id} .try > summary`)
  /** Sends it, and waits for an answer or for what stands in its place. */
  const send = async (page: Page, id: string, awaited = '.outcome') => {
    await page.click(`${id} .send`)
    await page.locator(`${id} .result ${awaited}`).waitFor()
    return page.locator(`${id} .result`)
  }

  test('the reference shows every operation of the document, and asks nobody but this server', async () => {
    await using visited = await openReference()
    const { page, requests, complaints } = visited
    const document = (await t.json('/v1/openapi.json', { key: null })).body as {
      paths: Record<
        string,
        Record<string, { tags: [string]; operationId: string; summary: string }>
      >
    }
    const operations = Object.values(document.paths).flatMap((item) => Object.values(item))
    assert.ok(operations.length >= 26)
    for (const { tags, operationId, summary } of operations) {
      assert.ok(
        (await page.locator(`[id="/${tags[0]}/${operationId}"] h3`).innerText()).includes(summary),
        operationId,
      )
    }
    assert.equal(await page.locator('.operation').count(), operations.length)
    await page.locator('#mode', { hasText: /^Simulator/ }).waitFor()
    assert.equal(await page.innerText('#base'), listening.url)
    assert.deepEqual(
      [await page.title(), await page.getAttribute('html', 'lang')],
      ['Quartermaster API reference', 'en'],
    )
    await page.locator(`${PLACE} .refusal > summary`).first().click()
    await page.locator(`${PLACE} .refusal[open] dl`).first().waitFor()
    await page.waitForLoadState('networkidle')
    assert.deepEqual(
      requests.filter((url) => !url.startsWith(`${listening.url}/`)),
      [],
    )
    assert.deepEqual(complaints, [])
    // The log would have seen a violation.
    await page.evaluate(
      'document.head.append(Object.assign(document.createElement("style"), { textContent: "a { color: red }" }))',
    )
    await page.evaluate(
      'document.body.append(Object.assign(new Image(), { src: "http://127.0.0.1:9/x.png" }))',
    )
    for (let left = 200; complaints.length < 2 && left > 0; left--) await page.waitForTimeout(50)
    assert.deepEqual(
      complaints.map((text) => /style-src|img-src/.exec(text)?.[0]),
      ['style-src', 'img-src'],
    )
  })

  test('an operation is whole and short: no example is cut, and a screen or two have it all', async () => {
    await using visited = await openReference()
    const { page } = visited
    assert.ok((await longest(page)) < LONGEST.desktop, String(await longest(page)))
    await using onPhone = await openReference(PHONE)
    await onPhone.page.locator('.panel').waitFor()
    assert.ok((await longest(onPhone.page)) < LONGEST.phone, String(await longest(onPhone.page)))
    // What is folded is all there.
    const operation = page.locator('[id="/fulfillment/fulfillmentHistory"]')
    await operation.getByText(/^\d+ more parameters$/).click()
    await operation.getByRole('region', { name: /^More parameters of GET/ }).waitFor()
    // What does not fit is reached by scrolling within its block, and by nothing else.
    assert.equal(
      await page.evaluate(
        '[...document.querySelectorAll(".operation pre")].filter((one) => one.scrollHeight > ' +
          'one.clientHeight + 1 && getComputedStyle(one).overflowY === "hidden").length',
      ),
      0,
    )
    const { data } = (await t.json('/v1/ping')).body as { data: object }
    const example = await page.locator(`${PING} .example pre`).innerText()
    assert.deepEqual(Object.keys((JSON.parse(example) as { data: object }).data), Object.keys(data))
  })

  test('a key is used for what is tried, and kept nowhere', async () => {
    await using visited = await openReference()
    const { page, requests, complaints } = visited
    await page.fill('#key', t.key)
    await page.press('#key', 'Enter')
    await page.locator('#key-note[data-state="good"]').waitFor()
    assert.match(await page.innerText('#key-note'), /"test key" works, tier enterprise/)
    await tryOut(page, PING)
    const answer = await send(page, PING)
    await answer.getByText('Headers of this answer').click()
    assert.match(await answer.innerText(), /200[^]*x-service-mode\s+simulator[^]*"pong": true/)
    assert.match(await page.innerText(`${PING} .call`), /x-api-key: YOUR_KEY/)
    assert.ok(!(await page.innerText('body')).includes(t.key))
    assert.ok(requests.every((url) => url.startsWith(`${listening.url}/`) && !url.includes(t.key)))
    assert.deepEqual(
      await page.evaluate(
        (
          '[localStorage.length, sessionStorage.length, document.cookie, ' +
          'location.href.includes("key"), "indexedDB" in window ? ' +
          '(await indexedDB.databases()).length : 0]'
        )
          .replace(/^/, '(async () => ')
          .replace(/$/, ')()'),
      ),
      [0, 0, '', false, 0],
    )
    // The operation is in the address, so the page comes back to it.
    await page.reload()
    await page.locator('#mode', { hasText: /^Simulator/ }).waitFor()
    assert.match(page.url(), /#\/account\/ping$/)
    assert.ok(await page.locator(`${PING} h3`).isVisible())
    assert.equal(await page.inputValue('#key'), '')
    await tryOut(page, PING)
    assert.match(await (await send(page, PING)).innerText(), /401[^]*missing_api_key/)
    assert.deepEqual(
      complaints.filter((text) => !text.includes('401 (Unauthorized)')),
      [],
    )
  })

  test('what is filled in stands in the command, and is what is sent', async () => {
    await using visited = await openReference()
    const { page, requests } = visited
    const SEARCH = '[id="/products/productsSearch"]'
    await page.fill('#key', t.key)
    await tryOut(page, SEARCH)
    await page.fill(`${SEARCH} [name="q"]`, "a 'b' & c")
    assert.match(await page.innerText(`${SEARCH} .call`), /q=a\+%27b%27\+%26\+c/)
    assert.match(await (await send(page, SEARCH)).innerText(), /200[^]*"total": 0/)
    assert.ok(requests.some((url) => url.endsWith('/v1/products/search?q=a+%27b%27+%26+c')))
  })

  test('a wrong key is told apart, and the filter finds operations by their words', async () => {
    await using visited = await openReference()
    const { page } = visited
    await page.fill('#key', 'x'.repeat(40))
    await page.click('#key-form button')
    await page.locator('#key-note[data-state="bad"]').waitFor()
    assert.match(await page.innerText('#key-note'), /invalid_api_key/)
    const found = async (words: string) => {
      await page.fill('#filter', words)
      return page.locator('.operation:visible .address code').allInnerTexts()
    }
    const all = await page.locator('.operation').count()
    assert.deepEqual(await found('post orders'), ['/v1/orders/quote', '/v1/orders'])
    assert.equal(await page.innerText('#count'), `2 of ${all} operations.`)
    assert.deepEqual(await found('no such thing'), [])
    assert.equal(await page.innerText('#count'), `None of ${all} operations has these words.`)
    assert.equal((await found('')).length, all)
  })

  test('the search finds a section by its words, without a pointer', async () => {
    await using visited = await open(addressOf(PAGES[0]!))
    const { page, requests } = visited
    await page.keyboard.press('/')
    const search = page.locator('#search')
    await search.getByText(/sections of the guide and the reference/).waitFor()
    await page.keyboard.type('journal verify')
    await search.locator('li').first().waitFor()
    assert.match(await search.locator('li').first().innerText(), /journal/i)
    await page.keyboard.press('ArrowDown')
    assert.equal(await page.evaluate('document.activeElement.closest("li") !== null'), true)
    await page.keyboard.press('Enter')
    await page.waitForURL(/#./)
    await page.keyboard.press('/')
    await page.keyboard.type('no such words at all')
    await page.locator('#search').getByText('Nothing has all of these words.').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('#search[open]').waitFor({ state: 'detached' })
    assert.ok(requests.every((url) => url.startsWith(`${listening.url}/`)))
  })

  test('an order needs a yes where distributors are real', async () => {
    await using visited = await openReference()
    const { page } = visited
    await page.fill('#key', t.key)
    await tryOut(page, PLACE)
    await page.fill(`${PLACE} textarea`, JSON.stringify(t.body({ order_id: 'PLAYED-1' })))
    assert.match(await (await send(page, PLACE)).innerText(), /200[^]*PLAYED-1/)
    assert.equal(wholesaler.sends.length, 1)
    // The page was loaded in mode simulator; it asks again before it sends.
    await t.app.operator.distributors.setMode({
      distid: 'TST',
      mode: 'live',
      reason: 'opening day',
    })
    await page.fill(`${PLACE} textarea`, JSON.stringify(t.body({ order_id: 'REAL-1' })))
    await page.click(`${PLACE} .send`)
    await page.locator('#confirm[open]').waitFor()
    assert.match(await page.innerText('#confirm'), /real money[^]*REAL-1: 1 of A1 from TST/)
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Do not send')
    await page.keyboard.press('Enter')
    await page.getByText('you did not confirm the order').waitFor()
    assert.equal(wholesaler.sends.length, 1)
    await page.click(`${PLACE} .send`)
    await page.click('#confirm button.danger')
    await page.locator(`${PLACE} .result`).getByText('REAL-1').first().waitFor()
    assert.equal(wholesaler.sends.length, 2)
    await page.locator('#mode', { hasText: 'cost real money' }).waitFor()
    await t.app.operator.distributors.setMode({ distid: 'TST', mode: 'simulator', reason: 'done' })
  })

  test('on a phone the reference does not move sideways, and its fields and buttons can be hit', async () => {
    await using visited = await openReference(PHONE)
    const { page } = visited
    assert.equal(await sideways(page), 0)
    await page.fill('#key', t.key)
    for (const id of [PING, '[id="/products/productsSearch"]', PLACE]) await tryOut(page, id)
    await send(page, PING)
    assert.equal(await sideways(page), 0)
    for (const selector of [
      '#key',
      '#key-form button',
      '#filter',
      '#find',
      '.top nav a',
      `${PING} .try > summary`,
      `${PING} .send`,
      `${PLACE} .send`,
      '[id="/products/productsSearch"] [name="q"]',
      `${PLACE} .refusal > summary`,
    ]) {
      const { width, height, x } = (await page.locator(selector).first().boundingBox())!
      assert.ok(
        height >= 39.5 && width >= 40 && x >= 0 && x + width <= 390,
        `${selector}: ${width} x ${height} at ${x}`,
      )
    }
  })

  test('nothing of the reference or of a page keeps anybody out', async () => {
    const looks = {
      light: DESKTOP,
      dark: { ...DESKTOP, colorScheme: 'dark' },
      phone: PHONE,
    } as const
    for (const [name, look] of Object.entries(looks)) {
      await using visited = await openReference(look)
      const { page } = visited
      await tryOut(page, PING)
      await send(page, PING)
      await page.locator(`${PLACE} .refusal > summary`).first().click()
      assert.deepEqual(await barriers(page), [], `the reference, ${name}`)
      await page.goto(listening.url + addressOf(PAGES.find(({ name: of }) => of === 'errors')!))
      assert.deepEqual(await barriers(page), [], `a page, ${name}`)
      await page.click('#find')
      await page.fill('#search input', 'order')
      await page.locator('#search li').first().waitFor()
      assert.deepEqual(await barriers(page), [], `the search, ${name}`)
    }
  })

  test('the reference can be read without scripts', async () => {
    await using visited = await open('/v1/docs', { ...DESKTOP, javaScriptEnabled: false })
    const { page } = visited
    assert.match(await page.innerText(PLACE), /Place real purchase orders[^]*order_id[^]*W-1001/)
    // What would do nothing is not there.
    for (const selector of ['#key', '#filter', '#find', `${PLACE} .try`])
      assert.equal(await page.isVisible(selector), false, selector)
  })

  test('every page of the guide fits a phone, and the browser complains of none', async () => {
    await using visited = await open(addressOf(PAGES[0]!), PHONE)
    const { page, requests, complaints } = visited
    for (const each of PAGES) {
      await page.goto(listening.url + addressOf(each), { waitUntil: 'load' })
      assert.deepEqual(
        [each.name, await sideways(page), await page.locator('h1').innerText()],
        [each.name, 0, each.title],
      )
    }
    assert.deepEqual(
      [requests.filter((url) => !url.startsWith(`${listening.url}/`)), complaints],
      [[], []],
    )
  })

  test('a block of code is copied by its button', async () => {
    await using visited = await open(addressOf(PAGES[0]!), {
      ...DESKTOP,
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const { page } = visited
    const block = page.locator('.code').first()
    await block.locator('button').click()
    await block.getByText('Copied').waitFor()
    assert.equal(
      await page.evaluate('navigator.clipboard.readText()'),
      (await block.locator('pre').innerText()).trimEnd(),
    )
  })

  test('who asks for dark pages gets them, drawings too', async () => {
    const ground = (page: Page) => page.evaluate('getComputedStyle(document.body).backgroundColor')
    await using visited = await openReference()
    const { page } = visited
    const words = () =>
      page.evaluate('getComputedStyle(document.querySelector(".operation h3")).color')
    const light = [await ground(page), await words()]
    await page.emulateMedia({ colorScheme: 'dark' })
    const dark = [await ground(page), await words()]
    assert.deepEqual([light[0], dark[0]], ['rgb(252, 252, 251)', 'rgb(17, 21, 19)'])
    // Words are dark on light, then light on dark.
    const brightness = (colour: unknown) =>
      [...String(colour).matchAll(/\d+/g)]
        .slice(0, 3)
        .reduce((sum, [part]) => sum + Number(part), 0)
    assert.ok(brightness(light[1]) < 300 && brightness(dark[1]) > 500, `${light[1]}, ${dark[1]}`)
    await page.goto(listening.url + addressOf(PAGES[0]!))
    assert.equal(await ground(page), 'rgb(17, 21, 19)')
    const drawing = PAGES.find(({ name }) => name === 'architecture')!
    await page.goto(listening.url + addressOf(drawing))
    const source = await page.locator('main img, main picture img').first().getAttribute('src')
    const text = await (await page.request.get(new URL(source!, page.url()).href)).text()
    assert.match(text, /prefers-color-scheme: dark|light-dark\(/)
  })

  test('a table that is wider than a phone says so, until its end is seen', async () => {
    await using visited = await open(addressOf(PAGES.find(({ name }) => name === 'errors')!), PHONE)
    const { page } = visited
    const frame = page.locator('.table-frame[data-wide="true"]').first()
    await frame.waitFor()
    assert.equal(await frame.getAttribute('data-rest'), 'true')
    assert.ok(await frame.locator('.more').isVisible())
    await frame.locator('.table').evaluate((table) => {
      const { scrollWidth } = table as unknown as { scrollWidth: number }
      ;(table as unknown as { scrollLeft: number }).scrollLeft = scrollWidth
    })
    await page.locator('.table-frame[data-wide="true"][data-rest="false"]').first().waitFor()
  })
})

/** In pixels, of one operation: a screen or two of each. */
const LONGEST = { desktop: 1_600, phone: 2_250 }

const longest = async (page: Page): Promise<number> =>
  page.evaluate(
    'Math.max(...[...document.querySelectorAll(".operation")].map((one) => one.getBoundingClientRect().height))',
  )
