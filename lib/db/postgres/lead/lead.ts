/** The lead of one node, and what nodes tell each other of orders. */
import { sql } from 'kysely'
import { LeadLost } from '../../lead.js'
import type { Lead, OrderNews } from '../../lead.js'
import { pipelined } from '../../together.js'
import { ORDERS_CHANNEL } from '../schema/state.js'
import { standForLead } from './leadership.js'
import type { Candidate, Leadership } from './leadership.js'
import type { Lease } from './lease.js'

/** What is led. */
export const INSTALLATION = 'installation'

export interface NodeClocks extends Pick<Candidate, 'now' | 'monotonic'> {
  random: (bytes: number) => Buffer
}

export interface NodeLead extends Lead {
  /** Passes on what the server has told this node. */
  told(news: string): void
  /** Passes on what a look at the database has shown of the lease. */
  shown(lease: Lease | undefined): void
  close(): Promise<void>
}

/** Leads nothing before it stands for it. */
export function openLead(
  postgres: Candidate['postgres'],
  { log, now, monotonic, random }: NodeClocks & Pick<Candidate, 'log'>,
): NodeLead {
  const owner = random(12).toString('base64url')
  const listeners = new Map<(placement: number | null) => void, OrderNews>()
  let standing: Leadership | undefined
  return {
    node: owner,
    get epoch() {
      return standing?.epoch ?? null
    },
    stand() {
      standing ??= standForLead({ postgres, name: INSTALLATION, owner, monotonic, now, log })
    },
    async fence(tx, epoch) {
      if (!standing) throw new LeadLost()
      await standing.fence(tx, epoch)
    },
    mayBegin: (epoch) => standing?.mayBegin(epoch) ?? false,
    async tell(tx, news, placement) {
      const told = `${news} ${placement}`
      await pipelined(tx, [sql`select pg_notify(${ORDERS_CHANNEL}, ${told})`])
    },
    onTold(news, listener, until) {
      if (until.aborted) return
      listeners.set(listener, news)
      until.addEventListener('abort', () => listeners.delete(listener), { once: true })
    },
    told(text) {
      const [news, placement] = text.split(' ')
      for (const [listener, wanted] of listeners)
        if (wanted === news) listener(placement === undefined ? null : Number(placement))
    },
    shown(lease) {
      standing?.shown(lease)
    },
    close: async () => standing?.close(),
  }
}
