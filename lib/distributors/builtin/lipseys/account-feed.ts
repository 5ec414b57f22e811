/**
 * Lipsey's catalog and prices as its API gives them to an account: JSON of tens of megabytes, which
 * becomes rows with the columns of the web export while it comes.
 */
import { DAY, MINUTE } from '../../../core/clock.js'
import { FeedFault } from '../../account-feed.js'
import type { AccountFeed, FeedBrought, FeedWanted } from '../../account-feed.js'
import { JsonRows } from '../../session/json-rows.js'
import { textOf } from '../../session/reply.js'
import { RowFile } from '../../session/row-file.js'
import type { Session } from '../../session/session.js'
import { LipseysAccount } from './api.js'
import type { Streamed } from './api.js'
import { catalog, pricing } from './feed.js'
import { loginsOf } from './orders.js'

/** What the API tells of an item that the catalog's preset reads; each is a column in capitals. */
const CATALOG = (
  'itemNo description1 description2 upc manufacturerModelNo msrp model caliberGauge manufacturer ' +
  'type action barrelLength capacity finish overallLength sights stockFrameGrips magazine weight ' +
  'imageName itemType additionalFeature1 additionalFeature2 additionalFeature3 shippingWeight ' +
  'exclusive quantity allocated onSale price currentPrice retailMap fflRequired sotRequired ' +
  'itemGroup canDropship countryOfOrigin'
).split(' ')
const PRICING =
  'itemNumber upc mfgModelNumber quantity allocated onSale price currentPrice retailMap'.split(' ')
/** Without these nothing follows from an item. */
const NEEDED = {
  catalog: 'itemNo description1 upc price quantity fflRequired'.split(' '),
  pricing: 'itemNumber upc quantity allocated currentPrice'.split(' '),
}
/** Milliseconds in which a next update is believed. */
const NEAR = DAY

export const feeds: Readonly<Record<string, AccountFeed>> = {
  [catalog.id]: {
    bring: async (session, { file }) => {
      const columns = { names: CATALOG, shown: CATALOG.map((name) => name.toUpperCase()) }
      await write(session, file, {
        path: 'items/CatalogFeed',
        rowsAt: ['data'],
        columns,
        needed: NEEDED.catalog,
      })
      return { outcome: 'written' }
    },
  },
  [pricing.id]: { bring: bringPrices },
}

async function bringPrices(
  session: Session,
  { file, holdUntil }: FeedWanted,
): Promise<FeedBrought> {
  const members = await write(session, file, {
    path: 'items/PricingQuantityFeed',
    rowsAt: ['data', 'items'],
    columns: { names: PRICING, shown: PRICING },
    needed: NEEDED.pricing,
  })
  const next = timeOf(members.get('data.nextUpdate'))
  if (next !== null && next - session.now() < NEAR) await holdUntil(next)
  return { outcome: 'written' }
}

interface Asked {
  readonly path: string
  readonly rowsAt: readonly string[]
  readonly columns: { readonly names: readonly string[]; readonly shown: readonly string[] }
  readonly needed: readonly string[]
}

/** Writes the rows of an answer, and returns what stands around them. */
async function write(
  session: Session,
  file: string,
  { path, rowsAt, columns, needed }: Asked,
): Promise<ReadonlyMap<string, unknown>> {
  const [login] = loginsOf(session.settings)
  if (!login) throw new FeedFault('the credentials are not configured')
  const missing = new Set(needed)
  return new LipseysAccount(session, login).stream(path, async (pieces): Promise<Streamed> => {
    const rows = new RowFile(file, columns.shown)
    const reader = new JsonRows(rowsAt, (value) => {
      if (typeof value !== 'object' || value === null)
        throw new FeedFault(`an item of ${path} is no object`)
      const item = value as Readonly<Record<string, unknown>>
      for (const name of missing) if ((item[name] ?? null) !== null) missing.delete(name)
      rows.add((_column, place) => item[columns.names[place]!])
    })
    try {
      for await (const piece of pieces) {
        reader.push(piece)
        await rows.flush()
      }
      const { members, hasRows } = reader.end()
      if (hasRows && rows.rows > 0 && missing.size > 0)
        throw new FeedFault(`no item of ${path} has ${[...missing].join(', ')}`)
      await rows.close()
      return { members, hasRows }
    } finally {
      await rows.abandon()
    }
  })
}

/** A time as .NET writes it; without a zone it is taken as UTC. */
function timeOf(value: unknown): number | null {
  const text = textOf(value)
  if (text === null) return null
  const ms = Date.parse(/(?:z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`)
  return Number.isNaN(ms) || ms < MINUTE ? null : ms
}
