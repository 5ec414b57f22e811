/** How many sends of one account run at a time: one, where a distributor has one cart for each account. */

export interface Slots {
  /** Takes a place if one is free now. */
  tryTake(account: string, limit: number): boolean
  /** Waits for a place, first come, first served. False when the signal is aborted first. */
  take(account: string, limit: number, signal: AbortSignal): Promise<boolean>
  free(account: string): void
}

export function makeSlots(): Slots {
  const accounts = new Map<string, { used: number; waiting: (() => void)[] }>()
  const of = (account: string) => {
    let slots = accounts.get(account)
    if (!slots) accounts.set(account, slots = { used: 0, waiting: [] })
    return slots
  }
  const tryTake = (account: string, limit: number) => {
    const slots = of(account)
    if (slots.used >= limit || slots.waiting.length > 0) return false
    slots.used++
    return true
  }
  return {
    tryTake,
    take(account, limit, signal) {
      if (signal.aborted) return Promise.resolve(false)
      if (tryTake(account, limit)) return Promise.resolve(true)
      return new Promise((resolve) => {
        const { waiting } = of(account)
        const leave = () => {
          waiting.splice(waiting.indexOf(next), 1)
          resolve(false)
        }
        const next = () => {
          signal.removeEventListener('abort', leave)
          resolve(true)
        }
        signal.addEventListener('abort', leave, { once: true })
        waiting.push(next)
      })
    },
    free(account) {
      const slots = of(account)
      const next = slots.waiting.shift()
      // The place goes over to whoever waits for it.
      if (next) next()
      else if (--slots.used === 0) accounts.delete(account)
    },
  }
}
