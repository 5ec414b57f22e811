/** A headless Chromium for a suite, without any network but this machine's loopback. */
import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

export type { Browser, Page } from 'playwright-core'

const EXECUTABLE = '/usr/bin/chromium'

/** Why the suites that need a browser are skipped; false where there is one. */
export const WITHOUT_BROWSER = existsSync(EXECUTABLE) ? false : `there is no ${EXECUTABLE}`

/** Every name but the address of loopback leads nowhere: the network is unplugged. */
const UNPLUGGED = '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1'

export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: EXECUTABLE,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      UNPLUGGED,
    ],
  })
}

export interface Visit {
  page: Page
  /** Addresses of all requests, in turn; those of data: are left out. */
  requests: string[]
  /**
   * What the browser complained of: errors and warnings of the console, violations of the policy,
   * uncaught exceptions.
   */
  complaints: string[]
  [Symbol.asyncDispose](): Promise<void>
}

export const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 900 } }
export const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
}

/** Opens an address in a fresh profile. */
export async function visit(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = DESKTOP,
): Promise<Visit> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const requests: string[] = []
  const complaints: string[] = []
  context.on('request', (request) => {
    if (!request.url().startsWith('data:')) requests.push(request.url())
  })
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.goto(address)
  return { page, requests, complaints, [Symbol.asyncDispose]: () => context.close() }
}

/** How far the page can be moved sideways, in pixels. */
export function sideways(page: Page): Promise<number> {
  return page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
}
