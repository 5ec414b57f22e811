/** Chattanooga's product feed as a simulator gives it out: an address that is good for one file. */
import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { MINUTE } from '../../../core/clock.js'
import { csvRow } from '../../../simulator/market/units.js'
import type { World } from '../../../simulator/engine/world.js'
import type { WireAnswer, WireRequest } from '../../../simulator/wire/http-simulator.js'
import { json } from './simulator-answers.js'
import type { Call } from '../../../simulator/wire/posted-order.js'
import { CHATTANOOGA_COLUMNS } from './simulated-feed.js'
import { isFirearm, itemsOf } from './simulator-items.js'
import type { Item } from './simulator-items.js'

/** Milliseconds from one feed to the next. */
const EVERY = 20 * MINUTE
/** Milliseconds for which an address is good. */
const SIGNED_FOR = 60 * MINUTE
const FOLDER = '/signed-feeds/'
/** Addresses that are remembered at a time. */
const ADDRESSES = 100
/** One item of so many has further images. */
const PICTURED = 4

/** Columns that come on request; under which title each comes is not known. */
const OPTIONAL: Readonly<Record<string, (item: Item) => string>> = {
  specifications: () => '',
  gun_model: (item) => (isFirearm(item) ? item['Manufacturer Item Number']! : ''),
  serialized_flag: (item) => (isFirearm(item) ? '1' : '0'),
}

interface Wanted {
  readonly columns: readonly string[]
  readonly isPrimaryOnly: boolean
  readonly until: number
}

export interface ProductFeeds {
  /** `GET items/product-feed`: an address, or too soon. */
  ask(call: Call): WireAnswer
  /** The file behind an address; undefined for a call that is of something else. */
  download(request: WireRequest): WireAnswer | undefined
}

export function productFeeds(world: World): ProductFeeds {
  const lastAsked = new Map<string, number>()
  const addresses = new LRUCache<string, Wanted>({ max: ADDRESSES })
  return {
    ask({ account, request: { query, headers } }) {
      const now = world.now()
      const last = lastAsked.get(account)
      // Also who is turned away begins to wait anew.
      lastAsked.set(account, now)
      if (last !== undefined && now - last < EVERY)
        return json({ message: 'too-many-requests' }, 429)
      const name = `${randomUUID()}.csv`
      addresses.set(name, {
        columns: (query.get('optional_columns') ?? '')
          .split(',')
          .filter((column) => Object.hasOwn(OPTIONAL, column)),
        isPrimaryOnly: query.get('primary_image_only_flag') === '1',
        until: now + SIGNED_FOR,
      })
      const scheme = world.listen.tls ? 'https' : 'http'
      return json({
        product_feed: { url: `${scheme}://${headers.host}${FOLDER}${name}?signature=simulated` },
      })
    },
    download({ method, path, headers }) {
      if (!path.startsWith(FOLDER) || method !== 'GET') return undefined
      const wanted = addresses.get(path.slice(FOLDER.length))
      if (!wanted || wanted.until < world.now()) return { status: 403, body: 'Forbidden' }
      if (headers.accept === 'application/json') return { status: 406, body: 'Not Acceptable' }
      return { status: 200, headers: { 'content-type': 'text/csv' }, body: feedText(world, wanted) }
    },
  }
}

function feedText(world: World, { columns, isPrimaryOnly }: Wanted): string {
  let text = '\uFEFF' + csvRow([...CHATTANOOGA_COLUMNS, ...columns])
  for (const item of itemsOf(world))
    for (const image of isPrimaryOnly ? imagesOf(item).slice(0, 1) : imagesOf(item))
      text += csvRow([
        ...CHATTANOOGA_COLUMNS.map((column) =>
          column === 'Image Location' ? image : item[column]!,
        ),
        ...columns.map((column) => OPTIONAL[column]!(item)),
      ])
  return text
}

/** A line for each image: some items have three. */
function imagesOf(item: Item): string[] {
  const first = item['Image Location']!
  const number = [...item['SKU']!].reduce((sum, char) => sum + char.charCodeAt(0), 0)
  return number % PICTURED === 0
    ? [first, first.replace('.jpg', '-2.jpg'), first.replace('.jpg', '-3.jpg')]
    : [first]
}
