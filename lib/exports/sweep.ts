/** Removes what nobody can download any more, and what builds left behind. */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../core/errors.js'
import { DAY, HOUR, MINUTE } from '../core/clock.js'
import type { ExportsCtx } from './ctx.js'
import type { Job } from '../core/async/job.js'
import { takeLock } from '../db/sqlite/locks.js'
import { LOCK, WORK, exportFolders } from './build-files.js'
import { allPublished, forgetPublished } from './queries.js'
import { EXPORTS, exportVersion } from './version.js'

/** A download that began just before its URL expired has ended by then. */
const GRACE = HOUR
/** An object that nobody knows is one that is just being stored, or was left behind. */
const UNKNOWN = 6 * HOUR
/** Texts that a build of now may be joining. */
const IN_USE = 10 * MINUTE
/** Texts of a distributor that nobody exports any more. */
const UNUSED = 7 * DAY

/**
 * Every ten minutes, and also where nobody asks for anything: the last file of a shop that has left
 * must go too.
 */
export const exportJob: Job<ExportsCtx> = {
  name: 'exports',
  every: 10 * MINUTE,
  run: async (ctx) => sweepExports(ctx),
}

/**
 * Removes old versions once their URLs have expired, objects that no export names, and texts that
 * no build needs. Its transactions look at no epoch: any node builds exports, a row goes only as it
 * was read, and no key is given twice. So one that froze in between removes nothing that another
 * node has handed out since.
 */
export async function sweepExports(ctx: ExportsCtx): Promise<void> {
  const now = ctx.now()
  const { meter } = ctx.engine
  // First what needs no store: one that is down must not let the disk fill up.
  await sweepTexts(ctx)
  // A large snapshot is still being built after a start, and until then no export would look like a
  // current one.
  await ctx.catalog.refresh()
  const snapshot = ctx.catalog.current()
  for (const row of await allPublished(meter.db)) {
    if (
      Math.max(row.urls_until, row.made_at) + GRACE > now ||
      (snapshot && (await isCurrent(ctx, row, snapshot.version)))
    )
      continue
    const keys = await meter.alone(ctx, EXPORTS, () => forgetPublished(row))
    for (const key of keys) await ctx.objects.remove(key)
  }
  const known = new Set(
    (await allPublished(meter.db)).flatMap(
      ({ parquet_key: parquet, attributes_key: attributes }) => [parquet, attributes],
    ),
  )
  for (const { key, changedAt } of await ctx.objects.list('exports/')) {
    if (!known.has(key) && changedAt + UNKNOWN < now) await ctx.objects.remove(key)
  }
}

async function isCurrent(
  ctx: ExportsCtx,
  { subscriber_id: id, export_version: version }: { subscriber_id: string; export_version: string },
  snapshot: string,
): Promise<boolean> {
  const saved = await ctx.configurations.of({ id, name: '', email: '' })
  return [true, false].some((ignoreRestrictions) =>
    [true, false].some(
      (attributes) =>
        exportVersion(id, saved, snapshot, { ignoreRestrictions, attributes }) === version,
    ),
  )
}

/** Of each distributor the texts that were last of use stay. */
export async function sweepTexts({
  engine,
  ...ctx
}: Pick<ExportsCtx, 'engine' | 'now'>): Promise<void> {
  const folder = exportFolders(engine.dir).texts
  const now = ctx.now()
  const files = await Promise.all(
    (await namesIn(folder)).map(async (name) => ({
      name,
      at: (await stat(join(folder, name)).catch(() => null))?.mtimeMs ?? now,
    })),
  )
  const kindOf = (name: string) =>
    `${name.slice(0, name.indexOf('-'))}${name.slice(name.indexOf('.'))}`
  for (const { name, at } of files) {
    const isNewest = !files.some((other) => kindOf(other.name) === kindOf(name) && other.at > at)
    if (at + (isNewest ? UNUSED : IN_USE) < now) await rm(join(folder, name), { force: true })
  }
}

/** Removes folders of builds whose process is gone; one that lives holds its lock. */
export async function removeDeadBuilds(dir: string): Promise<void> {
  const { root } = exportFolders(dir)
  for (const name of await namesIn(root)) {
    if (!name.startsWith(WORK)) continue
    try {
      const lock = takeLock(join(root, name, LOCK))
      lock?.close()
      if (lock) await rm(join(root, name), { recursive: true, force: true })
    } catch {
      // Its own process has just removed it, or it is not a folder of a build: neither keeps an app
      // from opening.
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  })
}
