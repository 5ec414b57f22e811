/**
 * A fraud check over ten million stored signals, against the four bare indexed lookups that it
 * cannot do without. Goal: <= 3 x. Half of the questions match; how long an answer takes must not
 * tell which (median difference under 1 ms).
 *   npx tsx scripts/bench/fraud.ts [signals]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { FraudSignals } from '../../lib/fraud/shapes.js'
import { signalsOf } from '../../lib/fraud/signals/signals.js'
import { summarize } from '../../lib/fraud/reports/summary.js'
import { open } from '../../lib/app/open.js'

const SIGNALS = Number(process.argv[2] ?? 10_000_000)
const REPORTS = Math.ceil(SIGNALS / 4)
const ROUNDS = 20_000

const dir = mkdtempSync(join(tmpdir(), 'qm-bench-'))
const app = await open({ dir, worker: false })
const { id: subscriberId } = await app.operator.subscribers.create({
  name: 'Bench',
  email: 'bench@shop.example',
})
const keys = app.ctx.fraudKeys()
fill()

/** Reports of made-up signals: hashes are as good as random, so they are drawn at random. */
function fill(): void {
  const raw = openFile(filesIn(dir).record, { synchronous: 'NORMAL' })
  raw.pragma('synchronous = OFF')
  raw
    .prepare(
      "INSERT INTO fraud_partner (name, sender, batch, made_at, reports) VALUES ('bench', 'bench', 1, 1, ?)",
    )
    .run(REPORTS)
  const report = raw.prepare(
    'INSERT INTO fraud_report (id, subscriber_id, dealer, partner, batch, key, strong, ' +
      "reported_at, updated_at, payload) VALUES (?, NULL, ?, 'bench', 1, 'bench', '', 1, 1, '')",
  )
  const signal = raw.prepare('INSERT OR IGNORE INTO fraud_signal (hash, report) VALUES (?, ?)')
  const evidence = raw.prepare(
    'INSERT OR IGNORE INTO fraud_evidence (report, own, kind, hash) VALUES (?, 1, ?, ?)',
  )
  const words = new BigInt64Array(REPORTS * 4)
  for (let state = 88_172_645_463_325_252n, i = 0; i < words.length; i++) {
    state = BigInt.asIntN(64, state ^ (state << 13n))
    state = BigInt.asIntN(64, state ^ (BigInt.asUintN(64, state) >> 7n))
    state = BigInt.asIntN(64, state ^ (state << 17n))
    words[i] = state
  }
  // In order of the key: filling at random would take an hour and leave the same tree.
  const order = Uint32Array.from({ length: words.length }, (_, i) => i).sort((a, b) =>
    words[a]! < words[b]! ? -1 : 1,
  )
  raw.transaction(() => {
    for (let id = 1; id <= REPORTS; id++) {
      report.run(id, `dealer ${id % 5_000}`)
      for (let kind = 1; kind <= 4; kind++) evidence.run(id, kind, words[(id - 1) * 4 + kind - 1])
      for (let kind = 5; kind <= 7; kind++) evidence.run(id, kind, BigInt(id % 100_000))
    }
    for (const i of order) signal.run(words[i], (i >> 2) + 1)
    // Some that the questions find: every other one matches three reports.
    for (let n = 0; n < 1_000; n += 2)
      for (let each = 0; each < 3; each++)
        signal.run(
          keys.current.hash('email', `known${n}@customer.example`),
          1 + ((n * 977 + each * 7_919) % REPORTS),
        )
  })()
  raw.close()
}

const questions = Array.from({ length: 1_000 }, (_, n) =>
  signalsOf(
    FraudSignals.parse({
      shipping_address_1: `${n + 1} Main Street`,
      shipping_postcode: '85001',
      billing_address_1: `${n + 1} Oak Avenue`,
      billing_postcode: '85002',
      email: `known${n}@customer.example`,
      phone: `602555${String(1_000 + n).slice(-4)}`,
    }),
  ),
)
const lookup = app.ctx.engine.reader.raw
  .prepare('SELECT report FROM fraud_signal WHERE hash = ?')
  .pluck()
const kinds = ['shipping_address_1', 'billing_address_1', 'email', 'phone'] as const

function bare(n: number): number {
  const { strong } = questions[n % questions.length]!
  return kinds.reduce(
    (found, kind) => found + lookup.all(keys.current.hash(kind, strong.get(kind) ?? '')).length,
    0,
  )
}
const check = (n: number) =>
  summarize(app.ctx, questions[n % questions.length]!, { subscriberId, asker: subscriberId })

const times = { check: [] as number[], bare: [] as number[] }
const byMatch: [without: number[], matched: number[]] = [[], []]
for (let n = 0; n < ROUNDS; n++) {
  for (const [name, run] of [
    ['bare', bare],
    ['check', check],
  ] as const) {
    const start = performance.now()
    await run(n)
    times[name].push(performance.now() - start)
    if (name === 'check') byMatch[n % 2 === 0 ? 1 : 0].push(times[name].at(-1)!)
  }
}
const at = (list: number[], share: number) =>
  list.sort((a, b) => a - b)[Math.floor(list.length * share)]! * 1_000
console.log(
  `${(REPORTS * 4).toLocaleString('en-US')} signals; check p50 ` +
    `${at(times.check, 0.5).toFixed(0)} us, p99 ${at(times.check, 0.99).toFixed(0)} us; four ` +
    `lookups p50 ${at(times.bare, 0.5).toFixed(0)} us, p99 ${at(times.bare, 0.99).toFixed(0)} ` +
    `us; ratio p50 ${(at(times.check, 0.5) / at(times.bare, 0.5)).toFixed(2)}, p99 ` +
    `${(at(times.check, 0.99) / at(times.bare, 0.99)).toFixed(2)} (goal <= 3)`,
)
console.log(
  `median with a match ${at(byMatch[1], 0.5).toFixed(0)} us, without ${at(byMatch[0], 0.5).toFixed(0)} us`,
)
await app.close()
rmSync(dir, { recursive: true, force: true })
