import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HOUR } from '../../../lib/core/clock.js'
import { Logins, loginsOf } from '../../../lib/distributors/session/logins.js'
import { openSession } from '../../../lib/distributors/session/open-session.js'

const LOGIN = ['a@shop.example', 'one']

function made() {
  const clock = { ms: Date.UTC(2026, 10, 21, 12) + 0.25 }
  const logins = new Logins(() => clock.ms)
  return { clock, logins, gate: logins.of('LIP', 'live', LOGIN) }
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
      logins.of('LIP', 'live', ['a@shop.example', 'two']),
      logins.of('LIP', 'live', ['b@shop.example', 'one']),
      logins.of('LIP', 'simulator', LOGIN),
      logins.of('RSR', 'live', LOGIN),
    ]
    assert.deepEqual(
      others.map((other) => other.reason()),
      [null, null, null, null],
    )
    assert.notEqual(logins.of('LIP', 'live', LOGIN).reason(), null)
  })

  test('are told to a connector by its session', () => {
    const { logins, clock } = made()
    const session = openSession(
      { name: 'Lipseys' },
      {
        settings: {},
        signal: new AbortController().signal,
        now: () => clock.ms,
        login: loginsOf({ logins }, { distid: 'LIP', mode: 'live' }),
      },
    )
    session.login(...LOGIN).refused()
    session.login(...LOGIN).refused()
    assert.notEqual(logins.of('LIP', 'live', LOGIN).reason(), null)
    session.login(...LOGIN).accepted()
    assert.equal(session.login(...LOGIN).reason(), null)
  })
})
