/** Brings this node's catalog.db to the newest state that is published. */
import type { SharingParts } from './ctx.js'
import type { Transfer } from './objects.js'
import { wayTo } from './publication.js'
import type { Published } from './publication.js'
import { tellBroken } from './record.js'
import type { Applied } from './apply.js'
import type { Point } from './point.js'

export type Followed =
  /** It is at the newest state, or nothing is published. */
  | 'there'
  /** It goes on from the newest state, with what nobody has published. */
  | 'ahead'
  /** Something was found to be broken, or to have changed meanwhile: another way may be there. */
  | 'again'
  /** No way leads there. */
  | 'lost'

/** Another release leads: what it publishes cannot be used. */
export const isForeign = ({ form }: Published, point: Point): boolean => form !== point.form

export async function follow(
  parts: SharingParts,
  transfer: Transfer,
  { published, point }: { published: readonly Published[]; point: Point },
): Promise<Followed> {
  const newest = published.at(-1)
  if (!newest) return 'there'
  const isClean = point.pending === null && !point.isChanged
  if (point.mark === newest.mark) {
    if (isClean) return 'there'
    // What was written in an epoch that another one has ended is not published any more.
    if (point.epoch !== null && point.epoch >= newest.epoch) return 'ahead'
  }
  const usable = published.map((one) => (isForeign(one, point) ? { ...one, isBroken: true } : one))
  const way = wayTo(usable, isClean ? point.mark : null)
  if (!way) return 'lost'
  for (const one of way) {
    const { outcome } = await take(parts, transfer, one)
    if (outcome === 'broken') {
      if (!transfer.mayTell(one.number))
        throw new Error('an object of the shared catalog cannot be read here, and others can')
      parts.log.warn(
        { number: one.number, kind: one.kind },
        'an object of the shared catalog is missing or damaged; the leader is told',
      )
      await tellBroken(parts, one)
    }
    if (outcome !== 'done') return 'again'
    parts.changed(one.kind === 'base')
  }
  return 'there'
}

/** An object may have been damaged on its way: it is fetched twice before it is called broken. */
async function take(parts: SharingParts, transfer: Transfer, one: Published): Promise<Applied> {
  const again = await attempt(parts, transfer, one)
  if (again.outcome !== 'broken') return again
  await transfer.discard(one.parts)
  return attempt(parts, transfer, one)
}

async function attempt(
  { engine, background }: SharingParts,
  transfer: Transfer,
  one: Published,
): Promise<Applied> {
  if (!(await transfer.fetch(one.parts))) return { outcome: 'broken' }
  const { dir } = engine
  if (one.kind === 'change') return background.run('applyShared', { dir, change: one })
  let adopted: Applied = { outcome: 'broken' }
  await engine.replaceCatalog(async () => {
    adopted = await background.run('adoptShared', { dir, base: one })
    return adopted.outcome === 'done'
  })
  return adopted
}
