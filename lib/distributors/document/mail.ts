/** An order as a message. Nothing tells whether somebody reads it. */
import type { Rendered, Submission } from '../fulfillment.js'
import type { Session } from '../session/session.js'

/** Sends the message of an order, once. */
export async function sendByMail(
  session: Session,
  { what, headers, body }: Rendered,
): Promise<Submission> {
  const outcome = await session.mail({
    to: what.replace(/^MAIL /, ''),
    subject: headers['subject'] ?? '',
    ...(headers['attachment'] === undefined
      ? { text: body }
      : {
          text: 'The order is attached.',
          attachment: { name: headers['attachment'], content: Buffer.from(body, 'latin1') },
        }),
  })
  switch (outcome.outcome) {
    case 'sent':
      return { outcome: 'accepted', number: null }
    case 'refused':
      return { outcome: 'rejected', reason: outcome.reason }
    case 'not_sent':
    case 'unknown':
      return { outcome: outcome.outcome, reason: outcome.reason }
  }
}
