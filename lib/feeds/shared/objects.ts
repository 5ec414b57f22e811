/** Parts of publications between the node's folder and the object store. */
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pLimit from 'p-limit'
import { MINUTE } from '../../core/clock.js'
import type { ObjectStore } from '../../objects/store.js'
import { digestOf } from './parts.js'
import { keyOf, prefixOf } from './publication.js'
import type { Part, SharedName } from './publication.js'
import { sharedFolder } from './point.js'

export interface Transfer {
  /** Brings what the folder lacks. False where the store does not have an object. */
  fetch(parts: readonly Part[]): Promise<boolean>
  /** Whether the store has all of them as their names say, whatever the folder has. */
  isWhole(parts: readonly Part[]): Promise<boolean>
  /** Whether it may be told now that a publication is broken: once in ten minutes. */
  mayTell(number: number): boolean
  /** Removes parts from the folder. */
  discard(parts: readonly Part[]): Promise<void>
  /** Stores what lies in the folder. False where a part is neither there nor here. */
  put(parts: readonly Part[]): Promise<boolean>
  /** Removes objects that are older than a time, in milliseconds, but for those of these parts. */
  sweep(named: readonly Part[], before: number): Promise<void>
}

/** Milliseconds after which it is told again that the same one is broken. */
const TELL = 10 * MINUTE
/** Objects that are on their way at a time. */
const AT_ONCE = 3

export function openTransfer({
  name,
  objects,
  dir,
  monotonic,
}: {
  name: SharedName
  objects: ObjectStore
  /** The state folder. */
  dir: string
  /** Milliseconds by a clock that never steps. */
  monotonic: () => number
}): Transfer {
  const told = new Map<number, number>()
  const folder = sharedFolder(dir, name)
  const placeOf = ({ digest }: Part) => join(folder, digest)

  /** Null where the store does not have it. */
  async function read(part: Part): Promise<Uint8Array | null> {
    if (!objects.get) throw new Error('the object store gives nothing back: use one that does')
    try {
      return await objects.get(keyOf(name, part))
    } catch (error) {
      // One that does not answer says nothing about the object.
      if (await objects.has(keyOf(name, part))) throw error
      return null
    }
  }

  async function isAsNamed(part: Part): Promise<boolean> {
    const bytes = await read(part)
    return bytes !== null && digestOf(bytes) === part.digest
  }

  async function fetchOne(part: Part): Promise<boolean> {
    if (existsSync(placeOf(part))) return true
    const bytes = await read(part)
    if (bytes === null) return false
    await writeFile(placeOf(part), bytes, { mode: 0o600 })
    return true
  }

  async function putOne(part: Part): Promise<boolean> {
    if (!existsSync(placeOf(part))) return objects.has(keyOf(name, part))
    await objects.put(keyOf(name, part), placeOf(part), { contentType: 'application/octet-stream' })
    return true
  }

  async function ofEach(
    parts: readonly Part[],
    work: (part: Part) => Promise<boolean>,
  ): Promise<boolean> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const inTurn = pLimit(AT_ONCE)
    const done = await Promise.all(parts.map((part) => inTurn(() => work(part))))
    return done.every(Boolean)
  }

  return {
    fetch: (parts) => ofEach(parts, fetchOne),
    isWhole: (parts) => ofEach(parts, isAsNamed),
    mayTell(number) {
      const at = monotonic()
      if (at - (told.get(number) ?? -Infinity) < TELL) return false
      told.set(number, at)
      return true
    },
    put: (parts) => ofEach(parts, putOne),
    async discard(parts) {
      for (const part of parts) await rm(placeOf(part), { force: true })
    },
    async sweep(named, before) {
      const kept = new Set(named.map((part) => keyOf(name, part)))
      for (const { key, changedAt } of await objects.list(prefixOf(name)))
        if (changedAt < before && !kept.has(key)) await objects.remove(key)
    },
  }
}
