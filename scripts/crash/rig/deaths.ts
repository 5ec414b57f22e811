/**
 * How a life of the server ends: by its own hand at a named step, by ours at any time, or as an
 * operator ends it.
 */
import type { Arena, Way } from './arena.js'
import { httpDoor, libraryDoor } from './doors.js'
import { STEPS } from './life.js'
import type { Life, Step } from './life.js'
import type { Process } from './process.js'
import type { Random } from './random.js'

export type Death =
  | { kind: 'step'; step: Step; n: number }
  | { kind: 'random'; after: number }
  | { kind: 'start-up'; after: number }
  | { kind: 'stop'; after: number }

/**
 * How long a life waits for its step, and how long a server may take to start, in milliseconds of
 * real time.
 */
const LONGEST_LIFE = 2_500
const LONGEST_START = 15_000
const LONGEST_STOP = 70_000

/** What a life ends of that is told to stop under load, and ends with 0. */
export const STOPPED = 'told to stop'

export function planDeath(random: Random): Death {
  const chance = random.next()
  if (chance < 0.55)
    return { kind: 'step', step: random.pick(STEPS), n: random.pick([1, 1, 2, 2, 3, 5]) }
  if (chance < 0.88) return { kind: 'random', after: random.int(0, 500) }
  // Now and then one lives long enough for a settle window to pass.
  if (chance < 0.92) return { kind: 'random', after: random.int(500, 3_000) }
  return chance < 0.97
    ? { kind: 'start-up', after: random.int(0, 60) }
    : { kind: 'stop', after: random.int(100, 500) }
}

/**
 * One life, to its death. Returns what it died of, and how long it took to listen; throws where the
 * server ended by itself.
 */
export async function liveAndDie(
  arena: Arena,
  death: Death,
  way: Way = 'server',
): Promise<{ cause: string; startedIn: number | null }> {
  const server = arena.nextProcess(way)
  const begun = performance.now()
  const life: Life = { ...lifeIn(arena), ...(death.kind === 'step' && { crash: death }) }
  const early =
    death.kind === 'start-up' ? setTimeout(() => server.kill('SIGKILL'), death.after) : undefined
  const stuck = setTimeout(() => server.kill('SIGABRT'), LONGEST_START)
  const ready = await server.begin(life)
  clearTimeout(stuck)
  const startedIn = ready ? performance.now() - begun : null
  let killed = false
  if (ready) {
    clearTimeout(early)
    arena.entrances[way].open(ready.url === undefined ? libraryDoor(server) : httpDoor(ready.url))
    killed = await endAfter(server, death)
  }
  const { code, signal } = await server.ended
  arena.entrances[way].open(null)
  const wasStopped = ready !== null && death.kind === 'stop'
  if (wasStopped ? code !== 0 : signal !== 'SIGKILL')
    throw new Error(
      `a ${way} process ended with ${signal ?? code} (${death.kind}); see ${arena.log}`,
    )
  if (wasStopped) return { cause: STOPPED, startedIn }
  if (!ready && death.kind === 'start-up') return { cause: 'start-up', startedIn }
  return { cause: death.kind === 'step' && !killed ? death.step : 'random', startedIn }
}

const lifeIn = ({ dir, clock, trace, house }: Arena): Life => ({
  dir,
  clock: clock(),
  ...(trace !== undefined && { trace }),
  ...(house && { mail: house.mail }),
})

/**
 * True when it was we who ended it. A server that is told to stop has its callers go on with what
 * they are at.
 */
async function endAfter(server: Process, death: Death): Promise<boolean> {
  let killed = false
  const end = () => {
    killed = true
    server.kill('SIGKILL')
  }
  const timers =
    death.kind === 'stop'
      ? [
          setTimeout(() => server.kill('SIGTERM'), death.after),
          setTimeout(() => server.kill('SIGABRT'), death.after + LONGEST_STOP),
        ]
      : [
          setTimeout(
            end,
            death.kind === 'random' ? death.after : death.kind === 'step' ? LONGEST_LIFE : 0,
          ),
        ]
  await server.ended
  for (const timer of timers) clearTimeout(timer)
  return killed
}

/** A life that ends as an operator ends it; `during` runs while it serves. */
export async function liveAndStop(
  arena: Arena,
  during: () => Promise<void>,
  { way = 'server' as Way, serving = true, calm = false } = {},
): Promise<void> {
  const server = arena.nextProcess(way)
  const ready = await server.begin({ ...lifeIn(arena), calm })
  if (!ready) throw new Error(`a ${way} process ended before it was ready; see ${arena.log}`)
  if (serving)
    arena.entrances[way].open(ready.url === undefined ? libraryDoor(server) : httpDoor(ready.url))
  await during()
  arena.entrances[way].open(null)
  server.kill('SIGTERM')
  const { code, signal } = await server.ended
  if (code !== 0)
    throw new Error(
      `a ${way} process did not end as it should (${signal ?? code}); see ${arena.log}`,
    )
}
