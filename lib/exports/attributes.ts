/**
 * The attributes feed: a line of CSV for each attribute of an authorized offer. As with the texts,
 * the lines of all offers of a distributor are kept, and a build only leaves out what its
 * subscriber does not see.
 */
import { once } from 'node:events'
import {
  closeSync,
  createWriteStream,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Gzip } from 'node:zlib'
import { csvCell } from '../core/text.js'
import type { Raw } from '../db/sqlite/sqlite.js'
import type { Section } from './number-columns.js'
import { FLAGS } from './number-columns.js'
import { attributeRows } from '../catalog/queries.js'
import { keep } from './text-files.js'

/** The columns of the contract ("Catalog export descriptor"). */
const HEADER = 'upc,distid,attribute_name,attribute_value\n'
/** Half the bytes less would take four times as long. */
const LEVEL = 1
/** Bytes that are read and packed at a time. */
const BLOCK = 1 << 20

/**
 * Writes the lines of these fragments, and beside them, as `path.ends`, where the lines of each
 * end. An offer without a UPC has none: nobody could tell whose they are.
 */
export function makeAttributeTexts(
  catalog: Raw,
  { fragments, path, work }: { fragments: Int32Array; path: string; work: string },
): void {
  const find = attributeRows(catalog)
  const [draft, draftEnds] = [join(work, 'attributes.csv'), join(work, 'attributes.ends')]
  const ends = new Float64Array(fragments.length * 2)
  const file = openSync(draft, 'w', 0o600)
  let text = ''
  let [written, lines] = [0, 0]
  fragments.forEach((fragment, place) => {
    const row = find(fragment)
    if (!row) throw new Error(`the text ${fragment} is no longer in the catalog`)
    const [upc, distid, attributes] = row
    if (upc !== null && attributes !== null) {
      const all = Object.entries(JSON.parse(attributes) as Record<string, string>)
      const own = all
        .map(([name, value]) => `${upc},${csvCell(distid)},${csvCell(name)},${csvCell(value)}\n`)
        .join('')
      text += own
      written += Buffer.byteLength(own)
      lines += all.length
    }
    ends.set([written, lines], place * 2)
    if (text.length < BLOCK && place < fragments.length - 1) return
    writeSync(file, text)
    text = ''
  })
  closeSync(file)
  writeFileSync(draftEnds, new Uint8Array(ends.buffer), { mode: 0o600 })
  // The lines last: where they are, the places are there too.
  keep(draftEnds, `${path}.ends`)
  keep(draft, path)
}

/** Writes the feed of the visible offers. Returns how many lines it has beside the header. */
export async function writeAttributes({
  sections,
  flags,
  path,
}: {
  sections: (Section & { attributes: string })[]
  flags: Int32Array
  path: string
}): Promise<number> {
  const zip = createGzip({ level: LEVEL, chunkSize: BLOCK })
  const written = pipeline(zip, createWriteStream(path, { mode: 0o600 }))
  // A failure is told by the wait at the end, and must not end the process before it.
  written.catch(() => {})
  zip.write(HEADER)
  let lines = 0
  for (const { from, rows, attributes } of sections)
    lines += await copyVisible(zip, written, attributes, flags.subarray(from, from + rows))
  zip.end()
  await written
  return lines
}

async function copyVisible(
  zip: Gzip,
  written: Promise<void>,
  path: string,
  flags: Int32Array,
): Promise<number> {
  const bytes = readFileSync(`${path}.ends`)
  const ends = new Float64Array(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
  )
  const file = openSync(path, 'r')
  const total = ends.at(-2) ?? 0
  let lines = 0
  try {
    if (ends.length !== flags.length * 2 || fstatSync(file).size !== total)
      throw new Error('the attributes are cut off, or those of other offers')
    // Block by block, each without the parts that belong to hidden offers.
    for (let at = 0, row = 0; at < total; at += BLOCK) {
      const block = Buffer.allocUnsafe(Math.min(BLOCK, total - at))
      if (readSync(file, block, 0, block.length, at) !== block.length)
        throw new Error('the attributes are cut off')
      let kept = 0
      for (let from = at; from < at + block.length;) {
        const end = ends[row * 2]!
        const to = Math.min(end, at + block.length)
        const isVisible = (flags[row]! & FLAGS.visible) !== 0
        if (isVisible) kept += block.copy(block, kept, from - at, to - at)
        from = to
        if (to !== end) break
        if (isVisible) lines += ends[row * 2 + 1]! - (row === 0 ? 0 : ends[row * 2 - 1]!)
        row++
      }
      if (kept > 0 && !zip.write(block.subarray(0, kept)))
        await Promise.race([once(zip, 'drain'), written])
    }
  } finally {
    closeSync(file)
  }
  return lines
}
