import type { ReceiverKind } from '../db/tables/events.js'

/** A receiver with its secrets, as a delivery needs it. */
export interface OpenReceiver {
  id: string
  kind: ReceiverKind
  address: string
  secret: string | null
  allowPrivate: boolean
}
