/**
 * One fault at a time, at every place that there is: the N-th transaction, write or call of an order fails, for N = 1, 2, ...
 * until a run completes without meeting it (the way in which SQLite is tested).
 */
import { run } from './folder.js'
import type { Disk, Folder } from './folder.js'
import type { DbFault, Life } from './life.js'
import { CALL_FAULTS } from './world.js'
import type { CallFault, Plan, SearchFault } from './world.js'

const SECOND = 1_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** As time goes by until a day is over, in which everything must come to its end. */
const PAUSES = [SECOND, 5 * SECOND, 5 * SECOND, 20 * SECOND, MINUTE, 5 * MINUTE, 11 * MINUTE, 2 * MINUTE, 11 * MINUTE, 2 * MINUTE, 20 * MINUTE, HOUR, 6 * HOUR, 12 * HOUR, 6 * HOUR]
const OVER: readonly string[] = ['placed', 'rejected', 'expired', 'review']

type What = 'transaction' | 'write' | 'datasync' | 'call' | 'search'
export type SweepFault = { what: 'transaction'; fault: DbFault } | { what: 'write' | 'datasync'; fault: 'ENOSPC' | 'EIO' } | { what: 'call'; fault: CallFault } | { what: 'search'; fault: SearchFault }

export const DISK_FAULTS: SweepFault[] = [
  ...(['full', 'io before', 'io after', 'ours'] as const).map((fault) => ({ what: 'transaction' as const, fault })),
  ...(['ENOSPC', 'EIO'] as const).flatMap((fault) => [{ what: 'write' as const, fault }, { what: 'datasync' as const, fault }]),
]
export const DISTRIBUTOR_FAULTS: SweepFault[] = [
  ...CALL_FAULTS.map((fault) => ({ what: 'call' as const, fault })),
  ...(['cut', 'hang', 'garbage', 'slow'] as const).map((fault) => ({ what: 'search' as const, fault })),
]
export const EVERY_FAULT = [...DISK_FAULTS, ...DISTRIBUTOR_FAULTS]

/** Makes the n-th of its kind fail. */
class Injection implements Disk, Plan {
  isOn = false
  hits = 0
  #target: SweepFault = { what: 'transaction', fault: 'full' }
  #nth = 0
  #count = 0
  #lost = false

  aim(target: SweepFault, nth: number): void {
    this.#target = target
    this.#nth = nth
    this.#count = 0
    this.hits = 0
    // Without a reply that gets lost nobody searches.
    this.#lost = target.what === 'search'
    this.isOn = true
  }

  transaction(): DbFault | null {
    return this.#meets('transaction') && this.#target.what === 'transaction' ? this.#target.fault : null
  }

  journal(call: 'write' | 'datasync'): Error | null {
    return this.#meets(call) ? Object.assign(new Error('simulated'), { code: this.#target.fault }) : null
  }

  call(isLast: boolean): CallFault | null {
    if (this.isOn && this.#lost && isLast) {
      this.#lost = false
      return 'cutAfter'
    }
    return this.#meets('call') && this.#target.what === 'call' ? this.#target.fault : null
  }

  search(): SearchFault | null {
    return this.#meets('search') && this.#target.what === 'search' ? this.#target.fault : null
  }

  #meets(what: What): boolean {
    if (!this.isOn || what !== this.#target.what || ++this.#count !== this.#nth) return false
    this.hits++
    return true
  }
}

export interface Swept {
  cases: number
  /** What was wrong, each with the case in which it was. */
  wrong: string[]
}

/** Sweeps over an order of two groups of one distributor. */
export async function sweep({ seed, distid, faults }: { seed: number; distid: string; faults: readonly SweepFault[] }): Promise<Swept> {
  const injection = new Injection()
  const swept: Swept = { cases: 0, wrong: [] }
  const { violations } = await run({ seed, crashes: 0, faults: 0, jumps: false, disk: injection }, async (folder) => {
    folder.world.plan = injection
    folder.callers.losesAnswers = false
    for (const fault of faults) {
      for (let nth = 1; ; nth++) {
        const name = `${fault.what}-${fault.fault.replaceAll(' ', '-')}-${nth}`
        injection.aim(fault, nth)
        await new Case(folder, injection, { name, distid, fault }, (what) => void swept.wrong.push(`${distid} ${name}: ${what}`)).run()
        swept.wrong.push(...folder.watch.violations.splice(0).map(({ rule, detail }) => `${distid} ${name}: ${rule}: ${detail}`))
        if (injection.hits === 0) break
        swept.cases++
      }
    }
  })
  swept.wrong.push(...violations.map(({ rule, detail }) => `${distid}: ${rule}: ${detail}`))
  return swept
}

class Case {
  constructor(readonly folder: Folder, readonly injection: Injection, readonly of: { name: string; distid: string; fault: SweepFault }, readonly wrong: (what: string) => void) {}

  async run(): Promise<void> {
    const { folder, injection } = this
    const life = folder.begin({ outlivesDisk: true })
    // As a server does, which tries again where it cannot have the sender's place yet.
    let giveBack: (() => void) | null = null
    const take = () => folder.wait([{ life, promise: life.sender.lease().then((release) => { giveBack = release }) }])
    await take()
    await this.#order(life)
    await this.#later(life, async () => { if (!giveBack) await take() })
    if (life.fatal === null) {
      if (!await this.#isOver()) this.wrong('nothing had failed for good, and the order did not come to its end')
      ;(giveBack as (() => void) | null)?.()
      await folder.wait([{ life, promise: life.sender.stop() }])
    } else await this.#mayDoNothing(life)
    injection.isOn = false
    await folder.end(life, 'it had been stopped')
    await this.#restart()
  }

  #order(life: Life): Promise<void> {
    return this.folder.wait([{ life, promise: this.folder.callers.order(life, this.of.name, this.of.distid) }])
  }

  async #isOver(): Promise<boolean> {
    const rows = await this.#states()
    return rows.length > 0 && rows.every((state) => OVER.includes(state)) && !this.folder.callers.isOpen(this.of.name)
  }

  async #states(): Promise<string[]> {
    const { read } = this.folder.shop.app.ctx
    const last = await read.selectFrom('placement').select('id').where('order_id', '=', this.of.name).orderBy('id', 'desc').executeTakeFirst()
    return (await read.selectFrom('purchase_order').select('state').where('placement_id', '=', last?.id ?? 0).execute()).map(({ state }) => state)
  }

  async #later(life: Life, before: () => Promise<void>): Promise<void> {
    for (const pause of PAUSES) {
      if (life.fatal !== null || life.isDead || await this.#isOver()) return
      this.folder.time.advance(pause)
      await before()
      if (this.folder.callers.isOpen(this.of.name)) await this.#order(life)
      await this.folder.wait([{ life, promise: life.sender.pass() }])
    }
  }

  /** The disk has failed: what is committed is not known, so nothing is taken in and nothing sent until the process is another. */
  async #mayDoNothing(life: Life): Promise<void> {
    const { folder } = this
    const { world, callers } = folder
    const before = world.requests
    const name = `${this.of.name}-then`
    await folder.wait([{ life, promise: callers.order(life, name, this.of.distid) }, { life, promise: life.sender.pass().then(() => this.wrong('it passes over orders after the disk failed'), () => {}) }])
    const said = callers.answers.findLast(({ orderId }) => orderId === name)?.said
    if (said !== 'service_unavailable') this.wrong(`after the disk failed it answers ${said}`)
    if (world.requests > before) this.wrong('it asks distributors after the disk failed')
  }

  /** Another life puts all right, without a fault. */
  async #restart(): Promise<void> {
    const { folder } = this
    const life = folder.begin()
    if (folder.callers.isOpen(this.of.name)) await this.#order(life)
    await this.#later(life, async () => {})
    if (!await this.#isOver()) this.wrong('a new process does not bring the order to its end')
    const { what, fault } = this.of.fault
    const states = await this.#states()
    // A full disk is waited for: nothing is in doubt because of it.
    if ((fault === 'full' || fault === 'ENOSPC') && !states.every((state) => state === 'placed')) this.wrong(`a full disk (${what}) ends with ${states.join(', ')}`)
    await folder.end(life, 'it had been stopped')
  }
}
