/** What every connector must do, whatever protocol it speaks: one call for each connector. */
import assert from 'node:assert/strict'
import { describe, test as register } from 'node:test'
import fc from 'fast-check'
import { DAY, MINUTE } from '../../lib/core/clock.js'
import type {
  FoundOrder,
  Fulfillment,
  OpenOrder,
  OrderSession,
  OrderUpdate,
  PurchaseOrder,
  PurchaseOrderLine,
  Submission,
} from '../../lib/distributors/fulfillment.js'

/** A connector with a distributor behind it that a test can count at. */
export interface ConnectorRig {
  connector: Fulfillment
  /**
   * A session of one purchase order; it remembers the stage from one session of the order to the
   * next.
   */
  session(order: PurchaseOrder, signal?: AbortSignal): OrderSession
  /**
   * A new order of one accessory, which the distributor would accept; `scenario` has it fail as
   * `SIM-<scenario>` says.
   */
  order(more?: Partial<PurchaseOrder> & { scenario?: string }): PurchaseOrder
  /** Of the account; what a plan is made by. */
  settings: Readonly<Record<string, unknown>>
  /** Moves the clock, in milliseconds. */
  advance(ms: number): void
  /**
   * What was sent and had no answer cannot be looked up, nor gone on with: it is left to a person,
   * unless a later report tells of it.
   */
  leavesToPerson?: boolean
  /** How many orders the distributor really has of this reference. */
  count(clientRef: string): number
  close(): void
}

/** Faults after which nobody knows what became of the order. */
const UNKNOWN = [
  'TIMEOUT',
  'TIMEOUT-AFTER-ACCEPT',
  'CUT-REPLY',
  'SERVER-ERROR-BEFORE',
  'SERVER-ERROR-AFTER',
  'LATE',
  'GARBAGE',
  'HTML',
  'REDIRECT',
  'BAD-GATEWAY',
  'GATEWAY-TIMEOUT',
  'MAINTENANCE',
  'NOT-HTTP',
  'RESET-BODY',
  'EMPTY-REPLY',
  'TOO-LARGE',
  'HALF-FILE',
]
/** Faults before anything was sent. */
const NOT_SENT = [
  'UNREACHABLE',
  'RATE-LIMITED',
  'RATE-LIMITED-UNTOLD',
  'WRONG-CERTIFICATE',
  'PASSIVE-REFUSED',
]
/** Replies that are odd, and say what they should. */
const ODD = [
  'GZIP',
  'DRIP',
  'BYTE-ORDER-MARK',
  'NO-LENGTH',
  'INFORMATIONAL',
  'DUPLICATE-ACK',
  'EMPTY-ANSWER',
]

/** Which case every connector was tried in: the table of the guide. */
export const CASES = new Map<string, Map<string, 'yes' | 'n/a'>>()

/** Every kind of order, out of one of an accessory to a customer. */
const ORDERS: readonly [what: string, more: (order: PurchaseOrder) => Partial<PurchaseOrder>][] = [
  ['an accessory to a customer', () => ({})],
  [
    'a firearm to a dealer',
    ({ lines: [line] }) => ({
      lines: [{ ...line!, distsku: 'G1', fflRequired: true }],
      fflRequired: true,
      ffl: FFL,
    }),
  ],
  [
    'a firearm to the store',
    ({ lines: [line] }) => ({
      lines: [{ ...line!, distsku: 'G1', fflRequired: true }],
      fflRequired: true,
      shipToStore: true,
    }),
  ],
  [
    'two items to the store',
    ({ lines: [line] }) => ({
      lines: [line!, { ...line!, distsku: 'B2', qty: 3 }],
      shipToStore: true,
    }),
  ],
]

/** Registers the suite of one connector. */
export function connectorConformance(name: string, makeRig: () => ConnectorRig): void {
  describe(`connector ${name}`, () => {
    /** One case: `run` answers false where it does not apply. */
    const test = (what: string, run: (rig: ConnectorRig) => Promise<void | false>) =>
      register(what, async () => {
        const rig = makeRig()
        try {
          const applies = (await run(rig)) !== false
          const tried = CASES.get(what) ?? new Map<string, 'yes' | 'n/a'>()
          CASES.set(what, tried.set(name, applies ? 'yes' : 'n/a'))
        } finally {
          rig.close()
        }
      })

    for (const [what, more] of ORDERS) {
      test(`${what}: one order`, async (rig) => {
        const order = rig.order(more(rig.order()))
        assert.equal(await outcomeOf(rig, order), 'accepted')
        rig.advance(DAY)
        assert.equal(rig.count(order.clientRef), 1)
      })
    }

    for (const scenario of NOT_SENT) {
      test(`\`${scenario}\`: nothing was sent`, async (rig) => {
        const order = rig.order({ scenario })
        assert.equal(await outcomeOf(rig, order), 'not_sent')
        rig.advance(DAY)
        assert.equal(rig.count(order.clientRef), 0)
      })
    }

    for (const scenario of ODD) {
      test(`\`${scenario}\`: accepted all the same`, async (rig) => {
        const order = rig.order({ scenario })
        assert.equal(await outcomeOf(rig, order), 'accepted')
        rig.advance(DAY)
        assert.equal(rig.count(order.clientRef), 1)
      })
    }

    test('an order that it accepted is there once, and is found or confirmed', async (rig) => {
      const order = rig.order()
      const sent = await rig.connector.submit(rig.session(order), order)
      assert.equal(sent.outcome, 'accepted')
      rig.advance(DAY)
      const given = 'number' in sent ? sent.number : null
      assert.ok(
        (await sightings(rig, order, given)).some(
          ({ number, po }) =>
            number !== null &&
            po === order.po &&
            (!('number' in sent) || sent.number === null || sent.number === number),
        ),
      )
      assert.equal(rig.count(order.clientRef), 1)
    })

    test('after a reply that was cut off, its way of recovery ends with one order', async (rig) => {
      const order = rig.order({ scenario: 'CUT-REPLY' })
      assert.equal(await outcomeOf(rig, order), 'unknown')
      if (needsPerson(rig)) {
        assert.deepEqual([await sightings(rig, order), rig.count(order.clientRef)], [[], 1])
        return false
      }
      if (
        rig.connector.recovery === 'resend' ||
        rig.connector.recovery === 'staged' ||
        rig.connector.recovery === 'file'
      ) {
        const again = await outcomeOf(rig, order)
        if (rig.leavesToPerson) assert.equal(again, 'unknown')
        else assert.ok(['accepted', 'duplicate'].includes(again))
      }
      rig.advance(DAY)
      assert.ok(
        (await sightings(rig, order)).some(({ number, po }) => number !== null && po === order.po),
      )
      assert.equal(rig.count(order.clientRef), 1)
    })

    test('a send of which nothing arrived leaves nothing behind, and the next one places the order', async (rig) => {
      const order = rig.order({ scenario: 'TIMEOUT' })
      assert.equal(await outcomeOf(rig, order), 'unknown')
      assert.equal(rig.count(order.clientRef), 0)
      assert.equal(await outcomeOf(rig, order), 'accepted')
      rig.advance(DAY)
      assert.equal(rig.count(order.clientRef), 1)
    })

    for (const scenario of UNKNOWN) {
      test(`\`${scenario}\`: not known, and never taken for refused`, async (rig) => {
        assert.equal(await outcomeOf(rig, rig.order({ scenario })), 'unknown')
      })
    }

    test('it stops when it is told to, and never says then that nothing happened', async (rig) => {
      const order = rig.order({ scenario: 'HANG' })
      const ending = new AbortController()
      const sent = rig.connector.submit(rig.session(order, ending.signal), order)
      setTimeout(() => ending.abort(), 20)
      const outcome = await Promise.race([
        sent.then(
          ({ outcome: said }) => said,
          () => 'threw',
        ),
        new Promise<string>((resolve) => {
          setTimeout(resolve, 30_000, 'still waiting').unref()
        }),
      ])
      assert.ok(outcome === 'threw' || outcome === 'unknown', outcome)
      const never = rig.order()
      await assert.rejects(async () => {
        const { outcome: said } = await rig.connector.submit(
          rig.session(never, AbortSignal.abort()),
          never,
        )
        throw new Error(said)
      })
      assert.equal(rig.count(never.clientRef), 0)
    })

    test('what it shows of an order before it is sent is what it sends', async (rig) => {
      const order = rig.order()
      const shown = rig.connector.preview?.(order, rig.settings)
      if (!shown) return false
      const sent: { what: string; body: string }[] = []
      assert.equal(
        (await rig.connector.submit(recording(rig.session(order), sent), order)).outcome,
        'accepted',
      )
      assert.equal(sent.length, shown.length)
      for (const [i, { what }] of shown.entries()) {
        const [method, path] = sent[i]!.what.split(' ') as [string, string]
        assert.ok(what.startsWith(`${method} `) && endsWith(what, path), `${what}: ${path}`)
      }
      for (const [i, { body }] of shown.entries())
        assert.match(sent[i]!.body, new RegExp(`^${bodyPattern(body)}$`))
    })

    test('it takes a PO as long as it declares, and no order with a longer one', async (rig) => {
      const { max, chars = /[\x20-\x7e]/ } = rig.connector.limits.po
      const longest = rig.order({ po: 'P'.repeat(max) })
      assert.equal(await outcomeOf(rig, longest), 'accepted')
      for (const po of [
        'P'.repeat(max + 1),
        'P\u00e9',
        ...[...'\t/_#']
          .filter((char) => !new RegExp(`^(?:${chars.source})$`).test(char))
          .map((char) => `P${char}1`),
      ]) {
        const order = rig.order({ po })
        assert.equal(await outcomeOf(rig, order), 'rejected', JSON.stringify(po))
        assert.equal(rig.count(order.clientRef), 0)
      }
    })

    test('its parts hold every line once, and it takes what is in them', async (rig) => {
      const { plan = (lines) => [{ name: 'all', lines: lines.map((_line, i) => i) }] } =
        rig.connector
      fc.assert(
        fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }), (firearms) => {
          const parts = plan(
            firearms.map((fflRequired, i): PurchaseOrderLine => ({
              distsku: `S${i}`,
              upc: '1',
              name: 'x',
              qty: 1,
              unitPrice: 1,
              fflRequired,
            })),
            rig.settings,
          )
          assert.deepEqual(
            parts.flatMap(({ lines }) => lines).sort((a, b) => a - b),
            firearms.map((_, i) => i),
          )
          assert.equal(new Set(parts.map(({ name: part }) => part)).size, parts.length)
          assert.ok(parts.every(({ lines }) => lines.length > 0))
        }),
      )
      const [accessory] = rig.order().lines
      const mixed = [accessory!, { ...accessory!, fflRequired: true }]
      for (const part of plan(mixed, rig.settings)) {
        const lines = part.lines.map((place) => mixed[place]!)
        const order = rig.order({
          lane: part.name,
          lines: [lines.length === 1 ? lines[0]! : { ...lines[0]!, fflRequired: true }],
          ffl: FFL,
          fflRequired: true,
        })
        assert.equal(await outcomeOf(rig, order), 'accepted')
      }
    })
  })
}

/** Whether an address ends so; the last of it may be what was not known, in angle brackets. */
function endsWith(what: string, path: string): boolean {
  const [known, unknown] = what.split(/(?=<[^<>]+>$)/)
  return unknown === undefined
    ? what.endsWith(path)
    : known!.endsWith(path.slice(0, path.lastIndexOf('/') + 1))
}

/**
 * A body with what was not known in angle brackets, as a pattern of what was sent; in XML these are
 * escaped.
 */
const bodyPattern = (body: string) =>
  body
    .split(
      body.startsWith('<?xml') ? /&lt;[^&]*&gt;/ : /<[^<>]+>|%3C[^%]+(?:%[0-9A-F]{2}[^%]*)*%3E/,
    )
    .map((text) => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'))
    .join('.*')

/** The session, with what is sent in it noted. */
function recording(session: OrderSession, sent: { what: string; body: string }[]): OrderSession {
  return {
    ...session,
    httpAt: (...to) => {
      const call = session.httpAt(...to)
      return (one) => {
        sent.push({
          what: `${one.method} ${one.path}`,
          body: one.unrecordedQuery ?? String(one.body ?? ''),
        })
        return call(one)
      }
    },
    ftpAt: (...to) => {
      const call = session.ftpAt(...to)
      return (login, work) =>
        call(login, (files) =>
          work({
            size: (path) => files.size(path),
            modified: (path) => files.modified(path),
            read: (path, most) => files.read(path, most),
            download: (path, at, most) => files.download(path, at, most),
            names: (folder) => files.names(folder),
            entries: (folder) => files.entries(folder),
            upload: (path, bytes, options) => {
              sent.push({ what: `STOR ${path}`, body: bytes.toString('latin1') })
              return files.upload(path, bytes, options)
            },
          }),
        )
    },
  }
}

export const FFL = {
  licenseNumber: '1-57-033-01-9E-67890',
  name: 'DESERT ARMS LLC',
  expiresOn: '2029-05-01',
}

/** How a send ended; one that throws counts as unknown. */
async function outcomeOf(rig: ConnectorRig, order: PurchaseOrder): Promise<Submission['outcome']> {
  try {
    return (await rig.connector.submit(rig.session(order), order)).outcome
  } catch {
    return 'unknown'
  }
}

/** It tells of an order by its number alone: what was lost with that, a person finds out. */
const needsPerson = ({ connector: { find, asksByOrder } }: ConnectorRig): boolean =>
  find === undefined && asksByOrder === true

/** An order as whoever asks for its news names it. */
export function openOrderOf(order: PurchaseOrder, number: string | null = null): OpenOrder {
  const { po, clientRef, serial, takenAt, lane, shipToStore } = order
  return { number, po, clientRef, serial, takenAt, lane, shipToStore, placedAt: takenAt }
}

/** What a search and the news show of an order. */
export async function sightings(
  rig: ConnectorRig,
  order: PurchaseOrder,
  given: string | null = null,
): Promise<(FoundOrder | OrderUpdate)[]> {
  const search = await rig.connector.find?.(rig.session(order), order)
  const seen: (FoundOrder | OrderUpdate)[] =
    search?.outcome === 'answered' ? [...search.orders] : []
  const session = rig.session(order)
  const open = [openOrderOf(order, given)]
  for await (const update of rig.connector.updates?.(session, order.takenAt - MINUTE, open) ?? [])
    if (update.po === order.po) seen.push(update)
  return seen
}
