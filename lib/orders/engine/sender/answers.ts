/** What came back from a connector, as far as it is an answer. */
import { cleaned } from '../../../core/text.js'
import type {
  FoundOrder,
  Search,
  Submission,
  ToldAtOnce,
} from '../../../distributors/fulfillment.js'
import type { Called } from './call.js'
import type { OpenedOrder } from './open-order.js'
import { withoutSecrets } from '../../../distributors/session/redact.js'

/** Characters of what a distributor says that are kept. */
export const MAX_REASON = 300
export const MAX_NUMBER = 100
/** What an acceptance may tell besides the number. */
const AT_ONCE: readonly ToldAtOnce['status'][] = [
  'FFL Hold',
  'Partially Fulfilled',
  'Not Fulfilled',
]

/**
 * What a connector answered, as far as it is an answer: one that throws, answers nonsense or takes
 * too long has not said what became of the order. A distributor's own words are redacted, cleaned
 * and cut.
 */
export function submissionOf(
  answer: Called<Submission>['answer'],
  order: Pick<OpenedOrder, 'secrets'>,
): Submission {
  if ('failed' in answer) return { outcome: 'unknown', reason: answer.failed }
  const { outcome, number, reason, retryAfter, told } = (answer.value ?? {}) as Partial<
    Record<'outcome' | 'number' | 'reason' | 'retryAfter' | 'told', unknown>
  >
  const clean = (text: unknown) =>
    typeof text === 'string' && text.trim() !== ''
      ? cleaned(withoutSecrets(text, order.secrets), MAX_REASON)
      : 'no reason was given'
  const said = clean(reason)
  const isNumber =
    number === null ||
    (typeof number === 'string' && number.trim() !== '' && cleaned(number, MAX_NUMBER) === number)
  if (outcome === 'accepted' && isNumber) {
    const { status, reason: why } = (told ?? {}) as Partial<ToldAtOnce>
    return status !== undefined && AT_ONCE.includes(status)
      ? { outcome, number, told: { status, reason: clean(why) } }
      : { outcome, number }
  }
  if (outcome === 'duplicate' && isNumber) return { outcome, number }
  if (outcome === 'rejected' || outcome === 'unknown' || outcome === 'review')
    return { outcome, reason: said }
  if (outcome === 'not_sent')
    return {
      outcome,
      reason: said,
      ...(typeof retryAfter === 'number' && retryAfter > 0 && { retryAfter }),
    }
  return { outcome: 'unknown', reason: 'the connector gave no outcome' }
}

/**
 * What a connector answered, as far as it is an answer. One order that cannot be read may be ours:
 * then nothing is known.
 */
export function searchOf(
  answer: Called<Search>['answer'],
  order: Pick<OpenedOrder, 'secrets'>,
): Search {
  if ('failed' in answer) return { outcome: 'unreachable', reason: answer.failed }
  const { value } = answer
  if (value?.outcome === 'unreachable')
    return {
      outcome: 'unreachable',
      reason: cleaned(withoutSecrets(String(value.reason), order.secrets), MAX_REASON),
    }
  if (value?.outcome !== 'answered' || !Array.isArray(value.orders))
    return { outcome: 'unreachable', reason: 'the connector gave no answer' }
  const isRead = ({ number, po, clientRef, lines }: FoundOrder) =>
    (number === null ||
      (typeof number === 'string' &&
        number.trim() !== '' &&
        cleaned(number, MAX_NUMBER) === number)) &&
    typeof po === 'string' &&
    ['string', 'undefined'].includes(typeof clientRef) &&
    (lines === undefined ||
      (Array.isArray(lines) &&
        lines.every(({ distsku, qty }) => typeof distsku === 'string' && typeof qty === 'number')))
  return value.orders.every(isRead)
    ? value
    : { outcome: 'unreachable', reason: 'the connector showed an order that cannot be read' }
}
