/**
 * One folder from its first order to its last: lives that end anywhere, then a time without faults
 * in which all must come out right.
 */
import type { DbFault, LifeOptions, Work } from './life.js'
import { Life, settle } from './life.js'
import { verifyJournal } from '../../lib/orders/journal/verify.js'
import { tellStrays } from '../../server/testing/error-watch.js'
import { readBooks } from './books.js'
import { Callers } from './callers.js'
import { Changes } from './changes.js'
import { connectorFor, echo } from './connectors.js'
import { drainFolder } from './drain.js'
import { guardFolder } from './files.js'
import { violations } from './invariants.js'
import type { OrderRow, Violation } from './invariants.js'
import { EXPECTED } from './errors.js'
import { drawNatures } from './natures.js'
import { Rng } from './random.js'
import { openShop } from './shop.js'
import type { Shop } from './shop.js'
import { VirtualTime } from './time.js'
import { Watch } from './watch.js'
import { World } from './world.js'
import type { Nature } from './world.js'

export interface FolderOptions {
  seed: number
  /** Processes that die in it. */
  crashes: number
  /** Share of distributors' calls that go wrong; drawn by default, 0.3 at least. */
  faults?: number
  /** The same of transactions and of calls of the journal's file; none in most folders. */
  diskFaults?: number
  /** The machine's clock is set now and then; in some folders. */
  jumps?: boolean
  /** What all its distributors are like, instead of being drawn. */
  nature?: Partial<Nature>
  /** What the disk does, instead of being drawn. */
  disk?: Disk
  /** Told everything that happens. */
  trace?: (text: string) => void
  /** Only what came of it counts, not whether it was written down before it was sent. */
  outcomesOnly?: boolean
}

export interface Disk {
  transaction(): DbFault | null
  journal(call: 'write' | 'datasync'): Error | null
}

export interface FolderResult {
  seed: number
  crashes: number
  /** How often a process died at each place. */
  places: Map<string, number>
  orders: number
  posts: number
  executed: number
  calls: number
  faulty: number
  reviews: number
  violations: Violation[]
}

const DAY = 86_400_000
const MINUTE = 60_000
/** So many open orders are enough: they are brought to an end before there are new ones. */
const CROWD = 5

export class Folder {
  readonly rng: Rng
  readonly time = new VirtualTime()
  readonly places = new Map<string, number>()
  /** Places that some life has passed. */
  readonly seen = new Set<string>()
  readonly locks = new Map<string, Life>()
  readonly natures: Map<string, Nature>
  readonly world: World
  readonly watch: Watch
  crashes = 0
  jumped = false
  /** Nothing goes wrong any more. */
  isDraining = false
  readonly #draw: { diskFaults: number; jumps: boolean }
  readonly #log = tellStrays(EXPECTED, (text) => this.watch.report('error', `in the log: ${text}`))
  #guard!: ReturnType<typeof guardFolder>
  /** Processes that are alive. */
  readonly lives = new Set<Life>()
  shop!: Shop
  callers!: Callers
  changes!: Changes

  constructor(readonly options: FolderOptions) {
    const rng = (this.rng = new Rng(options.seed))
    this.natures = drawNatures(rng)
    for (const nature of this.natures.values()) Object.assign(nature, options.nature)
    const {
      faults = rng.pick([0.3, 0.4, 0.5]),
      diskFaults = rng.pick([0, 0, 0.02]),
      jumps = rng.chance(0.3),
    } = options
    this.#draw = { diskFaults, jumps }
    this.watch = new Watch(this.natures, options.outcomesOnly ?? false, (text) => this.trace(text))
    this.world = new World(this.rng, this.time, this.watch, faults)
  }

  trace(text: () => string): void {
    this.options.trace?.(`${(this.time.steady / 1000).toFixed(1).padStart(9)} ${text()}`)
  }

  async open(): Promise<void> {
    const connectors = new Map(
      [...this.natures].map(([distid, nature]) => [distid, connectorFor(this.world, nature)]),
    )
    this.shop = await openShop(connectors, {
      now: () => this.time.now(),
      monotonic: () => this.time.steady,
      random: (bytes) => this.rng.bytes(bytes),
    })
    this.callers = new Callers(this.rng, this.shop.callers, (text) => this.trace(text))
    this.watch.attach(this.shop.app.ctx)
    this.watch.changes = this.changes = await Changes.open(this.rng, this.shop, (text) =>
      this.trace(text),
    )
    this.#guard = guardFolder(this.shop.dir, {
      point: (name) => this.locks.get('engine')?.point(name),
      process: () => this.locks.get('engine'),
      fault: (call) =>
        this.options.disk
          ? this.options.disk.journal(call)
          : this.#draws(0.3)
            ? Object.assign(new Error('simulated'), { code: this.rng.pick(['ENOSPC', 'EIO']) })
            : null,
      torn: (bytes) => this.rng.int(0, bytes),
      synced: (seq) => {
        this.watch.synced = seq
      },
    })
  }

  get mayJump(): boolean {
    return this.#draw.jumps
  }

  #draws(share: number): boolean {
    const { diskFaults } = this.#draw
    return diskFaults > 0 && !this.isDraining && this.rng.chance(diskFaults * share)
  }

  begin({
    endsAfter,
    endsAt,
    outlivesDisk = false,
  }: Pick<LifeOptions, 'endsAfter' | 'endsAt' | 'outlivesDisk'> = {}): Life {
    const life = new Life({
      app: this.shop.app.ctx,
      log: this.#log,
      random: (bytes) => this.rng.bytes(bytes),
      locks: this.locks,
      outlivesDisk,
      ...(endsAfter !== undefined && { endsAfter }),
      ...(endsAt && { endsAt }),
      passed: (name) => void this.seen.add(name),
      dbFault: () =>
        this.options.disk
          ? this.options.disk.transaction()
          : this.#draws(1)
            ? this.rng.pick<DbFault>(['full', 'full', 'io before', 'io after', 'ours'])
            : null,
    })
    this.trace(
      () =>
        `LIFE ${life.name} begins, ends after ${endsAfter}${endsAt ? ` or at ${endsAt.place}` : ''}`,
    )
    this.lives.add(life)
    this.world.register(life.ctx.now, life)
    return life
  }

  /**
   * The process has ended by itself or is ended here; nothing is done where that has been seen to.
   */
  async end(life: Life, place = 'nothing was going on'): Promise<void> {
    if (!this.lives.delete(life)) return
    life.die(place)
    await life.bury()
    this.trace(() => `LIFE ${life.name} ended: ${life.deathPlace}`)
    // A power cut takes all processes with it.
    const isPowerCut = this.lives.size === 0 && this.rng.chance(0.5)
    this.#guard.died((unsafe) => (isPowerCut ? this.rng.int(0, unsafe) : unsafe), life)
    if (this.lives.size === 0) this.time.forgetInside()
    this.crashes++
    this.places.set(life.deathPlace!, (this.places.get(life.deathPlace!) ?? 0) + 1)
    this.watch.look()
  }

  /** Waits for work of processes, each until it is done or the process dead. */
  async wait(work: readonly Work[]): Promise<void> {
    const watched = work.map(({ life, promise }) => ({
      life,
      promise: promise.catch((error: unknown) => this.watch.failed(error, life)),
    }))
    await settle(this.time, watched, (life) => this.end(life))
  }

  async close(): Promise<void> {
    this.#guard.release()
    await this.shop.close()
  }

  expectations(isDrained: boolean) {
    return {
      accountOf: ({ account }: Pick<OrderRow, 'account'>) =>
        this.changes.accounts.get(account ?? '') ?? '',
      isDrained,
      clockIsTrue: !this.jumped,
      now: this.time.now(),
      tellsRef: (distid: string) =>
        this.natures.get(distid)!.tells.ref || !this.natures.get(distid)!.hasFind,
      echo: (distid: string, po: string) => echo(this.natures.get(distid)!, po),
    }
  }
}

/** Runs one folder to its end. */
export async function runFolder(options: FolderOptions): Promise<FolderResult> {
  return run(options, async (folder) => {
    if (folder.rng.chance(0.08)) await rush(folder)
    if (folder.rng.chance(0.3)) await alike(folder)
    while (folder.crashes < options.crashes && folder.watch.violations.length === 0)
      await liveOnce(folder)
  })
}

/** Places orders in one long life in which nothing goes wrong. */
export async function runCalm({
  seed,
  orders,
}: {
  seed: number
  orders: number
}): Promise<FolderResult> {
  return run({ seed, crashes: 0, faults: 0, diskFaults: 0, jumps: false }, async (folder) => {
    const life = folder.begin()
    while (folder.callers.orders < orders)
      await folder.wait(folder.callers.act(life, true).map((promise) => ({ life, promise })))
    await folder.end(life)
  })
}

/** Opens a folder, lives in it, drains it and looks at what came of it. */
export async function run(
  options: FolderOptions,
  live: (folder: Folder) => Promise<void>,
): Promise<FolderResult> {
  const folder = new Folder(options)
  await folder.open()
  const restore = folder.time.install()
  try {
    await live(folder)
    const { watch, callers, world } = folder
    const reviews = watch.violations.length === 0 ? await drainFolder(folder) : 0
    if (watch.violations.length === 0)
      for (const { where, seq, fault } of (await verifyJournal(folder.shop.app.ctx)).faults)
        watch.report('journal', `the verification finds in ${where}, line ${seq}: ${fault}`)
    if (watch.violations.length === 0)
      watch.violations.push(
        ...violations(
          await readBooks(folder.shop.app.ctx),
          world.executions,
          callers.answers,
          folder.expectations(true),
        ),
      )
    watch.violations.push(...callers.errors.map((detail) => ({ rule: 'error' as const, detail })))
    return {
      seed: options.seed,
      crashes: folder.crashes,
      places: folder.places,
      orders: callers.orders,
      posts: callers.posts,
      executed: world.executions.length,
      calls: world.calls,
      faulty: world.faulty,
      reviews,
      violations: watch.violations,
    }
  } finally {
    restore()
    await folder.close()
  }
}

/** Processes of one folder, mostly one at a time, until all of them have died. */
async function liveOnce(folder: Folder): Promise<void> {
  const { rng, time, callers, watch, lives } = folder
  if (rng.chance(0.03)) await folder.changes.moveDealer()
  const isCrowded = watch.moving > CROWD
  const first = folder.begin(drawEnd(folder, isCrowded))
  const both = rng.chance(0.08) ? [first, folder.begin(drawEnd(folder, isCrowded))] : [first]
  // A server holds the sender's place all the time, a library only for what it does.
  let giveBack: (() => void) | null = null
  if (rng.chance(0.5))
    await folder.wait([
      {
        life: first,
        promise: first.sender.lease().then((lease) => {
          giveBack = lease && lease.release
        }),
      },
    ])
  for (let round = 0; lives.size > 0 && round < 30; round++) {
    const work: Work[] = []
    for (const life of both.filter((each) => lives.has(each))) {
      const what = rng.next()
      if (!isCrowded && what < 0.75)
        for (const promise of callers.act(life, true)) work.push({ life, promise })
      if (isCrowded || what > 0.6) work.push({ life, promise: life.sender.pass() })
      if (rng.chance(0.02)) work.push({ life, promise: folder.changes.logIn() })
      if (rng.chance(0.02)) work.push(stop(folder, life, life === first ? giveBack : null))
    }
    await folder.wait(work)
    if (lives.size > 0 && rng.chance(isCrowded ? 1 : 0.5)) time.advance(pause(folder, isCrowded))
  }
  for (const life of both) {
    if (lives.has(life) && rng.chance(0.5))
      await folder.wait([stop(folder, life, life === first ? giveBack : null)])
    await folder.end(life, 'it had been stopped')
  }
  if (rng.chance(0.6)) time.advance(pause(folder, false))
}

/** It is closed, whatever it is doing, and ends when that is over. */
function stop(folder: Folder, life: Life, giveBack: (() => void) | null): Work {
  giveBack?.()
  return { life, promise: life.sender.stop().then(() => life.die('it had been stopped')) }
}

/** More orders of one key than it may place in an hour, of two processes at the same time. */
async function rush(folder: Folder): Promise<void> {
  for (let i = 0; i < 12 && folder.watch.violations.length === 0; i++) {
    while (folder.lives.size < 2) folder.begin({ endsAfter: folder.rng.int(20, 600) })
    await folder.wait(folder.callers.rush([...folder.lives], 10))
  }
  for (const life of folder.lives) await folder.end(life)
}

/** Orders that only their references tell apart, some of which get lost. */
async function alike(folder: Folder): Promise<void> {
  const { rng, watch, callers, time, lives } = folder
  const distid = rng.pick(['FIL', 'FIL', 'LOO', 'RES'])
  for (let i = 0; i < 4 && watch.violations.length === 0; i++) {
    const life = folder.begin({ endsAfter: rng.int(10, 60) })
    await folder.wait(callers.alike(life, distid).map((promise) => ({ life, promise })))
    for (let round = 0; round < 8 && lives.size > 0; round++) {
      time.advance(rng.pick(SHORT))
      await folder.wait([{ life, promise: life.sender.pass() }])
    }
    await folder.end(life)
  }
}

/** Half of them at once, the others somewhere in particular, so that rare places come up too. */
function drawEnd(
  { rng, seen }: Folder,
  isCrowded: boolean,
): Pick<LifeOptions, 'endsAfter' | 'endsAt'> {
  if (isCrowded) return { endsAfter: rng.chance(0.5) ? rng.int(1, 40) : rng.int(40, 400) }
  if (rng.chance(0.5)) return { endsAfter: rng.int(1, 12) }
  return {
    endsAfter: rng.int(14, 60),
    ...(seen.size > 0 &&
      rng.chance(0.8) && { endsAt: { place: rng.pick([...seen]), times: rng.int(1, 2) } }),
  }
}

const SHORT = [
  1_000,
  5_000,
  5_000,
  20_000,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  20 * MINUTE,
  60 * MINUTE,
]
const LONG = [11 * MINUTE, 11 * MINUTE, 60 * MINUTE, 6 * 60 * MINUTE]

/**
 * Time in which nothing is done: mostly a little, sometimes hours; now and then the clock is set.
 */
function pause(folder: Folder, isCrowded: boolean): number {
  const { rng, time } = folder
  if (folder.mayJump && rng.chance(0.02)) {
    const ms = rng.pick([DAY, -DAY, 5_000, -5_000, 60 * MINUTE, -60 * MINUTE])
    // It is set right again before it is a day off twice.
    time.jump(Math.abs(time.error + ms) > DAY ? -time.error : ms)
    folder.jumped = true
    folder.trace(() => `CLOCK is off by ${time.error} ms`)
  }
  return rng.pick(isCrowded ? LONG : SHORT)
}
