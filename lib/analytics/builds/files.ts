/**
 * The files of a build: columns as they lie in memory (catalog/arena.ts), texts, and a list of both
 * with a checksum for each. A build is a folder that is never changed again; `current` names the
 * one that serves.
 *
 *   analytics/build-000007/   meta, texts, listings, and a file of columns for each metric
 *   analytics/current
 */
import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { putInPlaceNow, writeWholeNow } from '../../core/storage/durable.js'
import { codeOf } from '../../core/errors.js'
import type { Arena } from '../../catalog/snapshot/arena.js'

/** Changes whenever a file is written in another way: builds of another form are not read. */
const FORM = 2

/** Columns that lie one after the other somewhere in a file. */
export interface Part {
  file: string
  offset: number
  bytes: number
  crc: number
  table: Arena['table']
}

export interface Meta {
  form: number
  /** Grows with every build of the folder. */
  serial: number
  /** When its data were read, milliseconds since 1970. */
  at: number
  /** Distributors by their places. */
  distids: string[]
  /** Distributors of which the catalog held offers at all. */
  fed: string[]
  /** UPCs that somebody offers. */
  items: number
  listings: Part
  /** By metric and window: `top-products 7`, `trending 0`. */
  sections: Record<string, Part>
}

export const sectionName = (slug: string, days: number) => `${slug} ${days}`

export function analyticsFolder(dir: string): string {
  return join(dir, 'analytics')
}

/** Where the name of the serving build stands. */
export function currentFile(dir: string): string {
  return join(analyticsFolder(dir), 'current')
}

const buildName = (serial: number) => `build-${String(serial).padStart(6, '0')}`
const serialOf = (name: string) => Number(/^build-(\d{6,})$/.exec(name)?.[1] ?? NaN)

/** Names of the builds that there are, the newest first. */
export function buildsIn(dir: string): string[] {
  try {
    return readdirSync(analyticsFolder(dir))
      .filter((name) => !Number.isNaN(serialOf(name)))
      .sort((a, b) => serialOf(b) - serialOf(a))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

/** The name in `current`; null where there is none. */
export function readCurrent(dir: string): string | null {
  try {
    const name = readFileSync(currentFile(dir), 'utf8').trim()
    return Number.isNaN(serialOf(name)) ? null : name
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

/**
 * Tells one state of `current` from another; empty where there is none. Costs three microseconds.
 */
export function stampOfCurrent(dir: string): string {
  const found = statSync(currentFile(dir), { throwIfNoEntry: false })
  return found ? `${found.ino} ${found.mtimeMs} ${found.size}` : ''
}

/** Tells a build from another one that has its name, where somebody emptied the folder. */
export function idOf(dir: string, name: string): string {
  try {
    const { ino, mtimeMs } = statSync(join(analyticsFolder(dir), name, 'meta'))
    return `${name} ${ino} ${mtimeMs}`
  } catch {
    // What cannot be looked at cannot be read either, and that is told by whoever tries.
    return name
  }
}

/** Bytes with their checksum in a line before them. */
function sealed(text: string): string {
  return `${crc32(text)}\n${text}`
}

/** Reads the list of a build. Throws where it is damaged, cut off or of another form. */
export function readMeta(dir: string, name: string): Meta {
  const text = readFileSync(join(analyticsFolder(dir), name, 'meta'), 'utf8')
  const end = text.indexOf('\n')
  if (end < 0 || Number(text.slice(0, end)) !== crc32(text.slice(end + 1)))
    throw new Error(`${name} is damaged: its list does not fit its checksum`)
  const meta = JSON.parse(text.slice(end + 1)) as Meta
  if (meta.form !== FORM) throw new Error(`${name} was written by another release`)
  return meta
}

/** Bytes that are written at a time. */
const BLOCK = 1 << 20

/**
 * A file of a build that is being written: parts one after the other, then `close`, which waits for
 * the disk.
 */
export class BuildFile {
  readonly #file: number
  readonly #name: string
  #offset = 0

  constructor(folder: string, name: string) {
    this.#name = name
    this.#file = openSync(join(folder, name), 'wx', 0o600)
  }

  get offset(): number {
    return this.#offset
  }

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;)
      at += writeSync(this.#file, bytes, at, Math.min(BLOCK, bytes.length - at))
    this.#offset += bytes.length
  }

  writeArena({ buffer, table }: Arena): Part {
    const bytes = new Uint8Array(buffer)
    const part = {
      file: this.#name,
      offset: this.#offset,
      bytes: bytes.length,
      crc: crc32(bytes),
      table,
    }
    this.write(bytes)
    return part
  }

  close(): void {
    fsyncSync(this.#file)
    closeSync(this.#file)
  }
}

/**
 * Makes a finished draft the build that serves: its list is written last, then the folder gets its
 * name, then `current` names it. The build before it stays for whoever is reading it, and in case
 * that this one turns out to be damaged; older ones go.
 */
export function publish(dir: string, draft: string, meta: Omit<Meta, 'form' | 'serial'>): string {
  const root = analyticsFolder(dir)
  const serial = Math.max(0, ...[...buildsIn(dir), readCurrent(dir) ?? []].flat().map(serialOf)) + 1
  const name = buildName(serial)
  const list = new BuildFile(draft, 'meta')
  list.write(Buffer.from(sealed(JSON.stringify({ form: FORM, serial, ...meta } satisfies Meta))))
  list.close()
  putInPlaceNow(draft, join(root, name))
  writeWholeNow(currentFile(dir), `${name}\n`, join(draft, '..', 'current'))
  for (const old of buildsIn(dir).slice(2))
    rmSync(join(root, old), { recursive: true, force: true })
  return name
}
