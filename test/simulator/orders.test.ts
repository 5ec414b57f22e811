import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { DAY, MINUTE, SECOND } from '../../lib/core/clock.js'
import { demoSettings, SIMULATED } from '../../lib/simulator/profiles.js'
import type { PurchaseOrder } from '../../lib/distributors/fulfillment.js'
import {
  CASES,
  connectorConformance,
  FFL,
  openOrderOf,
} from '../distributors/connector-conformance.js'
import { line, simulatorRig, START, withRig } from './rig.js'

/** How an account may be set up where it takes orders in more than one way. */
const WAYS: readonly (readonly [name: string, distid: string, more?: Record<string, unknown>])[] = [
  ...SIMULATED.map((distid) => [distid, distid] as const),
  ['RSR by files', 'RSR', { orders_by: 'files' }],
]

for (const [name, distid, more = {}] of WAYS) {
  connectorConformance(`simulated ${name}`, () => {
    const rig = simulatorRig()
    const settings = { ...demoSettings(distid), ...more }
    const connector = rig.connector(distid)
    const lane = (order: PurchaseOrder) => ({
      ...order,
      lane: connector.plan?.(order.lines, settings)[0]?.name ?? order.lane,
    })
    return {
      connector: { ...connector, ...connector.inLane?.(lane(rig.order()).lane) },
      session: (order, signal) =>
        rig.session(distid, order, { settings, ...(signal && { signal }) }),
      order: (given) => lane(rig.order(given)),
      settings,
      advance: (ms) => {
        rig.clock.ms += ms
      },
      close: rig.close,
      // Its cart tells what was not bought, and not what was.
      leavesToPerson: distid === '2AW',
      count: (clientRef) =>
        rig.simulators.orders().filter((order) => order.clientRef === clientRef).length,
    }
  })
}

test('the table of the guide is what was tried', (t) => {
  const names = WAYS.map(([name]) => name)
  const cell = (what: string, name: string) => CASES.get(what)!.get(`simulated ${name}`) ?? 'no'
  const table = [
    `| Case | ${names.join(' | ')} |`,
    `|---|${names.map(() => '---').join('|')}|`,
    ...[...CASES.keys()].map(
      (what) => `| ${what} | ${names.map((name) => cell(what, name)).join(' | ')} |`,
    ),
  ].join('\n')
  for (const line of table.split('\n')) t.diagnostic(line)
  const page = readFileSync('data/guide/add-a-distributor.md', 'utf8')
  assert.ok(page.includes(table), `the table of add-a-distributor.md is to be:\n${table}`)
})

describe('ways of recovery', () => {
  test(
    'RSR looks at the stock before it looks at the reference',
    withRig(async (rig) => {
      rig.listed.set('LAST', 1)
      const order = rig.order({ scenario: 'CUT-REPLY', lines: [line('LAST')] })
      assert.equal(await rig.outcome('RSR', order), 'unknown')
      assert.deepEqual(await rig.submit('RSR', order), {
        outcome: 'rejected',
        reason: '01 an item is out of stock (Item LAST out of stock)',
      })
      assert.equal(rig.has(order).length, 1)
    }),
  )

  test(
    'RSR can be asked at once, by PO',
    withRig(async (rig) => {
      const order = rig.order({ scenario: 'CUT-REPLY' })
      await rig.outcome('RSR', order)
      assert.deepEqual(await rig.find('RSR', order), {
        outcome: 'answered',
        showsOne: true,
        orders: [
          { number: rig.has(order)[0]!.number, po: order.po, lines: [{ distsku: 'A1', qty: 1 }] },
        ],
      })
    }),
  )

  test(
    "RSR's API, Chattanooga, Lipsey's and Zanders take an order that comes twice for two",
    withRig(async (rig) => {
      for (const distid of ['RSR', 'CSSI', 'LIP', 'ZND']) {
        const order = rig.order({ scenario: 'CUT-REPLY' })
        await rig.outcome(distid, order)
        assert.equal(await rig.outcome(distid, order), 'accepted')
        assert.equal(rig.has(order).length, 2)
      }
    }),
  )

  test(
    'Chattanooga can be asked at once, by reference and by PO',
    withRig(async (rig) => {
      const order = rig.order({ scenario: 'CUT-REPLY' })
      await rig.outcome('CSSI', order)
      const { number } = rig.has(order)[0]!
      const shipTo = { name: 'Pat Doe', address1: '12 Main St', zip: '85001' }
      assert.deepEqual(await rig.find('CSSI', order), {
        outcome: 'answered',
        orders: [
          {
            number,
            po: order.po,
            clientRef: order.clientRef,
            lines: [{ distsku: 'A1', qty: 1 }],
            shipTo,
          },
        ],
      })
      assert.equal(
        (
          (await rig.find('CSSI', { ...order, clientRef: 'ANOTHER0000000000000' })) as {
            orders: unknown[]
          }
        ).orders.length,
        1,
      )
      assert.equal(
        ((await rig.find('CSSI', { ...order, po: 'ANOTHER' })) as { orders: unknown[] }).orders
          .length,
        1,
      )
    }),
  )

  test(
    "Lipsey's tells of an order only in the report of its shipment, without items",
    withRig(async (rig) => {
      const order = rig.order({ scenario: 'CUT-REPLY' })
      await rig.outcome('LIP', order)
      const since = rig.clock.ms
      rig.clock.ms += 119 * SECOND
      assert.deepEqual(await rig.find('LIP', order), { outcome: 'answered', orders: [] })
      assert.deepEqual(await rig.news('LIP', since), [])
      rig.clock.ms += SECOND
      const { orders } = (await rig.find('LIP', order)) as { orders: { number: string }[] }
      assert.equal(orders[0]!.number, rig.has(order)[0]!.number)
      assert.deepEqual(Object.keys(orders[0]!).sort(), ['number', 'po', 'shipTo'])
      assert.equal((await rig.news('LIP', since)).length, 1)
    }),
  )

  test(
    'Zanders tells by the number alone, once it is shipped; what was lost with that, it tells nobody',
    withRig(async (rig) => {
      assert.deepEqual(
        SIMULATED.filter((distid) => rig.connector(distid).find === undefined),
        ['ZND', 'ORI'],
      )
      const [lost, known] = [rig.order({ scenario: 'CUT-REPLY' }), rig.order()]
      assert.equal(await rig.outcome('ZND', lost), 'unknown')
      assert.equal(await rig.outcome('ZND', known), 'accepted')
      rig.clock.ms += 119 * SECOND
      assert.deepEqual(await rig.news('ZND'), [])
      rig.clock.ms += DAY
      assert.deepEqual(
        (await rig.news('ZND')).map(({ number, po, status }) => [number, po, status]),
        [[rig.has(known)[0]!.number, known.po, 'Fulfilled']],
      )
      assert.equal(rig.has(lost).length, 1)
    }),
  )

  test(
    'Sports South: only the submit counts, and twice is once',
    withRig(async (rig) => {
      const order = rig.order({ scenario: 'TIMEOUT', lines: [line('A1'), line('B2', 3)] })
      assert.equal(await rig.outcome('TSW', order), 'unknown')
      const session = rig.session('TSW', order)
      assert.match(session.stage!, /^\d+$/)
      assert.equal(rig.has(order).length, 0)
      const [staged] = (
        (await rig.find('TSW', order)) as {
          orders: { submitted: boolean; number: string; lines: unknown[] }[]
        }
      ).orders
      assert.deepEqual(
        [staged!.submitted, staged!.number, staged!.lines.length],
        [false, session.stage, 2],
      )
      for (let i = 0; i < 3; i++)
        assert.deepEqual(await rig.submit('TSW', order), {
          outcome: 'accepted',
          number: `SIM-TSW-${session.stage}`,
        })
      assert.deepEqual(
        rig.has(order).map(({ lines }) => lines),
        [
          [
            { distsku: 'A1', qty: 1, committed: 1 },
            { distsku: 'B2', qty: 3, committed: 3 },
          ],
        ],
      )
      const { orders } = (await rig.find('TSW', order)) as { orders: { submitted: boolean }[] }
      assert.deepEqual(
        orders.map(({ submitted }) => submitted),
        [true],
      )
    }),
  )

  test(
    'Sports South: a stage that nobody kept is left behind, and has no effect',
    withRig(async (rig) => {
      const order = rig.order()
      const session = rig.session('TSW', order)
      await assert.rejects(
        rig
          .connector('TSW')
          .submit(
            { ...session, keepStage: () => Promise.reject(new Error('the disk is full')) },
            order,
          ),
        /disk is full/,
      )
      assert.equal(rig.has(order).length, 0)
      assert.equal(await rig.outcome('TSW', order), 'accepted')
      assert.equal(rig.has(order).length, 1)
      const { orders } = (await rig.find('TSW', order)) as { orders: { submitted: boolean }[] }
      assert.deepEqual(
        orders.map(({ submitted }) => submitted),
        [true, false],
      )
    }),
  )

  test(
    'Sports South: what is refused when it is gone on with shows that it is not placed',
    withRig(async (rig) => {
      rig.listed.set('LAST', 1)
      const order = rig.order({ scenario: 'TIMEOUT', lines: [line('LAST')] })
      assert.equal(await rig.outcome('TSW', order), 'unknown')
      assert.equal(await rig.outcome('TSW', rig.order({ lines: [line('LAST')] })), 'accepted')
      for (let i = 0; i < 2; i++) {
        assert.equal(await rig.outcome('TSW', order), 'rejected')
        const { orders } = (await rig.find('TSW', order)) as { orders: { submitted: boolean }[] }
        assert.deepEqual(
          orders.map(({ submitted }) => submitted),
          [false],
        )
      }
      assert.deepEqual(rig.has(order), [])
    }),
  )

  test(
    'Sports South: what is refused at once is deleted, and what is not shown any more is no answer',
    withRig(async (rig) => {
      rig.listed.set('NEVER', null)
      const order = rig.order({ lines: [line('A1'), line('NEVER')] })
      assert.equal(await rig.outcome('TSW', order), 'rejected')
      assert.match(rig.session('TSW', order).stage!, /^\d+$/)
      assert.equal((await rig.find('TSW', order)).outcome, 'unreachable')
      assert.equal(await rig.outcome('TSW', order), 'unknown')
    }),
  )

  test(
    'Bill Hicks: one file, however often it is dropped; the number comes with the acknowledgement',
    withRig(async (rig) => {
      const order = rig.order({ scenario: 'TIMEOUT-AFTER-ACCEPT' })
      assert.equal(await rig.outcome('BILL', order), 'unknown')
      assert.deepEqual(await rig.submit('BILL', order), { outcome: 'duplicate', number: null })
      const waiting = await rig.find('BILL', order)
      assert.ok(
        waiting.outcome === 'answered' &&
          waiting.orders.length === 1 &&
          waiting.orders[0]!.number === null &&
          waiting.orders[0]!.po === order.po &&
          waiting.orders[0]!.lines!.length === 1,
      )
      assert.deepEqual(await rig.news('BILL'), [])
      rig.clock.ms += 30 * SECOND
      const [acknowledged] = await rig.news('BILL')
      assert.match(acknowledged!.number!, /^SIM-BILL-\d+$/)
      assert.deepEqual(
        [acknowledged!.status, acknowledged!.po, acknowledged!.lines, acknowledged!.at],
        ['Submitted', order.po, [{ distsku: 'A1', qty: 1 }], START + 30 * SECOND],
      )
      rig.clock.ms += MINUTE
      assert.deepEqual(await rig.submit('BILL', order), { outcome: 'duplicate', number: null })
      assert.deepEqual(
        rig.has(order).map(({ number }) => number),
        [acknowledged!.number],
      )
    }),
  )

  test(
    'Bill Hicks commits what it has, and nothing of what it does not know',
    withRig(async (rig) => {
      rig.listed.set('FEW', 2).set('NEVER', null)
      const some = rig.order({ lines: [line('FEW', 5), line('A1')] })
      const none = rig.order({ lines: [line('NEVER')] })
      for (const order of [some, none]) assert.equal(await rig.outcome('BILL', order), 'accepted')
      rig.clock.ms += MINUTE
      const news = await rig.news('BILL')
      assert.deepEqual(
        [some, none].map(({ po }) => news.find((update) => update.po === po)!.status),
        ['Partially Fulfilled', 'Not Fulfilled'],
      )
      assert.deepEqual(
        rig.has(some)[0]!.lines.map(({ committed }) => committed),
        [2, 1],
      )
    }),
  )
})

describe('carts', () => {
  /** Longer than anything of an earlier send can be on its way. */
  const REST = 14 * MINUTE

  test(
    'what an order that was cut off has left in the cart does not come along',
    withRig(async (rig) => {
      const cutOff = rig.order({ lines: [line('LEFT', 5), line('A1')] })
      await assert.rejects(
        rig
          .connector('2AW')
          .submit(
            { ...rig.session('2AW', cutOff), keepStage: () => Promise.reject(new Error('killed')) },
            cutOff,
          ),
        /killed/,
      )
      const next = rig.order({ lines: [line('A1', 2)] })
      // Something of the first may still be on its way.
      for (const order of [next, cutOff]) assert.equal(await rig.outcome('2AW', order), 'not_sent')
      rig.clock.ms += REST
      assert.equal(await rig.outcome('2AW', next), 'accepted')
      assert.deepEqual(rig.has(next)[0]!.lines, [{ distsku: 'A1', qty: 2, committed: 2 }])
      assert.equal(await rig.outcome('2AW', cutOff), 'accepted')
      assert.deepEqual(
        rig.has(cutOff)[0]!.lines.map(({ distsku, qty }) => `${distsku} ${qty}`),
        ['LEFT 5', 'A1 1'],
      )
    }),
  )

  test(
    'a cart that became another order is not taken for ours, and ours is not sent again',
    withRig(async (rig) => {
      const first = rig.order({ scenario: 'TIMEOUT', po: 'SHARED' })
      assert.equal(await rig.outcome('2AW', first), 'unknown')
      const stage = rig.session('2AW', first).stage
      const second = rig.order({ po: 'SHARED', lines: [line('A1'), line('B2')] })
      assert.equal(await rig.outcome('2AW', second), 'not_sent')
      rig.clock.ms += REST
      assert.equal(await rig.outcome('2AW', second), 'accepted')
      assert.equal(rig.session('2AW', second).stage, stage)
      assert.equal((await rig.find('2AW', first)).outcome, 'unreachable')
      assert.equal(await rig.outcome('2AW', first), 'unknown')
      assert.deepEqual(
        [first, second].map((order) => rig.has(order).length),
        [0, 1],
      )
    }),
  )

  test(
    'while it still holds our order, a search tells that the order is not there',
    withRig(async (rig) => {
      const order = rig.order({ scenario: 'TIMEOUT' })
      await rig.outcome('2AW', order)
      assert.deepEqual(await rig.find('2AW', order), { outcome: 'answered', orders: [] })
      // Gone on with, it is bought once; then the cart tells nothing, until it is shipped.
      assert.equal(await rig.outcome('2AW', order), 'accepted')
      assert.equal((await rig.find('2AW', order)).outcome, 'unreachable')
      rig.clock.ms += 3 * MINUTE
      const search = await rig.find('2AW', order)
      assert.deepEqual(search.outcome === 'answered' && search.orders.map(({ number }) => number), [
        rig.has(order)[0]!.number,
      ])
    }),
  )

  test(
    "two who fill it at once never get each other's items",
    withRig(async (rig) => {
      const placed = await Promise.all(
        ['A1', 'B2', 'C3', 'D4'].map(async (sku, i) => {
          const order = rig.order({ lines: [line(sku, i + 1), line(`${sku}x`)] })
          return { order, outcome: await rig.outcome('2AW', order) }
        }),
      )
      for (const { order, outcome } of placed) {
        // Whoever finds the cart taken by another has sent nothing, and comes again.
        if (outcome !== 'accepted') {
          rig.clock.ms += REST
          assert.deepEqual([outcome, await rig.outcome('2AW', order)], ['not_sent', 'accepted'])
        }
        assert.deepEqual(
          rig.has(order).map(({ lines }) => lines.map(({ distsku, qty }) => ({ distsku, qty }))),
          [order.lines.map(({ distsku, qty }) => ({ distsku, qty }))],
        )
      }
    }),
  )

  test(
    'a payment that comes late finds its own order in the cart, and no other',
    withRig(async (rig) => {
      const late = rig.order({ scenario: 'LATE' })
      assert.equal(await rig.outcome('2AW', late), 'unknown')
      const next = rig.order({ lines: [line('B2')] })
      assert.equal(await rig.outcome('2AW', next), 'not_sent')
      rig.clock.ms += REST
      assert.equal(await rig.outcome('2AW', next), 'accepted')
      rig.clock.ms += DAY
      assert.deepEqual(
        [late, next].map((order) => rig.has(order).map(({ lines }) => lines[0]!.distsku)),
        [['A1'], ['B2']],
      )
    }),
  )

  test(
    'a payment that is refused leaves the cart empty for the next order',
    withRig(async (rig) => {
      const refused = rig.order({ scenario: 'REJECT' })
      assert.equal(await rig.outcome('2AW', refused), 'rejected')
      const next = rig.order({ lines: [line('B2')] })
      assert.equal(await rig.outcome('2AW', next), 'accepted')
      assert.deepEqual(
        [refused, next].map((order) => rig.has(order).length),
        [0, 1],
      )
    }),
  )
})

describe('refusals', () => {
  const firearm = (more: object = {}) => ({
    lines: [line('G1', 1, true)],
    ffl: FFL,
    fflRequired: true,
    ...more,
  })
  const rows: [distid: string, what: string, more: object, reason: RegExp][] = [
    [
      'RSR',
      'a PO that is too long',
      { po: 'x'.repeat(23) },
      /^10999 PO number has 23 characters, 22 are the most$/,
    ],
    ['RSR', 'a character in the PO', { po: 'A_1' }, /PO number holds "_"$/],
    [
      'CSSI',
      'a PO that is too long',
      { po: 'x'.repeat(25) },
      /purchase_order_number has 25 characters/,
    ],
    [
      'RSR',
      'no phone with a firearm',
      firearm({ customer: { ...simulatorCustomer(), phone: null } }),
      /^82 the consumer's phone number is missing/,
    ],
    [
      'LIP',
      'no phone with a firearm',
      firearm({ customer: { ...simulatorCustomer(), phone: ' ' } }),
      /Phone is required/,
    ],
    [
      'TSW',
      'no phone at all',
      { customer: { ...simulatorCustomer(), phone: null } },
      /ShipToPhone/,
    ],
    ['RSR', 'a firearm without a dealer', { lines: [line('G1', 1, true)] }, /11002/],
    [
      'ZND',
      'a license that is none',
      firearm({ ffl: { ...FFL, licenseNumber: '1-57-033' } }),
      /fflno/,
    ],
    [
      '2AW',
      'a ZIP that is none',
      { shipTo: { ...simulatorCustomer(), zip: '8500' } },
      /postcode "8500"/,
    ],
    [
      'BILL',
      'a ZIP that is none',
      { shipTo: { ...simulatorCustomer(), zip: 'K1A 0B1' } },
      /K1A 0B1/,
    ],
    [
      'RSR',
      'firearms with accessories',
      firearm({ lines: [line('G1', 1, true), line('A1')] }),
      /^85 firearms and accessories cannot be in one order/,
    ],
    [
      'LIP',
      'firearms with accessories',
      firearm({ lines: [line('G1', 1, true), line('A1')] }),
      /non-firearms/,
    ],
    [
      'ZND',
      'firearms with accessories',
      firearm({ lines: [line('G1', 1, true), line('A1')] }),
      /different accounts/,
    ],
    ['CSSI', 'an unknown SKU', { lines: [line('A1'), line('NEVER')] }, /NEVER does not exist/],
    ['TSW', 'an unknown SKU', { lines: [line('NEVER')] }, /AddDetail: false/],
    [
      'LIP',
      'one line out of stock',
      { lines: [line('A1'), line('FEW', 3)] },
      /FEW is not available/,
    ],
    ['2AW', 'a line out of stock', { lines: [line('FEW', 3)] }, /requested qty of "FEW"/],
  ]
  for (const [distid, what, more, reason] of rows) {
    test(
      `${distid} refuses ${what}`,
      withRig(async (rig) => {
        rig.listed.set('NEVER', null).set('FEW', 2)
        const order = rig.order(more)
        const answer = await rig.submit(distid, order)
        assert.ok(answer.outcome === 'rejected', answer.outcome)
        assert.match(answer.reason, reason)
        rig.clock.ms += DAY
        assert.deepEqual(rig.has(order), [])
      }),
    )
  }

  test(
    'what goes to the store needs no license of a dealer, and what has none of these faults is taken',
    withRig(async (rig) => {
      for (const distid of SIMULATED) {
        assert.equal(await rig.outcome(distid, rig.order(firearm())), 'accepted')
        assert.equal(
          await rig.outcome(distid, rig.order({ lines: [line('G1', 1, true)], shipToStore: true })),
          'accepted',
        )
        assert.equal(
          await rig.outcome(
            distid,
            rig.order({ shipTo: { ...simulatorCustomer(), zip: '85001-1234' } }),
          ),
          'accepted',
        )
      }
    }),
  )

  test(
    "credentials other than the demo's: nothing is looked at",
    withRig(async (rig) => {
      for (const distid of SIMULATED) {
        const order = rig.order()
        for (const settings of [
          {},
          {
            ...rig.session(distid, order).settings,
            ...Object.fromEntries(
              Object.keys(rig.session(distid, order).settings).map((name) => [name, 'wrong']),
            ),
          },
        ]) {
          const session = rig.session(distid, order, { settings })
          assert.equal((await rig.connector(distid).submit(session, order)).outcome, 'not_sent')
          const { find } = rig.connector(distid)
          if (find) assert.equal((await find(session, order)).outcome, 'unreachable')
          await assert.rejects(async () => {
            for await (const _ of rig.connector(distid).updates!(session, START, [
              openOrderOf(order),
            ]))
              assert.fail()
          }, /credentials|login/)
        }
        assert.deepEqual(rig.has(order), [])
      }
    }),
  )

  test(
    "RSR, Lipsey's, Zanders and Orion plan two parts for a mixed group, and one for any other",
    withRig(async (rig) => {
      for (const distid of ['RSR', 'LIP', 'ZND', 'ORI']) {
        const { plan } = rig.connector(distid)
        assert.deepEqual(plan!([line('A1'), line('G1', 1, true), line('B2')], {}), [
          { name: 'firearms', lines: [1] },
          { name: 'accessories', lines: [0, 2] },
        ])
        assert.deepEqual(plan!([line('A1')], {}), [{ name: 'accessories', lines: [0] }])
        assert.deepEqual(plan!([line('G1', 1, true)], {}), [{ name: 'firearms', lines: [0] }])
      }
      for (const distid of ['CSSI', 'TSW', '2AW', 'BILL', 'HIX'])
        assert.equal(rig.connector(distid).plan, undefined)
    }),
  )
})

function simulatorCustomer() {
  return {
    name: 'Pat Doe',
    address1: '12 Main St',
    address2: null,
    city: 'Phoenix',
    state: 'AZ',
    zip: '85001',
    phone: '602-555-0100',
    email: 'pat@customer.example',
  }
}
