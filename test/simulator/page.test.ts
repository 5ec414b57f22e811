/**
 * The guide's page of scenarios against what happens: each row is played end to end at each of the
 * seven, under a PO that we make and under a caller's, and each clause of its "You see" is looked
 * at. A clause that no look stands for fails, too.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { HOUR, MINUTE, SECOND } from '../../lib/core/clock.js'
import { silentLog } from '../../lib/core/log.js'
import { open } from '../../lib/app/open.js'
import { readSimulatorOrders } from '../../lib/simulator/inspect.js'
import { profileOf, SIMULATED } from '../../lib/simulator/profiles.js'
import { SCENARIOS } from '../../lib/simulator/engine/scenarios/scenarios.js'
import { ALL_NEWS } from '../../lib/simulator/engine/world.js'
import type { News } from '../../lib/simulator/engine/world.js'
import type { TestApp } from '../../server/testing/index.js'
import { outcomeOf, pageShop, play, post, splitPlay, watch } from './page-rig.js'
import type { Outcome, Play } from './page-rig.js'
import { LOOKED_UP } from './rig.js'

/** Rows of the page's tables of scenarios: name and the clauses of what is seen. */
const ROWS = new Map(
  [
    ...readFileSync('data/guide/simulator.md', 'utf8')
      .split('## Scenarios')[1]!
      .matchAll(/^\| `([A-Z<>a-z-]+)` \| [^|]+ \| ([^|]+) \|$/gm),
  ].map(([, name, seen]) => [name!, seen!.trim().split('; ')]),
)

interface Seen extends Outcome {
  t: TestApp
  /** When the split was placed, milliseconds since 1970. */
  from: number
  distid: string
  one: Play
  split: Play
  /** The state an hour later, before the day was over. */
  early: string | null
}

const isBlind = (distid: string) => ['one_shot', 'file'].includes(profileOf(distid)!.recovery)
/** Neither our reference, nor items and ZIP: nothing that a PO which anybody may use is proven by. */
const tellsNothing = ({ distid, one }: Seen) => {
  const { reference, content } = profileOf(distid)!.tells
  return one.isCallers && !reference && !content
}
const isAskedByNumber = (distid: string) => !LOOKED_UP.includes(distid)
const isAllOrNothing = ({ distid }: Pick<Seen, 'distid'>) =>
  profileOf(distid)!.isAllOrNothing === true
const readsLater = (distid: string) => profileOf(distid)!.recovery === 'file'
const newsOf = ({ distid }: Pick<Seen, 'distid'>) => profileOf(distid)!.news ?? ALL_NEWS

const answers =
  (...expected: string[]) =>
  ({ one }: Seen) =>
    assert.deepEqual(one.answers, expected)
/** The statuses were seen, in this order. */
const passes =
  (...expected: string[]) =>
  ({ one: { seen } }: Seen) => {
    const places = expected.map((status) =>
      seen.findIndex(
        (text) => text === status || text.startsWith(`${status} /`) || text.endsWith(`/ ${status}`),
      ),
    )
    assert.ok(
      places.every((place, i) => place >= 0 && (i === 0 || place >= places[i - 1]!)),
      `${expected.join(', ')} in ${seen.join(' > ')}`,
    )
  }
const isPlaced = ({ state, number, there }: Seen) =>
  assert.deepEqual([state, number, there.length], ['placed', there[0]?.number, 1])
const isDelivered = (seen: Seen) => {
  if (isSilent(seen))
    return assert.deepEqual([seen.state, seen.one.seen.at(-1)], ['placed', 'Submitted'])
  isPlaced(seen)
  assert.equal(seen.one.seen.at(-1), newsOf(seen).journey ? 'Fulfilled / delivered' : hasLeft(seen))
}
/** Parcels that are told by the PO alone are nobody's under a caller's, or on two orders. */
const hasParcels = (seen: Seen) =>
  !newsOf(seen).parcelsByPo ||
  (!isStranger(seen) && (newsOf(seen).parcelsByPo === 'of_one_order' || !seen.one.isCallers))
const isStranger = ({ one: { scenario } }: Seen) => scenario.startsWith('STRANGER')
/** Its number comes with the parcels, and those where one order alone has the PO. */
const isSilent = (seen: Seen) => newsOf(seen).parcelsByPo === 'of_one_order' && isStranger(seen)
const hasLeft = (seen: Seen, status = 'Fulfilled') =>
  hasParcels(seen) ? `${status} / in_transit` : status
/** The look where that is told, else what the record says in the end. */
const told =
  (what: keyof News, look: (seen: Seen) => void) =>
  (seen: Seen): void => {
    if (newsOf(seen)[what]) look(seen)
  }
const isForPerson = ({ state, number, one }: Seen) => {
  assert.deepEqual([state, number], ['review', null])
  assert.deepEqual(one.seen, ['Pending'])
}
/** It tells of an order by its number alone: a person decides, and at once. */
const isForPersonAtOnce = (seen: Seen) => {
  isForPerson(seen)
  assert.equal(seen.early, 'review')
}
const found = (seen: Seen) => {
  answers('200 pending')(seen)
  if (!LOOKED_UP.includes(seen.distid)) isForPersonAtOnce(seen)
  else if (tellsNothing(seen)) isForPerson(seen)
  else isDelivered(seen)
}
/**
 * Shown once it is shipped: nothing of some ever is, and half of an order under a PO that anybody may
 * use may be somebody else's.
 */
const isNotProven = ({ distid, one: { scenario, isCallers } }: Seen) =>
  profileOf(distid)!.shows === 'shipped' &&
  (/(CANCEL|NONE-COMMITTED)$/.test(scenario) || (isCallers && scenario.endsWith('PARTIAL')))
/** Found, and what another row says from then on. */
const foundThenAs = (name: string) => async (seen: Seen) => {
  answers('200 pending')(seen)
  if (!LOOKED_UP.includes(seen.distid)) return isForPersonAtOnce(seen)
  if (tellsNothing(seen) || isNotProven(seen)) return isForPerson(seen)
  for (const clause of clausesOf(name)) await CLAUSES[clause]!(seen)
}
const notThere = (seen: Seen) => {
  answers('200 pending')(seen)
  if (!isBlind(seen.distid)) return
  isForPerson(seen)
  assert.equal(seen.there.length, 0)
}

/** What stands for each clause of the page. */
const CLAUSES: Record<string, (seen: Seen) => void | Promise<void>> = {
  '409 `order_rejected`': (seen) => {
    if (!readsLater(seen.distid)) answers('409 order_rejected')(seen)
  },
  'Bill Hicks, Hicks Inc.: 200 `placed`, then `Not Fulfilled`': (seen) => {
    if (!readsLater(seen.distid)) return
    answers('200 placed')(seen)
    passes('Not Fulfilled')(seen)
  },
  found,
  'the second refusal is not believed': () => {},
  '503 `distributor_unavailable`': answers(
    '503 distributor_unavailable',
    '503 distributor_unavailable',
    '503 distributor_unavailable',
  ),
  'in a split the part stays `Pending` for 15 minutes, then it is in `errors`': async ({
    t,
    distid,
    split,
    from,
  }) => {
    // An item's number of 13 characters names no scenario: it is refused.
    if (distid === 'HIX') return assert.deepEqual(split.answers, ['200 partial'])
    assert.deepEqual(split.answers, ['200 pending'])
    const { orders, errors } = (await t.json('/v1/fulfillment/history?order_id=split')).body
      .data as {
      orders: { distid: string }[]
      errors: { distid: string; failure_timestamp: string }[]
    }
    assert.deepEqual(
      [orders.some((order) => order.distid === distid), errors.map((error) => error.distid)],
      [false, [distid]],
    )
    const after = Date.parse(errors[0]!.failure_timestamp) - from
    assert.ok(after >= 15 * MINUTE && after <= 16 * MINUTE, `${after / MINUTE} minutes`)
  },
  '503, 503, then 200 `placed`': (seen) => {
    answers('503 distributor_unavailable', '503 distributor_unavailable', '200 placed')(seen)
    isDelivered(seen)
  },
  ...Object.fromEntries(
    [
      'PARTIAL',
      'NONE-COMMITTED',
      'HOLD',
      'BACKORDER',
      'PARCELS',
      'CANCEL',
      'RETURN',
      'FAILURE',
    ].map((name) => [`found, then as \`${name}\``, foundThenAs(name)]),
  ),
  'RSR, CSSI, TSW, 2AW: sent again twice, in the end placed': (seen) => {
    if (isBlind(seen.distid)) return
    isDelivered(seen)
    assert.equal(seen.sends, 3)
  },
  '503, then 200 `placed`': (seen) => {
    answers('503 distributor_unavailable', '200 placed')(seen)
    isDelivered(seen)
  },
  '200 `pending`': answers('200 pending'),
  'RSR, CSSI, TSW, 2AW: sent again, in the end placed': (seen) => {
    if (isBlind(seen.distid)) return
    isDelivered(seen)
    assert.equal(seen.sends, 2)
  },
  'LIP, BILL, HIX: left to a person after a day': (seen) => {
    if (!isBlind(seen.distid) || isAskedByNumber(seen.distid)) return
    notThere(seen)
    assert.equal(seen.early, 'unknown')
  },
  'ZND, ORI: left to a person at once': (seen) => {
    if (!isAskedByNumber(seen.distid)) return
    notThere(seen)
    isForPersonAtOnce(seen)
  },
  '200 `placed`, late': (seen) => {
    answers('200 placed')(seen)
    isDelivered(seen)
  },
  'found after ten minutes': (seen) => {
    found(seen)
    const isLeft = tellsNothing(seen) || !LOOKED_UP.includes(seen.distid)
    assert.ok(seen.one.numberedAfter === null ? isLeft : seen.one.numberedAfter >= 10)
  },
  'found, and the other one is left alone': found,
  'under a PO of your own as `TIMEOUT`': (seen) => {
    if (!seen.one.isCallers || isBlind(seen.distid) || seen.distid === 'RSR') return
    CLAUSES['RSR, CSSI, TSW, 2AW: sent again, in the end placed']!(seen)
  },
  'under a PO that we made, which nobody else should have, left to a person': (seen) => {
    if (!seen.one.isCallers && seen.distid !== 'TSW') notThereFor(seen)
  },
  'RSR, which shows one order of a PO: left to a person': (seen) => {
    if (seen.distid === 'RSR') notThereFor(seen)
  },
  'Sports South, which is not asked by the PO: sent again, in the end placed': (seen) => {
    if (seen.distid !== 'TSW') return
    isDelivered(seen)
    assert.equal(seen.sends, 2)
  },
  '200 `placed`': answers('200 placed'),
  'the record never goes back': isDelivered,
  'Hicks Inc.: `Not Fulfilled`': (seen) => {
    if (isAllOrNothing(seen)) assert.equal(seen.one.seen.at(-1), 'Not Fulfilled')
  },
  '`Partially Fulfilled`': told('committed', (seen) => {
    if (isAllOrNothing(seen)) return
    passes('Partially Fulfilled')(seen)
    assert.equal(
      seen.one.seen.at(-1),
      newsOf(seen).journey
        ? 'Partially Fulfilled / delivered'
        : hasLeft(seen, 'Partially Fulfilled'),
    )
  }),
  'where it is not told: `Fulfilled`': (seen) => {
    if (!newsOf(seen).committed) assert.match(seen.one.seen.at(-1)!, /^Fulfilled \/ /)
  },
  '`Not Fulfilled`': told('committed', (seen) => {
    passes('Not Fulfilled')(seen)
    assert.equal(seen.one.seen.at(-1), 'Not Fulfilled')
  }),
  '`FFL Hold`': told('held', (seen) => {
    passes('FFL Hold', 'Fulfilled')(seen)
    isDelivered(seen)
  }),
  '`Backordered`': told('held', (seen) => {
    passes('Backordered', 'Fulfilled')(seen)
    isDelivered(seen)
  }),
  'where it is not told: `Submitted` until it is shipped': (seen) => {
    if (newsOf(seen).held) return
    // What is found only once it is shipped was never seen before.
    const isLost = seen.one.scenario.startsWith('LOST-')
    if (!isLost || profileOf(seen.distid)!.shows !== 'shipped')
      passes('Submitted', 'Fulfilled')(seen)
    isDelivered(seen)
  },
  'where it is not told: stays `Submitted`': (seen) => {
    const { committed, cancelled } = newsOf(seen)
    const isTold = seen.one.scenario.endsWith('CANCEL') ? cancelled : committed
    if (!isTold) assert.equal(seen.one.seen.at(-1), 'Submitted')
  },
  'where it is not told: stays `in_transit`': (seen) => {
    if (!newsOf(seen).journey) assert.equal(seen.one.seen.at(-1), hasLeft(seen))
  },
  'a lookup finds each': async (seen) => {
    isDelivered(seen)
    if (!hasParcels(seen)) return
    const digits = seen.number!.replace(/^.*-/, '').padStart(10, '0')
    for (const parcel of [1, 2, 3])
      assert.equal(
        (await seen.t.json(`/v1/fulfillment/history?tracking_number=1ZSIM${digits}${parcel}`)).body
          .data.count,
        1,
      )
  },
  '`Cancelled`': told('cancelled', passes('Cancelled')),
  '`return_to_sender`': told('journey', passes('Fulfilled', 'return_to_sender')),
  '`failure`': told('journey', passes('Fulfilled', 'failure')),
  'whatever comes': () => {},
  'never two orders': ({ there, state, number }) => {
    assert.ok(there.length <= 1)
    if (state === 'placed') assert.equal(number, there[0]!.number)
  },
}
/** What hangs is tried apart: it takes as long as it says. */
const HANGS = '200 `pending` after 25 seconds, then found'

const notThereFor = (seen: Seen) => {
  answers('200 pending')(seen)
  isForPerson(seen)
  assert.equal(seen.there.length, 0)
}

/** `as` another row stands for that row's clauses. */
function clausesOf(name: string): string[] {
  const clauses = ROWS.get(name)!
  const same = /^as `([A-Z-]+)`$/.exec(clauses[0]!)?.[1]
  return same === undefined || clauses.length > 1 ? clauses : clausesOf(same)
}

const NAMES = [...ROWS.keys()].filter((name) => name !== 'HANG')
/** How a row is asked for. */
const askedAs = (name: string) => name.replace('<percent>', '30')

/**
 * Orders that are placed together. Where an account has one cart, an order whose answer is lost
 * keeps it for a while, and all others away: there they come one after the other.
 */
const groupsOf = (distid: string, plays: readonly Play[]) =>
  distid === SECOND_AMENDMENT ? plays.map((one) => [one]) : [plays]
const SECOND_AMENDMENT = '2AW'

describe('the scenarios of the guide', () => {
  test('are those that there are, and each clause of what is seen is looked at', () => {
    assert.deepEqual([...ROWS.keys()].sort(), Object.keys(SCENARIOS).sort())
    const clauses = new Set([...ROWS.keys()].flatMap(clausesOf))
    assert.deepEqual([...clauses].sort(), [...Object.keys(CLAUSES), HANGS].sort())
  })

  for (const distid of SIMULATED) {
    test(`${distid}: every one is what the page says`, async () => {
      await using t = await pageShop()
      // Sports South alone tells so much that nothing but chaos is left to a person.
      if (distid !== 'TSW') t.expectErrors(/an order needs a person's decision/)
      const keys = await Promise.all(
        [1, 2].map(
          async (n) =>
            (
              await t.app.operator.keys.create({
                subscriber: t.subscriber,
                name: `key ${n}`,
                tier: 'enterprise',
                ips: ['127.0.0.1'],
              })
            ).key,
        ),
      )
      const plays = [false, true].flatMap((isCallers) =>
        NAMES.map((name) => play(distid, askedAs(name), isCallers)),
      )
      const split = splitPlay(distid)
      const began = new Map<Play, number>()
      const early = new Map<Play, string | null>()
      for (const some of groupsOf(distid, [...plays, split])) {
        const from = t.clock.ms
        for (const one of some) began.set(one, from)
        const key = ({ isCallers }: Play) => keys[isCallers ? 1 : 0]!
        await Promise.all(
          some.filter(({ scenario }) => scenario === 'SLOW').map((one) => post(t, t.key, one)),
        )
        for (const one of some) {
          // Who is told that nobody can be reached comes again, twice.
          for (
            let i = 0;
            one.answers.length === 0 || (i < 3 && one.answers.at(-1)!.startsWith('503'));
            i++
          )
            await post(t, one === split ? t.key : key(one), one)
        }
        // Soon at first, as a server does.
        await watch(t, plays, { steps: 6, ms: 5 * SECOND, from })
        await watch(t, plays, { steps: 16, ms: MINUTE, from })
        await watch(t, plays, { steps: 8, ms: 5 * MINUTE, from })
        for (const one of some) early.set(one, (await outcomeOf(t, one)).state)
      }
      const from = t.clock.ms
      await watch(t, plays, { steps: 2, ms: 12.5 * HOUR, from })
      const strangers = new Set(
        readSimulatorOrders(t.app.dir)
          .filter(({ clientRef }) => clientRef === null)
          .map(({ number }) => number),
      )
      assert.equal(strangers.size, 4)
      for (const one of plays) {
        const seen: Seen = {
          ...(await outcomeOf(t, one)),
          t,
          from: began.get(split)!,
          distid,
          one,
          split,
          early: early.get(one)!,
        }
        const name = one.scenario.startsWith('CHAOS') ? 'CHAOS-<percent>' : one.scenario
        // All six sends of it may meet a fault.
        if (name === 'CHAOS-<percent>' && seen.state === 'review')
          t.expectErrors(/an order needs a person's decision/)
        for (const clause of clausesOf(name)) {
          try {
            await CLAUSES[clause]!(seen)
          } catch (error) {
            throw new Error(
              `${distid} ${one.body.order_id}: the page says "${clause}"; ` +
                `${one.answers.join(', ')}, ${seen.state} as ${seen.number} after ${seen.sends} ` +
                `sends, ${one.seen.join(' > ')}: ${(error as Error).message}`,
              { cause: error },
            )
          }
        }
        assert.ok(!strangers.has(seen.number) && seen.there.length <= 1, `${distid} ${name}`)
      }
      const rows = await t.app.ctx.read.selectFrom('parcel').select('tracking_number').execute()
      for (const number of strangers)
        assert.ok(
          !rows.some(({ tracking_number: tracking }) =>
            tracking.includes(number!.replace(/^.*-/, '')),
          ),
          "a stranger's parcel",
        )
    })
  }

  test(`HANG at all nine: ${HANGS}`, async () => {
    await using t = await pageShop()
    assert.deepEqual(ROWS.get('HANG'), [HANGS])
    const plays = SIMULATED.map((distid) => {
      const one = play(distid, 'HANG', false)
      one.body.order_id = `${distid}-SIM-HANG`
      return one
    })
    const began = performance.now()
    await Promise.all(plays.map((one) => post(t, t.key, one)))
    assert.ok(performance.now() - began >= 24_900)
    for (const one of plays) assert.deepEqual(one.answers, ['200 pending'])
    // Rather than for a minute, or five, until the send is given up, it is waited for the next
    // start.
    await t.app.close()
    await using app = await open({
      dir: t.app.dir,
      now: () => t.clock.ms,
      worker: false,
      log: silentLog,
    })
    for (let i = 0; i < 30; i++) {
      t.clock.advance(MINUTE)
      await app.orders.pass()
      await app.monitors.pass()
    }
    const rows = await app.ctx.read
      .selectFrom('purchase_order')
      .select(['client_ref', 'distid', 'state', 'distributor_order_id'])
      .execute()
    const there = readSimulatorOrders(app.dir)
    assert.deepEqual(
      rows.map(({ state, distributor_order_id: number }) => [state, number]),
      rows.map(({ client_ref: ref, distid }) =>
        LOOKED_UP.includes(distid)
          ? ['placed', there.find(({ clientRef }) => clientRef === ref)!.number]
          : ['review', null],
      ),
    )
    assert.equal(there.length, SIMULATED.length)
  })
})
