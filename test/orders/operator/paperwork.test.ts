import assert from 'node:assert/strict'
import { test } from 'node:test'
import { businessDay } from '../../../lib/orders/operator/paperwork.js'

test('working days leave weekends out', () => {
  const at = (day: string) => Date.parse(`${day}T22:00:00.500Z`)
  // The 20th of November 2026 is a Friday.
  for (const [from, days, due] of [
    ['2026-11-16', 3, '2026-11-19'],
    ['2026-11-16', 5, '2026-11-23'],
    ['2026-11-20', 1, '2026-11-23'],
    ['2026-11-21', 1, '2026-11-23'],
    ['2026-11-22', 3, '2026-11-25'],
    ['2026-12-31', 2, '2027-01-04'],
    ['2026-11-20', 0, '2026-11-20'],
  ] as const)
    assert.equal(businessDay(at(from), days), due, `${from} + ${days}`)
})
