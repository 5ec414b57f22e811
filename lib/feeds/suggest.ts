/** Which preset a person means, and which one a file is for. */
import { mappedColumns } from '../distributors/generic/columns.js'
import type { Preset } from '../distributors/generic/preset.js'
import type { Registry } from '../distributors/registry.js'
import { openBytes } from './fetch/bytes.js'
import { parseCells } from './read/cells.js'
import { leastColumns, readHeader } from './ingest/guard.js'
import { readRecords } from './read/lines.js'
import { recordText } from './read/text.js'

const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/**
 * The distid of a distributor by its distid or its name; case, blanks and apostrophes aside. Other
 * words stay as they are.
 */
export function distidOf({ all }: Registry, word: string): string {
  const exact = all.find(({ distid }) => distid === word)
  return (
    (
      exact ??
      all.find(({ distid, name }) => plain(distid) === plain(word) || plain(name) === plain(word))
    )?.distid ?? word
  )
}

/**
 * A preset by its id, or the catalog preset of a distributor by its distid or name; undefined where
 * there is none.
 */
export function presetFor(registry: Registry, word: string): Preset | undefined {
  const all = [...registry.presets.values()]
  const distid = distidOf(registry, word)
  return (
    registry.presets.get(word) ??
    all.find(({ id }) => plain(id) === plain(word)) ??
    all.find((preset) => preset.distid === distid && preset.kind === 'catalog')
  )
}

/**
 * The preset that reads more columns of this file than any other; the one in hand wins a tie. Null
 * where none fits.
 */
export async function bestPreset(
  registry: Registry,
  file: string,
  inHand: Preset,
): Promise<Preset | null> {
  const [presets, first] = [[...registry.presets.values()], await firstRecord(file)]
  if (first === null) return null
  let best: { preset: Preset; columns: number } | null = null
  for (const preset of [inHand, ...presets.filter((other) => other !== inHand)]) {
    const columns = columnsRead(preset, first)
    if (columns > (best?.columns ?? 0)) best = { preset, columns }
  }
  return best?.preset ?? null
}

/**
 * How many columns of a file with this first line the preset reads; 0 where it is none of the
 * preset.
 */
function columnsRead(preset: Preset, first: string): number {
  const header = readHeader(preset, first)
  if ('reasons' in header) return 0
  if (header.columns) return mappedColumns(preset, header.columns).length
  const [cells] = parseCells([first], preset.format)
  if (typeof cells === 'string' || cells!.length < leastColumns(preset, [])) return 0
  // Two columns may be anything: a stock file has a count in the second one.
  return preset.kind === 'catalog' ||
    (cells!.length === preset.format.columns?.length && /^\s*\d+\s*$/.test(cells!.at(-1)!))
    ? cells!.length
    : 0
}

async function firstRecord(file: string): Promise<string | null> {
  const bytes = await openBytes(file, '')
  try {
    for await (const batch of readRecords(bytes, { delimiter: ',', quote: null })) {
      if (batch.count > 0) return recordText(batch.buffer, batch.start[0]!, batch.end[0]!)
    }
  } catch {
    // What is wrong with it is said by whoever reads it whole.
  } finally {
    await bytes.close()
  }
  return null
}
