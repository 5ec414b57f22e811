/**
 * A price-and-stock update on its way from the node that leads to another one: bytes that are moved
 * against the bytes of the changed columns, and milliseconds from the commit to the snapshot there:
 *   npx tsx scripts/bench/share.ts [offers] [changed] [updates]
 * goal: 1.2 times the bytes. Two nodes with a worker each, in one process, on a PostgreSQL of its
 * own (Debian's package), with the object store in memory. The bytes of the columns are those of
 * prices (4) and quantities (4) that differ; numbers in SQLite's own short form are told beside it,
 * and what the history of these changes moves, which has each of them with SKU and UPC.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import type { Raw } from '../../lib/db/sqlite/sqlite.js'
import { bytesOf } from '../../lib/feeds/shared/publication.js'
import { ChangeLog } from '../../lib/feeds/ingest/change-log.js'
import type { Change } from '../../lib/feeds/ingest/change-log.js'
import { writeState } from '../../lib/feeds/ingest/queries.js'
import { pause } from '../../lib/core/async/wait.js'
import { startServer } from '../../test/harness/postgres.js'
import { openCluster } from '../../test/postgres/catalog/nodes.js'
import type { Cluster, TestNode } from '../../test/postgres/catalog/nodes.js'
import { writeOffers } from './offers.js'
import { bundleWorker } from './worker.js'

const OFFERS = Number(process.argv[2] ?? 1_000_000)
const CHANGED = Number(process.argv[3] ?? 50_000)
const UPDATES = Number(process.argv[4] ?? 5)

const seconds = (from: number) => `${((performance.now() - from) / 1000).toFixed(2)} s`
const mb = (bytes: number) => `${(bytes / 1e6).toFixed(2)} MB`

/** As a feed does it: one transaction, then the number of the new state. */
function update(
  { catalog: raw, history }: { catalog: Raw; history: Raw },
  round: number,
): { columns: number; short: number } {
  const [price, qty] = [
    raw.prepare('UPDATE offer SET price = ?, revision = ? WHERE id = ?'),
    raw.prepare('UPDATE offer SET qty = ?, revision = ? WHERE id = ?'),
  ]
  const old = raw.prepare('SELECT price, qty FROM offer WHERE id = ?')
  const told = raw.prepare(`SELECT o.distid, o.stockid, f.upc, o.price, o.qty
    FROM offer AS o JOIN fragment AS f ON f.id = o.fragment WHERE o.id = ?`)
  const changes = new Map<string, Told[]>()
  const at = Date.UTC(2026, 0, 1) + round * 60_000
  let [columns, short] = [0, 0]
  const shortOf = (value: number) =>
    value < 128 ? 1 : value < 32_768 ? 2 : value < 8_388_608 ? 3 : 4
  raw.transaction(() => {
    const { revision } = raw.prepare('SELECT revision FROM state').get() as { revision: number }
    const step = OFFERS / CHANGED
    for (let n = 0; n < CHANGED; n++) {
      const id = 1 + Math.floor(n * step + random() * step)
      const before = old.get(id) as { price: number | null; qty: number } | undefined
      if (!before || before.price === null) continue
      const kind = random()
      if (kind < 0.7) {
        const next = Math.max(1, Math.round(before.price * (0.93 + random() * 0.14)))
        if (next !== before.price) {
          price.run(next, revision + 1, id)
          columns += 4
          short += shortOf(next)
        }
      }
      if (kind > 0.4) {
        const next = Math.floor(random() * 60)
        if (next !== before.qty) {
          qty.run(next, revision + 1, id)
          columns += 4
          short += shortOf(next)
        }
      }
      const now = told.get(id) as Told
      const rows = changes.get(now.distid) ?? []
      rows.push(now)
      changes.set(now.distid, rows)
    }
    writeState(raw, revision + 1, false, Date.UTC(2026, 0, 1) + round)
  })()
  for (const [distid, rows] of changes) {
    const log = new ChangeLog(history, distid, { asOf: at, now: at })
    for (const row of rows) log.record({ ...row, gone: false, held: false })
    log.commit()
  }
  return { columns, short }
}

type Told = Omit<Change, 'gone' | 'held'>

/** A fixed course of numbers from 0 to less than 1. */
let state = 1
function random(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}

async function visible(node: TestNode, revision: number): Promise<void> {
  while ((node.live.current()?.revision ?? 0) < revision) await pause(5)
}

const revisionOf = (node: TestNode) =>
  node.raw((raw) => raw.prepare('SELECT revision FROM state').pluck().get() as number)

async function run(cluster: Cluster, worker: string): Promise<void> {
  const one = await cluster.node('one', { worker, baseAfter: { bytes: 1e9, changes: 1e9 } })
  const two = await cluster.node('two', { worker, baseAfter: { bytes: 1e9, changes: 1e9 } })
  const catalog = openFile(filesIn(one.dir).catalog, { synchronous: 'NORMAL' })
  const history = openFile(filesIn(one.dir).history, { synchronous: 'NORMAL' })
  let from = performance.now()
  writeOffers(catalog, OFFERS)
  console.log(
    `${OFFERS} offers written in ${seconds(from)}: ${mb(statSync(filesIn(one.dir).catalog).size)}`,
  )
  from = performance.now()
  await one.lead()
  let [base] = await cluster.published()
  for (; !base; [base] = await cluster.published()) await pause(20)
  console.log(
    `published whole in ${seconds(from)}: ${mb(base.bytes)} in ${base.parts.length} objects`,
  )
  from = performance.now()
  await visible(two, revisionOf(one))
  console.log(`the snapshot of the other node is there ${seconds(from)} later`)
  await visible(one, revisionOf(one))
  for (let round = 1; round <= UPDATES; round++) {
    from = performance.now()
    const { columns, short } = update({ catalog, history }, round)
    const written = seconds(from)
    from = performance.now()
    const revision = revisionOf(one)
    while ((await cluster.published()).at(-1)!.revision < revision) await pause(5)
    const published = seconds(from)
    await visible(two, revision)
    const change = (await cluster.published()).at(-1)!
    const bytes = bytesOf(change.parts)
    console.log(
      `update ${round}: ${CHANGED} offers (${written}), ${mb(bytes)} moved, ` +
        `${(bytes / columns).toFixed(2)} x the columns (${mb(columns)}), ` +
        `${(bytes / short).toFixed(2)} x their short form; published ${published} after the ` +
        `commit, visible on the other node after ${seconds(from)}`,
    )
    await visible(one, revision)
    await one.sharing.look()
    const told = (await cluster.published('history')).at(-1)!
    console.log(`  its history: ${told.kind}, ${mb(bytesOf(told.parts))} moved`)
  }
  catalog.close()
  history.close()
}

const dir = mkdtempSync(join(tmpdir(), 'qm-share-'))
const server = await startServer()
const cluster = await openCluster(server)
try {
  await run(cluster, await bundleWorker(dir))
} finally {
  await cluster.close()
  await server.close()
  rmSync(dir, { recursive: true, force: true })
}
