/** What the leader alone does: it takes over where the one before ended, and publishes. */
import { DAY } from '../../core/clock.js'
import { LeadLost } from '../../db/lead.js'
import type { LineParts } from './ctx.js'
import { follow, hasFiles, isForeign } from './follow.js'
import type { Transfer } from './objects.js'
import { allParts, bytesOf, firstRevision } from './publication.js'
import type { Highest, Publication, Published } from './publication.js'
import { confirm, forgetBefore, makeDue, publish, readPublished, tellWhole } from './record.js'
import type { Point } from './point.js'

/** Changes since the last base are published whole once they are larger than this share of it. */
const SHARE = 0.5
/** Bytes of changes that are never too many. */
const FEW = 2 ** 20
/** Changes that a node without any state would have to fetch one by one. */
const MANY = 300
/** Milliseconds for which what nobody needs any more is kept. */
const KEPT = DAY

/** How the node stands, with what came to be known of its last publication. */
export interface Standing {
  published: Published[]
  point: Point
}

export async function standing(parts: LineParts): Promise<Standing> {
  const { engine, background, name } = parts
  const of = { dir: engine.dir, name }
  const published = await readPublished(parts, name)
  const point = await background.run('openShared', of)
  const mark = point.pending?.mark
  // It was published, and whoever did so did not come to note it.
  if (mark === undefined || !published.some((one) => one.mark === mark)) return { published, point }
  await background.run('settleShared', { ...of, mark })
  return { published, point: await background.run('openShared', of) }
}

/**
 * Comes to what was last published, and begins an epoch. False where that has to be tried again.
 * Where nothing leads to that state, it begins anew with what it has, and has the rest pulled again.
 */
export async function takeOver(
  parts: LineParts,
  transfer: Transfer,
  epoch: number,
): Promise<boolean> {
  const { engine, background, name, log, now } = parts
  const of = { dir: engine.dir, name }
  const before = await standing(parts)
  await confirm(parts, epoch)
  const followed = await follow(parts, transfer, before)
  if (followed === 'again') return false
  const { published } = await standing(parts)
  if (followed === 'lost')
    log.warn({}, `what was published of the ${name} cannot be used: this node begins anew`)
  await background.run('leadShared', {
    ...of,
    epoch,
    last: highest(published),
    isAnew: followed === 'lost',
    now: now(),
  })
  if (name === 'catalog')
    await makeDue(parts, { taken: await background.run('feedsTaken', { dir: engine.dir }), epoch })
  return true
}

const highest = (published: readonly Published[]): Highest => ({
  revision: Math.max(0, ...published.map(({ revision }) => revision)),
  fragments: Math.max(0, ...published.map(({ fragments }) => fragments)),
  epoch: published.at(-1)?.epoch ?? 0,
})

/**
 * Publishes everything that is not. False where somebody is at work on it, so that it has to be tried
 * again. Throws `LeadLost` where somebody else has published.
 */
export async function publishAll(
  parts: LineParts,
  transfer: Transfer,
  epoch: number,
): Promise<boolean> {
  const { engine, background, name, log } = parts
  for (;;) {
    await lookAtBroken(parts, transfer, epoch)
    const { published, point } = await standing(parts)
    const newest = published.at(-1)
    if (newest && point.mark !== '' && point.mark !== newest.mark) throw new LeadLost()
    const next = await prepared(parts, transfer, { published, point, epoch })
    if (next === 'busy') return false
    if (!next) return true
    const isFirst = await publish(parts, next, { epoch, after: newest?.number ?? 0 })
    if (!isFirst) throw new LeadLost()
    await background.run('settleShared', { dir: engine.dir, name, mark: next.mark })
    log.debug(
      { kind: next.kind, bytes: bytesOf(allParts(next)), revision: next.revision },
      `the ${name} is published`,
    )
  }
}

/** A node that cannot read the bucket is in trouble by itself: what is there is not made anew for it. */
async function lookAtBroken(parts: LineParts, transfer: Transfer, epoch: number): Promise<void> {
  for (const one of await readPublished(parts, parts.name)) {
    if (!one.isBroken || !(await transfer.isWhole(allParts(one)))) continue
    await tellWhole(parts, one, epoch)
    parts.log.warn(
      { number: one.number, kind: one.kind },
      `a node could not read the shared ${parts.name} in the bucket, and this one can: see its log`,
    )
  }
}

/** What is to be published next, when it is in the store. */
async function prepared(
  parts: LineParts,
  transfer: Transfer,
  { published, point, epoch }: Standing & { epoch: number },
): Promise<Publication | null | 'busy'> {
  const { engine, background, name, now, baseAfter = { bytes: FEW, changes: MANY } } = parts
  const { pending } = point
  if (pending && pending.parts.length > 0 && (await transfer.put(allParts(pending)))) return pending
  const next = await background.run('prepareShared', {
    dir: engine.dir,
    name,
    wants: pending || needsBase(published, point, baseAfter) ? 'base' : 'change',
    isAnew: pending !== null || published.some(({ isBroken }) => isBroken),
    least: firstRevision(highest(published), epoch),
    now: now(),
  })
  if (next && next !== 'busy' && !(await transfer.put(allParts(next))))
    throw new Error('what was to be published is gone from the folder')
  return next
}

/** Whether a node without any state would have too much to fetch, or nothing that it can use. */
function needsBase(
  published: readonly Published[],
  point: Point,
  after: NonNullable<LineParts['baseAfter']>,
): boolean {
  const at = published.findLastIndex(
    (one) => one.kind === 'base' && !one.isBroken && !isForeign(one, point),
  )
  if (at < 0) return true
  const { files } = published[at]!
  if (!hasFiles(point, files) || !hasFiles({ files }, point.files)) return true
  const changes = published.slice(at + 1).filter(({ kind }) => kind === 'change')
  const bytes = changes.reduce((sum, one) => sum + one.bytes, 0)
  return (
    changes.some(({ isBroken }) => isBroken) ||
    changes.length >= after.changes ||
    bytes > Math.max(after.bytes, published[at]!.bytes * SHARE)
  )
}

/** Removes what nobody can need any more. */
export async function sweep(parts: LineParts, transfer: Transfer, epoch: number): Promise<void> {
  const before = parts.now() - KEPT
  const known = await readPublished(parts, parts.name)
  const base = known.findLast(({ kind, isBroken }) => kind === 'base' && !isBroken)
  if (!base) return
  await forgetBefore(parts, { number: base.number, time: before, epoch })
  const left = await readPublished(parts, parts.name)
  await transfer.sweep(left.flatMap(allParts), before)
}
