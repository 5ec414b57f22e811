/**
 * Stands between the code and `orders.journal`: the same bytes in the same file, written at once
 * and not by the thread pool, so that a run repeats itself; and every call may fail, or be the last
 * one of its process.
 */
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  fsyncSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname } from 'node:path'

/** What happens at the file of one folder. */
export interface FileGuard {
  /** A place at which the process may end; a promise never settles, and the call with it. */
  point(name: string): Promise<never> | undefined
  /** The error that a call fails with. */
  fault?(call: 'write' | 'datasync'): Error | null
  /** How many bytes of a write that was cut off reach the file. */
  torn?(bytes: number): number
  /** The disk has every line up to this one. */
  synced?(seq: number): void
  /** Which process is at it; one and the same by default. */
  process?(): object | undefined
}

interface Opened {
  folder: string
  fd: number
  isFolder: boolean
  process: object | undefined
  /** Number of the last line that was written. */
  last: number
}

const guards = new Map<string, FileGuard>()
const opened = new Set<Opened>()
/** Bytes of each folder's journal that a power cut cannot take any more. */
const safe = new Map<string, number>()
let original: typeof promises.open | undefined

/** Watches over the journal of a folder until `release`. */
export function guardFolder(
  folder: string,
  guard: FileGuard,
): { release(): void; died(keep: (unsafe: number) => number, process?: object): void } {
  if (!original) {
    original = promises.open
    Object.assign(promises, { open: openFile })
    syncBuiltinESMExports()
  }
  guards.set(folder, guard)
  const mine = () => [...opened].filter((file) => file.folder === folder)
  return {
    release() {
      guards.delete(folder)
      safe.delete(folder)
      for (const file of mine()) drop(file)
    },
    /**
     * The process, or any, died, and with it its open files; of what was not yet safe, a power cut
     * leaves some.
     */
    died(keep, process) {
      for (const file of mine()) {
        if (process && file.process !== process) continue
        const { size } = fstatSync(file.fd)
        const held = safe.get(folder) ?? size
        if (!file.isFolder && size > held) ftruncateSync(file.fd, held + keep(size - held))
        drop(file)
      }
    },
  }
}

function drop(file: Opened): void {
  opened.delete(file)
  closeSync(file.fd)
}

async function openFile(
  ...[path, flags, mode]: Parameters<typeof promises.open>
): ReturnType<typeof promises.open> {
  const isFolder = guards.has(String(path))
  const folder = isFolder ? String(path) : dirname(String(path))
  const guard = guards.get(folder)
  if (!guard || (!isFolder && basename(String(path)) !== 'orders.journal'))
    return original!(path, flags, mode)
  const fd = openSync(String(path), flags ?? 'r', mode ?? undefined)
  const file: Opened = { folder, fd, isFolder, process: guard.process?.(), last: 0 }
  if (isFolder) safe.set(folder, 0)
  else if (!safe.has(folder)) safe.set(folder, fstatSync(fd).size)
  opened.add(file)
  return handleOf(file, guard) as unknown as Awaited<ReturnType<typeof promises.open>>
}

function handleOf(file: Opened, guard: FileGuard) {
  const { fd } = file
  return {
    stat: async () => fstatSync(fd),
    read: async (buffer: Buffer, offset: number, length: number, position: number | null) => ({
      buffer,
      bytesRead: readSync(fd, buffer, offset, length, position),
    }),
    async write(buffer: Buffer, offset: number, length: number, position: number) {
      const fault = guard.fault?.('write')
      const end = guard.point('journal: in the write')
      if (fault || end) {
        writeSync(fd, buffer, offset, guard.torn?.(length) ?? 0, position)
        if (end) return end
        throw fault
      }
      file.last = Number(
        /^\{"seq":(\d+)/.exec(
          buffer.toString('latin1', buffer.lastIndexOf('{"seq":'), buffer.length),
        )?.[1] ?? file.last,
      )
      return { buffer, bytesWritten: writeSync(fd, buffer, offset, length, position) }
    },
    async truncate(size: number) {
      ftruncateSync(fd, size)
      safe.set(file.folder, Math.min(safe.get(file.folder) ?? 0, size))
    },
    async datasync() {
      await guard.point('journal: before the sync')
      const fault = guard.fault?.('datasync')
      if (fault) throw fault
      fdatasyncSync(fd)
      safe.set(file.folder, fstatSync(fd).size)
      guard.synced?.(file.last)
      await guard.point('journal: after the sync')
    },
    sync: async () => fsyncSync(fd),
    async close() {
      if (opened.has(file)) drop(file)
    },
  }
}
