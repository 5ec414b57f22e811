/**
 * How many sends of one account run at a time: one, where a distributor has one cart for each
 * account.
 */

/** Sends, and searches, of one account at a time, where the connector says nothing else. */
export const CONCURRENCY = 4

export interface AccountSlots {
  /**
   * Takes a slot for a new order if one is free now. Whatever is taken up again never stands
   * before it.
   */
  tryTake(account: string, limit: number): boolean
  /**
   * Waits for a slot, first come, first served; new orders before all others, for which one slot is
   * kept. False when the signal is aborted first.
   */
  take(account: string, limit: number, options: TakeOptions): Promise<boolean>
  free(account: string): void
}

export interface TakeOptions {
  signal: AbortSignal
  /** It has just been placed: its caller waits. */
  isNew: boolean
}

interface Waiting {
  go: () => void
  /** Slots that may be taken when it goes. */
  most: number
}

export function openAccountSlots(): AccountSlots {
  const accounts = new Map<string, { used: number; fresh: Waiting[]; others: Waiting[] }>()
  const of = (account: string) => {
    let slots = accounts.get(account)
    if (!slots) accounts.set(account, (slots = { used: 0, fresh: [], others: [] }))
    return slots
  }
  const takeIf = (account: string, most: number, isNew: boolean) => {
    const slots = of(account)
    if (slots.used >= most || slots.fresh.length > 0 || (!isNew && slots.others.length > 0))
      return false
    slots.used++
    return true
  }
  return {
    tryTake: (account, limit) => takeIf(account, limit, true),
    take(account, limit, { signal, isNew }) {
      if (signal.aborted) return Promise.resolve(false)
      const most = isNew ? limit : Math.max(1, limit - 1)
      if (takeIf(account, most, isNew)) return Promise.resolve(true)
      return new Promise((resolve) => {
        const slots = of(account)
        const waiting = isNew ? slots.fresh : slots.others
        const leave = () => {
          waiting.splice(waiting.indexOf(next), 1)
          resolve(false)
        }
        const next = {
          most,
          go() {
            signal.removeEventListener('abort', leave)
            resolve(true)
          },
        }
        signal.addEventListener('abort', leave, { once: true })
        waiting.push(next)
      })
    },
    free(account) {
      const slots = of(account)
      slots.used--
      for (const waiting of [slots.fresh, slots.others]) {
        for (let [next] = waiting; next && slots.used < next.most; [next] = waiting) {
          slots.used++
          waiting.shift()
          next.go()
        }
      }
      if (slots.used === 0 && slots.fresh.length === 0 && slots.others.length === 0)
        accounts.delete(account)
    },
  }
}
