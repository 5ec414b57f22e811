/** Asks a distributor what it has of an order. */
import { MINUTE } from '../../core/clock.js'
import { cleaned } from '../../core/text.js'
import type { FoundOrder, Search } from '../../distributors/fulfillment.js'
import { inTime, withoutSecrets } from './line.js'
import type { Line } from './line.js'
import type { SenderTools } from './send.js'
import { MAX_NUMBER, MAX_REASON } from './submission.js'
import type { StoredPo } from '../stored.js'

const FIND_TIMEOUT = MINUTE

/** Asks a distributor for an order, within a minute. */
export async function search(tools: SenderTools, order: StoredPo, line: Line): Promise<Search> {
  const { connector, settings, content } = line
  const { ctx } = tools
  // A search has no stage of its own to keep.
  const session = {
    settings,
    now: ctx.now,
    stage: order.stage,
    keepStage: () => Promise.reject(new Error('a search keeps no stage')),
  }
  const { answer } = await inTime(tools, FIND_TIMEOUT, (signal) =>
    connector.find!({ ...session, signal }, content),
  )
  if ('failed' in answer) return { outcome: 'unreachable', reason: answer.failed }
  return searchOf(answer.value, line)
}

/**
 * What a connector answered, as far as it is an answer. One order that cannot be read may be ours:
 * then nothing is known.
 */
function searchOf(value: Search, line: Line): Search {
  if (value?.outcome === 'unreachable')
    return {
      outcome: 'unreachable',
      reason: cleaned(withoutSecrets(String(value.reason), line), MAX_REASON),
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
