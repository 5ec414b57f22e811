import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { WITHOUT_BROWSER, openBrowser, visit } from '../docs/browser.js'
import { until } from '../exports/child.js'
import { BIPOD, SHOP, openConsole } from './console.js'
import type { DemoConsole } from './console.js'
import { barriers, button, enter, field, goTo, settled, told } from './visit.js'
import type { Browser } from './visit.js'

describe('what the console does', { skip: WITHOUT_BROWSER }, () => {
  let console: DemoConsole
  let browser: Browser
  before(async () => {
    console = await openConsole()
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await console?.close()
  })

  test('a link lets somebody choose a password, who signs out and comes back with it', async () => {
    await using visited = await visit(browser, await console.link('kim'))
    const { page } = visited
    await field(page, 'Password').fill('too short')
    await page.getByText('It needs at least 12 characters.').waitFor()
    await field(page, 'Password').fill('long enough for it')
    await field(page, 'The same again').fill('long enough for it')
    await button(page, 'Set password').click()
    await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor()
    assert.ok(!page.url().includes('link='), 'the token left the address')
    await button(page, 'Sign out').click()
    await page.getByRole('heading', { name: 'Sign in to Quartermaster' }).waitFor()
    await field(page, 'Name').fill('kim')
    await field(page, 'Password').fill('something else of it')
    await button(page, 'Sign in').click()
    await page.getByRole('alert').waitFor()
    await field(page, 'Password').fill('long enough for it')
    await button(page, 'Sign in').click()
    await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor()
  })

  test('a key is made, shown once, and ends for good', async () => {
    await using visited = await enter(browser, console)
    const { page } = visited
    await goTo(page, 'accounts')
    await button(page, 'Create a key').click()
    const dialog = page.getByRole('dialog', { name: 'Create a key' })
    await dialog.getByLabel('What for').fill('web shop')
    await dialog.getByLabel('Addresses that may call').fill('203.0.113.7')
    await dialog.getByRole('button', { name: 'Create a key' }).click()
    const key = await page.getByRole('dialog', { name: 'The new key' }).locator('code').innerText()
    assert.match(key, /^[A-Z0-9]{40}$/)
    await button(page, 'I have kept it').click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.ok(!(await page.content()).includes(key), 'it is not in the page any more')
    await page.getByRole('link', { name: 'web shop' }).click()
    await settled(page)
    await field(page, 'Address').fill('203.0.113.8')
    await button(page, 'Allow it').click()
    await page.getByRole('cell', { name: '203.0.113.8' }).waitFor()
    await button(page, 'Cancel for good').click()
    await page
      .getByRole('dialog', { name: 'Cancel for good' })
      .getByRole('button', { name: 'Cancel for good' })
      .click()
    await page.locator('.badge', { hasText: 'cancelled' }).waitFor()
    assert.equal(console.app.findKey(key)?.status, 'cancelled')
  })

  test('form and JSON of the configuration follow each other, and saving shows what it does', async () => {
    await using visited = await enter(browser, console)
    const { page } = visited
    await goTo(page, 'configuration')
    const json = page.locator('textarea.code')
    await field(page, 'Drop ship only items').check()
    assert.match(
      await json.inputValue(),
      /"RSR Group": \{\s+"active": true,[^}]*"drop_ship_only_items": true/,
    )
    await json.fill(
      (await json.inputValue()).replace(
        '"drop_ship_only_items": true',
        '"drop_ship_only_items": "x"',
      ),
    )
    await page.locator('.badge.bad', { hasText: '1 fault' }).waitFor()
    await json.fill(
      (await json.inputValue())
        .replace('"drop_ship_only_items": "x"', '"drop_ship_only_items": false')
        .replace('"active": true', '"active": false'),
    )
    assert.equal(await field(page, 'Active').isChecked(), false)
    await button(page, 'Save …').click()
    const dialog = page.getByRole('dialog', { name: 'What saving will do' })
    await dialog.getByRole('heading', { name: /offers would vanish/ }).waitFor()
    await dialog.getByLabel('I know, and want it so').check()
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await told(page, /Saved as version \d+/)
    assert.ok(
      !(await json.inputValue()).match(/"API_PASSWORD": "(?!\*{8})/),
      'no credential is shown',
    )
    await goTo(page, 'configuration/history')
    await page.getByRole('cell', { name: '/distributors/RSR Group/active' }).waitFor()
    await button(page, 'Roll back …').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back …' }).click()
    // What was told of the version before may still stand there.
    await until(async () => {
      const { configuration } = await console.app.as(SHOP).config.get()
      const { distributors } = configuration as Record<string, Record<string, { active: boolean }>>
      return distributors!['RSR Group']!.active
    })
    await told(page, /Saved as version \d+/)
  })

  test('a feed from a file is looked at in three steps before it is served', async () => {
    await using visited = await enter(browser, console)
    const { page } = visited
    await goTo(page, 'feeds/first')
    await field(page, 'Distributor').selectOption('DAV')
    await field(page, 'File').setInputFiles({
      name: 'davidsons_inventory.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(davidsons(30)),
    })
    await button(page, 'Read it').click()
    await page.getByRole('heading', { name: 'The first 20 rows' }).waitFor()
    await button(page, 'Take it in').click()
    await page.getByRole('heading', { name: 'Taken in.' }).waitFor()
    const sources = await console.app.operator.feeds.status()
    assert.equal(sources.find(({ distid }) => distid === 'DAV')?.offers, 30)
  })

  test('an item shows its price and stock of 90 days, as lines and in figures', async () => {
    await using visited = await enter(browser, console)
    const { page } = visited
    await goTo(page, `catalog/${BIPOD}`)
    // The metrics of a demo that has just started are made first: one such process at a time.
    await until(() => console.app.ctx.analytics.status() !== null)
    await button(page, 'Show the course').click()
    const figures = page.getByRole('group', { name: 'Stock, as figures' })
    await figures.waitFor()
    await page.getByRole('img', { name: 'Stock' }).waitFor()
    assert.deepEqual(await figures.getByRole('columnheader').allInnerTexts(), [
      'Day',
      'CSSI',
      'LIP',
      'RSR',
    ])
    assert.equal(await figures.getByRole('row').count(), 1 + 91)
    assert.deepEqual(await barriers(page), [])
  })

  test('a starter family is accepted, and the tester says by which law something is blocked', async () => {
    await using visited = await enter(browser, console)
    const { page } = visited
    await goTo(page, 'restrictions/starter')
    await page
      .getByRole('region', { name: 'Magazines' })
      .getByRole('button', { name: 'Accept' })
      .click()
    await told(page, /rules? added/)
    await goTo(page, 'restrictions')
    await field(page, 'State').fill('CA')
    await field(page, 'Product class').selectOption('MG')
    await field(page, 'Attributes').fill('magazine_capacity=30')
    await button(page, 'Test it').click()
    await page.getByRole('heading', { name: 'It must not be sold there' }).waitFor()
    await page.getByText('us-ca-magazine-10').waitFor()
    await page.getByRole('link', { name: /Cal. Penal Code § 32310/ }).waitFor()
  })

  test('a webhook is added, its secret shown once, and taken away again', async () => {
    await using visited = await enter(browser, console)
    const { page } = visited
    await goTo(page, 'operating/events')
    await page.getByText('Nobody is told', { exact: true }).waitFor()
    await button(page, 'Add a webhook').click()
    const dialog = page.getByRole('dialog', { name: 'Add a webhook' })
    await dialog.getByLabel('Sent to').fill('http://alerts.example/hook')
    await dialog.getByRole('button', { name: 'Add a webhook' }).click()
    await dialog
      .getByText(/must begin with https/)
      .first()
      .waitFor()
    await dialog.getByLabel('Sent to').fill('https://alerts.example/hook?token=abc')
    await dialog.getByRole('button', { name: 'Add a webhook' }).click()
    const shown = page.getByRole('dialog', { name: 'The secret of the webhook' })
    assert.match((await shown.locator('code').textContent())!, /^[\w-]{32,}$/)
    await shown.getByRole('button', { name: 'I have kept it' }).click()
    const row = page.getByRole('row').filter({ hasText: 'alerts.example' })
    assert.doesNotMatch((await row.textContent())!, /token=abc/)
    await row.getByRole('button', { name: 'Remove' }).click()
    await told(page, /is told no more/)
    await page.getByText('Nobody is told', { exact: true }).waitFor()
  })

  test('a backup is made, verified and rehearsed; a job runs when asked', async () => {
    await using visited = await enter(browser, console)
    const { page } = visited
    await goTo(page, 'operating/backups')
    await button(page, 'Make a backup').click()
    const dialog = page.getByRole('dialog', { name: 'Make a backup' })
    await dialog.getByLabel('Folder').fill(`${console.app.dir}-backup`)
    await dialog.getByRole('button', { name: 'Make a backup' }).click()
    await told(page, /holds/)
    const proof = page.getByRole('dialog', { name: `${console.app.dir}-backup` })
    for (const [name, fact] of [
      ['Verify', 'Files'],
      ['Rehearse', 'Put back in'],
    ] as const) {
      await button(page, name).click()
      await proof.getByText('It can be relied on.').waitFor()
      await proof.getByText(fact).waitFor()
      await page.keyboard.press('Escape')
    }
    await goTo(page, 'operating/jobs')
    await page
      .getByRole('button', { name: /^Run now: / })
      .first()
      .click()
    await told(page, /: done\./)
  })

  test('a feed that lost its rows stands beside the last good one, and is accepted', async () => {
    const file = join(console.app.dir, 'davidsons.csv')
    const take = async (rows: number) => {
      writeFileSync(file, davidsons(rows))
      return console.app.operator.feeds.import({ distid: 'DAV', file })
    }
    await take(40)
    assert.equal((await take(10)).outcome, 'refused')
    await using visited = await enter(browser, console)
    const { page } = visited
    await goTo(page, 'feeds')
    await page.getByRole('link', { name: 'DAV/davidsons' }).click()
    await page.getByRole('heading', { name: 'The refused feed' }).waitFor()
    await page
      .getByText(/offers are gone|of the offers|gone/)
      .first()
      .waitFor()
    await page.getByRole('row', { name: /^Rows 10 40$/ }).waitFor()
    await button(page, 'Take it all the same').click()
    await told(page, 'Taken in.')
    const sources = await console.app.operator.feeds.status()
    assert.equal(sources.find(({ distid }) => distid === 'DAV')?.rows, 10)
  })

  test('a dealer is added, gets the copy of its license, and is found by its name', async () => {
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
    await page
      .getByRole('form')
      .or(page.locator('form'))
      .getByRole('button', { name: 'Add a dealer' })
      .click()
    await page.getByRole('heading', { name: 'DESERT ARMS LLC', level: 1 }).waitFor()
    await field(page, 'Store a copy: License (FFL)').setInputFiles({
      name: 'license.pdf',
      mimeType: 'application/pdf',
      buffer: Buffer.from('%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n'),
    })
    await told(page, 'Stored.')
    await page.locator('.badge', { hasText: /^stored$/ }).waitFor()
    await goTo(page, 'dealers?q=desert arms')
    await page.getByRole('link', { name: /DESERT ARMS/i }).waitFor()
  })

  test('an override is added with its reason, and withdrawn', async () => {
    await using visited = await enter(browser, console)
    const { page } = visited
    await goTo(page, 'restrictions/overrides')
    await button(page, 'Add an override').click()
    const dialog = page.getByRole('dialog', { name: 'Add an override' })
    await dialog.getByLabel('Effect').selectOption('block')
    await dialog.getByLabel('UPCs').fill(BIPOD)
    await dialog.getByLabel('Why').fill('recalled by its maker')
    await dialog.getByRole('button', { name: 'Add an override' }).click()
    await told(page, 'The override holds.')
    await page.getByRole('cell', { name: /recalled by its maker \(pat\)/ }).waitFor()
    await button(page, 'Withdraw').click()
    await told(page, 'It holds no more.')
    await page.locator('.badge', { hasText: 'ended' }).waitFor()
  })

  test('a partner is added and removed, somebody is invited, and a sign-in is ended', async () => {
    await using visited = await enter(browser, console)
    const { page } = visited
    await goTo(page, 'fraud')
    await button(page, 'Add a partner').click()
    const dialog = page.getByRole('dialog', { name: 'Add a partner' })
    await dialog.getByLabel('Partner').fill('north-guns')
    await dialog.getByLabel('Key').fill('ab'.repeat(32))
    await dialog.getByRole('button', { name: 'Add a partner' }).click()
    await told(page, 'north-guns is a partner now.')
    await goTo(page, 'operating/people')
    await button(page, 'Invite somebody').click()
    await page.getByRole('dialog', { name: 'Invite somebody' }).getByLabel('Name').fill('lee')
    await button(page, 'Make a link').click()
    const link = page.getByRole('dialog', { name: 'A link that works once' })
    assert.match(await link.locator('code').innerText(), /\/#link=[\w-]+$/)
    await page.keyboard.press('Escape')
    await page.getByRole('cell', { name: 'lee', exact: true }).waitFor()
  })

  test('who may only look is offered nothing that changes anything', async () => {
    await using visited = await enter(browser, console, { who: 'sam' })
    const { page } = visited
    const acts = new RegExp(
      '^(Create a key|Add a shop|Take in a file|Pull now|Go live …|Stop enforcing|' +
        'Make a backup|Add an override|Invite somebody)$',
    )
    for (const address of [
      'accounts',
      'feeds',
      'distributors/RSR',
      'restrictions',
      'operating/backups',
      'operating/people',
    ]) {
      await goTo(page, address)
      assert.equal(await page.getByRole('button', { name: acts }).count(), 0, address)
    }
  })

  test('all of it goes by the keyboard alone', async () => {
    await using visited = await enter(browser, console)
    const { page } = visited
    const heading = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('c')
    await heading('Catalog')
    await page.keyboard.press('/')
    await page.keyboard.type(BIPOD)
    await page.getByText('3 offers').waitFor()
    await page.keyboard.press('Tab')
    await page.locator('body').press('Escape')
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Offers side by side' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await page.keyboard.type('doctor')
    await page.keyboard.press('Enter')
    await heading('Operating')
  })
})

/** A Davidson's file of so many rifles. */
function davidsons(rows: number): string {
  const lines = Array.from(
    { length: rows },
    (_, i) =>
      `R${i},A rifle,${(400 + i).toFixed(2)},5,0123456789${String(i).padStart(2, '0')},RIFLE: BOLT ACTION`,
  )
  return ['Item #,Item Description,Dealer Price,Quantity,UPC Code,Gun Type', ...lines, ''].join(
    '\n',
  )
}
