/** Counts calls over all nodes: what one turn of the event loop asks for goes in one statement. */
import type { Call, CountedCall, SharedCalls } from '../../metered.js'
import type { Postgres } from '../connect.js'
import { ownClient } from '../own-client.js'
import type { OwnClient } from '../own-client.js'

/**
 * Connections of their own: a gate must not wait behind transactions. Two, so that a turn that comes
 * while another one is being answered need not wait; the third joins the fourth.
 */
const CONNECTIONS = 2

interface Waiting {
  call: Call
  resolve: (counted: CountedCall) => void
  reject: (error: unknown) => void
}

export function openCalls(
  postgres: Pick<Postgres, 'newClient'>,
): SharedCalls & { close(): Promise<void> } {
  const all = Array.from({ length: CONNECTIONS }, () => ownClient(postgres))
  const free = [...all]
  const underWay = new Set<Promise<void>>()
  let waiting: Waiting[] = []
  let isSoon = false

  function send(): void {
    if (waiting.length === 0) return
    const connection = free.pop()
    if (!connection) return
    const batch = waiting
    waiting = []
    const answered = answer(connection, batch).finally(() => {
      underWay.delete(answered)
      free.push(connection)
      // Those of this turn are still coming.
      if (!isSoon) send()
    })
    underWay.add(answered)
  }

  return {
    count: (call) =>
      new Promise((resolve, reject) => {
        waiting.push({ call, resolve, reject })
        if (isSoon) return
        isSoon = true
        setImmediate(() => {
          isSoon = false
          send()
        })
      }),
    async close() {
      while (underWay.size > 0 || waiting.length > 0) {
        send()
        await Promise.all(underWay)
      }
      await Promise.all(all.map((connection) => connection.close()))
    },
  }
}

/** What count_calls says of the calls of one key. */
interface KeyRow {
  at: number
  allowed: number
  recent: number
  today: number
  wait: number
}

/** Asks for all of them; never rejects, but each of them does. */
async function answer(connection: OwnClient, batch: readonly Waiting[]): Promise<void> {
  const groups = byKey(batch)
  try {
    const { rows } = await connection.use((client) =>
      client.query('select * from count_calls($1, $2, $3, $4, $5)', valuesOf(groups)),
    )
    for (const [i, group] of groups.entries()) tell(group, rows[i] as unknown as KeyRow)
  } catch (error) {
    for (const { reject } of batch) reject(error)
  }
}

/** Calls of each key in the order in which they came; keys in one that all nodes have. */
function byKey(batch: readonly Waiting[]): Waiting[][] {
  const groups = new Map<string, Waiting[]>()
  for (const each of batch) {
    const group = groups.get(each.call.keyId)
    if (group) group.push(each)
    else groups.set(each.call.keyId, [each])
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group)
}

function valuesOf(groups: readonly Waiting[][]): unknown[] {
  const calls = groups.map((group) => group.at(-1)!.call)
  let next = 1
  const firsts = groups.map((group) => (next += group.length) - group.length)
  return [
    calls.map(({ keyId }) => keyId),
    calls.map(({ perMinute }) => perMinute),
    calls.map(({ perDay }) => perDay),
    [...firsts, next],
    groups.flatMap((group) => group.map(({ call }) => call.endpoint)),
  ]
}

/** The first ones were allowed, as if they had come one by one. */
function tell(group: readonly Waiting[], { at, allowed, recent, today, wait }: KeyRow): void {
  for (const [i, { resolve }] of group.entries()) {
    const isAllowed = i < allowed
    const after = isAllowed ? allowed - 1 - i : 0
    resolve({
      isAllowed,
      at,
      recent: recent - after,
      today: today - after,
      wait: isAllowed ? 0 : wait,
    })
  }
}
