/** Data keys: they are read together, and each is there as soon as its owner is. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { OPERATOR } from '../../lib/core/storage/secrets.js'
import type { Secrets } from '../../lib/core/storage/secrets.js'
import { createTestApp } from '../../server/testing/index.js'
import { openForTest as open } from '../../server/testing/open.js'
import { heardByOthers, isOnPostgres } from '../harness/record.js'

/** Has the data keys read, whatever was read before. */
const readAll = (secrets: Secrets) =>
  assert.throws(() => secrets.of('s_nobody'), /s_nobody has no data key/)

function hasKey(secrets: Secrets, owner: string): boolean {
  try {
    secrets.of(owner)
    return true
  } catch {
    return false
  }
}

const shop = (name: string) => ({ name, email: `${name}@shop.example` })

describe('the data key of a shop', () => {
  test('is there as soon as the shop is, whichever process made it, in the same turn', async () => {
    await using t = await createTestApp()
    await using other = await open({ dir: t.app.dir })
    const { secrets, engine } = t.app.ctx
    const sealed = secrets.of(OPERATOR).seal('a', 'place')
    readAll(secrets)
    const before = engine.version()
    const { id } = await other.operator.subscribers.create(shop('Other'))
    // A node of several may have heard of it already, or is about to.
    if (isOnPostgres) await heardByOthers(() => hasKey(secrets, id))
    else assert.equal(engine.version(), before)
    const one = secrets.of(id).seal('b', 'place')
    assert.equal(other.ctx.secrets.of(id).open(one, 'place'), 'b')
    assert.equal(other.ctx.secrets.of(OPERATOR).open(sealed, 'place'), 'a')
  })

  test('opens after the secret key was rotated, also where it was not used before', async () => {
    await using t = await createTestApp()
    const { id } = await t.app.operator.subscribers.create(shop('Later'))
    const { secrets } = t.app.ctx
    const sealed = secrets.of(OPERATOR).seal('a', 'place')
    readAll(secrets)
    await t.app.operator.secrets.rotate()
    assert.equal(secrets.of(OPERATOR).open(sealed, 'place'), 'a')
    const own = secrets.of(id)
    assert.equal(own.open(own.seal('b', 'place'), 'place'), 'b')
  })
})
