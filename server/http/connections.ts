/** What one connection may hold up, and how many of them who has no business here. */
import type { Server } from 'node:http'

/** Connections of one address that no key allows; a browser takes six for the documentation. */
const OF_ONE_STRANGER = 16
/** Connections in all, above which strangers get none: an attacker has many addresses. */
const WITH_STRANGERS = 1_000

/**
 * Leaves room for those who may call: each connection is a descriptor, and whoever takes the last
 * one would shut everybody out. Known addresses have as many as they open.
 */
export function capStrangers(http: Server, knows: (address: string) => boolean): void {
  const open = new Map<string, number>()
  let all = 0
  http.on('connection', (socket) => {
    const address = socket.remoteAddress
    // Without one it has left already.
    if (address === undefined) return socket.destroy()
    const mine = open.get(address) ?? 0
    if ((mine >= OF_ONE_STRANGER || all >= WITH_STRANGERS) && !isKnown(knows, address))
      return socket.destroy()
    open.set(address, mine + 1)
    all++
    socket.once('close', () => {
      all--
      const left = open.get(address)! - 1
      if (left === 0) open.delete(address)
      else open.set(address, left)
    })
    return undefined
  })
}

function isKnown(knows: (address: string) => boolean, address: string): boolean {
  try {
    return knows(address)
  } catch {
    // Whose keys cannot be read answers nobody's call; a connection is no place to tell it.
    return false
  }
}

/**
 * Ends the connection of a reader that takes nothing of its answer for so many milliseconds: it
 * holds the memory of the answer, or the file that it is read from. An answer that is still being
 * made is waited for.
 */
export function dropStalledReaders(http: Server, stall: number): void {
  http.setTimeout(stall)
  http.on('request', (_request, response) => {
    // Who listens keeps Node from ending the connection by itself.
    response.on('timeout', (socket) => {
      if (socket.writableLength > 0) socket.destroy()
    })
  })
}
