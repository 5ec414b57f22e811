/** Both engines with the same rows by chance, for the tests of one `describe`. */
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import type { Kysely } from 'kysely'
import { DAY } from '../../lib/core/clock.js'
import { openSqlite } from '../../lib/db/sqlite/driver.js'
import type { Raw } from '../../lib/db/sqlite/driver.js'
import { quartermasterSchema } from '../../lib/db/migrations/quartermaster.js'
import { openPostgres } from '../../lib/db/postgres/connect.js'
import type { Postgres } from '../../lib/db/postgres/connect.js'
import { migratePostgres } from '../../lib/db/postgres/schema.js'
import { readerOver } from '../../lib/db/query.js'
import type { Query, Reader } from '../../lib/db/query.js'
import { kyselyOver } from '../../lib/db/sqlite/sqlite.js'
import type { Tables } from '../../lib/db/tables/tables.js'
import { startServer } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'
import { Rng } from '../harness/random.js'
import { TEXTS, TODAY, fill, makeRows } from './rows.js'

const SHOPS = ['s_a', 's_B', 's_c', 'nobody']
const ROUNDS = 8

/** A row in any order of its columns, as text; rows in any order of theirs. */
export const sorted = (list: readonly unknown[]): string[] =>
  list.map((row) => JSON.stringify(Object.entries(row as object).toSorted())).toSorted()

export function bothEngines(seed: number) {
  let server: TestServer
  let postgres: Postgres
  let raw: Raw
  let sqlite: Kysely<Tables>
  let reader: Reader

  const random = new Rng(seed)
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

  /** Asks again and again, and longer where nothing was found by chance; something must be. */
  async function often(ask: () => Promise<number>, times = ROUNDS): Promise<void> {
    let found = 0
    for (let round = 0; round < times || (found === 0 && round < 20 * times); round++)
      found += await ask()
    assert.ok(found > 0, 'nothing was found')
  }

  const some = <T>(list: readonly T[]): T[] => list.filter(() => random.chance(0.3))
  const ids = () => some(Array.from({ length: 170 }, (_, i) => i + 1))
  const text = () => random.pick(TEXTS)
  const shop = () => random.pick(SHOPS)
  const time = () => TODAY - random.int(-1, 90) * DAY

  return {
    random,
    rows,
    ask,
    same,
    often,
    some,
    ids,
    text,
    shop,
    time,
    get sqlite() {
      return sqlite
    },
    get postgres() {
      return postgres
    },
    get reader() {
      return reader
    },
  }
}
