/** Readings: they are run at once, over one state, and what is remembered is read by one. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { filesIn, prepareFolder } from '../../lib/db/sqlite/folder.js'
import { openEngine } from '../../lib/db/sqlite/engine.js'
import type { Engine } from '../../lib/db/engine.js'
import { eachOf, members, query } from '../../lib/db/query.js'
import type { Reading } from '../../lib/db/query.js'
import { all, column, first, lists, lookWithin, value } from '../../lib/db/reading.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import type { Raw } from '../../lib/db/sqlite/sqlite.js'
import { changesOf, touch } from '../../lib/db/state.js'

/** A folder that is open, and another process's handle on it. */
function opened(): { engine: Engine; other: Raw; [Symbol.asyncDispose](): Promise<void> } {
  const dir = mkdtempSync(join(tmpdir(), 'qm-readings-'))
  prepareFolder(dir)
  const engine = openEngine(dir, (error) => {
    throw error
  })
  const other = openFile(filesIn(dir).record, { synchronous: 'FULL' })
  return {
    engine,
    other,
    async [Symbol.asyncDispose]() {
      other.close()
      await engine.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

const names = query((db) => db.selectFrom('subscriber').select('name').orderBy('name'))
const namesAmong = query((db, given: { ids: readonly string[] }) =>
  db.selectFrom('subscriber').select(['id', 'name']).where('id', 'in', members(given.ids)),
)
const addShop = (raw: Raw, name: string) =>
  raw
    .prepare("INSERT INTO subscriber (id, name, email, created_at) VALUES (?, ?, 'a@b.example', 1)")
    .run(`s_${name}`, name)

/** Every way of asking. */
function* everyWay(): Reading<unknown> {
  const numbers = query((db, given: { list: readonly number[] }) =>
    db.selectFrom(eachOf(given.list).as('each')).select(['key', 'value']).orderBy('key'),
  )
  const hashes = query<{ n: number }, { list: readonly bigint[]; hash: bigint }>(
    (_, { list, hash }) => sql`select ${hash} in ${members(list)} as n`,
  )
  const [list, big] = [[5, 3], -9_223_372_036_854_775_807n]
  return {
    all: yield* all(numbers, { list }),
    lists: yield* lists(numbers, { list }),
    first: yield* first(numbers, { list }),
    none: [yield* first(numbers, { list: [] }), yield* value(names)],
    column: yield* column(numbers, { list }),
    value: yield* value(hashes, { list: [1n, big], hash: big }),
    members: yield* all(namesAmong, { ids: ['s_A'] }),
  }
}

describe('a reading', () => {
  test('has the same answers at once and within a transaction', async () => {
    await using folder = opened()
    const { engine, other } = folder
    const expected = {
      all: [
        { key: 0, value: 5 },
        { key: 1, value: 3 },
      ],
      lists: [
        [0, 5],
        [1, 3],
      ],
      first: { key: 0, value: 5 },
      none: [undefined, undefined],
      column: [0, 1],
      value: 1,
      members: [],
    }
    assert.deepEqual(await engine.look(everyWay), expected)
    assert.deepEqual(await engine.atomic(engine, (tx) => lookWithin(tx.db, everyWay)), expected)
    addShop(other, 'A')
    const withShop = { ...expected, none: [undefined, 'A'], members: [{ id: 's_A', name: 'A' }] }
    assert.deepEqual(await engine.look(everyWay), withShop)
    assert.deepEqual(await engine.atomic(engine, (tx) => lookWithin(tx.db, everyWay)), withShop)
  })

  test('has ended when the call returns', async () => {
    await using folder = opened()
    const seen: string[] = []
    const told = folder.engine.look(function* () {
      seen.push('begun', ...(yield* column(names)))
      seen.push('ended')
      return 7
    })
    seen.push('returned')
    assert.deepEqual(seen, ['begun', 'ended', 'returned'])
    assert.equal(await told, 7)
  })

  test('sees one state, whatever others commit in the middle of it', async () => {
    await using folder = opened()
    const { engine, other } = folder
    const seen = await engine.look(function* () {
      const before = yield* column(names)
      addShop(other, 'A')
      // One that is run within another belongs to it.
      return [before, yield* column(names), engine.reader.run(() => column(names))]
    })
    assert.deepEqual(seen, [[], [], []])
    assert.deepEqual(await engine.look(() => column(names)), ['A'])
  })

  test('sees within a transaction what that has written, and outside of it what is committed', async () => {
    await using folder = opened()
    const { engine } = folder
    await engine.atomic(engine, async (tx) => {
      const shop = { id: 's_A', name: 'A', email: 'a@b.example', created_at: 1 }
      await tx.db.insertInto('subscriber').values(shop).execute()
      assert.deepEqual(await lookWithin(tx.db, () => column(names)), ['A'])
      assert.deepEqual(await engine.look(() => column(names)), [])
    })
    assert.deepEqual(await engine.look(() => column(names)), ['A'])
  })

  test('is told of a query that fails where it asked, and leaves nothing open', async () => {
    await using folder = opened()
    const { engine } = folder
    const wrong = query<{ n: number }>(() => sql`select n from nowhere`)
    const ended: string[] = []
    function* asks(): Reading<string[]> {
      try {
        yield* all(wrong)
      } catch (error) {
        ended.push((error as Error).message)
      }
      try {
        return [...(yield* column(names)), String(yield* value(wrong))]
      } finally {
        ended.push('finally')
      }
    }
    const fails = /no such table: nowhere/
    await assert.rejects(engine.look(asks), fails)
    await assert.rejects(
      engine.atomic(engine, (tx) => lookWithin(tx.db, asks)),
      fails,
    )
    assert.deepEqual(ended, [
      'no such table: nowhere',
      'finally',
      'no such table: nowhere',
      'finally',
    ])
    assert.equal(engine.reader.raw.inTransaction, false)
    assert.deepEqual(await engine.look(() => column(names)), [])
  })
})

describe('what is remembered', () => {
  /** Names as they are remembered, and how often they were read. */
  function counted(engine: Engine) {
    const reads = { count: 0 }
    const known = engine.remember('keys', function* () {
      reads.count++
      return yield* column(names)
    })
    return { reads, known }
  }
  const raise = (raw: Raw, state: string) =>
    raw.prepare('UPDATE state SET value = value + 1 WHERE name = ?').run(state)

  test('is read when it is first asked for, and again after somebody touched its state', async () => {
    await using folder = opened()
    const { engine, other } = folder
    const { reads, known } = counted(engine)
    assert.equal(reads.count, 0)
    assert.deepEqual([known(), known(), reads.count], [[], [], 1])
    addShop(other, 'A')
    raise(other, 'rules')
    engine.lookAgain()
    assert.deepEqual([known(), reads.count], [[], 1])
    raise(other, 'keys')
    engine.lookAgain()
    assert.deepEqual([known(), known(), reads.count], [['A'], ['A'], 2])
    await engine.atomic(engine, (tx) => touch(tx.db, 'keys'))
    assert.deepEqual([known(), reads.count], [['A'], 3])
  })

  test('is asked for as of now by a reading, in the turn in which it was asked for already', async () => {
    await using folder = opened()
    const { engine, other } = folder
    const { reads, known } = counted(engine)
    assert.deepEqual(known(), [])
    addShop(other, 'A')
    raise(other, 'keys')
    assert.deepEqual([known(), reads.count], [[], 1])
    assert.deepEqual(engine.reader.run(known.now), ['A'])
    engine.lookAgain()
    assert.deepEqual(known(), ['A'])
    const before = reads.count
    assert.deepEqual(engine.reader.run(known.now), ['A'])
    assert.equal(reads.count, before)
  })

  test('is as of now also where it is read anew while the answer is on its way', async () => {
    await using folder = opened()
    const { engine, other } = folder
    const { known } = counted(engine)
    assert.deepEqual(known(), [])
    // An engine at the other end of a socket, which answers after others had their turn.
    const reading = known.now()
    reading.next()
    addShop(other, 'A')
    raise(other, 'keys')
    engine.lookAgain()
    assert.deepEqual(known(), ['A'])
    const number = other.prepare("SELECT value FROM state WHERE name = 'keys'").pluck().get()
    assert.equal(reading.next(number).done, false)
    assert.deepEqual(reading.next(['A']).value, ['A'])
  })

  test('keeps nothing of a transaction that is undone', async () => {
    await using folder = opened()
    const { engine } = folder
    const { known } = counted(engine)
    assert.deepEqual(known(), [])
    await assert.rejects(
      engine.atomic(engine, async (tx) => {
        const shop = { id: 's_A', name: 'A', email: 'a@b.example', created_at: 1 }
        await tx.db.insertInto('subscriber').values(shop).execute()
        await touch(tx.db, 'keys')
        assert.deepEqual(await lookWithin(tx.db, known.now), ['A'])
        throw new Error('undone')
      }),
      /undone/,
    )
    assert.deepEqual(known(), [])
    assert.deepEqual(await engine.look(known.now), [])
  })

  test('is no more than a number where it is too large, and that moves with every touch', async () => {
    await using folder = opened()
    const { engine, other } = folder
    const changes = changesOf(engine, 'documents')
    const before = changes()
    raise(other, 'documents')
    assert.equal(changes(), before)
    engine.lookAgain()
    assert.equal(changes(), before + 1)
  })
})
