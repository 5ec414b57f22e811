/** Today: what was sold, and what waits. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { overview, waiting } from '../../lib/app/overview.js'
import { DAY } from '../../lib/core/clock.js'
import { JUNE, MAY, dealers, file, take, withApp } from '../ffls/lists.js'
import { scripted } from '../orders/scripted-distributor.js'
import { UPC, orderShop } from '../orders/shop.js'

describe('today', () => {
  test('counts orders and their pieces by the day on which they were placed', async () => {
    const tst = scripted()
    await using t = await orderShop([tst])
    const [distid, distsku] = [tst.distributor.distid, 'A1']
    await t.place(t.body({ items: [{ distid, distsku, upc: UPC, qty: 3 }] }))
    await t.place(t.body())
    t.clock.advance(DAY)
    await t.place(t.body({ items: [{ distid, distsku, upc: UPC, qty: 2 }] }))
    const { days } = await overview(t.app.ctx)
    assert.deepEqual(
      days.slice(-2).map(({ orders, units }) => [orders, units]),
      [
        [2, 4],
        [1, 2],
      ],
    )
    assert.ok(days.slice(0, -2).every(({ orders, units }) => orders === 0 && units === 0))
    // Fourteen days on, the last of them is the first that is shown.
    t.clock.advance(13 * DAY)
    const later = (await overview(t.app.ctx)).days.map(({ units }) => units)
    assert.deepEqual(later, [2, ...Array.from({ length: 13 }, () => 0)])
  })

  test('holds removals until somebody accepts them, or a whole list decides', () =>
    withApp(async (t) => {
      const held = async () => (await waiting(t.app.ctx)).held_removals
      assert.equal(await held(), 0)
      await take(t, dealers(20))
      assert.equal(await held(), 0)
      await take(t, dealers(8), { asOf: JUNE })
      assert.equal(await held(), 12)
      await take(t, dealers(8), { asOf: JUNE + 1, accept: true })
      assert.equal(await held(), 0)
      const line = (i: number) => `1-20-00${i}-01-9E-0000${i}\n`
      const mark = (distid: string, many: number, asOf: number) =>
        t.app.operator.ffls.onFile(
          {
            distid,
            file: file(`LICENSE\n${Array.from({ length: many }, (_, i) => line(i + 1)).join('')}`),
          },
          { asOf },
        )
      await mark('RSR', 8, MAY)
      await mark('LIP', 8, MAY)
      await mark('RSR', 2, MAY + 1)
      assert.equal(await held(), 6)
      await mark('LIP', 3, MAY + 1)
      assert.equal(await held(), 11)
      await mark('RSR', 8, MAY + 2)
      assert.equal(await held(), 5)
    }))
})
