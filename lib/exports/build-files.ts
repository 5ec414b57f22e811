/**
 * One build from the columns of a view to objects in the store, in a folder of its own that goes in
 * any case.
 */
import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoppedWork } from '../core/async/child.js'
import type { ExportsCtx } from './ctx.js'
import { catalogMade } from '../catalog/queries.js'
import { filesIn } from '../db/sqlite/folder.js'
import { takeLock } from '../db/sqlite/locks.js'
import { runBuild } from './build-job.js'
import type { BuildJob, BuildResult } from './build-job.js'
import { sumOf } from './text-files.js'
import type { Numbers } from './number-columns.js'
import { FORM } from './version.js'

export interface BuildTools {
  ctx: ExportsCtx
  signal: AbortSignal
  /** Milliseconds that a build may take. */
  limit?: number
  file?: string
}

export interface Files {
  parquet_key: string
  attributes_key: string | null
}

/** Where builds work and keep the texts that they share, below the state folder. */
export function exportFolders(dir: string): { root: string; texts: string } {
  return { root: join(dir, 'exports'), texts: join(dir, 'exports', 'texts') }
}

/** Names of the folders of builds, each with a lock that its process holds. */
export const WORK = 'build-'
export const LOCK = 'lock'

/**
 * Runs `fn` with a new folder, which is removed afterwards; a later start removes it where this
 * process dies.
 */
export async function withWorkFolder<T>(
  { ctx }: BuildTools,
  fn: (work: string) => Promise<T>,
): Promise<T> {
  const { root, texts } = exportFolders(ctx.engine.dir)
  mkdirSync(texts, { recursive: true, mode: 0o700 })
  const work = join(root, WORK + ctx.random(8).toString('hex'))
  mkdirSync(work, { mode: 0o700 })
  const lock = takeLock(join(work, LOCK))
  try {
    return await fn(work)
  } finally {
    lock?.close()
    await rm(work, { recursive: true, force: true })
  }
}

export interface Ordered {
  numbers: Numbers
  hasRetail: boolean
  attributes: boolean
}

/** Megabytes for DuckDB. */
const MEMORY = 192

/**
 * Builds the files, makes sure that they hold what the view does, and stores them under names that
 * nobody can guess.
 */
export async function buildFiles(
  tools: BuildTools,
  work: string,
  { numbers, hasRetail, attributes }: Ordered,
): Promise<Files> {
  const { ctx } = tools
  const job: BuildJob = {
    kind: 'export',
    catalog: filesIn(ctx.engine.dir).catalog,
    work,
    rows: numbers.rows,
    hasRetail,
    memory: MEMORY,
    numbers: join(work, 'numbers'),
    parquet: join(work, 'catalog.parquet'),
    attributes: attributes ? join(work, 'attributes.csv.gz') : null,
    sections: numbers.sections.map((section) => ({
      ...section,
      ...textFiles(ctx, numbers, section),
    })),
  }
  const begunAt = ctx.monotonic()
  const result = await runProved(tools, job, numbers)
  if (result.damaged > 0)
    ctx.log.warn(
      { files: result.damaged },
      'kept texts of exports were damaged, and were made anew: look at the disk and the memory',
    )
  await touch(job.sections.flatMap(filesOf), ctx.now())
  const builtAt = ctx.monotonic()
  const files = await store(ctx, job)
  const [build_ms, store_ms] = [builtAt - begunAt, ctx.monotonic() - builtAt].map(Math.round)
  ctx.log.info(
    { rows: result.rows, attributes: result.attributes, peak: result.peak, build_ms, store_ms },
    'an export was built and stored',
  )
  return files
}

/** Runs a build in a process of its own, and proves what it made. */
async function runProved(
  { signal, limit, file }: BuildTools,
  job: BuildJob,
  numbers: Numbers,
): Promise<BuildResult> {
  await writeFile(job.numbers, numbers.bytes, { mode: 0o600 })
  try {
    const read = await runBuild(job, {
      signal,
      ...(limit !== undefined && { limit }),
      ...(file !== undefined && { file }),
    })
    return assertSame(numbers, read)
  } catch (error) {
    // What it joined may be what is wrong: the next build makes the texts anew. One that was out
    // of time must find what it has made.
    if (!(error as Partial<StoppedWork>).isStopped)
      await Promise.all(job.sections.flatMap(filesOf).map((path) => rm(path, { force: true })))
    throw error
  }
}

/** Stores what a build has made. */
async function store(ctx: ExportsCtx, { parquet, attributes }: BuildJob): Promise<Files> {
  const name = `exports/${ctx.random(16).toString('hex')}`
  const parquetKey = `${name}/catalog.parquet`
  await ctx.objects.put(parquetKey, parquet, { contentType: 'application/vnd.apache.parquet' })
  if (attributes === null) return { parquet_key: parquetKey, attributes_key: null }
  const attributesKey = `${name}/attributes.csv.gz`
  await ctx.objects.put(attributesKey, attributes, { contentType: 'application/gzip' })
  return { parquet_key: parquetKey, attributes_key: attributesKey }
}

/**
 * Files of a distributor's texts, `DISTRIBUTOR-TEXTS`: others for other texts, and for a catalog
 * that was made anew.
 */
function textFiles(
  { engine }: ExportsCtx,
  { columns }: Numbers,
  { distid, from, rows }: Numbers['sections'][number],
): { texts: string; attributes: string } {
  const digest = (...parts: (string | Uint8Array)[]) =>
    parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex')
  const texts = digest(
    `${FORM} ${catalogMade(engine.catalog)} ${distid} `,
    new Uint8Array(columns.fragment.buffer, columns.fragment.byteOffset + from * 4, rows * 4),
  )
  const path = join(
    exportFolders(engine.dir).texts,
    `${digest(distid).slice(0, 16)}-${texts.slice(0, 32)}`,
  )
  return { texts: `${path}.parquet`, attributes: `${path}.csv` }
}

/** All files that are kept of a section, each with its digest. */
function filesOf({ texts, attributes: lines }: BuildJob['sections'][number]): string[] {
  return [texts, lines, `${lines}.ends`].flatMap((path) => [path, sumOf(path)])
}

/**
 * Notes when a file of texts was last of use; one that no build of this kind has made is not there.
 */
async function touch(paths: readonly string[], at: number): Promise<void> {
  await Promise.all(paths.map((path) => utimes(path, at / 1_000, at / 1_000).catch(() => {})))
}

/** The file is published only when what is read back from it is what the view says. */
function assertSame({ totals, sections }: Numbers, result: BuildResult): BuildResult {
  for (const name of ['rows', 'unitPrice', 'totalCost', 'qty'] as const) {
    if (result[name] !== totals[name])
      throw new Error(
        `the export that was written has another ${name} than the view: ${result[name]}, not ${totals[name]}`,
      )
  }
  const found = Object.keys(result.byDistributor).sort().join()
  const known = sections
    .map(({ distid }) => distid)
    .sort()
    .join()
  if (found !== known)
    throw new Error(
      `the export that was written has other distributors than the view: ${found}, not ${known}`,
    )
  return result
}
