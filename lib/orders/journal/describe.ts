/** Lines of the journal as an operator reads them. */
import type { AdoptionData } from '../operator/adopt.js'
import type { IntentData } from '../place/intent.js'
import type { JournalLine } from './chain.js'
import type { VerdictData } from '../operator/resolve.js'
import type { StoredPo } from '../stored.js'
import type { StateData } from '../engine/transitions.js'

/** One thing that happened to a purchase order. */
export interface DescribedLine {
  /** Of the journal. */
  seq: number
  at: string
  what: string
}

/** What happened to one purchase order, oldest first, among lines that may tell of others. */
export function describeLines(ref: string, texts: readonly string[]): DescribedLine[] {
  let order: StoredPo | undefined
  return texts.flatMap((text) => {
    const { seq, at, kind, data } = JSON.parse(text) as JournalLine & {
      data: Partial<IntentData & AdoptionData & VerdictData & StateData>
    }
    const described = (what: string) => [{ seq, at: new Date(at).toISOString(), what }]
    if (data.resolved === ref) return described(describeVerdict(data as VerdictData))
    const begun = data.purchaseOrders?.find(({ client_ref: own }) => own === ref)
    if (begun) {
      order = begun
      return described(
        kind === 'note'
          ? `found at ${begun.distid}, which the installation had forgotten, and taken in`
          : begun.state === 'sending'
            ? 'taken in, and being sent'
            : 'taken in, to be sent',
      )
    }
    if (kind !== 'state' || data.ref !== ref) return []
    const { from, set } = data as StateData
    const before = order ?? ({ state: from } as StoredPo)
    order = { ...before, ...set } as StoredPo
    return described(describeChange(before, order, set))
  })
}

function describeVerdict({ by, ...verdict }: VerdictData): string {
  const decision =
    verdict.verdict === 'placed'
      ? `the distributor has it as ${verdict.number}`
      : 'the distributor does not have it: ' +
        `${verdict.next === 'resend' ? 'send it again' : 'refuse it'}`
  return `decided by ${by}: ${decision}${verdict.reason ? ` (${verdict.reason})` : ''}`
}

function describeChange(
  before: StoredPo,
  { state, reason, sends, stage, distributor_order_id: number, misses }: StoredPo,
  set: StateData['set'],
): string {
  const why = reason ? `: ${reason}` : ''
  switch (state) {
    case 'sending':
      return before.state === 'sending'
        ? `begun at the distributor as ${stage}`
        : `being sent, for the ${ordinal(sends)} time`
    case 'placed':
      return before.state === 'sending'
        ? `accepted${number ? ` as ${number}` : '; its number comes later'}`
        : `found at the distributor${number ? ` as ${number}` : '; its number comes later'}`
    case 'planned':
      return before.state === 'sending' ? `not sent${why}; tried again` : 'to be sent again'
    case 'rejected':
      return `refused${why}`
    case 'expired':
      return `given up, nothing was sent${why}`
    case 'review':
      return `left to a person${why}`
    case 'unknown':
      if (before.state !== 'unknown') return `whether it arrived is not known${why}`
      return set.misses
        ? `looked for, and not there (${misses} of 2 looks that prove it)`
        : set.reason
          ? `looked for in vain${why}`
          : 'looked for, and not there yet'
  }
}

function ordinal(n: number): string {
  const isTeen = n % 100 >= 11 && n % 100 <= 13
  const ending = isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th')
  return `${n}${ending}`
}
