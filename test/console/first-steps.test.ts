import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { openForTest } from '../../server/testing/open.js'
import type { WatchedApp } from '../../server/testing/open.js'
import { WITHOUT_BROWSER, openBrowser } from '../docs/browser.js'
import { serveConsole } from './console.js'
import type { ServedConsole } from './console.js'
import { button, enter, field, goTo, settled, told } from './visit.js'
import type { Browser, Page } from './visit.js'
import { until } from '../harness/until.js'

const HEADER = 'ITEMNO,DESCRIPTION1,UPC,PRICE,QUANTITY,FFLREQUIRED,MANUFACTURER,TYPE'
const ROW = 'MA1,Magpul magazine 9mm,764510633522,10.00,5,N,Magpul,Magazine'

describe('the first steps in the console', { skip: WITHOUT_BROWSER }, () => {
  let root: string
  let app: WatchedApp
  let console: ServedConsole
  let browser: Browser
  before(async () => {
    root = mkdtempSync(join(tmpdir(), 'qm-first-'))
    app = await openForTest({ dir: join(root, 'state') })
    console = await serveConsole(app)
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await console?.close()
    await app?.close()
    rmSync(root, { recursive: true, force: true })
  })

  const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true })
  const saveAs = async (page: Page, version: number) => {
    await button(page, 'Save …').click()
    const dialog = page.getByRole('dialog', { name: 'What saving will do' })
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await told(page, `Saved as version ${version}.`)
  }
  const choose = async (page: Page, text: string) => {
    const file = join(root, 'feed.csv')
    writeFileSync(file, text)
    await field(page, 'Distributor').selectOption('LIP')
    await page.locator('input[type=file]').setInputFiles(file)
    await button(page, 'Read it').click()
  }

  test('lead from nothing to the offers of a shop, and are gone then', async () => {
    await using visited = await enter(browser, console)
    const { page } = visited
    await goTo(page, '')
    const steps = page.getByRole('heading', { name: 'First steps' })
    await steps.waitFor()
    await link(page, 'Add a shop').click()
    assert.equal(await button(page, 'Create a key').first().isDisabled(), true, 'no shop yet')
    const dialog = page.getByRole('dialog', { name: 'Add a shop' })
    await dialog.getByLabel('Name').fill('Hilltop')
    await dialog.getByLabel('E-mail').fill('joe@hilltop.example')
    await dialog.getByRole('button', { name: 'Add a shop' }).click()
    await told(page, 'Hilltop is added.')

    await goTo(page, 'distributors/LIP')
    await link(page, 'Configure it').click()
    await button(page, 'Add Lipseys').click()
    assert.equal(await field(page, 'Active').first().isChecked(), true)
    await page.locator('summary', { hasText: 'the fulfillment settings' }).waitFor()
    await field(page, 'API user').fill('joe@hilltop.example')
    await field(page, 'API password').fill('wrong')
    await saveAs(page, 1)

    await goTo(page, 'distributors/LIP')
    await button(page, 'Check now').click()
    await told(page, 'The credentials were refused.')
    await page.getByText('demo@demo-shop.example').waitFor()
    await link(page, 'Edit the credentials').click()
    await field(page, 'API user').fill('demo@demo-shop.example')
    await field(page, 'API password').fill('demo-lipseys')
    // What was typed is shown nowhere, and still there after the rest was changed as JSON.
    const json = page.locator('textarea.code')
    await until(
      async () => /"demo@[^]*••••••••"/.test(await json.inputValue()),
      'the JSON follows the form',
    )
    const text = await json.inputValue()
    assert.match(text, /"demo@demo-shop\.example"/)
    assert.match(text, /"••••••••"/)
    assert.doesNotMatch(text, /demo-lipseys/)
    await json.fill(text.replace('"active": true', '"active": false'))
    await json.fill(text)
    assert.equal(await field(page, 'Active').first().isChecked(), true)
    // Dots with nothing behind them are no secret.
    await json.fill(text.replace('"••••••••"', '"••••••••", "other": "••••••••"'))
    await page.getByText('This is not JSON').waitFor()
    await json.fill(text)
    await saveAs(page, 2)
    await goTo(page, 'distributors/LIP')
    await button(page, 'Check now').click()
    await told(page, 'The credentials hold.')

    await goTo(page, 'feeds/first')
    await choose(page, 'Artikel;Preis\nMA1;10,00\n')
    await page.getByText('Nothing was read of this file').waitFor()
    await button(page, 'Choose another file').click()
    await choose(page, `${HEADER}\n${ROW}\n`)
    await button(page, 'Take it in').click()
    await link(page, 'Look at the catalog').click()
    await page.getByText('The shop sees no offer').waitFor()
    await button(page, 'Show what is hidden').click()
    await page.getByText('Magpul magazine 9mm').click()
    await page.getByText('drop_ship_only_items is on').waitFor()

    await goTo(page, '')
    await page.getByRole('heading', { name: 'What waits for you' }).waitFor()
    await settled(page)
    assert.equal(await steps.count(), 0, 'nothing is missing any more')
  })
})
