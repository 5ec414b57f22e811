/**
 * Columns in one shared buffer: threads pass it on without a copy, and nothing in it is changed
 * after it was built. A layout is a table of 64-byte aligned offsets beside the buffer.
 */
const KINDS = {
  u8: Uint8Array,
  u16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
  f64: Float64Array,
} as const

/** Bytes to a multiple of which every column begins. */
const ALIGNED = 64

export type ColumnKind = keyof typeof KINDS
/** Over any buffer: a column is built in memory of its own and read from the shared one. */
interface Columns {
  u8: Uint8Array
  u16: Uint16Array
  i32: Int32Array
  u32: Uint32Array
  f64: Float64Array
}
export type ColumnOf<K extends ColumnKind> = Columns[K]
export type Column = Columns[ColumnKind]

/** What is posted between threads. */
export interface Arena {
  buffer: SharedArrayBuffer
  table: Record<string, { kind: ColumnKind; offset: number; length: number }>
}

/** Copies the columns into one buffer. */
export function packArena(columns: Record<string, Column>): Arena {
  let size = 0
  const table: Arena['table'] = {}
  for (const [name, column] of Object.entries(columns)) {
    const kind = (Object.keys(KINDS) as ColumnKind[]).find((k) => column instanceof KINDS[k])!
    table[name] = { kind, offset: size, length: column.length }
    size = Math.ceil((size + column.byteLength) / ALIGNED) * ALIGNED
  }
  const arena = { buffer: new SharedArrayBuffer(size), table }
  for (const [name, column] of Object.entries(columns))
    readColumn(arena, name, table[name]!.kind).set(column as never)
  return arena
}

/** A view of one column; no copy. */
export function readColumn<K extends ColumnKind>(arena: Arena, name: string, kind: K): ColumnOf<K> {
  const place = arena.table[name]
  if (!place || place.kind !== kind) throw new Error(`the arena has no ${kind} column ${name}`)
  const Kind = KINDS[kind] as new (
    buffer: ArrayBufferLike,
    offset: number,
    length: number,
  ) => Column
  return new Kind(arena.buffer, place.offset, place.length) as ColumnOf<K>
}

/** Whether all columns of a table that was read from a file lie within so many bytes. */
export function isArenaTable(table: unknown, bytes: number): table is Arena['table'] {
  return (
    typeof table === 'object' &&
    table !== null &&
    Object.values(table as Record<string, Partial<Arena['table'][string]>>).every(
      ({ kind, offset = -1, length = -1 }) =>
        kind !== undefined &&
        Object.hasOwn(KINDS, kind) &&
        Number.isInteger(offset / ALIGNED) &&
        Number.isInteger(length) &&
        Math.min(offset, length) >= 0 &&
        offset + length * KINDS[kind].BYTES_PER_ELEMENT <= bytes,
    )
  )
}
