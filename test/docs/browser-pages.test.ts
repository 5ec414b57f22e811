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

const PING = '#operations-account-ping'
const PLACE = '#operations-orders-ordersPlace'

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
    await visited.page.locator('.opblock').first().waitFor()
    return visited
  }
  const openOperation = async (page: Page, id: string) => {
    await page.click(`${id} button.opblock-summary-control`)
    await page.click(`${id} .try-out__btn`)
  }
  const execute = async (page: Page, id: string) => {
    await page.click(`${id} .execute`)
    return page.locator(`${id} .live-responses-table tbody tr.response`).first()
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
        (await page.locator(`#operations-${tags[0]}-${operationId}`).innerText()).includes(summary),
        operationId,
      )
    }
    assert.equal(await page.locator('.opblock').count(), operations.length)
    await page.locator('#mode', { hasText: /^Simulator/ }).waitFor()
    assert.equal(await page.innerText('#base'), listening.url)
    assert.deepEqual(
      [await page.title(), await page.getAttribute('html', 'lang')],
      ['Quartermaster API reference', 'en'],
    )
    await page.click(`${PLACE} button.opblock-summary-control`)
    await page.locator(`${PLACE} .refusal-button`).first().click()
    await page.locator(`${PLACE} .response .headers-wrapper`).nth(1).waitFor()
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

  test('a key is used for what is tried, and kept nowhere', async () => {
    await using visited = await openReference()
    const { page, requests, complaints } = visited
    await page.fill('#key', t.key)
    await page.press('#key', 'Enter')
    await page.locator('#key-note[data-state="good"]').waitFor()
    assert.match(await page.innerText('#key-note'), /"test key" works, tier enterprise/)
    await openOperation(page, PING)
    const answer = await execute(page, PING)
    assert.match(await answer.innerText(), /200[^]*"pong": true[^]*x-service-mode: simulator/)
    assert.match(await page.innerText(`${PING} .curl-command`), /x-api-key: YOUR_KEY/)
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
    // The operation is in the address, so it is open again.
    await page.reload()
    await page.locator(`${PING}.is-open`).waitFor()
    assert.equal(await page.inputValue('#key'), '')
    await page.click(`${PING} .try-out__btn`)
    assert.match(await (await execute(page, PING)).innerText(), /401[^]*missing_api_key/)
    assert.deepEqual(
      complaints.filter((text) => !text.includes('401 (Unauthorized)')),
      [],
    )
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
      await page.waitForFunction(
        `document.querySelector('#count').textContent.startsWith((document.querySelectorAll('.opblock').length ` +
          `|| 'None') + ' ')`,
      )
      return page.locator('.opblock-summary-path').allInnerTexts()
    }
    assert.deepEqual(
      (await found('post orders')).map((path) => path.replaceAll('\u200b', '')),
      ['/v1/orders/quote', '/v1/orders'],
    )
    assert.deepEqual(await found('no such thing'), [])
    assert.ok((await found('')).length >= 26)
  })

  test('an order needs a yes where distributors are real', async () => {
    await using visited = await openReference()
    const { page } = visited
    await page.fill('#key', t.key)
    await openOperation(page, PLACE)
    await page.fill(`${PLACE} textarea`, JSON.stringify(t.body({ order_id: 'PLAYED-1' })))
    assert.match(await (await execute(page, PLACE)).innerText(), /200[^]*PLAYED-1/)
    assert.equal(wholesaler.sends.length, 1)
    // The page was loaded in mode simulator; it asks again before it sends.
    await t.app.operator.distributors.setMode({
      distid: 'TST',
      mode: 'live',
      reason: 'opening day',
    })
    await page.fill(`${PLACE} textarea`, JSON.stringify(t.body({ order_id: 'REAL-1' })))
    await page.click(`${PLACE} .execute`)
    await page.locator('dialog[open]').waitFor()
    assert.match(await page.innerText('dialog'), /real money[^]*REAL-1: 1 of A1 from TST/)
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Do not send')
    await page.keyboard.press('Enter')
    await page.getByText('you did not confirm the order').waitFor()
    assert.equal(wholesaler.sends.length, 1)
    await page.click(`${PLACE} .execute`)
    await page.click('dialog button.danger')
    await page.locator(`${PLACE} .live-responses-table`).getByText('REAL-1').first().waitFor()
    assert.equal(wholesaler.sends.length, 2)
    await page.locator('#mode', { hasText: 'cost real money' }).waitFor()
    await t.app.operator.distributors.setMode({ distid: 'TST', mode: 'simulator', reason: 'done' })
  })

  test('on a phone the reference does not move sideways, and its fields and buttons can be hit', async () => {
    await using visited = await openReference(PHONE)
    const { page } = visited
    assert.equal(await sideways(page), 0)
    await page.fill('#key', t.key)
    for (const id of [PING, '#operations-products-productsSearch', PLACE])
      await openOperation(page, id)
    await execute(page, PING)
    await page.locator(`${PING} .live-responses-table .response`).waitFor()
    assert.equal(await sideways(page), 0)
    for (const selector of [
      '#key',
      '#key-form button',
      '#filter',
      '.top nav a',
      `${PING} .opblock-summary-control`,
      `${PING} .execute`,
      `${PLACE} .try-out__btn`,
      '#operations-products-productsSearch tr[data-param-name="q"] input',
      `${PING} .refusal-button`,
    ]) {
      const { width, height, x } = (await page.locator(selector).first().boundingBox())!
      assert.ok(
        height >= 39.5 && width >= 40 && x >= 0 && x + width <= 390,
        `${selector}: ${width} x ${height} at ${x}`,
      )
    }
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

  test('who asks for dark pages gets them', async () => {
    const ground = (page: Page) => page.evaluate('getComputedStyle(document.body).backgroundColor')
    await using visited = await openReference()
    const { page } = visited
    const summary = () =>
      page.evaluate('getComputedStyle(document.querySelector(".opblock-summary-path")).color')
    const light = [await ground(page), await summary()]
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.locator('html.dark-mode').waitFor()
    const dark = [await ground(page), await summary()]
    assert.deepEqual([light[0], dark[0]], ['rgb(255, 255, 255)', 'rgb(19, 24, 22)'])
    // Swagger UI follows: its words are dark on light, then light on dark.
    const brightness = (colour: unknown) =>
      [...String(colour).matchAll(/\d+/g)]
        .slice(0, 3)
        .reduce((sum, [part]) => sum + Number(part), 0)
    assert.ok(brightness(light[1]) < 300 && brightness(dark[1]) > 500, `${light[1]}, ${dark[1]}`)
    await page.goto(listening.url + addressOf(PAGES[0]!))
    assert.equal(await ground(page), 'rgb(19, 24, 22)')
  })
})
