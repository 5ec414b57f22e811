/** How a document reads samples of a distributor's files. */
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { invalid } from '../../core/errors.js'
import { allColumns } from '../generic/columns.js'
import type { Preset } from '../generic/preset.js'
import { ordersIn } from './answers.js'
import type { Answer } from './answers.js'
import { convertFile } from './bring.js'
import { distributorOf } from './distributor.js'
import { rowsIn } from './rows.js'
import type { DistributorDocument, Reading } from './schema.js'
import { recode, unpack } from './unpack.js'

/** A sample of a feed, as the document's preset reads it. */
export interface Sample {
  readonly preset: Preset
  readonly file: string
  /** Columns that the document names and the sample does not have. */
  readonly unseen: readonly string[]
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
    throw invalid(
      'other',
      `the feed ${id} is joined with another file: give a sample of that, too (--other)`,
    )
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
    const isPlain = feed.source.read.as === 'delimited' && !feed.join
    const unseen = isPlain
      ? await absentIn(own, feed.source.read, allColumns(preset))
      : await convertFile({ feed, preset }, own, beside)
    return await work({ preset, file: own, unseen })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The columns that the first row does not have. */
async function absentIn(file: string, read: Reading, columns: string[]): Promise<string[]> {
  for await (const row of rowsIn(file, read))
    return columns.filter((name) => row(name) === undefined)
  return []
}

/**
 * What the answers of one kind in a sample file tell of orders. Throws 400 where the document
 * describes none, and a FeedFault for a file of another form.
 */
export async function readAnswers(
  { orders }: DistributorDocument,
  { tells, file, now }: { tells: string; file: string; now: number },
): Promise<Answer[]> {
  const described = (orders?.answers ?? []).filter((one) => one.tells === tells)
  const [first] = described
  if (!first)
    throw invalid(
      'answer',
      `the document describes no answers of the kind "${tells}"; it describes ` +
        `${orders?.answers?.map((one) => one.tells).join(', ') || 'none'}`,
    )
  return ordersIn(first, rowsIn(file, first.source.read), now)
}
