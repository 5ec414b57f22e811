import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { openForTest } from '../../server/testing/open.js'
import type { WatchedApp } from '../../server/testing/open.js'
import { WITHOUT_BROWSER, openBrowser } from '../docs/browser.js'
import { SHOP, serveConsole } from './console.js'
import type { ServedConsole } from './console.js'
import { assertClean, barriers, button, enter, field, goTo, settled, told } from './visit.js'
import type { Browser, Page, Visit } from './visit.js'

const AWAY = 'The server does not answer.'

describe('a server that is started anew under an open page', { skip: WITHOUT_BROWSER }, () => {
  const root = mkdtempSync(join(tmpdir(), 'qm-restart-'))
  let app: WatchedApp
  let console: ServedConsole
  let browser: Browser
  const start = async () => {
    app = await openForTest({ dir: join(root, 'state') })
    console = await serveConsole(app, console && Number(new URL(console.url).port))
  }
  const stop = async () => {
    await console?.close()
    await app?.close()
  }
  before(async () => {
    await start()
    await app.operator.subscribers.create({ name: SHOP, email: 'owner@shop.example' })
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await stop()
    rmSync(root, { recursive: true, force: true })
  })
  /** What the browser itself says of a server that is away is no fault of the page. */
  const assertCleanOtherwise = (visited: Visit) =>
    assertClean(
      {
        ...visited,
        complaints: visited.complaints.filter((text) => !/net::ERR_|status of 404/.test(text)),
      },
      console.url,
    )

  test('a form says so, keeps what was typed, and is sent when it is back', async () => {
    await using visited = await enter(browser, console)
    const { page } = visited
    await goTo(page, 'dealers/add')
    const fields = {
      'License number, in full': '1-57-033-01-9E-67890',
      Name: 'DESERT ARMS LLC',
      Street: '400 E Van Buren St',
      City: 'Phoenix',
      State: 'AZ',
      ZIP: '85004',
      Why: 'new, and on no list yet',
    }
    for (const [label, value] of Object.entries(fields)) await field(page, label).fill(value)
    const add = page.locator('form').getByRole('button', { name: 'Add a dealer' })
    await stop()
    await add.click()
    await page.getByRole('alert').getByText(AWAY).waitFor()
    for (const [label, value] of Object.entries(fields))
      assert.equal(await field(page, label).inputValue(), value)
    await start()
    await add.click()
    await page.getByRole('heading', { name: 'DESERT ARMS LLC', level: 1 }).waitFor()
    assertCleanOtherwise(visited)
  })

  test('a page that was opened without it fills itself, and the sign-in holds', async () => {
    await using visited = await enter(browser, console)
    const { page } = visited
    await stop()
    await goTo(page, 'accounts')
    await page.getByRole('alert').getByText(AWAY).first().waitFor()
    await button(page, 'Try again').waitFor()
    assert.deepEqual(await barriers(page), [])
    await start()
    await page.getByText(SHOP).first().waitFor()
    await page.getByRole('alert').first().waitFor({ state: 'detached' })
    await page.reload()
    await settled(page)
    await page.getByRole('heading', { name: 'Accounts', level: 1 }).waitFor()
    assertCleanOtherwise(visited)
  })

  test('a configuration that is being written outlasts it, and is saved', async () => {
    await using visited = await enter(browser, console)
    const { page } = visited
    await goTo(page, 'configuration')
    await write(page, 'pat@shop.example')
    await stop()
    await button(page, 'Save …').click()
    const dialog = page.getByRole('dialog', { name: 'What saving will do' })
    await dialog.getByRole('alert').getByText(AWAY).first().waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Save', exact: true }).isDisabled(), true)
    await start()
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await told(page, 'Saved as version 1.')
    const { configuration } = await app.as(SHOP).config.get()
    assert.equal(configuration['notification_email'], 'pat@shop.example')
    assertCleanOtherwise(visited)
  })

  test('work that ended with it is told as lost, and can be done again', async () => {
    await using visited = await enter(browser, console)
    const { page } = visited
    await goTo(page, 'operating/backups')
    await button(page, 'Make a backup').click()
    const dialog = page.getByRole('dialog', { name: 'Make a backup' })
    await dialog.getByLabel('Folder').fill(join(root, 'backup'))
    // The page has begun the work, and is about to hear of it.
    await page.route(
      '**/operator/jobs/*/events',
      async (route) => {
        await stop()
        await start()
        await route.abort('connectionreset')
      },
      { times: 1 },
    )
    const make = dialog.getByRole('button', { name: 'Make a backup' })
    await make.click()
    await dialog.getByText('The server was started anew meanwhile').waitFor()
    await dialog.getByLabel('Folder').fill(join(root, 'another'))
    await make.click()
    await told(page, /another holds/)
    assertCleanOtherwise(visited)
  })
})

/** Writes the address for messages into the document. */
async function write(page: Page, email: string): Promise<void> {
  const json = page.locator('textarea.code')
  const document = JSON.parse(await json.inputValue()) as Record<string, unknown>
  await json.fill(JSON.stringify({ ...document, notification_email: email }, null, 2))
}
