/**
 * Named places in a running app at which the harness may end the process; nothing of the order
 * engine is changed for it.
 */
import { appendFileSync } from 'node:fs'
import { open as openFileHandle } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { App } from '../../../lib/app/open.js'
import type { Life, Step } from './life.js'
import { probes } from './probes.js'

export type Pass = (step: string) => undefined

const TRACED: Record<string, string> = { 'before the send': 'begins', 'after the send': 'ends' }

/**
 * Kills the process at the step that its life names, and writes its sends down where that is asked
 * for.
 */
export function stepsOf({ crash, trace }: Pick<Life, 'crash' | 'trace'>): Pass {
  let passed = 0
  return (step) => {
    if (trace !== undefined && TRACED[step])
      appendFileSync(trace, `${TRACED[step]} ${process.pid}\n`)
    if (crash?.step === step && ++passed === crash.n)
      process.kill(process.pid, crash.stop ? 'SIGSTOP' : 'SIGKILL')
    return undefined
  }
}

/**
 * Adds the places around the order engine: commits of the system of record, the journal's file,
 * calls of simulated distributors.
 */
export async function watchApp({ ctx: { engine } }: App, pass: Pass): Promise<void> {
  const named = (step: Step) => pass(step)
  const { atomic } = engine
  engine.atomic = async (ctx, fn) => {
    if (ctx.db.isTransaction) return atomic(ctx, fn)
    const result = await atomic(ctx, async (tx) => {
      const done = await fn(tx)
      named('before a commit')
      return done
    })
    named('after a commit')
    return result
  }
  await watchSyncs(named)
  probes.pass = named
}

/** `datasync` is what the journal's file alone is written with. */
async function watchSyncs(named: (step: Step) => void): Promise<void> {
  const file = await openFileHandle(fileURLToPath(import.meta.url))
  const handle = Object.getPrototypeOf(file) as { datasync(): Promise<void> }
  await file.close()
  const { datasync } = handle
  handle.datasync = async function (this: unknown) {
    named('journal written')
    await datasync.call(this)
    named('journal on the disk')
  }
}
