/** `fraud stats`, `erase`, `rotate-key`, `partner`, `export` and `import`, as a person or a script calls them, and two installations that share signals. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { filesIn } from '../lib/db/engine.js'
import { openFile } from '../lib/db/sqlite.js'
import { makeKey } from '../lib/fraud/keys.js'
import { open } from '../lib/open.js'
import { contents, lastLine, run, runProcess, start, stop } from './launcher.js'
import type { Run } from './launcher.js'

let scratch: string
before(() => { scratch = mkdtempSync(join(tmpdir(), 'qm-cli-fraud-')) })
after(() => rmSync(scratch, { recursive: true, force: true }))

const HOUSE = { shipping_name: 'Pat Doe', shipping_address_1: '12 Birch Street', shipping_postcode: '85001', email: 'pat@customer.example', phone: '602-555-0100', notes: 'took the rifle and the scope' }
const FARM = { shipping_name: 'Sam Roe', shipping_address_1: '77 Orchard Lane', shipping_postcode: '31201' }
const RAW = /birch|orchard|85001|31201|\bpat\b|doe|roe|555|customer|rifle/i
const [SHARED, OTHER] = ['ab'.repeat(32), 'cd'.repeat(32)]
const A = 'Arms of A'
const B = 'Arms of B'

/** An installation with the shops A and B, and these reports of theirs. */
async function installation(name: string, reports: readonly (readonly [shop: string, body: object])[] = []): Promise<string> {
  const dir = join(scratch, name)
  await using app = await open({ dir, worker: false })
  for (const shop of [A, B]) await app.operator.subscribers.create({ name: shop, email: 'owner@shop.example' })
  for (const [shop, body] of reports) await app.as(shop).fraud.report(body as typeof HOUSE)
  return dir
}

function rows(dir: string, sql: string): unknown[] {
  const raw = openFile(filesIn(dir).record, { synchronous: 'FULL', readonly: true })
  try {
    return raw.prepare(sql).safeIntegers().pluck().all()
  } finally {
    raw.close()
  }
}

function changed(dir: string, sql: string): void {
  const raw = openFile(filesIn(dir).record, { synchronous: 'FULL' })
  raw.exec(sql)
  raw.close()
}

const audited = (dir: string) => rows(dir, 'SELECT actor || \' \' || action || \' \' || detail FROM audit WHERE actor = \'cli\' AND action LIKE \'fraud%\' ORDER BY rowid')

/** That no key, no hash of a signal and nothing that was reported stands in what a command said. */
function assertTellsNothing(dir: string, { out, err }: Run): void {
  const said = (out + err).replaceAll(scratch, '')
  assert.doesNotMatch(said, RAW)
  assert.doesNotMatch(said, /[0-9a-f]{64}/i)
  for (const hash of rows(dir, 'SELECT hash FROM fraud_signal')) assert.ok(!said.includes(String(hash)), said)
}

/** Runs `fraud …` and returns what it says to people. */
async function tell(dir: string, ...args: string[]): Promise<string> {
  const done = await run(dir, 'fraud', ...args)
  assert.deepEqual([done.status, done.err], [0, ''], done.err)
  assertTellsNothing(dir, done)
  return done.out
}

/** As `tell`, to programs: one line. */
async function answer(dir: string, ...args: string[]): Promise<Record<string, unknown>> {
  const out = await tell(dir, ...args, '--json')
  assert.equal(out.trim().split('\n').length, 1)
  return JSON.parse(out) as Record<string, unknown>
}

/** As `tell`, under --dry-run, which changes nothing. */
async function tries(dir: string, ...args: string[]): Promise<string> {
  const before = contents(dir)
  const [people, programs] = [await tell(dir, ...args, '--dry-run'), await answer(dir, ...args, '--dry-run')]
  assert.equal(programs['dry_run'], true)
  assert.deepEqual(contents(dir), before)
  return people
}

/** That `fraud …` is refused with this, under --dry-run in the same words, and changes nothing. */
async function refuses(dir: string, args: readonly string[], code: 'usage' | 'invalid_parameter' | 'not_found' | 'failed', says: RegExp): Promise<void> {
  const before = contents(dir)
  const [real, dry] = [await run(dir, 'fraud', ...args, '--json'), await run(dir, 'fraud', ...args, '--json', '--dry-run')]
  assert.equal(real.status, code === 'usage' ? 2 : 1, real.err)
  assert.match(real.err.trimEnd(), says)
  assert.equal(real.err.trim().split('\n').length, 1, 'in one line')
  assert.equal((lastLine(real)['error'] as unknown as { code: string }).code, code)
  assert.deepEqual(dry, real)
  assertTellsNothing(dir, real)
  assert.deepEqual(contents(dir), before)
}

function fileOf(name: string, text: string): string {
  const path = join(scratch, name)
  writeFileSync(path, text)
  return path
}

const HASH = '-8123456789012345678'
const REPORT = `{"dealer":"d","first":"2026-06-02","last":"2026-06-03","signals":[[1,"${HASH}"]]}`

/** Of whom batches are that no `fraud export` wrote. */
const SENDER = '9f'.repeat(16)

/** A batch of one report under a key, sealed as it is. */
function batch(name: string, head: object, { secret = SHARED, report = REPORT, reports = 1, behind = '' }: { secret?: string; report?: string; reports?: unknown; behind?: string } = {}): string {
  const lines = `${JSON.stringify({ batch: 1, form: 1, made_at: Date.now(), installation: SENDER, ...head })}\n${report}\n`
  const seal = makeKey('partner coast', Buffer.from(secret, 'hex')).digest('batch', `${Number(reports)} ${createHash('sha256').update(lines).digest('hex')}`)
  return fileOf(name, `${lines}${JSON.stringify({ reports, seal })}\n${behind}`)
}

describe('fraud stats', () => {
  test('counts nothing where there is nothing, and makes nothing', async () => {
    const dir = await installation('empty')
    const before = contents(dir)
    assert.equal(await tell(dir, 'stats'), '0 reports by 0 dealers, 0 signals.\n')
    assert.deepEqual(await answer(dir, 'stats'), { reports: 0, dealers: 0, signals: 0, first_reported: null, last_reported: null, by_subscriber: [], partners: [], under_old_keys: 0, unreadable: 0 })
    assert.deepEqual(contents(dir), before)
    assert.ok(!existsSync(join(dir, 'keys', 'fraud-keys')))
  })

  test('counts by subscriber and by partner, in a process of its own too', async () => {
    const dir = await installation('stats', [[A, HOUSE], [A, FARM], [B, HOUSE]])
    await tell(dir, 'partner', 'coast', '--key', fileOf('stats.key', `${SHARED.toUpperCase()}\n`))
    await tell(dir, 'import', 'coast', batch('stats.ndjson', { made_at: Date.UTC(2026, 5, 4) }))
    const today = new Date().toISOString().slice(0, 10)
    const said = await tell(dir, 'stats')
    assert.equal(said, `4 reports by 3 dealers, 5 signals, 2026-06-02 to ${today}.\nsubscriber  reports\n${A}   2\n${B}   1\npartner  reports  made_at\ncoast    1        2026-06-04T00:00:00.000Z\n`)
    assert.deepEqual(await runProcess(dir, 'fraud', 'stats'), { status: 0, out: said, err: '' })
    const { by_subscriber: shops, partners, reports, dealers } = await answer(dir, 'stats')
    assert.deepEqual({ shops, partners, reports, dealers }, { shops: [{ subscriber: A, reports: 2 }, { subscriber: B, reports: 1 }], partners: [{ partner: 'coast', reports: 1, made_at: '2026-06-04T00:00:00.000Z' }], reports: 4, dealers: 3 })
  })
})

describe('fraud erase', () => {
  test('removes the reports of one subscriber alone', async () => {
    const dir = await installation('erase', [[A, HOUSE], [A, FARM], [B, HOUSE]])
    assert.equal(await tries(dir, 'erase', '--subscriber', A), `2 reports of ${A} would be removed.\n`)
    assert.equal(await tell(dir, 'erase', '--subscriber', A.toLowerCase()), `2 reports of ${A} are removed, with all that was kept of them.\n`)
    assert.deepEqual([rows(dir, 'SELECT count(*) FROM fraud_report'), rows(dir, 'SELECT count(*) FROM fraud_signal')], [[1n], [3n]])
    assert.deepEqual(await answer(dir, 'erase', '--subscriber', B), { subscriber: B, removed: 1, dry_run: false })
    assert.deepEqual(rows(dir, 'SELECT count(*) FROM fraud_evidence'), [0n])
    assert.deepEqual(audited(dir), [`cli fraud erase {"subscriber":"${A}","removed":2}`, `cli fraud erase {"subscriber":"${B}","removed":1}`])
    await refuses(dir, ['erase', '--subscriber', 'Nobody'], 'not_found', /^not_found: there is no subscriber "Nobody"; `subscribers list` shows them$/)
    await refuses(dir, ['erase'], 'usage', /^--subscriber is missing\. For example: quartermaster fraud erase --subscriber /)
  })
})

describe('fraud rotate-key', () => {
  test('keeps what was reported here under a new key, and leaves a partner\'s', async () => {
    const dir = await installation('rotate', [[A, HOUSE], [B, FARM]])
    await tell(dir, 'partner', 'coast', '--key', fileOf('rotate.key', SHARED))
    await tell(dir, 'import', 'coast', batch('rotate.ndjson', {}))
    assert.equal(await tries(dir, 'rotate-key'), 'A new key would be made, and the signals of 2 reports kept under it.\n')
    const keys = join(dir, 'keys', 'fraud-keys')
    const [old, hashes] = [readFileSync(keys, 'utf8'), rows(dir, `SELECT hash FROM fraud_signal WHERE hash <> ${HASH}`)]
    assert.equal(await tell(dir, 'rotate-key'), 'The signals of 2 reports are kept under a new key.\n')
    assert.match(readFileSync(keys, 'utf8'), /^2 [0-9a-f]{64}\n$/)
    assert.ok(!readFileSync(keys, 'utf8').includes(old.trim().slice(2)))
    assert.equal(rows(dir, 'SELECT hash FROM fraud_signal').some((hash) => hashes.includes(hash)), false)
    assert.deepEqual(rows(dir, 'SELECT count(*) FROM fraud_signal'), [BigInt(hashes.length + 1)])
    assert.deepEqual(await answer(dir, 'rotate-key'), { reports: 2, unreadable: 0 })
    assert.deepEqual(audited(dir).slice(2), ['cli fraud rotate-key {"reports":2,"unreadable":0}', 'cli fraud rotate-key {"reports":2,"unreadable":0}'])
    writeFileSync(keys, 'x')
    await refuses(dir, ['rotate-key'], 'failed', /fraud-keys is damaged: restore it from your own copy, or remove it and run `fraud rotate-key`$/)
  })

  test('names how many cannot be opened, and keeps their key', async () => {
    const dir = await installation('unreadable', [[A, HOUSE], [B, FARM]])
    changed(dir, 'UPDATE fraud_report SET payload = \'\' WHERE id = 1')
    assert.match(await tell(dir, 'rotate-key'), /^The signals of 1 reports are kept under a new key\. 1 cannot be opened and stay under the old one/)
    assert.match(readFileSync(join(dir, 'keys', 'fraud-keys'), 'utf8'), /^1 [0-9a-f]{64}\n2 [0-9a-f]{64}\n$/)
    assert.match(await tell(dir, 'stats'), /^1 reports cannot be opened, and stay under an old key; the log names them\.$/m)
    // They do not stand in the way of the next new key.
    assert.deepEqual(await answer(dir, 'rotate-key'), { reports: 1, unreadable: 1 })
    assert.match(readFileSync(join(dir, 'keys', 'fraud-keys'), 'utf8'), /^1 [0-9a-f]{64}\n3 [0-9a-f]{64}\n$/)
    assert.deepEqual(rows(dir, 'SELECT count(*) FROM fraud_evidence WHERE own = 0'), [0n], 'nothing is left under the keys between')
  })
})

describe('fraud partner', () => {
  test('keeps the key for its owner alone, and shows it to nobody', async () => {
    const dir = await installation('partner')
    const file = fileOf('partner.key', ` ${SHARED.toUpperCase()}\n`)
    assert.equal(await tries(dir, 'partner', 'coast', '--key', file), 'The key of coast would be kept.\n')
    assert.match(await tell(dir, 'partner', 'coast', '--key', file), /^The key of coast is kept\. Send it to nobody else/)
    const kept = join(dir, 'keys', 'fraud-partner-coast')
    assert.deepEqual([readFileSync(kept, 'utf8').trim(), statSync(kept).mode & 0o777], [SHARED, 0o600])
    assert.deepEqual(await answer(dir, 'partner', 'lakes-2', '--key', fileOf('lakes-2.key', OTHER)), { partner: 'lakes-2', dry_run: false })
    assert.deepEqual(audited(dir), ['cli fraud partner {"name":"coast"}', 'cli fraud partner {"name":"lakes-2"}'])
  })

  test('is refused with what is wrong, and what to do', async () => {
    const dir = await installation('no-partner')
    const good = fileOf('good.key', SHARED)
    await tell(dir, 'partner', 'coast', '--key', good)
    const refused: [args: string[], code: 'usage' | 'invalid_parameter', says: RegExp][] = [
      [[], 'usage', /^<PARTNER> is missing\. For example: quartermaster fraud partner coast --key /], [['lakes'], 'usage', /^--key is missing\. For example: quartermaster fraud partner /],
      [['lakes', '--key', ''], 'usage', /^--key is missing/], [['lakes', '--key', join(scratch, 'nowhere')], 'invalid_parameter', /: key: cannot read .*nowhere$/],
      [['lakes', '--key', scratch], 'invalid_parameter', /: key: cannot read /], [['lakes', '--key', fileOf('short.key', SHARED.slice(1))], 'invalid_parameter', /: key: .*short\.key must hold 64 hex digits, .*`openssl rand -hex 32` makes them$/],
      [['lakes', '--key', fileOf('two.key', `${SHARED}\n${OTHER}`)], 'invalid_parameter', /must hold 64 hex digits/],
      ...['Lakes', 'the lakes', '../lakes', 'x'.repeat(41)].map((name): typeof refused[number] => [[name, '--key', fileOf('other.key', OTHER)], 'invalid_parameter', /: partner: the name of a partner is 1 to 40 small letters, digits and dashes$/]),
      [['lakes', '--key', good], 'invalid_parameter', /: partner: this key is shared with coast already: agree on another one with each partner$/],
      ...[good, fileOf('other.key', OTHER)].map((key): typeof refused[number] => [['coast', '--key', key], 'invalid_parameter', /: partner: "coast" is a partner already; to give it another key, remove .*keys\/fraud-partner-coast first, and take in a new batch after$/]),
    ]
    for (const [args, code, says] of refused) await refuses(dir, ['partner', ...args], code, says)
    assert.equal(audited(dir).length, 1)
  })

  test('gets another key in the way that the refusal says', async () => {
    const dir = await installation('rekeyed')
    await tell(dir, 'partner', 'coast', '--key', fileOf('first.key', SHARED))
    await tell(dir, 'import', 'coast', batch('under-first.ndjson', {}))
    rmSync(join(dir, 'keys', 'fraud-partner-coast'))
    await tell(dir, 'partner', 'coast', '--key', fileOf('second.key', OTHER))
    const second = batch('under-second.ndjson', { made_at: Date.now() + 1 }, { secret: OTHER })
    assert.deepEqual(await answer(dir, 'import', 'coast', second), { partner: 'coast', reports: 1, dealers: 1, removed: 1, dry_run: false })
    assert.deepEqual(rows(dir, 'SELECT count(*) FROM fraud_report'), [1n])
  })
})

describe('fraud partner --remove', () => {
  test('ends a partnership: its key, what came from it and what was kept for it go', async () => {
    const dir = await installation('ended', [[A, HOUSE]])
    await tell(dir, 'partner', 'coast', '--key', fileOf('ended.key', SHARED))
    await tell(dir, 'import', 'coast', batch('ended.ndjson', {}))
    assert.notDeepEqual(rows(dir, 'SELECT count(*) FROM fraud_evidence WHERE own = 0'), [0n])
    assert.equal(await tries(dir, 'partner', 'coast', '--remove'), 'The key of coast and 1 reports that came from it would be removed.\n')
    assert.equal(await tell(dir, 'partner', 'coast', '--remove'), 'The key of coast and 1 reports that came from it are removed.\n')
    assert.ok(!existsSync(join(dir, 'keys', 'fraud-partner-coast')))
    assert.deepEqual(['SELECT count(*) FROM fraud_report', 'SELECT count(*) FROM fraud_partner', 'SELECT count(*) FROM fraud_evidence WHERE own = 0'].map((sql) => rows(dir, sql)), [[1n], [0n], [0n]])
    assert.deepEqual(audited(dir).at(-1), 'cli fraud partner remove {"name":"coast","reports":1}')
    await refuses(dir, ['partner', 'coast', '--remove'], 'invalid_parameter', /: partner: "coast" is no partner; known are none; `fraud partner` makes one$/)
    await refuses(dir, ['partner', 'coast', '--remove', '--key', join(scratch, 'ended.key')], 'invalid_parameter', /: remove: a key is kept or a partnership ended, not both$/)
    // Whoever it is by now: nothing is known of it.
    await tell(dir, 'partner', 'coast', '--key', join(scratch, 'ended.key'))
    assert.deepEqual(await answer(dir, 'import', 'coast', batch('begun.ndjson', { made_at: Date.UTC(2026, 5, 4), installation: '00'.repeat(16) })), { partner: 'coast', reports: 1, dealers: 1, removed: 0, dry_run: false })
  })
})

describe('fraud export', () => {
  test('writes a file that is there for its owner alone, and holds no value', async () => {
    const dir = await installation('export', [[A, HOUSE], [B, FARM]])
    await tell(dir, 'partner', 'coast', '--key', fileOf('export.key', SHARED))
    const out = join(scratch, 'out.ndjson')
    assert.equal(await tries(dir, 'export', 'coast', '--out', out), '2 reports would be written.\n')
    assert.ok(!existsSync(out))
    assert.equal(await tell(dir, 'export', 'coast', '--out', out), `2 reports are in ${out}, as hashes under the key that is shared with coast.\n`)
    assert.equal(statSync(out).mode & 0o777, 0o600)
    const text = readFileSync(out, 'utf8')
    assert.doesNotMatch(text, /birch|orchard|customer|rifle|arms of/i)
    for (const secret of [SHARED, ...rows(dir, 'SELECT id FROM subscriber'), ...rows(dir, 'SELECT hash FROM fraud_signal')]) assert.ok(!text.includes(String(secret)), String(secret))
    assert.deepEqual(await answer(dir, 'export', 'coast', '--out', join(scratch, 'again.ndjson')), { partner: 'coast', reports: 2, unreadable: 0, dry_run: false })
    assert.deepEqual(audited(dir).slice(1), ['cli fraud export {"partner":"coast","reports":2}', 'cli fraud export {"partner":"coast","reports":2}'])

    const refused: [args: string[], code: 'usage' | 'invalid_parameter', says: RegExp][] = [
      [['coast', '--out', out], 'invalid_parameter', /: out: .*out\.ndjson is there already; name another file$/], [['coast', '--out', join(scratch, 'no', 'folder')], 'invalid_parameter', /: out: cannot write .*no\/folder \(ENOENT\)$/],
      [['lakes', '--out', join(scratch, 'new')], 'invalid_parameter', /: partner: "lakes" is no partner; known are coast; `fraud partner` makes one$/], [['coast'], 'usage', /^--out is missing\. For example: quartermaster fraud export /], [[], 'usage', /^<PARTNER> is missing/],
    ]
    for (const [args, code, says] of refused) await refuses(dir, ['export', ...args], code, says)
    assert.equal(readFileSync(out, 'utf8'), text)
    assert.ok(!existsSync(join(scratch, 'new')))
  })

  test('leaves a report out that cannot be opened, and says so', async () => {
    const dir = await installation('half', [[A, HOUSE], [B, FARM]])
    await tell(dir, 'partner', 'coast', '--key', fileOf('half.key', SHARED))
    changed(dir, 'UPDATE fraud_report SET payload = \'\' WHERE id = 1')
    const out = join(scratch, 'half.ndjson')
    assert.equal(await tries(dir, 'export', 'coast', '--out', out), '1 reports would be written.\n1 reports cannot be opened and are left out; the log names them.\n')
    assert.deepEqual(await answer(dir, 'export', 'coast', '--out', out), { partner: 'coast', reports: 1, unreadable: 1, dry_run: false })
  })

  test('leaves no half of a file where it fails', async () => {
    const dir = await installation('failed', [[A, HOUSE]])
    await tell(dir, 'partner', 'coast', '--key', fileOf('failed.key', SHARED))
    changed(dir, 'ALTER TABLE fraud_report RENAME TO elsewhere')
    const out = join(scratch, 'failed.ndjson')
    const done = await run(dir, 'fraud', 'export', 'coast', '--out', out)
    assert.deepEqual([done.status, existsSync(out)], [1, false])
  })
})

describe('fraud import', () => {
  let dir: string
  before(async () => {
    dir = await installation('import')
    await tell(dir, 'partner', 'coast', '--key', fileOf('import.key', SHARED))
    await tell(dir, 'partner', 'lakes', '--key', fileOf('lakes.key', OTHER))
    await tell(dir, 'import', 'coast', batch('last.ndjson', {}))
  })

  const DAY = 86_400_000
  const next = { made_at: Date.now() + DAY / 2 }
  const altered: Record<string, [make: (good: string) => string, says: RegExp]> = {
    'was changed': [(good) => fileOf('b', good.replace('2026-06-02', '2025-06-02')), /was cut off or changed, or sealed with another key than the one that is shared with coast: have it sent again, or compare the keys$/],
    'was cut off': [(good) => fileOf('b', good.slice(0, good.indexOf('{"reports'))), /was cut off or changed/], 'was cut off within a line': [(good) => fileOf('b', good.slice(0, -20)), /is no batch of signals; `fraud export` writes one$/],
    'lost a report': [(good) => fileOf('b', good.replace(`${REPORT}\n`, '')), /was cut off or changed/], 'was given one more': [(good) => fileOf('b', good.replace(REPORT, `${REPORT}\n${REPORT}`)), /was cut off or changed/],
    'goes on': [() => batch('b', next, { behind: `${REPORT}\n` }), /goes on behind its seal; have it sent again$/], 'is foreign': [() => batch('b', next, { secret: OTHER }), /sealed with another key than the one that is shared with coast/],
    'says another count': [() => batch('b', next, { reports: 2 }), /holds 1 reports, and says 2$/], 'is of other rules': [() => batch('b', { ...next, form: 2 }), /other rules of spelling \(2, not 1\): both sides need the same$/],
    'is of nobody': [() => batch('b', { ...next, installation: undefined }), /is no batch/], 'is of another installation': [() => batch('b', { ...next, installation: '00'.repeat(16) }), /comes from another installation than coast's batches before; if it was set up anew, end the partnership with `fraud partner coast --remove`, and begin again$/],
    ...Object.fromEntries(Object.entries({
      'an unknown day': ['2026-06-02', '2026-06-31'], 'a day of no form': ['"last":"2026-06-03"', '"last":"1"'], 'a day that is to come': ['"last":"2026-06-03"', '"last":"9999-12-31"'], 'days in disorder': ['"first":"2026-06-02"', '"first":"2026-06-04"'],
      'a day of long ago': ['"first":"2026-06-02"', '"first":"1970-01-01"'], 'no dealer': ['"dealer":"d"', '"dealer":""'], 'an endless dealer': ['"dealer":"d"', `"dealer":"${'d'.repeat(65)}"`], 'a signal twice': ['[[', `[[1,"${HASH}"],[`],
      'a signal of no kind': ['[[1,', '[[10,'], 'a hash of more than 64 bits': [HASH, '9223372036854775808'], 'no strong signal': ['[[1,', '[[5,'], 'too many signals': ['[[', `[${Array.from({ length: 400 }, (_, n) => `[7,"${n}"],`).join('')}[`],
    }).map(([what, [from, to]]): [string, typeof altered[string]] => [`says ${what}`, [() => batch('b', next, { report: REPORT.replace(from!, to!) }), /says what cannot be: the (days|dealer|signals) of report 1; /]])),
    'has a line without end': [() => batch('b', next, { report: `{"x":"${'x'.repeat(40_000)}"}` }), /is no batch/],
    'is of another version': [() => batch('b', { ...next, batch: 2 }), /is no batch/], 'comes from the future': [() => batch('b', { made_at: Date.now() + 3 * DAY }), /was made in the future: a clock is wrong, here or there$/],
    'is older': [() => batch('b', { made_at: Date.now() - DAY }), /is not newer than the batch that was taken in last; have a new one made$/], 'came before': [() => join(scratch, 'last.ndjson'), /is not newer/],
    'is empty': [() => fileOf('b', ''), /is no batch/], 'is null': [() => fileOf('b', 'null\n'), /is no batch/], 'is a list of numbers': [() => fileOf('b', '1\n2\n'), /is no batch/], 'holds a null': [(good) => fileOf('b', good.replace(REPORT, 'null')), /is no batch/],
    'is a spreadsheet': [() => fileOf('b', 'upc,name\n'), /is no batch/], 'is not there': [() => join(scratch, 'nowhere'), /nowhere is not there$/], 'is a folder': [() => scratch, /cannot be read \(EISDIR\)$/],
  }
  for (const [what, [make, says]] of Object.entries(altered)) {
    test(`refuses a file that ${what}, whole`, async () => {
      await refuses(dir, ['import', 'coast', make(readFileSync(batch('good.ndjson', next), 'utf8'))], 'invalid_parameter', new RegExp(`^invalid_parameter: file: .*${says.source}`))
    })
  }

  test('refuses a partner that nobody named, and a file of another partner', async () => {
    await refuses(dir, ['import', 'nobody', batch('b', next)], 'invalid_parameter', /: partner: "nobody" is no partner; known are coast, lakes; `fraud partner` makes one$/)
    await refuses(dir, ['import', 'lakes', batch('b', next)], 'invalid_parameter', /: file: .* sealed with another key than the one that is shared with lakes/)
    await refuses(dir, ['import', 'coast'], 'usage', /^<FILE> is missing/)
    assert.equal(audited(dir).length, 3)
    writeFileSync(join(dir, 'keys', 'fraud-partner-lakes'), OTHER.slice(2))
    await refuses(dir, ['import', 'lakes', batch('b', next)], 'failed', /fraud-partner-lakes is damaged: it must be 64 hex digits, as the partner has them$/)
  })
})

describe('two installations', () => {
  test('share signals over a file: a server counts the other\'s dealers, and the newer batch holds', async () => {
    const [there, here] = [await installation('there', [[A, HOUSE], [B, HOUSE], [B, FARM]]), await installation('here', [[A, HOUSE]])]
    const file = fileOf('agreed.key', SHARED)
    for (const dir of [there, here]) await tell(dir, 'partner', 'coast', '--key', file)
    const { key } = lastLine(await run(here, 'keys', 'create', '--subscriber', A, '--name', 'web', '--ip', '127.0.0.1', '--json')) as unknown as { key: string }
    const { child, first } = await start(here, 'serve')
    try {
      const check = async ({ notes: _own, ...body }: Record<string, string>) => {
        const response = await fetch(`${first.url}/v1/fraud/check`, { method: 'POST', headers: { 'x-api-key': key }, body: JSON.stringify(body) })
        const { fraud } = (await response.json() as { data: { fraud: { matched: boolean; report_count: number; reported_by_you: boolean; notes: string[] } } }).data
        return [fraud.matched, fraud.report_count, fraud.reported_by_you, fraud.notes.length]
      }
      assert.deepEqual([await check(HOUSE), await check(FARM)], [[true, 1, true, 1], [false, 0, false, 0]])
      const one = join(scratch, 'one.ndjson')
      assert.deepEqual(await runProcess(there, 'fraud', 'export', 'coast', '--out', one), { status: 0, out: `3 reports are in ${one}, as hashes under the key that is shared with coast.\n`, err: '' })
      assert.equal(await tell(here, 'import', 'coast', one, '--dry-run'), '3 reports of 2 dealers would be taken in.\n')
      assert.deepEqual(await check(FARM), [false, 0, false, 0])
      assert.equal(await tell(here, 'import', 'coast', one), '3 reports of 2 dealers are taken in, 0 older ones removed.\n')
      assert.deepEqual([await check({ ...HOUSE, email: 'new@customer.example' }), await check({ ...FARM, shipping_address_1: '77 ORCHARD LN' })], [[true, 3, true, 1], [true, 1, false, 0]])

      await tell(there, 'erase', '--subscriber', B)
      await tell(there, 'rotate-key')
      const two = join(scratch, 'two.ndjson')
      await tell(there, 'export', 'coast', '--out', two)
      assert.deepEqual(await answer(here, 'import', 'coast', two), { partner: 'coast', reports: 1, dealers: 1, removed: 3, dry_run: false })
      assert.deepEqual([await check({ ...HOUSE, phone: '' }), await check({ ...FARM, email: 'sam@customer.example' })], [[true, 2, true, 1], [false, 0, false, 0]])
      const refused = await runProcess(here, 'fraud', 'import', 'coast', one)
      assert.deepEqual([refused.status, refused.out, /^invalid_parameter: file: .* is not newer/.test(refused.err)], [1, '', true], refused.err)
      // What a partner sent is not passed on, and this installation's own reports are not the partner's.
      assert.equal((await answer(here, 'export', 'coast', '--out', join(scratch, 'back.ndjson')))['reports'], 1)
      assert.deepEqual(audited(here), ['cli fraud partner {"name":"coast"}', 'cli fraud import {"partner":"coast","reports":3,"removed":0}', 'cli fraud import {"partner":"coast","reports":1,"removed":3}', 'cli fraud export {"partner":"coast","reports":1}'])
    } finally {
      assert.equal(await stop(child), 0)
    }
  })
})
