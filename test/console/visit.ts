/** A visitor of the console: a browser without a network, and what is asked of every page. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { BrowserContextOptions } from 'playwright-core'
import { DESKTOP, PHONE, visit } from '../docs/browser.js'
import type { Browser, Page, Visit } from '../docs/browser.js'
import { PASSWORD } from './console.js'
import type { ServedConsole, Who } from './console.js'

export type { Browser, Page, Visit } from '../docs/browser.js'

const AXE = readFileSync('node_modules/axe-core/axe.min.js', 'utf8')

export const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { ...DESKTOP, viewport: { width: 1440, height: 900 } },
  dark: { ...DESKTOP, viewport: { width: 1440, height: 900 }, colorScheme: 'dark' },
  phone: PHONE,
}

/** Opens the console in a fresh profile, signed in. */
export async function enter(
  browser: Browser,
  console: ServedConsole,
  { look = DESKTOP, who = 'pat' }: { look?: BrowserContextOptions; who?: Who } = {},
): Promise<Visit> {
  const visited = await visit(browser, `${console.url}/`, {
    ...look,
    ...(await console.profile(who)),
  })
  await visited.page.locator('main h1').waitFor()
  return visited
}

/** Goes to a page, and waits until it has loaded all that it shows. */
export async function goTo(page: Page, address: string): Promise<void> {
  const hash = JSON.stringify(`#/${address}`)
  await page.evaluate(`new Promise((moved) => {
    if (window.location.hash === ${hash}) return moved()
    window.addEventListener('hashchange', moved, { once: true })
    window.location.hash = ${hash}
  })`)
  await settled(page)
}

/** Nothing is waited for any more. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main h1').waitFor()
  // A read begins after the page was painted: only then can it be seen to be waited for.
  await page.evaluate(
    'new Promise((after) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(after))))',
  )
  await page.locator('.waiting, [aria-busy=true]').first().waitFor({ state: 'detached' })
}

interface Violation {
  id: string
  help: string
  nodes: { html: string; failureSummary: string }[]
}

const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/**
 * What keeps somebody out, by WCAG 2.2 AA, in words; empty where nothing does. `rules` are the only
 * ones that are looked at, where the others were before.
 */
export async function barriers(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.evaluate(`window.axe || (() => { ${AXE} })()`)
  // The browser itself puts axe into the page: the page's policy has no say in it.
  const { violations } = (await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(rules ?? STANDARDS)} })`,
  )) as { violations: Violation[] }
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n${html}\n${failureSummary}`),
  )
}

/** Everything came from this server, and nothing was complained of. */
export function assertClean({ requests, complaints }: Visit, origin: string): void {
  assert.deepEqual(
    requests.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith('blob:')),
    [],
  )
  assert.deepEqual(complaints, [])
}

export const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' }).first()
/** By its label. */
export const field = (page: Page, label: string | RegExp) =>
  page.getByLabel(label, { exact: typeof label === 'string' }).first()

/** Gives the password where an act asks for it again. */
export async function confirm(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Your password, please' })
  await dialog.getByLabel('Password').fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await dialog.waitFor({ state: 'detached' })
}

/** Waits until it is told at the edge of the page. */
export const told = (page: Page, text: string | RegExp) =>
  page.locator('.toast', { hasText: text }).first().waitFor()
