/**
 * What two processes on one folder must keep together: each a check of its own, on a folder of its
 * own.
 */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { filesIn } from '../../../lib/db/sqlite/folder.js'
import { openFile } from '../../../lib/db/sqlite/sqlite.js'
import { openArena } from './arena.js'
import type { Arena, Way } from './arena.js'
import { postOnce } from './caller.js'
import type { Target, Told } from './caller.js'
import { check } from './check.js'
import { startClock, timeOf } from './clock.js'
import { liveAndStop } from './deaths.js'
import { drain } from './drain.js'
import { strayErrors } from './errors.js'
import { readFacts } from './facts.js'
import type { Facts } from './facts.js'
import type { OrderBody } from './orders.js'
import { plainOrder } from './orders.js'
import { sleep } from './process.js'
import { streamOf } from './random.js'
import { SHOP } from './shop.js'
import type { CrashShop } from './shop.js'
import { count } from './totals.js'
import { overlapsIn } from './trace.js'
import { BEGINNING } from './workshop.js'

export interface PairOptions {
  root: string
  bundle: string
  shop: CrashShop
  seed: number
}

export interface Place {
  arena: Arena
  post(way: Way, key: string | null, body: OrderBody): Promise<Told & { retryAfter: number | null }>
}

/** A folder with both processes up; afterwards all settles and is checked. Returns the faults. */
export async function onFolder(
  { root, bundle, shop, seed }: PairOptions,
  name: string,
  {
    speed = 1,
    run,
    inspect = () => [],
  }: {
    speed?: number
    run: (place: Place) => Promise<string[]>
    inspect?: (facts: Facts) => string[]
  },
): Promise<string[]> {
  const dir = join(root, `${name}-${process.pid}`)
  rmSync(dir, { recursive: true, force: true })
  cpSync(join(root, 'template'), dir, { recursive: true })
  const trace = `${dir}.trace`
  const arena = openArena({
    dir,
    bundle,
    shop,
    seed,
    trace,
    clock: startClock(BEGINNING, speed),
    callers: 0,
    chaos: 0,
    watched: 0,
  })
  const faults: string[] = []
  try {
    faults.push(
      ...(await run({
        arena,
        async post(way, key, body) {
          const target: Target = {
            door: arena.entrances[way].door,
            lost: () => {},
            clock: arena.clock,
            isEnding: false,
          }
          const told = await postOnce(target, arena.ledger, { shop: SHOP, key }, body, true)
          if (told === null || told === 'nobody') throw new Error(`no answer from the ${way}`)
          return told
        },
      })),
    )
    await drain(arena)
    const facts = await readFacts(dir, timeOf(arena.clock()))
    faults.push(
      ...check(facts, arena.ledger.answers).faults.map(({ kind, text }) => `${kind}: ${text}`),
      ...arena.ledger.faults,
      ...overlapsIn(trace),
      ...strayErrors(arena.log).map(({ text }) => text),
      ...inspect(facts),
    )
  } finally {
    await arena.close()
  }
  if (faults.length === 0)
    for (const path of [dir, arena.log, trace]) rmSync(path, { recursive: true, force: true })
  return faults
}

/** Both processes up while `during` runs. */
export async function both(arena: Arena, during: () => Promise<void>): Promise<void> {
  await liveAndStop(arena, () => liveAndStop(arena, during, { way: 'library' }))
}

const ways = ['server', 'library'] as const
function tell(answers: readonly Told[]): string {
  const counts: Record<string, number> = {}
  for (const { status, code } of answers) count(counts, `${status} ${code ?? ''}`)
  return Object.entries(counts)
    .map(([name, many]) => `${many} x ${name}`)
    .join(', ')
}

/** So many posts of one order at once, over both ways in: one of them places it. */
export function herd(
  options: PairOptions,
  { posts, rounds }: { posts: number; rounds: number },
): Promise<string[]> {
  const random = streamOf(options.seed, 'herd')
  // One key may send a thousand requests a minute.
  const keyOf = (round: number) => options.shop.keys[round % options.shop.keys.length]!
  return onFolder(options, 'herd', {
    async run({ arena, post }) {
      const faults: string[] = []
      await both(arena, async () => {
        for (let round = 0; round < rounds; round++) {
          const body = plainOrder(random, `herd-${round}`)
          const answers = await Promise.all(
            Array.from({ length: posts }, (_, i) => post(ways[i % 2]!, keyOf(round), body)),
          )
          const placed = answers.filter(({ status }) => status === 200).length
          const duplicates = answers.filter(({ code }) => code === 'duplicate_order').length
          if (placed !== 1 || duplicates !== posts - 1)
            faults.push(`${posts} posts of one order: ${tell(answers)}`)
        }
      })
      return faults
    },
    inspect: ({ placements }) =>
      placements.length === rounds ? [] : [`${placements.length} intents for ${rounds} orders`],
  })
}

/** One key at both ways in: sixty orders of an hour and not one more. */
export function limits(options: PairOptions, { posts }: { posts: number }): Promise<string[]> {
  const random = streamOf(options.seed, 'limits')
  return onFolder(options, 'limits', {
    async run({ arena, post }) {
      const faults: string[] = []
      await both(arena, async () => {
        const answers = await Promise.all(
          Array.from({ length: posts }, (_, i) =>
            post(ways[i % 2]!, options.shop.quotaKey, plainOrder(random, `limit-${i}`)),
          ),
        )
        const placed = answers.filter(({ status }) => status === 200).length
        if (placed !== 60 || answers.filter(({ status }) => status === 429).length !== posts - 60)
          faults.push(`${posts} orders of one key in an hour: ${tell(answers)}`)
      })
      return faults
    },
  })
}

/**
 * Who sends: the server as long as it runs, the library process without one, and each waits for the
 * other.
 */
export function takingTurns(options: PairOptions): Promise<string[]> {
  const random = streamOf(options.seed, 'turns')
  return onFolder(options, 'turns', {
    async run({ arena, post }) {
      const faults: string[] = []
      /** Places an order, and tells which life of which process sent last. */
      const place = async (way: Way, name: string): Promise<string | null> => {
        const { status, body } = await post(
          way,
          way === 'server' ? options.shop.keys[0]! : null,
          plainOrder(random, name),
        )
        if (status !== 200 || body.data?.status !== 'placed')
          faults.push(`${name} at the ${way}: ${status} ${JSON.stringify(body)}`)
        return lastSender(arena.dir)
      }
      await liveAndStop(
        arena,
        async () => {
          const library = await place('library', 'alone')
          const slow = place('library', 'slow-SIM-SLOW')
          await liveAndStop(arena, async () => {
            // The library process keeps the place until its slow order is sent; then the server has
            // it.
            const server = await place('server', 'meanwhile')
            await slow
            if (server === library)
              faults.push(
                'the server did not send what it took in while the library process was sending',
              )
            // At its next look, five times a second, the server has it for good.
            await sleep(500)
            if ((await place('library', 'beside')) !== server)
              faults.push('the library process sent beside the server')
          })
          if ((await place('library', 'again')) !== library)
            faults.push('the library process did not send once the server was gone')
        },
        { way: 'library' },
      )
      return faults
    },
  })
}

/** Which life of which process began the last send. */
function lastSender(dir: string): string | null {
  const raw = openFile(filesIn(dir).record, { synchronous: 'FULL', readonly: true })
  try {
    const lines = raw
      .prepare('SELECT line FROM journal ORDER BY seq DESC')
      .pluck()
      .iterate() as Iterable<string>
    for (const line of lines) {
      const { data } = JSON.parse(line) as {
        data: { set?: { owner?: string | null }; purchaseOrders?: { owner: string | null }[] }
      }
      const owner =
        data.set?.owner ?? data.purchaseOrders?.find((order) => order.owner !== null)?.owner
      if (owner) return owner
    }
    return null
  } finally {
    raw.close()
  }
}
