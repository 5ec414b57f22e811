/**
 * A shop on a socket for other people's tools: simulated RSR Group, dealers with documents, a rule
 * that blocks, a reported buyer.
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { addDemoDealers } from '../../lib/simulator/market/dealers.js'
import { demoSettings } from '../../lib/simulator/profiles.js'
import { listen } from '../../server/http/listen.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'

/** The tools have a lockfile of their own; without them there is nothing to hold against. */
export const TOOLS = resolve('scripts/conformance/node_modules')
export const skipped = existsSync(join(TOOLS, '.bin'))
  ? false
  : 'scripts/conformance has no node_modules: run `npm ci` there'

export const UPC = '012345678905'
export const GUN_UPC = '012345678912'
/** A magazine that must not go to California. */
export const BLOCKED_UPC = '012345678929'

export interface ThirdPartyShop extends TestApp {
  url: string
  /** A dealer with a valid license and its document on file. */
  license: string
  stop(): Promise<void>
}

export async function thirdPartyShop(): Promise<ThirdPartyShop> {
  const t = await createTestApp()
  await t.stock([
    {
      distid: 'RSR',
      stockid: 'A1',
      upc: UPC,
      name: 'Bipod',
      mfgName: 'Ridgeline',
      price: 2_500,
      qty: 500,
    },
    {
      distid: 'RSR',
      stockid: 'G1',
      upc: GUN_UPC,
      name: 'Pistol',
      mfgName: 'Ridgeline',
      price: 40_000,
      qty: 200,
      fflReq: true,
      dropShip: false,
      productClass: 'FA',
      categoryName: 'Semi Auto Handguns',
    },
    {
      distid: 'RSR',
      stockid: 'M1',
      upc: BLOCKED_UPC,
      name: 'Magazine 30rd',
      price: 1_500,
      qty: 90,
      productClass: 'MG',
      attributes: { magazine_capacity: '30' },
    },
  ])
  const { api_user: user, api_password: password } = demoSettings('RSR')
  await t.configure({
    distributors: {
      'RSR Group': {
        distid: 'RSR',
        fulfillment: {
          API_USER: user,
          API_PASSWORD: password,
          ffl_recipient_emails: ['ffl@shop.example'],
        },
      },
    },
  })
  await addDemoDealers(t.app.ctx)
  await t.app.operator.rules.accept()
  const { license_number: license } = await t.app.ctx.read
    .selectFrom('dealer_document')
    .innerJoin('dealer', 'dealer.id', 'dealer_document.dealer_id')
    .select('license_number')
    .where('kind', '=', 'ffl')
    .where('expires_on', '>', '2027-12-31')
    .orderBy('license_number')
    .executeTakeFirstOrThrow()
  const listening = await listen(t.server, { port: 0, host: '127.0.0.1' })
  t.app.listensAt(listening.url)
  return {
    ...t,
    url: listening.url,
    license,
    async stop() {
      await listening.close(1_000)
      await t.close()
    },
  }
}
