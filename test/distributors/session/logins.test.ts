import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HOUR } from '../../../lib/core/clock.js'
import { builtin } from '../../../lib/distributors/builtin/index.js'
import { CallFault } from '../../../lib/distributors/session/http.js'
import { Logins } from '../../../lib/distributors/session/logins.js'
import { openSession } from '../../../lib/distributors/session/open-session.js'

const lipseys = builtin.find(({ distid }) => distid === 'LIP')!
const SETTINGS = { api_user: 'a@shop.example', api_password: 'one' }

function made() {
  const clock = { ms: Date.UTC(2026, 10, 21, 12) + 0.25 }
  const logins = new Logins(() => clock.ms)
  return { clock, logins, gate: logins.of(lipseys, 'live', SETTINGS) }
}

describe('logins that were refused', () => {
  test('twice: for an hour nobody tries, and then once', () => {
    const { clock, gate } = made()
    gate.refused()
    assert.equal(gate.reason(), null)
    gate.refused()
    assert.match(gate.reason()!, /refused 2 times/)
    clock.ms += HOUR - 1
    assert.notEqual(gate.reason(), null)
    clock.ms += 1
    assert.equal(gate.reason(), null)
    gate.refused()
    assert.match(gate.reason()!, /refused 3 times/)
  })

  test('are forgotten once one is taken', () => {
    const { gate } = made()
    gate.refused()
    gate.refused()
    gate.accepted()
    gate.refused()
    assert.equal(gate.reason(), null)
  })

  test('count for these credentials alone, in this mode', () => {
    const { logins, gate } = made()
    gate.refused()
    gate.refused()
    const others = [
      logins.of(lipseys, 'live', { ...SETTINGS, api_password: 'two' }),
      logins.of(lipseys, 'simulator', SETTINGS),
      logins.of({ ...lipseys, distid: 'LIP2' }, 'live', SETTINGS),
    ]
    assert.deepEqual(
      others.map((other) => other.reason()),
      [null, null, null],
    )
    // What is no credential makes no other account.
    const same = logins.of(lipseys, 'live', { ...SETTINGS, ffl_recipient_emails: ['x@y.example'] })
    assert.notEqual(same.reason(), null)
  })

  test('keep a session from calling: nothing is sent', async () => {
    const { gate, clock } = made()
    gate.refused()
    gate.refused()
    const session = openSession(lipseys, {
      settings: SETTINGS,
      signal: new AbortController().signal,
      now: () => clock.ms,
      login: gate,
    })
    const error = await session
      .http({ method: 'GET', path: 'x' })
      .catch((caught: unknown) => caught)
    assert.ok(error instanceof CallFault && !error.sent)
    assert.match(error.message, /not tried for an hour/)
    session.login.accepted()
    assert.equal(gate.reason(), null)
  })
})
