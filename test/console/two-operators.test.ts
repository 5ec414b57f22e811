import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { WITHOUT_BROWSER, openBrowser } from '../docs/browser.js'
import { SHOP, openConsole } from './console.js'
import type { DemoConsole } from './console.js'
import { assertClean, barriers, button, enter, goTo, told } from './visit.js'
import type { Browser, Page } from './visit.js'

interface Saved {
  version: number
  configuration: {
    notification_email: string
    distributors: Record<string, { drop_ship_only_items: boolean }>
  }
}

const EMAIL = /"notification_email": "[^"]*"/

describe('two operators at one configuration', { skip: WITHOUT_BROWSER }, () => {
  let console: DemoConsole
  let browser: Browser
  before(async () => {
    console = await openConsole({ offers: 20, history: false })
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await console?.close()
  })

  const saved = async () => {
    const read = await console.app.operate('configurations.read', { subscriber: SHOP })
    const { configuration: document, version } = read as Saved
    const { drop_ship_only_items: rsr } = document.distributors['RSR Group']!
    return { version, email: document.notification_email, rsr }
  }

  test('the save that comes second is told who changed what, and both are kept', async () => {
    await using pat = await enter(browser, console)
    await using ann = await enter(browser, console, { who: 'ann' })
    for (const { page } of [pat, ann]) await goTo(page, 'configuration')
    const first = await saved()
    await write(pat.page, EMAIL, '"notification_email": "pat@shop.example"')
    await ann.page.getByLabel('Drop ship only items').check()
    await save(ann.page)
    await told(ann.page, `Saved as version ${first.version + 1}`)

    await save(pat.page)
    const dialog = pat.page.getByRole('dialog', { name: 'Somebody saved in between' })
    await dialog.getByText(`Version ${first.version + 1} by console:ann`).waitFor()
    const change = dialog.getByRole('row', { name: /RSR Group\/drop_ship_only_items/ })
    await change.getByText('stays', { exact: true }).waitFor()
    assert.deepEqual(await barriers(pat.page), [])
    const meanwhile = { version: first.version + 1, email: first.email, rsr: true }
    assert.deepEqual(await saved(), meanwhile, 'nothing was overwritten')

    await dialog.getByRole('button', { name: 'Put mine on top' }).click()
    await sayYes(pat.page)
    await told(pat.page, `Saved as version ${first.version + 2}`)
    assert.deepEqual(await saved(), {
      version: first.version + 2,
      email: 'pat@shop.example',
      rsr: true,
    })
    // The refusal is one that the browser tells of.
    const complaints = pat.complaints.filter((text) => !/ 412 /.test(text))
    assertClean({ ...pat, complaints }, console.url)
    assertClean(ann, console.url)
  })

  test('what both changed is named before one replaces the other', async () => {
    await using pat = await enter(browser, console)
    await using ann = await enter(browser, console, { who: 'ann' })
    for (const { page } of [pat, ann]) await goTo(page, 'configuration')
    const { version } = await saved()
    await write(pat.page, EMAIL, '"notification_email": "pat@two.example"')
    await write(ann.page, EMAIL, '"notification_email": "ann@two.example"')
    await save(ann.page)
    await told(ann.page, `Saved as version ${version + 1}`)

    await save(pat.page)
    const dialog = pat.page.getByRole('dialog', { name: 'Somebody saved in between' })
    const change = dialog.getByRole('row', { name: /notification_email/ })
    await change.getByText('ann@two.example').waitFor()
    await change.getByText('yours replaces it').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    const json = pat.page.locator('textarea.code')
    assert.match(await json.inputValue(), /pat@two\.example/, 'what was written is still there')
    await button(pat.page, 'Discard').click()
    assert.match(await json.inputValue(), /ann@two\.example/, 'and theirs, once it is given up')
    assert.equal((await saved()).email, 'ann@two.example')
  })
})

/** Changes the document as JSON. */
async function write(page: Page, what: RegExp, by: string): Promise<void> {
  const json = page.locator('textarea.code')
  const text = await json.inputValue()
  assert.match(text, what)
  await json.fill(text.replace(what, by))
}

async function save(page: Page): Promise<void> {
  await button(page, 'Save …').click()
  await sayYes(page)
}

/** Has seen what saving will do. */
async function sayYes(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'What saving will do' })
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
}
