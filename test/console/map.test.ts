import { after, before, describe, test } from 'node:test'
import { WITHOUT_BROWSER, openBrowser } from '../docs/browser.js'
import { SHOP, openConsole } from './console.js'
import type { DemoConsole } from './console.js'
import { enter, field, goTo } from './visit.js'
import type { Browser } from './visit.js'

describe('the map of the states', { skip: WITHOUT_BROWSER }, () => {
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

  test('tells how much of a class is blocked in each, and what a shop is exempt from', async () => {
    await console.app.operator.rules.accept(['magazines', 'ammunition'])
    await using visited = await enter(browser, console)
    const { page } = visited
    const tile = (name: string) => page.getByRole('link', { name }).first()
    await goTo(page, 'restrictions/map')
    await tile('California: 1 rule that blocks; some, by a law').click()
    const state = page.getByRole('region', { name: 'California: 1 rule that blocks' })
    await state
      .getByRole('row', { name: /us-ca-magazine-10 some of it .*magazine_capacity/ })
      .waitFor()
    await field(page, 'Product class').selectOption('AO')
    await tile('New York: 2 rules that block; the whole class').waitFor()
    await tile('Texas: 1 rule that blocks; some, by a law').waitFor()
    await field(page, 'Goes to').selectOption('ffl')
    await tile('New York: 1 rule that blocks; some, by a law').waitFor()
    await console.app.operate('rules.override', {
      subscriber: SHOP,
      effect: 'allow',
      rule_ids: ['us-ny-ammunition'],
      author: 'Pat',
      reason: 'they have a license',
    })
    await goTo(page, 'restrictions/map?product_class=AO&state=NY')
    await page.getByRole('region', { name: 'New York: 1 rule that blocks' }).waitFor()
    await page.getByText('us-ny-ammunition: Lifted by an override of Pat: they have a').waitFor()
  })
})
