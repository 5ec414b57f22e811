/** The doctor: on a folder that is well, beside a server, and on folders that are broken. */
import assert from 'node:assert/strict'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { examine } from '../../lib/app/look/doctor.js'
import type { Examination } from '../../lib/app/look/doctor.js'
import type { DoctorInput } from '../../lib/app/look/input.js'
import { DAY } from '../../lib/core/clock.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openSqlite } from '../../lib/db/sqlite/driver.js'
import { builtin } from '../../lib/distributors/builtin/index.js'
import { withServers } from '../../lib/distributors/servers.js'
import { contents, json, lastLine, run, runProcess, start, stop } from './launcher.js'

let scratch: string
let shop: string
let copies = 0

before(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-doctor-'))
  shop = join(scratch, 'shop')
  await json(shop, 'init')
  chmodSync(shop, 0o700)
  await json(shop, 'subscribers', 'create', '--name', 'Main Street', '--email', 'a@b.example')
  await json(shop, 'backup', join(scratch, 'backups', 'one'))
  // The suite's own mask leaves files that others could read.
  for (const name of readdirSync(shop, { recursive: true, encoding: 'utf8' }))
    chmodSync(join(shop, name), /^(keys|history)$/.test(name) ? 0o700 : 0o600)
})
after(() => rmSync(scratch, { recursive: true, force: true }))

/** A copy of the folder, for a test to break. */
function copy(): string {
  const dir = join(scratch, `copy-${++copies}`)
  cpSync(shop, dir, { recursive: true, preserveTimestamps: true })
  return dir
}

/** As the command does it, without the machine's surroundings. */
function look(dir: string, more: Partial<DoctorInput> = {}): Promise<Examination> {
  return examine({
    dir,
    program: '0.0.0',
    now: Date.now,
    monotonic: () => performance.now(),
    distributors: builtin,
    egress: {},
    offline: false,
    ...more,
  })
}

const found = ({ findings }: Examination, check: string, subject?: string) =>
  findings.find((one) => one.check === check && (subject ?? one.subject) === one.subject)

describe('the doctor', () => {
  test('finds nothing wrong with a folder that is well, and changes nothing in it', async () => {
    const before = contents(shop)
    const { findings, worst } = await look(shop)
    const severe = findings.filter(({ severity }) => severity === 'bad')
    assert.deepEqual(severe, [])
    assert.ok(['ok', 'info', 'warn'].includes(worst))
    for (const check of [
      'versions',
      'clock',
      'disk',
      'sync',
      'file_times',
      'owner',
      'key_modes',
      'modes',
      'database',
      'wal',
      'secret_key',
      'journal',
      'audit',
      'feed_stale',
      'job_failing',
      'order_in_review',
      'orders_paused',
      'backups',
      'objects',
      'egress',
    ])
      assert.equal(findings.find((one) => one.check === check)?.severity, 'ok', check)
    assert.deepEqual(contents(shop), before)
    assert.deepEqual(
      readdirSync(shop).filter((name) => name.startsWith('.')),
      [],
    )
  })

  test('runs beside a server, and names its process', async () => {
    const dir = copy()
    const { child } = await start(dir, 'serve')
    try {
      const examined = await look(dir)
      assert.equal(
        found(examined, 'server')?.severity,
        process.platform === 'linux' ? 'ok' : 'info',
      )
      if (process.platform === 'linux')
        assert.match(found(examined, 'server')!.message, new RegExp(`process ${child.pid}$`))
      assert.equal(found(examined, 'journal')?.severity, 'ok')
      assert.equal(found(examined, 'stranger')?.severity ?? 'ok', 'ok')
    } finally {
      assert.equal(await stop(child), 0)
    }
  })

  const broken: [
    name: string,
    harm: (dir: string) => void,
    check: string,
    says: RegExp,
    mend: RegExp,
  ][] = [
    [
      'a system of record that is damaged',
      (dir) => writeFileSync(filesIn(dir).record, 'not a database, but of some length'),
      'database',
      /quartermaster\.db is damaged: .*not a database/,
      /^quartermaster restore BACKUP --dir /,
    ],
    [
      'a system of record that was emptied',
      (dir) => truncateSync(filesIn(dir).record, 0),
      'database',
      /quartermaster\.db is damaged: it is empty/,
      /restore BACKUP/,
    ],
    [
      'a catalog that is damaged',
      (dir) => writeFileSync(filesIn(dir).catalog, 'not a database, but of some length'),
      'database',
      /catalog\.db is damaged/,
      /made anew/,
    ],
    [
      'a folder of a newer release',
      (dir) => pragma(filesIn(dir).record, 'user_version = 999'),
      'database',
      /schema 999, and this release knows \d+/,
      /install that release/,
    ],
    [
      'a key that is missing',
      (dir) => rmSync(join(dir, 'keys', 'secret-key')),
      'secret_key',
      /secret-key is missing/,
      /own copy/,
    ],
    [
      'a key of another installation',
      (dir) => writeFileSync(join(dir, 'keys', 'secret-key'), 'ab'.repeat(32)),
      'secret_key',
      /another installation/,
      /own copy/,
    ],
    [
      'a key that is damaged',
      (dir) => writeFileSync(join(dir, 'keys', 'secret-key'), 'hello'),
      'secret_key',
      /64 hex digits/,
      /own copy/,
    ],
    [
      'a key that others can read',
      (dir) => chmodSync(join(dir, 'keys', 'secret-key'), 0o644),
      'key_modes',
      /other users can read keys\/secret-key/,
      /^chmod -R go-rwx \S+\/keys$/,
    ],
    [
      'an audit of which a row was changed',
      (dir) => statement(filesIn(dir).record, "UPDATE audit SET actor = 'nobody' WHERE seq = 1"),
      'audit',
      /its digest does not fit/,
      /^quartermaster audit verify$/,
    ],
    [
      'no folder at all',
      (dir) => rmSync(dir, { recursive: true }),
      'folder',
      /there is no folder/,
      /^quartermaster init --dir /,
    ],
    [
      'a folder without an installation',
      (dir) => {
        rmSync(dir, { recursive: true })
        mkdirSync(dir)
      },
      'folder',
      /there is no installation/,
      /^quartermaster init --dir /,
    ],
  ]
  for (const [name, harm, check, says, mend] of broken) {
    test(`tells of ${name}, and of what mends it`, async () => {
      const dir = copy()
      harm(dir)
      const examined = await look(dir)
      const wrong = examined.findings.filter((one) => one.check === check && one.severity === 'bad')
      assert.equal(wrong.length, 1, JSON.stringify(examined.findings))
      assert.match(wrong[0]!.message, says)
      assert.match(wrong[0]!.mend ?? '', mend)
      assert.equal(examined.worst, 'bad')
      assert.equal(
        found(examined, 'versions')?.severity,
        'ok',
        'the machine is looked at all the same',
      )
    })
  }

  test('tells of a file that should be a folder', async () => {
    const file = join(scratch, 'file')
    writeFileSync(file, '')
    assert.match(found(await look(file), 'folder')!.message, /is a file/)
  })

  test('tells how old the newest backup is, in a folder of backups or as the audit has it', async () => {
    const later = (days: number) => ({ now: () => Date.now() + days * DAY })
    const ages = async (more: Partial<DoctorInput>) => found(await look(shop, more), 'backups')!
    assert.equal((await ages({})).severity, 'ok')
    assert.equal((await ages(later(2))).severity, 'warn')
    assert.equal((await ages(later(9))).severity, 'bad')
    assert.match((await ages(later(9))).mend!, /^quartermaster backup \/backups\/\d{4}-/)
    assert.equal((await ages({ backups: join(scratch, 'backups') })).severity, 'ok')
    assert.match((await ages({ backups: shop })).message, /there is no backup in/)
  })

  test('connects to the servers of a distributor that is live, and says nothing there', async () => {
    const dir = copy()
    statement(
      filesIn(dir).record,
      "INSERT INTO distributor_mode (distid, mode, changed_at, changed_by) VALUES ('LIP', 'live', 1, 'test')",
    )
    let heard = ''
    const listener = createServer((socket) => {
      socket.on('data', (bytes) => {
        heard += bytes.toString('latin1')
      })
      socket.on('error', () => {})
    })
    await new Promise<void>((resolve) => {
      listener.listen(0, '127.0.0.1', resolve)
    })
    const { port } = listener.address() as AddressInfo
    const at = (url: string) => ({
      distributors: withServers(builtin, { LIP: { api: url } }),
      egress: { privateHosts: ['127.0.0.1'] },
    })
    const url = `https://127.0.0.1:${port}/`
    assert.equal(found(await look(dir, at(url)), 'egress', 'LIP')?.severity, 'ok')
    await new Promise((resolve) => {
      listener.close(resolve)
    })
    assert.equal(heard, '')
    const gone = found(await look(dir, at(url)), 'egress', 'LIP')!
    assert.equal(gone.severity, 'bad')
    assert.match(gone.message, /cannot be reached: 127\.0\.0\.1 port \d+: ECONNREFUSED/)
    assert.equal(found(await look(dir, { ...at(url), offline: true }), 'egress', 'LIP'), undefined)
  })

  test('ends with 0, 1 or 3 by the worst finding, and says it all as JSON', async () => {
    const dir = copy()
    const well = await run(dir, 'doctor', '--offline', '--json')
    const { worst, findings } = lastLine(well) as unknown as Examination
    assert.equal(well.status, worst === 'warn' ? 1 : 0)
    assert.ok(findings.every(({ message }) => !message.includes('\n')))
    rmSync(join(dir, 'keys', 'secret-key'))
    const ill = await runProcess(dir, 'doctor', '--offline')
    assert.equal(ill.status, 3, ill.out)
    assert.match(ill.out, /^bad {3}secret_key: .*\n(?: .*\n)* {6}-> put your own copy/m)
    assert.match(ill.out, /: 1 bad, \d+ warnings? of \d+ findings\.\n$/)
    assert.ok(!existsSync(join(dir, 'keys', 'secret-key')))
  })
})

function pragma(path: string, text: string): void {
  const raw = openSqlite(path)
  raw.pragma(text)
  raw.close()
}

function statement(path: string, text: string): void {
  const raw = openSqlite(path)
  raw.exec(text)
  raw.close()
}
