/** Bugs of what follows from an answer, or from none. */
import { DAY } from '../../../lib/core/clock.js'
import type { Submission } from '../../../lib/distributors/fulfillment.js'
import { samePo } from '../../../lib/orders/matching/match.js'
import type * as Match from '../../../lib/orders/matching/match.js'
import type * as Numbers from '../../../lib/orders/matching/order-numbers.js'
import type * as AfterSearch from '../../../lib/orders/engine/rules/after-search.js'
import type * as AfterSend from '../../../lib/orders/engine/rules/after-send.js'
import type * as Timing from '../../../lib/orders/engine/rules/timing.js'
import type * as Answers from '../../../lib/orders/engine/sender/answers.js'
import type * as Reconcile from '../../../lib/orders/engine/sender/reconcile.js'
import type { StoredPo } from '../../../lib/orders/stored.js'
import type { Planted, Seam } from '../../plants/seam.js'

type OfSend = typeof AfterSend.afterSend
type Asked = Parameters<typeof AfterSearch.afterSearch>

/** Has another rule for some answers; null where it has none. */
function answered(change: (real: OfSend, sent: Submission) => OfSend | null): Seam {
  return {
    at: 'lib/orders/engine/rules/after-send.ts#afterSend',
    make:
      (real: OfSend): OfSend =>
      (order, sent, connector, now) =>
        (change(real, sent) ?? real)(order, sent, connector, now),
  }
}

/** As if no send of it had ever ended without a known outcome. */
const known = (order: StoredPo): StoredPo => ({ ...order, ever_unknown: 0 })

/** Takes a call without an answer for one with this outcome. */
const failing = (outcome: 'not_sent' | 'rejected'): Seam => ({
  at: 'lib/orders/engine/sender/answers.ts#submissionOf',
  make:
    (real: typeof Answers.submissionOf): typeof real =>
    (answer, order) =>
      'failed' in answer ? { outcome, reason: answer.failed } : real(answer, order),
})

/** Takes a search, or the order that is searched for, for another one. */
const searched = (change: (...given: Asked) => Asked): Seam => ({
  at: 'lib/orders/engine/rules/after-search.ts#afterSearch',
  make:
    (real: typeof AfterSearch.afterSearch): typeof real =>
    (...given) =>
      real(...change(...given)),
})

export const OUTCOMES: readonly Planted[] = [
  {
    name: 'a refusal after an unknown counts as one',
    seams: [
      answered((real, { outcome }) =>
        outcome === 'rejected' ? (order, ...rest) => real(known(order), ...rest) : null,
      ),
    ],
  },
  {
    name: 'not sent after an unknown: planned again',
    seams: [
      answered((real, { outcome }) =>
        outcome === 'not_sent' ? (order, ...rest) => real(known(order), ...rest) : null,
      ),
      {
        at: 'lib/orders/engine/rules/after-send.ts#notSent',
        make:
          (real: typeof AfterSend.notSent): typeof real =>
          (order, ...rest) =>
            real(known(order), ...rest),
      },
    ],
  },
  { name: 'a timeout or a broken connection counts as not sent', seams: [failing('not_sent')] },
  { name: 'a timeout or a broken connection counts as a refusal', seams: [failing('rejected')] },
  {
    name: 'an answer that is none counts as a refusal',
    seams: [
      {
        at: 'lib/orders/engine/sender/answers.ts#submissionOf',
        make:
          (real: typeof Answers.submissionOf): typeof real =>
          (answer, order) => {
            const sent = real(answer, order)
            if ('failed' in answer || sent.outcome !== 'unknown') return sent
            const isSaid = (answer.value as Partial<Submission> | null)?.outcome === 'unknown'
            return isSaid ? sent : { ...sent, outcome: 'rejected' }
          },
      },
    ],
  },
  {
    name: 'accepted without a number counts as placed',
    suites: ['orders/engine/findings'],
    seams: [
      answered((real, { outcome }) =>
        outcome === 'accepted'
          ? (order, sent, connector, now) =>
              real(order, sent, { ...connector, recovery: 'file' }, now)
          : null,
      ),
    ],
  },
  {
    name: 'a duplicate counts as accepted without a look',
    seams: [
      answered((real, answer) =>
        answer.outcome === 'duplicate' && answer.number !== null
          ? (order, _sent, ...rest) => real(order, { ...answer, outcome: 'accepted' }, ...rest)
          : null,
      ),
    ],
  },
  {
    name: 'no time to settle',
    seams: [
      searched((order, findings, connector, at) => {
        const isClear = findings.unclear.length === 0 && findings.blind === null
        return [order, findings, connector, isClear ? { ...at, unknownFor: Infinity } : at]
      }),
    ],
  },
  {
    name: "the time to settle is the wall clock's alone",
    seams: [
      {
        at: 'lib/orders/engine/sender/reconcile.ts#reconcile',
        make:
          (real: typeof Reconcile.reconcile): typeof real =>
          (ctx, order, options) => {
            const unknownFor = ctx.now() - (order.unknown_since ?? order.updated_at)
            return real(ctx, order, { ...options, unknownFor: Math.max(0, unknownFor) })
          },
      },
    ],
  },
  {
    name: 'one look instead of two',
    seams: [searched((order, ...rest) => [{ ...order, misses: order.misses + 1 }, ...rest])],
  },
  {
    name: 'who cannot be asked has no order',
    seams: [
      {
        at: 'lib/orders/engine/sender/answers.ts#searchOf',
        make:
          (real: typeof Answers.searchOf): typeof real =>
          (...given) => {
            const found = real(...given)
            return found.outcome === 'unreachable' ? { outcome: 'answered', orders: [] } : found
          },
      },
    ],
  },
  {
    name: 'a PO alone is proof',
    seams: [
      {
        at: 'lib/orders/matching/match.ts#matchOrder',
        make:
          (real: typeof Match.matchOrder): typeof real =>
          (found, sent, context) => {
            const isRecent =
              found.placedAt === undefined || context.firstSentAt - found.placedAt <= DAY
            const isProof = found.clientRef === undefined && !context.isTaken && isRecent
            const isOurs = isProof && samePo(found.po, sent.po) !== 'other'
            return isOurs ? 'ours' : real(found, sent, context)
          },
      },
    ],
  },
  {
    name: "what is unclear is somebody else's",
    seams: [searched((order, findings, ...rest) => [order, { ...findings, unclear: [] }, ...rest])],
  },
  {
    name: 'a clock that was a day ahead makes our own order an earlier one',
    suites: ['orders/engine/findings'],
    seams: [
      {
        at: 'lib/orders/matching/match.ts#matchOrder',
        make:
          (real: typeof Match.matchOrder): typeof real =>
          (found, sent, context) => {
            const isEarlier =
              found.placedAt !== undefined && context.firstSentAt - found.placedAt > DAY
            return found.clientRef === undefined && isEarlier ? 'other' : real(found, sent, context)
          },
      },
    ],
  },
  {
    name: 'numbers of other orders are not looked at',
    seams: [
      {
        at: 'lib/orders/matching/order-numbers.ts#standsElsewhere',
        make: (): typeof Numbers.standsElsewhere => async () => false,
      },
    ],
  },
  {
    name: 'what was sent once expires',
    seams: [
      {
        at: 'lib/orders/engine/rules/timing.ts#whatIsDue',
        make:
          (real: typeof Timing.whatIsDue): typeof real =>
          (order, now) => {
            const due = real({ ...order, state: 'planned', first_sent_at: null }, now)
            return due === 'give up' ? due : real(order, now)
          },
      },
      {
        at: 'lib/orders/engine/rules/timing.ts#isTooOld',
        make:
          (real: typeof Timing.isTooOld): typeof real =>
          (order, now) =>
            real({ ...order, first_sent_at: null }, now),
      },
    ],
  },
]
