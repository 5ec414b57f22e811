import { demoStories } from '../../lib/simulator/stories.js'
import { prepareDemo } from '../../lib/simulator/demo.js'
import type { Demo } from '../../lib/simulator/demo.js'
import type { Command } from '../command.js'
import { SERVE_OPTIONS, serve } from './serve.js'

/** Three calls to try, the last of them a quote. */
function curlLines(url: string, { key }: Demo): string {
  const { accessory } = demoStories()
  return [
    `curl -s -H 'x-api-key: ${key}' '${url}/v1/products/search?q=9mm&in_stock=true&sort=price&page_size=3'`,
    `curl -s -H 'x-api-key: ${key}' '${url}/v1/products/${accessory.upc}'`,
    `curl -s -H 'x-api-key: ${key}' '${url}/v1/orders/quote' -d '{"items":[{"upc":"${accessory.upc}","qty":2}]}'`,
  ].join('\n\n')
}

export const demoCommand: Command = {
  name: 'demo', summary: 'Serve a made-up shop with simulated distributors; nothing real is ordered', effect: 'serves', ...SERVE_OPTIONS,
  example: 'quartermaster demo --port 8080',
  run: async (invocation) => {
    let demo: Demo
    await serve(invocation, (app, url) => {
      invocation.out.line(`Quartermaster serves a simulated shop at ${url}/v1 (state in ${app.dir}).\n\nKey (this machine only): ${demo.key}\n\nTry:\n\n${curlLines(url, demo)}\n\nStop with Ctrl-C; the next start keeps data and key.`)
      invocation.out.result({ url, key: demo.key, subscriber: demo.subscriber })
    }, async (app) => { demo = await prepareDemo(app) })
  },
}
