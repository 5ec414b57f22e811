/** Every single fault of disk and distributor, and damage done to the files of a folder while nobody had it open. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NAMES } from './simulation/shop.js'
import { sweep } from './simulation/sweep.js'
import type { SweepFault } from './simulation/sweep.js'
import { CALL_FAULTS } from './simulation/world.js'

const DISK: SweepFault[] = [
  ...(['full', 'io before', 'io after', 'ours'] as const).map((fault) => ({ what: 'transaction' as const, fault })),
  ...(['ENOSPC', 'EIO'] as const).flatMap((fault) => [{ what: 'write' as const, fault }, { what: 'datasync' as const, fault }]),
]
const DISTRIBUTOR: SweepFault[] = [
  ...CALL_FAULTS.map((fault) => ({ what: 'call' as const, fault })),
  ...(['cut', 'hang', 'garbage', 'slow'] as const).map((fault) => ({ what: 'search' as const, fault })),
]

describe('one fault at a time, at every place', () => {
  for (const distid of Object.keys(NAMES)) {
    test(`${NAMES[distid]}: an order of two groups`, async () => {
      const { cases, wrong } = await sweep({ seed: 5, distid, faults: [...DISK, ...DISTRIBUTOR] })
      assert.deepEqual(wrong, [])
      assert.ok(cases > 50, `${cases} cases`)
    })
  }
})
