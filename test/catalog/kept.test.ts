/** The snapshot that is kept on the disk: what is written, what is read, and what is thrown away. */
import assert from 'node:assert/strict'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { FORM, KeptFault, readArena, writeArena } from '../../lib/catalog/kept/arena-file.js'
import { openBuilder } from '../../lib/catalog/kept/build.js'
import type { SnapshotParts } from '../../lib/catalog/snapshot/parts.js'
import { silentLog } from '../../lib/core/log.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { generateCatalog, writeOffers } from '../../scripts/bench/offers.js'
import { openForTest as open } from '../../server/testing/open.js'
import type { WatchedApp } from '../../server/testing/open.js'

const OFFERS = 3_000

let scratch: string
let made: string
let places = 0
before(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-kept-'))
  made = join(scratch, 'made')
  mkdirSync(made)
  generateCatalog(filesIn(made).catalog, OFFERS)
  const builder = openBuilder({ isOwner: true })
  assert.equal((await builder.build(made)).from, 'catalog')
  assert.equal(builder.keep(made), true)
})
after(() => rmSync(scratch, { recursive: true, force: true }))

/** A folder with a catalog and the snapshot of it. */
function folder(): string {
  const dir = join(scratch, `place-${++places}`)
  cpSync(made, dir, { recursive: true })
  return dir
}

const kept = (dir: string) => join(dir, 'snapshot')
const namesIn = (dir: string) => readdirSync(kept(dir)).sort()
const partIn = (dir: string, kind: 'text' | 'tick') =>
  join(
    kept(dir),
    namesIn(dir).find((name) => name.startsWith(`${kind}-`))!,
  )
const start = (dir: string, isOwner = true) => openBuilder({ isOwner }).build(dir)

function sqlIn(dir: string, sql: string): void {
  const raw = openFile(filesIn(dir).catalog, { synchronous: 'NORMAL' })
  raw.exec(sql)
  raw.close()
}

const NEW_PRICES = `UPDATE offer SET price = price + 100, revision = 2 WHERE id % 7 = 0;
  UPDATE state SET revision = 2, version = 'second-2'`

/** What a snapshot says, buffers as their bytes. */
const contentOf = ({ text, tick, ...rest }: SnapshotParts) => ({
  ...rest,
  tables: [text.table, tick.table],
  text: Buffer.from(text.buffer).toString('base64'),
  tick: Buffer.from(tick.buffer).toString('base64'),
})

describe('a snapshot that is kept', () => {
  test('is two files named by their digest, and what points at them', () => {
    const names = namesIn(folder())
    assert.equal(names.length, 3)
    assert.match(names.join(' '), /^current\.json text-[0-9a-f]{64} tick-[0-9a-f]{64}$/)
  })

  test('is what the next start reads, to the last byte', async () => {
    const dir = folder()
    const { from, fault, parts } = await start(dir)
    assert.equal(fault, null)
    assert.equal(from, 'file')
    rmSync(kept(dir), { recursive: true })
    const built = await start(dir)
    assert.equal(built.from, 'catalog')
    assert.deepEqual(contentOf(parts), contentOf(built.parts))
  })

  test('whose prices are older gets the new ones, and its text is not built again', async () => {
    const dir = folder()
    sqlIn(dir, NEW_PRICES)
    const { from, parts } = await start(dir)
    assert.equal(from, 'tick')
    rmSync(kept(dir), { recursive: true })
    assert.deepEqual(contentOf(parts), contentOf((await start(dir)).parts))
  })

  test('is written anew only in the part that has changed', async () => {
    const dir = folder()
    const [text, tick] = [partIn(dir, 'text'), partIn(dir, 'tick')]
    const { ino } = statSync(text)
    const builder = openBuilder({ isOwner: true })
    await builder.build(dir)
    sqlIn(dir, NEW_PRICES)
    assert.equal((await builder.build(dir)).from, 'tick')
    assert.equal(builder.keep(dir), true)
    assert.equal(namesIn(dir).length, 3)
    assert.equal(statSync(text).ino, ino)
    assert.equal(existsSync(tick), false)
    assert.equal((await start(dir)).parts.version, 'second-2')
  })

  test('is not written where there is too little room', async () => {
    const dir = folder()
    rmSync(kept(dir), { recursive: true })
    const builder = openBuilder({ isOwner: true, freeBytes: () => 1_000 })
    await builder.build(dir)
    assert.equal(builder.keep(dir), false)
    assert.equal(existsSync(kept(dir)), false)
  })

  // A change to what a build makes needs a new FORM, or servers serve what older code has built.
  test('has the form whose number it carries', () => {
    assert.deepEqual(
      { form: FORM, names: namesIn(made).slice(1) },
      {
        form: 2,
        names: [
          'text-cc9a53429c21107aba01c8b498bf2a6b25d542cbc7f16ec35b96bfa50a140d35',
          'tick-609d41c49b8d14dce6026937054c8c8c5504f41749611a1e3cb6102301123c37',
        ],
      },
    )
  })
})

describe('a kept snapshot is thrown away, and built anew', () => {
  const flip = (path: string, at: number) => {
    const bytes = readFileSync(path)
    bytes[at < 0 ? bytes.length + at : at]! ^= 1
    writeFileSync(path, bytes)
  }
  const pointing = (dir: string, change: object) => {
    const path = join(kept(dir), 'current.json')
    const pointer = JSON.parse(readFileSync(path, 'utf8')) as object
    writeFileSync(path, JSON.stringify({ ...pointer, ...change }))
  }
  const DAMAGES: [string, RegExp, (dir: string) => void][] = [
    ['whose text is cut off', /is cut off/, (dir) => truncateSync(partIn(dir, 'text'), 70_000)],
    ['whose tick is empty', /cut off/, (dir) => truncateSync(partIn(dir, 'tick'), 0)],
    [
      'with another bit at its end',
      /does not hold what its name/,
      (dir) => flip(partIn(dir, 'text'), -100),
    ],
    [
      'with another bit in its header',
      /header|another release|what its name|cut off/,
      (dir) => flip(partIn(dir, 'tick'), 40),
    ],
    ['that begins otherwise', /not a part of a snapshot/, (dir) => flip(partIn(dir, 'text'), 0)],
    ['that lacks a part', /is missing/, (dir) => rmSync(partIn(dir, 'tick'))],
    ['of another release', /of another release/, (dir) => pointing(dir, { form: FORM + 1 })],
    [
      'whose pointer is cut off',
      /current\.json is damaged/,
      (dir) => truncateSync(join(kept(dir), 'current.json'), 20),
    ],
    [
      'of another catalog.db',
      /another catalog\.db/,
      (dir) => sqlIn(dir, "UPDATE state SET made = 'another'"),
    ],
    [
      'that is ahead of catalog.db',
      /was set back/,
      (dir) => sqlIn(dir, 'UPDATE state SET revision = 0'),
    ],
    [
      'of another history of catalog.db',
      /was set back/,
      (dir) => sqlIn(dir, "UPDATE state SET version = 'other-1'"),
    ],
  ]
  for (const [name, reason, damage] of DAMAGES)
    test(`one ${name}`, async () => {
      const dir = folder()
      damage(dir)
      // A command beside a server leaves it to the server.
      const command = await start(dir, false)
      assert.match(command.fault ?? '', reason)
      assert.equal(existsSync(kept(dir)), true)
      const server = await start(dir)
      assert.match(server.fault ?? '', reason)
      assert.equal(server.from, 'catalog')
      assert.equal(server.parts.rows, OFFERS)
      assert.equal(existsSync(kept(dir)), false)
    })

  test('but one whose text is older is built anew without a word', async () => {
    const dir = folder()
    sqlIn(dir, "UPDATE state SET revision = 2, text_revision = 2, version = 'second-2'")
    const { from, fault } = await start(dir)
    assert.deepEqual({ from, fault }, { from: 'catalog', fault: null })
  })
})

describe('a part that is read in several pieces', () => {
  const BYTES = 13 * 1_024 * 1_024 + 8
  const change = (path: string, at: number) => {
    const file = openSync(path, 'r+')
    const byte = Buffer.alloc(1)
    readSync(file, byte, 0, 1, at)
    byte[0]! ^= 1
    writeSync(file, byte, 0, 1, at)
    closeSync(file)
  }

  test('has all of them in their places, and is refused for any one of them', async () => {
    const place = mkdtempSync(join(scratch, 'pieces-'))
    const buffer = new SharedArrayBuffer(BYTES)
    const numbers = new Uint32Array(buffer)
    for (let i = 0; i < numbers.length; i++) numbers[i] = i
    const digest = writeArena(place, 'text', { buffer, table: {} }, 'about it')
    const { arena, about } = await readArena(place, 'text', digest)
    assert.equal(about, 'about it')
    assert.ok(Buffer.from(arena.buffer).equals(Buffer.from(buffer)))
    const path = join(place, `text-${digest}`)
    const { size } = statSync(path)
    for (const at of [size - BYTES, size - BYTES / 2, size - 1]) {
      change(path, at)
      await assert.rejects(readArena(place, 'text', digest), KeptFault, `byte ${at}`)
      change(path, at)
    }
    await readArena(place, 'text', digest)
  })
})

describe('an app with a worker', () => {
  const openOver = async (dir: string): Promise<WatchedApp> => {
    const app = await open({ dir })
    await app.ctx.catalog.first()
    return app
  }

  test('starts with what the one before it has kept', async () => {
    const dir = join(scratch, 'app')
    await (await open({ dir, worker: false })).close()
    const catalog = openFile(filesIn(dir).catalog, { synchronous: 'NORMAL' })
    writeOffers(catalog, OFFERS)
    catalog.close()
    const first = await openOver(dir)
    const { state, offers, lastBuild } = first.ctx.catalog.status()
    assert.deepEqual(
      { state, offers, from: lastBuild?.from },
      { state: 'ready', offers: OFFERS, from: 'catalog' },
    )
    while (!existsSync(join(kept(dir), 'current.json'))) await new Promise(setImmediate)
    await first.close()
    const second = await openOver(dir)
    assert.equal(second.ctx.catalog.status().lastBuild?.from, 'file')
    assert.equal(second.ctx.catalog.current()!.rows, OFFERS)
    await second.close()
  })

  test('serves all the same where the snapshot cannot be written, and says so once', async () => {
    const dir = join(scratch, 'unwritable')
    const warnings: string[] = []
    const log = { ...silentLog, warn: (_: object, message: string) => warnings.push(message) }
    const app = await open({ dir, log })
    // A folder stands where the file is to be written.
    mkdirSync(join(kept(dir), 'text.draft', 'taken'), { recursive: true })
    const catalog = openFile(filesIn(dir).catalog, { synchronous: 'NORMAL', patient: true })
    writeOffers(catalog, OFFERS)
    await app.ctx.catalog.refresh()
    while (warnings.length === 0) await new Promise(setImmediate)
    catalog.exec(NEW_PRICES)
    catalog.close()
    await app.ctx.catalog.refresh()
    assert.equal(app.ctx.catalog.current()!.version, 'second-2')
    await app.close()
    assert.deepEqual(warnings, [
      'the snapshot cannot be kept on the disk: the next start has to build it',
    ])
  })
})
