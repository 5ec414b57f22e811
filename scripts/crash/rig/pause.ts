/**
 * A sender that is stopped for minutes, and another process beside it that must not take its place.
 */
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openArena } from './arena.js'
import type { Arena } from './arena.js'
import { check } from './check.js'
import { startClock, timeOf } from './clock.js'
import { httpDoor } from './doors.js'
import { liveAndStop } from './deaths.js'
import { drain } from './drain.js'
import { strayErrors } from './errors.js'
import { PAIRS } from './epoch.js'
import { readFacts } from './facts.js'
import type { Step } from './life.js'
import { atMost, sleep } from './process.js'
import { overlapsIn } from './trace.js'
import { BEGINNING } from './workshop.js'
import type { Workshop } from './workshop.js'

/**
 * Places at which a sender is stopped: with a send under way, with its answer not written down,
 * with a transaction open.
 */
export const STOPS: readonly Step[] = [
  'before the send',
  'distributor called',
  'after the send',
  'before a commit',
  'stage kept',
  'journal written',
]

export interface PauseResult {
  faults: string[]
  /** Answers that the other process gave meanwhile. */
  answers: string[]
}

/**
 * Stops the server at a step for so many milliseconds of real time, 600 times as many of the shop's
 * clock.
 */
export async function pauseAt(
  workshop: Workshop,
  step: Step,
  hold: number,
  seed: number,
): Promise<PauseResult> {
  const dir = join(workshop.root, `pause-${process.pid}-${step.replaceAll(' ', '-')}`)
  rmSync(dir, { recursive: true, force: true })
  cpSync(join(workshop.root, 'template'), dir, { recursive: true })
  const trace = `${dir}.trace`
  const arena = openArena({
    ...workshop,
    ...PAIRS,
    watched: 0,
    dir,
    trace,
    seed,
    clock: startClock(BEGINNING, PAIRS.speed),
  })
  const result: PauseResult = { faults: [], answers: [] }
  try {
    arena.startCallers()
    await liveAndStop(arena, () => stopAndGoOn(arena, { step, hold, trace }, result), {
      way: 'library',
    })
    await drain(arena)
    const facts = await readFacts(dir, timeOf(arena.clock()))
    result.faults.push(
      ...check(facts, arena.ledger.answers).faults.map(({ kind, text }) => `${kind}: ${text}`),
      ...arena.ledger.faults,
      ...overlapsIn(trace),
      ...strayErrors(arena.log).map(({ text }) => text),
    )
  } finally {
    await arena.close()
  }
  if (result.faults.length === 0)
    for (const path of [dir, arena.log, trace]) rmSync(path, { recursive: true, force: true })
  return result
}

async function stopAndGoOn(
  arena: Arena,
  { step, hold, trace }: { step: Step; hold: number; trace: string },
  result: PauseResult,
): Promise<void> {
  const server = arena.nextProcess('server')
  try {
    const ready = await server.begin({
      dir: arena.dir,
      clock: arena.clock(),
      trace,
      crash: { step, n: 3, stop: true },
    })
    if (!ready) throw new Error(`the server does not start; see ${arena.log}`)
    arena.entrances.server.open(httpDoor(ready.url!))
    if (!(await isStopped(server.pid))) throw new Error(`the server never came to "${step}"`)
    const before = sendsIn(trace)
    const from = arena.ledger.answers.length
    await sleep(hold)
    const meanwhile = arena.ledger.answers.slice(from)
    if (sendsIn(trace) !== before)
      result.faults.push(`while the sender stood at "${step}", another process sent`)
    for (const { orderId, status, code, body } of meanwhile) {
      const told = `${status} ${code ?? body.data!.status}`
      result.answers.push(told)
      // What was sent before the stop may be told now; who cannot write because the stopped one
      // holds the file says so.
      if (status >= 500 && code !== 'service_unavailable')
        result.faults.push(`while the sender stood at "${step}", ${orderId} was answered ${told}`)
    }
    server.kill('SIGCONT')
    await sleep(2_000)
    await atMost(60_000, arena.stopCallers())
  } finally {
    arena.entrances.server.open(null)
    server.kill('SIGCONT')
    server.kill('SIGTERM')
  }
  const { code, signal } = await server.ended
  if (code !== 0)
    result.faults.push(`the server did not end as it should (${signal ?? code}); see ${arena.log}`)
}

/** Waits until the process stands still. */
async function isStopped(pid: number): Promise<boolean> {
  for (const end = performance.now() + 20_000; performance.now() < end; await sleep(20)) {
    if (
      existsSync(`/proc/${pid}/stat`) &&
      readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.startsWith('T')
    )
      return true
  }
  return false
}

const sendsIn = (trace: string) =>
  existsSync(trace) ? readFileSync(trace, 'utf8').split('\n').length : 0
