/** Bugs of what follows from an answer, or from none. */
import { DAY } from '../../../lib/core/clock.js'
import type { Submission } from '../../../lib/distributors/fulfillment.js'
import { samePo } from '../../../lib/orders/tracking/match.js'
import type * as Match from '../../../lib/orders/tracking/match.js'
import type * as Numbers from '../../../lib/orders/tracking/numbers.js'
import type * as Outcome from '../../../lib/orders/engine/outcome.js'
import type * as Reconcile from '../../../lib/orders/engine/reconcile.js'
import type * as Search from '../../../lib/orders/engine/search.js'
import type * as Answers from '../../../lib/orders/engine/submission.js'
import type { StoredPo } from '../../../lib/orders/stored.js'
import type { Planted, Seam } from '../../plants/seam.js'

type AfterSend = typeof Outcome.afterSend
type Asked = Parameters<typeof Outcome.afterSearch>

/** Has another rule for some answers; null where it has none. */
function answered(change: (real: AfterSend, sent: Submission) => AfterSend | null): Seam {
  return {
    at: 'lib/orders/engine/outcome.ts#afterSend',
    make:
      (real: AfterSend): AfterSend =>
      (order, sent, connector, now) =>
        (change(real, sent) ?? real)(order, sent, connector, now),
  }
}

/** As if no send of it had ever ended without a known outcome. */
const known = (order: StoredPo): StoredPo => ({ ...order, ever_unknown: 0 })

/** Takes a call without an answer for one with this outcome. */
const failing = (outcome: 'not_sent' | 'rejected'): Seam => ({
  at: 'lib/orders/engine/submission.ts#submissionOf',
  make:
    (real: typeof Answers.submissionOf): typeof real =>
    (answer, line) =>
      'failed' in answer ? { outcome, reason: answer.failed } : real(answer, line),
})

/** Takes a search, or the order that is searched for, for another one. */
const searched = (change: (...given: Asked) => Asked): Seam => ({
  at: 'lib/orders/engine/outcome.ts#afterSearch',
  make:
    (real: typeof Outcome.afterSearch): typeof real =>
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
        at: 'lib/orders/engine/outcome.ts#notSent',
        make:
          (real: typeof Outcome.notSent): typeof real =>
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
        at: 'lib/orders/engine/submission.ts#submissionOf',
        make:
          (real: typeof Answers.submissionOf): typeof real =>
          (answer, line) => {
            const sent = real(answer, line)
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
        at: 'lib/orders/engine/reconcile.ts#reconcileOne',
        make:
          (real: typeof Reconcile.reconcileOne): typeof real =>
          (tools, order, options) => {
            const unknownFor = tools.ctx.now() - (order.unknown_since ?? order.updated_at)
            return real(tools, order, { ...options, unknownFor: Math.max(0, unknownFor) })
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
        at: 'lib/orders/engine/search.ts#search',
        make:
          (real: typeof Search.search): typeof real =>
          async (...given) => {
            const found = await real(...given)
            return found.outcome === 'unreachable' ? { outcome: 'answered', orders: [] } : found
          },
      },
    ],
  },
  {
    name: 'a PO alone is proof',
    seams: [
      {
        at: 'lib/orders/tracking/match.ts#matchOrder',
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
        at: 'lib/orders/tracking/match.ts#matchOrder',
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
        at: 'lib/orders/tracking/numbers.ts#standsElsewhere',
        make: (): typeof Numbers.standsElsewhere => async () => false,
      },
    ],
  },
  {
    name: 'what was sent once expires',
    seams: [
      {
        at: 'lib/orders/engine/outcome.ts#whatIsDue',
        make:
          (real: typeof Outcome.whatIsDue): typeof real =>
          (order, now) => {
            const due = real({ ...order, state: 'planned', first_sent_at: null }, now)
            return due === 'give up' ? due : real(order, now)
          },
      },
      {
        at: 'lib/orders/engine/outcome.ts#isTooOld',
        make:
          (real: typeof Outcome.isTooOld): typeof real =>
          (order, now) =>
            real({ ...order, first_sent_at: null }, now),
      },
    ],
  },
]
