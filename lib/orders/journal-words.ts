/** Lines of the journal as an operator reads them. */
import type { AdoptionData } from './adopt.js'
import type { IntentData } from './intent.js'
import type { JournalLine } from './journal.js'
import type { StateData, StoredPo } from './transitions.js'

/** One thing that happened to a purchase order. */
export interface ToldLine {
  /** Of the journal; null for an operator's verdict, whose line follows it. */
  seq: number | null
  at: string
  what: string
}

/** What happened to one purchase order, among lines that may tell of others, and what operators decided of it. */
export function linesInWords(ref: string, texts: readonly string[], verdicts: readonly { at: number; actor: string; detail: string }[]): ToldLine[] {
  const lines: (ToldLine & { ms: number })[] = []
  let order: StoredPo | undefined
  for (const text of texts) {
    const { seq, at, kind, data } = JSON.parse(text) as JournalLine
    const tell = (what: string) => lines.push({ seq, ms: at, at: new Date(at).toISOString(), what })
    const begun = (data as Partial<IntentData & AdoptionData>).purchaseOrders?.find(({ client_ref: own }) => own === ref)
    if (begun) {
      order = begun
      tell(kind === 'note' ? `found at ${begun.distid}, which the installation had forgotten, and taken in` : begun.state === 'sending' ? 'taken in, and being sent' : 'taken in, to be sent')
    } else if (kind === 'state' && (data as StateData).ref === ref) {
      const { from, set } = data as StateData
      const before = order ?? { state: from } as StoredPo
      order = { ...before, ...set } as StoredPo
      tell(changeInWords(before, order, set))
    }
  }
  const decided = verdicts.flatMap(({ at, actor, detail }) => {
    const verdict = JSON.parse(detail) as { ref: string; verdict: string; then?: string; number?: string; reason?: string }
    return verdict.ref === ref ? [{ seq: null, ms: at, at: new Date(at).toISOString(), what: verdictInWords(actor, verdict) }] : []
  })
  // A verdict and its line happen at one moment; it is told first.
  return [...decided, ...lines].map((line, i) => ({ line, i })).toSorted((a, b) => a.line.ms - b.line.ms || a.i - b.i).map(({ line: { seq, at, what } }) => ({ seq, at, what }))
}

function verdictInWords(actor: string, { verdict, then, number, reason }: { verdict: string; then?: string; number?: string; reason?: string }): string {
  const decision = verdict === 'placed' ? `the distributor has it as ${number}` : then === 'resend' ? 'the distributor does not have it: send it again' : 'the distributor does not have it: refuse it'
  return `decided by ${actor}: ${decision}${reason ? ` (${reason})` : ''}`
}

function changeInWords(before: StoredPo, { state, reason, sends, stage, distributor_order_id: number, misses }: StoredPo, set: StateData['set']): string {
  const why = reason ? `: ${reason}` : ''
  switch (state) {
    case 'sending': return before.state === 'sending' ? `begun at the distributor as ${stage}` : `being sent, for the ${ordinal(sends)} time`
    case 'placed': return before.state === 'sending' ? `accepted${number ? ` as ${number}` : '; its number comes later'}` : `found at the distributor${number ? ` as ${number}` : '; its number comes later'}`
    case 'planned': return before.state === 'sending' ? `not sent${why}; tried again` : 'to be sent again'
    case 'rejected': return `refused${why}`
    case 'expired': return `given up, nothing was sent${why}`
    case 'review': return `left to a person${why}`
    case 'unknown':
      if (before.state !== 'unknown') return `whether it arrived is not known${why}`
      return set.misses ? `looked for, and not there (${misses} of 2 looks that prove it)` : set.reason ? `looked for in vain${why}` : 'looked for, and not there yet'
  }
}

function ordinal(n: number): string {
  return `${n}${n % 10 === 1 && n % 100 !== 11 ? 'st' : n % 10 === 2 && n % 100 !== 12 ? 'nd' : n % 10 === 3 && n % 100 !== 13 ? 'rd' : 'th'}`
}
