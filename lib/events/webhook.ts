/**
 * An event as a message to a program: signed, so that it knows whose it is, and with an id, since
 * it may come twice.
 */
import { createHmac } from 'node:crypto'
import { isIP } from 'node:net'
import { deadlineIn } from '../core/async/wait.js'
import { SECOND } from '../core/clock.js'
import { callHttp } from '../distributors/session/http.js'
import type { ListedEvent } from './events.js'
import type { OpenReceiver } from './receiver.js'

/** What a receiver is sent. */
export type EventMessage = Omit<ListedEvent, 'deliveries'>

/** Bytes of an answer; nobody reads it. */
const MOST_ANSWER = 64 * 1024

/** Why a URL cannot be a webhook; null where it can. */
export function readWebhook(text: string, allowPrivate: boolean): string | null {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol))
    return 'must be an address such as https://alerts.example/quartermaster'
  if (url.username !== '' || url.password !== '')
    return 'must hold no user and no password: messages are signed instead'
  if (url.protocol === 'http:' && !allowPrivate && !isLoopback(url.hostname))
    return 'must begin with https; http is for this machine, or with --allow-private'
  return null
}

/**
 * Sends it, once. Resolves where the receiver took it (any 2xx), else throws an error that says why
 * not. No redirect is followed: it would lead where nobody allowed it to.
 */
export async function sendWebhook(
  { address, secret, allowPrivate }: OpenReceiver,
  event: EventMessage,
  { now, patience, closing }: { now: number; patience: number; closing: AbortSignal },
): Promise<void> {
  const url = new URL(address)
  const body = JSON.stringify(event)
  const mayBePrivate = allowPrivate || isLoopback(url.hostname)
  const { signal, clear } = deadlineIn(patience, closing)
  try {
    const { status } = await callHttp(
      {
        hosts: [url.hostname],
        mayBePlain: mayBePrivate,
        ...(mayBePrivate && { privateHosts: [url.hostname] }),
      },
      {
        method: 'POST',
        url: url.href,
        body,
        maxBytes: MOST_ANSWER,
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'quartermaster-event-id': event.id,
          'quartermaster-signature': signatureOf(secret ?? '', body, now),
        },
      },
      signal,
    )
    if (status < 200 || status > 299) throw new Error(`the receiver answered ${status}`)
  } catch (error) {
    if (!signal.aborted || closing.aborted) throw error
    throw new Error(`there was no answer within ${patience / SECOND} seconds`, {
      cause: error,
    })
  } finally {
    clear()
  }
}

/** `t=SECONDS,v1=HEX`: the HMAC-SHA256 of `SECONDS.BODY`. The time keeps old ones from being replayed. */
export function signatureOf(secret: string, body: string, now: number): string {
  const seconds = Math.floor(now / SECOND)
  const mac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
  return `t=${seconds},v1=${mac}`
}

function isLoopback(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'))
}
