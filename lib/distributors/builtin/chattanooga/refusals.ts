/** How Chattanooga says no to an order, by the codes that are known. */
import type { Submission } from '../../fulfillment.js'
import { codeIn, holdsOrders, isGood, numbersIn, said } from './api.js'
import type { Answer } from './api.js'

const RESTRICTED = 'this may not be shipped there, or not in this way'

/** What each code means to a person. */
export const CODES: Readonly<Record<string, string>> = {
  60202: 'there is not enough in stock',
  60101: RESTRICTED,
  60106: RESTRICTED,
  60107: RESTRICTED,
  60108: RESTRICTED,
  60109: RESTRICTED,
  60203: RESTRICTED,
  60204: RESTRICTED,
  9000: 'something in the order is not as Chattanooga asks for it',
}

/** What became of an order that was answered otherwise than with success. */
export function refusalOf(answer: Answer): Submission {
  const { status, body, isHtml } = answer
  const unknown = (reason: string): Submission => ({ outcome: 'unknown', reason })
  if (isHtml) return unknown(`a page in HTML instead of a reply (HTTP ${status})`)
  if (body === null) return unknown(isGood(answer) ? 'the reply cannot be read' : `HTTP ${status}`)
  // With a number something of it was taken.
  if (holdsOrders(body))
    return unknown(
      said(
        `refused (HTTP ${status}), and numbered ${numbersIn(body).join(', ') || 'all the same'}`,
        body,
      ),
    )
  const code = codeIn(body)
  const meaning = code === null ? undefined : CODES[code]
  const isRefusal = status >= 400 && status < 500
  if (isRefusal && meaning !== undefined)
    return { outcome: 'rejected', reason: said(`${meaning} (${code})`, body) }
  // What cannot be worked on is told so also with codes that nobody has written down.
  if (status === 422 && code !== null)
    return { outcome: 'rejected', reason: said(`the order was refused (${code})`, body) }
  return unknown(said(`HTTP ${status}${code === null ? '' : `, error code ${code}`}`, body))
}
