/**
 * What an order of quoted items would be refused for, as far as the quote can know: placement's own
 * checks of items, distributors and rules, asked before there is an order.
 * Customer, dealer and destination are not known yet, so of the rules those count that block an
 * item wherever it goes.
 */
import type { View } from '../catalog/view/view.js'
import type { Saved } from '../configuration/document/saved.js'
import type { QuotesCall } from './ctx.js'
import { distributorProblem } from '../orders/place/check-distributors.js'
import { itemProblems } from '../orders/place/check-items.js'
import type { OrderedItem } from '../orders/place/check-items.js'
import { enforcesRestrictions } from '../orders/place/enforcement.js'
import { blocksAnywhere } from '../restrictions/check.js'
import type { Blocker } from './shapes.js'

export type QuotedItem = Omit<OrderedItem, 'ffl_req'>

/** The blockers of each item, were these items one order to the customer. */
export type FindBlockers = (items: readonly QuotedItem[]) => Blocker[][]

export async function openBlockers(
  ctx: QuotesCall,
  view: View,
  saved: Saved,
): Promise<FindBlockers> {
  const entryOf = (distid: string) =>
    Object.values(saved.document.distributors).find((entry) => entry.distid === distid)
  // Nobody sees these texts.
  const textOf = () => ({ name: '', upc: null })
  const sources = { snapshot: view.snapshot, view, document: saved.document, entryOf, textOf }
  const known = new Map<string, Blocker | null>()
  const ofDistributor = (distid: string): Blocker | null => {
    let blocker = known.get(distid)
    if (blocker === undefined) {
      const problem = distributorProblem(ctx, saved, distid)
      blocker = problem && {
        code: problem.code,
        message: `${ctx.distributors.byDistid(distid)?.name ?? distid}: ${problem.reason}.`,
      }
      known.set(distid, blocker)
    }
    return blocker
  }
  const rulesAgainst = (await enforcesRestrictions(ctx))
    ? blocksAnywhere(ctx, ctx.subscriber, view.snapshot)
    : () => []
  return (items) => {
    const { problems } = itemProblems(
      ctx,
      { items: items.map((item) => ({ ...item, ffl_req: false })), ship_to_store: false },
      sources,
    )
    const sound = items.filter(({ distid }) => ofDistributor(distid) === null)
    const isMixed = new Set(sound.map(({ distid }) => ctx.modes.of(distid))).size > 1
    return items.map(({ distid, distsku, upc }, i) => {
      const blocker = ofDistributor(distid)
      const isToDealer = problems.some(({ item, code }) => item === i && code === 'ffl_required')
      const rules = rulesAgainst({ distid, sku: distsku, upc }, isToDealer ? 'ffl' : 'consumer')
      return [
        ...(blocker ? [blocker] : []),
        ...(isMixed && !blocker ? [mixed(distid, ctx.modes.of(distid))] : []),
        ...problems
          .filter((problem) => problem.item === i)
          .map(({ code, message }): Blocker => ({
            code,
            message:
              code === 'ffl_required'
                ? fflRequired(distid, distsku)
                : `${distid} ${distsku}: ${message}.`,
          })),
        ...rules.map(({ rule_id: id, customer_message: message }): Blocker => ({
          code: 'restricted',
          message: `${distid} ${distsku} may not be shipped anywhere by the rule ${id}: ${message}`,
        })),
      ]
    })
  }
}

function mixed(distid: string, mode: string): Blocker {
  return {
    code: 'different_modes',
    message: `${distid} is in mode ${mode}, others of the plan are not: order from them separately.`,
  }
}

function fflRequired(distid: string, distsku: string): Blocker['message'] {
  return (
    `${distid} ${distsku} goes to a licensed dealer only: order it with ffl_req true and ` +
    'ffl.licenseNumber, or with ship_to_store.'
  )
}
