/** Bugs of what keeps an order from the wrong account, the wrong dealer and the wrong number. */
import type * as Match from '../../../lib/orders/tracking/match.js'
import type * as Numbers from '../../../lib/orders/tracking/numbers.js'
import { accountNow } from '../../../lib/orders/engine/line.js'
import type * as Line from '../../../lib/orders/engine/line.js'
import type * as Outcome from '../../../lib/orders/engine/outcome.js'
import type * as Send from '../../../lib/orders/engine/send.js'
import type * as Twins from '../../../lib/orders/engine/twins.js'
import type { Planted } from '../../plants/seam.js'

export const GUARDS: readonly Planted[] = [
  {
    name: 'who logs in as somebody else goes on where the other was',
    seams: [
      {
        at: 'lib/orders/engine/outcome.ts#otherAccount',
        make: (): typeof Outcome.otherAccount => () => null,
      },
    ],
  },
  {
    name: 'what another login shows is taken by its looks',
    suites: ['orders/place/accounts'],
    seams: [
      {
        at: 'lib/orders/tracking/match.ts#matchOrder',
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
        at: 'lib/orders/engine/send.ts#sendOne',
        make:
          (real: typeof Send.sendOne): typeof real =>
          (tools, order) =>
            real(tools, { ...order, account: accountNow(tools.ctx, order) }),
      },
    ],
  },
  {
    name: 'a dealer that moved is not seen',
    seams: [
      {
        at: 'lib/orders/engine/line.ts#dealerFault',
        // The premise of a dealer does not matter to an order to the store.
        make:
          (real: typeof Line.dealerFault): typeof real =>
          (ctx, content) =>
            real(ctx, { ...content, shipToStore: true }),
      },
    ],
  },
  {
    name: "other orders to which a file's order may belong are not looked at",
    seams: [
      { at: 'lib/orders/engine/twins.ts#twinsOf', make: (): typeof Twins.twinsOf => () => [] },
    ],
  },
  {
    name: 'of such orders only those that are placed are looked at',
    suites: ['orders/place/accounts', 'orders/engine/findings'],
    seams: [
      {
        at: 'lib/orders/engine/twins.ts#twinsOf',
        make:
          (real: typeof Twins.twinsOf): typeof real =>
          (...given) =>
            real(...given).filter(({ isPlaced }) => isPlaced),
      },
    ],
  },
  {
    name: 'our reference is ours wherever it goes',
    seams: [
      {
        at: 'lib/orders/tracking/match.ts#matchOrder',
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
        at: 'lib/orders/tracking/numbers.ts#standsElsewhere',
        make:
          (real: typeof Numbers.standsElsewhere): typeof real =>
          (db, order, number) =>
            real(db, { ...order, account: null }, number),
      },
    ],
  },
]
