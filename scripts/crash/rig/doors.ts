/**
 * The two ways in: the server over HTTP, and a process that has the library open on the same
 * folder.
 */
import { ask, keepAlive } from './http.js'
import type { HttpAnswer } from './http.js'
import type { Call, Reply } from './life.js'
import type { OrderBody } from './orders.js'
import type { Process } from './process.js'

/** A process that can be called now. An answer of null says that the process is gone. */
export interface Door {
  place(caller: Caller, body: OrderBody): Promise<HttpAnswer | null>
  look(caller: Caller, orderId: string): Promise<HttpAnswer | null>
  close(): void
}

export interface Caller {
  shop: string
  /** Null for one who calls the library without a key. */
  key: string | null
}

export function httpDoor(url: string): Door {
  const agent = keepAlive(1_000)
  return {
    place: ({ key }, body) =>
      ask(agent, url, { method: 'POST', path: '/v1/orders', key: key!, body }),
    look: ({ key }, orderId) =>
      ask(agent, url, { method: 'GET', path: `/v1/orders/${orderId}`, key: key! }),
    close: () => agent.destroy(),
  }
}

/** Calls go over the channel of the process. */
export function libraryDoor({ channel, ended }: Pick<Process, 'channel' | 'ended'>): Door {
  let last = 0
  const waiting = new Map<number, (answer: HttpAnswer | null) => void>()
  const giveUp = () => {
    for (const resolve of waiting.values()) resolve(null)
    waiting.clear()
  }
  channel.on('message', (message: Partial<Reply>) => {
    if (message.id === undefined) return
    waiting.get(message.id)?.(message.answer!)
    waiting.delete(message.id)
  })
  void ended.then(giveUp)
  const call = (sent: Omit<Call, 'id'>) =>
    new Promise<HttpAnswer | null>((resolve) => {
      if (!channel.connected) return resolve(null)
      waiting.set(++last, resolve)
      channel.send({ ...sent, id: last } satisfies Call)
    })
  return {
    place: (caller, body) => call({ caller, place: body }),
    look: (caller, orderId) => call({ caller, look: orderId }),
    close: giveUp,
  }
}

/** Where callers of one way in find it at the moment. */
export interface Entrance {
  /** Waits until somebody is there; null once there will be nobody any more. */
  door(): Promise<Door | null>
  /** Told when it gave no answer. */
  lost(door: Door): void
  open(door: Door | null): void
  close(): void
}

export function makeEntrance(): Entrance {
  let current: Door | null = null
  let closed = false
  let waiting: ((door: Door | null) => void)[] = []
  const entrance: Entrance = {
    door: () =>
      current || closed
        ? Promise.resolve(current)
        : new Promise((resolve) => waiting.push(resolve)),
    lost: (door) => {
      if (door === current) entrance.open(null)
    },
    open(door) {
      current?.close()
      current = door
      if (door) for (const resolve of waiting.splice(0)) resolve(door)
    },
    close() {
      closed = true
      entrance.open(null)
      for (const resolve of waiting) resolve(null)
      waiting = []
    },
  }
  return entrance
}
