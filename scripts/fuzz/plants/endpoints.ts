/** Bugs of what an endpoint does, answers and tells. */
import type * as Facets from '../../../lib/catalog/search/facets.js'
import type * as Search from '../../../lib/catalog/search/search.js'
import type * as SecretNames from '../../../lib/configuration/secret-names.js'
import type * as Find from '../../../lib/ffls/find.js'
import type * as FraudStore from '../../../lib/fraud/reports/store.js'
import type * as History from '../../../lib/orders/history/history.js'
import type * as Records from '../../../lib/orders/history/records.js'
import type * as OpenOrder from '../../../lib/orders/engine/sender/open-order.js'
import type * as Check from '../../../lib/restrictions/check.js'
import type * as Refusal from '../../../server/http/refusal.js'
import type { Seam } from '../../plants/seam.js'
import type { FuzzPlant } from './plant.js'

/** An error that is answered with its code. */
function apiError(code: string, message: string): Error {
  const more = { name: 'ApiError', code, status: 404, headers: {} }
  return Object.assign(new Error(message), more)
}

const LONG_TEXT: Seam = {
  at: 'lib/catalog/search/search.ts#searchView',
  make:
    (real: typeof Search.searchView): typeof real =>
    (view, query) => {
      if ((query.q ?? '').length > 40) throw new TypeError('too long')
      return real(view, query)
    },
}

export const ENDPOINTS: readonly FuzzPlant[] = [
  {
    name: 'an endpoint throws on a long text',
    found: /^server error: productsSearch 500/,
    seams: [LONG_TEXT],
  },
  {
    name: 'an endpoint throws on a name of the prototype',
    found: /^server error: \w+ 500/,
    seams: [
      {
        at: 'lib/restrictions/check.ts#checkRestrictions',
        make:
          (real: typeof Check.checkRestrictions): typeof real =>
          async (ctx, subscriber, body) => {
            const known: Record<string, unknown> = {}
            if (known[String(body.target)] !== undefined) throw new TypeError('nothing to read')
            return real(ctx, subscriber, body)
          },
      },
    ],
  },
  {
    name: 'a code that the document has not',
    found: /^undocumented: fflsNear 404/,
    seams: [
      {
        at: 'lib/ffls/find.ts#findNear',
        make:
          (real: typeof Find.findNear): typeof real =>
          async (ctx, query) => {
            if (query.radius === 50) throw apiError('report_not_found', 'none')
            return real(ctx, query)
          },
      },
    ],
  },
  {
    name: 'a member is missing',
    found: /^shape: productsFacets 200/,
    seams: [
      {
        at: 'lib/catalog/search/facets.ts#facetsOf',
        make:
          (real: typeof Facets.facetsOf): typeof real =>
          (view) => ({ ...real(view), product_classes: undefined as never }),
      },
    ],
  },
  {
    name: 'null where there must be a number',
    found: /^shape: (fulfillmentHistory|orders\w+) 200/,
    seams: [
      {
        at: 'lib/orders/history/records.ts#recordOf',
        make:
          (real: typeof Records.recordOf): typeof real =>
          (row) => ({ ...real(row), ship_to_store: null as never }),
      },
    ],
  },
  {
    name: 'a slow path',
    found: /^slow: ordersList/,
    seams: [
      {
        at: 'lib/orders/history/history.ts#orderPage',
        make:
          (real: typeof History.orderPage): typeof real =>
          async (ctx, query) => {
            const end = performance.now() + (query.sort === 'ship_date' ? 300 : 0)
            while (performance.now() < end);
            return real(ctx, query)
          },
      },
    ],
  },
  {
    name: 'an order is sent twice',
    found: /^state: a double/,
    seams: [
      {
        at: 'lib/orders/engine/sender/open-order.ts#openOrder',
        make:
          (real: typeof OpenOrder.openOrder): typeof real =>
          async (ctx, order) => {
            const opened = await real(ctx, order)
            if (typeof opened === 'string') return opened
            const { connector } = opened
            const submit: typeof connector.submit = async (session, content) => {
              await connector.submit(session, content)
              return connector.submit(session, content)
            }
            return { ...opened, connector: { ...connector, submit } }
          },
      },
    ],
  },
  {
    name: 'a filter lets one through',
    found: /^promise: productsSearch/,
    seams: [
      {
        at: 'lib/catalog/search/search.ts#searchView',
        make:
          (real: typeof Search.searchView): typeof real =>
          (view, query) =>
            real(view, query.q === undefined ? query : { ...query, drop_ship_only: false }),
      },
    ],
  },
]

/** What somebody learns who must not. */
export const SECRETS: readonly FuzzPlant[] = [
  {
    name: 'a secret is not masked',
    found: /^leak: config/,
    seams: [
      {
        at: 'lib/configuration/secret-names.ts#soundsSecret',
        make:
          (real: typeof SecretNames.soundsSecret): typeof real =>
          (name) =>
            !/secret$/i.test(name) && real(name),
      },
    ],
  },
  {
    name: "other dealers' notes are told",
    found: /^leak: fraud/,
    seams: [
      {
        at: 'lib/fraud/reports/store.ts#notesOf',
        make: (real: typeof FraudStore.notesOf): typeof real =>
          function* (ctx, _subscriberId, reports) {
            const { raw } = ctx.engine.reader
            const ownerOf = raw
              .prepare('SELECT subscriber_id FROM fraud_report WHERE id = ?')
              .pluck()
            const notes: string[] = []
            for (const { id } of reports) {
              const owner = ownerOf.get(id) as string | null
              if (owner !== null) notes.push(...(yield* real(ctx, owner, [{ id, mine: 1 }])))
            }
            return notes
          },
      },
    ],
  },
  {
    name: 'what was thrown is shown',
    found: /^leak: productsSearch/,
    seams: [
      LONG_TEXT,
      {
        at: 'server/http/refusal.ts#refuse',
        make:
          (real: typeof Refusal.refuse): typeof real =>
          (app, error, headers, request) => {
            const { name, stack } = error as Error
            const shown = name === 'ApiError' ? error : apiError('not_found', String(stack))
            return real(app, shown, headers, request)
          },
      },
    ],
  },
  {
    name: "another shop's order is shown",
    found: /^leak: ordersGet/,
    seams: [
      {
        at: 'lib/orders/history/history.ts#orderById',
        make:
          (real: typeof History.orderById): typeof real =>
          async (ctx, orderId) => {
            const { raw } = ctx.engine.reader
            const orders = 'FROM fulfillment_order WHERE visible = 1 AND order_id = ?'
            const holder = raw.prepare(`SELECT subscriber_id ${orders}`).pluck().get(orderId) as
              | string
              | undefined
            const subscriber = { ...ctx.subscriber, id: holder ?? ctx.subscriber.id }
            return real({ ...ctx, subscriber }, orderId)
          },
      },
    ],
  },
]
