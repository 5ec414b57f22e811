/**
 * Objects in memory, for tests and for embedders that hand them out themselves. Nothing of it
 * survives the process.
 */
import { readFile } from 'node:fs/promises'
import { checkKey } from './store.js'
import type { ObjectStore } from './store.js'

export interface MemoryObject {
  bytes: Uint8Array
  contentType: string
  changedAt: number
}

export interface MemoryStore extends ObjectStore {
  readonly objects: ReadonlyMap<string, MemoryObject>
}

/** Its URLs, `memory:KEY?expires=SECONDS`, lead nowhere; `objects` has what they name. */
export function memoryStore({ now }: { now: () => number }): MemoryStore {
  const objects = new Map<string, MemoryObject>()
  return {
    objects,
    async put(key, file, { contentType }) {
      checkKey(key)
      objects.set(key, {
        bytes: typeof file === 'string' ? await readFile(file) : Uint8Array.from(file),
        contentType,
        changedAt: now(),
      })
    },
    async has(key) {
      checkKey(key)
      return objects.has(key)
    },
    async get(key) {
      checkKey(key)
      const object = objects.get(key)
      if (!object) throw new Error(`"${key}" is not stored`)
      return object.bytes
    },
    async remove(key) {
      checkKey(key)
      objects.delete(key)
    },
    async list(prefix) {
      return [...objects]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, { changedAt }]) => ({ key, changedAt }))
        .sort((a, b) => (a.key < b.key ? -1 : 1))
    },
    async url(key, { expiresIn, fileName }) {
      checkKey(key)
      const query = new URLSearchParams({
        expires: String(Math.ceil(now() / 1_000) + expiresIn),
        ...(fileName !== undefined && { name: fileName }),
      })
      return `memory:${key}?${query.toString()}`
    },
  }
}
