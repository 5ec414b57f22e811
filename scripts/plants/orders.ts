/** Bugs of placing and sending orders. */
import type { OperatorCtx } from '../../lib/app/ctx.js'
import type * as CheckDestination from '../../lib/orders/place/check-destination.js'
import type * as CheckDistributors from '../../lib/orders/place/check-distributors.js'
import type * as CheckOrder from '../../lib/orders/place/check-order.js'
import type * as Content from '../../lib/orders/sealed-content.js'
import type * as Durable from '../../lib/core/storage/durable.js'
import type * as Enforcement from '../../lib/orders/place/enforcement.js'
import type * as Call from '../../lib/orders/engine/sender/call.js'
import type * as Redact from '../../lib/distributors/session/redact.js'
import type * as PoNumber from '../../lib/orders/place/po-number.js'
import type * as Quota from '../../lib/orders/quota.js'
import type * as Split from '../../lib/orders/place/split.js'
import type { Plant } from './seam.js'

const DAY = 86_400_000

/** A context whose sealed contents may stand on any order. */
function unbound<C extends Pick<OperatorCtx, 'secrets'>>(ctx: C): C {
  const of = (owner: string) => {
    const sealer = ctx.secrets.of(owner)
    return {
      ...sealer,
      seal: (text: string) => sealer.seal(text, 'any'),
      open: (sealed: string) => sealer.open(sealed, 'any'),
    }
  }
  return { ...ctx, secrets: { ...ctx.secrets, of } }
}

export const ORDERS: readonly Plant[] = [
  {
    name: 'every line has the unit price of the first',
    suites: ['orders/place/promises', 'orders/place/place'],
    seams: [
      {
        at: 'lib/orders/place/check-order.ts#checkOrder',
        make:
          (real: typeof CheckOrder.checkOrder): typeof real =>
          async (...given) => {
            const order = await real(...given)
            const groups = order.groups.map((group) => {
              const lines = group.lines.map((line) => ({
                ...line,
                unitPrice: group.lines[0]!.unitPrice,
              }))
              return { ...group, lines }
            })
            return { ...order, groups }
          },
      },
    ],
  },
  {
    name: 'the error text of a connector is kept as the reason',
    suites: ['orders/place/promises', 'orders/engine/faults'],
    seams: [
      {
        at: 'lib/orders/engine/sender/call.ts#callInTime',
        make:
          (real: typeof Call.callInTime): typeof real =>
          async (ctx, timeout, call) => {
            let text: string | null = null
            const called = await real(ctx, timeout, (signal) =>
              call(signal).catch((error: unknown) => {
                text = String(error)
                throw error
              }),
            )
            return text === null ? called : { ...called, answer: { failed: text } }
          },
      },
    ],
  },
  {
    name: 'what a distributor says is kept with the credentials in it',
    suites: ['orders/place/promises'],
    seams: [
      {
        at: 'lib/distributors/session/redact.ts#withoutSecrets',
        make: (): typeof Redact.withoutSecrets => (text) => text,
      },
    ],
  },
  {
    name: 'a shortened PO is made without the subscriber',
    suites: ['orders/place/promises'],
    seams: [
      {
        at: 'lib/orders/place/po-number.ts#fitPo',
        make:
          (real: typeof PoNumber.fitPo): typeof real =>
          (po, limits, identity) =>
            real(po, limits, identity.slice(identity.indexOf('|'))),
      },
    ],
  },
  {
    name: 'a sealed content may stand on any order',
    suites: ['orders/place/promises'],
    seams: [
      {
        at: 'lib/orders/sealed-content.ts#sealContent',
        make:
          (real: typeof Content.sealContent): typeof real =>
          (ctx, owner, content) =>
            real(unbound(ctx), owner, content),
      },
      {
        at: 'lib/orders/sealed-content.ts#contentOf',
        make:
          (real: typeof Content.contentOf): typeof real =>
          (ctx, order) =>
            real(unbound(ctx), order),
      },
      {
        at: 'lib/orders/sealed-content.ts#contentOrNull',
        make:
          (real: typeof Content.contentOrNull): typeof real =>
          (ctx, order) =>
            real(unbound(ctx), order),
      },
    ],
  },
  {
    name: 'the folder of a new journal is not synced',
    suites: ['orders/place/promises'],
    seams: [
      {
        at: 'lib/core/storage/durable.ts#syncPath',
        make: (): typeof Durable.syncPath => async () => {},
      },
    ],
  },
  {
    name: 'firearms and accessories of a distributor go in one order',
    suites: ['orders/place/place', 'orders/place/rules'],
    seams: [
      {
        at: 'lib/orders/place/split.ts#splitOrder',
        make:
          (real: typeof Split.splitOrder): typeof real =>
          (lines) =>
            real(lines, true),
      },
    ],
  },
  {
    name: 'an order to the store is split by license',
    suites: ['orders/place/place', 'orders/place/rules'],
    seams: [
      {
        at: 'lib/orders/place/split.ts#splitOrder',
        make:
          (real: typeof Split.splitOrder): typeof real =>
          (lines) =>
            real(lines, false),
      },
    ],
  },
  {
    name: 'of two lines of one item the second is lost',
    suites: ['orders/place/promises', 'orders/place/place'],
    seams: [
      {
        at: 'lib/orders/place/split.ts#splitOrder',
        make:
          (real: typeof Split.splitOrder): typeof real =>
          (lines, toStore) =>
            real(
              lines.filter(
                (line, at) =>
                  lines.findIndex(
                    (other) => other.distid === line.distid && other.distsku === line.distsku,
                  ) === at,
              ),
              toStore,
            ),
      },
    ],
  },
  {
    name: 'the flags of a generated PO change places',
    suites: ['orders/place/promises'],
    seams: [
      {
        at: 'lib/orders/place/po-number.ts#poNumber',
        make:
          (real: typeof PoNumber.poNumber): typeof real =>
          (parts) =>
            real({ ...parts, fflRequired: parts.shipToStore, shipToStore: parts.fflRequired }),
      },
    ],
  },
  {
    name: 'an order after a refusal has the PO of the refused one',
    suites: ['orders/place/promises'],
    seams: [
      {
        at: 'lib/orders/place/po-number.ts#poOfAttempt',
        make: (): typeof PoNumber.poOfAttempt => (po) => po,
      },
    ],
  },
  {
    name: 'a license holds a day too long',
    suites: ['orders/place/place', 'orders/place/rules', 'orders/engine/findings'],
    seams: [
      {
        at: 'lib/orders/place/check-destination.ts#checkDealer',
        make:
          (real: typeof CheckDestination.checkDealer): typeof real =>
          (ctx, license, faults) =>
            real({ ...ctx, now: () => ctx.now() - DAY }, license, faults),
      },
    ],
  },
  {
    name: 'a license ends a day too early',
    suites: ['orders/place/place', 'orders/place/rules', 'orders/engine/findings'],
    seams: [
      {
        at: 'lib/orders/place/check-destination.ts#checkDealer',
        make:
          (real: typeof CheckDestination.checkDealer): typeof real =>
          (ctx, license, faults) =>
            real({ ...ctx, now: () => ctx.now() + DAY }, license, faults),
      },
    ],
  },
  {
    name: 'a firearm goes to the customer',
    suites: ['orders/place/place', 'orders/place/rules'],
    seams: [
      {
        at: 'lib/orders/place/check-order.ts#checkOrder',
        make:
          (real: typeof CheckOrder.checkOrder): typeof real =>
          async (...given) => {
            const order = await real(...given)
            return order.shipToStore
              ? order
              : {
                  ...order,
                  groups: order.groups.map((group) => ({ ...group, shipTo: order.customer })),
                }
          },
      },
    ],
  },
  {
    name: 'an order to the store names no dealer',
    suites: ['orders/place/place', 'orders/place/rules'],
    seams: [
      {
        at: 'lib/orders/place/check-destination.ts#storeReceiver',
        make:
          (real: typeof CheckDestination.storeReceiver): typeof real =>
          async (...args) => ({ ...(await real(...args)), ffl: null }),
      },
    ],
  },
  {
    name: 'the second line of an address is lost',
    suites: ['orders/place/place', 'orders/place/rules', 'orders/place/promises'],
    seams: [
      {
        at: 'lib/orders/place/check-destination.ts#customerDestination',
        make:
          (real: typeof CheckDestination.customerDestination): typeof real =>
          (body) => ({ ...real(body), address2: null }),
      },
    ],
  },
  {
    name: 'any NFA item goes to any dealer',
    suites: ['orders/place/place', 'orders/place/rules', 'orders/engine/findings'],
    seams: [
      {
        at: 'lib/orders/place/check-destination.ts#checkDealer',
        make:
          (real: typeof CheckDestination.checkDealer): typeof real =>
          async (...args) => {
            const receiver = await real(...args)
            return receiver && { ...receiver, isSot: true }
          },
      },
    ],
  },
  {
    name: 'the hourly limit of orders is not looked at',
    suites: ['orders/place/place', 'orders/place/rules', 'server/fuzz'],
    seams: [
      {
        at: 'lib/orders/quota.ts#checkQuota',
        make:
          (real: typeof Quota.checkQuota): typeof real =>
          async (tx, ...args) =>
            real(tx, ...args).catch((error: { details?: { limit?: number } }) => {
              if (error.details?.limit !== 60) throw error
              return tx.engine.time(tx)
            }),
      },
    ],
  },
  {
    name: 'the daily limit of orders is not looked at',
    suites: ['orders/place/place', 'orders/place/rules'],
    seams: [
      {
        at: 'lib/orders/quota.ts#checkQuota',
        make:
          (real: typeof Quota.checkQuota): typeof real =>
          async (tx, ...args) =>
            real(tx, ...args).catch((error: { details?: { limit?: number } }) => {
              if (error.details?.limit !== 500) throw error
              return tx.engine.time(tx)
            }),
      },
    ],
  },
  {
    name: 'a distributor that parts an order is sent all of it',
    suites: ['orders/operator/operator', 'orders/tracking/news'],
    seams: [
      {
        at: 'lib/orders/place/split.ts#partsOf',
        make:
          (): typeof Split.partsOf =>
          ({ lines }) => [{ name: 'all', lines: lines.map((_, at) => at) }],
      },
    ],
  },
  {
    name: 'rules do not hold orders back',
    suites: ['orders/place/rules', 'orders/place/place'],
    seams: [
      {
        at: 'lib/orders/place/enforcement.ts#enforcesRestrictions',
        make: (): typeof Enforcement.enforcesRestrictions => async () => false,
      },
    ],
  },
  {
    name: 'a cart may be half real and half played',
    suites: ['orders/place/place', 'orders/place/rules', 'orders/engine/findings'],
    seams: [
      {
        at: 'lib/orders/place/check-distributors.ts#checkDistributors',
        make:
          (real: typeof CheckDistributors.checkDistributors): typeof real =>
          (ctx, saved, distids) => {
            const each = [...distids].map((distid) => real(ctx, saved, new Set([distid])))
            return {
              mode: each[0]!.mode,
              distributors: new Map(each.flatMap(({ distributors }) => [...distributors])),
            }
          },
      },
    ],
  },
]
