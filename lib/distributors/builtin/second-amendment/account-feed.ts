/**
 * 2nd Amendment Wholesale's products and stock as its API gives them to an account: one JSON list
 * each, which becomes rows while it comes.
 */
import { FeedFault } from '../../account-feed.js'
import type { AccountFeed } from '../../account-feed.js'
import { JsonRows } from '../../session/json-rows.js'
import { NoReply, streamOnce } from '../../session/reply.js'
import { RowFile } from '../../session/row-file.js'
import type { Session } from '../../session/session.js'
import { headersOf, LOGIN_REFUSED, NOT_APPROVED, tokenOf } from './api.js'
import type { SecondAmendmentSettings } from './api.js'
import { catalog, PRODUCT_COLUMNS, stock, STOCK_COLUMNS } from './feed.js'

/** Milliseconds until a long answer begins, and from one piece of it to the next. */
const PATIENCE = { answerTimeout: 300_000, stallTimeout: 60_000 }

export const feeds: Readonly<Record<string, AccountFeed>> = {
  [catalog.id]: feedOf('feed/productV2', PRODUCT_COLUMNS, catalog.required as string[]),
  [stock.id]: feedOf('feed/stockV2', STOCK_COLUMNS, stock.required as string[]),
}

/** A list at a path. Without any of `needed` in any of its items, nothing follows from them. */
function feedOf(path: string, columns: readonly string[], needed: readonly string[]): AccountFeed {
  return {
    async bring(session, { file }) {
      const missing = new Set(needed)
      await stream(session, path, async (pieces) => {
        const rows = new RowFile(file, columns)
        const reader = new JsonRows([], (value) => {
          if (typeof value !== 'object' || value === null)
            throw new FeedFault(`an item of ${path} is no object`)
          const item = value as Readonly<Record<string, unknown>>
          for (const name of missing) if (Object.hasOwn(item, name)) missing.delete(name)
          rows.add((column) => cellOf(item[column]))
        })
        try {
          for await (const piece of pieces) {
            reader.push(piece)
            await rows.flush()
          }
          if (!reader.end().hasRows) throw new FeedFault(`${path} answers with something else`)
          if (rows.rows > 0 && missing.size > 0)
            throw new FeedFault(`no item of ${path} has ${[...missing].join(', ')}`)
          await rows.close()
        } finally {
          await rows.abandon()
        }
      })
      return { outcome: 'written' }
    },
  }
}

/** Lists stand in one cell. */
const cellOf = (value: unknown): unknown =>
  Array.isArray(value) ? (value as unknown[]).map(String).join(' ') : value

async function stream(
  session: Session,
  path: string,
  take: (pieces: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  const settings = session.settings as SecondAmendmentSettings
  const gate = session.login(tokenOf(settings))
  const reason = gate.reason()
  if (reason !== null) throw new NoReply(reason)
  const call = { method: 'GET', path, ...PATIENCE, headers: headersOf(settings) } as const
  const { status, isTaken, headers } = await streamOnce(session, () => session.stream(call, take))
  if (isTaken) return gate.accepted()
  if (status === 401) {
    gate.refused()
    throw new NoReply(LOGIN_REFUSED, { isLoginRefused: true })
  }
  if (status === 200 && headers.get('content-type')?.startsWith('text/html'))
    throw new NoReply(`${path} answers with a page in HTML`)
  throw new NoReply(status === 403 ? NOT_APPROVED : `${path} answers HTTP ${status}`)
}
