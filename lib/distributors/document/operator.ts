/** What the operator does with documents of distributors. */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { invalid } from '../../core/errors.js'
import type { Distributor } from '../distributor.js'
import type { Preset } from '../generic/preset.js'
import { convertFile } from './bring.js'
import { distributorOf } from './distributor.js'
import { documentFile, documentsIn, withDocument } from './folder.js'
import type { DistributorDocument } from './schema.js'
import { recode, unpack } from './unpack.js'

/**
 * Keeps a document in the state folder; it holds from the next start on. One of the same distid is
 * replaced. Throws 400 where a distributor of the program is in its way.
 */
export function addDocument(
  dir: string,
  known: readonly Distributor[],
  document: DistributorDocument,
): { file: string; isNew: boolean } {
  try {
    withDocument(known, document)
  } catch (error) {
    throw invalid('document', error instanceof Error ? error.message : String(error))
  }
  const file = documentFile(dir, document.distid)
  const isNew = !existsSync(file)
  mkdirSync(documentsIn(dir), { recursive: true, mode: 0o700 })
  // A start that comes between sees the old one or the new one.
  writeFileSync(`${file}.draft`, `${JSON.stringify(document, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.draft`, file)
  return { file, isNew }
}

/** Takes a document away. Throws 400 where there is none. */
export function removeDocument(dir: string, distid: string): string {
  const file = documentFile(dir, distid)
  if (!/^[A-Za-z0-9]+$/.test(distid) || !existsSync(file))
    throw invalid('distid', `there is no document of "${distid}" in ${documentsIn(dir)}`)
  rmSync(file)
  return file
}

/** A sample of a feed, as the document's preset reads it. */
export interface Sample {
  readonly preset: Preset
  readonly file: string
}

/**
 * Works with a sample file of a feed in the form that its preset reads; the sample itself is left as
 * it is. Throws 400 for a feed that there is not, and a FeedFault for a file of another form.
 */
export async function withSample<R>(
  document: DistributorDocument,
  { feed: id, file, other }: { feed: string; file: string; other: string | null },
  work: (sample: Sample) => Promise<R>,
): Promise<R> {
  const feed = document.feeds?.find((one) => one.id === id)
  if (!feed || feed.kind === 'preset')
    throw invalid(
      'feed',
      `the document describes no feed "${id}"; it describes ` +
        `${document.feeds?.map((one) => one.id).join(', ') || 'none'}`,
    )
  if (feed.join && other === null)
    throw invalid('other', `the feed ${id} is joined with another file: give a sample of that, too`)
  const preset = distributorOf(document).presets!.find((one) => one.id === id)!
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-sample-'))
  const copyOf = async (from: string, name: string, source: typeof feed.source) => {
    const to = join(folder, name)
    await copyFile(from, to)
    if (source.unpack) await unpack(to, source.unpack)
    if (source.encoding) await recode(to, source.encoding)
    return to
  }
  try {
    const own = await copyOf(file, 'feed', feed.source)
    const beside = feed.join && other !== null ? await copyOf(other, 'other', feed.join) : null
    if (feed.source.read.as !== 'delimited' || feed.join)
      await convertFile({ feed, preset }, own, beside)
    return await work({ preset, file: own })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
