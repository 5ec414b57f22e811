/** One folder from its first order to its last: lives that end anywhere, then a time without faults in which all must come out right. */
import type { DbFault, LifeOptions } from './life.js'
import { Life, settle } from './life.js'
import { readBooks } from './books.js'
import { Callers } from './callers.js'
import { connectorFor, echo } from './connectors.js'
import { drainFolder } from './drain.js'
import { guardFolder } from './files.js'
import { violations } from './invariants.js'
import type { Violation } from './invariants.js'
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
  /** Told everything that happens. */
  trace?: (text: string) => void
  /** Only what came of it counts, not whether it was written down before it was sent. */
  outcomesOnly?: boolean
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
  #guard!: ReturnType<typeof guardFolder>
  #life: Life | null = null
  shop!: Shop
  callers!: Callers

  constructor(readonly options: FolderOptions) {
    const rng = this.rng = new Rng(options.seed)
    this.natures = drawNatures(rng)
    const { faults = rng.pick([0.3, 0.45, 0.6]), diskFaults = rng.pick([0, 0, 0.02]), jumps = rng.chance(0.3) } = options
    this.#draw = { diskFaults, jumps }
    this.watch = new Watch(this.natures, options.outcomesOnly ?? false, (text) => this.trace(text))
    this.world = new World(this.rng, this.time, this.watch, faults)
  }

  trace(text: () => string): void {
    this.options.trace?.(`${(this.time.steady / 1000).toFixed(1).padStart(9)} ${text()}`)
  }

  async open(): Promise<void> {
    const connectors = new Map([...this.natures].map(([distid, nature]) => [distid, connectorFor(this.world, nature)]))
    this.shop = await openShop(connectors, { now: () => this.time.now(), random: (bytes) => this.rng.bytes(bytes) })
    this.callers = new Callers(this.rng, this.shop.callers, (text) => this.trace(text))
    this.watch.attach(this.shop.app.ctx)
    this.#guard = guardFolder(this.shop.dir, {
      point: (name) => this.#life?.point(name),
      fault: () => this.#draws(0.3) ? Object.assign(new Error('simulated'), { code: this.rng.pick(['ENOSPC', 'EIO']) }) : null,
      torn: (bytes) => this.rng.int(0, bytes),
      synced: (seq) => { this.watch.synced = seq },
    })
  }

  get mayJump(): boolean {
    return this.#draw.jumps
  }

  #draws(share: number): boolean {
    const { diskFaults } = this.#draw
    return diskFaults > 0 && !this.isDraining && this.rng.chance(diskFaults * share)
  }

  begin({ endsAfter, endsAt }: Pick<LifeOptions, 'endsAfter' | 'endsAt'> = {}): Life {
    const life = new Life({
      app: this.shop.app.ctx, time: this.time, random: (bytes) => this.rng.bytes(bytes), locks: this.locks, ...endsAfter !== undefined && { endsAfter }, ...endsAt && { endsAt },
      passed: (name) => void this.seen.add(name),
      dbFault: () => this.#draws(1) ? this.rng.pick<DbFault>(['full', 'full', 'io before', 'io after']) : null,
    })
    this.trace(() => `LIFE begins, ends after ${endsAfter}${endsAt ? ` or at ${endsAt.place}` : ''}`)
    this.#life = life
    this.world.register(life.ctx.now, life)
    return life
  }

  /** The life has ended by itself or is ended here. */
  async end(life: Life): Promise<void> {
    life.die('nothing was going on')
    await life.bury()
    this.trace(() => `LIFE ended: ${life.deathPlace}`)
    const isPowerCut = this.rng.chance(0.5)
    this.#guard.died((unsafe) => isPowerCut ? this.rng.int(0, unsafe) : unsafe)
    this.time.forgetInside()
    this.crashes++
    this.places.set(life.deathPlace!, (this.places.get(life.deathPlace!) ?? 0) + 1)
    this.watch.look()
  }

  async close(): Promise<void> {
    this.#guard.release()
    await this.shop.close()
  }

  expectations(isDrained: boolean) {
    return {
      isDrained, clockIsTrue: !this.jumped, now: this.time.now(),
      tellsRef: (distid: string) => this.natures.get(distid)!.tells.ref || !this.natures.get(distid)!.hasFind,
      echo: (distid: string, po: string) => echo(this.natures.get(distid)!, po),
    }
  }
}

/** Runs one folder to its end. */
export async function runFolder(options: FolderOptions): Promise<FolderResult> {
  return run(options, async (folder) => {
    while (folder.crashes < options.crashes && folder.watch.violations.length === 0) await liveOnce(folder)
  })
}

/** Places orders in one long life in which nothing goes wrong. */
export async function runCalm({ seed, orders }: { seed: number; orders: number }): Promise<FolderResult> {
  return run({ seed, crashes: 0, faults: 0, diskFaults: 0, jumps: false }, async (folder) => {
    const life = folder.begin()
    while (folder.callers.orders < orders) await attempt(folder, life, Promise.all(folder.callers.act(life, true)))
    await folder.end(life)
  })
}

async function run(options: FolderOptions, live: (folder: Folder) => Promise<void>): Promise<FolderResult> {
  const folder = new Folder(options)
  await folder.open()
  const restore = folder.time.install()
  try {
    await live(folder)
    const { watch, callers, world } = folder
    const reviews = watch.violations.length === 0 ? await drainFolder(folder) : 0
    if (watch.violations.length === 0) watch.violations.push(...violations(await readBooks(folder.shop.app.ctx), world.executions, callers.answers, folder.expectations(true)))
    watch.violations.push(...callers.errors.map((detail) => ({ rule: 'error' as const, detail })))
    return {
      seed: options.seed, crashes: folder.crashes, places: folder.places, orders: callers.orders, posts: callers.posts, executed: world.executions.length, calls: world.calls, faulty: world.faulty,
      reviews, violations: watch.violations,
    }
  } finally {
    restore()
    await folder.close()
  }
}

async function liveOnce(folder: Folder): Promise<void> {
  const { rng, time, callers, watch } = folder
  const isCrowded = watch.moving > CROWD
  const life = folder.begin(rng.chance(isCrowded ? 0.3 : 0.5) ? { endsAfter: rng.int(1, 8) }
    : { endsAfter: rng.int(14, isCrowded ? 150 : 60), ...folder.seen.size > 0 && rng.chance(0.8) && { endsAt: { place: rng.pick([...folder.seen]), times: rng.int(1, 3) } } })
  // A server holds the sender's place all the time, a library only for what it does.
  if (rng.chance(0.5)) await attempt(folder, life, life.sender.lease())
  for (let round = 0; !life.isDead && round < 30; round++) {
    const work: Promise<unknown>[] = []
    const what = rng.next()
    if (!isCrowded && what < 0.75) work.push(...callers.act(life, true))
    if (isCrowded || what > 0.6) work.push(life.sender.pass())
    await attempt(folder, life, Promise.all(work.map((each) => each.catch((error: unknown) => watch.failed(error, life)))))
    if (!life.isDead && rng.chance(isCrowded ? 1 : 0.5)) time.advance(pause(folder))
  }
  await folder.end(life)
  if (rng.chance(0.6)) time.advance(pause(folder))
}

function attempt({ time, watch }: Folder, life: Life, work: Promise<unknown>): Promise<boolean> {
  return settle(time, work.catch((error: unknown) => watch.failed(error, life)), life)
}

/** Time in which nothing is done: mostly a little, sometimes hours; now and then the clock is set. */
function pause(folder: Folder): number {
  const { rng, time } = folder
  if (folder.mayJump && rng.chance(0.02)) {
    const ms = rng.pick([DAY, -DAY, 5_000, -5_000, 60 * MINUTE, -60 * MINUTE])
    // It is set right again before it is a day off twice.
    time.jump(Math.abs(time.error + ms) > DAY ? -time.error : ms)
    folder.jumped = true
    folder.trace(() => `CLOCK is off by ${time.error} ms`)
  }
  return rng.pick([1_000, 5_000, 5_000, 20_000, MINUTE, 2 * MINUTE, 5 * MINUTE, 20 * MINUTE, 60 * MINUTE])
}
