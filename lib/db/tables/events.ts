/** Made from the migrations by `npm run tables`. */
import type { Generated } from 'kysely'

/** Told once; or an alarm was raised, or has ended. */
export type EventState = 'told' | 'raised' | 'ended'

/** How much it matters. */
export type EventSeverity = 'info' | 'warn' | 'bad'

/** What an operator is told. */
export interface EventTable {
  id: Generated<number>
  /** By which a receiver knows one that it gets twice. */
  uid: string
  kind: string
  /** Tells one event of a kind from another. */
  subject: string
  state: EventState
  severity: EventSeverity
  message: string
  /** A command that mends it, or shows what to decide. */
  mend: string | null
  at: number
}

/** What is wrong at the moment. */
export interface AlarmTable {
  kind: string
  subject: string
  message: string
  raised_at: number
}

/** How events reach a receiver. */
export type ReceiverKind = 'webhook' | 'mail'

/** Who is told of events, beside the log. */
export interface EventReceiverTable {
  id: string
  kind: ReceiverKind
  /** A URL or an address of mail, sealed. */
  address: string
  /** With which messages to a webhook are signed, sealed. */
  secret: string | null
  /** 1: the URL may be in this machine or its own network. */
  allow_private: Generated<number>
  created_at: number
}

/** Whether a receiver has an event. */
export type DeliveryState = 'waiting' | 'delivered' | 'given_up'

/** What has reached whom. */
export interface EventDeliveryTable {
  event_id: number
  receiver_id: string
  state: DeliveryState
  attempts: Generated<number>
  next_at: number
  ended_at: number | null
  /** Why the last attempt failed. */
  fault: string | null
}
