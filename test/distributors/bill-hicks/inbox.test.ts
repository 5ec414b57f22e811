/**
 * Bill Hicks's connector over its simulator's FTP server, without TLS as the real one and with it,
 * against a server that we did not write, and against files of the real feed.
 */
import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { DAY, HOUR, MINUTE } from '../../../lib/core/clock.js'
import { feeds } from '../../../lib/distributors/builtin/bill-hicks/account-feed.js'
import { checkLogin } from '../../../lib/distributors/builtin/bill-hicks/account.js'
import { orderFile } from '../../../lib/distributors/builtin/bill-hicks/order-file.js'
import { billHicksOrders } from '../../../lib/distributors/builtin/bill-hicks/orders.js'
import type {
  OrderSession,
  OrderUpdate,
  PurchaseOrder,
} from '../../../lib/distributors/fulfillment.js'
import { withFtp } from '../../../lib/distributors/session/ftp.js'
import { openSession } from '../../../lib/distributors/session/open-session.js'
import { parseCells } from '../../../lib/feeds/read/cells.js'
import { makeCertificate } from '../../../lib/simulator/wire/certificate.js'
import { FtpSimulator } from '../../../lib/simulator/wire/ftp-simulator.js'
import { line, simulatorRig, START } from '../../simulator/rig.js'
import type { SimulatorRig } from '../../simulator/rig.js'
import { FFL, openOrderOf } from '../connector-conformance.js'
import { withoutStages } from '../rsr/orders.js'
import { NO_VSFTPD, startVsftpd } from '../vsftpd.js'
import type { Vsftpd } from '../vsftpd.js'
import { ACCESSORY, AT, SETTINGS } from './orders.js'

const shown = (told: readonly OrderUpdate[]) =>
  told.map(({ status, parcels = [] }) => [status, ...parcels.map((one) => one.status)].join(' '))

for (const [what, listen] of [
  ['without TLS', {}],
  ['over TLS', { tls: makeCertificate({ now: START }) }],
] as const)
  describe(`Bill Hicks, ${what}`, () => {
    const withRig = (work: (rig: SimulatorRig) => Promise<void>) => async () => {
      const rig = simulatorRig({ listen })
      try {
        await work(rig)
      } finally {
        rig.close()
      }
    }
    const newsOf = async (rig: SimulatorRig, { po }: PurchaseOrder) =>
      (await rig.news('BILL')).filter((one) => one.po === po)

    test(
      'an order is a file, is read, acknowledged and shipped',
      withRig(async (rig) => {
        const order = rig.order({ lines: [line('A1', 2), line('B2', 3)] })
        assert.deepEqual(await rig.submit('BILL', order), { outcome: 'accepted', number: null })
        assert.deepEqual(await rig.find('BILL', order), {
          outcome: 'answered',
          orders: [
            {
              number: null,
              po: order.po,
              lines: [
                { distsku: 'A1', qty: 2 },
                { distsku: 'B2', qty: 3 },
              ],
              shipTo: { name: 'Pat Doe', address1: '12 Main St', zip: '85001' },
            },
          ],
        })
        assert.deepEqual(await newsOf(rig, order), [])
        rig.clock.ms += MINUTE
        const [acknowledged] = await newsOf(rig, order)
        assert.equal(acknowledged!.number, rig.has(order)[0]!.number)
        assert.deepEqual(acknowledged!.shipTo, {
          name: 'Pat Doe',
          address1: '12 Main St',
          zip: '85001',
        })
        rig.clock.ms += 10 * MINUTE
        assert.deepEqual(shown(await newsOf(rig, order)), ['Submitted', 'Fulfilled in_transit'])
      }),
    )

    test(
      'what is short, and several parcels, are told; a cancellation is not',
      withRig(async (rig) => {
        const lines = [line('A1', 2), line('B2', 3)]
        const orders = ['PARTIAL', 'NONE-COMMITTED', 'PARCELS', 'CANCEL', 'HOLD'].map((scenario) =>
          rig.order({ scenario, lines }),
        )
        for (const order of orders) await rig.submit('BILL', order)
        rig.clock.ms += HOUR
        const told = await Promise.all(orders.map((order) => newsOf(rig, order)))
        assert.deepEqual(told.map(shown), [
          ['Partially Fulfilled', 'Partially Fulfilled in_transit'],
          ['Not Fulfilled'],
          ['Submitted', 'Fulfilled in_transit in_transit in_transit'],
          ['Submitted'],
          ['Submitted', 'Fulfilled in_transit'],
        ])
      }),
    )

    test(
      'another order of the same PO is not written over, and goes out once the first is read',
      withRig(async (rig) => {
        const first = rig.order({ po: 'SAME' })
        const second = rig.order({ po: 'SAME', lines: [line('B2', 5)] })
        assert.equal(await rig.outcome('BILL', first), 'accepted')
        assert.deepEqual(await rig.submit('BILL', second), {
          outcome: 'not_sent',
          reason: 'another order waits in toBHC/SAME-order.txt',
        })
        assert.deepEqual(await rig.submit('BILL', first), { outcome: 'duplicate', number: null })
        rig.clock.ms += 5 * MINUTE
        assert.equal(await rig.outcome('BILL', second), 'accepted')
        rig.clock.ms += HOUR
        assert.deepEqual(
          [first, second].map((order) => rig.has(order).length),
          [1, 1],
        )
        // What was read and answered is not ordered again.
        for (const order of [first, second])
          assert.deepEqual(await rig.submit('BILL', order), { outcome: 'duplicate', number: null })
      }),
    )

    test(
      'a mixed order to the store, and a firearm to a dealer, are one file each',
      withRig(async (rig) => {
        const mixed = [line('A1'), line('G1', 1, true)]
        const store = rig.order({ lines: mixed, fflRequired: true, shipToStore: true })
        const dealer = rig.order({ lines: [line('G1', 1, true)], fflRequired: true, ffl: FFL })
        for (const order of [store, dealer]) {
          assert.equal(await rig.outcome('BILL', order), 'accepted')
          rig.clock.ms += MINUTE
          assert.equal(rig.has(order).length, 1)
        }
        const nobody = rig.order({ lines: [line('G1', 1, true)], fflRequired: true })
        assert.equal(await rig.outcome('BILL', nobody), 'rejected')
      }),
    )

    test(
      'its login is checked, and so are the folders',
      withRig(async (rig) => {
        const check = (more: object) => {
          const order = rig.order()
          const settings = { ...rig.session('BILL', order).settings, ...more }
          return rig.simulators.fulfillmentOf('BILL')!.check!(
            rig.session('BILL', order, { settings }),
          )
        }
        assert.equal(await check({}), 'valid')
        assert.equal(await check({ ftp_password: 'wrong' }), 'invalid')
        await assert.rejects(check({ ftp_folder: 'Elsewhere' }), /550/)
        await assert.rejects(check({ ftp_password: undefined }), /fulfillment\.ftp_password/)
      }),
    )
  })

describe("Bill Hicks's connector at Debian's vsftpd", { skip: NO_VSFTPD }, () => {
  let served: Vsftpd
  let session: OrderSession
  const root = (...path: string[]) => join(served.dir, 'root', ...path)
  const connector = billHicksOrders()
  const name = 'W-1-ABCD-010-order.txt'

  before(async () => {
    served = await startVsftpd((folder) => {
      for (const path of ['Shop/toBHC', 'Shop/fromBHC'])
        mkdirSync(join(folder, path), { recursive: true })
      chmodSync(join(folder, 'Shop', 'toBHC'), 0o777)
    })
    const { signal } = new AbortController()
    const settings = { ...SETTINGS, ftp_folder: 'Shop' }
    session = withoutStages({
      ...openSession({ name: 'Bill Hicks' }, { settings, signal, now: () => AT + DAY }),
      // It knows one name.
      ftp: (_login, work) => withFtp(served.egress, served.login, signal, work),
    })
  })
  after(() => served.close())

  test('its order appears as one file of its name, byte for byte, and once', async () => {
    assert.equal(await checkLogin(session), 'valid')
    assert.deepEqual(await connector.submit(session, ACCESSORY), {
      outcome: 'accepted',
      number: null,
    })
    assert.deepEqual(readdirSync(root('Shop', 'toBHC')), [name])
    const { text } = orderFile(ACCESSORY, SETTINGS)
    assert.equal(readFileSync(root('Shop', 'toBHC', name), 'latin1'), text)
    assert.deepEqual(await connector.submit(session, ACCESSORY), {
      outcome: 'duplicate',
      number: null,
    })
  })

  test('half of it that lies there is neither ours nor written over', async () => {
    const { text } = orderFile(ACCESSORY, SETTINGS)
    writeFileSync(root('Shop', 'toBHC', name), text.slice(0, 200))
    const sent = await connector.submit(session, ACCESSORY)
    assert.equal(sent.outcome, 'not_sent')
    assert.deepEqual(await connector.find!(session, ACCESSORY), { outcome: 'answered', orders: [] })
    assert.equal(readFileSync(root('Shop', 'toBHC', name)).length, 200)
    rmSync(root('Shop', 'toBHC', name))
  })

  test('answers are told by when they were changed; what was ordered is looked up further back', async () => {
    const header = (kind: string, day: string, units: string, more = '') =>
      `${kind}|PO Date|${day}|PO Number|Quantity Ordered|${units}|Product ID|Shipto Name|` +
      `Shipto Address1|Shipto Zip Code|${more}BHC Order Number\r\n`
    const place = 'Jose Nunez|12 Main St|85001'
    const write = (file: string, text: string, at: number) => {
      writeFileSync(root('Shop', 'fromBHC', file), text)
      utimesSync(root('Shop', 'fromBHC', file), at / 1_000, at / 1_000)
    }
    chmodSync(root('Shop', 'fromBHC'), 0o755)
    const rows = [
      `AckData||11/23/2026|W-1-ABCD-010|2|2|BBB 100100|${place}|77\r\n`,
      `AckData||11/23/2026|W-1-ABCD-010|12|12|CCC 200200|${place}|77\r\n`,
    ]
    write('ack1.txt', header('ACK', 'PO Ack Date', 'Quantity Committed') + rows.join(''), AT)
    write(
      'asn1.txt',
      header('ASN', 'Ship Date', 'Quantity Shipped', 'Tracking Number|Carrier|') +
        `ASNData||11/23/2026|W-1-ABCD-010|2|2|BBB 100100|${place}|1Z1|UPS|77\r\n`,
      AT + 20 * HOUR,
    )
    write('README.md', 'for people', AT)
    const order = { ...openOrderOf(ACCESSORY), placedAt: AT - HOUR }
    const since = async (from: number) => {
      const told: OrderUpdate[] = []
      for await (const one of connector.updates!(session, from, [order])) told.push(one)
      return shown(told)
    }
    assert.deepEqual(await since(AT - DAY), ['Submitted', 'Partially Fulfilled in_transit'])
    // The notice alone would make a whole of what is a part.
    assert.deepEqual(await since(AT + 19 * HOUR), ['Submitted', 'Partially Fulfilled in_transit'])
    assert.deepEqual(await since(AT + 21 * HOUR), [])
    const found = await connector.find!(session, ACCESSORY)
    assert.ok(found.outcome === 'answered')
    assert.deepEqual(
      found.orders.map(({ number }) => number),
      ['77'],
    )
    // Read and answered: another file would be another order.
    assert.deepEqual(await connector.submit(session, ACCESSORY), {
      outcome: 'duplicate',
      number: null,
    })
  })
})

const FIXTURES = resolve('..', 'shared', 'data', 'fixtures')
const fixture = (name: string) => join(FIXTURES, `bill_hicks__${name}`)
const ABSENT = existsSync(fixture('billhickscatalog.csv'))
  ? false
  : `the real feed is not here: ${FIXTURES}`

test(
  'the feed of the real one: every item of the catalog, with its quantity',
  { skip: ABSENT },
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'qm-bill-'))
    const server = new FtpSimulator(
      {
        logIn: () => true,
        handle: ({ act: { path } }) =>
          existsSync(fixture(path.slice(1)))
            ? { answer: { file: readFileSync(fixture(path.slice(1))) } }
            : { answer: { refused: 550, text: 'None' } },
      },
      { log: { debug() {}, info() {}, warn() {}, error() {} } },
    )
    try {
      const { signal } = new AbortController()
      const plain = openSession({ name: 'BILL' }, { settings: SETTINGS, signal, now: () => AT })
      const at = { host: 'localhost', port: await server.port(), isSecure: false }
      const session = { ...plain, ftp: plain.ftpAt(at, { hosts: [], simulator: {} }) }
      const file = join(dir, 'feed.csv')
      const wanted = { file, mark: null, holdUntil: () => Promise.resolve() }
      assert.deepEqual(await feeds['bill-hicks']!.bring(session, wanted), { outcome: 'written' })
      const records = readFileSync(file, 'utf8').trim().split('\r\n')
      const [header, ...rows] = parseCells(records, { delimiter: ',', quote: '"' }) as string[][]
      const cell = (row: string[], name: string) => row[header!.indexOf(name)]
      // 67 items, of which 60 stand in the inventory.
      assert.equal(rows.length, 67)
      assert.deepEqual(
        rows
          .slice(0, 2)
          .map((row) => [
            cell(row, 'product_name'),
            cell(row, 'product_price'),
            cell(row, 'category_code'),
            cell(row, 'Qty Avail'),
          ]),
        [
          ['BBB 100100', '6.94', 'G300', '12'],
          ['BBB 100101', '3.64', 'G300', '29'],
        ],
      )
      assert.ok(rows.every((row) => row.length === header!.length))
      await feeds['bill-hicks-quantity']!.bring(session, wanted)
      assert.deepEqual(readFileSync(file), readFileSync(fixture('billhicksinventory.csv')))
      assert.deepEqual(readdirSync(dir), ['feed.csv'])
    } finally {
      server.close()
      rmSync(dir, { recursive: true, force: true })
    }
  },
)
