/** Bugs of the history: what is told of orders, and what news of a distributor do to it. */
import type * as Failures from '../../lib/orders/history/failures.js'
import type * as Lookup from '../../lib/orders/history/lookup.js'
import type * as Match from '../../lib/orders/matching/match.js'
import type * as Numbers from '../../lib/orders/matching/order-numbers.js'
import type * as Pages from '../../lib/orders/history/pages.js'
import type * as Parcels from '../../lib/orders/tracking/parcels.js'
import type * as Records from '../../lib/orders/history/records.js'
import type * as Statuses from '../../lib/orders/history/statuses.js'
import type { Plant } from './seam.js'

export const HISTORY: readonly Plant[] = [
  {
    name: 'the last day of a span is left out',
    suites: ['orders/history/history'],
    seams: [
      {
        at: 'lib/orders/history/pages.ts#pageByDate',
        make:
          (real: typeof Pages.pageByDate): typeof real =>
          (id, { scope = {}, ...wanted }) =>
            real(id, {
              ...wanted,
              scope: scope.toDay === undefined ? scope : { ...scope, toDay: scope.toDay - 1 },
            }),
      },
    ],
  },
  {
    name: 'a reference finds no tracking number',
    suites: ['orders/history/history'],
    seams: [
      {
        at: 'lib/orders/history/lookup.ts#lookUp',
        make:
          (real: typeof Lookup.lookUp): typeof real =>
          async (engine, id, texts) => {
            if (texts.reference === undefined) return real(engine, id, texts)
            const [byAny, byParcel] = [
              await real(engine, id, texts),
              await real(engine, id, { tracking_number: texts.reference }),
            ]
            return byAny!.filter((one) => !byParcel!.includes(one))
          },
      },
    ],
  },
  {
    name: 'failures ignore the dates',
    suites: ['orders/history/history'],
    seams: [
      {
        at: 'lib/orders/history/failures.ts#failuresOf',
        make:
          (real: typeof Failures.failuresOf): typeof real =>
          (id, { fromDay: _from, toDay: _to, ...given }) =>
            real(id, { ...given, fromDay: undefined, toDay: undefined }),
      },
    ],
  },
  {
    name: 'a failure tells the PO that was given',
    suites: [
      'orders/history/history',
      'orders/place/place',
      'orders/engine/findings',
      'orders/place/promises',
    ],
    seams: [
      {
        at: 'lib/orders/history/records.ts#failureOf',
        make:
          (real: typeof Records.failureOf): typeof real =>
          (row) => ({ ...real(row), po_number: row.po_given }),
      },
    ],
  },
  {
    name: 'a record without its tracking address',
    suites: ['orders/history/history', 'orders/tracking/updates'],
    seams: [
      {
        at: 'lib/orders/history/records.ts#recordOf',
        make:
          (real: typeof Records.recordOf): typeof real =>
          (row) => ({ ...real(row), ship_tracking_url: null }),
      },
    ],
  },
  {
    name: 'a record of several parts has the status of the first',
    suites: ['orders/tracking/updates', 'orders/history/history', 'orders/place/parts'],
    seams: [
      {
        at: 'lib/orders/history/statuses.ts#statusOfParts',
        make: (): typeof Statuses.statusOfParts => (parts) => parts[0]!.status,
      },
    ],
  },
  {
    name: 'later news of a parcel always stand',
    suites: ['orders/tracking/updates', 'orders/history/history'],
    seams: [
      {
        at: 'lib/orders/history/statuses.ts#laterShip',
        make: (): typeof Statuses.laterShip => (_known, news) => news,
      },
    ],
  },
  {
    name: 'an order goes back to a status that it had',
    suites: ['orders/tracking/updates', 'orders/history/history'],
    seams: [
      {
        at: 'lib/orders/history/statuses.ts#laterOrder',
        make: (): typeof Statuses.laterOrder => (_known, news) => news,
      },
    ],
  },
  {
    name: 'a record of several parcels tells of the one that is furthest',
    suites: ['orders/tracking/updates', 'orders/history/history'],
    seams: [
      {
        at: 'lib/orders/history/statuses.ts#shipStatusOf',
        make: (): typeof Statuses.shipStatusOf => (statuses) =>
          statuses.findLast((status) => status === 'delivered') ?? statuses.at(-1) ?? null,
      },
    ],
  },
  {
    name: 'the second parcel of an order is lost',
    suites: ['orders/tracking/updates', 'orders/history/history', 'simulator/scenarios'],
    seams: [
      {
        at: 'lib/orders/tracking/parcels.ts#mergeParcels',
        make:
          (real: typeof Parcels.mergeParcels): typeof real =>
          (tx, order, news, at) =>
            real(tx, order, news.slice(0, 1), at),
      },
    ],
  },
  {
    name: 'a PO is only itself in its own case',
    suites: ['orders/tracking/matching', 'orders/tracking/news', 'orders/tracking/updates'],
    seams: [
      {
        at: 'lib/orders/matching/match.ts#samePo',
        make: (): typeof Match.samePo => (found, sent) => (found === sent ? 'same' : 'other'),
      },
    ],
  },
  {
    name: 'one number may stand on two orders',
    suites: [
      'orders/tracking/matching',
      'orders/tracking/news',
      'orders/place/accounts',
      'orders/engine/doubts',
    ],
    seams: [
      {
        at: 'lib/orders/matching/order-numbers.ts#standsElsewhere',
        make: (): typeof Numbers.standsElsewhere => async () => false,
      },
    ],
  },
]
