/** `open` opens all of an app or nothing of it. */
import assert from 'node:assert/strict'
import { AsyncLocalStorage, createHook } from 'node:async_hooks'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { open } from '../../lib/app/open.js'
import type { OpenOptions } from '../../lib/app/open.js'
import { filesIn, prepareFolder } from '../../lib/db/sqlite/folder.js'
import { openEngine } from '../../lib/db/sqlite/engine.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { builtin } from '../../lib/distributors/builtin/index.js'
import { isOnPostgres, oneFolder, sqlOnRecord } from '../harness/record.js'

let dir: string
before(() => {
  dir = mkdtempSync(join(tmpdir(), 'qm-open-'))
})
after(() => rmSync(dir, { recursive: true, force: true }))

/** Files below a folder that this process has open. */
function openFiles(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const file = readlinkSync(join('/proc/self/fd', fd))
      return file.startsWith(folder) ? [file] : []
    } catch {
      // The listing's own.
      return []
    }
  })
}

/**
 * Where timers were set that `work` leaves. Another suite of this process may have an app open, and
 * on PostgreSQL that one sets timers all the time: what did not come of `work` does not count.
 */
async function timersLeft(work: () => Promise<unknown>): Promise<string[]> {
  const live = new Map<number, string>()
  const within = new AsyncLocalStorage<true>()
  const hook = createHook({
    init(id, type) {
      if (type === 'Timeout' && within.getStore()) live.set(id, new Error('a timer').stack ?? '')
    },
    destroy(id) {
      live.delete(id)
    },
  }).enable()
  try {
    await within.run(true, work)
    // A connection to a server ends a moment after who has it; a timer that is left stays.
    const until = performance.now() + (isOnPostgres ? 10_000 : 0)
    do await new Promise(setImmediate)
    while (live.size > 0 && performance.now() < until)
    return [...live.values()]
  } finally {
    hook.disable()
  }
}

/** A state folder of its own, which was opened and closed once. */
async function folder(name: string): Promise<string> {
  const path = join(dir, name)
  const app = await open({ dir: path, worker: false })
  await app.close()
  return path
}

const sqlIn = (path: string, sql: string) => {
  const raw = openFile(path, { synchronous: 'NORMAL' })
  raw.exec(sql)
  raw.close()
}

interface Stage {
  /** What fails. */
  at: string
  /** Makes it fail. */
  spoil?: (path: string) => unknown
  skip?: string | false
  options?: OpenOptions
  error: RegExp
}

const NO_TABLE = /no such table|does not exist/

/** In the order in which an app is opened. */
const STAGES: readonly Stage[] = [
  {
    at: 'the secret key',
    options: { secretKey: 'ab'.repeat(32) },
    error: /secret key/,
  },
  {
    at: 'a migration',
    skip: oneFolder,
    spoil: (path) => sqlIn(filesIn(path).meter, 'PRAGMA user_version = 9999'),
    error: /newer release/,
  },
  {
    at: 'the database of another program',
    skip: oneFolder,
    spoil: (path) => sqlIn(filesIn(path).record, 'PRAGMA application_id = 1'),
    error: /not a Quartermaster database/,
  },
  {
    at: 'the data keys',
    spoil: (path) => sqlOnRecord(path, 'DROP TABLE secret_key'),
    error: NO_TABLE,
  },
  {
    at: 'the audit',
    spoil: (path) => sqlOnRecord(path, 'DROP TABLE audit'),
    error: NO_TABLE,
  },
  {
    at: 'the distributors',
    options: { distributors: [...builtin, builtin[0]!] },
    error: /two distributors share/,
  },
  {
    at: 'the limits',
    skip: oneFolder,
    spoil: (path) => sqlIn(filesIn(path).meter, 'DROP TABLE usage'),
    error: NO_TABLE,
  },
  {
    at: 'the catalog',
    spoil: (path) => sqlIn(filesIn(path).catalog, 'DROP TABLE state'),
    error: /no such table/,
  },
  {
    at: 'what exports left behind',
    spoil: (path) => writeFileSync(join(path, 'exports'), ''),
    error: /ENOTDIR/,
  },
  {
    at: 'the sender of orders',
    options: {
      random: () => {
        throw new Error('no randomness')
      },
    },
    error: /no randomness/,
  },
]

describe('what fails while an app is opened leaves nothing open', () => {
  for (const [n, { at, spoil, options, error, skip = false }] of STAGES.entries())
    test(`at ${at}`, { skip }, async () => {
      const path = await folder(`stage-${n}`)
      await spoil?.(path)
      const timers = await timersLeft(() =>
        assert.rejects(open({ dir: path, worker: false, ...options }), error),
      )
      assert.deepEqual(openFiles(path), [])
      assert.deepEqual(timers, [])
    })

  for (const name of ['record', 'meter', 'decisions', 'catalog'] as const)
    test(`at ${name === 'record' ? 'the system of record' : `the file of the ${name}`}`, () => {
      const path = join(dir, `file-${name}`)
      mkdirSync(path)
      prepareFolder(path)
      const file = filesIn(path)[name]
      renameSync(file, `${file}.moved`)
      mkdirSync(file)
      assert.throws(() => openEngine(path, () => {}), /unable to open|disk I\/O error/)
      assert.deepEqual(openFiles(path), [])
    })

  test('and the same folder opens once that is mended', async () => {
    const path = await folder('mended')
    const two = [...builtin, builtin[0]!]
    await assert.rejects(open({ dir: path, worker: false, distributors: two }))
    const app = await open({ dir: path, worker: false })
    assert.ok(openFiles(path).length > 0, 'so an open app shows')
    await app.close()
    assert.deepEqual(openFiles(path), [])
  })
})
