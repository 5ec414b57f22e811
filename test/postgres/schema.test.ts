/** Both engines have the same schema, and a database comes to it by one node at a time. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openSqlite } from '../../lib/db/driver.js'
import type { Raw } from '../../lib/db/driver.js'
import { quartermasterSchema } from '../../lib/db/migrations/quartermaster.js'
import { REPLACED_BY } from '../../lib/db/postgres/compiler.js'
import { openPostgres } from '../../lib/db/postgres/connect.js'
import type { Postgres } from '../../lib/db/postgres/connect.js'
import { migratePostgres, postgresSchema } from '../../lib/db/postgres/schema.js'
import { missing, startServer } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'
import { schemaOfPostgres, schemaOfSqlite } from './schemas.js'

function openRecord(): Raw {
  const raw = openSqlite(':memory:')
  for (const step of quartermasterSchema) raw.exec(step)
  return raw
}

describe('the schema of PostgreSQL', { skip: missing }, () => {
  let server: TestServer
  let address: string
  let postgres: Postgres

  before(async () => {
    server = await startServer()
    address = await server.database()
    postgres = await openPostgres(address)
    await migratePostgres(postgres)
  })
  after(async () => {
    await postgres?.close()
    await server?.close()
  })

  test('has the tables of SQLite, and no others', async () => {
    const [theirs, ours] = [schemaOfSqlite(openRecord()), await schemaOfPostgres(postgres)]
    // The count of steps, what SQLite keeps by itself, the last numbers of its tables, and what one
    // machine has as a lock.
    const own = ['given_number', 'leadership', 'lease', 'schema_version']
    assert.deepEqual(
      Object.keys(ours)
        .filter((name) => !own.includes(name))
        .toSorted(),
      Object.keys(theirs).toSorted(),
    )
  })

  test('has each table column by column, with its keys, checks and indexes', async () => {
    const [theirs, ours] = [schemaOfSqlite(openRecord()), await schemaOfPostgres(postgres)]
    for (const [name, table] of Object.entries(theirs))
      assert.deepEqual({ name, ...ours[name] }, { name, ...table })
  })

  test('is told apart from one that differs in anything', async () => {
    const other = await openPostgres(await server.database())
    await migratePostgres(other)
    const theirs = schemaOfSqlite(openRecord())
    const differs = async (table: string, change: string, undo: string) => {
      for (const one of [change, undo]) {
        const client = other.newClient()
        await client.connect()
        await client.query(one)
        await client.end()
        const ours = await schemaOfPostgres(other)
        assert.equal(isEqual(ours[table], theirs[table]), one === undo, one)
      }
    }
    const isEqual = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
    await differs('job', 'alter table job add column note text', 'alter table job drop column note')
    await differs(
      'job',
      'alter table job alter last_error set not null',
      'alter table job alter last_error drop not null',
    )
    await differs(
      'job',
      'alter table job alter failures drop default',
      'alter table job alter failures set default 0',
    )
    await differs(
      'event',
      "alter table event drop constraint event_state_check; alter table event add constraint event_state_check check (state in ('told', 'raised'))",
      "alter table event drop constraint event_state_check; alter table event add constraint event_state_check check (state in ('told', 'raised', 'ended'))",
    )
    await differs(
      'parcel',
      'drop index parcel_tracking; create index parcel_tracking on parcel (tracking_number, subscriber_id)',
      'drop index parcel_tracking; create index parcel_tracking on parcel (subscriber_id, tracking_number)',
    )
    await differs(
      'placement',
      'drop index placement_holder; create unique index placement_holder on placement (subscriber_id, order_id)',
      'drop index placement_holder; create unique index placement_holder on placement (subscriber_id, order_id) where holds_id = 1',
    )
    await differs(
      'console_link',
      'alter table console_link drop constraint console_link_user_id_fkey; alter table console_link add constraint console_link_user_id_fkey foreign key (user_id) references console_user',
      'alter table console_link drop constraint console_link_user_id_fkey; alter table console_link add constraint console_link_user_id_fkey foreign key (user_id) references console_user on delete cascade',
    )
    await other.close()
  })

  test('compares every text byte by byte', async () => {
    const { rows } = await server.run(
      address,
      `select table_name || '.' || column_name as place from information_schema.columns
        where table_schema = 'quartermaster' and data_type = 'text'
        and collation_name is distinct from 'C'
        and table_name not in (select table_name from information_schema.views
          where table_schema = 'quartermaster')`,
    )
    assert.deepEqual(rows, [])
  })

  test('leaves public as it is', async () => {
    const { rows } = await server.run(
      address,
      `select relname from pg_class where relnamespace = 'public'::regnamespace
        union select proname from pg_proc where pronamespace = 'public'::regnamespace`,
    )
    assert.deepEqual(rows, [])
  })

  test('knows by what a row replaces another, wherever one does', async () => {
    const { rows } = await server.run(
      address,
      `select c.relname as table, array_agg(pg_get_indexdef(i.indexrelid)) as keys
        from pg_index i join pg_class c on c.oid = i.indrelid
        where i.indisunique and c.relnamespace = 'quartermaster'::regnamespace group by 1`,
    )
    const keys = new Map(rows.map((row) => [row['table'] as string, row['keys'] as string[]]))
    for (const [table, key] of Object.entries(REPLACED_BY))
      assert.ok(
        keys.get(table)?.some((key_) => key_.endsWith(`(${key.replaceAll('"', '')})`)),
        `${table}: ${keys.get(table)?.join()}`,
      )
  })

  test('is made by one of several nodes that start at once', async () => {
    const text = await server.database()
    const nodes = await Promise.all(Array.from({ length: 5 }, () => openPostgres(text)))
    const steps = [...postgresSchema, 'create table more (n bigint)', 'insert into more values (1)']
    await Promise.all(nodes.map((node) => migratePostgres(node, steps)))
    const { rows } = await server.run(text, 'select * from quartermaster.more')
    assert.deepEqual(rows.length, 1)
    await Promise.all(nodes.map((node) => node.close()))
  })

  test('of a newer release is refused, and a step that fails leaves nothing behind', async () => {
    const text = await server.database()
    const node = await openPostgres(text)
    await assert.rejects(
      migratePostgres(node, [...postgresSchema, 'create table more (n bigint); select 1 / 0']),
      /division by zero/,
    )
    await migratePostgres(node, [...postgresSchema, 'create table more (n bigint)'])
    await assert.rejects(
      migratePostgres(node),
      new RegExp(`by a newer release \\(schema ${postgresSchema.length + 1}, this one knows`),
    )
    await node.close()
  })

  test('may stand in a schema that somebody made for a user who may make none', async () => {
    const text = await server.database()
    const { pathname } = new URL(text)
    await server.run(
      text,
      `create role clerk login password 'sEcret'; create schema quartermaster authorization clerk`,
    )
    const node = await openPostgres(
      server.address({ database: pathname.slice(1), user: 'clerk', password: 'sEcret' }),
    )
    await migratePostgres(node)
    assert.deepEqual(await node.db.selectFrom('job').selectAll().execute(), [])
    await node.close()
  })
})
