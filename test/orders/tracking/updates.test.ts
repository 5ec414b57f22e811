import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { DAY, HOUR, MINUTE, SECOND } from '../../../lib/core/clock.js'
import { defineDistributor } from '../../../lib/distributors/distributor.js'
import type { Session } from '../../../lib/distributors/session/session.js'
import type { Distributor } from '../../../lib/distributors/distributor.js'
import { ORDER_STATUSES, SHIP_STATUSES } from '../../../lib/db/tables/column-types.js'
import type { OrderStatus, ShipStatus } from '../../../lib/db/tables/column-types.js'
import type { Fulfillment, OrderUpdate, Parcel } from '../../../lib/distributors/fulfillment.js'
import { builtin } from '../../../lib/distributors/builtin/index.js'
import { findSubscriber } from '../../../lib/accounts/subscribers.js'
import { applyUpdate } from '../../../lib/orders/tracking/apply-update.js'
import type { Account } from '../../../lib/orders/tracking/apply-update.js'
import { cleanText, cleanUrl } from '../../../lib/orders/tracking/clean-update.js'
import { openMonitors } from '../../../lib/orders/tracking/monitor.js'
import { orphansSince } from '../../../lib/orders/tracking/orphans.js'
import {
  laterOrder,
  laterShip,
  shipStatusOf,
  statusOfParts,
} from '../../../lib/orders/history/statuses.js'
import { createTestApp } from '../../../server/testing/index.js'
import type { TestApp } from '../../../server/testing/index.js'
import { addOrder } from '../rows.js'
import { isOnPostgres, runsOnRecord, sqlOnRecord } from '../../harness/record.js'
import { until } from '../../harness/until.js'

const NOW = Date.UTC(2026, 10, 21, 12)
const account = async (t: TestApp, more: Partial<Account> = {}): Promise<Account> => ({
  subscriberId: (await findSubscriber(t.app.ctx, t.subscriber)).id,
  distid: 'RSR',
  mode: 'simulator',
  ...more,
})
const news = (update: Partial<OrderUpdate>): OrderUpdate => ({
  number: null,
  po: '',
  at: NOW,
  ...update,
})
const parcel = (trackingNumber: string, more: Partial<Parcel> = {}): Parcel => ({
  trackingNumber,
  company: null,
  method: null,
  shippedOn: null,
  url: null,
  status: null,
  ...more,
})
const record = async (t: TestApp, id: number) =>
  t.app.ctx.read
    .selectFrom('fulfillment_order')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
const changes = async (t: TestApp, id: number) =>
  (
    await t.app.ctx.read
      .selectFrom('fulfillment_change')
      .selectAll()
      .where('fulfillment_order_id', '=', id)
      .orderBy('seq')
      .execute()
  ).map(({ field, before, after }) => `${field}: ${before} -> ${after}`)
/** A log that keeps its lines. */
function keptLog() {
  const lines: string[] = []
  const keep = (fields: object, message: string) =>
    void lines.push(
      `${message} ` +
        JSON.stringify(fields, (_, value: unknown) =>
          value instanceof Error ? value.message : value,
        ),
    )
  return { lines, debug: keep, info: keep, warn: keep, error: keep }
}

describe('statuses', () => {
  test('never go back; between equal ones the newer news stand', () => {
    const later = (known: [OrderStatus, number], next: [OrderStatus, number]) =>
      laterOrder({ status: known[0], at: known[1] }, { status: next[0], at: next[1] }).status
    const table: [[OrderStatus, number], [OrderStatus, number], OrderStatus][] = [
      [['Pending', 1], ['Submitted', 0], 'Submitted'],
      [['Submitted', 0], ['Pending', 9], 'Submitted'],
      [['Submitted', 0], ['FFL Hold', 0], 'FFL Hold'],
      [['FFL Hold', 1], ['Submitted', 9], 'FFL Hold'],
      [['FFL Hold', 1], ['Backordered', 2], 'Backordered'],
      [['FFL Hold', 2], ['Backordered', 1], 'FFL Hold'],
      [['Backordered', 1], ['Partially Fulfilled', 0], 'Partially Fulfilled'],
      [['Partially Fulfilled', 1], ['Backordered', 9], 'Partially Fulfilled'],
      [['Partially Fulfilled', 1], ['Fulfilled', 0], 'Fulfilled'],
      [['Fulfilled', 1], ['Cancelled', 2], 'Cancelled'],
      [['Cancelled', 2], ['Fulfilled', 1], 'Cancelled'],
      [['Cancelled', 1], ['Not Fulfilled', 2], 'Not Fulfilled'],
      [['Fulfilled', 1], ['Partially Fulfilled', 9], 'Fulfilled'],
    ]
    for (const [known, next, expected] of table)
      assert.equal(later(known, next), expected, `${known} ${next}`)
  })

  test('of a parcel: delivered and returned are final, and the first of them stands', () => {
    const later = (known: [ShipStatus, number] | null, next: [ShipStatus, number]) =>
      laterShip(known && { status: known[0], at: known[1] }, { status: next[0], at: next[1] })
        .status
    const table: [[ShipStatus, number] | null, [ShipStatus, number], ShipStatus][] = [
      [null, ['pre_transit', 0], 'pre_transit'],
      [['pre_transit', 9], ['in_transit', 1], 'in_transit'],
      [['in_transit', 1], ['pre_transit', 9], 'in_transit'],
      [['failure', 1], ['out_for_delivery', 2], 'out_for_delivery'],
      [['out_for_delivery', 2], ['failure', 1], 'out_for_delivery'],
      [['delivered', 1], ['in_transit', 9], 'delivered'],
      [['delivered', 1], ['return_to_sender', 9], 'delivered'],
      [['return_to_sender', 9], ['delivered', 1], 'delivered'],
      [['return_to_sender', 1], ['delivered', 9], 'return_to_sender'],
      [['failure', 1], ['delivered', 0], 'delivered'],
    ]
    for (const [known, next, expected] of table)
      assert.equal(later(known, next), expected, `${known} ${next}`)
  })

  test('of several parcels the least advanced shows, of orders what is true of all', () => {
    const ships: [(ShipStatus | null)[], ShipStatus | null][] = [
      [[], null],
      [[null], null],
      [['delivered', 'in_transit'], 'in_transit'],
      [['delivered', null], 'delivered'],
      [['out_for_delivery', 'failure'], 'failure'],
      [['failure', 'delivered'], 'failure'],
      [['delivered', 'return_to_sender'], 'return_to_sender'],
      [['in_transit', 'failure'], 'in_transit'],
    ]
    for (const [statuses, expected] of ships)
      assert.equal(shipStatusOf(statuses), expected, `${statuses}`)
    const orders: [OrderStatus[], OrderStatus][] = [
      [['Submitted'], 'Submitted'],
      [['Fulfilled', 'Fulfilled'], 'Fulfilled'],
      [['Fulfilled', 'Submitted'], 'Partially Fulfilled'],
      [['Fulfilled', 'Cancelled'], 'Partially Fulfilled'],
      [['Cancelled', 'Not Fulfilled'], 'Not Fulfilled'],
      [['Cancelled', 'Cancelled'], 'Cancelled'],
      [['Submitted', 'FFL Hold'], 'FFL Hold'],
      [['Submitted', 'Cancelled'], 'Partially Fulfilled'],
      [['Submitted', 'Partially Fulfilled'], 'Partially Fulfilled'],
      [['Backordered', 'Backordered'], 'Backordered'],
    ]
    for (const [statuses, expected] of orders)
      assert.equal(
        statusOfParts(statuses.map((status) => ({ status, at: 0 }))),
        expected,
        `${statuses}`,
      )
  })
})

/** Differs once anything of a record is written: over nodes each row names its transaction. */
const written = async ({ app }: TestApp): Promise<unknown> =>
  isOnPostgres
    ? sqlOnRecord(
        app.dir,
        'SELECT xmin::text FROM fulfillment_order UNION ALL SELECT xmin::text FROM parcel ORDER BY 1',
      )
    : app.ctx.engine.version()

describe('an update', () => {
  test('changes the record in place, and every change is kept with its time', async () => {
    await using t = await createTestApp()
    const { id } = await addOrder(t, { parts: [{ distributor_order_id: '77' }] })
    const shipped = news({
      number: '77',
      po: 'any',
      status: 'Fulfilled',
      parcels: [
        parcel('1Z1', {
          company: 'UPS',
          method: 'Ground',
          shippedOn: '2026-11-20',
          url: 'https://t.example/1Z1',
          status: 'in_transit',
        }),
      ],
    })
    t.clock.advance(HOUR)
    assert.deepEqual(await applyUpdate(t.app.ctx, await account(t), shipped), {
      outcome: 'applied',
      fulfillmentOrderId: id,
    })
    const {
      orders: [shown],
    } = await t.remote.fulfillment.history({ tracking_number: '1Z1' })
    assert.deepEqual(
      [
        shown!.order_status,
        shown!.ship_date,
        shown!.ship_company,
        shown!.ship_method,
        shown!.ship_status,
        shown!.ship_tracking_number,
        shown!.ship_tracking_url,
      ],
      ['Fulfilled', '2026-11-20', 'UPS', 'Ground', 'in_transit', '1Z1', 'https://t.example/1Z1'],
    )
    const kept = await t.app.ctx.read.selectFrom('fulfillment_change').selectAll().execute()
    assert.deepEqual(kept.map(({ field }) => field).sort(), [
      'order_status',
      'ship_company',
      'ship_date',
      'ship_method',
      'ship_status',
      'ship_tracking_number',
      'ship_tracking_url',
    ])
    assert.ok(kept.every(({ at }) => at === NOW + HOUR))
    assert.ok((await changes(t, id)).includes('order_status: Submitted -> Fulfilled'))
    // The same again, and something older: nothing is written.
    const version = await written(t)
    assert.deepEqual(await applyUpdate(t.app.ctx, await account(t), shipped), {
      outcome: 'unchanged',
      fulfillmentOrderId: id,
    })
    assert.deepEqual(
      await applyUpdate(
        t.app.ctx,
        await account(t),
        news({
          number: '77',
          at: NOW - DAY,
          status: 'Backordered',
          parcels: [parcel('1Z1', { status: 'pre_transit', company: 'FedEx' })],
        }),
      ),
      { outcome: 'unchanged', fulfillmentOrderId: id },
    )
    assert.deepEqual(await written(t), version)
  })

  test('of several parcels: the first is shown, the least advanced says how far', async () => {
    await using t = await createTestApp()
    const { id } = await addOrder(t, { parts: [{ distributor_order_id: '77' }] })
    const who = await account(t)
    const apply = (update: Partial<OrderUpdate>) =>
      applyUpdate(t.app.ctx, who, news({ number: '77', ...update }))
    await apply({
      parcels: [parcel('B', { shippedOn: '2026-11-20', status: 'delivered' }), parcel('C')],
    })
    await apply({
      parcels: [parcel('A', { shippedOn: '2026-11-19', status: 'pre_transit', company: 'USPS' })],
      at: NOW + 1,
    })
    let row = await record(t, id)
    assert.deepEqual(
      [row.ship_tracking_number, row.ship_date, row.ship_company, row.ship_status],
      ['A', '2026-11-19', 'USPS', 'pre_transit'],
    )
    await apply({ parcels: [parcel('A', { status: 'delivered' })], at: NOW + 2 })
    row = await record(t, id)
    assert.deepEqual(
      [row.ship_tracking_number, row.ship_company, row.ship_status],
      ['A', 'USPS', 'delivered'],
    )
    for (const reference of ['A', 'B', 'C'])
      assert.equal((await t.shop.fulfillment.history({ reference })).count, 1)
    assert.equal((await t.shop.orders.list({ search: 'b' })).count, 1)
  })

  test('brings the number of an order whose number comes later', async () => {
    await using t = await createTestApp()
    const log = keptLog()
    const ctx = { ...t.app.ctx, log }
    const first = await addOrder(t, { po_number: 'PO-1' })
    const second = await addOrder(t, { po_number: 'PO-2', parts: [{ distributor_order_id: '99' }] })
    const who = await account(t)
    assert.equal(
      (await applyUpdate(ctx, who, news({ number: '88', clientRef: first.parts[0]!.client_ref })))
        .outcome,
      'applied',
    )
    assert.deepEqual(
      [(await record(t, first.id)).distributor_order_id, await changes(t, first.id)],
      ['88', ['distributor_order_id: null -> 88']],
    )
    assert.equal((await t.shop.fulfillment.history({ distributor_order_id: '88' })).count, 1)
    // Another number of the same order, and a number that is another order's.
    assert.deepEqual(
      await applyUpdate(
        ctx,
        who,
        news({ number: '89', clientRef: first.parts[0]!.client_ref, status: 'Fulfilled' }),
      ),
      { outcome: 'refused', reason: 'the order has another number' },
    )
    const third = await addOrder(t, { po_number: 'PO-3' })
    assert.deepEqual(
      await applyUpdate(
        ctx,
        who,
        news({ number: '99', clientRef: third.parts[0]!.client_ref, status: 'Fulfilled' }),
      ),
      { outcome: 'refused', reason: 'the number stands on another order' },
    )
    assert.deepEqual(
      [
        (await record(t, third.id)).distributor_order_id,
        (await record(t, third.id)).order_status,
        (await record(t, second.id)).order_status,
      ],
      [null, 'Submitted', 'Submitted'],
    )
    assert.equal(log.lines.length, 2)
    assert.match(log.lines[1]!, /contradict.*the number stands on another order/)
    // Two parts, two numbers.
    const parts = await addOrder(t, { parts: [{}, { distributor_order_id: '501' }] })
    await applyUpdate(ctx, who, news({ number: '500', clientRef: parts.parts[0]!.client_ref }))
    assert.equal((await record(t, parts.id)).distributor_order_id, '500, 501')
  })

  test('finds its order by our reference, else by number, else by a PO of one', async () => {
    await using t = await createTestApp()
    const { ctx } = t.app
    const who = await account(t)
    const numbered = await addOrder(t, {
      po_number: 'SAME',
      parts: [{ distributor_order_id: '1' }],
    })
    const other = await addOrder(t, { po_number: 'SAME', parts: [{ distributor_order_id: '2' }] })
    const alone = await addOrder(t, { po_number: 'ALONE', content: { poIsOurs: true } })
    const outcome = async (update: Partial<OrderUpdate>, more: Partial<Account> = {}) => {
      const applied = await applyUpdate(ctx, { ...who, ...more }, news(update))
      return 'fulfillmentOrderId' in applied ? applied.fulfillmentOrderId : applied.outcome
    }
    const table: [Partial<OrderUpdate>, number | string][] = [
      [{ clientRef: numbered.parts[0]!.client_ref, po: 'ALONE' }, numbered.id],
      [{ number: '2', po: 'ALONE' }, other.id],
      [{ po: 'ALONE' }, alone.id],
      [{ po: 'SAME' }, 'unknown'],
      [{ po: 'NONE' }, 'unknown'],
      [{ number: '3' }, 'unknown'],
      [{}, 'unknown'],
      // A reference that is not ours is somebody else's order, whatever else fits.
      [{ clientRef: 'ELSE', number: '1', po: 'ALONE' }, 'unknown'],
      [{ number: '3', po: 'SAME' }, 'unknown'],
      [{ number: '1', po: 'ALONE' }, numbered.id],
      // Before ours was made there was no order of ours.
      [{ po: 'ALONE', at: NOW - 3 * DAY }, 'unknown'],
    ]
    for (const [update, expected] of table)
      assert.equal(await outcome(update), expected, JSON.stringify(update))
    const { id: stranger } = await t.app.operator.subscribers.create({
      name: 'Other',
      email: 'o@shop.example',
    })
    for (const more of [{ distid: 'LIP' }, { mode: 'live' as const }, { subscriberId: stranger }]) {
      for (const update of [
        { clientRef: alone.parts[0]!.client_ref },
        { number: '1' },
        { po: 'ALONE' },
      ])
        assert.equal(await outcome(update, more), 'unknown')
    }
    // Its number is known from then on, so another number under its PO is another order.
    assert.equal(await outcome({ number: '7', po: 'ALONE' }), alone.id)
    assert.equal(await outcome({ number: '8', po: 'ALONE' }), 'unknown')
  })

  test('of an order that is not settled is left to who settles it', async () => {
    await using t = await createTestApp()
    const { ctx } = t.app
    const who = await account(t)
    for (const state of [
      'planned',
      'sending',
      'unknown',
      'review',
      'rejected',
      'expired',
    ] as const) {
      const {
        id,
        parts: [part],
      } = await addOrder(t, {
        order_status: 'Pending',
        po_number: `PO-${state}`,
        parts: [{ state }],
      })
      assert.deepEqual(
        await applyUpdate(
          ctx,
          who,
          news({
            clientRef: part!.client_ref,
            number: '5',
            status: 'Fulfilled',
            parcels: [parcel('X')],
          }),
        ),
        { outcome: 'not_placed', purchaseOrderId: part!.id, state },
      )
      assert.equal(
        (await applyUpdate(ctx, who, news({ po: `PO-${state}` }))).outcome,
        state === 'rejected' || state === 'expired' ? 'unknown' : 'not_placed',
      )
      assert.deepEqual(
        [
          (await record(t, id)).order_status,
          (await record(t, id)).ship_tracking_number,
          await changes(t, id),
        ],
        ['Pending', null, []],
      )
    }
    // A PO that a placed order shares with one whose outcome is not known means neither for sure.
    await addOrder(t, { po_number: 'BOTH', parts: [{}] })
    await addOrder(t, { po_number: 'BOTH', parts: [{ state: 'unknown' }] })
    assert.equal((await applyUpdate(ctx, who, news({ po: 'BOTH' }))).outcome, 'unknown')
  })

  test('of one of several orders moves the record as far as is true of all', async () => {
    await using t = await createTestApp()
    const { ctx } = t.app
    const who = await account(t)
    const { id } = await addOrder(t, {
      parts: [{ distributor_order_id: '1' }, { distributor_order_id: '2' }],
    })
    const status = async (number: string, given: OrderStatus) => {
      await applyUpdate(ctx, who, news({ number, status: given }))
      return (await record(t, id)).order_status
    }
    assert.equal(await status('1', 'FFL Hold'), 'FFL Hold')
    assert.equal(await status('1', 'Fulfilled'), 'Partially Fulfilled')
    assert.equal(await status('2', 'Backordered'), 'Partially Fulfilled')
    assert.equal(await status('2', 'Fulfilled'), 'Fulfilled')
    // As long as one part's outcome is not known, the record stays pending; news of the other are
    // kept for then.
    const half = await addOrder(t, {
      order_status: 'Pending',
      parts: [{ distributor_order_id: '3' }, { state: 'unknown' }],
    })
    await applyUpdate(ctx, who, news({ number: '3', status: 'Fulfilled' }))
    assert.equal((await record(t, half.id)).order_status, 'Pending')
    await ctx.db
      .updateTable('purchase_order')
      .set({ state: 'rejected' })
      .where('id', '=', half.parts[1]!.id)
      .execute()
    await applyUpdate(ctx, who, news({ number: '3', status: 'Fulfilled' }))
    assert.equal((await record(t, half.id)).order_status, 'Partially Fulfilled')
  })

  test('is cleaned: lengths, control characters, addresses, days, statuses', async () => {
    await using t = await createTestApp()
    const { ctx } = t.app
    const who = await account(t)
    const { id } = await addOrder(t, { po_number: 'PO', content: { poIsOurs: true } })
    const dirty = {
      number: ` 7\u00007\u202e${'9'.repeat(300)}`,
      po: 'PO',
      at: NOW + 0.5,
      status: 'Shipped',
      parcels: [
        null,
        7,
        parcel(''),
        parcel('T\n1', {
          company: 'U\u001BPS'.padEnd(400, 'x'),
          method: '  ',
          shippedOn: '2026-02-30',
          url: 'javascript:alert(1)',
          status: 'lost' as never,
        }),
        { trackingNumber: 5 },
      ],
    }
    assert.equal((await applyUpdate(ctx, who, dirty as never)).outcome, 'applied')
    const row = await record(t, id)
    assert.deepEqual(
      [
        row.ship_tracking_number,
        row.ship_company!.length,
        row.ship_method,
        row.ship_date,
        row.ship_tracking_url,
        row.ship_status,
        row.order_status,
        row.distributor_order_id!.length,
      ],
      ['T 1', 200, null, null, null, null, 'Submitted', 200],
    )
    for (const broken of [
      null,
      undefined,
      7,
      'x',
      {},
      { number: null, po: 'PO' },
      { number: null, po: 'PO', at: NaN },
      { number: null, po: 'PO', at: Infinity },
      { number: 5, po: 6, at: NOW },
      { number: null, po: 'PO', at: '2026' },
    ]) {
      assert.deepEqual(await applyUpdate(ctx, who, broken as never), { outcome: 'unknown' })
    }
    const urls: [unknown, string | null][] = [
      ['https://a.example/x', 'https://a.example/x'],
      ['HTTP://A.example', 'http://a.example/'],
      ['ftp://a', null],
      ['//a.example', null],
      ['data:text/html,x', null],
      [' https://a.example', 'https://a.example/'],
      ['https://', null],
      [null, null],
      [7, null],
      [`https://a.example/${'x'.repeat(1_000)}`, null],
    ]
    for (const [url, expected] of urls) assert.equal(cleanUrl(url), expected, String(url))
    assert.deepEqual(
      [
        cleanText('a\u202eb\u0085\u2029c'),
        cleanText('a\tb'),
        cleanText('\ud800x'),
        cleanText('😀'.repeat(300))!.length,
        cleanText(' '),
        cleanText(5),
        cleanText('x'.repeat(10_000))!.length,
      ],
      ['a b  c', 'a b', 'x', 400, null, null, 200],
    )
  })

  test('any order and any repetition of the same updates ends in the same record', async () => {
    await using t = await createTestApp()
    const { ctx } = t.app
    const who = await account(t)
    const at = fc.integer({ min: 0, max: 4 }).map((n) => NOW + n * MINUTE)
    const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null })
    const anyParcel = fc.record({
      trackingNumber: fc.constantFrom('T1', 'T2', 'T3'),
      company: maybe(fc.constantFrom('UPS', 'FedEx')),
      method: maybe(fc.constantFrom('Ground', 'Air')),
      shippedOn: maybe(fc.constantFrom('2026-11-20', '2026-11-22')),
      url: maybe(fc.constantFrom('https://t.example/1', 'https://t.example/2')),
      status: maybe(fc.constantFrom(...SHIP_STATUSES)),
    })
    const update = fc.record({
      part: fc.constantFrom(0, 1),
      named: fc.constantFrom('ref', 'number', 'both'),
      at,
      status: fc.option(fc.constantFrom(...ORDER_STATUSES), { nil: undefined }),
      parcels: fc.array(anyParcel, { maxLength: 2 }),
    })
    await fc.assert(
      fc.asyncProperty(
        fc
          .array(update, { minLength: 1, maxLength: 7 })
          .chain((updates) =>
            fc.tuple(
              fc.constant(updates),
              fc.shuffledSubarray([...updates, ...updates], { minLength: updates.length * 2 }),
            ),
          ),
        fc.boolean(),
        async ([updates, mixed], isOne) => {
          const outcome = async (sequence: typeof updates) => {
            // Numbers that no order of an earlier run has.
            const parts = isOne ? [{}] : [{}, {}]
            const made = await addOrder(t, { parts })
            // Our reference first, so that a number alone finds its order later.
            for (const [i, part] of made.parts.entries())
              await applyUpdate(
                ctx,
                who,
                news({ number: `N${made.id}-${i}`, clientRef: part.client_ref, at: NOW - DAY }),
              )
            for (const { part: wanted, named, ...rest } of sequence) {
              const part = isOne ? 0 : wanted
              await applyUpdate(
                ctx,
                who,
                news({
                  ...rest,
                  number: named === 'ref' ? null : `N${made.id}-${part}`,
                  ...(named !== 'number' && { clientRef: made.parts[part]!.client_ref }),
                }),
              )
            }
            const {
              id: _id,
              placement_id: _placement,
              order_id: _order,
              po_number: _po,
              po_given: _given,
              distributor_order_id: _numbers,
              ...shown
            } = await record(t, made.id)
            const parcels = await ctx.read
              .selectFrom('parcel')
              .selectAll()
              .where('fulfillment_order_id', '=', made.id)
              .execute()
            const statuses = await ctx.read
              .selectFrom('lane_status')
              .selectAll()
              .where(
                'purchase_order_id',
                'in',
                made.parts.map(({ id }) => id),
              )
              .orderBy('purchase_order_id')
              .execute()
            return {
              shown,
              parcels: parcels.map(({ fulfillment_order_id: _of, ...rest }) => rest),
              statuses: statuses.map(({ order_status, at }) => [order_status, at]),
            }
          }
          const expected = await outcome(updates)
          assert.deepEqual(await outcome(mixed), expected)
        },
      ),
      { numRuns: runsOnRecord(150) },
    )
  })
})

/** A made-up distributor; `say` is what its updates are. */
function distributor(
  distid: string,
  say: (session: Session, since: number) => AsyncIterable<OrderUpdate>,
  more: Partial<Fulfillment> & Partial<Pick<Distributor, 'settings'>> = {},
): Distributor {
  const {
    settings = {
      password: {
        type: 'string' as const,
        label: 'Password',
        path: 'fulfillment-password',
        secret: true,
      },
    },
    ...rest
  } = more
  const simulator: Fulfillment = {
    recovery: 'lookup',
    limits: { po: { max: 50 } },
    submit: async () => ({ outcome: 'accepted', number: null }),
    updates: say,
    ...rest,
  }
  return defineDistributor({
    distid,
    name: `Wholesale ${distid}`,
    automatedFulfillment: true,
    settings,
    simulator,
  })
}

async function* list(updates: readonly OrderUpdate[]): AsyncGenerator<OrderUpdate> {
  yield* updates
}

const configured = (...distids: string[]) => ({
  distributors: Object.fromEntries(
    distids.map((distid) => [
      `Wholesale ${distid}`,
      { distid, fulfillment: { password: 'hunter2' } },
    ]),
  ),
})

describe('monitors', () => {
  test('ask what is due, write what came, and ask again when it is time', async () => {
    const asked: { since: number; password: unknown; at: number }[] = []
    let updates: OrderUpdate[] = []
    const mine = distributor('MINE', (session, since) => {
      asked.push({ since, password: session.settings['password'], at: session.now() })
      return list(updates)
    })
    await using t = await createTestApp({ distributors: [...builtin, mine] })
    await t.configure(configured('MINE') as never)
    const monitors = openMonitors(t.app.ctx)
    await monitors.pass()
    assert.equal(asked.length, 0, 'nobody is asked without an open order')
    const { id } = await addOrder(t, {
      distid: 'MINE',
      parts: [{ distributor_order_id: '1' }],
      order_date: NOW - DAY,
    })
    updates = [news({ number: '1', status: 'Backordered' })]
    await monitors.pass()
    assert.deepEqual(asked, [{ since: NOW - 4 * DAY, password: 'hunter2', at: NOW }])
    assert.equal((await record(t, id)).order_status, 'Backordered')
    t.clock.advance(15 * MINUTE - 1)
    await monitors.pass()
    assert.equal(asked.length, 1)
    t.clock.advance(1)
    // Another pair of hands goes on where the first one was.
    const others = openMonitors(t.app.ctx)
    await others.pass()
    assert.deepEqual([asked.length, asked[1]!.since], [2, NOW - 3 * DAY])
    updates = [
      news({ number: '1', status: 'Fulfilled', parcels: [parcel('T', { status: 'delivered' })] }),
    ]
    t.clock.advance(15 * MINUTE)
    await others.pass()
    assert.deepEqual([asked.length, (await record(t, id)).ship_status], [3, 'delivered'])
    t.clock.advance(15 * MINUTE)
    await others.pass()
    assert.equal(asked.length, 3, 'a finished order is not asked for')
    await monitors.stop()
    await others.stop()
  })

  test('stop after 60 days, and for what is cancelled, not fulfilled or hidden', async () => {
    let asked = 0
    const mine = distributor(
      'MINE',
      () => {
        asked++
        return list([])
      },
      { limits: { po: { max: 50 }, updatesEvery: MINUTE } },
    )
    await using t = await createTestApp({ distributors: [...builtin, mine] })
    await t.configure(configured('MINE') as never)
    const monitors = openMonitors(t.app.ctx)
    const rows: [Parameters<typeof addOrder>[1], boolean][] = [
      [{ order_status: 'Cancelled' }, false],
      [{ order_status: 'Not Fulfilled' }, false],
      [{ visible: 0 }, false],
      [{ order_status: 'Fulfilled', ship_status: 'delivered' }, false],
      [{ order_status: 'Fulfilled', ship_status: 'return_to_sender' }, false],
      [{ order_date: NOW - 60 * DAY }, false],
      [{ distid: 'RSR' }, false],
      [{ mode: 'live' }, false],
      [{ order_status: 'Pending' }, true],
      [{ order_status: 'Fulfilled' }, true],
      [{ order_status: 'Fulfilled', ship_status: 'in_transit' }, true],
      [{ order_status: 'Partially Fulfilled', ship_status: 'delivered' }, true],
      [{ order_date: NOW - 59 * DAY }, true],
    ]
    for (const [row, isAsked] of rows) {
      const { db } = t.app.ctx
      for (const table of [
        'lane_status',
        'purchase_order',
        'fulfillment_order',
        'monitor',
      ] as const)
        await db.deleteFrom(table).execute()
      await addOrder(t, { distid: 'MINE', ...row })
      asked = 0
      await monitors.pass()
      assert.equal(asked, isAsked ? 1 : 0, JSON.stringify(row))
    }
    await monitors.stop()
  })

  test('back off when a distributor fails, say so once, and forget nothing', async () => {
    const sinces: number[] = []
    let isDown = true
    const mine = distributor('MINE', async function* (_session, since) {
      sinces.push(since)
      yield news({ number: '1', status: 'FFL Hold' })
      if (isDown) throw new Error('login of hunter2 failed')
    })
    await using t = await createTestApp({ distributors: [...builtin, mine] })
    await t.configure(configured('MINE') as never)
    const log = keptLog()
    const { id } = await addOrder(t, { distid: 'MINE', parts: [{ distributor_order_id: '1' }] })
    const monitors = openMonitors({ ...t.app.ctx, log })
    await monitors.pass()
    for (const wait of [30, 60, 120, 120]) {
      t.clock.advance(wait * MINUTE - 1)
      await monitors.pass()
      const before = sinces.length
      t.clock.advance(1)
      await monitors.pass()
      assert.equal(sinces.length, before + 1)
    }
    assert.equal(
      (await record(t, id)).order_status,
      'FFL Hold',
      'what came before the failure counts',
    )
    assert.deepEqual([new Set(sinces), log.lines.length], [new Set([NOW - 3 * DAY]), 1])
    assert.match(log.lines[0]!, /the connector failed \(Error\)/)
    assert.doesNotMatch(log.lines.join(), /hunter2/)
    isDown = false
    t.clock.advance(2 * HOUR)
    await monitors.pass()
    assert.equal(log.lines.length, 2)
    const row = await t.app.ctx.read.selectFrom('monitor').selectAll().executeTakeFirstOrThrow()
    assert.deepEqual(
      [row.failures, row.next_at, row.since],
      [0, t.clock.ms + 15 * MINUTE, t.clock.ms - 3 * DAY],
    )
    await monitors.stop()
  })

  test('one that hangs holds up no other, and is left alone after its time', async () => {
    const never = new Promise<never>(() => {})
    let aborted = false
    const slow = distributor('SLOW', (session) => {
      session.signal.addEventListener('abort', () => {
        aborted = true
      })
      return { [Symbol.asyncIterator]: () => ({ next: () => never, return: () => never }) }
    })
    const mine = distributor('MINE', () => list([news({ number: '1', status: 'Cancelled' })]))
    await using t = await createTestApp({ distributors: [...builtin, slow, mine] })
    await t.configure(configured('SLOW', 'MINE') as never)
    const log = keptLog()
    const { id } = await addOrder(t, { distid: 'MINE', parts: [{ distributor_order_id: '1' }] })
    // More of them than are asked at a time.
    for (let i = 0; i < 6; i++) {
      const { id: subscriber_id } =
        i === 0
          ? await findSubscriber(t.app.ctx, t.subscriber)
          : await t.app.operator.subscribers.create({ name: `Shop ${i}`, email: 'a@shop.example' })
      await addOrder(t, { distid: 'SLOW', subscriber_id })
    }
    // Time enough for the other one, whose order is asked for, written and read meanwhile.
    const seconds = isOnPostgres ? 4 : 1
    const monitors = openMonitors({ ...t.app.ctx, log }, { patience: seconds * SECOND })
    const pass = monitors.pass()
    await until(
      async () => (await record(t, id)).order_status === 'Cancelled',
      'the other is heard',
    )
    assert.equal(aborted, false)
    await pass
    assert.ok(aborted)
    assert.match(log.lines.join('\n'), new RegExp(`no complete answer within ${seconds} s`))
    assert.equal(log.lines.length, 6)
    await monitors.stop()
  })

  test('one that goes on and on is left alone too; what it said counts', async () => {
    let said = 0
    const endless = distributor('MINE', async function* () {
      for (; ; said++) {
        t.clock.advance(50_000)
        yield news({ number: '1', status: said === 0 ? 'FFL Hold' : 'Submitted' })
      }
    })
    await using t = await createTestApp({ distributors: [...builtin, endless] })
    await t.configure(configured('MINE') as never)
    const log = keptLog()
    const { id } = await addOrder(t, { distid: 'MINE', parts: [{ distributor_order_id: '1' }] })
    const monitors = openMonitors({ ...t.app.ctx, log })
    await monitors.pass()
    assert.deepEqual([said, (await record(t, id)).order_status], [2, 'FFL Hold'])
    assert.match(log.lines.join(), /no complete answer within 120 s/)
    await monitors.stop()
  })

  test('a schedule that cannot be written has nobody asked again at once', async () => {
    let asked = 0
    const mine = distributor('MINE', () => {
      asked++
      return list([])
    })
    await using t = await createTestApp({ distributors: [...builtin, mine] })
    await t.configure(configured('MINE') as never)
    await addOrder(t, { distid: 'MINE' })
    const log = keptLog()
    const monitors = openMonitors({
      ...t.app.ctx,
      log,
      db: {
        replaceInto: () => {
          throw new Error('database or disk is full')
        },
      } as never,
    })
    await assert.rejects(monitors.pass(), /disk is full/)
    await monitors.pass()
    assert.equal(asked, 1)
    t.clock.advance(15 * MINUTE)
    await assert.rejects(monitors.pass(), /disk is full/)
    assert.equal(asked, 2)
    await monitors.stop()
  })

  test('stop ends what runs at once, and holds nothing against the distributor', async () => {
    const never = new Promise<never>(() => {})
    const slow = distributor('SLOW', () => ({
      [Symbol.asyncIterator]: () => ({ next: () => never }),
    }))
    await using t = await createTestApp({ distributors: [...builtin, slow] })
    await t.configure(configured('SLOW') as never)
    await addOrder(t, { distid: 'SLOW' })
    const log = keptLog()
    const monitors = openMonitors({ ...t.app.ctx, log })
    const pass = monitors.pass()
    await new Promise((resolve) => setTimeout(resolve, 5))
    await monitors.stop()
    await pass
    assert.deepEqual(
      [log.lines, await t.app.ctx.read.selectFrom('monitor').selectAll().execute()],
      [[], []],
    )
  })

  test('start looks by itself', async () => {
    let asked = 0
    const mine = distributor('MINE', () => {
      asked++
      return list([])
    })
    await using t = await createTestApp({ distributors: [...builtin, mine] })
    await t.configure(configured('MINE') as never)
    const monitors = openMonitors(t.app.ctx)
    monitors.start()
    await addOrder(t, { distid: 'MINE' })
    for (let i = 0; i < 3_000 && asked === 0; i++)
      await new Promise((resolve) => setTimeout(resolve, 10))
    assert.equal(asked, 1)
    await monitors.stop()
  })

  test('a burst lets others in between, and news that cannot be used hold up nothing', async () => {
    const burst = Array.from({ length: 500 }, (_, i) =>
      i % 7 === 0
        ? (null as never)
        : news({ number: i === 499 ? '1' : `x${i}`, status: 'Cancelled' }),
    )
    const mine = distributor('MINE', () => list(burst))
    await using t = await createTestApp({ distributors: [...builtin, mine] })
    await t.configure(configured('MINE') as never)
    const { id } = await addOrder(t, { distid: 'MINE', parts: [{ distributor_order_id: '1' }] })
    let turns = 0
    const counting = setInterval(() => turns++, 1)
    const monitors = openMonitors(t.app.ctx)
    await monitors.pass()
    clearInterval(counting)
    assert.equal((await record(t, id)).order_status, 'Cancelled')
    assert.ok(turns > 5, `${turns} turns`)
    await monitors.stop()
  })

  test('news of an order that is not settled yet are asked for until it is', async () => {
    const sinces: number[] = []
    let ref = ''
    const mine = distributor('MINE', (_, since) => {
      sinces.push(since)
      return list([news({ number: '1', clientRef: ref, status: 'Fulfilled', at: NOW + HOUR })])
    })
    await using t = await createTestApp({ distributors: [...builtin, mine] })
    await t.configure(configured('MINE') as never)
    const {
      id,
      parts: [part],
    } = await addOrder(t, { distid: 'MINE', order_status: 'Pending', parts: [{ state: 'review' }] })
    ref = part!.client_ref
    const monitors = openMonitors(t.app.ctx)
    for (let days = 0; days < 10; days++) {
      t.clock.advance(DAY)
      await monitors.pass()
    }
    assert.equal(sinces.at(-1), NOW + HOUR - 3 * DAY)
    await t.app.ctx.db.updateTable('purchase_order').set({ state: 'placed' }).execute()
    t.clock.advance(DAY)
    await monitors.pass()
    assert.equal((await record(t, id)).order_status, 'Fulfilled')
    t.clock.advance(DAY)
    await t.app.ctx.db.updateTable('fulfillment_order').set({ ship_status: null }).execute()
    await monitors.pass()
    assert.equal(sinces.at(-1), t.clock.ms - DAY - 3 * DAY)
    await monitors.stop()
  })

  test('an account without configuration or connector is no error for others', async () => {
    let asked = 0
    const gone = distributor('GONE', () => list([]))
    const mine = distributor('MINE', () => {
      asked++
      return list([])
    })
    const broken = distributor('BROKE', () => {
      throw new TypeError('hunter2')
    })
    await using t = await createTestApp({ distributors: [...builtin, gone, mine, broken] })
    await t.configure(configured('MINE', 'BROKE') as never)
    const log = keptLog()
    for (const distid of ['GONE', 'MINE', 'BROKE', 'NOBODY']) await addOrder(t, { distid })
    const monitors = openMonitors({ ...t.app.ctx, log })
    await monitors.pass()
    assert.equal(asked, 1)
    assert.deepEqual(log.lines.map((line) => /"cause":"([^"]*)"/.exec(line)?.[1]).sort(), [
      'the connector failed (TypeError)',
      'the distributor is not configured',
    ])
    await monitors.stop()
  })
})

describe('orphans', () => {
  test('are orders of distributors that no purchase order here knows', async () => {
    const never = new Promise<never>(() => {})
    let said: OrderUpdate[] = []
    const since: number[] = []
    const mine = distributor('MINE', (_, from) => {
      since.push(from)
      return list(said)
    })
    const slow = distributor('SLOW', () => ({
      [Symbol.asyncIterator]: () => ({ next: () => never }),
    }))
    const mute = distributor('MUTE', () => list([]), { updates: undefined as never })
    await using t = await createTestApp({ distributors: [...builtin, mine, slow, mute] })
    await t.configure(configured('MINE', 'SLOW', 'MUTE') as never)
    const { subscriberId } = await account(t)
    const known = await addOrder(t, { distid: 'MINE', parts: [{ distributor_order_id: '1' }] })
    const waiting = await addOrder(t, { distid: 'MINE', po_number: 'BILL-1' })
    said = [
      news({ number: '1' }),
      news({ number: '9', clientRef: known.parts[0]!.client_ref }),
      news({ number: '9' }),
      news({ number: '5', po: 'BILL-1' }),
      news({ number: '2', po: 'LOST', at: NOW, lines: [{ distsku: 'A', qty: 2 }] }),
      news({ number: '2', po: 'LOST', at: NOW - HOUR, shipTo: { zip: '37203' } }),
      news({ number: null, clientRef: 'FORGOTTEN', po: 'P' }),
      null as never,
    ]
    const before = t.app.ctx.engine.version()
    const { orphans, notAsked } = await orphansSince(t.app.ctx, NOW - DAY, { patience: 30 })
    assert.deepEqual(orphans, [
      {
        subscriberId,
        distid: 'MINE',
        mode: 'simulator',
        number: '2',
        po: 'LOST',
        at: NOW - HOUR,
        shipTo: { zip: '37203' },
        lines: [{ distsku: 'A', qty: 2 }],
      },
      {
        subscriberId,
        distid: 'MINE',
        mode: 'simulator',
        number: null,
        po: 'P',
        at: NOW,
        clientRef: 'FORGOTTEN',
      },
    ])
    assert.deepEqual(notAsked, [
      { subscriberId, distid: 'SLOW', mode: 'simulator', reason: 'no complete answer within 0 s' },
    ])
    assert.deepEqual(
      [since, t.app.ctx.engine.version(), (await record(t, waiting.id)).distributor_order_id],
      [[NOW - DAY], before, null],
    )
  })
})
