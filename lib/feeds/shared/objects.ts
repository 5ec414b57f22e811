/** Parts of publications between the node's folder and the object store. */
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pLimit from 'p-limit'
import type { ObjectStore } from '../../objects/store.js'
import { PREFIX, keyOf } from './publication.js'
import type { Part } from './publication.js'
import { sharedFolder } from './point.js'

export interface Transfer {
  /** Brings what the folder lacks. False where the store does not have an object. */
  fetch(parts: readonly Part[]): Promise<boolean>
  /** Removes parts from the folder. */
  discard(parts: readonly Part[]): Promise<void>
  /** Stores what lies in the folder. False where a part is neither there nor here. */
  put(parts: readonly Part[]): Promise<boolean>
  /** Removes objects that are older than a time, in milliseconds, but for those of these parts. */
  sweep(named: readonly Part[], before: number): Promise<void>
}

/** Objects that are on their way at a time. */
const AT_ONCE = 3

export function openTransfer({
  objects,
  dir,
}: {
  objects: ObjectStore
  /** The state folder. */
  dir: string
}): Transfer {
  const placeOf = ({ digest }: Part) => join(sharedFolder(dir), digest)

  async function fetchOne(part: Part): Promise<boolean> {
    if (existsSync(placeOf(part))) return true
    if (!objects.get) throw new Error('the object store gives nothing back: use one that does')
    let bytes: Uint8Array
    try {
      bytes = await objects.get(keyOf(part))
    } catch (error) {
      // One that does not answer says nothing about the object.
      if (await objects.has(keyOf(part))) throw error
      return false
    }
    await writeFile(placeOf(part), bytes, { mode: 0o600 })
    return true
  }

  async function putOne(part: Part): Promise<boolean> {
    if (!existsSync(placeOf(part))) return objects.has(keyOf(part))
    await objects.put(keyOf(part), placeOf(part), { contentType: 'application/octet-stream' })
    return true
  }

  async function ofEach(
    parts: readonly Part[],
    work: (part: Part) => Promise<boolean>,
  ): Promise<boolean> {
    await mkdir(sharedFolder(dir), { recursive: true, mode: 0o700 })
    const inTurn = pLimit(AT_ONCE)
    const done = await Promise.all(parts.map((part) => inTurn(() => work(part))))
    return done.every(Boolean)
  }

  return {
    fetch: (parts) => ofEach(parts, fetchOne),
    put: (parts) => ofEach(parts, putOne),
    async discard(parts) {
      for (const part of parts) await rm(placeOf(part), { force: true })
    },
    async sweep(named, before) {
      const kept = new Set(named.map(keyOf))
      for (const { key, changedAt } of await objects.list(PREFIX))
        if (changedAt < before && !kept.has(key)) await objects.remove(key)
    },
  }
}
