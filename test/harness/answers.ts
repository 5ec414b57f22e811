/** No answer may have lied. */
import type { Books, Report } from './invariants.js'

/** What a caller was told. */
export interface Answered {
  subscriberId: string
  orderId: string
  /** The status of a 200, or the code of a refusal. */
  said: string
  /** Numbers in the records that came with it. */
  numbers: string[]
  /** Records and errors that came with it. */
  records: number
  /** Digest of the request. */
  digest: string
  /** What a duplicate said of the request. */
  sameRequest?: boolean
  detail?: string
}

/**
 * What may be said without a word about the order: it was refused before anything was written down.
 */
const BEFORE: readonly string[] = [
  'order_volume_limit',
  'service_unavailable',
  'fulfillment_not_configured',
]

export function answersLie(books: Books, answers: readonly Answered[], report: Report): void {
  const byOrder = new Map<string, Answered[]>()
  for (const answer of answers) {
    const name = `${answer.subscriberId} ${answer.orderId}`
    const known = byOrder.get(name)
    if (known) known.push(answer)
    else byOrder.set(name, [answer])
  }
  for (const [name, mine] of byOrder) {
    const [subscriberId] = name.split(' ')
    const placements = books.placements.filter(
      ({ subscriber_id: of, order_id: id }) => of === subscriberId && id === mine[0]!.orderId,
    )
    const lie = (answer: Answered, what: string) =>
      report(
        'answer',
        `${answer.orderId} was answered ${answer.said}${answer.detail ? ` (${answer.detail})` : ''}, and ${what}`,
      )
    const failed = placements.filter(({ holds_id: holds }) => holds === 0).length
    const refused = mine.filter(
      ({ said }) => said === 'order_rejected' || said === 'distributor_unavailable',
    )
    if (refused.length > failed) lie(refused[0]!, `only ${failed} of its placements failed`)
    for (const answer of mine) checkOne(books, answer, placements, (what) => lie(answer, what))
  }
}

function checkOne(
  { purchaseOrders }: Books,
  { said, numbers, records, sameRequest, digest }: Answered,
  placements: Books['placements'],
  lie: (what: string) => void,
): void {
  const orders = purchaseOrders.filter(({ placement_id: of }) =>
    placements.some(({ id }) => id === of),
  )
  const holder = placements.find(({ holds_id: holds }) => holds === 1)
  const states = holder
    ? orders.filter(({ placement_id: of }) => of === holder.id).map(({ state }) => state)
    : []
  if (BEFORE.includes(said)) return
  if (placements.length === 0) return lie('nothing is known of it')
  if (records === 0) lie('no record came with it')
  for (const number of numbers)
    if (
      !orders.some(({ distributor_order_id: own, state }) => own === number && state === 'placed')
    )
      lie(`${number} is not the number of one of its orders`)
  switch (said) {
    case 'placed':
      if (!holder || !states.every((state) => state === 'placed'))
        lie(`its parts are ${states.join(', ')}`)
      break
    case 'partial':
      if (
        !holder ||
        !states.every((state) => ['placed', 'rejected', 'expired'].includes(state)) ||
        !states.includes('placed')
      )
        lie(`its parts are ${states.join(', ')}`)
      break
    case 'duplicate_order':
      if (!placements.some(({ request_digest: of }) => (of === digest) === sameRequest))
        lie('same_request is wrong')
      break
    case 'pending':
    case 'order_rejected':
    case 'distributor_unavailable':
      break
    default:
      lie('that is no answer of this call')
  }
}
