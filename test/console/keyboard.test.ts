import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { MINUTE, SECOND } from '../../lib/core/clock.js'
import { DESKTOP, WITHOUT_BROWSER, openBrowser, visit } from '../docs/browser.js'
import { REVIEW, orderShop } from '../orders/shop.js'
import type { OrderShop } from '../orders/shop.js'
import { scripted } from '../orders/scripted-distributor.js'
import { PASSWORD, serveConsole } from './console.js'
import type { ServedConsole } from './console.js'
import { assertClean, settled, told } from './visit.js'
import type { Browser, Page } from './visit.js'

/** Presses of Tab that lead somewhere on any page. */
const FAR = 60

interface Focused {
  name: string
  /** Something of it can be seen to have the focus. */
  isSeen: boolean
}

/** What has the focus, by the name that a reader of the screen would say. */
const focused = (page: Page): Promise<Focused> =>
  page.evaluate<Focused>(`(() => {
    const one = document.activeElement
    const own = one.getAttribute('aria-label') ?? one.labels?.[0]?.innerText ?? one.innerText ?? ''
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one)
    const after = getComputedStyle(one, '::after')
    const isOutlined = ({ outlineStyle, outlineWidth }) =>
      outlineStyle !== 'none' && parseFloat(outlineWidth) > 0
    return {
      name: own.trim(),
      isSeen: isOutlined({ outlineStyle, outlineWidth }) || boxShadow !== 'none' || isOutlined(after),
    }
  })()`)

/** Presses Tab until that has the focus; every place on the way shows that it has it. */
async function tabTo(page: Page, name: string): Promise<void> {
  const passed: string[] = []
  for (let i = 0; i < FAR; i++) {
    const now = await focused(page)
    if (now.name === name) {
      assert.ok(now.isSeen, `nobody can see that "${name}" has the focus`)
      return
    }
    passed.push(now.name)
    await page.keyboard.press('Tab')
  }
  assert.fail(`Tab does not lead to "${name}", but to ${passed.join(' | ')}`)
}

async function focusOn(page: Page, name: string): Promise<void> {
  for (let i = 0; i < 100; i++) {
    if ((await focused(page)).name === name) return
    await page.waitForTimeout(20)
  }
  assert.equal((await focused(page)).name, name)
}

async function write(page: Page, name: string, text: string): Promise<void> {
  await tabTo(page, name)
  await page.keyboard.type(text)
}

describe('the console without a mouse', { skip: WITHOUT_BROWSER }, () => {
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

  test('goes from the door to an order in review, and decides it', async () => {
    t.expectErrors(REVIEW)
    wholesaler.acts.push({ accept: false, answer: { outcome: 'unknown', reason: 'timeout' } })
    const { order_id: order } = t.body()
    await t.place(t.body({ order_id: order }))
    await t.later(10 * SECOND)
    await using visited = await visit(browser, `${console.url}/`, DESKTOP)
    const { page } = visited
    // At the door the cursor is in the password, where most are known by no name.
    await page.getByRole('heading', { name: 'Sign in to Quartermaster' }).waitFor()
    await focusOn(page, 'Password')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.type('pat')
    await write(page, 'Password', PASSWORD)
    await page.keyboard.press('Enter')
    await settled(page)
    // For so long nobody is asked again after signing in.
    t.clock.advance(6 * MINUTE)
    await page.keyboard.press('g')
    await page.keyboard.press('o')
    await page.getByRole('heading', { name: 'Orders', level: 1 }).waitFor()
    await settled(page)
    await tabTo(page, 'Needs a decision')
    await page.keyboard.press('Enter')
    await settled(page)
    await page.getByRole('link', { name: order }).waitFor()
    await page.keyboard.press('j')
    await focusOn(page, order)
    await page.keyboard.press('Enter')
    await settled(page)
    await tabTo(page, 'Decide what became of it')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Decide what became of it' })
    await dialog.waitFor()
    /** From the button that opens the dialog to its second step. */
    const fillIn = async () => {
      await page.keyboard.press('Enter')
      await write(page, 'Its number there', 'TEL-88')
      await write(page, 'How do you know?', 'their desk, by telephone')
      await page.keyboard.press('Enter')
      await dialog.getByText(/will stand as placed under TEL-88/).waitFor()
    }
    // Escape leads back to where it was opened.
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await focusOn(page, 'Decide what became of it')
    await fillIn()
    // An Enter too many decides nothing: it closes what it finds, and all begins anew.
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    assert.equal((await t.purchaseOrders()).at(-1)?.state, 'review')
    await tabTo(page, 'Decide what became of it')
    await fillIn()
    await tabTo(page, 'Yes, it is so')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Your password, please' }).waitFor()
    await focusOn(page, 'Password')
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')
    await told(page, 'Decided. It is Placed now.')
    assert.equal((await t.purchaseOrders()).at(-1)?.distributor_order_id, 'TEL-88')
    // The session before the door, and the password that is asked for again, are refusals.
    assertClean(
      { ...visited, complaints: visited.complaints.filter((text) => !/ (401|403) /.test(text)) },
      console.url,
    )
  })

  test('reaches every page by two letters, the search by a slash, and all else by the palette', async () => {
    await using visited = await visit(browser, `${console.url}/`, {
      ...DESKTOP,
      ...(await console.profile()),
    })
    const { page } = visited
    await settled(page)
    for (const [letter, name] of [
      ['c', 'Catalog'],
      ['f', 'Feeds'],
      ['d', 'Distributors'],
      ['s', 'Configuration'],
      ['r', 'Restrictions'],
      ['l', 'Dealers'],
      ['x', 'Fraud'],
      ['k', 'Accounts'],
      ['a', 'Analytics'],
      ['p', 'Operating'],
      ['t', 'Today'],
    ] as const) {
      await page.keyboard.press('g')
      await page.keyboard.press(letter)
      await page.getByRole('heading', { name, level: 1 }).waitFor()
      await focusOn(page, name)
    }
    await page.keyboard.press('g')
    await page.keyboard.press('l')
    await page.getByRole('heading', { name: 'Dealers', level: 1 }).waitFor()
    await page.keyboard.press('/')
    await focusOn(page, 'Search')
    await page.keyboard.type('g o')
    assert.equal(new URL(page.url()).hash.startsWith('#/dealers'), true, 'letters are text there')
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog').first()
    await palette.waitFor()
    await page.keyboard.type('backup')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Operating', level: 1 }).waitFor()
    assertClean(visited, console.url)
  })
})
