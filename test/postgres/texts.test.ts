/** Texts on both engines: case, order, search; and what triggers keep of records. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import type { Kysely, RawBuilder } from 'kysely'
import { openSqlite } from '../../lib/db/sqlite/driver.js'
import type { Tables } from '../../lib/db/tables/tables.js'
import { query } from '../../lib/db/query.js'
import { caseAside, folded } from '../../lib/db/words.js'
import * as history from '../../lib/orders/history/queries.js'
import { missing } from '../harness/postgres.js'
import { bothEngines, sorted } from './both.js'
import { TEXTS, recordOf } from './rows.js'

describe('both engines have the same of', { skip: missing }, () => {
  const both = bothEngines(1_126)
  const { random, rows, ask, same, text } = both

  test('names, case aside, in their order', async () => {
    const read = (db: Kysely<Tables>, name: string) =>
      db.selectFrom('subscriber').select('id').where(caseAside('name'), '=', folded(name)).execute()
    for (const name of ['shop ABC0', 'SHOP aBc2', 'Shop abc0', 'shop é'])
      assert.deepEqual(await read(both.postgres.db, name), await read(both.sqlite, name), name)
    const all = (db: Kysely<Tables>) =>
      db.selectFrom('subscriber').select('name').orderBy(caseAside('name')).execute()
    assert.deepEqual(await all(both.postgres.db), await all(both.sqlite))
    for (const db of [both.sqlite, both.postgres.db])
      await assert.rejects(
        db
          .insertInto('subscriber')
          .values({ id: 'x', name: 'sHOP ABC0', email: '', created_at: 1 })
          .execute(),
      )
  })

  test('texts in their order, by bytes', async () => {
    const of = (db: Kysely<Tables>) =>
      db.selectFrom('journal').select('line').distinct().orderBy('line').execute()
    assert.deepEqual(await of(both.postgres.db), await of(both.sqlite))
  })

  test('lists that are empty', async () => {
    for (const db of [both.sqlite, both.postgres.db]) {
      const none = db.selectFrom('journal').select('seq').where('seq', 'in', [])
      assert.deepEqual(await none.execute(), [])
      const all = db.selectFrom('journal').select('seq').where('line', 'not in', [])
      assert.equal((await all.execute()).length, 25)
    }
  })

  test('the greatest of two where one is unknown, and what a text is not like', async () => {
    const greatest = query((db) =>
      db
        .selectFrom('dealer')
        .select([
          'id',
          ({ fn }) => fn<string | null>('max', ['expires_on', 'valid_until']).as('on'),
        ])
        .orderBy('id'),
    )
    await same(greatest, {})
    const known = both.reader.all(greatest).map(({ on }) => on === null)
    assert.deepEqual([known.includes(true), known.includes(false)], [true, true])
    const unlike = query((db, given: { like: string }) =>
      db.selectFrom('subscriber').select('id').where('name', 'not like', given.like).orderBy('id'),
    )
    const all = both.reader.all(unlike, { like: 'none' }).length
    const found = await same(unlike, { like: 'SHOP ABC%' })
    assert.ok(found < all)
  })

  test('a row that takes the place of another', async () => {
    const put = (name: string, failures: number) => {
      const row = { name, failures, wait_until: 1 }
      return Promise.all(
        [both.sqlite, both.postgres.db].map((db) =>
          db.replaceInto('console_try').values(row).execute(),
        ),
      )
    }
    await put('Pat', 1)
    await put('pat', 2)
    await put('pät', 3)
    await put('PÄT', 4)
    const of = (db: Kysely<Tables>) =>
      db.selectFrom('console_try').selectAll().orderBy('failures').execute()
    assert.deepEqual(await of(both.postgres.db), await of(both.sqlite))
    assert.equal((await of(both.sqlite)).length, 3)
  })

  describe('a search', () => {
    const searched = async (phrase: string) => {
      const quoted = { phrase: `"${phrase.replaceAll('"', '""')}"` }
      await same(history.someWithPhrase, quoted, false)
      return same(history.recordsWithPhrase, quoted, false)
    }

    test('by parts of three characters and more, case aside in every script', async () => {
      for (const whole of TEXTS) {
        const characters = [...whole]
        for (let length = 3; length <= characters.length; length++)
          for (const part of [0, characters.length - length].map((at) =>
            characters.slice(at, at + length).join(''),
          ))
            for (const one of [part, part.toLowerCase(), part.toUpperCase()]) {
              if ([...one].length < 3) continue
              const found = await searched(one)
              if (one === part) assert.ok(found > 0, one)
            }
      }
    })

    test('by parts of one and two', async () => {
      for (const whole of TEXTS)
        for (const part of [[...whole][0]!, [...whole].slice(-2).join('')])
          await same(
            history.recordsWithText,
            { from: 1, to: 500, lower: part.toLowerCase(), upper: part.toUpperCase() },
            false,
          )
    })

    test('by the index, and not by a look at every text', async () => {
      const { db } = both.postgres
      await sql`insert into fulfillment_search (rowid, text)
        select n, 'ABC' || n || md5(cast(n as text)) from generate_series(100000, 130000) as n`.execute(
        db,
      )
      await sql`analyze fulfillment_search`.execute(db)
      const given = { phrase: '"aBc12345"' }
      const built = history.recordsWithPhrase.build(db, given) as RawBuilder<unknown>
      const { rows: plan } = await sql<Record<string, string>>`explain ${built}`.execute(db)
      assert.match(JSON.stringify(plan), /fulfillment_search_parts/)
      // 123450 to 123459.
      assert.equal((await ask(history.recordsWithPhrase, given)).length, 10)
      await sql`delete from fulfillment_search where rowid >= 100000`.execute(db)
    })

    test('by every character that has a case', async () => {
      const raw_ = openSqlite(':memory:')
      raw_.exec("create virtual table one using fts5 (text, tokenize = 'trigram')")
      raw_.exec("create virtual table terms using fts5vocab (one, 'instance')")
      const insert = raw_.prepare('insert into one (rowid, text) values (?, ?)')
      const points = Array.from({ length: 0x2_0000 }, (_, i) => i).filter(
        (i) => i > 0 && (i < 0xd800 || i > 0xdfff),
      )
      raw_.exec('begin')
      for (const point of points) insert.run(point, String.fromCodePoint(point).repeat(3))
      raw_.exec('commit')
      const terms = raw_.prepare('select doc, term from terms order by doc').all() as {
        doc: number
        term: string
      }[]
      raw_.close()
      const given = terms.map(({ doc }) => String.fromCodePoint(doc)).join('')
      const { rows: found } = await sql<{
        folded: string
      }>`select fold(${given}) as folded`.execute(both.postgres.db)
      assert.ok(terms.length > 120_000)
      assert.equal(found[0]!.folded, terms.map(({ term }) => [...term][0]).join(''))
    })
  })

  test('counts and texts after rows were added, changed and taken away by chance', async () => {
    const placements = rows.find(([table]) => table === 'placement')![1]
    const free = Array.from({ length: 60 }, (_, i) => 1_000 + i)
    const engines = [both.sqlite, both.postgres.db]
    for (let step = 0; step < 250; step++) {
      const id = random.pick(free)
      const made = recordOf(random, id, random.pick(placements), id)
      const { id: _, placement_id: __, group_no: ___, ...values } = made
      const part = Object.fromEntries(Object.entries(values).filter(() => random.chance(0.15)))
      const parcel = {
        fulfillment_order_id: 1 + random.int(0, 49),
        subscriber_id: 's_a',
        tracking_number: text(),
        updated_at: step,
      }
      const act = random.int(0, 4)
      for (const db of engines) {
        const known = await db
          .selectFrom('fulfillment_order')
          .select('id')
          .where('id', '=', id)
          .executeTakeFirst()
        if (!known)
          await db
            .insertInto('fulfillment_order')
            .values(made as never)
            .execute()
        else if (act === 0) await db.deleteFrom('fulfillment_order').where('id', '=', id).execute()
        else if (act === 1)
          await db
            .deleteFrom('parcel')
            .where('fulfillment_order_id', '=', parcel.fulfillment_order_id)
            .execute()
        else if (act === 2)
          await db
            .insertInto('parcel')
            .values(parcel)
            .onConflict((conflict) =>
              conflict
                .columns(['fulfillment_order_id', 'tracking_number'])
                .doUpdateSet({ updated_at: step }),
            )
            .execute()
        else if (Object.keys(part).length > 0)
          await db
            .updateTable('fulfillment_order')
            .set(part as never)
            .where('id', 'in', [id, 1 + (step % 60)])
            .execute()
      }
    }
    const of = async (db: Kysely<Tables>) => ({
      counts: sorted(await db.selectFrom('fulfillment_count').selectAll().execute()),
      texts: await db
        .selectFrom('fulfillment_search_content')
        .select(['id', 'c0'])
        .orderBy('id')
        .execute(),
    })
    const theirs = await of(both.sqlite)
    assert.ok(theirs.counts.length > 100)
    assert.deepEqual(await of(both.postgres.db), theirs)
  })
})
