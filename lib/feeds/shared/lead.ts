/** What the leader alone does: it takes over where the one before ended, and publishes. */
import { DAY } from '../../core/clock.js'
import { LeadLost } from '../../db/lead.js'
import type { SharingParts } from './ctx.js'
import { follow, isForeign } from './follow.js'
import type { Transfer } from './objects.js'
import { bytesOf, firstRevision } from './publication.js'
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

export async function standing({ engine, background, read }: SharingParts): Promise<Standing> {
  const { dir } = engine
  const published = await readPublished(read)
  const point = await background.run('openShared', { dir })
  const mark = point.pending?.mark
  // It was published, and whoever did so did not come to note it.
  if (mark === undefined || !published.some((one) => one.mark === mark)) return { published, point }
  await background.run('settleShared', { dir, mark })
  return { published, point: await background.run('openShared', { dir }) }
}

/**
 * Comes to what was last published, and begins an epoch. False where that has to be tried again.
 * Where nothing leads to that state, it begins anew with what it has, and has the rest pulled again.
 */
export async function takeOver(
  parts: SharingParts,
  transfer: Transfer,
  epoch: number,
): Promise<boolean> {
  const { engine, background, log, now } = parts
  const before = await standing(parts)
  await confirm(parts, epoch)
  const followed = await follow(parts, transfer, before)
  if (followed === 'again') return false
  const { published, point } = await standing(parts)
  if (followed === 'lost')
    log.warn({}, 'what was published of the catalog cannot be used: this node begins anew')
  await background.run('leadShared', {
    dir: engine.dir,
    epoch,
    last: highest(published),
    isAnew: followed === 'lost',
    now: now(),
  })
  await makeDue(parts, { taken: point.taken, epoch })
  return true
}

const highest = (published: readonly Published[]): Highest => ({
  revision: Math.max(0, ...published.map(({ revision }) => revision)),
  fragments: Math.max(0, ...published.map(({ fragments }) => fragments)),
  epoch: published.at(-1)?.epoch ?? 0,
})

/** Publishes everything that is not. Throws `LeadLost` where somebody else has published. */
export async function publishAll(
  parts: SharingParts,
  transfer: Transfer,
  epoch: number,
): Promise<void> {
  const { engine, background, log } = parts
  for (;;) {
    await lookAtBroken(parts, transfer, epoch)
    const { published, point } = await standing(parts)
    const newest = published.at(-1)
    if (newest && point.mark !== '' && point.mark !== newest.mark) throw new LeadLost()
    const next = await prepared(parts, transfer, { published, point, epoch })
    if (!next) return
    const isFirst = await publish(parts, next, { epoch, after: newest?.number ?? 0 })
    if (!isFirst) throw new LeadLost()
    await background.run('settleShared', { dir: engine.dir, mark: next.mark })
    log.debug(
      { kind: next.kind, bytes: bytesOf(next.parts), revision: next.revision },
      'the catalog is published',
    )
  }
}

/** A node that cannot read the bucket is in trouble by itself: what is there is not made anew for it. */
async function lookAtBroken(parts: SharingParts, transfer: Transfer, epoch: number): Promise<void> {
  for (const one of await readPublished(parts.read)) {
    if (!one.isBroken || !(await transfer.isWhole(one.parts))) continue
    await tellWhole(parts, one, epoch)
    parts.log.warn(
      { number: one.number, kind: one.kind },
      'a node could not read the shared catalog in the bucket, and this one can: see its log',
    )
  }
}

/** What is to be published next, when it is in the store. */
async function prepared(
  { engine, background, now, baseAfter = { bytes: FEW, changes: MANY } }: SharingParts,
  transfer: Transfer,
  { published, point, epoch }: Standing & { epoch: number },
): Promise<Publication | null> {
  const { pending } = point
  if (pending && pending.parts.length > 0 && (await transfer.put(pending.parts))) return pending
  const wants = pending || needsBase(published, point, baseAfter) ? 'base' : 'change'
  const least = firstRevision(highest(published), epoch)
  const next = await background.run('prepareShared', { dir: engine.dir, wants, least, now: now() })
  if (next && !(await transfer.put(next.parts)))
    throw new Error('what was to be published is gone from the folder')
  return next
}

/** Whether a node without any state would have too much to fetch, or nothing that it can use. */
function needsBase(
  published: readonly Published[],
  point: Point,
  after: NonNullable<SharingParts['baseAfter']>,
): boolean {
  const at = published.findLastIndex(
    (one) => one.kind === 'base' && !one.isBroken && !isForeign(one, point),
  )
  if (at < 0) return true
  const changes = published.slice(at + 1).filter(({ kind }) => kind === 'change')
  const bytes = changes.reduce((sum, one) => sum + one.bytes, 0)
  return (
    changes.some(({ isBroken }) => isBroken) ||
    changes.length >= after.changes ||
    bytes > Math.max(after.bytes, published[at]!.bytes * SHARE)
  )
}

/** Removes what nobody can need any more. */
export async function sweep(parts: SharingParts, transfer: Transfer, epoch: number): Promise<void> {
  const before = parts.now() - KEPT
  const known = await readPublished(parts.read)
  const base = known.findLast(({ kind, isBroken }) => kind === 'base' && !isBroken)
  if (!base) return
  await forgetBefore(parts, { number: base.number, time: before, epoch })
  const left = await readPublished(parts.read)
  await transfer.sweep(
    left.flatMap((one) => one.parts),
    before,
  )
}
