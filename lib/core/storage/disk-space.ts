/**
 * Room on the disk: what stops before it is full, and what is kept back for what must still be
 * written.
 */
import { existsSync, rmSync, writeFileSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { MB } from '../figures.js'

/** Feeds and exports stop below this, so that orders still fit. */
export const ROOM_FOR_FEEDS = 512 * MB
/** Orders are refused below this. */
export const ROOM_FOR_ORDERS = 32 * MB
const RESERVE = 16 * MB

export interface Space {
  /** Bytes that are free under the state folder. */
  free(): number
  /** Keeps 16 MB back, where there is room for it. */
  keepReserve(): void
  /** Gives them up, so that what is known can still be written down. */
  giveUpReserve(): void
}

export function openSpace(dir: string, freeBytes?: () => number): Space {
  const path = join(dir, 'reserve')
  const free =
    freeBytes ??
    (() => {
      const { bavail, bsize } = statfsSync(dir)
      return bavail * bsize
    })
  return {
    free,
    keepReserve() {
      // Written, not only sized: a hole keeps nothing back.
      if (!existsSync(path) && free() > ROOM_FOR_FEEDS)
        writeFileSync(path, Buffer.alloc(RESERVE, 1), { mode: 0o600 })
    },
    giveUpReserve: () => rmSync(path, { force: true }),
  }
}
