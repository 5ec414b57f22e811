/**
 * Runs `fraud …` as a person or a script would, and holds every answer against what it must not
 * tell.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { makeKey } from '../../lib/fraud/keys/keys.js'
import { openForTest as open } from '../../server/testing/open.js'
import { contents, lastLine, run } from '../server/launcher.js'
import type { Run } from '../server/launcher.js'

export const scratch = mkdtempSync(join(tmpdir(), 'qm-cli-fraud-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))

export const HOUSE = {
  shipping_name: 'Pat Doe',
  shipping_address_1: '12 Birch Street',
  shipping_postcode: '85001',
  email: 'pat@customer.example',
  phone: '602-555-0100',
  notes: 'took the rifle and the scope',
}
export const FARM = {
  shipping_name: 'Sam Roe',
  shipping_address_1: '77 Orchard Lane',
  shipping_postcode: '31201',
}
export const RAW = /birch|orchard|85001|31201|\bpat\b|doe|roe|555|customer|rifle/i
export const [SHARED, OTHER] = ['ab'.repeat(32), 'cd'.repeat(32)]
export const A = 'Arms of A'
export const B = 'Arms of B'

/** An installation with the shops A and B, and these reports of theirs. */
export async function installation(
  name: string,
  reports: readonly (readonly [shop: string, body: object])[] = [],
): Promise<string> {
  const dir = join(scratch, name)
  await using app = await open({ dir, worker: false })
  for (const shop of [A, B])
    await app.operator.subscribers.create({ name: shop, email: 'owner@shop.example' })
  for (const [shop, body] of reports) await app.as(shop).fraud.report(body as typeof HOUSE)
  return dir
}

export function rows(dir: string, sql: string): unknown[] {
  const raw = openFile(filesIn(dir).record, { synchronous: 'FULL', readonly: true })
  try {
    return raw.prepare(sql).safeIntegers().pluck().all()
  } finally {
    raw.close()
  }
}

export function changed(dir: string, sql: string): void {
  const raw = openFile(filesIn(dir).record, { synchronous: 'FULL' })
  raw.exec(sql)
  raw.close()
}

export const audited = (dir: string) =>
  rows(
    dir,
    "SELECT actor || ' ' || action || ' ' || detail FROM audit WHERE actor = 'cli' AND action " +
      "LIKE 'fraud%' ORDER BY rowid",
  )

/** That no key, no hash of a signal and nothing that was reported stands in what a command said. */
export function assertTellsNothing(dir: string, { out, err }: Run): void {
  const said = (out + err).replaceAll(scratch, '')
  assert.doesNotMatch(said, RAW)
  assert.doesNotMatch(said, /[0-9a-f]{64}/i)
  for (const hash of rows(dir, 'SELECT hash FROM fraud_signal'))
    assert.ok(!said.includes(String(hash)), said)
}

/** Runs `fraud …` and returns what it says to people. */
export async function tell(dir: string, ...args: string[]): Promise<string> {
  const done = await run(dir, 'fraud', ...args)
  assert.deepEqual([done.status, done.err], [0, ''], done.err)
  assertTellsNothing(dir, done)
  return done.out
}

/** As `tell`, to programs: one line. */
export async function answer(dir: string, ...args: string[]): Promise<Record<string, unknown>> {
  const out = await tell(dir, ...args, '--json')
  assert.equal(out.trim().split('\n').length, 1)
  return JSON.parse(out) as Record<string, unknown>
}

/** As `tell`, under --dry-run, which changes nothing. */
export async function tries(dir: string, ...args: string[]): Promise<string> {
  const before = contents(dir)
  const [people, programs] = [
    await tell(dir, ...args, '--dry-run'),
    await answer(dir, ...args, '--dry-run'),
  ]
  assert.equal(programs['dry_run'], true)
  assert.deepEqual(contents(dir), before)
  return people
}

/** That `fraud …` is refused with this, under --dry-run in the same words, and changes nothing. */
export async function refuses(
  dir: string,
  args: readonly string[],
  code: 'usage' | 'invalid_parameter' | 'not_found' | 'failed',
  says: RegExp,
): Promise<void> {
  const before = contents(dir)
  const [real, dry] = [
    await run(dir, 'fraud', ...args, '--json'),
    await run(dir, 'fraud', ...args, '--json', '--dry-run'),
  ]
  assert.equal(real.status, code === 'usage' ? 2 : 1, real.err)
  assert.match(real.err.trimEnd(), says)
  assert.equal(real.err.trim().split('\n').length, 1, 'in one line')
  assert.equal((lastLine(real)['error'] as unknown as { code: string }).code, code)
  assert.deepEqual(dry, real)
  assertTellsNothing(dir, real)
  assert.deepEqual(contents(dir), before)
}

export function fileOf(name: string, text: string): string {
  const path = join(scratch, name)
  writeFileSync(path, text)
  return path
}

export const HASH = '-8123456789012345678'
export const REPORT = `{"dealer":"d","first":"2026-06-02","last":"2026-06-03","signals":[[1,"${HASH}"]]}`

/** Of whom batches are that no `fraud export` wrote. */
export const SENDER = '9f'.repeat(16)

/** A batch of one report under a key, sealed as it is. */
export function batch(
  name: string,
  head: object,
  {
    secret = SHARED,
    report = REPORT,
    reports = 1,
    behind = '',
  }: { secret?: string; report?: string; reports?: unknown; behind?: string } = {},
): string {
  const lines =
    `${JSON.stringify({ batch: 1, form: 1, made_at: Date.now(), installation: SENDER, ...head })}\n` +
    `${report}\n`
  const seal = makeKey('partner coast', Buffer.from(secret, 'hex')).digest(
    'batch',
    `${Number(reports)} ${createHash('sha256').update(lines).digest('hex')}`,
  )
  return fileOf(name, `${lines}${JSON.stringify({ reports, seal })}\n${behind}`)
}
