/** Many folders, one after the other, and the smallest form of what went wrong in one. */
import { runFolder } from './folder.js'
import type { FolderResult } from './folder.js'
import { seedOf } from './random.js'

/**
 * Processes that die in one folder: enough to leave orders in every state, few enough to keep it
 * quick.
 */
export const CRASHES = 300

export interface Totals {
  folders: number
  crashes: number
  orders: number
  posts: number
  executed: number
  calls: number
  faulty: number
  reviews: number
  places: Map<string, number>
}

export function noTotals(): Totals {
  return {
    folders: 0,
    crashes: 0,
    orders: 0,
    posts: 0,
    executed: 0,
    calls: 0,
    faulty: 0,
    reviews: 0,
    places: new Map(),
  }
}

export function addTo(totals: Totals, result: Omit<FolderResult, 'seed' | 'violations'>): void {
  totals.folders++
  for (const name of [
    'crashes',
    'orders',
    'posts',
    'executed',
    'calls',
    'faulty',
    'reviews',
  ] as const)
    totals[name] += result[name]
  for (const [place, times] of result.places)
    totals.places.set(place, (totals.places.get(place) ?? 0) + times)
}

export interface Failure {
  /** `runFolder({ seed, crashes })` shows it. */
  seed: number
  crashes: number
  violations: FolderResult['violations']
}

/** Runs folders until so many processes have died, or something is wrong. */
export async function runUntil(
  {
    seed,
    crashes,
    outcomesOnly = false,
  }: { seed: number; crashes: number; outcomesOnly?: boolean },
  onFolder: (totals: Totals) => void = () => {},
): Promise<{ totals: Totals; failure: Failure | null }> {
  const totals = noTotals()
  for (let n = 0; totals.crashes < crashes; n++) {
    const result = await runFolder({ seed: seedOf(seed, n), crashes: CRASHES, outcomesOnly })
    addTo(totals, result)
    onFolder(totals)
    if (result.violations.length > 0)
      return {
        totals,
        failure: { seed: result.seed, crashes: result.crashes, violations: result.violations },
      }
  }
  return { totals, failure: null }
}

/**
 * The fewest crashes after which the same folder still fails. A run that is cut shorter is the
 * beginning of the longer one.
 */
export async function shrink({ seed, crashes, violations }: Failure): Promise<Failure> {
  let best: Failure = { seed, crashes, violations }
  for (let least = 0, most = crashes - 1; least <= most;) {
    const middle = (least + most) >> 1
    const result = await runFolder({ seed, crashes: middle })
    if (result.violations.length > 0) {
      best = { seed, crashes: middle, violations: result.violations }
      most = middle - 1
    } else least = middle + 1
  }
  return best
}

export function failureText({ seed, crashes, violations }: Failure): string {
  return `seed ${seed}, ${crashes} crashes:\n${violations.map(({ rule, detail }) => `  ${rule}: ${detail}`).join('\n')}`
}
