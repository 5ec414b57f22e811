/**
 * A distributor of a test's own, whose every answer the test sets. It has what it accepted, as a
 * real one would.
 */
import { defineDistributor } from '../../lib/distributors/distributor.js'
import type { Distributor } from '../../lib/distributors/distributor.js'
import type {
  FoundOrder,
  Fulfillment,
  OrderSession,
  PurchaseOrder,
  Recovery,
  Search,
  Submission,
} from '../../lib/distributors/fulfillment.js'

/** What one send does: `accept` and answer, or accept and answer something else, or only answer. */
export type Act =
  | 'accept'
  | { accept: boolean; answer: Submission | 'throw' | 'hang' }
  | ((session: OrderSession, order: PurchaseOrder) => Promise<Submission>)

export interface Scripted {
  distributor: Distributor
  connector: Fulfillment
  /** What the next sends do, in turn; `accept` once they are used up. */
  acts: Act[]
  /** Answers of the next searches, in turn; what it has, once they are used up. */
  searches: (Search | 'throw')[]
  /** Orders that it really has. */
  orders: { number: string; order: PurchaseOrder }[]
  /** Every send that reached it. */
  sends: PurchaseOrder[]
  finds: number
}

export interface ScriptedOptions {
  distid?: string
  name?: string
  recovery?: Recovery
  limits?: Partial<Fulfillment['limits']>
  withoutFind?: boolean
  plan?: NonNullable<Fulfillment['plan']>
  /** Its entry has a login: `account`. */
  hasLogin?: boolean
}

export function scripted({
  distid = 'TST',
  name = 'Test Wholesale',
  recovery = 'lookup',
  limits = {},
  withoutFind = false,
  plan,
  hasLogin = false,
}: ScriptedOptions = {}): Scripted {
  const acts: Act[] = []
  const searches: (Search | 'throw')[] = []
  const orders: Scripted['orders'] = []
  const sends: PurchaseOrder[] = []
  const accept = (order: PurchaseOrder): Submission => {
    const number = `${distid}-${orders.length + 1}`
    orders.push({ number, order })
    return { outcome: 'accepted', number }
  }
  const state = { finds: 0 }
  const shown = ({ number, order }: { number: string; order: PurchaseOrder }): FoundOrder => ({
    number,
    po: order.po,
    clientRef: order.clientRef,
    lines: order.lines.map(({ distsku, qty }) => ({ distsku, qty })),
    shipTo: { name: order.shipTo.name, address1: order.shipTo.address1, zip: order.shipTo.zip },
  })
  const connector: Fulfillment = {
    recovery,
    limits: { po: { max: 60 }, ...limits },
    ...(plan && { plan }),
    async submit(session, order) {
      sends.push(order)
      const act = acts.shift() ?? 'accept'
      if (act === 'accept') return accept(order)
      if (typeof act === 'function') return act(session, order)
      if (act.accept) accept(order)
      if (act.answer === 'throw')
        throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
      return act.answer === 'hang' ? new Promise<never>(() => {}) : act.answer
    },
    ...(!withoutFind && {
      async find(_session, order) {
        state.finds++
        const search = searches.shift()
        if (search === 'throw') throw new Error('unreachable')
        return (
          search ?? {
            outcome: 'answered' as const,
            orders: orders
              .filter((has) => has.order.clientRef === order.clientRef || has.order.po === order.po)
              .map(shown),
          }
        )
      },
    }),
  }
  const settings: Distributor['settings'] = hasLogin
    ? { account: { type: 'string', label: 'Account', path: 'account', credential: true } }
    : {}
  const distributor = defineDistributor({
    distid,
    name,
    automatedFulfillment: true,
    settings,
    simulator: connector,
    fulfillment: connector,
  })
  return {
    distributor,
    connector,
    acts,
    searches,
    orders,
    sends,
    get finds() {
      return state.finds
    },
  }
}
