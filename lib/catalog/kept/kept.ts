/**
 * The newest snapshot on the disk, so that a server that starts need not build it: two files, of
 * the text and of the tick, and one that points at them. Only the worker of a server writes here.
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../core/errors.js'
import { writeWholeNow } from '../../core/storage/durable.js'
import type { CatalogState } from '../queries.js'
import type { Arena } from '../snapshot/arena.js'
import type { SnapshotParts } from '../snapshot/parts.js'
import { FORM, KeptFault, readArena, writeArena } from './arena-file.js'

export const keptFolder = (dir: string) => join(dir, 'snapshot')
const pointerIn = (folder: string) => join(folder, 'current.json')

/** What the pointer says: of which state of which catalog file the parts are. */
interface Pointer extends CatalogState {
  form: number
  /** Digests. */
  text: string
  tick: string
}

type AboutText = Pick<SnapshotParts, 'rows' | 'distids' | 'brands' | 'categories'>
type AboutTick = Pick<SnapshotParts, 'ownPriceOf'>

/** The digests of arenas that this thread has written, or read and found whole. */
export type KnownArenas = WeakMap<Arena['buffer'], string>

/**
 * The kept snapshot where the catalog in this state goes on from it: the same text, and prices and
 * stock of now or of before. Null where none is kept, or its text is older. Throws a KeptFault for
 * one that can never be used again.
 */
export async function readKept(
  dir: string,
  state: CatalogState,
  known: KnownArenas,
): Promise<SnapshotParts | null> {
  const folder = keptFolder(dir)
  const pointer = readPointer(folder)
  if (!pointer) return null
  const { made, version, revision, textRevision } = pointer
  if (made !== state.made) throw new KeptFault('it was built from another catalog.db')
  if (revision > state.revision || (revision === state.revision && version !== state.version))
    throw new KeptFault('catalog.db was set back to before it')
  if (textRevision !== state.textRevision) return null
  const text = await readArena(folder, 'text', pointer.text)
  const tick = await readArena(folder, 'tick', pointer.tick)
  known.set(text.arena.buffer, pointer.text)
  known.set(tick.arena.buffer, pointer.tick)
  return {
    made,
    version,
    revision,
    textRevision,
    ...(text.about as AboutText),
    ...(tick.about as AboutTick),
    text: text.arena,
    tick: tick.arena,
  }
}

function readPointer(folder: string): Pointer | null {
  let text: string
  try {
    text = readFileSync(pointerIn(folder), 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
  let pointer: Pointer
  try {
    pointer = JSON.parse(text) as Pointer
  } catch {
    throw new KeptFault('current.json is damaged')
  }
  if (pointer.form !== FORM) throw new KeptFault('it is of another release')
  return pointer
}

/** Bytes that `keep` would write. */
export function bytesToKeep({ text, tick }: SnapshotParts, known: KnownArenas): number {
  return [text, tick]
    .filter(({ buffer }) => !known.has(buffer))
    .reduce((bytes, { buffer }) => bytes + buffer.byteLength, 0)
}

/**
 * Writes what is not there yet, points at it, and removes everything else. `settle` has the disk
 * keep the catalog that the snapshot was built from: a power cut must not set the one back behind
 * the other.
 */
export function keep(
  dir: string,
  parts: SnapshotParts,
  { known, settle }: { known: KnownArenas; settle: () => void },
): void {
  const folder = keptFolder(dir)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { made, version, revision, textRevision, rows, distids, brands, categories } = parts
  const put = (kind: 'text' | 'tick', about: AboutText | AboutTick) => {
    const { buffer } = parts[kind]
    const there = known.get(buffer)
    if (there !== undefined && existsSync(join(folder, `${kind}-${there}`))) return there
    const digest = writeArena(folder, kind, parts[kind], about)
    known.set(buffer, digest)
    return digest
  }
  const pointer: Pointer = {
    form: FORM,
    made,
    version,
    revision,
    textRevision,
    text: put('text', { rows, distids, brands, categories }),
    tick: put('tick', { ownPriceOf: parts.ownPriceOf }),
  }
  settle()
  writeWholeNow(pointerIn(folder), `${JSON.stringify(pointer)}\n`)
  const kept = ['current.json', `text-${pointer.text}`, `tick-${pointer.tick}`]
  for (const name of readdirSync(folder))
    if (!kept.includes(name)) rmSync(join(folder, name), { recursive: true, force: true })
}

/** Throws the kept snapshot away. */
export function forgetKept(dir: string): void {
  rmSync(keptFolder(dir), { recursive: true, force: true })
}
