/** Nodes over one database, in the same process, for the tests of one `describe`. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MINUTE } from '../../lib/core/clock.js'
import { silentLog } from '../../lib/core/log.js'
import type { Engine } from '../../lib/db/engine.js'
import { openPostgresEngine } from '../../lib/db/postgres/engine.js'
import { startServer, testClock } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'

export interface TestNode {
  engine: Engine
  db: Engine['db']
  read: Engine['read']
  now: () => number
  monotonic: () => number
}

export interface Nodes {
  server: TestServer
  address: string
  /** As many over another database of the server; whoever asks for them closes them. */
  fresh(): Promise<Nodes>
  one: TestNode
  two: TestNode
  /** From here on the server goes by a clock that the test sets. */
  clock(): Promise<{ set(ms: number): Promise<void> }>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** What the clocks of the nodes are off by. Whole milliseconds, as an app has its clock. */
export const ASKEW = [3 * MINUTE + 17, -2 * MINUTE - 41] as const

export async function startNodes(server?: TestServer): Promise<Nodes> {
  const own = server ?? (await startServer())
  const address = await own.database()
  const dir = mkdtempSync(join(tmpdir(), 'qm-nodes-'))
  const open = async (askew: number): Promise<TestNode> => {
    const [now, monotonic] = [() => Date.now() + askew, () => performance.now()]
    const options = { address, log: silentLog, now, monotonic, random: randomBytes }
    const engine = await openPostgresEngine({ dir: join(dir, String(askew)), ...options })
    return { engine, db: engine.db, read: engine.read, now, monotonic }
  }
  const [one, two] = [await open(ASKEW[0]), await open(ASKEW[1])]
  const closing: (() => Promise<void>)[] = []
  async function closeAll(): Promise<void> {
    for (const close of closing) await close()
    await one.engine.close()
    await two.engine.close()
    rmSync(dir, { recursive: true })
    if (!server) await own.close()
  }
  let closed: Promise<void> | undefined
  const close = () => (closed ??= closeAll())
  return {
    server: own,
    address,
    one,
    two,
    fresh: () => startNodes(own),
    async clock() {
      const clock = await testClock(address)
      closing.push(clock.close)
      return clock
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
