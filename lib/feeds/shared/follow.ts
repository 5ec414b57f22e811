/** Brings a database of this node's folder to the newest state that is published. */
import type { LineParts } from './ctx.js'
import type { Transfer } from './objects.js'
import { allParts, contentOf, wayTo } from './publication.js'
import type { Published, SharedFile, Way } from './publication.js'
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
  parts: LineParts,
  transfer: Transfer,
  { published, point }: { published: readonly Published[]; point: Point },
): Promise<Followed> {
  const newest = published.at(-1)
  if (!newest) return 'there'
  const isClean = point.pending === null && !point.isChanged
  const usable = published.map((one) => (isForeign(one, point) ? { ...one, isBroken: true } : one))
  if (point.mark === newest.mark) {
    if (isClean) return bringFiles(parts, transfer, { usable, point })
    // What was written in an epoch that another one has ended is not published any more.
    if (point.epoch !== null && point.epoch >= newest.epoch) return 'ahead'
  }
  const way = wayTo(usable, isClean ? point.mark : null)
  if (!way) return 'lost'
  const isThere =
    parts.name === 'catalog' && way[0]?.kind === 'base'
      ? await replaceCatalog(parts, transfer, way)
      : await goOn(parts, transfer, way)
  return isThere ? 'there' : 'again'
}

/** False where another way has to be looked for. */
async function goOn(parts: LineParts, transfer: Transfer, way: Way): Promise<boolean> {
  for (const one of way) {
    const { outcome } = await take(parts, transfer, { one, attempt })
    if (outcome !== 'done') return false
    parts.changed?.(false)
  }
  return true
}

/**
 * The same from a base on: another file takes the place of catalog.db, and is brought to the end of
 * the way before it is opened. Until then searches have what they know, with the texts of its file;
 * on the way there may be less than they have named.
 */
async function replaceCatalog(parts: LineParts, transfer: Transfer, way: Way): Promise<boolean> {
  // A store that goes away on the way must not leave the prices of a base that are no more.
  for (const one of way) if (!(await transfer.fetch(one.parts))) break
  let reached = 0
  let failure: unknown
  await parts.engine.replaceCatalog(async () => {
    try {
      for (const one of way) {
        const { outcome } = await take(parts, transfer, { one, attempt })
        if (outcome !== 'done') break
        reached++
      }
    } catch (error) {
      // What is in the place of the file must be opened all the same.
      failure = error
    }
    if (reached === 0) return false
    await parts.adopted()
    return true
  })
  if (reached > 0) parts.changed?.(true)
  if (failure !== undefined) throw failure
  return reached === way.length
}

/** The database is at its state: the files that go along with it may not be. */
async function bringFiles(
  parts: LineParts,
  transfer: Transfer,
  { usable, point }: { usable: readonly Published[]; point: Point },
): Promise<Followed> {
  const base = usable.findLast(({ kind, isBroken }) => kind === 'base' && !isBroken)
  if (!base || hasFiles(point, base.files)) return 'there'
  const { outcome } = await take(parts, transfer, { one: base, attempt: attemptFiles })
  return outcome === 'done' ? 'there' : 'again'
}

/** Whether a node has these files, as they are. */
export function hasFiles({ files }: Pick<Point, 'files'>, wanted: readonly SharedFile[]): boolean {
  const contents = new Map(files.map(({ path, parts }) => [path, contentOf(parts)]))
  return wanted.every(({ path, parts }) => contents.get(path) === contentOf(parts))
}

type Attempt = (parts: LineParts, transfer: Transfer, one: Published) => Promise<Applied>

/** An object may have been damaged on its way: it is fetched twice before it is called broken. */
async function take(
  parts: LineParts,
  transfer: Transfer,
  { one, attempt }: { one: Published; attempt: Attempt },
): Promise<Applied> {
  const first = await attempt(parts, transfer, one)
  if (first.outcome !== 'broken') return first
  await transfer.discard(allParts(one))
  const second = await attempt(parts, transfer, one)
  if (second.outcome !== 'broken') return second
  if (!transfer.mayTell(one.number))
    throw new Error(`an object of the shared ${parts.name} cannot be read here, and others can`)
  parts.log.warn(
    { number: one.number, kind: one.kind },
    `an object of the shared ${parts.name} is missing or damaged; the leader is told`,
  )
  await tellBroken(parts, one)
  return second
}

async function attempt(parts: LineParts, transfer: Transfer, one: Published): Promise<Applied> {
  const { engine, background, name } = parts
  const { dir } = engine
  if (!(await transfer.fetch(one.parts))) return { outcome: 'broken' }
  if (one.kind === 'change') return background.run('applyShared', { dir, name, change: one })
  if (!(await fetchFiles(parts, transfer, one))) return { outcome: 'broken' }
  return background.run('adoptShared', { dir, name, base: one })
}

async function attemptFiles(
  parts: LineParts,
  transfer: Transfer,
  base: Published,
): Promise<Applied> {
  const { engine, background, name } = parts
  if (!(await fetchFiles(parts, transfer, base))) return { outcome: 'broken' }
  return background.run('placeShared', { dir: engine.dir, name, wanted: base.files })
}

/** False where the store does not have an object of a file that this node lacks. */
async function fetchFiles(
  { engine, background, name }: LineParts,
  transfer: Transfer,
  { files }: Published,
): Promise<boolean> {
  if (files.length === 0) return true
  const wanted = files
  const lacking = await background.run('lackingShared', { dir: engine.dir, name, wanted })
  return transfer.fetch(lacking.flatMap(({ parts }) => parts))
}
