import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY, MINUTE, SECOND } from '../../../lib/core/clock.js'
import type { Fulfillment, OrderUpdate, Submission } from '../../../lib/distributors/fulfillment.js'
import { readGeneratedPo } from '../../../lib/orders/operator/adopt.js'
import { isOnPostgres, sqlOnRecord } from '../../harness/record.js'
import { REVIEW, DEALER, GUN_UPC, UPC, orderShop } from '../shop.js'
import type { OrderShop } from '../shop.js'
import { scripted } from '../scripted-distributor.js'
import type { Act, Scripted } from '../scripted-distributor.js'

const unknown: Submission = { outcome: 'unknown', reason: 'timeout' }
const lost: Act = { accept: true, answer: unknown }
const nothing: Act = { accept: false, answer: unknown }

/** Has a scripted distributor tell of every order that it has, as its list of orders would. */
function telling(
  tst: Scripted,
  { also = [], mute = () => false }: { also?: OrderUpdate[]; mute?: () => boolean } = {},
): Scripted {
  const connector = tst.connector as { -readonly [N in keyof Fulfillment]: Fulfillment[N] }
  connector.updates = async function* (_session, since) {
    if (mute()) throw new Error('unreachable')
    for (const { number, order } of tst.orders) {
      if (order.takenAt >= since)
        yield {
          number,
          po: order.po,
          at: order.takenAt,
          lines: order.lines.map(({ distsku, qty }) => ({ distsku, qty })),
          shipTo: { name: order.shipTo.name, zip: order.shipTo.zip },
        }
    }
    yield* also
  }
  return tst
}

const all = (t: OrderShop) => t.app.operator.orders
const states = async (t: OrderShop) =>
  (await t.purchaseOrders()).map(({ state, distributor_order_id: number }) => [state, number])

/** What stands in the tables of orders and in the distributor, to see that nothing changed. */
async function everything(t: OrderShop): Promise<unknown> {
  const { read } = t.app.ctx
  const tables = [
    'placement',
    'fulfillment_order',
    'purchase_order',
    'order_count',
    'journal',
    'order_engine',
    'audit',
  ] as const
  return Promise.all(tables.map((name) => read.selectFrom(name).selectAll().execute()))
}

describe('pre-flight', () => {
  test('tells the split with destinations, POs, parts and amounts, and does nothing', async () => {
    const a = scripted({ distid: 'AAA', name: 'Alpha', limits: { po: { max: 14 } } })
    const b = scripted({
      distid: 'BBB',
      name: 'Beta',
      plan: (lines) => lines.map((_, i) => ({ name: `part ${i}`, lines: [i] })),
    })
    await using t = await orderShop([a, b])
    const before = await everything(t)
    const item = (distid: string, distsku: string, upc: string, qty: number, ffl_req = false) => ({
      distid,
      distsku,
      upc,
      qty,
      ffl_req,
    })
    const body = t.body({
      order_id: 'P-1',
      items: [
        item('AAA', 'A1', UPC, 2),
        item('AAA', 'G1', GUN_UPC, 1, true),
        item('BBB', 'A1', UPC, 1),
      ],
      ffl: { licenseNumber: DEALER },
    })
    const told = await all(t).preflight(t.subscriber, body)
    assert.equal(told.refusal, null, JSON.stringify(told.refusal))
    assert.deepEqual(
      [told.order_id, told.order_id_free, told.attempt, told.mode, told.quota, told.warnings],
      ['P-1', true, 1, 'simulator', null, []],
    )
    assert.deepEqual(
      told.fulfillment_orders.map(
        ({ distid, ffl_required, ship_to, ffl, product_subtotal, shipping_estimate, po_given }) => [
          distid,
          ffl_required,
          ship_to.name,
          ffl?.expires_on ?? null,
          product_subtotal,
          shipping_estimate,
          po_given,
        ],
      ),
      [
        ['AAA', false, 'Pat Doe', null, 50, 10, 'P-1-LIB0-010'],
        ['AAA', true, 'Desert Arms', '2029-05-01', 400, 10, 'P-1-LIB0-110'],
        ['BBB', false, 'Pat Doe', null, 25, 10, 'P-1-LIB0-010'],
      ],
    )
    assert.deepEqual(
      [told.product_subtotal, told.shipping_estimate, told.total_estimate],
      [475, 30, 505],
    )
    assert.deepEqual(told.fulfillment_orders[0]!.lines, [
      {
        distsku: 'A1',
        upc: UPC,
        name: 'Bipod',
        qty: 2,
        unit_price: 25,
        line_total: 50,
        ffl_required: false,
      },
    ])
    assert.deepEqual(told.fulfillment_orders[2]!.purchase_orders, [
      { lane: 'part 0', distskus: ['A1'] },
    ])
    assert.deepEqual(await everything(t), before)
    assert.equal(a.sends.length + b.sends.length, 0)

    const placed = await t.place(body)
    const withKey = await all(t).preflight(
      t.subscriber,
      { ...body, order_id: 'P-2' },
      { keyId: t.keyId },
    )
    assert.deepEqual(withKey.quota, { hour: 59, day: 499 })
    assert.deepEqual(
      withKey.fulfillment_orders.map(({ po_number: po }) => po.replace('P-2', 'P-1')),
      placed.body.data.fulfillment_orders.map(({ po_number: po }: { po_number: string }) => po),
    )
  })

  test('tells the POs that are really sent: shortened, and of a second attempt', async () => {
    const tst = scripted({ limits: { po: { max: 22 } } })
    await using t = await orderShop([tst])
    const body = t.body({ order_id: 'A-LONG-ORDER-ID-OF-A-SHOP' })
    for (const answer of [{ outcome: 'rejected', reason: 'no' } as const, null]) {
      const {
        fulfillment_orders: [group],
        attempt,
      } = await all(t).preflight(t.subscriber, body, { keyId: t.keyId })
      if (answer) tst.acts.push({ accept: false, answer })
      assert.equal(attempt, answer ? 1 : 2)
      await t.place(body)
      assert.equal(tst.sends.at(-1)!.po, group!.po_number)
      assert.equal(tst.sends.at(-1)!.poGiven, group!.po_given)
    }
  })

  const faulty = (t: OrderShop): [name: string, body: unknown, code: string][] => [
    ['a body of another shape', { order_id: 'a b', items: [] }, 'invalid_parameter'],
    ['no body at all', null, 'invalid_parameter'],
    [
      'an unknown item',
      t.body({ items: [{ distid: 'TST', distsku: 'nope', upc: UPC, qty: 1 }] }),
      'invalid_parameter',
    ],
    [
      'a distributor that is not configured',
      t.body({ items: [{ distid: 'OFF', distsku: 'A1', upc: UPC, qty: 1 }] }),
      'fulfillment_not_configured',
    ],
  ]
  test('answers with the refusal of the real placement', async () => {
    await using t = await orderShop([scripted()], {
      offers: ['TST', 'OFF'].map((distid) => ({
        distid,
        stockid: 'A1',
        upc: UPC,
        name: 'Bipod',
        price: 2_500,
        qty: 50,
      })),
      distributors: [scripted().distributor, scripted({ distid: 'OFF', name: 'Off' }).distributor],
    })
    for (const [name, body, code] of faulty(t)) {
      const { refusal } = await all(t).preflight(t.subscriber, body)
      assert.equal(refusal?.code, code, name)
      const placed = await t.place(body)
      assert.deepEqual(
        [placed.status, placed.body.error.message, placed.body.error.details],
        [refusal.status, refusal.message, refusal.details],
        name,
      )
    }
    const twice = await all(t).preflight(t.subscriber, { order_id: 'a b', items: [] })
    assert.ok((twice.refusal!.details as unknown[]).length > 2, 'every fault is listed')
  })

  test('a held order_id, a full disk, a pause and a quota refuse as they would', async () => {
    let free = 1e12
    await using t = await orderShop([scripted()], { faults: { freeBytes: () => free } })
    const body = t.body()
    await t.place(body)
    const held = await all(t).preflight(t.subscriber, body)
    assert.deepEqual(
      [held.refusal?.code, held.order_id_free, held.fulfillment_orders.length],
      ['duplicate_order', false, 1],
    )
    free = 1e6
    const other = t.body()
    assert.equal((await all(t).preflight(t.subscriber, other)).refusal?.code, 'service_unavailable')
    free = 1e12
    await t.app.ctx.db
      .insertInto('order_engine')
      .values({ name: 'paused', value: JSON.stringify({ since: 0, reason: 'x', orders: [] }) })
      .execute()
    assert.match((await all(t).preflight(t.subscriber, other)).refusal!.message, /paused/)
    await t.app.ctx.db.deleteFrom('order_engine').where('name', '=', 'paused').execute()
    for (let i = 0; i < 59; i++) await t.place(t.body())
    const full = await all(t).preflight(t.subscriber, other, { keyId: t.keyId })
    const refused = await t.place(other)
    assert.deepEqual(
      [full.refusal?.code, full.quota, full.refusal?.details],
      ['order_volume_limit', { hour: 0, day: 440 }, refused.body.error.details],
    )
    await t.app.operator.keys.setStatus(t.keyId, 'disabled')
    assert.equal(
      (await all(t).preflight(t.subscriber, other, { keyId: t.keyId })).refusal?.code,
      'key_disabled',
    )
    await assert.rejects(
      all(t).preflight(t.subscriber, other, { keyId: 'nope' }),
      /has no key nope/,
    )
  })

  test('what rules leave to a person is a warning, what they block a refusal', async () => {
    await using t = await orderShop([scripted()])
    const rule = (id: string, kind: string) => ({
      rule_id: id,
      kind,
      legal_status: 'policy',
      customer_message: `Because of ${id}.`,
      scope: { state: ['AZ'] },
    })
    await t.app.operator.rules.import({
      text: JSON.stringify([rule('ask', 'MANUAL_REVIEW'), rule('tell', 'WARNING')]),
      origin: 'test',
    })
    const asked = await all(t).preflight(t.subscriber, t.body())
    assert.equal(asked.refusal, null)
    assert.equal(asked.warnings.length, 2)
    assert.match(asked.warnings[0]!, /^items\[0\] \(TST A1\): hold for a person: ask /)
    assert.match(asked.warnings[1]!, /: tell: Because of tell\.$/)
    await t.app.operator.rules.import({
      text: JSON.stringify([rule('stop', 'BLOCK')]),
      origin: 'test',
    })
    const stopped = await all(t).preflight(t.subscriber, t.body())
    assert.deepEqual(
      [stopped.refusal?.code, stopped.refusal?.details, stopped.fulfillment_orders],
      ['restricted_destination', stopped.restrictions, []],
    )
    await t.app.operator.rules.enforce({ on: false, reason: 'test' })
    const free = await all(t).preflight(t.subscriber, t.body())
    assert.equal(free.refusal, null)
    assert.match(free.warnings[0]!, /stop blocks it/)
  })
})

/** A shop with one order that waits for a person. */
async function inReview(
  options: Parameters<typeof orderShop>[1] = {},
  tst = scripted({ recovery: 'one_shot', withoutFind: true }),
): Promise<{ t: OrderShop; tst: Scripted; body: Record<string, unknown> & { order_id: string } }> {
  tst.acts.push(nothing)
  const t = await orderShop([tst], options)
  const body = t.body()
  await t.place(body)
  await t.later(10 * SECOND)
  assert.deepEqual(await states(t), [['review', null]])
  return { t, tst, body }
}

describe('resolving', () => {
  test('placed: with its number, which no other order may have', async () => {
    const { t, tst, body } = await inReview()
    await using _ = t
    _.expectErrors(REVIEW)
    await t.place(t.body())
    await assert.rejects(
      all(t).resolve({ order: body.order_id, verdict: 'placed', number: ' TST-1 ' }),
      /TST-1 stands on another purchase order/,
    )
    for (const number of ['', ' ', 'x'.repeat(101), 'a\nb', 'a\u0000'])
      await assert.rejects(all(t).resolve({ order: body.order_id, verdict: 'placed', number }), {
        code: 'invalid_parameter',
      })
    const resolved = await all(t).resolve({
      order: body.order_id,
      verdict: 'placed',
      number: ' TEL-77 ',
      reason: 'by telephone',
    })
    assert.deepEqual(
      [resolved.before, resolved.after, resolved.distributor_order_id, resolved.reason],
      ['review', 'placed', 'TEL-77', 'by telephone'],
    )
    assert.deepEqual(await states(t), [
      ['placed', 'TEL-77'],
      ['placed', 'TST-1'],
    ])
    const { data } = (await t.json(`/v1/orders/${body.order_id}`)).body
    assert.deepEqual(
      [data.fulfillment_orders[0].order_status, data.fulfillment_orders[0].distributor_order_id],
      ['Submitted', 'TEL-77'],
    )
    const audit = await t.app.ctx.read
      .selectFrom('audit')
      .selectAll()
      .where('action', '=', 'orders.resolve')
      .execute()
    assert.deepEqual(
      audit.map(({ actor, detail }) => [
        actor,
        JSON.parse(detail).number,
        JSON.parse(detail).reason,
      ]),
      [['library', 'TEL-77', 'by telephone']],
    )
    await t.later(MINUTE)
    assert.equal(tst.sends.length, 2)
    assert.equal((await all(t).verifyJournal()).sound, true)
  })

  test('absent: sent again as if it had never been sent, the very same content', async () => {
    const { t, tst, body } = await inReview()
    await using _ = t
    _.expectErrors(REVIEW)
    t.clock.advance(DAY)
    await all(t).resolve({
      order: body.order_id,
      verdict: 'absent',
      next: 'resend',
      reason: 'they looked',
    })
    assert.deepEqual(await states(t), [['planned', null]])
    await t.later(0)
    assert.deepEqual(await states(t), [['placed', 'TST-1']])
    assert.deepEqual(tst.sends[1], tst.sends[0])
    const [order] = await t.purchaseOrders()
    assert.deepEqual([order!.sends, order!.ever_unknown, order!.first_sent_at], [2, 0, t.clock.ms])
  })

  test('absent and sent again: a refusal counts, and what cannot be sent expires', async () => {
    const { t, tst, body } = await inReview()
    await using _ = t
    _.expectErrors(REVIEW)
    tst.acts.push({ accept: false, answer: { outcome: 'not_sent', reason: 'refused' } })
    await all(t).resolve({
      order: body.order_id,
      verdict: 'absent',
      next: 'resend',
      reason: 'they looked',
    })
    await t.later(0)
    assert.deepEqual(await states(t), [['planned', null]])
    t.clock.advance(15 * MINUTE)
    await t.later(0)
    assert.deepEqual(await states(t), [['expired', null]])
  })

  test('absent and refused: a failure with that reason, and the order_id is free', async () => {
    const { t, tst, body } = await inReview()
    await using _ = t
    _.expectErrors(REVIEW)
    await assert.rejects(
      all(t).resolve({ order: body.order_id, verdict: 'absent', next: 'refuse', reason: '' }),
      /reason: is required/,
    )
    await all(t).resolve({
      order: body.order_id,
      verdict: 'absent',
      next: 'refuse',
      reason: 'The customer bought elsewhere',
    })
    const { data } = (await t.json('/v1/fulfillment/history')).body
    assert.deepEqual(
      [data.count, data.errors[0].failure_reason],
      [0, 'The customer bought elsewhere'],
    )
    const again = await t.place(body)
    assert.deepEqual([again.status, tst.sends[1]!.po.endsWith('-2')], [200, true])
  })

  test('names one purchase order, or says which may be meant', async () => {
    const [a, b] = [
      scripted({ distid: 'AAA', name: 'Alpha', withoutFind: true, recovery: 'one_shot' }),
      scripted({ distid: 'BBB', name: 'Beta' }),
    ]
    a.acts.push(nothing)
    b.acts.push(nothing)
    await using t = await orderShop([a, b])
    t.expectErrors(REVIEW)
    await t.place(
      t.body({
        order_id: '2',
        items: ['AAA', 'BBB'].map((distid) => ({ distid, distsku: 'A1', upc: UPC, qty: 1 })),
      }),
    )
    await t.later(10 * SECOND)
    const [first, second] = await t.purchaseOrders()
    const placed = { verdict: 'placed', number: 'N-1' } as const
    await assert.rejects(
      all(t).resolve({ order: '2', ...placed }),
      new RegExp(`may mean 1 \\(AAA, .*reference ${first!.client_ref}\\) or 2 \\(BBB`),
    )
    await assert.rejects(all(t).resolve({ order: '7', ...placed }), { code: 'not_found' })
    await all(t).resolve({ order: second!.client_ref, ...placed })
    // The order_id 2 means the other one now, and so does its own id.
    assert.equal((await all(t).resolve({ order: '2', verdict: 'placed', number: 'N-2' })).id, 1)
    await assert.rejects(
      all(t).resolve({ order: '1', verdict: 'placed', number: 'N-3' }),
      /nothing of "1" waits for a person: 1 \(AAA\) is placed/,
    )
  })

  test('a number that is the order_id of one and the id of another settles neither', async () => {
    const tst = scripted({ withoutFind: true, recovery: 'one_shot' })
    tst.acts.push(nothing)
    await using t = await orderShop([tst])
    t.expectErrors(REVIEW)
    await t.place(t.body({ order_id: 'jane' }))
    await t.place(t.body({ order_id: '1' }))
    await t.later(10 * SECOND)
    const [jane] = await t.purchaseOrders()
    assert.deepEqual([jane!.id, jane!.state], [1, 'review'])
    await assert.rejects(
      all(t).resolve({ order: '1', verdict: 'absent', next: 'resend', reason: 'not there' }),
      /may mean 1 .*order_id jane.* or 2 .*order_id 1,.*name one by its reference/,
    )
    assert.equal(
      (
        await all(t).resolve({
          order: jane!.client_ref,
          verdict: 'absent',
          next: 'refuse',
          reason: 'not there',
        })
      ).order_id,
      'jane',
    )
  })

  test('whatever the sender was finding out at that moment changes nothing any more', async () => {
    const tst = scripted({ recovery: 'lookup' })
    tst.acts.push(nothing)
    let t: OrderShop
    const step = async (name: string) => {
      if (name === 'after the search')
        await all(t).resolve({ order: '1', verdict: 'absent', next: 'refuse', reason: 'gone' })
    }
    t = await orderShop([tst], { faults: { step } })
    await using _ = t
    await t.place(t.body())
    await t.later(5 * SECOND)
    assert.deepEqual(await states(t), [['rejected', null]])
    assert.deepEqual((await all(t).verifyJournal()).faults, [])
  })
})

describe('what the operator sees', () => {
  test('lists what is open, and tells everything that happened to an order', async () => {
    const { t, body } = await inReview()
    await using _ = t
    _.expectErrors(REVIEW)
    await t.place(t.body({ order_id: 'FINE' }))
    const {
      count,
      orders: [listed],
    } = await all(t).list()
    assert.deepEqual(
      [count, listed!.order_id, listed!.state, listed!.age, listed!.subscriber],
      [1, body.order_id, 'review', 10 * SECOND, t.subscriber],
    )
    assert.match(listed!.reason!, /cannot be asked/)
    assert.deepEqual(
      (await all(t).list({ state: 'all', limit: 1 })).orders.map(({ order_id: id }) => id),
      ['FINE'],
    )
    assert.deepEqual(
      [
        (await all(t).list({ state: 'unknown' })).count,
        (await all(t).list({ state: 'review', subscriberId: 'nobody' })).count,
      ],
      [0, 0],
    )
    await all(t).resolve({
      order: body.order_id,
      verdict: 'absent',
      next: 'resend',
      reason: 'they looked',
    })
    await t.later(0)
    const [shown] = await all(t).show(body.order_id)
    const [record] = shown!.fulfillment_orders
    assert.deepEqual(
      record!.purchase_orders[0]!.lines.map(({ what }) => what),
      [
        'taken in, and being sent',
        'whether it arrived is not known: timeout',
        'left to a person: timeout, and this distributor cannot be asked',
        'decided by library: the distributor does not have it: send it again (they looked)',
        'to be sent again',
        'being sent, for the 2nd time',
        'accepted as TST-2',
      ],
    )
    assert.deepEqual(
      [record!.record.customer_name, record!.changes.map(({ field, after }) => [field, after])],
      [
        'Pat Doe',
        [
          ['order_status', 'Submitted'],
          ['distributor_order_id', 'TST-2'],
        ],
      ],
    )
    assert.equal((await all(t).show('1'))[0]!.order_id, body.order_id)
    await assert.rejects(all(t).show('nope'), { code: 'not_found' })
  })
})

describe('verifying the journal', () => {
  /** Orders in several states, all of it in the file. */
  async function shopWithJournal(): Promise<{
    t: OrderShop
    file: string
    change: (sql: string) => Promise<unknown>
  }> {
    const tst = scripted({ recovery: 'lookup' })
    const t = await orderShop([tst])
    tst.acts.push(
      'accept',
      lost,
      { accept: false, answer: { outcome: 'rejected', reason: 'no' } },
      nothing,
    )
    for (let i = 0; i < 6; i++) await t.place(t.body())
    await t.later(5 * SECOND)
    return {
      t,
      file: join(t.app.dir, 'orders.journal'),
      change: (sql) => sqlOnRecord(t.app.dir, sql),
    }
  }
  const verified = async (t: OrderShop, anchor?: { seq: number; mac: string }) => {
    const { sound, faults } = await all(t).verifyJournal({ anchor })
    assert.equal(sound, faults.length === 0)
    return faults.map(({ seq, where, fault }) => `${where} ${seq}: ${fault}`)
  }

  test('a sound one has a head, which is an anchor later', async () => {
    const { t } = await shopWithJournal()
    await using _ = t
    const before = await all(t).verifyJournal()
    assert.deepEqual(
      [before.sound, before.lines, before.file, before.purchase_orders, before.head?.seq],
      [true, before.lines, { lines: isOnPostgres ? 0 : before.lines, pending: 0 }, 6, before.lines],
    )
    assert.deepEqual(await verified(t, before.head!), [])
    assert.deepEqual(await verified(t, { seq: 3, mac: 'x'.repeat(43) }), [
      'database 3: the line is not the one of the anchor',
    ])
    await t.place(t.body())
    assert.deepEqual(await verified(t, before.head!), [])
    // Both copies cut off alike, and the mark with them: only an anchor tells.
    const { seq, mac } = (await all(t).verifyJournal()).head!
    assert.deepEqual(await verified(t, { seq: seq + 1, mac }), [
      `database ${seq + 1}: the line of the anchor is missing: the journal ends at ${seq}`,
    ])
  })

  test('an empty installation, and lines that the file has not got yet, are sound', async () => {
    await using t = await orderShop([scripted()])
    assert.deepEqual(await all(t).verifyJournal(), {
      sound: true,
      lines: 0,
      head: null,
      file: { lines: 0, pending: 0 },
      purchase_orders: 0,
      copy: null,
      faults: [],
    })
    await t.place(t.body())
    const { t: other } = await inReview()
    await using _ = other
    other.expectErrors(REVIEW)
    await all(other).resolve({ order: '1', verdict: 'placed', number: 'N-1' })
    const { sound, file, lines } = await all(other).verifyJournal()
    // Over nodes there is no file.
    assert.deepEqual(
      [sound, file],
      [true, isOnPostgres ? { lines: 0, pending: 0 } : { lines: lines - 2, pending: 2 }],
    )
  })

  test('every single edit, deletion, swap and truncation is found, with its line', async () => {
    const { t, file, change } = await shopWithJournal()
    await using _ = t
    const rows = await t.app.ctx.read
      .selectFrom('journal')
      .select(['seq', 'line'])
      .orderBy('seq')
      .execute()
    const lines = rows.map(({ line }) => line)
    const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
    const all = rows.map(({ seq, line }) => `(${seq}, ${quoted(line)})`).join()
    const restore = async () => {
      await change(`DELETE FROM journal; INSERT INTO journal VALUES ${all}`)
      if (!isOnPostgres) write(lines)
    }
    const write = (changed: string[]) =>
      writeFileSync(file, changed.map((line) => `${line}\n`).join(''))
    const flip = (line: string, at: number) =>
      `${line.slice(0, at)}${line[at] === 'x' ? 'y' : 'x'}${line.slice(at + 1)}`
    const set = (line: string, seq: number) =>
      change(`UPDATE journal SET line = ${quoted(line)} WHERE seq = ${seq}`)
    // Over nodes there is no file, and each change is a connection.
    for (let n = 0; n < (isOnPostgres ? 80 : 400); n += isOnPostgres ? 2 : 1) {
      const seq = 1 + ((n * 7) % rows.length)
      const { line } = rows[seq - 1]!
      const place = (n * 131) % line.length
      const isFile = n % 2 === 1
      const where = isFile ? 'orders.journal' : 'database'
      let expected = seq
      switch ((n % 8) >> 1) {
        case 0:
          if (isFile) write(lines.with(seq - 1, flip(line, place)))
          else await set(flip(line, place), seq)
          break
        case 1:
          if (isFile) write(lines.toSpliced(seq - 1, 1))
          else await change(`DELETE FROM journal WHERE seq = ${seq}`)
          break
        case 2: {
          const other = 1 + (seq % rows.length)
          expected = Math.min(seq, other)
          const swapped = lines.with(seq - 1, lines[other - 1]!).with(other - 1, line)
          if (isFile) write(swapped)
          else for (const one of [seq, other]) await set(swapped[one - 1]!, one)
          break
        }
        default:
          if (isFile)
            truncateSync(
              file,
              Buffer.byteLength(lines.slice(0, seq - 1).join('\n')) + (seq > 1 ? 1 : 0),
            )
          else await change(`DELETE FROM journal WHERE seq >= ${seq}`)
      }
      const [first] = await verified(t)
      assert.ok(
        first?.startsWith(`${where} ${expected}: `) ||
          (seq === rows.length && !isFile && first?.startsWith(`database ${expected}: `)) ||
          // Without a file, only the purchase orders tell of a journal that is gone as a whole.
          (isOnPostgres && seq === 1 && first?.startsWith('purchase orders null: ')),
        `${n}: ${where} ${expected}, not ${first}`,
      )
      await restore()
    }
    assert.deepEqual(await verified(t), [])
  })

  test('a row that is not what its lines say is found', async () => {
    const { t, change } = await shopWithJournal()
    await using _ = t
    const tries: [sql: string, undo: string, says: RegExp][] = [
      [
        "UPDATE purchase_order SET state = 'rejected' WHERE id = 1",
        "UPDATE purchase_order SET state = 'placed' WHERE id = 1",
        /null: purchase order 1: state is rejected, and its lines, .* is 2, say placed/,
      ],
      [
        "UPDATE purchase_order SET distributor_order_id = 'X' WHERE id = 1",
        "UPDATE purchase_order SET distributor_order_id = 'TST-1' WHERE id = 1",
        /distributor_order_id is X, .* say TST-1/,
      ],
      [
        'UPDATE purchase_order SET sends = 2 WHERE id = 4',
        'UPDATE purchase_order SET sends = 1 WHERE id = 4',
        /purchase order 4: sends is 2/,
      ],
      [
        "UPDATE purchase_order SET misses = 2 WHERE state = 'unknown'",
        "UPDATE purchase_order SET misses = 0 WHERE state = 'unknown'",
        /misses is 2/,
      ],
      [
        "UPDATE purchase_order SET payload_digest = payload_digest || 'x' WHERE id = 1",
        'UPDATE purchase_order SET payload_digest = substr(payload_digest, 1, 43) WHERE id = 1',
        /payload_digest is/,
      ],
    ]
    for (const [sql, undo, says] of tries) {
      await change(sql)
      const faults = await verified(t)
      assert.equal(faults.length, 1, faults.join('\n'))
      assert.match(faults[0]!, says)
      await change(undo)
    }
    assert.deepEqual(await verified(t), [])
    const withoutReferences = isOnPostgres
      ? 'SET session_replication_role = replica'
      : 'PRAGMA foreign_keys = OFF'
    await change(`${withoutReferences}; DELETE FROM purchase_order WHERE id = 6`)
    assert.match((await verified(t))[0]!, /purchase order 6 is missing; line \d+ tells of it/)
  })
})

describe('looking back', () => {
  const since = Date.UTC(2026, 10, 21)

  test('POs that were made here are read, and no others', () => {
    assert.deepEqual(readGeneratedPo('W-1001-AB9Z-110'), {
      orderId: 'W-1001',
      tag: 'AB9Z',
      fflRequired: true,
      shipToStore: false,
      attempt: 1,
      given: 'W-1001-AB9Z-110',
    })
    assert.deepEqual(readGeneratedPo('1-LIB0-011-12'), {
      orderId: '1',
      tag: 'LIB0',
      fflRequired: false,
      shipToStore: true,
      attempt: 12,
      given: '1-LIB0-011',
    })
    // An order_id that looks like a PO itself.
    assert.equal(readGeneratedPo('A-AB9Z-010-AB9Z-010')?.orderId, 'A-AB9Z-010')
    for (const po of [
      'W-1001',
      'W-1001-AB9Z-100',
      'W-1001-ab9z-110',
      'W 1-AB9Z-110',
      '-AB9Z-110',
      'W-1-AB9Z-110-1',
      'W-1-AB9Z-110-0',
      '12345678-ABCDEFGHIJKLM',
      '',
    ])
      assert.equal(readGeneratedPo(po), null, po)
  })

  test('reconciles all that is open, due or not', async () => {
    const tst = scripted({ recovery: 'lookup' })
    tst.acts.push(lost, nothing)
    await using t = await orderShop([tst])
    for (let i = 0; i < 3; i++) await t.place(t.body())
    const report = await all(t).lookBack()
    assert.deepEqual(
      [
        report.reconciled_by,
        report.open_before,
        report.open,
        report.review,
        report.since,
        report.adopted,
      ],
      ['this process', 2, 1, 0, null, []],
    )
    assert.deepEqual(
      (await states(t)).map(([state]) => state),
      ['placed', 'unknown', 'placed'],
    )
  })

  test('a forgotten order is taken in: a retry is a 409, nothing is bought twice', async () => {
    const tst = telling(scripted({ recovery: 'lookup' }), {
      also: [
        { number: 'T-1', po: 'their own', at: since, lines: [{ distsku: 'A1', qty: 1 }] },
        { number: 'T-2', po: 'W-9-AB9Z-110-2', at: since },
        { number: 'T-3', po: 'W-9-AB9Z-010', at: since, shipTo: { name: 'Kim Roe', zip: '85001' } },
      ],
    })
    await using t = await orderShop([tst])
    const body = t.body({ order_id: 'HERE' })
    await t.place(body)
    const report = await all(t).lookBack({ since })
    assert.deepEqual(
      report.adopted.map(({ order_id: id, distributor_order_id: number }) => [id, number]),
      [
        ['W-9', 'T-2'],
        ['W-9', 'T-3'],
      ],
    )
    assert.deepEqual(
      report.others.map(({ po_number: po, reason }) => [po, /was not made here/.test(reason)]),
      [['their own', true]],
    )
    const again = await t.place(t.body({ order_id: 'W-9' }))
    assert.equal(again.status, 409)
    assert.deepEqual(
      again.body.error.details.fulfillment_orders.map((order: Record<string, unknown>) => [
        order['distributor_order_id'],
        order['order_status'],
        order['order_source'],
        order['ffl_required'],
        order['customer_name'],
        order['po_number'],
      ]),
      [
        ['T-2', 'Submitted', 'cockpit_cart', 1, 'not known', 'W-9-AB9Z-110-2'],
        ['T-3', 'Submitted', 'cockpit_cart', 0, 'Kim Roe', 'W-9-AB9Z-010'],
      ],
    )
    assert.equal(again.body.error.details.same_request, false)
    assert.deepEqual(
      (await t.json('/v1/fulfillment/history?distributor_order_id=T-3')).body.data.count,
      1,
    )
    assert.equal((await all(t).verifyJournal()).sound, true)
    // A second look finds nothing new.
    const second = await all(t).lookBack({ since })
    assert.deepEqual([second.adopted, second.others.length], [[], 1])
    assert.equal(tst.sends.length, 1)
    assert.match(
      (await all(t).show('W-9'))[0]!.fulfillment_orders[0]!.purchase_orders[0]!.lines[0]!.what,
      /had forgotten/,
    )
  })

  test('an order under a known order_id is left to a person: it may be a second', async () => {
    const tst = telling(scripted(), { also: [{ number: 'T-1', po: 'HERE-AB9Z-010', at: since }] })
    await using t = await orderShop([tst])
    await t.place(t.body({ order_id: 'HERE' }))
    const { adopted, others } = await all(t).lookBack({ since })
    assert.deepEqual(
      [adopted, others[0]!.reason],
      [[], 'the order HERE is known without it: it may have been placed twice'],
    )
  })

  test('orders go on only once nothing is in doubt, or the operator has looked', async () => {
    let mute = true
    const tst = telling(scripted(), { mute: () => mute })
    await using t = await orderShop([tst])
    const pause = { since: 0, reason: 'a test', orders: [], lookBackTo: since }
    await t.app.ctx.db
      .insertInto('order_engine')
      .values({ name: 'paused', value: JSON.stringify(pause) })
      .execute()
    await assert.rejects(
      all(t).lookBack({ since: since + 1, resume: true }),
      /look back as far as that/,
    )
    const silent = await all(t).lookBack({ resume: true })
    assert.deepEqual(
      [
        silent.since,
        silent.resumed,
        silent.paused?.reason,
        silent.in_doubt.map(({ distid }) => distid),
      ],
      ['2026-11-21T00:00:00.000Z', false, 'a test', ['TST']],
    )
    assert.equal((await t.place(t.body())).status, 503)
    assert.equal((await all(t).lookBack({})).resumed, false)
    mute = false
    const clear = await all(t).lookBack({ resume: true })
    assert.deepEqual([clear.resumed, clear.paused, clear.in_doubt], [true, null, []])
    assert.equal((await t.place(t.body())).status, 200)
    mute = true
    await t.app.ctx.db
      .insertInto('order_engine')
      .values({ name: 'paused', value: JSON.stringify(pause) })
      .execute()
    assert.equal((await all(t).lookBack({ resume: true, acknowledged: true })).resumed, true)
  })

  test('capitals where the shop writes small letters are in doubt', async () => {
    const tst = telling(scripted(), { also: [{ number: 'T-1', po: 'WEB7-AB9Z-010', at: since }] })
    await using t = await orderShop([tst])
    assert.deepEqual((await all(t).lookBack({ since, dryRun: true })).in_doubt, [])
    await t.place(t.body({ order_id: 'web6' }))
    const { adopted, in_doubt: doubts } = await all(t).lookBack({ since })
    assert.deepEqual(
      [adopted.map(({ order_id: id }) => id), doubts.map(({ reason }) => reason)],
      [
        ['WEB7'],
        [
          'it shows WEB7-AB9Z-010 in capitals, and your order ids have small letters: look ' +
            'which order it is',
        ],
      ],
    )
  })

  test('a dry run asks and tells, and changes nothing', async () => {
    const tst = telling(scripted({ recovery: 'lookup' }), {
      also: [{ number: 'T-1', po: 'W-9-AB9Z-010', at: since }],
    })
    tst.acts.push(lost)
    await using t = await orderShop([tst])
    await t.place(t.body())
    await t.app.orders.pass()
    const before = await everything(t)
    const { adopted, open_before: open } = await all(t).lookBack({
      since,
      dryRun: true,
      resume: true,
    })
    assert.deepEqual([adopted.length, open, tst.finds], [1, 1, 0])
    assert.deepEqual(await everything(t), before)
  })

  test('distributors that do not tell of every order are named', async () => {
    const quiet = scripted({ distid: 'QUI', name: 'Quiet' })
    const late = telling(scripted({ distid: 'LAT', name: 'Late', recovery: 'one_shot' }))
    await using t = await orderShop([quiet, late])
    assert.deepEqual(
      (await all(t).lookBack({ since })).in_doubt.map(({ distid, reason }) => [
        distid,
        reason.split(':')[0],
      ]),
      [
        ['QUI', 'it has no list of orders that could be asked for'],
        ['LAT', 'it lists an order only once it is shipped'],
      ],
    )
  })
})
