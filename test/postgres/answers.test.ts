/** Both engines answer each query alike, whatever rows there are and whatever is asked. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { Kysely } from 'kysely'
import * as accounts from '../../lib/accounts/queries.js'
import * as look from '../../lib/app/look/queries.js'
import { DAY } from '../../lib/core/clock.js'
import { ORDER_STATUSES } from '../../lib/db/tables/column-types.js'
import type { Tables } from '../../lib/db/tables/tables.js'
import * as events from '../../lib/events/queries.js'
import * as ffls from '../../lib/ffls/queries.js'
import * as fraud from '../../lib/fraud/reports/queries.js'
import * as engine from '../../lib/orders/engine/queries.js'
import * as history from '../../lib/orders/history/queries.js'
import * as journal from '../../lib/orders/journal/queries.js'
import * as matching from '../../lib/orders/matching/queries.js'
import { hasPo } from '../../lib/orders/queries.js'
import { accountsWatched, openOrders } from '../../lib/orders/tracking/queries.js'
import { missing } from '../harness/postgres.js'
import { bothEngines, sorted } from './both.js'
import { HASHES, TODAY } from './rows.js'

const hashOf = (n: number) => BigInt.asIntN(64, BigInt(n) * 0x9e37_79b9_7f4a_7c15n)

describe('both engines tell the same of', { skip: missing }, () => {
  const both = bothEngines(20_261_126)
  const { random, ask, same, often, some, ids, text, shop, time } = both

  test('the audit and the journal', async () => {
    await same(accounts.auditReach, {})
    await same(accounts.auditAfter, { seq: 3, limit: 4 })
    await same(journal.journalReach, {})
    await same(journal.linesAfter, { seq: 5, limit: 100 })
    await same(journal.lineAt, { seq: 7 })
    await often(() => same(journal.lastLineAndAt, { seq: random.int(0, 12) }))
    await same(look.contentCounts, {})
    await same(look.lastBackup, {})
    await same(look.liveDistributors, {}, false)
  })

  test('numbers that were given and cut off again', async () => {
    for (const db of [both.sqlite, both.postgres.db]) {
      const added = db.insertInto('audit').values({ at: 1, actor: '', action: '', detail: '' })
      await added.execute()
      await db.deleteFrom('audit').where('seq', '>=', 13).execute()
    }
    await same(accounts.auditReach, {})
    assert.deepEqual(await ask(accounts.auditReach, {}), [{ last: 12, given: 13 }])
    // What was undone was never given.
    const undone = both.postgres.atomic(
      { db: both.postgres.db, read: both.postgres.db },
      async ({ db }) => {
        await db.insertInto('audit').values({ at: 1, actor: '', action: '', detail: '' }).execute()
        throw new Error('undone')
      },
    )
    await assert.rejects(undone, /undone/)
    assert.deepEqual(await ask(accounts.auditReach, {}), [{ last: 12, given: 13 }])
  })

  test('what is due, and what others sent', async () => {
    await often(() => same(engine.unsentPlacements, { ids: ids() }, false))
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
    await often(() => same(engine.beingSent, {}, false))
    await same(engine.pauseRow, {})
    await often(() => same(engine.countOf, { placement: random.int(0, 12) }, false))
    await same(engine.ordersOfIds, { ids: [] })
    const inOrder = async () => {
      const given = { ids: ids() }
      const [theirs, ours] = [
        both.reader.all(engine.ordersOfIds, given),
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
      const theirs = await of(both.sqlite)
      assert.deepEqual(await of(both.postgres.db), theirs)
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
      const theirs = await openOrders({ read: both.sqlite }, account, window)
      assert.deepEqual(await openOrders({ read: both.postgres.db }, account, window), theirs)
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
          const [{ key } = { key: '' }] = both.reader.all(history.keyOf(sort), {
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
    await often(() => same(ffls.listedDealers, { rows: [random.int(1, 130), random.int(1, 130)] }))
    await often(() => same(ffls.directoryRows, { after: random.int(0, 100), limit: 30 }))
    const like = async (pattern: string) => {
      const of = (db: Kysely<Tables>) =>
        db
          .selectFrom('dealer')
          .select('row')
          .where('license_number', 'like', pattern)
          .orderBy('row')
          .execute()
      const theirs = await of(both.sqlite)
      assert.deepEqual(await of(both.postgres.db), theirs, pattern)
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
      const theirs = names(both.reader.all(fraud.citiesBetween, given))
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
})

test('every query of a room is asked of both engines', () => {
  const source = ['answers', 'texts']
    .map((name) => readFileSync(`test/postgres/${name}.test.ts`, 'utf8'))
    .join('')
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
