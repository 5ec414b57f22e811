/** What is told of nodes that do not keep up. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { nodeFindings } from '../../lib/app/nodes/findings.js'
import { MINUTE, SECOND } from '../../lib/core/clock.js'
import { missing } from '../harness/postgres.js'
import { startNodes } from './nodes.js'
import type { Nodes } from './nodes.js'

const BEGIN = 1_764_000_000_000

describe('findings about nodes', { skip: missing }, () => {
  let nodes: Nodes
  before(async () => {
    nodes = await startNodes()
  })
  after(() => nodes?.close())

  test('a node lags once it has had two minutes for what is published, and no sooner', async () => {
    const { address, server, one } = nodes
    const clock = await nodes.clock()
    const lags = async () =>
      (await nodeFindings(one)).filter(
        ({ check, severity }) => check === 'node_lags' && severity === 'warn',
      )
    /** So long after the catalog was published; both nodes are there. */
    const at = async (ms: number) => {
      await clock.set(BEGIN + ms)
      await server.run(address, 'update quartermaster.node set seen_at = quartermaster.now_ms()')
      return (await lags()).map(({ subject }) => subject)
    }
    await clock.set(BEGIN)
    await server.run(
      address,
      `insert into quartermaster.publication (name, number, kind, mark, form, made, revision,
          fragments, parts, files, bytes, published_at, epoch)
        values ('catalog', 1, 'base', 'm', 1, '', 1, 1, '[]', '[]', 1, $1, 1)`,
      [BEGIN],
    )
    const node = (name: string, startedAt: number) =>
      server.run(
        address,
        `insert into quartermaster.node
            (id, host, dir, pid, release, started_at, seen_at, clock_ahead)
          values ($1, 'host', $1, 1, '1', $2, $2, 0)`,
        [name, startedAt],
      )
    await node('/old', BEGIN - MINUTE)
    await node('/young', BEGIN + 10 * MINUTE)
    assert.deepEqual(await at(2 * MINUTE - SECOND), [])
    assert.deepEqual(await at(10 * MINUTE), ['host:/old'])
    assert.deepEqual((await at(12 * MINUTE)).toSorted(), ['host:/old', 'host:/young'])
  })
})
