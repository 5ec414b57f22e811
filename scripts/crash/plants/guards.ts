/** Bugs of what keeps an order from the wrong account, the wrong dealer and the wrong number. */
import type * as Match from '../../../lib/orders/matching/match.js'
import type * as Numbers from '../../../lib/orders/matching/order-numbers.js'
import { accountNow } from '../../../lib/orders/account.js'
import type * as AfterSend from '../../../lib/orders/engine/rules/after-send.js'
import type * as Dealer from '../../../lib/orders/engine/sender/dealer-fault.js'
import type * as LookAlikes from '../../../lib/orders/matching/look-alikes.js'
import type * as Send from '../../../lib/orders/engine/sender/send.js'
import type { Planted } from '../../plants/seam.js'

export const GUARDS: readonly Planted[] = [
  {
    name: 'who logs in as somebody else goes on where the other was',
    seams: [
      {
        at: 'lib/orders/engine/rules/after-send.ts#otherAccount',
        make: (): typeof AfterSend.otherAccount => () => null,
      },
    ],
  },
  {
    name: 'what another login shows is taken by its looks',
    suites: ['orders/place/accounts'],
    seams: [
      {
        at: 'lib/orders/matching/match.ts#matchOrder',
        make:
          (real: typeof Match.matchOrder): typeof real =>
          (found, sent, context) =>
            real(found, sent, { ...context, isElsewhere: false }),
      },
    ],
  },
  {
    name: 'a login that changes while a distributor is asked is not seen before the send',
    seams: [
      {
        at: 'lib/orders/engine/sender/send.ts#sendOrder',
        make:
          (real: typeof Send.sendOrder): typeof real =>
          async (ctx, order) =>
            real(ctx, { ...order, account: await accountNow(ctx, order) }),
      },
    ],
  },
  {
    name: 'a dealer that moved is not seen',
    seams: [
      {
        at: 'lib/orders/engine/sender/dealer-fault.ts#dealerFault',
        // The premise of a dealer does not matter to an order to the store.
        make:
          (real: typeof Dealer.dealerFault): typeof real =>
          (ctx, content) =>
            real(ctx, { ...content, shipToStore: true }),
      },
    ],
  },
  {
    name: "other orders to which a file's order may belong are not looked at",
    seams: [
      {
        at: 'lib/orders/matching/look-alikes.ts#lookAlikesOf',
        make: (): typeof LookAlikes.lookAlikesOf => async () => [],
      },
    ],
  },
  {
    name: 'of such orders only those that are placed are looked at',
    suites: ['orders/place/accounts', 'orders/engine/findings'],
    seams: [
      {
        at: 'lib/orders/matching/look-alikes.ts#lookAlikesOf',
        make:
          (real: typeof LookAlikes.lookAlikesOf): typeof real =>
          async (...given) =>
            (await real(...given)).filter(({ isPlaced }) => isPlaced),
      },
    ],
  },
  {
    name: 'our reference is ours wherever it goes',
    seams: [
      {
        at: 'lib/orders/matching/match.ts#matchOrder',
        make:
          (real: typeof Match.matchOrder): typeof real =>
          (found, sent, context) => {
            if (found.clientRef === undefined) return real(found, sent, context)
            const { shipTo: _shipTo, ...rest } = found
            return real(rest, sent, context)
          },
      },
    ],
  },
  {
    name: 'a number is looked for among the orders of its subscriber alone',
    seams: [
      {
        at: 'lib/orders/matching/order-numbers.ts#standsElsewhere',
        make:
          (real: typeof Numbers.standsElsewhere): typeof real =>
          (db, order, number) =>
            real(db, { ...order, account: null }, number),
      },
    ],
  },
]
