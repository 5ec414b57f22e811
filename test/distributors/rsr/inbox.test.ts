/**
 * RSR's connector by files: over the simulator's FTP server, with TLS and without, and against a
 * server that we did not write.
 */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { DAY, HOUR, MINUTE } from '../../../lib/core/clock.js'
import { checkLogins } from '../../../lib/distributors/builtin/rsr/check.js'
import { rsrOrders } from '../../../lib/distributors/builtin/rsr/orders.js'
import type {
  Fulfillment,
  OrderSession,
  OrderUpdate,
  PurchaseOrder,
} from '../../../lib/distributors/fulfillment.js'
import { openSession } from '../../../lib/distributors/session/open-session.js'
import { withFtp } from '../../../lib/distributors/session/ftp.js'
import { makeCertificate } from '../../../lib/simulator/wire/certificate.js'
import { demoSettings } from '../../../lib/simulator/profiles.js'
import { line, simulatorRig, START } from '../../simulator/rig.js'
import type { SimulatorRig } from '../../simulator/rig.js'
import { FFL, openOrderOf } from '../connector-conformance.js'
import { NO_VSFTPD, startVsftpd } from '../vsftpd.js'
import type { Vsftpd } from '../vsftpd.js'
import { ACCESSORY, AT, SETTINGS, withoutStages } from './orders.js'

const LANE = 'by-file-accessories'
const BY_FILES = { ...demoSettings('RSR'), orders_by: 'files' }

/** What an order hears, as its statuses and reasons. */
async function newsOf(rig: SimulatorRig, order: PurchaseOrder): Promise<OrderUpdate[]> {
  const told: OrderUpdate[] = []
  const session = rig.session('RSR', order, { settings: BY_FILES })
  const open = [openOrderOf(order)]
  for await (const update of rig.connector('RSR').updates!(session, START, open)) told.push(update)
  return told.filter(({ po }) => po === order.po)
}

const shown = (told: readonly OrderUpdate[]) =>
  told.map(({ status, reason, parcels = [] }) =>
    [status, ...(reason === undefined ? [] : [reason]), ...parcels.map((one) => one.status)].join(
      ' ',
    ),
  )

for (const [what, listen] of [
  ['without TLS', {}],
  ['over TLS', { tls: makeCertificate({ now: START }) }],
] as const)
  describe(`orders by files, ${what}`, () => {
    const withFiles =
      (work: (rig: SimulatorRig, files: Fulfillment) => Promise<void>) => async () => {
        const rig = simulatorRig({ listen })
        try {
          await work(rig, rig.connector('RSR').inLane!(LANE)!)
        } finally {
          rig.close()
        }
      }
    const sent = async (
      rig: SimulatorRig,
      files: Fulfillment,
      more: Parameters<SimulatorRig['order']>[0],
    ) => {
      const order = rig.order({ lane: LANE, ...more })
      const session = rig.session('RSR', order, { settings: BY_FILES })
      return { order, session, outcome: await files.submit(session, order) }
    }

    test(
      'an order is a file, is read, confirmed and shipped',
      withFiles(async (rig, files) => {
        const { order, session, outcome } = await sent(rig, files, { lines: [line('A1', 2)] })
        assert.deepEqual(outcome, { outcome: 'accepted', number: null })
        assert.deepEqual(await files.find!(session, order), {
          outcome: 'answered',
          orders: [{ number: null, po: order.po, clientRef: order.clientRef }],
        })
        assert.deepEqual(await newsOf(rig, order), [])
        rig.clock.ms += MINUTE
        const [confirmed] = await newsOf(rig, order)
        assert.deepEqual(
          [confirmed!.number, confirmed!.clientRef, confirmed!.status, confirmed!.lines],
          [rig.has(order)[0]!.number, order.clientRef, 'Submitted', [{ distsku: 'A1', qty: 2 }]],
        )
        rig.clock.ms += 10 * MINUTE
        assert.deepEqual(shown(await newsOf(rig, order)), ['Submitted', 'Fulfilled in_transit'])
        assert.deepEqual(await files.submit(session, order), { outcome: 'duplicate', number: null })
        assert.equal(rig.has(order).length, 1)
      }),
    )

    test(
      'what is short is told with the confirmation, and nothing more is waited for',
      withFiles(async (rig, files) => {
        const lines = [line('A1', 2), line('B2', 3)]
        const partial = await sent(rig, files, { scenario: 'PARTIAL', lines })
        const none = await sent(rig, files, { scenario: 'NONE-COMMITTED', lines })
        const cancelled = await sent(rig, files, { scenario: 'CANCEL' })
        rig.clock.ms += HOUR
        assert.deepEqual(shown(await newsOf(rig, partial.order)), [
          'Partially Fulfilled',
          'Partially Fulfilled in_transit',
        ])
        assert.deepEqual(shown(await newsOf(rig, none.order)), ['Not Fulfilled'])
        assert.deepEqual(shown(await newsOf(rig, cancelled.order)), [
          'Cancelled 10014 RSR has cancelled the order',
          'Submitted',
        ])
      }),
    )

    test(
      'an answer that lies there empty is no news, and is read once it is written',
      withFiles(async (rig, files) => {
        const { order, session } = await sent(rig, files, { scenario: 'EMPTY-ANSWER' })
        rig.clock.ms += MINUTE
        assert.deepEqual(await newsOf(rig, order), [])
        // Only its answer of no bytes shows that the file is there.
        assert.deepEqual(await files.submit(session, order), { outcome: 'duplicate', number: null })
        rig.clock.ms += 20 * MINUTE
        assert.deepEqual(shown(await newsOf(rig, order)), ['Submitted', 'Fulfilled in_transit'])
        assert.equal(rig.has(order).length, 1)
      }),
    )

    test(
      'what RSR refuses is told by its codes, with a reason',
      withFiles(async (rig, files) => {
        const { order } = await sent(rig, files, {
          lines: [line('G1', 1, true)],
          fflRequired: true,
          ffl: FFL,
          customer: { ...rig.order().customer, phone: null },
        })
        rig.clock.ms += MINUTE
        const [told] = await newsOf(rig, order)
        assert.deepEqual(
          [told!.status, told!.clientRef, told!.reason],
          ['Not Fulfilled', order.clientRef, "11011 the consumer's phone number is missing"],
        )
      }),
    )

    test(
      'a second order of one PO is refused as a repetition, which is no news of it',
      withFiles(async (rig, files) => {
        const first = await sent(rig, files, { po: 'SAME' })
        const second = await sent(rig, files, { po: 'SAME' })
        rig.clock.ms += HOUR
        const search = await files.find!(second.session, second.order)
        assert.ok(search.outcome === 'answered')
        // Nothing of what it finds bears the second one's reference.
        assert.ok(search.orders.every(({ clientRef }) => clientRef !== second.order.clientRef))
        assert.equal(rig.has(first.order).length, 1)
        assert.equal(rig.has(second.order).length, 0)
      }),
    )

    test(
      'the main account, which may list nothing, asks for the answers by their names',
      withFiles(async (rig, files) => {
        const { order, session } = await sent(rig, files, { shipToStore: true })
        rig.clock.ms += HOUR
        const search = await files.find!(session, order)
        assert.ok(search.outcome === 'answered')
        assert.ok(search.orders.some(({ number }) => number === rig.has(order)[0]!.number))
        assert.deepEqual(shown(await newsOf(rig, order)), ['Submitted', 'Fulfilled in_transit'])
      }),
    )

    test(
      'its credentials are checked by a login and the size of a file',
      withFiles(async (rig) => {
        const check = (more: object) =>
          rig.simulators.fulfillmentOf('RSR')!.check!(
            rig.session('RSR', rig.order(), { settings: { ...BY_FILES, ...more } }),
          )
        assert.equal(await check({}), 'valid')
        assert.equal(await check({ orders_by: 'api' }), 'valid')
        assert.equal(await check({ ftp_password: 'wrong' }), 'invalid')
        assert.equal(await check({ store_ftp_password: 'wrong' }), 'invalid')
        // One password for both, where there is none for files.
        assert.equal(await check({ ftp_password: undefined }), 'invalid')
      }),
    )
  })

describe("RSR's connector at Debian's vsftpd", { skip: NO_VSFTPD }, () => {
  let served: Vsftpd
  let session: OrderSession
  const root = (...path: string[]) => join(served.dir, 'root', ...path)
  const files = rsrOrders().inLane!(LANE)!
  const order = { ...ACCESSORY, lane: LANE }

  before(async () => {
    served = await startVsftpd((folder) => {
      for (const path of ['eo/incoming', 'eo/outgoing', 'ftpdownloads'])
        mkdirSync(join(folder, path), { recursive: true })
      writeFileSync(join(folder, 'ftpdownloads', 'rsrinventory-new.txt'), '')
      chmodSync(join(folder, 'eo', 'incoming'), 0o777)
    })
    const settings = { ...SETTINGS, orders_by: 'files' }
    const { signal } = new AbortController()
    const plain = openSession(
      { name: 'RSR Group' },
      { settings, signal, now: () => AT + DAY + 0.5 },
    )
    session = withoutStages({
      ...plain,
      // It knows one name.
      ftp: (_login, work) => withFtp(served.egress, served.login, signal, work),
    })
  })
  after(() => served.close())

  test('its order appears as one file of its name, byte for byte', async () => {
    assert.equal(await checkLogins(session), 'valid')
    assert.deepEqual(await files.submit(session, order), { outcome: 'accepted', number: null })
    assert.deepEqual(readdirSync(root('eo', 'incoming')), ['EORD-99901-20261122-0007.txt'])
    const written = readFileSync(root('eo', 'incoming', 'EORD-99901-20261122-0007.txt'), 'latin1')
    assert.equal(
      written,
      [
        'FILEHEADER;00;99901;20261122;0007',
        'W-1-ABCD-010;10;Pat Doe;;12 Main St;Apt 4;Phoenix;az;850011234;6025550100;N;;;',
        'W-1-ABCD-010;20;MAG571;00002;UPS;Grnd',
        'W-1-ABCD-010;20;HOL-9;00012;UPS;Grnd',
        'W-1-ABCD-010;90;0000014',
        'FILETRAILER;99;00001',
        '',
      ].join('\r\n'),
    )
    assert.deepEqual(await files.submit(session, order), { outcome: 'duplicate', number: null })
    assert.deepEqual(await files.find!(session, order), {
      outcome: 'answered',
      orders: [{ number: null, po: order.po, clientRef: order.clientRef }],
    })
  })

  test('answers are read by their list; one that is empty or half there is left for later', async () => {
    const write = (name: string, text: string) => writeFileSync(root('eo', 'outgoing', name), text)
    chmodSync(root('eo', 'outgoing'), 0o755)
    write('EERR-RSRGP-99901-20261122-0007.txt', '')
    write(
      'ECONF-RSRGP-99901-20261122-0007.txt',
      'FILEHEADER;00;99901;20261122;0007\r\nW-1-ABCD-010;30;R9\r\nW-1-ABCD-010;40;MAG571;000',
    )
    write('README.txt', 'for people')
    const told = async () => {
      const all: OrderUpdate[] = []
      for await (const one of rsrOrders().updates!(session, AT, [openOrderOf(order)])) all.push(one)
      return all
    }
    assert.deepEqual(await told(), [])
    write(
      'ECONF-RSRGP-99901-20261122-0007.txt',
      'FILEHEADER;00;99901;20261122;0007\r\nW-1-ABCD-010;30;R9\r\n' +
        'W-1-ABCD-010;40;MAG571;00002;00001\r\nW-1-ABCD-010;40;HOL-9;00012;00012\r\n' +
        'W-1-ABCD-010;50;0000014;0000013\r\nFILETRAILER;99;00001\r\n',
    )
    const [confirmed] = await told()
    assert.deepEqual(
      [confirmed!.number, confirmed!.status, confirmed!.clientRef],
      ['R9', 'Partially Fulfilled', order.clientRef],
    )
  })
})
