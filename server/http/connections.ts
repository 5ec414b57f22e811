/** What one connection may hold up, and how many of them who has no business here. */
import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'

/** Connections of one address that no key allows; a browser takes six for the documentation. */
const OF_ONE_STRANGER = 16
/** Connections in all, above which strangers get none: an attacker has many addresses. */
const WITH_STRANGERS = 1_000

/** Descriptors that are kept for files, workers, processes and calls of our own. */
const OWN_DESCRIPTORS = 320
/** Of those who watch: a browser with its events, a monitor, a proxy. */
const ADMIN_CONNECTIONS = 64

/** How many connections each listener of a process has at once; above them new ones are dropped. */
export interface Room {
  api: number
  admin: number
}

/**
 * Shares out the descriptors that a process may have (`ulimit -n`). A file that cannot be opened
 * for want of one is worse than a caller turned away: a module that Node once failed to load stays
 * missing until the process ends. Where there are few, connections get a quarter and an eighth.
 */
export function roomFor(descriptors: number): Room {
  return {
    api: Math.max(descriptors - OWN_DESCRIPTORS, Math.floor(descriptors / 4)),
    admin: Math.min(ADMIN_CONNECTIONS, Math.floor(descriptors / 8)),
  }
}

/** How many descriptors this process may have; Infinity where the system does not say. */
export function descriptorLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity)
  } catch {
    return Infinity
  }
}

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
