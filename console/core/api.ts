/**
 * What can be asked of the server: the operator's operations by their own definitions, what a shop
 * sees, and the calls about signing in.
 */
import type { endpoints } from '../../lib/app/endpoints.js'
import type {
  OperationId,
  OperationInput,
  OperationResult,
} from '../../lib/app/operations/index.js'
import type { CallResult } from '../../lib/core/endpoint/endpoint.js'
import type { SessionCalls } from './session-calls.js'

export type Operation = OperationId | keyof SessionCalls
export type Input<Id extends Operation> = Id extends keyof SessionCalls
  ? SessionCalls[Id]['input']
  : OperationInput<Exclude<Id, keyof SessionCalls>>
export type Output<Id extends Operation> = Id extends keyof SessionCalls
  ? SessionCalls[Id]['result']
  : OperationResult<Exclude<Id, keyof SessionCalls>>

/** What a shop can ask, and what it is answered. */
type Endpoint = (typeof endpoints)[number]
export type ShopCall = Endpoint['id']
export type ShopResult<Id extends ShopCall> = CallResult<Extract<Endpoint, { id: Id }>>

export interface ShopInput {
  subscriber: string
  params?: object
  query?: object
  body?: unknown
}
