import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { fitPo, poNumber, poOfAttempt } from '../../../lib/orders/place/po-number.js'
import { splitOrder } from '../../../lib/orders/place/split.js'
import type { OrderLine } from '../../../lib/orders/place/split.js'

describe('PO numbers', () => {
  const rows: [fflRequired: boolean, shipToStore: boolean, expected: string][] = [
    [false, false, 'W-1001-AB9Z-010'],
    [true, false, 'W-1001-AB9Z-110'],
    [false, true, 'W-1001-AB9Z-011'],
    [true, true, 'W-1001-AB9Z-111'],
  ]
  for (const [fflRequired, shipToStore, expected] of rows) {
    test(`${expected} is made of order id, key and flags`, () =>
      assert.equal(
        poNumber({ orderId: 'W-1001', poTag: 'AB9Z', fflRequired, shipToStore }),
        expected,
      ))
  }

  test('a library caller without a key has LIB0', () =>
    assert.equal(
      poNumber({ orderId: '7', poTag: null, fflRequired: true, shipToStore: false }),
      '7-LIB0-110',
    ))

  test('a placement after a refusal sends -2, then -3', () =>
    assert.deepEqual(
      [1, 2, 3].map((attempt) => poOfAttempt('PO', attempt)),
      ['PO', 'PO-2', 'PO-3'],
    ))

  const RSR = { max: 22, chars: /[A-Za-z0-9 -]/ }
  test('what fits is sent as it is; what does not is shortened with a digest', () => {
    assert.equal(fitPo('x'.repeat(22), RSR, 'a'), 'x'.repeat(22))
    assert.match(fitPo('x'.repeat(23), RSR, 'a'), /^x{8}-[A-Z2-7]{13}$/)
    assert.match(fitPo('A_1', RSR, 'a'), /^A1-[A-Z2-7]{13}$/)
    assert.match(fitPo('___', RSR, 'a'), /^[A-Z2-7]{13}$/)
    assert.match(fitPo('abcdef_', { max: 13 }, 'a'), /^abcdef_$/)
    assert.match(fitPo('x'.repeat(14), { max: 13 }, 'a'), /^[A-Z2-7]{13}$/)
    assert.throws(() => fitPo('x', { max: 12 }, 'a'), /cannot tell orders apart/)
  })

  test('shortening is the same for one order, differs for others, and fits', () => {
    const seen = new Map<string, string>()
    const long = fc.stringMatching(/^[A-Za-z0-9_-]{40,50}$/)
    fc.assert(
      fc.property(
        long,
        fc.string({ maxLength: 3 }),
        fc.constantFrom(22, 24, 13, 14),
        (orderId, tail, max) => {
          // The same first 40 characters, and spellings that differ in case only.
          const identity = `shop|${'W'.repeat(40)}${orderId.slice(40)}${tail}`
          const po = fitPo(`${'W'.repeat(40)}${orderId}`, { max, chars: RSR.chars }, identity)
          assert.ok(po.length <= max && /^[A-Za-z0-9 -]+$/.test(po))
          assert.equal(
            fitPo(`${'W'.repeat(40)}${orderId}`, { max, chars: RSR.chars }, identity),
            po,
          )
          const digest = po.slice(-13)
          assert.equal(seen.get(digest) ?? identity, identity)
          seen.set(digest, identity)
        },
      ),
      { numRuns: 20_000 },
    )
  })
})

describe('splitting', () => {
  const line = (distid: string, distsku: string, fflRequired = false, qty = 1): OrderLine => ({
    distid,
    distsku,
    upc: '1',
    qty,
    fflRequired,
  })
  const shape = (lines: OrderLine[], store = false) =>
    splitOrder(lines, store).map(
      ({ distid, fflRequired, lines: own }) =>
        `${distid}${fflRequired ? '!' : ''} ` +
        `${own.map(({ distsku, qty }) => `${distsku}x${qty}`).join('+')}`,
    )

  test('one order for each distributor and need of a dealer', () => {
    assert.deepEqual(
      shape([line('RSR', 'a'), line('LIP', 'b', true), line('RSR', 'c', true), line('RSR', 'd')]),
      ['RSR ax1+dx1', 'LIP! bx1', 'RSR! cx1'],
    )
  })
  test('to the store, one for each distributor', () => {
    assert.deepEqual(shape([line('RSR', 'a'), line('RSR', 'c', true), line('LIP', 'b')], true), [
      'RSR! ax1+cx1',
      'LIP bx1',
    ])
  })
  test('lines of one distsku become one', () =>
    assert.deepEqual(
      shape([line('RSR', 'a', false, 2), line('RSR', 'b'), line('RSR', 'a', false, 3)]),
      ['RSR ax5+bx1'],
    ))

  test('no unit is lost or made, and no group mixes distributors', () => {
    const lines = fc.array(
      fc.record({
        distid: fc.constantFrom('RSR', 'LIP', 'CSSI'),
        distsku: fc.constantFrom('a', 'b', 'c'),
        upc: fc.constant('1'),
        qty: fc.integer({ min: 1, max: 9 }),
        fflRequired: fc.boolean(),
      }),
      { minLength: 1, maxLength: 30 },
    )
    fc.assert(
      fc.property(lines, fc.boolean(), (order, store) => {
        const groups = splitOrder(order, store)
        const units = (of: readonly OrderLine[]) => {
          const counted = new Map<string, number>()
          for (const { distid, distsku, qty } of of)
            counted.set(`${distid} ${distsku}`, (counted.get(`${distid} ${distsku}`) ?? 0) + qty)
          return [...counted].sort()
        }
        assert.deepEqual(units(groups.flatMap((group) => group.lines)), units(order))
        for (const group of groups) {
          assert.ok(group.lines.every(({ distid }) => distid === group.distid))
          if (!store)
            assert.ok(group.lines.every(({ fflRequired }) => fflRequired === group.fflRequired))
        }
        assert.equal(
          new Set(
            groups.map(({ distid, fflRequired }) => (store ? distid : `${distid} ${fflRequired}`)),
          ).size,
          groups.length,
        )
      }),
    )
  })
})
