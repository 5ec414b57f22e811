/**
 * What nodes ask of their database while nobody asks anything of them: each statement has its reason
 * here, and its number. A server bears so many nodes as these let it.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pause } from '../../lib/core/async/wait.js'
import { SECOND } from '../../lib/core/clock.js'
import { builtin } from '../../lib/distributors/builtin/index.js'
import { memoryStore } from '../../lib/objects/memory.js'
import { openStarting } from '../../server/http/starting.js'
import { startUp } from '../../server/start-up.js'
import { openForTest } from '../../server/testing/open.js'
import type { WatchedApp } from '../../server/testing/open.js'
import { countTraffic } from '../harness/postgres-traffic.js'
import type { Traffic } from '../harness/postgres-traffic.js'
import { missing, startServer } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'
import { startProxy } from '../harness/tcp-proxy.js'
import type { TcpProxy } from '../harness/tcp-proxy.js'
import { until } from '../harness/until.js'

/** Seconds for which they are watched. */
const WATCHED = 8

interface Reason {
  statement: RegExp
  /** The most of them in a minute. */
  aMinute: number
}

/** What each node asks, and why. */
const OF_ALL: Readonly<Record<string, Reason>> = {
  'what others have changed holds here within a second, also where nobody tells': {
    statement: /^select name, value from state$/,
    aMinute: 60,
  },
  'somebody leads, or this node has to: asked in the same message': {
    statement: /^select owner, mark from lease/,
    aMinute: 60,
  },
  'a database that was set back is noticed within a second': {
    statement: /^select "seq", "line" from "journal"/,
    aMinute: 60,
  },
  'others know that it is there': { statement: /^insert into "node"/, aMinute: 12 },
  'documents of distributors have changed since it started': {
    statement: /from "distributor_document"/,
    aMinute: 12,
  },
}

/** What the one that leads asks besides. */
const OF_LEADER: Readonly<Record<string, Reason>> = {
  'it goes on leading': { statement: /^update lease/, aMinute: 12 },
  'orders have become due, or another node has told in vain': {
    statement: /^select "id".* from "purchase_order" where state in/,
    aMinute: 60,
  },
  'orders are paused: asked with it': {
    statement: /^select "name" from "order_engine"/,
    aMinute: 60,
  },
  'events have become due': { statement: /from "event_receiver"/, aMinute: 60 },
  'another process has run a job': { statement: /^select .* from "job"/, aMinute: 6 },
}

/** What the one that leads asks once an hour or a day, and soon after its start. */
const SELDOM: readonly RegExp[] = [
  // Nodes that ended without a word.
  /^delete from "node"/,
  // The proof of the journal.
  /^set local idle_in_transaction_session_timeout/,
  /^select coalesce\(\(select max\("seq"\)/,
  /^select count\(\*\) as "rows" from "purchase_order"/,
  /^rollback$/,
]

const AROUND = /^(?:begin|commit)\b/

describe('nodes that nobody asks anything', { skip: missing }, () => {
  const scratch = mkdtempSync(join(tmpdir(), 'qm-idle-'))
  const stopping = new AbortController()
  let server: TestServer
  const nodes: { app: WatchedApp; proxy: TcpProxy; traffic: Traffic }[] = []

  before(async () => {
    server = await startServer()
    const address = await server.database()
    const objects = memoryStore({ now: Date.now })
    for (const name of ['first', 'second']) {
      const proxy = await startProxy(server.port)
      // From the start on: what a connection says by a name has its text once.
      const traffic = countTraffic(proxy)
      const app = await openForTest({
        dir: join(scratch, name),
        database: address.replace(`:${server.port}/`, `:${proxy.port}/`),
        secretKey: '5e'.repeat(32),
        objects,
        worker: false,
        distributors: builtin,
      })
      nodes.push({ app, proxy, traffic })
      // As `serve` does.
      await startUp(app, openStarting(), stopping.signal)
      await until(() => nodes[0]!.app.ctx.engine.lead!.epoch !== null, 'the first leads')
    }
    // What all jobs do at the start.
    await pause(3 * SECOND)
    await nodes[0]!.app.jobs.ended()
  })
  after(async () => {
    stopping.abort()
    for (const { app, proxy } of nodes) {
      await app.close()
      await proxy.close()
    }
    await server?.close()
    rmSync(scratch, { recursive: true, force: true })
  })

  /** Fails for what nobody has a reason for, and for what is asked too often. */
  function checkReasons(texts: readonly string[], reasons: readonly Reason[]): void {
    const counts = new Map<Reason, number>()
    for (const text of texts) {
      if (AROUND.test(text) || SELDOM.some((seldom) => seldom.test(text))) continue
      const reason = reasons.find(({ statement }) => statement.test(text))
      assert.ok(reason, `nobody has a reason for: ${text}`)
      counts.set(reason, (counts.get(reason) ?? 0) + 1)
    }
    for (const reason of reasons) {
      const [count, most] = [counts.get(reason) ?? 0, (reason.aMinute / 60) * WATCHED]
      // One more falls into the time, and a timer may be late and then early.
      assert.ok(count <= most + 2, `${count} times in ${WATCHED} s: ${reason.statement.source}`)
      assert.ok(count > 0 || most < 2, `not asked: ${reason.statement.source}`)
    }
  }

  test('ask their database what they need, and no more', { timeout: 60_000 }, async () => {
    const before = nodes.map(({ traffic }) => traffic.texts.length)
    await pause(WATCHED * SECOND)
    const asked = nodes.map(({ traffic }, at) => traffic.texts.slice(before[at]))
    const [leader, other] = asked as [string[], string[]]
    checkReasons(leader, [...Object.values(OF_ALL), ...Object.values(OF_LEADER)])
    checkReasons(other, Object.values(OF_ALL))
    // With what begins and ends transactions.
    assert.ok(leader.length <= 15 * WATCHED, `${leader.length} statements of who leads`)
    assert.ok(other.length <= 6 * WATCHED, `${other.length} statements of another`)
  })
})
