import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { builtin } from '../../lib/distributors/builtin/index.js'
import { defineDistributor } from '../../lib/distributors/distributor.js'
import type { CheckOutcome } from '../../lib/distributors/distributor.js'
import { MINUTE } from '../../lib/core/clock.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { WITHOUT_BROWSER, openBrowser } from '../docs/browser.js'
import { isSigned, openHook } from '../events/rig.js'
import { MAY, dealers, listedOnes, take, text } from '../ffls/lists.js'
import { UPC, offersOf } from '../orders/shop.js'
import { scripted } from '../orders/scripted-distributor.js'
import { serveConsole } from './console.js'
import type { ServedConsole } from './console.js'
import { assertClean, barriers, button, confirm, enter, field, goTo, told } from './visit.js'
import type { Browser, Visit } from './visit.js'

/** What the real one says of credentials. */
const real = { outcome: 'invalid' as CheckOutcome }
const { connector } = scripted()
const acme = defineDistributor({
  distid: 'ACME',
  name: 'Acme',
  automatedFulfillment: true,
  api: { url: 'https://api.acme.example/v1/' },
  settings: {
    user: { type: 'string', label: 'User', path: 'fulfillment-user', credential: true },
  },
  fulfillment: connector,
  check: async () => real.outcome,
  simulator: connector,
})

describe('what the console shows before it is done', { skip: WITHOUT_BROWSER }, () => {
  let t: TestApp
  let console: ServedConsole
  let browser: Browser
  before(async () => {
    t = await createTestApp({ distributors: [...builtin, acme] })
    await t.stock(offersOf('ACME'))
    await t.configure({
      distributors: { Acme: { distid: 'ACME', fulfillment: { user: 'shop-7' } } as never },
    })
    console = await serveConsole(t.app)
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await console?.close()
    await t?.close()
  })
  /** So long after signing in that the password is asked for again. */
  const enterEarlier = async () => {
    const visited = await enter(browser, console)
    t.clock.advance(6 * MINUTE)
    return visited
  }
  /** The browser tells of each refusal; asking for the password begins with one. */
  const assertCleanOtherwise = (visited: Visit) =>
    assertClean(
      {
        ...visited,
        complaints: visited.complaints.filter((text) => !/ (400|403|409) /.test(text)),
      },
      console.url,
    )

  test('going live: the real one is asked, the code is typed, the password given', async () => {
    await using visited = await enterEarlier()
    const { page } = visited
    const mode = () => t.app.ctx.modes.of('ACME')
    await goTo(page, 'distributors/ACME')
    await button(page, 'Go live …').click()
    const dialog = page.getByRole('dialog', { name: 'Go live with Acme' })
    const goLive = dialog.getByRole('button', { name: 'Go live …' })
    await dialog.getByText('https://api.acme.example/v1/').waitFor()
    await dialog.getByRole('row', { name: /Test shop shop-7 refused/ }).waitFor()
    await dialog.getByLabel('Reason').fill('agreed with their desk')
    await dialog.getByLabel('Type ACME to go on').fill('acme')
    assert.equal(await goLive.isDisabled(), true, 'it is not their code')
    await dialog.getByLabel('Type ACME to go on').fill('ACME')
    assert.deepEqual(await barriers(page), [])
    await goLive.click()
    await confirm(page)
    await dialog.getByText(/does not take these: Test shop \(refused\)/).waitFor()
    assert.equal(mode(), 'simulator')

    real.outcome = 'valid'
    t.clock.advance(6 * MINUTE)
    await goLive.click()
    assert.equal(mode(), 'simulator', 'not before the password')
    await confirm(page)
    await told(page, 'Orders with Acme are real now.')
    assert.equal(mode(), 'live')
    await page.locator('.badge', { hasText: /^live$/ }).waitFor()
    const [act] = await t.app.operator.audit.list({ limit: 1, action: 'distributors.' })
    assert.equal(act?.actor, 'console:pat')

    await button(page, 'Back to the simulator').click()
    await page
      .getByRole('dialog', { name: 'Back to the simulator' })
      .getByRole('button', { name: 'Back to the simulator' })
      .click()
    await told(page, 'New orders go to the simulator.')
    assert.equal(mode(), 'simulator')
    assertCleanOtherwise(visited)
  })

  test('rules: which would come, and how many offers they block, state by state', async () => {
    await using visited = await enterEarlier()
    const { page } = visited
    const rule = {
      rule_id: 'no-bipods',
      kind: 'BLOCK',
      scope: { state: ['CA'] },
      match: { upc: [UPC] },
      legal_status: 'policy',
      customer_message: 'Not to California.',
    }
    const known = async () => (await t.app.operator.rules.list()).length
    const before = await known()
    await goTo(page, 'restrictions/import')
    await field(page, 'The rules').fill(JSON.stringify([{ ...rule, kind: 'FORBID' }]))
    await button(page, 'Compare').click()
    await page.getByRole('alert').waitFor()
    await field(page, 'The rules').fill(JSON.stringify([rule]))
    await button(page, 'Compare').click()
    await page.getByRole('row', { name: 'no-bipods added' }).waitFor()
    await page.getByRole('row', { name: 'CA 0 1 0 0 1' }).waitFor()
    assert.equal(await known(), before, 'nothing was taken in')
    await button(page, 'Take them in').click()
    await confirm(page)
    await told(page, /1 rule added/)
    assert.equal(await known(), before + 1)
    assertCleanOtherwise(visited)
  })

  test('a list of dealers: removals that look wrong are held until somebody says so', async () => {
    await take(t, dealers(100), { asOf: MAY })
    await using visited = await enterEarlier()
    const { page } = visited
    await goTo(page, 'dealers/import')
    await field(page, 'File').setInputFiles({
      name: 'november.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from(text(dealers(90))),
    })
    await button(page, 'Look at it').click()
    const held = page.getByRole('group', { name: 'Held removals' })
    await held.getByRole('row', { name: /^GA 10 100/ }).waitFor()
    assert.deepEqual(await barriers(page), [])
    await button(page, 'Take it in').click()
    await told(page, 'The list is taken in.')
    assert.equal((await listedOnes(t)).length, 100, 'held, although it was taken in')

    await button(page, 'Look at it').click()
    await field(page, 'The list is whole: remove them').check()
    await button(page, 'Take it in').click()
    await held.waitFor({ state: 'detached' })
    assert.equal((await listedOnes(t)).length, 90)
    assertCleanOtherwise(visited)
  })

  test('a receiver: a test reaches it, signed with the secret that was shown', async () => {
    await using hook = await openHook()
    await using visited = await enterEarlier()
    const { page } = visited
    await goTo(page, 'operating/events')
    await button(page, 'Add a webhook').click()
    const dialog = page.getByRole('dialog', { name: 'Add a webhook' })
    await dialog.getByLabel('Sent to').fill(hook.url)
    await dialog.getByRole('button', { name: 'Add a webhook' }).click()
    await confirm(page)
    const shown = page.getByRole('dialog', { name: 'The secret of the webhook' })
    const secret = await shown.locator('code').innerText()
    await shown.getByRole('button', { name: 'I have kept it' }).click()
    await button(page, 'Send a test').click()
    await told(page, 'All of them are told that this is a test.')
    await t.app.deliveries.pass()
    await hook.told(1)
    assert.equal(isSigned(hook.got[0]!, secret), true)
    await button(page, 'Add a mail address').click()
    const mail = page.getByRole('dialog', { name: 'Add a mail address' })
    await mail.getByLabel('Sent to').fill('pat@shop.example')
    await mail.getByRole('button', { name: 'Add a mail address' }).click()
    await told(page, 'pat@shop.example is told from now on.')
    await page.getByRole('row', { name: /^Mail pat@shop\.example/ }).waitFor()
    assertCleanOtherwise(visited)
  })
})
