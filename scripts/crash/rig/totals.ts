/**
 * What a run of the crash harness has come to so far, kept in a file so that a long run can be done
 * in pieces.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { KINDS } from './check.js'
import type { Checked, Kind } from './check.js'
import type { Facts } from './facts.js'
import type { Ledger } from './caller.js'

export interface Totals {
  cycles: number
  /** Of real time, over all folders that ran side by side. */
  seconds: number
  folders: number
  orders: number
  posts: number
  broken: number
  answers: Record<string, number>
  deaths: Record<string, number>
  placements: number
  purchaseOrders: Record<string, number>
  /** Purchase orders by the scenario that they ask for. */
  scenarios: Record<string, number>
  /** Purchase orders with a send of unknown outcome. */
  unknown: number
  executed: number
  calls: number
  faultyCalls: number
  reviews: Record<string, number>
  journalLines: number
  /** Folders in which the watched key reached its limit of an hour, and of a day. */
  hourReached: number
  dayReached: number
  faults: Record<Kind, number>
  /**
   * Milliseconds from the word to begin until it listens, of each server that was loaded by then.
   */
  starts: number[]
}

export function newTotals(): Totals {
  return {
    cycles: 0,
    seconds: 0,
    folders: 0,
    orders: 0,
    posts: 0,
    broken: 0,
    answers: {},
    deaths: {},
    placements: 0,
    purchaseOrders: {},
    scenarios: {},
    unknown: 0,
    executed: 0,
    calls: 0,
    faultyCalls: 0,
    reviews: {},
    journalLines: 0,
    hourReached: 0,
    dayReached: 0,
    faults: Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Record<Kind, number>,
    starts: [],
  }
}

export function loadTotals(file: string): Totals {
  if (!existsSync(file)) return newTotals()
  const totals = JSON.parse(readFileSync(file, 'utf8')) as Totals
  return { ...totals, faults: { ...newTotals().faults, ...totals.faults } }
}

export function saveTotals(file: string, totals: Totals): void {
  writeFileSync(file, `${JSON.stringify(totals)}\n`)
}

export const count = (counts: Record<string, number>, name: string, by = 1) => {
  counts[name] = (counts[name] ?? 0) + by
}

/** Adds what one folder came to. */
export function addFolder(
  totals: Totals,
  facts: Facts,
  ledger: Ledger,
  { faults, reviews }: Checked,
  { hour, day }: { hour: number; day: number },
): void {
  totals.folders++
  totals.posts += ledger.posts
  totals.broken += ledger.broken
  for (const { status, code, body } of ledger.answers)
    count(totals.answers, `${status} ${code ?? body.data!.status}`)
  totals.placements += facts.placements.length
  for (const { state, scenario, ever_unknown: unknown } of facts.purchaseOrders) {
    count(totals.purchaseOrders, state)
    if (scenario !== null) count(totals.scenarios, scenario.replace(/^CHAOS-.*/, 'CHAOS'))
    totals.unknown += unknown
  }
  totals.executed += facts.executed.length
  totals.calls += facts.calls.calls
  totals.faultyCalls += facts.calls.faults
  for (const [distid, waiting] of Object.entries(reviews)) count(totals.reviews, distid, waiting)
  totals.journalLines += facts.journal.lines
  if (hour >= 60) totals.hourReached++
  if (day >= 500) totals.dayReached++
  for (const { kind } of faults) totals.faults[kind]++
  totals.faults.answer += ledger.faults.length
}

const percentile = (times: readonly number[], share: number) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? 0

const listed = (counts: Record<string, number>) =>
  Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, many]) => `${name} ${many.toLocaleString('en-US')}`)
    .join(', ')

export function totalsText(totals: Totals): string {
  const { faults } = totals
  const n = (many: number) => many.toLocaleString('en-US')
  return [
    `cycles            ${n(totals.cycles)} in ${(totals.seconds / 60).toFixed(1)} min, ` +
      `${(totals.cycles / totals.seconds).toFixed(2)} a second, ${n(totals.folders)} folders`,
    `started in        p50 ${percentile(totals.starts, 0.5)} ms, p95 ` +
      `${percentile(totals.starts, 0.95)} ms, recovery included (loaded beforehand)`,
    `killed at         ${listed(totals.deaths)}`,
    `orders            ${n(totals.orders)} in ${n(totals.posts)} posts, ${n(totals.broken)} without an answer`,
    `answers           ${listed(totals.answers)}`,
    `purchase orders   ${listed(totals.purchaseOrders)}; ${n(totals.unknown)} with a send of ` +
      `unknown outcome; ${n(totals.executed)} executed`,
    `scenarios         ${listed(totals.scenarios)}`,
    `calls             ${n(totals.calls)} of orders with chaos, ` +
      `${((100 * totals.faultyCalls) / Math.max(1, totals.calls)).toFixed(1)} % of them with a ` +
      'fault',
    `journal           ${n(totals.journalLines)} lines`,
    `quotas            a key's limit of an hour reached in ${totals.hourReached} folders, of ` +
      `a day in ${totals.dayReached}; exceeded or refused without cause: ${faults.quota}`,
    `double ${faults.double}, lost ${faults.lost}, wrong ${faults.wrong}, unfinished ` +
      `${faults.unfinished}, lying answers ${faults.answer}, journal ${faults.journal}, ` +
      `records ${faults.record}, by the checks of the simulation ${faults.opinion}, in the log ` +
      `${faults.error}`,
    `for a person      ${listed(totals.reviews) || 'none'}`,
  ].join('\n')
}
