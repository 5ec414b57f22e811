import { demoStories } from '../../../lib/simulator/market/stories.js'
import { prepareDemo } from '../../../lib/app/demo.js'
import type { Demo } from '../../../lib/app/demo.js'
import { UsageError } from '../command.js'
import type { Command } from '../command.js'
import { databaseFromEnvironment } from '../../env.js'
import { SERVE_OPTIONS, serve } from './serve.js'
import { present } from '../../../lib/core/present.js'

/** Three calls to try: look for something, ask who sells it cheapest, and order it. */
function curlLines(url: string, { key }: Demo): string {
  const { accessory } = demoStories()
  const { distid, distsku } = present(accessory.offers[0], 'the offer of the demo')
  const order = {
    order_id: 'DEMO-1',
    customer: {
      name: 'Pat Doe',
      email: 'pat@customer.example',
      phone: '602-555-0100',
      address1: '12 Main St',
      city: 'Phoenix',
      state: 'AZ',
      zip: '85001',
    },
    items: [{ distid, distsku, upc: accessory.upc, qty: 1 }],
  }
  return [
    `curl -s -H 'x-api-key: ${key}' ` +
      `'${url}/v1/products/search?q=bipod&in_stock=true&sort=price&page_size=3'`,
    `curl -s -H 'x-api-key: ${key}' '${url}/v1/orders/quote' -d ` +
      `'{"items":[{"upc":"${accessory.upc}","qty":2}]}'`,
    `curl -s -H 'x-api-key: ${key}' '${url}/v1/orders' -d '${JSON.stringify(order)}'`,
  ].join('\n\n')
}

export const demoCommand: Command = {
  name: 'demo',
  summary: 'Serve a made-up shop with simulated distributors; nothing real is ordered',
  effect: 'serves',
  ...SERVE_OPTIONS,
  example: 'quartermaster demo --port 8080',
  run: async (invocation) => {
    if (databaseFromEnvironment() !== undefined || invocation.values['database-file'] !== undefined)
      throw new UsageError('a demo is one folder: unset QUARTERMASTER_DATABASE and _FILE')
    let demo: Demo
    await serve(
      invocation,
      (app, { url, admin, console }) => {
        invocation.out.line(
          [
            `Quartermaster serves a simulated shop at ${url}/v1 (state in ${app.dir}).`,
            [
              `Key (this machine only): ${demo.key}`,
              `Read: ${url}/v1/docs/guide`,
              `Try in a browser: ${url}/v1/docs`,
              ...(console === null ? [] : [`Console (works once): ${console}`]),
            ].join('\n'),
            'Try here:',
            curlLines(url, demo),
            'The order ships after two minutes: ask for /v1/orders/DEMO-1 again and again. ' +
              'Stop with Ctrl-C; the next start keeps data and key.',
          ].join('\n\n'),
        )
        invocation.out.result({ url, admin, console, key: demo.key, subscriber: demo.subscriber })
      },
      async (app) => {
        demo = await prepareDemo(app)
      },
      'sign_in',
    )
  },
}
