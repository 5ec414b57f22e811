import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DAY, MINUTE, SECOND } from '../../lib/core/clock.js'
import { profileOf, SIMULATED } from '../../lib/simulator/profiles.js'
import { ALL_NEWS } from '../../lib/simulator/engine/world.js'
import type { News } from '../../lib/simulator/engine/world.js'
import { SCENARIOS, scenarioOf } from '../../lib/simulator/engine/scenarios/scenarios.js'
import { FFL } from '../distributors/connector-conformance.js'
import { withPlain } from './plain.js'
import { line, LOOKED_UP, simulatorRig, START, withRig } from './rig.js'
import type { SimulatorRig } from './rig.js'

/**
 * Of each scenario: how its first send ends, how many orders come of it, and how that order ends.
 */
const EXPECTED: Record<string, [outcome: string, orders: number, status?: string]> = {
  'OUT-OF-STOCK': ['rejected', 0],
  REJECT: ['rejected', 0],
  UNREACHABLE: ['not_sent', 0],
  'UNREACHABLE-ONCE': ['not_sent', 0],
  'RATE-LIMITED': ['not_sent', 0],
  TIMEOUT: ['unknown', 0],
  'TIMEOUT-AFTER-ACCEPT': ['unknown', 1, 'Fulfilled'],
  'CUT-REPLY': ['unknown', 1, 'Fulfilled'],
  'SERVER-ERROR-BEFORE': ['unknown', 0],
  'SERVER-ERROR-AFTER': ['unknown', 1, 'Fulfilled'],
  LATE: ['unknown', 1, 'Fulfilled'],
  GARBAGE: ['unknown', 1, 'Fulfilled'],
  HTML: ['unknown', 0],
  'DUPLICATE-ACK': ['accepted', 1, 'Fulfilled'],
  'EMPTY-ANSWER': ['accepted', 1, 'Fulfilled'],
  'REJECT-ON-RESEND': ['unknown', 1, 'Fulfilled'],
  'TIMEOUT-TWICE': ['unknown', 0],
  'RATE-LIMITED-TWICE': ['not_sent', 0],
  'LOST-PARTIAL': ['unknown', 1, 'Partially Fulfilled'],
  'LOST-NONE-COMMITTED': ['unknown', 1, 'Not Fulfilled'],
  'LOST-HOLD': ['unknown', 1, 'Fulfilled'],
  'LOST-BACKORDER': ['unknown', 1, 'Fulfilled'],
  'LOST-PARCELS': ['unknown', 1, 'Fulfilled'],
  'LOST-CANCEL': ['unknown', 1, 'Cancelled'],
  'LOST-RETURN': ['unknown', 1, 'Fulfilled'],
  'LOST-FAILURE': ['unknown', 1, 'Fulfilled'],
  'LATE-PARTIAL': ['unknown', 1, 'Partially Fulfilled'],
  'LATE-CANCEL': ['unknown', 1, 'Cancelled'],
  PARTIAL: ['accepted', 1, 'Partially Fulfilled'],
  'NONE-COMMITTED': ['accepted', 1, 'Not Fulfilled'],
  HOLD: ['accepted', 1, 'Fulfilled'],
  BACKORDER: ['accepted', 1, 'Fulfilled'],
  PARCELS: ['accepted', 1, 'Fulfilled'],
  CANCEL: ['accepted', 1, 'Cancelled'],
  RETURN: ['accepted', 1, 'Fulfilled'],
  FAILURE: ['accepted', 1, 'Fulfilled'],
  'LOOKUP-DOWN': ['unknown', 1, 'Fulfilled'],
  'OTHER-PO': ['unknown', 1, 'Fulfilled'],
  STRANGER: ['unknown', 1, 'Fulfilled'],
  'STRANGER-ONLY': ['unknown', 0],
  'RESET-BODY': ['unknown', 1, 'Fulfilled'],
  'EMPTY-REPLY': ['unknown', 1, 'Fulfilled'],
  REDIRECT: ['unknown', 0],
  'BAD-GATEWAY': ['unknown', 0],
  'GATEWAY-TIMEOUT': ['unknown', 1, 'Fulfilled'],
  MAINTENANCE: ['unknown', 0],
  'NOT-HTTP': ['unknown', 0],
  'TOO-LARGE': ['unknown', 1, 'Fulfilled'],
  'HALF-FILE': ['unknown', 0],
  'RATE-LIMITED-UNTOLD': ['not_sent', 0],
  'WRONG-CERTIFICATE': ['not_sent', 0],
  'PASSIVE-REFUSED': ['not_sent', 0],
  GZIP: ['accepted', 1, 'Fulfilled'],
  DRIP: ['accepted', 1, 'Fulfilled'],
  'BYTE-ORDER-MARK': ['accepted', 1, 'Fulfilled'],
  'NO-LENGTH': ['accepted', 1, 'Fulfilled'],
  INFORMATIONAL: ['accepted', 1, 'Fulfilled'],
}
/** What takes real time, or chance, is tried apart. */
const APART = ['SLOW', 'HANG', 'CHAOS-<percent>']
/** Those that look into an order's file later. */
const FILES = new Set(['BILL', 'HIX'])
/** Hicks Inc. takes an order as a whole or not at all. */
const wholeOrNot = (status: string | undefined) =>
  status === 'Partially Fulfilled' ? 'Not Fulfilled' : status
const TWO = () => [line('A1'), line('B2', 2)]

describe('scenarios', () => {
  test('every one is tried', () =>
    assert.deepEqual([...Object.keys(EXPECTED), ...APART].sort(), Object.keys(SCENARIOS).sort()))

  test('they are asked for in the PO or in a SKU, case aside, and by nothing that only looks like one', () => {
    const asked = (poGiven: string, ...skus: string[]) =>
      scenarioOf({ poGiven, lines: skus.map((sku) => line(sku)) })
    assert.equal(asked('W-1-LIB0-010', 'A1'), null)
    assert.equal(asked('sim-reject-LIB0-010'), 'REJECT')
    assert.equal(asked('SIM-REJECT-ON-RESEND-LIB0-010'), 'REJECT-ON-RESEND')
    assert.equal(asked('xSim-Unreachable-Once'), 'UNREACHABLE-ONCE')
    assert.equal(asked('W-1', 'A1', 'SIM-HOLD'), 'HOLD')
    assert.equal(asked('SIM-LATE', 'SIM-HOLD'), 'LATE')
    assert.equal(asked('SIM-REJECTED'), null)
    assert.equal(asked('SIM-CHAOS-25-LIB0'), 'CHAOS-25')
    assert.equal(asked('SIM-CHAOS'), null)
  })

  for (const [scenario, [outcome, count, status]] of Object.entries(EXPECTED)) {
    test(
      `SIM-${scenario} at all nine`,
      withRig(async (rig) => {
        for (const distid of SIMULATED) {
          // A file is looked at later: what the others refuse, it commits nothing of.
          const [expected, orders, end] =
            FILES.has(distid) && outcome === 'rejected'
              ? ['accepted', 1, 'Not Fulfilled']
              : distid === 'HIX' && scenario === 'HALF-FILE'
                ? // The first of its two rows is an order of its own.
                  [outcome, 1, 'Fulfilled']
                : [outcome, count, distid === 'HIX' ? wholeOrNot(status) : status]
          const order = rig.order({ scenario, lines: TWO() })
          assert.equal(await rig.outcome(distid, order), expected, distid)
          rig.clock.ms += DAY
          assert.deepEqual(
            rig.has(order).map((has) => has.status),
            orders === 0 ? [] : [end],
            distid,
          )
        }
      }),
    )
  }

  test(
    'the first sends fail, and the next is served',
    withRig(async (rig) => {
      for (const distid of SIMULATED) {
        for (const [scenario, fails] of [
          ['UNREACHABLE-ONCE', 2],
          ['RATE-LIMITED', 1],
          ['TIMEOUT', 1],
          ['SERVER-ERROR-BEFORE', 1],
          ['HTML', 1],
        ] as const) {
          const order = rig.order({ scenario })
          for (let i = 0; i < fails; i++)
            assert.notEqual(await rig.outcome(distid, order), 'accepted')
          assert.equal(await rig.outcome(distid, order), 'accepted', `${distid} ${scenario}`)
        }
        // By the PO: another reference of the same PO goes on in the sequence, and after it was
        // served it begins anew.
        const once = (n: number) => ({
          ...rig.order({ scenario: 'UNREACHABLE-ONCE' }),
          poGiven: `again-${n}-SIM-UNREACHABLE-ONCE`,
        })
        assert.deepEqual(
          [
            await rig.outcome(distid, once(1)),
            await rig.outcome(distid, once(2)),
            await rig.outcome(distid, once(1)),
            await rig.outcome(distid, once(1)),
            await rig.outcome(distid, once(1)),
          ],
          ['not_sent', 'not_sent', 'not_sent', 'accepted', 'not_sent'],
        )
        const never = rig.order({ scenario: 'UNREACHABLE' })
        for (let i = 0; i < 5; i++) assert.equal(await rig.outcome(distid, never), 'not_sent')
      }
      assert.deepEqual(await rig.submit('RSR', rig.order({ scenario: 'RATE-LIMITED' })), {
        outcome: 'not_sent',
        reason: 'HTTP 429: too many requests',
        retryAfter: 5,
      })
    }),
  )

  test(
    'LATE: executed after two minutes, found only then, also over a restart',
    withRig(async (rig) => {
      for (const distid of LOOKED_UP) {
        const order = rig.order({ scenario: 'LATE' })
        await rig.outcome(distid, order)
        const at = rig.clock.ms + 2 * MINUTE
        rig.clock.ms += 2 * MINUTE - 1
        const before = await rig.find(distid, order)
        assert.ok(
          before.outcome === 'answered' &&
            before.orders.every(({ submitted }) => submitted === false),
          distid,
        )
        rig.reopen()
        rig.clock.ms += 10 * MINUTE
        const found = await rig.find(distid, order)
        assert.ok(found.outcome === 'answered' && found.orders.length === 1, distid)
        assert.equal(rig.has(order)[0]!.executedAt, FILES.has(distid) ? at + 30 * SECOND : at)
      }
    }),
  )

  test(
    'REJECT-ON-RESEND: whoever sends it again is told that it is out of stock',
    withRig(async (rig) => {
      for (const distid of ['RSR', 'CSSI', 'LIP', 'ZND']) {
        const order = rig.order({ scenario: 'REJECT-ON-RESEND' })
        await rig.outcome(distid, order)
        const again = await rig.submit(distid, order)
        assert.ok(again.outcome === 'rejected' && /stock|available|inventory/.test(again.reason))
        assert.equal(rig.has(order).length, 1)
      }
    }),
  )

  test(
    'LOOKUP-DOWN: nobody tells of the order for ten minutes',
    withRig(async (rig) => {
      for (const distid of LOOKED_UP) {
        const order = rig.order({ scenario: 'LOOKUP-DOWN' })
        const since = rig.clock.ms
        await rig.outcome(distid, order)
        for (const wait of [0, 5 * MINUTE, 5 * MINUTE - 1]) {
          rig.clock.ms += wait
          assert.equal((await rig.find(distid, order)).outcome, 'unreachable', distid)
          assert.deepEqual(await rig.news(distid, since), [])
        }
        rig.clock.ms += 1
        const found = await rig.find(distid, order)
        assert.ok(found.outcome === 'answered' && found.orders.length === 1)
        const { confirmed } = profileOf(distid)!.news ?? ALL_NEWS
        assert.ok((await rig.news(distid, since)).length >= (confirmed ? 2 : 1))
        rig.clock.ms += DAY
      }
    }),
  )

  test(
    'OTHER-PO: lists show it in upper case',
    withRig(async (rig) => {
      for (const distid of LOOKED_UP) {
        const order = rig.order({ scenario: 'OTHER-PO', po: 'web-7-abc' })
        await rig.outcome(distid, order)
        rig.clock.ms += 5 * MINUTE
        const { orders } = (await rig.find(distid, order)) as { orders: { po: string }[] }
        assert.deepEqual(
          orders.map(({ po }) => po),
          ['WEB-7-ABC'],
        )
        rig.clock.ms += DAY
      }
    }),
  )

  test(
    "STRANGER: somebody else's order of the same PO stands in the lists, once",
    withRig(async (rig) => {
      for (const distid of SIMULATED) {
        for (const [scenario, count] of [
          ['STRANGER', 2],
          ['STRANGER-ONLY', 1],
        ] as const) {
          const order = rig.order({ scenario })
          await rig.outcome(distid, order)
          rig.clock.ms += 10 * MINUTE
          if (!LOOKED_UP.includes(distid)) continue
          const { orders } = (await rig.find(distid, order)) as {
            orders: { clientRef?: string; shipTo?: { name?: string }; submitted?: boolean }[]
          }
          if (distid === 'RSR') {
            // Its API shows the newest order of a PO.
            assert.equal(orders.length, 1)
            continue
          }
          // Sports South is asked by number and reference, which no stranger has.
          const strangers = distid === 'TSW' ? 0 : 1
          assert.equal(
            orders.filter(({ submitted }) => submitted !== false).length,
            count - 1 + strangers,
            distid,
          )
          assert.equal(
            orders.filter(
              ({ clientRef, shipTo }) =>
                clientRef === undefined && shipTo?.name === 'Walk-in Customer',
            ).length,
            strangers,
          )
        }
      }
      assert.equal(
        rig.simulators.orders().filter(({ clientRef }) => clientRef === null).length,
        2 * SIMULATED.length,
      )
    }),
  )

  test(
    'SLOW answers after three seconds, or stops when it is told to',
    withRig(async (rig) => {
      const slow = (distid: string, signal?: AbortSignal) => {
        const order = rig.order({ scenario: 'SLOW' })
        return rig
          .connector(distid)
          .submit(rig.session(distid, order, { ...(signal && { signal }) }), order)
      }
      const started = performance.now()
      const [answers, stopped] = await Promise.all([
        Promise.all(SIMULATED.map((distid) => slow(distid))),
        slow('RSR', abortedAfter(100)).catch((error: unknown) => error),
      ])
      assert.ok(performance.now() - started >= 2_990)
      assert.ok(answers.every(({ outcome }) => outcome === 'accepted'))
      assert.ok(stopped instanceof Error)
    }),
  )

  test(
    'HANG: accepted, and never answered until it is stopped',
    withRig(async (rig) => {
      for (const distid of SIMULATED) {
        const order = rig.order({ scenario: 'HANG' })
        await assert.rejects(
          rig
            .connector(distid)
            .submit(rig.session(distid, order, { signal: abortedAfter(500) }), order),
          { name: 'AbortError' },
        )
        assert.equal(rig.has(order).length, 1)
      }
    }),
  )

  test(
    'CHAOS: the same order meets the same faults, also over a restart; all of them are met',
    withRig(async (rig) => {
      const run = async (restarts: boolean) => {
        const seen: string[] = []
        const other = simulatorRig()
        try {
          for (const distid of SIMULATED) {
            const order = {
              ...rig.order({ scenario: 'CHAOS-50', lines: TWO() }),
              clientRef: `CHAOS${distid}`.padEnd(20, '0'),
            }
            for (let i = 0; i < 16; i++) {
              seen.push(`${distid} ${await other.outcome(distid, order)}`)
              if (LOOKED_UP.includes(distid))
                seen.push(`${distid} find ${(await other.find(distid, order)).outcome}`)
              seen.push(
                `${distid} news ${await other.news(distid).then(
                  () => 'read',
                  () => 'threw',
                )}`,
              )
              other.clock.ms += MINUTE
              if (restarts) other.reopen()
            }
          }
        } finally {
          other.close()
        }
        return seen
      }
      const seen = await run(false)
      assert.deepEqual(await run(true), seen)
      for (const outcome of [
        'accepted',
        'unknown',
        'not_sent',
        'find answered',
        'find unreachable',
        'news read',
        'news threw',
      ])
        assert.ok(
          seen.some((one) => one.endsWith(outcome)),
          outcome,
        )
      const always = rig.order({ scenario: 'CHAOS-100' })
      for (let i = 0; i < 10; i++) assert.notEqual(await rig.outcome('CSSI', always), 'accepted')
    }),
  )

  test(
    'without one, nothing ever fails',
    withRig(async (rig) => {
      for (let i = 0; i < 20; i++)
        for (const distid of SIMULATED)
          assert.equal(await rig.outcome(distid, rig.order()), 'accepted')
    }),
  )
})

/** As AbortSignal.timeout, with a timer that keeps the process awake. */
function abortedAfter(ms: number): AbortSignal {
  const ending = new AbortController()
  setTimeout(() => ending.abort(), ms)
  return ending.signal
}

/** Status and parcels as they change, in seconds after the order. */
async function lifeOf(
  rig: SimulatorRig,
  distid: string,
  scenario?: string,
  lines = TWO(),
): Promise<string[]> {
  const order = rig.order({ ...(scenario !== undefined && { scenario }), lines })
  const start = rig.clock.ms
  await rig.submit(distid, order)
  rig.clock.ms += DAY
  return (await rig.news(distid, start))
    .filter(({ po }) => po === order.po)
    .map(({ at, status, parcels }) =>
      [
        (at - start) / SECOND,
        ...(status ? [status] : []),
        ...(parcels ? [parcels.map((parcel) => parcel.status).join('+')] : []),
      ].join(' '),
    )
}

/** What a distributor that tells no parcel's journey makes of a line of a life. */
const toldBy =
  ({ confirmed, committed, held, cancelled }: News) =>
  (line: string): string[] => {
    const [, status, parcels] = /^\d+(?: ([A-Z][A-Za-z ]*[a-z]))?(?: ([a-z_+]+))?$/.exec(line) ?? []
    if (parcels !== undefined)
      return status === undefined
        ? []
        : [status.startsWith('Part') && committed !== true ? 'Fulfilled' : status]
    const isTold =
      {
        Submitted: confirmed,
        'FFL Hold': held,
        Backordered: held,
        'Partially Fulfilled': committed === true,
        'Not Fulfilled': committed === true,
        Cancelled: cancelled,
      }[status!] ?? true
    return isTold ? [status!] : []
  }

/** The statuses in lines of a life, each once and in their order. */
const statusesIn = (lines: readonly string[]) => [
  ...new Set(
    lines.flatMap(
      (line) => /[A-Z][A-Za-z ]*[a-z](?= |$)/.exec(line.replace(/ [a-z_+]+$/, ''))?.[0] ?? [],
    ),
  ),
]

const NOTHING_OF_IT = ['30 Not Fulfilled']
const JOURNEY = [
  '120 Fulfilled pre_transit',
  '240 in_transit',
  '360 out_for_delivery',
  '480 delivered',
]

describe('life of an order', () => {
  const rows: [scenario: string | undefined, life: string[]][] = [
    [undefined, ['30 Submitted', ...JOURNEY]],
    [
      'HOLD',
      [
        '30 FFL Hold',
        '300 Submitted',
        '390 Fulfilled pre_transit',
        '510 in_transit',
        '630 out_for_delivery',
        '750 delivered',
      ],
    ],
    [
      'BACKORDER',
      [
        '30 Backordered',
        '600 Submitted',
        '690 Fulfilled pre_transit',
        '810 in_transit',
        '930 out_for_delivery',
        '1050 delivered',
      ],
    ],
    [
      'PARTIAL',
      ['30 Partially Fulfilled', '120 Partially Fulfilled pre_transit', ...JOURNEY.slice(1)],
    ],
    ['NONE-COMMITTED', NOTHING_OF_IT],
    ['CANCEL', ['30 Submitted', '60 Cancelled']],
    ['RETURN', ['30 Submitted', ...JOURNEY.slice(0, 3), '480 return_to_sender']],
    ['FAILURE', ['30 Submitted', ...JOURNEY.slice(0, 3), '480 failure']],
    [
      'PARCELS',
      [
        '30 Submitted',
        '120 Fulfilled pre_transit+pre_transit+pre_transit',
        '240 in_transit+pre_transit+pre_transit',
        '300 in_transit+in_transit+pre_transit',
        '360 out_for_delivery+in_transit+in_transit',
        '420 out_for_delivery+out_for_delivery+in_transit',
        '480 delivered+out_for_delivery+out_for_delivery',
        '540 delivered+delivered+out_for_delivery',
        '600 delivered+delivered+delivered',
      ],
    ],
  ]
  for (const [scenario, life] of rows) {
    test(
      `${scenario ?? 'as usual'}, by what each distributor tells`,
      withRig(async (rig) => {
        for (const distid of SIMULATED) {
          const news = profileOf(distid)!.news ?? ALL_NEWS
          if (!news.journey) {
            // What is told by days, or for each parcel, comes to the same in the end.
            const all = await lifeOf(rig, distid, scenario)
            const expected = distid === 'HIX' && scenario === 'PARTIAL' ? NOTHING_OF_IT : life
            assert.deepEqual(statusesIn(all), statusesIn(expected.flatMap(toldBy(news))), distid)
            continue
          }
          const told = news.confirmed ? life : life.filter((one) => !one.endsWith(' Submitted'))
          assert.deepEqual(await lifeOf(rig, distid, scenario), told, distid)
        }
      }),
    )
  }

  test(
    'PARTIAL falls short of the items whose SKU says so, by half',
    withPlain(async (rig) => {
      const order = rig.order({ lines: [line('A-SIM-PARTIAL', 5), line('B2', 3)] })
      rig.submit(order)
      assert.deepEqual(
        rig.has(order)[0]!.lines.map(({ committed }) => committed),
        [2, 3],
      )
      const one = rig.order({ scenario: 'PARTIAL', lines: [line('A1')] })
      rig.submit(one)
      assert.deepEqual(
        rig.life(one).map(({ at, status }) => [at - START, status]),
        [[30 * SECOND, 'Not Fulfilled']],
      )
    }),
  )

  test(
    'a parcel has carrier, method, day, number and address to follow it',
    withPlain(async (rig) => {
      const order = rig.order({ lines: [line('G1', 1, true)], ffl: FFL })
      rig.submit(order)
      const life = rig.life(order)
      assert.deepEqual(
        life.map(({ at }) => (at - START) / SECOND),
        [30, 120, 240, 360, 480].slice(0, life.length),
      )
      const [parcel] = life[1]!.parcels!
      assert.match(parcel!.trackingNumber, /^1ZSIM\d{11}$/)
      assert.deepEqual(parcel, {
        trackingNumber: parcel!.trackingNumber,
        company: 'UPS',
        method: '2nd Day Air',
        shippedOn: '2026-11-21',
        url: `https://track.example/${parcel!.trackingNumber}`,
        status: 'pre_transit',
      })
    }),
  )

  test(
    'news of one distributor are none of another',
    withRig(async (rig) => {
      await rig.submit('CSSI', rig.order())
      rig.clock.ms += 6 * MINUTE
      assert.ok((await rig.news('CSSI')).length > 0)
      assert.deepEqual(await rig.news('ZND'), [])
    }),
  )

  test(
    'numbers begin with SIM- and are unique over all nine',
    withRig(async (rig) => {
      for (const distid of SIMULATED)
        for (let i = 0; i < 5; i++) await rig.submit(distid, rig.order())
      rig.clock.ms += MINUTE
      const numbers = rig.simulators.orders().map(({ number }) => number!)
      assert.equal(numbers.length, 45)
      assert.ok(
        numbers.every((number) => /^SIM-(RSR|CSSI|TSW|2AW|LIP|ZND|BILL|ORI|HIX)-\d+$/.test(number)),
      )
      assert.equal(new Set(numbers.map((number) => number.replace(/^.*-/, ''))).size, 45)
    }),
  )
})
