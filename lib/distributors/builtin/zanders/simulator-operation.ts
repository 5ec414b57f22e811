/** An operation of Zanders' simulator: what it is given, and what it answers. */
import type { LRUCache } from 'lru-cache'
import type { Arrival } from '../../../simulator/engine/order.js'
import type { Handled, WireAnswer } from '../../../simulator/wire/http-simulator.js'
import type { Call as AnyCall } from '../../../simulator/wire/posted-order.js'
import type { Service } from './api.js'
import { SOAP_HEADERS, writeAnswer } from './soap.js'
import type { AnsweredMap, Value, ValueMap } from './soap.js'

/** One call. */
export interface Call extends AnyCall {
  readonly service: Service | 'items'
  readonly operation: string
  readonly params: AnsweredMap
  /** The first of its send, or of nobody's. */
  readonly isFirst: boolean
  /** Ship-tos that were made, by account and number. */
  readonly shipTos: LRUCache<string, Arrival['shipTo']>
}

export type Operation = (call: Call) => Handled

export function answer({ service, operation }: Call, map: ValueMap): WireAnswer {
  const namespace = `http://shop2.gzanders.com/webservice/${service}`
  return { status: 200, headers: SOAP_HEADERS, body: writeAnswer(namespace, operation, map) }
}

/** `return code 9: nothing available` as the services say it. */
export function refusal(call: Call, words: string, removedItems?: Value): WireAnswer {
  const [, code = '2', reason = words] = /^return code (\d+): (.*)$/.exec(words) ?? []
  return answer(call, {
    returnCode: Number(code),
    ...(code === '9' && removedItems !== undefined && { removedItems }),
    reason,
  })
}
