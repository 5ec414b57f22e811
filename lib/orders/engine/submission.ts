/** What came back from one send. */
import { cleaned } from '../../core/text.js'
import type { Submission } from '../../distributors/fulfillment.js'
import { withoutSecrets } from './line.js'
import type { Called, Line } from './line.js'

/**
 * What a connector answered, as far as it is an answer: one that throws, answers nonsense or takes
 * too long has not said what became of the order. A distributor's own words are redacted, cleaned
 * and cut.
 */
export function submissionOf(
  answer: Called<Submission>['answer'],
  line: Pick<Line, 'secrets'>,
): Submission {
  if ('failed' in answer) return { outcome: 'unknown', reason: answer.failed }
  const { outcome, number, reason, retryAfter } = (answer.value ?? {}) as Partial<
    Record<'outcome' | 'number' | 'reason' | 'retryAfter', unknown>
  >
  const said =
    typeof reason === 'string' && reason.trim() !== ''
      ? cleaned(withoutSecrets(reason, line), MAX_REASON)
      : 'no reason was given'
  const isNumber =
    number === null ||
    (typeof number === 'string' && number.trim() !== '' && cleaned(number, MAX_NUMBER) === number)
  if ((outcome === 'accepted' || outcome === 'duplicate') && isNumber) return { outcome, number }
  if (outcome === 'rejected' || outcome === 'unknown') return { outcome, reason: said }
  if (outcome === 'not_sent')
    return {
      outcome,
      reason: said,
      ...(typeof retryAfter === 'number' && retryAfter > 0 && { retryAfter }),
    }
  return { outcome: 'unknown', reason: 'the connector gave no outcome' }
}

/** Characters of what a distributor says that are kept. */
export const MAX_REASON = 300
export const MAX_NUMBER = 100
