/**
 * The proof of the order journal, of database, file and purchase orders, against SHA-256 of the
 * file's bytes. Goal: at most 2 times that with a million lines.
 *   npx tsx scripts/bench/journal.ts [lines] [rounds]
 */
import { createHash } from 'node:crypto'
import { appendFileSync, createReadStream, rmSync, statSync } from 'node:fs'
import { OPERATOR } from '../../lib/core/storage/secrets.js'
import { open } from '../../lib/app/open.js'
import type { App } from '../../lib/app/open.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { closeLine, macOf } from '../../lib/orders/journal/chain.js'
import type { JournalLine } from '../../lib/orders/journal/chain.js'
import { journalPath } from '../../lib/orders/journal/file.js'
import { proveJournal } from '../../lib/orders/journal/verify.js'
import type { IntentData } from '../../lib/orders/place/intent.js'
import type { StateData } from '../../lib/orders/engine/transitions.js'
import {
  SHOP,
  folderOnDisk,
  makeOrderShop,
  orderBody,
  percentile,
  wholesale,
} from './order-shop.js'

const LINES = Number(process.argv[2] ?? 1_000_000)
const ROUNDS = Number(process.argv[3] ?? 5)

/** Lines that are written at once. */
const BLOCK = 10_000

/** Writes the first order of the shop down again and again, each time as another one. */
function multiply(app: App): void {
  const raw = openFile(filesIn(app.dir).record, { synchronous: 'FULL', patient: true })
  // Of the order only what the proof reads is written: its lines, and its purchase order.
  raw.pragma('foreign_keys = OFF')
  const lines = raw.prepare('SELECT line FROM journal ORDER BY seq').pluck().all() as string[]
  const purchase = raw.prepare('SELECT * FROM purchase_order').get() as Record<string, unknown>
  const columns = Object.keys(purchase)
  const insertPurchase = raw.prepare(
    `INSERT INTO purchase_order (${columns.join()}) VALUES (${columns.map((name) => `@${name}`).join()})`,
  )
  const insertLine = raw.prepare('INSERT INTO journal (seq, line) VALUES (?, ?)')
  const sealer = app.ctx.secrets.of(OPERATOR)
  const model = lines.map((line) => JSON.parse(line) as JournalLine)
  let [seq, prev] = [lines.length, macOf(lines.at(-1)!)]
  for (let id = 2; seq < LINES;) {
    const block: string[] = []
    raw.exec('BEGIN')
    for (; block.length < BLOCK; id++) {
      const own = { id, client_ref: `BENCH${id}` }
      insertPurchase.run({ ...purchase, ...own, fulfillment_order_id: id, placement_id: id })
      for (const line of model) {
        const data =
          line.kind === 'intent' ? intentOf(line.data as IntentData, own) : stateOf(line.data, own)
        const text = closeLine({ ...line, seq: ++seq, data, prev }, sealer)
        prev = macOf(text)
        insertLine.run(seq, text)
        block.push(`${text}\n`)
      }
    }
    raw.exec('COMMIT')
    appendFileSync(journalPath(app.dir), block.join(''))
  }
  // As a server leaves it, whose log is written back all the time.
  raw.pragma('wal_checkpoint(TRUNCATE)')
  raw.close()
}

const intentOf = (data: IntentData, own: { id: number; client_ref: string }): IntentData => ({
  placement: { ...data.placement, id: own.id },
  orders: data.orders.map((order) => ({ ...order, id: own.id, placement_id: own.id })),
  purchaseOrders: data.purchaseOrders.map((order) => ({
    ...order,
    ...own,
    fulfillment_order_id: own.id,
    placement_id: own.id,
  })),
})

const stateOf = (data: unknown, { id }: { id: number }) => ({ ...(data as StateData), id })

async function hashFile(path: string): Promise<void> {
  const hash = createHash('sha256')
  for await (const bytes of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(bytes)
  hash.digest()
}

/** Seconds of the wall and of the processor. */
async function timed(run: () => Promise<unknown>): Promise<{ wall: number; cpu: number }> {
  const [begun, used] = [performance.now(), process.cpuUsage()]
  await run()
  const { user, system } = process.cpuUsage(used)
  return { wall: (performance.now() - begun) / 1000, cpu: (user + system) / 1e6 }
}

const dir = folderOnDisk()
const app = await open({ dir, worker: false, distributors: [wholesale(0)] })
await makeOrderShop(app, 0)
await app.as(SHOP).orders.place(orderBody('JOURNAL-1'))
multiply(app)
const bytes = statSync(journalPath(dir)).size

const proofs: { wall: number; cpu: number }[] = []
const hashes: { wall: number; cpu: number }[] = []
for (let round = 0; round < ROUNDS; round++) {
  hashes.push(await timed(() => hashFile(journalPath(dir))))
  proofs.push(
    await timed(async () => {
      const { sound, lines, faults } = await proveJournal(app.ctx)
      if (!sound || lines < LINES) throw new Error(`${lines} lines, ${JSON.stringify(faults)}`)
    }),
  )
}
await app.close()
rmSync(dir, { recursive: true })

const median = (times: readonly { wall: number; cpu: number }[], of: 'wall' | 'cpu') =>
  percentile(
    times.map((time) => time[of]),
    0.5,
  )
const figures = (times: readonly { wall: number; cpu: number }[]) =>
  `${median(times, 'wall').toFixed(2)} s (of a processor ${median(times, 'cpu').toFixed(2)})`
console.log(
  `${LINES.toLocaleString('en-US')} lines, ${(bytes / 1e6).toFixed(0)} MB, ${ROUNDS} rounds`,
)
console.log(`proof    ${figures(proofs)}`)
console.log(`SHA-256  ${figures(hashes)}`)
console.log(
  `ratio    ${(median(proofs, 'wall') / median(hashes, 'wall')).toFixed(1)} (goal <= 2), ` +
    `of a processor ${(median(proofs, 'cpu') / median(hashes, 'cpu')).toFixed(1)}`,
)
