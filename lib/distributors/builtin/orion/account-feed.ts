/**
 * Orion's catalog as its API gives it to an account: the items in one long list, their stock and
 * the names of manufacturers in two others, which are joined while it comes.
 */
import { SET_STATES } from '../../../places/state-set.js'
import { FeedFault } from '../../account-feed.js'
import type { AccountFeed } from '../../account-feed.js'
import { JsonFault, JsonRows } from '../../session/json-rows.js'
import { listOf, memberOf, NoReply, streamOnce, textOf } from '../../session/reply.js'
import { RowFile } from '../../session/row-file.js'
import type { Session } from '../../session/session.js'
import { callOf, gateOf, get, LOGIN_REFUSED, NOT_APPROVED } from './api.js'
import { catalog, COLUMNS, flagColumn, stock, STOCK_COLUMNS } from './feed.js'

/** Milliseconds until a long answer begins, and from one piece of it to the next. */
const PATIENCE = { answerTimeout: 300_000, stallTimeout: 60_000 }
/** Without these nothing follows from an item. */
const NEEDED = ['product_id', 'product_code', 'upc_code', 'description', 'product_tags']

export const feeds: Readonly<Record<string, AccountFeed>> = {
  [catalog.id]: {
    async bring(session, { file }) {
      const stocked = new Map(Object.entries(await stockOf(session)))
      const makers = await makersOf(session)
      await bringCatalog(session, file, (item) => cellsOf(item, stocked, makers))
      return { outcome: 'written' }
    },
  },
  [stock.id]: {
    async bring(session, { file }) {
      const rows = new RowFile(file, STOCK_COLUMNS)
      try {
        for (const [id, entry] of Object.entries(await stockOf(session))) {
          rows.add((column) => (column === 'product_id' ? id : memberOf(entry, column)))
          await rows.flush()
        }
        await rows.close()
      } finally {
        await rows.abandon()
      }
      return { outcome: 'written' }
    },
  },
}

type Item = Readonly<Record<string, unknown>>

/** The stock by product's id. Throws a FeedFault for what is none. */
async function stockOf(session: Session): Promise<Record<string, unknown>> {
  const entries = (await get(session, 'get_catalog_inventory', 'product_inventory')) as Item
  const isStock = Object.values(entries).some(
    (entry) => textOf(memberOf(entry, 'quantity')) !== null,
  )
  if (!isStock) throw new FeedFault('no item of get_catalog_inventory has a quantity')
  return entries
}

/** The names of manufacturers by their codes. */
async function makersOf(session: Session): Promise<ReadonlyMap<string, string>> {
  const list = await get(session, 'get_manufacturers', 'manufacturers')
  return new Map(
    listOf(list).flatMap((one): [string, string][] => {
      const code = textOf(memberOf(one, 'product_manufacturer_code'))
      const name = textOf(memberOf(one, 'description'))
      return code === null || name === null ? [] : [[code, name]]
    }),
  )
}

async function bringCatalog(
  session: Session,
  file: string,
  cells: (item: Item) => (column: string) => unknown,
): Promise<void> {
  const missing = new Set(NEEDED)
  await stream(session, async (pieces) => {
    const rows = new RowFile(file, COLUMNS)
    const reader = new JsonRows(['products'], (value) => {
      if (typeof value !== 'object' || value === null)
        throw new FeedFault('an item of get_catalog is no object')
      const item = value as Item
      for (const name of missing) if (Object.hasOwn(item, name)) missing.delete(name)
      rows.add(cells(item))
    })
    try {
      for await (const piece of pieces) {
        reader.push(piece)
        await rows.flush()
      }
      if (!reader.end().hasRows) throw new FeedFault('get_catalog answers with something else')
      if (rows.rows > 0 && missing.size > 0)
        throw new FeedFault(`no item of get_catalog has ${[...missing].join(', ')}`)
      await rows.close()
    } catch (error) {
      throw error instanceof JsonFault ? new FeedFault(`get_catalog: ${error.message}`) : error
    } finally {
      await rows.abandon()
    }
  })
}

/** An item as a row. What is in no stock list is not in stock. */
function cellsOf(
  item: Item,
  stocked: ReadonlyMap<string, unknown>,
  makers: ReadonlyMap<string, string>,
): (column: string) => unknown {
  const entry = stocked.get(textOf(item['product_id']) ?? '')
  const tags = new Set(wordsIn(item['product_tags']))
  const maker = textOf(item['product_manufacturer']) ?? textOf(item['product_manufacturer_code'])
  const flags = flagsOf(item['restricted_states'])
  const made: Readonly<Record<string, unknown>> = {
    manufacturer: maker === null ? '' : (makers.get(maker) ?? maker),
    product_categories: wordsIn(item['product_categories']).join(', ').replaceAll('_', ' '),
    firearm_type: memberOf(item['facets'], 'FIREARM_TYPE'),
    caliber: memberOf(item['facets'], 'CALIBER'),
    sale_price: memberOf(entry, 'sale_price'),
    quantity: memberOf(entry, 'quantity') ?? '0',
    ffl_required: yesOrNo(tags.has('FFL_REQUIRED')),
    class_3: yesOrNo(tags.has('CLASS_3')),
    cannot_dropship: yesOrNo(tags.has('CANNOT_DROPSHIP') || isSet(item['cannot_dropship'])),
  }
  return (column) => (Object.hasOwn(made, column) ? made[column] : (flags(column) ?? item[column]))
}

const FLAGS = new Set(SET_STATES.map(flagColumn))
/** Territories and military mail have no flags. */
const STATE = /^[A-Z]{2}$/

/** Flags by column. Where the list cannot be read, every one of them is neither yes nor no. */
function flagsOf(value: unknown): (column: string) => string | undefined {
  const states = wordsIn(value)
  const isRead = states.every((state) => STATE.test(state))
  const restricted = new Set(states.map(flagColumn))
  return (column) =>
    FLAGS.has(column) ? (isRead ? yesOrNo(restricted.has(column)) : '?') : undefined
}

/** A list, or a text with commas in it, in capitals. */
function wordsIn(value: unknown): string[] {
  const texts = Array.isArray(value) ? (value as unknown[]) : [value]
  return texts
    .flatMap((text) => (textOf(text) ?? '').split(/[,;|]/))
    .map((word) => word.trim().toUpperCase())
    .filter((word) => word !== '')
}

const yesOrNo = (is: boolean) => (is ? 'Y' : 'N')
const isSet = (value: unknown): boolean =>
  value === true || ['1', 'true', 'y', 'yes'].includes((textOf(value) ?? '').toLowerCase())

async function stream(
  session: Session,
  take: (pieces: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  const gate = gateOf(session)
  const call = { ...callOf(session, 'get_catalog'), ...PATIENCE }
  const { status, isTaken, headers } = await streamOnce(session, () => session.stream(call, take))
  if (isTaken) return gate.accepted()
  if (status === 401) {
    gate.refused()
    throw new NoReply(LOGIN_REFUSED, { isLoginRefused: true })
  }
  if (status === 200 && headers.get('content-type')?.startsWith('text/html'))
    throw new NoReply('get_catalog answers with a page in HTML')
  throw new NoReply(status === 403 ? NOT_APPROVED : `get_catalog answers HTTP ${status}`)
}
