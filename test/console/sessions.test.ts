import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { allOperations } from '../../lib/app/operations/index.js'
import { HOUR, SECOND } from '../../lib/core/clock.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { WITHOUT_BROWSER, openBrowser } from '../docs/browser.js'
import { PASSWORD, serveConsole } from './console.js'
import type { ServedConsole } from './console.js'
import { assertClean, button, confirm, enter, field, goTo, settled, told } from './visit.js'
import type { Browser, Page, Visit } from './visit.js'

describe('a sign-in in the console', { skip: WITHOUT_BROWSER }, () => {
  let t: TestApp
  let console: ServedConsole
  let browser: Browser
  before(async () => {
    t = await createTestApp()
    console = await serveConsole(t.app)
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await console?.close()
    await t?.close()
  })
  /** The browser tells of each refusal. */
  const assertCleanOtherwise = (visited: Visit) =>
    assertClean(
      { ...visited, complaints: visited.complaints.filter((text) => !/ (401|403) /.test(text)) },
      console.url,
    )

  test('ends after twelve hours: the page asks for it, and comes back to where it was', async () => {
    await using visited = await enter(browser, console)
    const { page } = visited
    await goTo(page, 'operating/people')
    t.clock.advance(12 * HOUR - SECOND)
    await goTo(page, 'dealers?q=desert')
    await page.getByRole('heading', { name: 'Dealers', level: 1 }).waitFor()
    t.clock.advance(SECOND)
    await field(page, 'On file').selectOption('yes')
    await signInAgain(page)
    await page.getByRole('heading', { name: 'Dealers', level: 1 }).waitFor()
    assert.equal(new URL(page.url()).hash, '#/dealers?q=desert&on_file=yes')
    assert.equal(await field(page, 'Search').inputValue(), 'desert')
    assertCleanOtherwise(visited)
  })

  test('that ends while somebody types shows nothing, and gives back what was typed to them alone', async () => {
    await using visited = await enter(browser, console)
    const { page } = visited
    const dialog = page.getByRole('dialog', { name: 'Add a shop' })
    const type = async () => {
      await goTo(page, 'accounts')
      await button(page, 'Add a shop').click()
      await dialog.getByLabel('Name').fill('Typed before')
      await dialog.getByLabel('E-mail').fill('typed@shop.example')
      t.clock.advance(12 * HOUR)
      await dialog.getByRole('button', { name: 'Add a shop' }).click()
      await page.getByRole('dialog', { name: 'Sign in to Quartermaster' }).waitFor()
      assert.doesNotMatch(await page.locator('body').innerText(), /Test shop|Typed before/)
      assert.equal(await dialog.isVisible(), false)
    }
    await type()
    // The door stays shut without a password.
    await page.keyboard.press('Escape')
    await button(page, 'Sign in').waitFor()
    assert.equal(await page.locator('.door').getByLabel('Name').inputValue(), 'pat')
    await signInAgain(page)
    assert.equal(await dialog.getByLabel('E-mail').inputValue(), 'typed@shop.example')
    await dialog.getByRole('button', { name: 'Add a shop' }).click()
    await told(page, 'Typed before is added.')
    // Somebody else at the same desk begins anew.
    await type()
    await signInAgain(page, 'ann')
    await page.getByRole('heading', { name: 'Accounts', level: 1 }).waitFor()
    // The address opens the dialog; nothing of what was typed is in it.
    assert.equal(await dialog.getByLabel('Name').inputValue(), '')
    assert.equal(await dialog.getByLabel('E-mail').inputValue(), '')
    assertCleanOtherwise(visited)
  })

  test('that another operator ends does nothing from then on', async () => {
    await using pat = await enter(browser, console)
    await using ann = await enter(browser, console, { who: 'ann' })
    await goTo(pat.page, 'accounts')
    await button(pat.page, 'Add a shop').click()
    const dialog = pat.page.getByRole('dialog', { name: 'Add a shop' })
    await dialog.getByLabel('Name').fill('Stolen shop')
    await dialog.getByLabel('E-mail').fill('stolen@shop.example')
    await goTo(ann.page, 'operating/people')
    const others = ann.page
      .getByRole('group', { name: 'Signed in now' })
      .getByRole('row')
      .filter({ has: ann.page.getByRole('cell', { name: 'pat', exact: true }) })
    for (let left = await others.count(); left > 0; left--) {
      await others.first().getByRole('button', { name: 'End it' }).click()
      await told(ann.page, 'That sign-in is over.')
      await settled(ann.page)
    }
    const rows = await auditRows()
    await dialog.getByRole('button', { name: 'Add a shop' }).click()
    await pat.page.getByRole('heading', { name: 'Sign in to Quartermaster' }).waitFor()
    assert.equal(await auditRows(), rows)
    const shops = await t.app.operator.subscribers.list()
    assert.deepEqual(
      shops.filter(({ name }) => name === 'Stolen shop'),
      [],
    )
    await signInAgain(pat.page)
    await pat.page.getByRole('heading', { name: 'Accounts', level: 1 }).waitFor()
    assertCleanOtherwise(pat)
  })

  test('that ended and began anew in another tab goes on in this one', async () => {
    await using visited = await enter(browser, console)
    const { page } = visited
    await goTo(page, 'accounts')
    const other = await page.context().newPage()
    await other.goto(`${console.url}/`)
    await button(other, 'Sign out').click()
    await signInAgain(other)
    await settled(other)
    await button(page, 'Add a shop').click()
    const dialog = page.getByRole('dialog', { name: 'Add a shop' })
    await dialog.getByLabel('Name').fill('Second shop')
    await dialog.getByLabel('E-mail').fill('second@shop.example')
    await dialog.getByRole('button', { name: 'Add a shop' }).click()
    await told(page, 'Second shop is added.')
    assertCleanOtherwise(visited)
  })

  test('that ended in another tab leads to the door here, and what is behind it is gone', async () => {
    await using visited = await enter(browser, console)
    const { page } = visited
    await goTo(page, 'accounts')
    const other = await page.context().newPage()
    await other.goto(`${console.url}/`)
    await button(other, 'Sign out').click()
    await other.getByRole('heading', { name: 'Sign in to Quartermaster' }).waitFor()
    await page.getByRole('heading', { name: 'Sign in to Quartermaster' }).waitFor()
    assert.doesNotMatch(await page.content(), /Test shop/)
    assertCleanOtherwise(visited)
  })

  test('asks for the password again before an act that costs, and does nothing without it', async () => {
    await using visited = await enter(browser, console)
    const { page } = visited
    t.clock.advance(6 * 60 * SECOND)
    await goTo(page, 'accounts?make=key')
    const dialog = page.getByRole('dialog', { name: 'Create a key' })
    await dialog.getByLabel('What for').fill('till')
    const before = (await t.app.operator.keys.list()).length
    const create = dialog.getByRole('button', { name: 'Create a key' })
    await create.click()
    const asked = page.getByRole('dialog', { name: 'Your password, please' })
    await asked.getByLabel('Password').fill('not the password')
    await asked.getByRole('button', { name: 'Confirm' }).click()
    await asked.getByRole('alert').waitFor()
    await page.keyboard.press('Escape')
    await asked.waitFor({ state: 'detached' })
    await dialog.getByRole('alert').waitFor()
    assert.equal((await t.app.operator.keys.list()).length, before)
    await create.click()
    await confirm(page)
    await page.getByRole('dialog', { name: 'The new key' }).waitFor()
    assert.equal((await t.app.operator.keys.list()).length, before + 1)
    assertCleanOtherwise(visited)
  })

  test('of a viewer does nothing by any call that its page could make', async () => {
    await using visited = await enter(browser, console, { who: 'sam' })
    const rows = await auditRows()
    const acts = allOperations.filter(({ effect }) => effect === 'writes').map(({ id }) => id)
    const told = await visited.page.evaluate<string[]>(`(async () => {
      const session = await (await fetch('/operator/session')).json()
      const headers = { 'content-type': 'application/json', 'x-csrf': session.data.csrf }
      return Promise.all(${JSON.stringify(acts)}.map(async (id) => {
        const path = '/operator/' + id.replace('.', '/')
        const answer = await fetch(path, { method: 'POST', headers, body: '{}' })
        return answer.status + ' ' + (await answer.json()).error.code
      }))
    })()`)
    assert.ok(told.length > 30)
    assert.deepEqual([...new Set(told)], ['403 viewer_may_not'])
    assert.equal(await auditRows(), rows)
    assertCleanOtherwise(visited)
  })

  test('is of no use to a page of another port, which the browser sends its cookie from', async () => {
    await using visited = await enter(browser, console)
    const cookies: (string | undefined)[] = []
    const strange = createServer((request, response) => {
      cookies.push(request.headers.cookie)
      response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Another page</title>')
    })
    strange.listen(0, '127.0.0.1')
    await once(strange, 'listening')
    try {
      const other = await visited.page.context().newPage()
      await other.goto(`http://127.0.0.1:${(strange.address() as AddressInfo).port}/`)
      assert.match(cookies[0] ?? '', /quartermaster/, 'cookies know no ports')
      const rows = await auditRows()
      const read = await other.evaluate(
        `fetch('${console.url}/operator/session', { credentials: 'include' })
          .then(() => 'read', () => 'not read')`,
      )
      assert.equal(read, 'not read')
      // A form may go anywhere, and its text may look like JSON.
      await other.setContent(
        `<form method="post" enctype="text/plain" action="${console.url}/operator/subscribers/create">
          <input name='{"name":"Forged","email":"forged@shop.example","x":"' value='"}'>
          <button>Win a prize</button>
        </form>`,
      )
      await button(other, 'Win a prize').click()
      await other.getByText('wrong_origin').waitFor()
      assert.equal(await auditRows(), rows)
    } finally {
      strange.closeAllConnections()
      strange.close()
    }
  })

  const auditRows = async () => (await t.app.operator.audit.verify()).rows
})

/** At the door. */
async function signInAgain(page: Page, who = 'pat'): Promise<void> {
  await page.getByRole('heading', { name: 'Sign in to Quartermaster' }).waitFor()
  const door = page.locator('.door')
  await door.getByLabel('Name').fill(who)
  await door.getByLabel('Password').fill(PASSWORD)
  await door.getByRole('button', { name: 'Sign in' }).click()
}
