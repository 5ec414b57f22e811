/**
 * One fault at a time, at every place that there is: the N-th transaction, write or call of an
 * order fails, for N = 1, 2, ... until a run completes without meeting it (the way in which SQLite
 * is tested).
 */
import { run } from './folder.js'
import type { Disk, Folder } from './folder.js'
import type { DbFault, Life } from './life.js'
import { CALL_FAULTS } from './world.js'
import type { CallFault, Nature, Plan, SearchFault } from './world.js'

const SECOND = 1_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** As time goes by until a day is over, in which everything must come to its end. */
const PAUSES = [
  SECOND,
  5 * SECOND,
  5 * SECOND,
  20 * SECOND,
  MINUTE,
  5 * MINUTE,
  11 * MINUTE,
  2 * MINUTE,
  11 * MINUTE,
  2 * MINUTE,
  20 * MINUTE,
  HOUR,
  6 * HOUR,
  12 * HOUR,
  6 * HOUR,
]
const OVER: readonly string[] = ['placed', 'rejected', 'expired', 'review']

type What = 'transaction' | 'write' | 'datasync' | 'call' | 'search' | 'refusal'
export type SweepFault =
  | { what: 'transaction'; fault: DbFault }
  | { what: 'write' | 'datasync'; fault: 'ENOSPC' | 'EIO' }
  | { what: 'call' | 'refusal'; fault: CallFault }
  | { what: 'search'; fault: SearchFault }

export const DISK_FAULTS: SweepFault[] = [
  ...(['full', 'io before', 'io after', 'ours'] as const).map((fault) => ({
    what: 'transaction' as const,
    fault,
  })),
  ...(['ENOSPC', 'EIO'] as const).flatMap((fault) => [
    { what: 'write' as const, fault },
    { what: 'datasync' as const, fault },
  ]),
]
export const DISTRIBUTOR_FAULTS: SweepFault[] = [
  ...CALL_FAULTS.map((fault) => ({ what: 'call' as const, fault })),
  ...(['cut', 'hang', 'garbage', 'slow'] as const).map((fault) => ({
    what: 'search' as const,
    fault,
  })),
]
/** The call goes wrong, and where the order is sent again, the distributor does not want it. */
export const REFUSALS: SweepFault[] = (
  ['refused', 'cutBefore', 'cutAfter', 'late', 'garbage'] as const
).map((fault) => ({ what: 'refusal', fault }))
export const EVERY_FAULT = [...DISK_FAULTS, ...DISTRIBUTOR_FAULTS]

/** Makes the n-th of its kind fail. */
class Injection implements Disk, Plan {
  isOn = false
  hits = 0
  /** An order was refused. */
  isRefused = false
  #target: SweepFault = { what: 'transaction', fault: 'full' }
  #nth = 0
  #count = 0
  #lost = false

  aim(target: SweepFault, nth: number): void {
    this.#target = target
    this.#nth = nth
    this.#count = 0
    this.hits = 0
    this.isRefused = false
    // Without a reply that gets lost nobody searches.
    this.#lost = target.what === 'search'
    this.isOn = true
  }

  transaction(): DbFault | null {
    return this.#meets('transaction') && this.#target.what === 'transaction'
      ? this.#target.fault
      : null
  }

  journal(call: 'write' | 'datasync'): Error | null {
    return this.#meets(call)
      ? Object.assign(new Error('simulated'), { code: this.#target.fault })
      : null
  }

  call(isLast: boolean): CallFault | null {
    if (this.isOn && this.#lost && isLast) {
      this.#lost = false
      return 'cutAfter'
    }
    const { what, fault } = this.#target
    return (what === 'call' || what === 'refusal') && this.#meets(what) ? fault : null
  }

  refuses(sends: number): string | null {
    if (!this.isOn || this.#target.what !== 'refusal' || sends === 1) return null
    this.isRefused = true
    return 'out of stock'
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
  /** How often each fault was met. */
  cases: Map<SweepFault, number>
  /** What was wrong, each with the case in which it was. */
  wrong: string[]
}

/**
 * Distributors that tell enough of every order, sooner or later, so that there is one right end for
 * each case.
 */
const CLEAR: Partial<Nature> = { hasFind: true, validatesFirst: true, lag: MINUTE, unreported: 0 }

/** Sweeps over an order of two groups of one distributor. */
export async function sweep({
  seed,
  distid,
  faults,
}: {
  seed: number
  distid: string
  faults: readonly SweepFault[]
}): Promise<Swept> {
  const injection = new Injection()
  const swept: Swept = { cases: new Map(faults.map((fault) => [fault, 0])), wrong: [] }
  const { violations } = await run(
    { seed, crashes: 0, faults: 0, jumps: false, nature: CLEAR, disk: injection },
    async (folder) => {
      folder.natures.get(distid)!.tells.content = true
      folder.world.plan = injection
      folder.callers.losesAnswers = false
      for (const fault of faults) {
        for (let nth = 1; ; nth++) {
          const name = `${fault.what}-${fault.fault.replaceAll(' ', '-')}-${nth}`
          injection.aim(fault, nth)
          await new Case(
            folder,
            injection,
            { name, distid, fault },
            (what) => void swept.wrong.push(`${distid} ${name}: ${what}`),
          ).run()
          swept.wrong.push(
            ...folder.watch.violations
              .splice(0)
              .map(({ rule, detail }) => `${distid} ${name}: ${rule}: ${detail}`),
          )
          if (injection.hits === 0) break
          swept.cases.set(fault, swept.cases.get(fault)! + 1)
        }
      }
    },
  )
  swept.wrong.push(...violations.map(({ rule, detail }) => `${distid}: ${rule}: ${detail}`))
  return swept
}

class Case {
  constructor(
    readonly folder: Folder,
    readonly injection: Injection,
    readonly of: { name: string; distid: string; fault: SweepFault },
    readonly wrong: (what: string) => void,
  ) {}

  async run(): Promise<void> {
    const { folder, injection } = this
    const life = folder.begin({ outlivesDisk: true })
    // As a server does, which tries again where it cannot have the sender's place yet.
    let giveBack: (() => void) | null = null
    const take = () =>
      folder.wait([
        {
          life,
          promise: life.sender.lease().then((lease) => {
            giveBack = lease && lease.release
          }),
        },
      ])
    await take()
    await this.#order(life)
    await this.#later(life, async () => {
      if (!giveBack) await take()
    })
    if (life.fatal === null) {
      if (!(await this.#isOver()))
        this.wrong('nothing had failed for good, and the order did not come to its end')
      ;(giveBack as (() => void) | null)?.()
      await folder.wait([{ life, promise: life.sender.stop() }])
    } else await this.#mayDoNothing(life)
    injection.isOn = false
    await folder.end(life, 'it had been stopped')
    await this.#restart()
  }

  #order(life: Life): Promise<void> {
    return this.folder.wait([
      { life, promise: this.folder.callers.order(life, this.of.name, this.of.distid) },
    ])
  }

  async #isOver(): Promise<boolean> {
    const rows = await this.#states()
    return (
      rows.length > 0 &&
      rows.every((state) => OVER.includes(state)) &&
      !this.folder.callers.isOpen(this.of.name)
    )
  }

  async #states(): Promise<string[]> {
    return (await this.#orders()).map(({ state }) => state)
  }

  async #orders() {
    const { read } = this.folder.shop.app.ctx
    const last = await read
      .selectFrom('placement')
      .select('id')
      .where('order_id', '=', this.of.name)
      .orderBy('id', 'desc')
      .executeTakeFirst()
    return read
      .selectFrom('purchase_order')
      .select(['state', 'client_ref', 'distributor_order_id'])
      .where('placement_id', '=', last?.id ?? 0)
      .execute()
  }

  /**
   * What a distributor has is placed, and once; what it has not is so only where nobody may send it
   * again.
   */
  async #checkEnds(): Promise<void> {
    const {
      folder: { world, natures },
      injection,
    } = this
    const { recovery } = natures.get(this.of.distid)!
    const absent = injection.isRefused
      ? 'rejected'
      : recovery === 'file' || recovery === 'one_shot'
        ? 'review'
        : 'placed'
    for (const { state, client_ref: ref, distributor_order_id: number } of await this.#orders()) {
      const there = world.executions.filter(({ clientRef }) => clientRef === ref)
      const times = there.length
      const end = times > 0 ? 'placed' : absent
      // A file is taken in before it has a number, which comes with news.
      if (
        state === 'placed' &&
        number !== there[0]?.number &&
        !(number === null && recovery === 'file')
      )
        this.wrong(`${ref} is placed as ${number}, and is ${there[0]?.number}`)
      if (state !== end || times !== (end === 'placed' ? 1 : 0))
        this.wrong(`${ref} is ${state} and was executed ${times} times, and should be ${end}`)
    }
  }

  async #later(life: Life, before: () => Promise<void>): Promise<void> {
    for (const pause of PAUSES) {
      if (life.fatal !== null || life.isDead || (await this.#isOver())) return
      this.folder.time.advance(pause)
      await before()
      if (this.folder.callers.isOpen(this.of.name)) await this.#order(life)
      await this.folder.wait([{ life, promise: life.sender.pass() }])
    }
  }

  /**
   * The disk has failed: what is committed is not known, so nothing is taken in and nothing sent
   * until the process is another.
   */
  async #mayDoNothing(life: Life): Promise<void> {
    const { folder } = this
    const { world, callers } = folder
    const before = world.requests
    const name = `${this.of.name}-then`
    await folder.wait([
      { life, promise: callers.order(life, name, this.of.distid) },
      {
        life,
        promise: life.sender.pass().then(
          () => this.wrong('it passes over orders after the disk failed'),
          () => {},
        ),
      },
    ])
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
    if (!(await this.#isOver())) this.wrong('a new process does not bring the order to its end')
    await this.#checkEnds()
    const { what, fault } = this.of.fault
    const states = await this.#states()
    // A full disk is waited for: nothing is in doubt because of it.
    if ((fault === 'full' || fault === 'ENOSPC') && !states.every((state) => state === 'placed'))
      this.wrong(`a full disk (${what}) ends with ${states.join(', ')}`)
    await folder.end(life, 'it had been stopped')
  }
}
