/** Events as mail to a person: what waits for them goes in one message. */
import { deadlineIn } from '../core/async/wait.js'
import { MINUTE } from '../core/clock.js'
import { times } from '../core/figures.js'
import type { OperatorEgress } from '../distributors/session/egress.js'
import { sendMail } from '../distributors/session/mail.js'
import type { OpenReceiver } from './receiver.js'
import type { EventMessage } from './webhook.js'

export const NO_MAIL_SERVER =
  'no mail server is set: give QUARTERMASTER_MAIL_SERVER and QUARTERMASTER_MAIL_FROM'

/** Milliseconds for the whole conversation with the mail server. */
const TIMEOUT = MINUTE
const LONGEST_SUBJECT = 120

/** Sends them in one message, once. Throws an error that says why it was not taken. */
export async function mailEvents(
  { mail }: OperatorEgress,
  { address }: OpenReceiver,
  events: readonly EventMessage[],
  closing: AbortSignal,
): Promise<void> {
  if (!mail) throw new Error(NO_MAIL_SERVER)
  const { signal, clear } = deadlineIn(TIMEOUT, closing)
  try {
    const sent = await sendMail(mail, { to: address, ...mailOf(events) }, signal)
    if (sent.outcome !== 'sent') throw new Error(sent.reason)
  } finally {
    clear()
  }
}

/** Subject and text. */
export function mailOf(events: readonly EventMessage[]): { subject: string; text: string } {
  const [first] = events
  const subject =
    events.length === 1 && first
      ? `[Quartermaster] ${oneLine(first.message)}`
      : `[Quartermaster] ${times(events.length, 'event')}`
  return {
    subject: subject.slice(0, LONGEST_SUBJECT),
    text: `${events.map(entryOf).join('\n\n')}\n\n-- \nquartermaster events list\n`,
  }
}

function entryOf({ at, message, mend, state, severity, id }: EventMessage): string {
  return [
    message,
    ...(mend === null ? [] : [`  ${mend}`]),
    `  ${at}, ${state}, ${severity}, id ${id}`,
  ].join('\n')
}

/** A subject has no line ends, or it would be more than a subject. */
const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ')
