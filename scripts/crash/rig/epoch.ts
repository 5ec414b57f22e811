/** One state folder from its first order to the last check. */
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { HOUR } from '../../../lib/core/clock.js'
import { openArena } from './arena.js'
import type { Arena, Way } from './arena.js'
import { busiest, check } from './check.js'
import type { Fault } from './check.js'
import { startClock, timeOf } from './clock.js'
import { STOPPED, liveAndDie, liveAndStop, planDeath } from './deaths.js'
import type { Death } from './deaths.js'
import { DESCRIBED, openHouse } from './documents.js'
import { drain } from './drain.js'
import { strayErrors } from './errors.js'
import { readFacts } from './facts.js'
import { atMost } from './process.js'
import { streamOf } from './random.js'
import type { Random } from './random.js'
import { makeShopFolder } from './shop.js'
import type { CrashShop } from './shop.js'
import { overlapsIn } from './trace.js'
import { BEGINNING } from './workshop.js'
import { addFolder, count } from './totals.js'
import type { Totals } from './totals.js'

/** What is ordered on a folder, and how fast its clock runs there. */
export interface Kind {
  /** Ten minutes of it in one second. */
  speed: number
  /**
   * Milliseconds of its clock after which it is let settle: nobody sends an order again that is a
   * day old.
   */
  longest: number
  callers: number
  chaos: number
  watched: number
  /** Pairs of callers at two processes, of which either is killed. */
  pairs?: number
  /** Of distributors that documents describe: orders as files and as messages. */
  described?: boolean
}

export const CHAOS: Kind = { speed: 600, longest: 10 * HOUR, callers: 4, chaos: 35, watched: 1 }
/**
 * Orders of one key, as many as its quotas let through: sixty an hour for more than eight hours,
 * and then no more that day.
 */
export const QUOTA: Kind = { speed: 300, longest: 12 * HOUR, callers: 0, chaos: 0, watched: 6 }

export const DOCUMENTS: Kind = { ...CHAOS, chaos: 0, watched: 0, described: true }

/** A server and a process with the library, which place the same orders at the same time. */
export const PAIRS: Kind = {
  speed: 600,
  longest: 10 * HOUR,
  callers: 2,
  chaos: 35,
  watched: 2,
  pairs: 2,
}

export interface EpochOptions {
  /** Where folders are made; holds `template`, a shop. */
  root: string
  bundle: string
  shop: CrashShop
  seed: number
  name: string
  cycles: number
  kind: Kind
  plan?: (random: Random, cycle: number) => Death
  /** Milliseconds for files and calls that tell nothing afterwards. */
  others?: number
}

export interface EpochResult {
  cycles: number
  faults: Fault[]
  dir: string
  log: string
}

/**
 * Runs so many cycles on a fresh folder, lets all settle, and checks. The folder stays where
 * something was wrong.
 */
export async function runEpoch(options: EpochOptions, totals: Totals): Promise<EpochResult> {
  const dir = join(options.root, options.name)
  const exchange = `${dir}.exchange`
  const { described = false, speed } = options.kind
  const shop = described
    ? await makeShopFolder(dir, () => BEGINNING, { exchange })
    : (cpSync(join(options.root, 'template'), dir, { recursive: true }), options.shop)
  const started = startClock(BEGINNING, speed)
  let arena: Arena | undefined
  const house = described
    ? await openHouse(exchange, { clock: () => arena?.clock() ?? started, seed: options.seed })
    : undefined
  const trace = options.kind.pairs ? `${dir}.trace` : undefined
  arena = openArena({
    ...options,
    ...options.kind,
    dir,
    shop,
    clock: started,
    ...(house && { house, distids: DESCRIBED }),
    ...(trace !== undefined && { trace }),
  })
  const faults: Fault[] = []
  const done = { cycles: 0 }
  try {
    await killAgainAndAgain(arena, options, totals, done)
    await liveAndStop(arena, () =>
      liveBeside(arena, options.kind, () => atMost(60_000, arena.stopCallers())),
    )
    await drain(arena, options.others)
    const now = timeOf(arena.clock())
    const facts = await readFacts(dir, now, house?.taken)
    const checked = check(facts, arena.ledger.answers)
    if (trace !== undefined)
      faults.push(...overlapsIn(trace).map((text): Fault => ({ kind: 'wrong', text })))
    faults.push(
      ...checked.faults,
      ...arena.ledger.faults.map((text): Fault => ({ kind: 'answer', text })),
      ...strayErrors(arena.log),
    )
    addFolder(totals, facts, arena.ledger, checked, busiest(facts, options.shop.quotaKeyId))
  } catch (error) {
    faults.push({
      kind: 'unfinished',
      text: error instanceof Error ? (error.stack ?? error.message) : String(error),
    })
    totals.faults.unfinished++
  } finally {
    await arena.close()
    await house?.close()
  }
  totals.orders += arena.orders
  if (faults.length === 0)
    for (const path of [dir, arena.log, `${dir}.trace`, exchange])
      rmSync(path, { recursive: true, force: true })
  return { ...done, faults, dir, log: arena.log }
}

async function killAgainAndAgain(
  arena: Arena,
  { seed, cycles, kind, plan = planDeath }: EpochOptions,
  totals: Totals,
  done: { cycles: number },
): Promise<void> {
  arena.startCallers()
  const lives = async (way: Way) => {
    const deaths = streamOf(seed, `deaths of the ${way}`)
    while (done.cycles < cycles && timeOf(arena.clock()) < BEGINNING + kind.longest) {
      const { cause, startedIn } = await liveAndDie(
        arena,
        deathOf(way, plan(deaths, done.cycles)),
        way,
      )
      count(totals.deaths, way === 'server' ? cause : `${cause} (library)`)
      if (startedIn !== null && way === 'server') totals.starts.push(Math.round(startedIn))
      if (cause === STOPPED) continue
      totals.cycles++
      done.cycles++
    }
  }
  await Promise.all([lives('server'), ...(kind.pairs ? [lives('library')] : [])])
}

/** A library process has no requests to wait for: whoever closes it ends its own calls. */
const deathOf = (way: Way, death: Death): Death =>
  way === 'library' && death.kind === 'stop' ? { ...death, kind: 'random' } : death

/** Where there are pairs, the other process lives as well. */
async function liveBeside(
  arena: Arena,
  { pairs }: Kind,
  during: () => Promise<void>,
): Promise<void> {
  await (pairs ? liveAndStop(arena, during, { way: 'library' }) : during())
}

/** What a person needs to find out what went wrong. */
export function faultText({ faults, dir, log }: EpochResult, { seed }: { seed: number }): string {
  const tail = readFileSync(log, 'utf8').trim().split('\n').slice(-20)
  return [
    `${faults.length} faults; seed ${seed}, folder ${dir}`,
    ...faults.slice(0, 60).map(({ kind, text }) => `  ${kind}: ${text}`),
    `the last lines of ${log}:`,
    ...tail.map((line) => `  ${line.slice(0, 600)}`),
  ].join('\n')
}
