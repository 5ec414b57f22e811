/** Counts what a node says to PostgreSQL through a proxy. */
import type { TcpProxy } from './tcp-proxy.js'

export interface Traffic {
  /** Statements, of which one message may hold several. */
  statements: number
  /** Their texts. */
  texts: string[]
  /** How often a connection had nothing under way, and something was sent on it. */
  trips: number
}

/** Counts from now on, on connections that were made before as well. */
export function countTraffic(proxy: TcpProxy): Traffic {
  const counted: Traffic = { statements: 0, texts: [], trips: 0 }
  const underWay = new WeakMap<object, number>()
  /** Texts of statements by their names, of each connection. */
  const known = new WeakMap<object, Map<string, string>>()
  const [asks, answers] = [readMessages(), readMessages()]
  proxy.judge = (bytes, connection) => {
    for (const { type, body } of asks(bytes, connection)) {
      const [first = '', second = ''] = body.split('\0')
      const named = known.get(connection) ?? new Map<string, string>()
      known.set(connection, named)
      if (type === 'P') named.set(first, second)
      // A statement with values is a Bind, behind a Parse where the server does not know it yet.
      if (type !== 'Q' && type !== 'B') continue
      const texts = type === 'Q' ? first.split(';') : [named.get(second) ?? `unknown: ${second}`]
      counted.texts.push(...texts.map((text) => text.trim()))
      counted.statements += texts.length
      const before = underWay.get(connection) ?? 0
      if (before === 0) counted.trips++
      underWay.set(connection, before + 1)
    }
    return 'pass'
  }
  proxy.heard = (bytes, connection) => {
    // ReadyForQuery.
    for (const { type } of answers(bytes, connection))
      if (type === 'Z') underWay.set(connection, Math.max(0, (underWay.get(connection) ?? 0) - 1))
  }
  return counted
}

/** Splits what a side sends into messages: a letter, and a length of four bytes that counts itself. */
function readMessages() {
  const rests = new WeakMap<object, Buffer>()
  return (bytes: Buffer, connection: object): { type: string; body: string }[] => {
    let rest = Buffer.concat([rests.get(connection) ?? Buffer.alloc(0), bytes])
    const messages: { type: string; body: string }[] = []
    while (rest.length >= 5) {
      // The first message of a connection has no letter.
      const start = rest[0] === 0 ? 0 : 1
      const end = start + rest.readUInt32BE(start)
      if (rest.length < end) break
      const type = start === 0 ? '' : String.fromCharCode(rest[0]!)
      messages.push({ type, body: rest.toString('utf8', start + 4, end) })
      rest = rest.subarray(end)
    }
    rests.set(connection, rest)
    return messages
  }
}
