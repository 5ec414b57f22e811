import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { HOUR, MINUTE, SECOND } from '../../lib/core/clock.js'
import { pauseOrders } from '../../lib/orders/engine/pause.js'
import { WITHOUT_BROWSER, openBrowser } from '../docs/browser.js'
import { REVIEW, orderShop } from '../orders/shop.js'
import type { OrderShop } from '../orders/shop.js'
import { scripted } from '../orders/scripted-distributor.js'
import { serveConsole } from './console.js'
import type { ServedConsole } from './console.js'
import { assertClean, barriers, button, confirm, enter, goTo, settled, told } from './visit.js'
import type { Browser } from './visit.js'

describe('an order in the console', { skip: WITHOUT_BROWSER }, () => {
  const wholesaler = scripted({ recovery: 'one_shot', withoutFind: true })
  let t: OrderShop
  let console: ServedConsole
  let browser: Browser
  before(async () => {
    t = await orderShop([wholesaler])
    console = await serveConsole(t.app)
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await console?.close()
    await t?.close()
  })

  test('that nobody could find out about is decided in two steps', async () => {
    t.expectErrors(REVIEW)
    await t.place(t.body())
    const taken = (await t.purchaseOrders()).at(-1)?.distributor_order_id
    assert.ok(taken)
    wholesaler.acts.push({ accept: false, answer: { outcome: 'unknown', reason: 'timeout' } })
    const { order_id: order } = t.body()
    await t.place(t.body({ order_id: order }))
    await t.later(10 * SECOND)
    await using visited = await enter(browser, console)
    const { page } = visited
    // For so long nobody is asked again after signing in.
    t.clock.advance(6 * MINUTE)
    await goTo(page, 'orders?show=review')
    await page.getByRole('link', { name: order }).click()
    await settled(page)
    await button(page, 'Decide what became of it').click()
    const dialog = page.getByRole('dialog', { name: 'Decide what became of it' })
    const check = dialog.getByRole('button', { name: 'Check the decision' })
    await dialog.getByLabel('Its number there').fill(taken)
    await dialog.getByLabel('How do you know?').fill('their desk, by telephone')
    assert.deepEqual(await barriers(page), [])
    await check.click()
    await dialog.getByText(`${taken} stands on another purchase order of TST`).waitFor()
    await dialog.getByLabel('Its number there').fill('TEL-77')
    await check.click()
    await dialog.getByText(/will stand as placed under TEL-77/).waitFor()
    assert.deepEqual((await t.purchaseOrders()).at(-1)?.state, 'review', 'nothing is decided yet')
    await dialog.getByRole('button', { name: 'Yes, it is so' }).click()
    await confirm(page)
    await told(page, 'Decided. It is Placed now.')
    await page
      .getByText(/decided by console:pat: the distributor has it as TEL-77/)
      .first()
      .waitFor()
    assert.equal((await t.purchaseOrders()).at(-1)?.distributor_order_id, 'TEL-77')
    // The password is asked for by a refusal, which the browser tells of.
    assertClean(
      { ...visited, complaints: visited.complaints.filter((text) => !/ (400|403) /.test(text)) },
      console.url,
    )
  })

  test('is placed again after a pause, once somebody has looked at what is in doubt', async () => {
    t.expectErrors(/orders are paused/)
    const now = t.clock.ms
    await pauseOrders(t.app.ctx, {
      reason: 'restored from a backup',
      lookBackTo: now - HOUR,
      isForgetful: true,
    })
    await using visited = await enter(browser, console)
    const { page } = visited
    await goTo(page, 'orders')
    await page.getByText('restored from a backup').waitFor()
    await button(page, 'Look for forgotten orders').click()
    const dialog = page.getByRole('dialog', { name: 'Look for forgotten orders' })
    await dialog.getByText('Open purchase orders').waitFor()
    assert.deepEqual(await barriers(page), [])
    const doubt = dialog.getByLabel('I have looked at what is in doubt')
    await doubt.waitFor()
    const resume = dialog.getByRole('button', { name: 'Let orders go on' })
    assert.equal(await resume.isDisabled(), true)
    await doubt.check()
    await resume.click()
    await told(page, 'Orders are placed again.')
    await page.getByText('restored from a backup').waitFor({ state: 'detached' })
  })

  test('is tried without sending it', async () => {
    const sends = wholesaler.sends.length
    await using visited = await enter(browser, console)
    const { page } = visited
    await goTo(page, 'orders/preflight')
    await button(page, 'Fill in an example').click()
    await button(page, 'Try it').click()
    await page.getByText('It would be taken in and sent').waitFor()
    assert.equal(wholesaler.sends.length, sends)
  })
})
