/** The shop of a soak run: the demo with Davidson's beside it, a feed of many rows, many keys. */
import { execFile } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import { command } from './server.js'
import type { Answer, Place, SoakServer } from './server.js'

const execute = promisify(execFile)
const FEED_SCRIPT = fileURLToPath(new URL('feed.ts', import.meta.url))
const TSX = fileURLToPath(new URL('../../node_modules/tsx/dist/cli.mjs', import.meta.url))
/** A key of the highest tier may ask a thousand times a minute, and place sixty orders an hour. */
const KEYS = 24

export interface SoakShop {
  keys: string[]
  /** UPCs of all kinds of offers. */
  upcs: string[]
  /** Lines of orders that go to a customer's door. */
  items: { distid: string; distsku: string; upc: string }[]
}

/** Writes the feed as it is in its so manieth update; it takes the place of the last one. */
export async function writeFeed(file: string, rows: number, update: number): Promise<void> {
  await execute('nice', [process.execPath, TSX, FEED_SCRIPT, file, `${rows}`, `${update}`])
}

/** Sets up the running demo; `feed` is the file, which its schedule takes every so many minutes. */
export async function prepareShop(
  place: Place,
  server: SoakServer,
  feed: { file: string; rows: number; everyMinutes: number },
): Promise<SoakShop> {
  const subscriber = String(server.first['subscriber'])
  const scratch = mkdtempSync(join(tmpdir(), 'qm-soak-'))
  const saved = (await command(place, 'config', 'get', '--subscriber', subscriber)) as {
    configuration: { distributors: Record<string, unknown> }
  }
  saved.configuration.distributors['Davidsons'] = {
    active: true,
    distid: 'DAV',
    drop_ship_only_items: false,
    shipping: { flat_rate: { cost: 12, shipping_class: 'standard' } },
    product_restrictions: { min_quantity_to_list: 1 },
  }
  const document = join(scratch, 'config.json')
  writeFileSync(document, JSON.stringify(saved.configuration))
  await command(place, 'config', 'put', document, '--subscriber', subscriber)
  await command(place, 'feeds', 'set', 'DAV', feed.file, '--every', `${feed.everyMinutes}`)
  await command(place, 'config', 'validate', '--subscriber', subscriber)
  const keys: string[] = [String(server.first['key'])]
  for (let i = 1; i < KEYS; i++) {
    const made = await command(
      place,
      'keys',
      'create',
      '--subscriber',
      subscriber,
      '--name',
      `soak ${i}`,
      '--email',
      'soak@shop.example',
      '--tier',
      'enterprise',
      '--ip',
      '127.0.0.1',
    )
    keys.push(String(made['key']))
  }
  const ask = asker(server, keys)
  await untilTaken(ask)
  const upcs: string[] = []
  for (const query of ['distributor=DAV', 'in_stock=true', 'distributor=DAV&sort=-price'])
    for (let page = 1; page <= 5; page++)
      upcs.push(...(await found(ask, `${query}&page=${page}`)).map(({ upc }) => String(upc)))
  const items: SoakShop['items'] = []
  for (let page = 1; page <= 10; page++)
    for (const offer of await found(
      ask,
      `in_stock=true&drop_ship_only=true&ffl_required=false&sort=-qty&page=${page}`,
    )) {
      const { distid, distsku, upc } = offer as Record<string, string>
      if (distid !== 'DAV') items.push({ distid: distid!, distsku: distsku!, upc: upc! })
    }
  return { keys, upcs: upcs.filter((upc) => /^\d{8,14}$/.test(upc)), items }
}

type Ask = (path: string) => Promise<Answer>

function asker(server: SoakServer, keys: readonly string[]): Ask {
  let turn = 0
  return async (path) => {
    const key = keys[turn++ % keys.length]!
    const response = await fetch(`${server.url}${path}`, { headers: { 'x-api-key': key } })
    return (await response.json()) as Answer
  }
}

async function found(ask: Ask, query: string): Promise<Answer[]> {
  const { data } = (await ask(`/v1/products/search?page_size=100&${query}`)) as {
    data: { products: Answer[] }
  }
  return data.products
}

/** Waits until the first feed can be searched. */
async function untilTaken(ask: Ask): Promise<void> {
  for (;;) {
    const { success, data } = (await ask('/v1/products/search?distributor=DAV&page_size=1')) as {
      success: boolean
      data?: { total: number }
    }
    if (success && data!.total > 0) return
    await sleep(2_000)
  }
}
