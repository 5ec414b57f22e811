/** Both engines answer each query alike, whatever rows there are and whatever is asked. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import type { Kysely, RawBuilder } from 'kysely'
import * as accounts from '../../lib/accounts/queries.js'
import * as look from '../../lib/app/look/queries.js'
import { DAY } from '../../lib/core/clock.js'
import { openSqlite } from '../../lib/db/driver.js'
import type { Raw } from '../../lib/db/driver.js'
import { quartermasterSchema } from '../../lib/db/migrations/quartermaster.js'
import { openPostgres } from '../../lib/db/postgres/connect.js'
import type { Postgres } from '../../lib/db/postgres/connect.js'
import { migratePostgres } from '../../lib/db/postgres/schema.js'
import { readerOver } from '../../lib/db/query.js'
import type { Query } from '../../lib/db/query.js'
import { kyselyOver } from '../../lib/db/sqlite.js'
import { ORDER_STATUSES } from '../../lib/db/tables/column-types.js'
import type { Tables } from '../../lib/db/tables/tables.js'
import * as events from '../../lib/events/queries.js'
import * as ffls from '../../lib/ffls/queries.js'
import * as fraud from '../../lib/fraud/reports/queries.js'
import * as engine from '../../lib/orders/engine/queries.js'
import * as history from '../../lib/orders/history/queries.js'
import * as journal from '../../lib/orders/journal/queries.js'
import * as matching from '../../lib/orders/matching/queries.js'
import { openOrders, accountsWatched } from '../../lib/orders/tracking/queries.js'
import { hasPo } from '../../lib/orders/queries.js'
import { caseAside, folded } from '../../lib/db/words.js'
import { Rng } from '../harness/random.js'
import { missing, startServer } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'
import { HASHES, TEXTS, TODAY, fill, makeRows, recordOf } from './rows.js'

const SHOPS = ['s_a', 's_B', 's_c', 'nobody']
const ROUNDS = 8

describe('both engines', { skip: missing }, () => {
  let server: TestServer
  let postgres: Postgres
  let raw: Raw
  let sqlite: Kysely<Tables>
  let reader: ReturnType<typeof readerOver>
  const random = new Rng(20_261_126)
  const rows = makeRows(random)

  before(async () => {
    server = await startServer()
    postgres = await openPostgres(await server.database())
    await migratePostgres(postgres)
    raw = openSqlite(':memory:')
    for (const step of quartermasterSchema) raw.exec(step)
    sqlite = kyselyOver<Tables>(raw, () => {})
    reader = readerOver(raw)
    await fill(sqlite, rows)
    await fill(postgres.db, rows)
  })
  after(async () => {
    await postgres?.close()
    await server?.close()
    raw?.close()
  })

  /** What PostgreSQL answers, with the values in their places. */
  async function ask<P, R>({ build }: Query<P, R>, given: P): Promise<R[]> {
    const built = build(postgres.db, given)
    const compiled = 'isRawBuilder' in built ? built.compile(postgres.db) : built.compile()
    return (await postgres.db.executeQuery<R>(compiled as never)).rows
  }

  const sorted = (list: readonly unknown[]) =>
    list.map((row) => JSON.stringify(Object.entries(row as object).toSorted())).toSorted()

  /** Asks both the same; returns how many rows there were. */
  async function same<P, R>(query: Query<P, R>, given: P, hasOrder = true): Promise<number> {
    const theirs = reader.all(query as Query<object, R>, given as object)
    const ours = await ask(query, given)
    const what = JSON.stringify(given, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    if (hasOrder) assert.deepEqual(ours, theirs, what)
    else assert.deepEqual(sorted(ours), sorted(theirs), what)
    return theirs.length
  }

  /** Asks again and again; something must be found now and then. */
  async function often(ask: () => Promise<number>, times = ROUNDS): Promise<void> {
    let found = 0
    for (let round = 0; round < times; round++) found += await ask()
    assert.ok(found > 0, 'nothing was found')
  }

  const some = <T>(list: readonly T[]): T[] => list.filter(() => random.chance(0.3))
  const ids = () => some(Array.from({ length: 170 }, (_, i) => i + 1))
  const text = () => random.pick(TEXTS)
  const shop = () => random.pick(SHOPS)
  const time = () => TODAY - random.int(-1, 90) * DAY
  const hashOf = (n: number) => BigInt.asIntN(64, BigInt(n) * 0x9e37_79b9_7f4a_7c15n)

  describe('tell the same of', () => {
    test('the audit and the journal', async () => {
      await same(accounts.auditReach, {})
      await same(accounts.auditAfter, { seq: 3, limit: 4 })
      await same(journal.journalReach, {})
      await same(journal.linesAfter, { seq: 5, limit: 100 })
      await same(journal.lineAt, { seq: 7 })
      await same(look.contentCounts, {})
      await same(look.lastBackup, {})
      await same(look.liveDistributors, {}, false)
    })

    test('numbers that were given and cut off again', async () => {
      for (const db of [sqlite, postgres.db]) {
        const added = db.insertInto('audit').values({ at: 1, actor: '', action: '', detail: '' })
        await added.execute()
        await db.deleteFrom('audit').where('seq', '>=', 13).execute()
      }
      await same(accounts.auditReach, {})
      assert.deepEqual(await ask(accounts.auditReach, {}), [{ last: 12, given: 13 }])
      // What was undone was never given.
      const undone = postgres.atomic({ db: postgres.db, read: postgres.db }, async ({ db }) => {
        await db.insertInto('audit').values({ at: 1, actor: '', action: '', detail: '' }).execute()
        throw new Error('undone')
      })
      await assert.rejects(undone, /undone/)
      assert.deepEqual(await ask(accounts.auditReach, {}), [{ last: 12, given: 13 }])
    })

    test('what is due, and what others sent', async () => {
      for (const due of [engine.due, engine.dueWhilePaused])
        await often(() =>
          // Several may be due at the same moment.
          same(
            due,
            {
              now: time(),
              farthest: TODAY + DAY,
              force: random.pick([0, 1] as const),
              except: ids(),
            },
            false,
          ),
        )
      await often(() => same(engine.sentByOthers, { owner: random.pick(['me', 'x']) }, false))
      await often(() => same(engine.countOf, { placement: random.int(0, 12) }, false))
      await same(engine.ordersOfIds, { ids: [] })
      const inOrder = async () => {
        const given = { ids: ids() }
        const [theirs, ours] = [
          reader.all(engine.ordersOfIds, given),
          await ask(engine.ordersOfIds, given),
        ]
        assert.deepEqual(
          ours.map((row) => row.next_at),
          theirs.map((row) => row.next_at),
        )
        assert.deepEqual(sorted(ours), sorted(theirs))
        return ours.filter((row) => row.next_at === null).length
      }
      await often(inOrder)
    })

    test('orders without a number, and POs case aside', async () => {
      await often(
        () =>
          same(matching.numberless, {
            id: random.int(1, 90),
            distid: random.pick(['RSR', 'rsr']),
            mode: 'live',
            subscriber: shop(),
            account: random.pick(['a1', null]),
            plannedAfter: time(),
          }),
        20,
      )
      await often(async () => {
        const po = random.pick([text(), 'PO-77-AB', 'ZEBRA', 'é'])
        const of = (db: Kysely<Tables>) =>
          db.selectFrom('purchase_order').select('id').where(hasPo(po)).orderBy('id').execute()
        const theirs = await of(sqlite)
        assert.deepEqual(await of(postgres.db), theirs)
        return theirs.length
      }, 30)
    })

    test('accounts that are watched, and their open orders', async () => {
      await often(() => same(accountsWatched, { placedAfter: time() }, false))
      await often(async () => {
        const account = {
          subscriberId: shop(),
          distid: random.pick(['RSR', 'rsr', 'CSSI']),
          mode: random.pick(['live', 'simulator'] as const),
        }
        const window = { placedAfter: time(), untilShipped: random.chance(0.5) }
        const theirs = await openOrders({ read: sqlite }, account, window)
        assert.deepEqual(await openOrders({ read: postgres.db }, account, window), theirs)
        return theirs.length
      }, 200)
    })

    test('the history, in every order and however it is narrowed', async () => {
      const narrow = (): history.Narrowing => ({
        ...(random.chance(0.3) && { distid: random.pick(['RSR', 'rsr']) }),
        ...(random.chance(0.3) && { order_source: random.pick(['api', 'Api']) }),
        ...(random.chance(0.3) && { order_status: random.pick(ORDER_STATUSES) }),
        ...(random.chance(0.2) && { ship_status: 'delivered' }),
        ...(random.chance(0.3) && { from: time() }),
        ...(random.chance(0.3) && { to: time() }),
      })
      const sorts = ['order_date', 'order_id', 'ship_date', 'order_status', 'order_source'] as const
      for (const sort of sorts)
        for (const direction of ['asc', 'desc'] as const)
          await often(async () => {
            const [narrowing, order] = [narrow(), { sort, direction }]
            const slice = { ...narrowing, subscriber: shop(), limit: 20, offset: random.int(0, 2) }
            const [{ key } = { key: '' }] = reader.all(history.keyOf(sort), {
              id: random.int(1, 160),
            })
            await same(history.keyOf(sort), { id: random.int(1, 160) })
            await same(history.idsInOrderFrom(narrowing, order), { ...slice, key })
            await same(
              history.entriesOf(narrowing, sort),
              { ...narrowing, ids: ids(), subscriber: shop() },
              false,
            )
            return same(history.idsInOrder(narrowing, order), slice)
          }, 12)
      for (const direction of ['asc', 'desc'] as const)
        await often(() => {
          const narrowing = { distid: random.pick(['RSR', 'rsr', 'CSSI']) }
          const days = random.pick([1, 32])
          return same(history.countsOfSpans(narrowing, direction), {
            ...narrowing,
            subscriber: shop(),
            days,
            first: -10,
            last: 30_000,
          })
        })
      await often(() => same(history.countOfAll, { subscriber: shop(), days: 32 }))
      await same(history.recordsOfIds, { ids: ids() }, false)
      await same(history.recordsOfIds, { ids: Array.from({ length: 40_000 }, (_, i) => i) }, false)
      await same(history.lastRecord, {})
      await often(
        () =>
          same(history.idsOfOrder, { subscriber: shop(), orderId: `${text()}${random.int(0, 6)}` }),
        200,
      )
      for (const place of Object.values(history.PLACES))
        await often(
          () =>
            same(place, {
              subscriber: shop(),
              text: random.pick([text(), `${text()}${random.int(0, 9)}`]),
              after: random.int(0, 20),
            }),
          300,
        )
      await often(() => same(history.unitsByDay, { first: time() }, false))
    })

    test('failed placements', async () => {
      await often(() => {
        const given = {
          ...(random.chance(0.3) && { reference: text() }),
          ...(random.chance(0.2) && { order_id: text() }),
          ...(random.chance(0.2) && { po_number: text() }),
          ...(random.chance(0.3) && { distid: random.pick(['RSR', 'rsr']) }),
          ...(random.chance(0.3) && { from: time() }),
          ...(random.chance(0.3) && { to: time() }),
        }
        return same(history.failures(given), { ...given, subscriber: shop(), limit: 30 })
      }, 60)
    })

    test('events that wait', async () => {
      await often(() => same(events.dueReceivers, { now: time(), farthest: TODAY + DAY }))
    })

    test('dealers and their premises', async () => {
      await same(ffls.highestRow, {})
      await often(() =>
        same(ffls.listedDealers, { rows: [random.int(1, 130), random.int(1, 130)] }),
      )
      await often(() => same(ffls.directoryRows, { after: random.int(0, 100), limit: 30 }))
      const like = async (pattern: string) => {
        const of = (db: Kysely<Tables>) =>
          db
            .selectFrom('dealer')
            .select('row')
            .where('license_number', 'like', pattern)
            .orderBy('row')
            .execute()
        const theirs = await of(sqlite)
        assert.deepEqual(await of(postgres.db), theirs, pattern)
        return theirs.length
      }
      assert.ok((await like('1-57-033-01-1_-____1')) > 0)
      assert.ok((await like('1-57-033-01-5a-%')) > 0)
      assert.equal(await like('1-57-033-01-5\\a-%'), 0)
      const patterns = () => {
        const whole = (word: string, letters: string) => `*[^${letters}]${word}[^${letters}]*`
        return {
          figures: whole(random.pick(['12', '123', '1']), '0-9'),
          words: whole('twelve', 'a-z'),
        }
      }
      await often(() =>
        same(fraud.premisesInZip, { zip: random.pick(['85001', '10001']), ...patterns() }, false),
      )
      await often(
        () =>
          same(
            fraud.premisesInCity,
            {
              state: 'AZ',
              city: random.pick(['phoenix', 'Phoenix', 'österly', 'Österly']),
              ...patterns(),
            },
            false,
          ),
        30,
      )
      for (const [from, to] of [
        ['p', 'q'],
        ['P', 'Q'],
        ['s', 't'],
        ['ö', '÷'],
      ] as const) {
        const given = { state: 'NY', from, to }
        const names = (list: { premise_city: string }[]) =>
          list
            .map(({ premise_city: name }) => name.replace(/[A-Z]/g, (char) => char.toLowerCase()))
            .toSorted()
        const theirs = names(reader.all(fraud.citiesBetween, given))
        assert.deepEqual(names(await ask(fraud.citiesBetween, given)), theirs)
      }
    })

    test('reports of fraud, by hashes of 64 bits', async () => {
      const hashes = () => some(HASHES).map(hashOf)
      await often(() => same(fraud.reportsWith, { hashes: hashes(), subscriber: shop() }, false))
      await same(fraud.reportsWith, { hashes: [], subscriber: 's_a' })
      await often(() => same(fraud.valuesOfKinds, { reports: ids(), asked: hashes() }, false))
      await often(() => same(fraud.itemsShared, { reports: ids(), hashes: hashes() }, false))
      await often(() => same(fraud.newestNotes, { reports: ids() }))
      await same(fraud.keysInUse, {}, false)
    })

    test('names, case aside, in their order', async () => {
      const read = (db: Kysely<Tables>, name: string) =>
        db
          .selectFrom('subscriber')
          .select('id')
          .where(caseAside('name'), '=', folded(name))
          .execute()
      for (const name of ['shop ABC0', 'SHOP aBc2', 'Shop abc0', 'shop é'])
        assert.deepEqual(await read(postgres.db, name), await read(sqlite, name), name)
      const all = (db: Kysely<Tables>) =>
        db.selectFrom('subscriber').select('name').orderBy(caseAside('name')).execute()
      assert.deepEqual(await all(postgres.db), await all(sqlite))
      for (const db of [sqlite, postgres.db])
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
      assert.deepEqual(await of(postgres.db), await of(sqlite))
    })

    test('lists that are empty', async () => {
      for (const db of [sqlite, postgres.db]) {
        const none = db.selectFrom('journal').select('seq').where('seq', 'in', [])
        assert.deepEqual(await none.execute(), [])
        const all = db.selectFrom('journal').select('seq').where('line', 'not in', [])
        assert.equal((await all.execute()).length, 25)
      }
    })

    test('a row that takes the place of another', async () => {
      const put = (name: string, failures: number) => {
        const row = { name, failures, wait_until: 1 }
        return Promise.all(
          [sqlite, postgres.db].map((db) => db.replaceInto('console_try').values(row).execute()),
        )
      }
      await put('Pat', 1)
      await put('pat', 2)
      await put('pät', 3)
      await put('PÄT', 4)
      const of = (db: Kysely<Tables>) =>
        db.selectFrom('console_try').selectAll().orderBy('failures').execute()
      assert.deepEqual(await of(postgres.db), await of(sqlite))
      assert.equal((await of(sqlite)).length, 3)
    })
  })

  describe('find the same texts', () => {
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
      const { db } = postgres
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
      }>`select fold(${given}) as folded`.execute(postgres.db)
      assert.ok(terms.length > 120_000)
      assert.equal(found[0]!.folded, terms.map(({ term }) => [...term][0]).join(''))
    })
  })

  test('keep the same counts and texts after rows were added, changed and taken away by chance', async () => {
    const placements = rows.find(([table]) => table === 'placement')![1]
    const free = Array.from({ length: 60 }, (_, i) => 1_000 + i)
    const both = [sqlite, postgres.db]
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
      for (const db of both) {
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
    const theirs = await of(sqlite)
    assert.ok(theirs.counts.length > 100)
    assert.deepEqual(await of(postgres.db), theirs)
  })
})

test('every query of a room is asked of both engines', () => {
  const source = readFileSync('test/postgres/answers.test.ts', 'utf8')
  const rooms = { accounts, look, events, ffls, fraud, engine, history, journal, matching }
  for (const [room, exported] of Object.entries(rooms))
    for (const [name, value] of Object.entries(exported)) {
      const isQuery = typeof value === 'object' && value !== null && 'build' in value
      if (isQuery || typeof value === 'function')
        assert.ok(
          source.includes(`${room}.${name}`) || ['onFile', 'isSeen'].includes(name),
          `${room}.${name} is not asked`,
        )
    }
})
