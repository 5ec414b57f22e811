/**
 * `close` ends, or waits for, everything that an app has begun; `node scripts/closing.mjs 500` does
 * the same on a busy machine.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closingRounds } from './closing-rounds.js'

/** What is under way in so many rounds at least once. */
const KINDS = ['order', 'feed', 'pull', 'export', 'analytics', 'credentials', 'fraud key', 'backup']

test(
  'an app that is closed in the middle of its work leaves nothing under way, and nothing ' +
    'unsaid that a distributor said',
  async () => {
    const { caught, orders } = await closingRounds(25)
    assert.deepEqual(
      KINDS.filter((kind) => !caught[kind]),
      [],
      JSON.stringify(caught),
    )
    assert.ok(orders > 0)
  },
)
