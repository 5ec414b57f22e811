/** What lies in a folder beside the record that moves. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

export interface LeftFile {
  /** In the folder. */
  path: string
  files: number
  bytes: number
  /** What it is, and what to do with it. */
  what: string
}

/** In the order in which they matter. */
const known = (hasHistoryMoved: boolean): readonly (readonly [path: string, what: string])[] => [
  [
    'keys/secret-key',
    'each node needs it; keep your copy. Keys of fraud signals beside it have moved',
  ],
  ['objects', "dealers' documents: put them into the store of the nodes, under the same names"],
  ['orders.journal', 'the second copy of the order journal up to now: keep it with your backups'],
  [
    'history',
    hasHistoryMoved
      ? 'prices and stock day by day up to now: what is in the bucket goes on from it'
      : 'prices and stock day by day, which the nodes do not have',
  ],
  ['catalog.db', 'offers: the next feeds bring them back'],
  ['backups', 'what was made before upgrades: the way back to an earlier release'],
]

/** What there is of it, with its size. */
export function leftIn(dir: string, { hasHistoryMoved }: { hasHistoryMoved: boolean }): LeftFile[] {
  return known(hasHistoryMoved).flatMap(([path, what]) => {
    const place = join(dir, path)
    if (!existsSync(place)) return []
    const sizes = sizesBelow(place)
    if (sizes.length === 0) return []
    return [{ path, files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0), what }]
  })
}

function sizesBelow(place: string): number[] {
  const stat = statSync(place)
  if (stat.isFile()) return [stat.size]
  return readdirSync(place, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const found = statSync(join(place, name), { throwIfNoEntry: false })
    return found?.isFile() ? [found.size] : []
  })
}
