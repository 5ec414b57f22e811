/**
 * An epoch of scripts/cluster, as short as it can be: three nodes that are killed, frozen and cut
 * off while orders come in. The long runs are `npx tsx scripts/cluster/run.ts`.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cluster } from '../../scripts/cluster/cluster.js'
import { QUICK } from '../../scripts/cluster/pace.js'
import { missing } from '../harness/postgres.js'
import { whyNoS3Server } from '../objects/s3-server.js'

const OPTIONS = { seed: 5, seconds: 8, callers: 5, pace: QUICK, bug: null }

test(
  'three nodes in trouble place every order once, and come to one catalog',
  { skip: missing || (whyNoS3Server() ?? false) },
  async () => {
    const root = mkdtempSync(join(tmpdir(), 'qm-cluster-'))
    const cluster = await Cluster.open({ root, ...OPTIONS })
    try {
      const { orders, bought, faults } = await cluster.epoch()
      assert.deepEqual(Object.values(faults).flat(), [])
      assert.ok(orders > 0 && bought > 0, `${orders} orders, ${bought} in the books`)
      assert.ok(cluster.trouble.done.size > 0, 'nothing has failed')
    } finally {
      await cluster.close()
      rmSync(root, { recursive: true, force: true })
    }
  },
)
