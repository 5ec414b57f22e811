/** One node leads at a time, and what an earlier one still writes is refused. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { pause } from '../../lib/core/async/wait.js'
import { openPostgres } from '../../lib/db/postgres/connect.js'
import type { Postgres } from '../../lib/db/postgres/connect.js'
import { LeadLost } from '../../lib/db/lead.js'
import { standForLead } from '../../lib/db/postgres/lead/leadership.js'
import type { Candidate, Leadership } from '../../lib/db/postgres/lead/leadership.js'
import { migratePostgres } from '../../lib/db/postgres/schema.js'
import { touch } from '../../lib/db/state.js'
import { missing, startServer } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'
import { startProxy } from '../harness/tcp-proxy.js'
import { until } from '../harness/until.js'

const monotonic = () => performance.now()
const now = () => Date.now()
const silent = { info: () => {}, warn: () => {} }

describe('the lead', { skip: missing }, () => {
  let server: TestServer
  let address: string
  let postgres: Postgres
  let other: Postgres
  let names = 0

  before(async () => {
    server = await startServer()
    address = await server.database()
    postgres = await openPostgres(address)
    other = await openPostgres(address)
    await migratePostgres(postgres)
  })
  after(async () => {
    await postgres?.close()
    await other?.close()
    await server?.close()
  })

  const nextName = () => `lead ${++names}`
  const stand = (
    owner: string,
    { on = postgres, ...given }: Partial<Candidate> & { name: string; on?: Postgres },
  ) => standForLead({ postgres: on, owner, monotonic, now, log: silent, life: 2_000, ...given })
  const leads = (one: Leadership) => until(() => one.epoch !== null, 'it leads')
  /** Of work that began in an epoch; in the one of now, unless somebody says otherwise. */
  const write = (
    one: Leadership,
    { on = postgres, epoch = one.epoch ?? 0, meanwhile = async () => {} } = {},
  ) =>
    on.atomic({ db: on.db, read: on.db }, async ({ db }) => {
      await one.fence(db, epoch)
      await meanwhile()
      await touch(db, 'keys')
    })
  /** As if whoever has it had given it back without knowing. */
  const giveBack = (name: string) =>
    sql`delete from lease where name = ${name}`.execute(postgres.db)

  test('is with one of several, and with another one at once when it is given back', async () => {
    const name = nextName()
    // So long that nobody waits for its end.
    const all = ['a', 'b', 'c'].map((owner) => stand(owner, { name, life: 60_000 }))
    await until(() => all.some(({ epoch }) => epoch !== null), 'one leads')
    const first = all.find(({ epoch }) => epoch !== null)!
    assert.equal(first.epoch, 1)
    await pause(1_200)
    assert.equal(all.filter(({ epoch }) => epoch !== null).length, 1)
    await first.close()
    const others = all.filter((one) => one !== first)
    await until(() => others.some(({ epoch }) => epoch !== null), 'another one leads')
    assert.deepEqual(others.map(({ epoch }) => epoch).toSorted(), [2, null])
    assert.equal(first.epoch, null)
    await Promise.all(others.map((one) => one.close()))
  })

  test('stays where it is for as long as it is renewed', async () => {
    const name = nextName()
    const [one, two] = [stand('a', { name, life: 600 }), stand('b', { name, life: 600 })]
    await until(() => one.epoch !== null || two.epoch !== null, 'one leads')
    const leader = one.epoch === null ? two : one
    await pause(2_000)
    assert.equal(leader.epoch, 1)
    assert.equal(leader.mayBegin(1), true)
    assert.equal(leader.mayBegin(2), false)
    await one.close()
    await two.close()
  })

  test('of a node that cannot reach the database ends there before it begins elsewhere', async () => {
    const name = nextName()
    const proxy = await startProxy(server.port)
    const far = await openPostgres(
      address.replace(`:${server.port}/`, `:${proxy.port}/`).concat('?connect_timeout=1'),
    )
    const ended: number[] = []
    const cut = stand('cut', { name, on: far, life: 900, lost: () => ended.push(monotonic()) })
    await leads(cut)
    const waiting = stand('waiting', { name, life: 900 })
    proxy.isStalled = true
    await until(() => !cut.mayBegin(1), 'it begins nothing more')
    assert.equal(waiting.epoch, null)
    await leads(waiting)
    assert.equal(cut.epoch, null)
    assert.equal(waiting.epoch, 2)
    assert.equal(ended.length, 1)
    await assert.rejects(write(cut, { epoch: 1 }), LeadLost)
    await write(waiting)
    proxy.isStalled = false
    proxy.cutAll()
    await Promise.all([cut.close(), waiting.close()])
    await far.close()
    await proxy.close()
  })

  test('of an earlier epoch is refused in the transaction, also where its clock says otherwise', async () => {
    const name = nextName()
    let clock = 0
    // It stands still: this node never thinks that its lease is over.
    const frozen = stand('frozen', {
      name,
      monotonic: () => clock,
      now: () => clock,
      life: 60_000,
    })
    await leads(frozen)
    await write(frozen)
    await giveBack(name)
    const next = stand('next', { name, on: other, life: 60_000 })
    await leads(next)
    assert.equal(frozen.epoch, 1)
    await assert.rejects(write(frozen), LeadLost)
    await write(next, { on: other })
    clock = 61_000
    assert.equal(frozen.epoch, null)
    await frozen.close()
    // What it gives back is its own, and no longer the lead.
    await pause(100)
    assert.equal(next.epoch, 2)
    await next.close()
  })

  test('goes to nobody while a write of its holder is under way', async () => {
    const name = nextName()
    const holder = stand('holder', { name, life: 60_000 })
    await leads(holder)
    let next: Leadership | undefined
    let atCommit: number | null = -1
    await write(holder, {
      meanwhile: async () => {
        await sql`delete from lease where name = ${name}`.execute(other.db)
        next = stand('next', { name, on: other, life: 60_000 })
        await pause(500)
        atCommit = next.epoch
      },
    })
    assert.equal(atCommit, null)
    await leads(next!)
    assert.equal(next!.epoch, 2)
    await holder.close()
    await next!.close()
  })

  test('of a process that began anew is another one, also under the same name', async () => {
    const name = nextName()
    const first = stand('same', { name, life: 60_000 })
    await leads(first)
    const again = stand('same', { name, on: other, life: 60_000 })
    await leads(again)
    assert.equal(again.epoch, 2)
    await assert.rejects(write(first, { epoch: 1 }), LeadLost)
    await again.close()
    await first.close()
  })

  test('does not let work of an earlier epoch go on when it has come back', async () => {
    const name = nextName()
    const one = stand('one', { name, life: 600 })
    await leads(one)
    await write(one, { epoch: 1 })
    // Somebody else had it for a moment, and gave it back.
    await sql`update lease set owner = 'other', mark = gen_random_uuid()
      where name = ${name}`.execute(postgres.db)
    await until(() => one.epoch === null, 'it has lost it')
    await giveBack(name)
    await leads(one)
    assert.equal(one.epoch, 2)
    assert.equal(one.mayBegin(1), false)
    await assert.rejects(write(one, { epoch: 1 }), LeadLost)
    assert.equal(one.mayBegin(2), true)
    await write(one, { epoch: 2 })
    await one.close()
  })

  test('is fenced only in a transaction', async () => {
    const one = stand('one', { name: nextName() })
    await leads(one)
    await assert.rejects(one.fence(postgres.db, 1), /and this is none/)
    await one.close()
  })

  test('of the same number is another one where another node has it', async () => {
    const name = nextName()
    const one = stand('one', { name, life: 60_000 })
    await leads(one)
    // As a standby has it that never heard of the first one.
    await sql`update leadership set owner = 'two' where name = ${name}`.execute(postgres.db)
    await sql`update lease set owner = 'two' where name = ${name}`.execute(postgres.db)
    await assert.rejects(write(one), LeadLost)
    await one.close()
    const { rows } = await sql`select owner from lease where name = ${name}`.execute(postgres.db)
    assert.deepEqual(rows, [{ owner: 'two' }])
  })

  test('is taken only after its lease was seen unchanged for a whole life', async () => {
    const name = nextName()
    const holder = stand('holder', { name, life: 60_000 })
    await leads(holder)
    let clock = 0
    const looks = { count: 0 }
    const next = stand('next', {
      name,
      on: other,
      life: 30_000,
      monotonic: () => {
        looks.count++
        return clock
      },
    })
    /** Until a look that began after this call has ended. */
    const looked = async () => {
      const before = looks.count
      await until(() => looks.count >= before + 2, 'it has looked')
    }
    await looked()
    clock = 29_999
    await looked()
    assert.equal(next.epoch, null)
    // A renewal: from here on it counts anew.
    await sql`update lease set mark = gen_random_uuid() where name = ${name}`.execute(postgres.db)
    clock = 30_000
    await looked()
    clock = 59_999
    await looked()
    assert.equal(next.epoch, null)
    clock = 60_001
    await leads(next)
    assert.equal(next.epoch, 2)
    await next.close()
    await holder.close()
  })

  test('is in doubt after its machine was suspended, and goes on where nobody took it', async () => {
    const name = nextName()
    let suspended = 0
    const one = stand('one', { name, life: 900, now: () => Date.now() + suspended })
    await leads(one)
    suspended = 60_000
    assert.equal(one.epoch, null)
    assert.equal(one.mayBegin(1), false)
    await leads(one)
    assert.equal(one.epoch, 1)
    await one.close()
  })

  test('goes on to another node where whoever is told of it fails', async () => {
    const name = nextName()
    const told: string[] = []
    const failing = stand('failing', {
      name,
      life: 600,
      log: { info: () => {}, warn: (_: object, message: string) => told.push(message) },
      gained: () => {
        throw new Error('no')
      },
      lost: () => {
        throw new Error('nor that')
      },
    })
    await until(() => told.length >= 2, 'it is logged')
    assert.match(told[0]!, /was gained failed/)
    assert.match(told[1]!, /was lost failed/)
    assert.equal(failing.epoch, null)
    const next = stand('next', { name, on: other, life: 600 })
    await leads(next)
    await failing.close()
    await next.close()
  })

  test('is never with two, whatever becomes of their connections', async () => {
    const name = nextName()
    const life = 400
    const nodes = await Promise.all(
      ['a', 'b', 'c'].map(async (owner) => {
        const proxy = await startProxy(server.port)
        const on = await openPostgres(
          address.replace(`:${server.port}/`, `:${proxy.port}/`).concat('?connect_timeout=1'),
        )
        return { proxy, on, lead: stand(owner, { name, on, life }) }
      }),
    )
    const epochs = new Set<number>()
    let [both, begun] = [0, 0]
    const look = setInterval(() => {
      const leading = nodes.filter(({ lead }) => lead.epoch !== null)
      if (leading.length > 1) both++
      for (const { lead } of leading) epochs.add(lead.epoch!)
      if (nodes.filter(({ lead }) => lead.mayBegin(lead.epoch ?? 0)).length > 1) begun++
    }, 1)
    // A fixed course of stalls and cuts: each node is away for one, two or four lives in turn.
    for (let round = 0; round < 9; round++) {
      const { proxy } = nodes[round % 3]!
      proxy.isStalled = true
      await pause(life * [1, 2, 4][round % 3]!)
      proxy.isStalled = false
      proxy.cutAll()
      await pause(life / 2)
    }
    clearInterval(look)
    assert.equal(both, 0)
    assert.equal(begun, 0)
    assert.ok(epochs.size >= 3, `only the epochs ${[...epochs].join()} were seen`)
    await Promise.all(nodes.map(({ lead }) => lead.close()))
    await Promise.all(nodes.map(({ on }) => on.close()))
    await Promise.all(nodes.map(({ proxy }) => proxy.close()))
  })
})
