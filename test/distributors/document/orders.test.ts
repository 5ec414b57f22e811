/** Orders by documents: what is written for each kind, what is sent once, and what is heard. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { SMTPServer } from 'smtp-server'
import type { SMTPServerOptions } from 'smtp-server'
import { HOUR, MINUTE } from '../../../lib/core/clock.js'
import { builtin, presets } from '../../../lib/distributors/builtin/index.js'
import { readDocument } from '../../../lib/distributors/document/read.js'
import { TEMPLATES } from '../../../lib/distributors/document/templates.js'
import type {
  OpenOrder,
  OrderUpdate,
  PurchaseOrder,
} from '../../../lib/distributors/fulfillment.js'
import { makeCertificate } from '../../../lib/simulator/wire/certificate.js'
import { connectorOf, CSV, documentOf, feedOf, NOW, orderOf, sessionOf } from './rig.js'

const FFL = {
  licenseNumber: '1-57-033-01-9E-67890',
  name: 'DESERT ARMS LLC',
  expiresOn: '2029-05-01',
}
let dir: string
before(() => {
  dir = mkdtempSync(join(tmpdir(), 'qm-document-orders-'))
})
after(() => rmSync(dir, { recursive: true, force: true }))

const template = (name: string) =>
  readDocument(JSON.stringify(TEMPLATES[name]), new Set(Object.keys(presets))).document!

describe('what is written', () => {
  const shown = (name: string, settings: Record<string, string>, order = orderOf()) =>
    connectorOf(template(name)).connector.preview!(order, settings)[0]!

  test("Sportsman's Supply: CSV of 16 columns", () => {
    const { what, body } = shown('sportsmans-supply', { customer_number: '774' })
    assert.equal(what, 'STOR orders/774_W-1-ABCD-010.csv')
    const [header, first, second, end] = body.split('\r\n')
    assert.equal(header!.split(',').length, 16)
    assert.equal(
      first,
      '774,W-1-ABCD-010,NEW,2026-11-21,Best Way,"Pat ""Doc"" Doe, Jr.",12 Main St | rear,,' +
        'Phoenix,AZ,85001-1234,USA,6025550100,,A-1,2',
    )
    assert.match(second!, /,B-2,1$/)
    assert.equal(end, '')
  })

  test('Gun Accessory Supply: cXML, in which no value ends its element', () => {
    const { what, body } = shown('gun-accessory-supply', {
      ship_to_id: '9',
      xml_domain: 'D&G',
      xml_secret: 's',
    })
    assert.equal(what, 'STOR in/GUN-ACCESSORY-SUPPLY-W-1-ABCD-010.xml')
    assert.match(
      body,
      /<OrderRequestHeader orderDate="2026-11-21T20:00:00Z" type="new" orderID="W-1-ABCD-010">/,
    )
    assert.match(body, /<Identity>D&#38;G<\/Identity>/)
    assert.match(body, /<Name>Pat &#34;Doc&#34; Doe, Jr\.<\/Name>/)
    assert.equal(body.match(/<ItemOut quantity="\d">/g)!.length, 2)
  })

  test('MGE: a message with a file of 16 columns, the license in its own', () => {
    const settings = {
      order_address: 'orders@mge.example',
      dealer_number: '12',
      dealer_name: 'Shop',
    }
    const { what, headers, body } = shown('mge', settings, orderOf({ ffl: FFL }))
    assert.deepEqual(
      [what, headers],
      [
        'MAIL orders@mge.example',
        { subject: 'Order W-1-ABCD-010', attachment: 'MGE-W-1-ABCD-010.csv' },
      ],
    )
    assert.match(
      body.split('\r\n')[2]!,
      /,1-57-033-01-9E-67890,B-2,Cafe & Co,012345678912,1,5\.00,"PO W-1-ABCD-010 for Pat ""Doc"" Doe, Jr\."$/,
    )
  })

  test('tabs and bars within a value become blanks', () => {
    const order = orderOf({ shipTo: { ...orderOf().shipTo, name: 'Tab\there', address1: 'a|b' } })
    for (const [escape, expected] of [
      ['tab', 'Tab here\ta|b'],
      ['pipe', 'Tab here\ta b'],
    ] as const) {
      const { connector } = connectorOf(
        documentOf(
          { kind: 'folder', path: dir },
          {
            orders: {
              by: 'file',
              connection: 'main',
              path: '{po}.txt',
              po: { max: 20 },
              templates: {
                customer: {
                  escape,
                  line: '{shipTo.name}\t{shipTo.address1}\t{line.sku} {line.qty}\n',
                },
              },
            },
          },
        ),
      )
      assert.ok(connector.preview!(order, {})[0]!.body.startsWith(`${expected}\tA-1 2\n`))
    }
  })
})

describe('a file that is dropped', () => {
  const orders = (more = {}) => ({
    by: 'file',
    connection: 'main',
    path: 'in/{po}.txt',
    po: { max: 20, chars: 'A-Z0-9-' },
    templates: {
      customer: { escape: 'tab', line: '{po}\t{line.sku}\t{line.qty}\r\n' },
      dealer: { escape: 'tab', line: '{po}\t{line.sku}\t{line.qty}\t{ffl.license}\r\n' },
    },
    answers: [
      {
        source: { connection: 'main', path: 'out/ack*.csv', read: CSV },
        tells: 'acknowledgement',
        columns: {
          po: 'po',
          number: 'no',
          item: 'sku',
          ordered: 'ordered',
          units: 'units',
          zip: 'zip',
        },
      },
      {
        source: { connection: 'main', path: 'out/ship*.csv', read: CSV },
        tells: 'shipment',
        columns: { po: 'po', tracking: ['t1', 't2'], carrier: 'by', day: 'day' },
      },
    ],
    ...more,
  })
  const rig = (name: string, more = {}) => {
    const path = join(dir, name)
    for (const folder of ['in', 'out']) mkdirSync(join(path, folder), { recursive: true })
    const { distributor, connector } = connectorOf(
      documentOf({ kind: 'folder', path }, { orders: orders(more) }),
    )
    return {
      path,
      connector,
      session: (now = NOW) => sessionOf(distributor, { now: () => now }),
      answer(file: string, text: string, at = NOW + MINUTE) {
        writeFileSync(join(path, 'out', file), text)
        utimesSync(join(path, 'out', file), at / 1_000, at / 1_000)
      },
      async news(open: OpenOrder[] = [], now = NOW + HOUR) {
        const told: OrderUpdate[] = []
        for await (const update of connector.updates!(this.session(now), NOW, open))
          told.push(update)
        return told
      },
    }
  }
  const ACK = 'po,no,sku,ordered,units,zip\r\n'
  const ours = (po: string, a = 2, b = 1) =>
    `${po},77,A-1,2,${a},85001\r\n${po},77,B-2,1,${b},85001\r\n`

  test('is written once; the same order is a duplicate, another of its PO stays away', async () => {
    const { connector, session, path } = rig('once')
    const order = orderOf()
    assert.deepEqual(await connector.submit(session(), order), {
      outcome: 'accepted',
      number: null,
    })
    assert.equal(
      readFileSync(join(path, 'in/W-1-ABCD-010.txt'), 'utf8'),
      'W-1-ABCD-010\tA-1\t2\r\nW-1-ABCD-010\tB-2\t1\r\n',
    )
    assert.deepEqual(await connector.submit(session(), order), {
      outcome: 'duplicate',
      number: null,
    })
    const other = await connector.submit(session(), orderOf({ lines: [order.lines[0]!] }))
    assert.equal(other.outcome, 'not_sent')
    // It is found while it waits, by what it says.
    const found = await connector.find!(session(), order)
    assert.deepEqual(
      found.outcome === 'answered' && found.orders.map(({ po, number }) => [po, number]),
      [['W-1-ABCD-010', null]],
    )
  })

  test('that was taken and acknowledged is not written again', async () => {
    const { connector, session, answer } = rig('acknowledged')
    const order = orderOf()
    answer('ack1.csv', ACK + ours(order.po))
    assert.deepEqual(await connector.submit(session(NOW + HOUR), order), {
      outcome: 'duplicate',
      number: null,
    })
    const found = await connector.find!(session(NOW + HOUR), order)
    assert.deepEqual(
      found.outcome === 'answered' &&
        found.orders.map((one) => [one.number, one.shipTo?.zip, one.lines]),
      [
        [
          '77',
          '85001',
          [
            { distsku: 'A-1', qty: 2 },
            { distsku: 'B-2', qty: 1 },
          ],
        ],
      ],
    )
    // Another order of the same PO is none of ours.
    const { connector: fresh, session: at, answer: tell } = rig('anothers')
    tell('ack1.csv', `${ACK}${order.po},78,A-1,5,5,90210\r\n`)
    assert.equal((await fresh.submit(at(NOW + HOUR), order)).outcome, 'accepted')
  })

  test('tells what is committed, and whose a parcel is', async () => {
    const t = rig('news')
    t.answer('ack1.csv', ACK + ours('PO-1', 2, 0) + ours('PO-2', 0, 0) + ours('PO-3'))
    t.answer('ack2.csv', `${ACK}PO-3,79,A-1,9,9,10001\r\n`)
    t.answer(
      'ship1.csv',
      'po,t1,t2,by,day\r\nPO-1,1Z999AA10123456784,9400100000000000000000,UPS,' +
        '11/22/2026\r\nPO-3,1Z999AA10123456785,,UPS,\r\n',
      NOW + 2 * MINUTE,
    )
    const told = await t.news()
    const of = (po: string) => told.filter((one) => one.po === po)
    assert.deepEqual(
      of('PO-1').map(({ status, number }) => [status, number]),
      [
        ['Partially Fulfilled', '77'],
        ['Partially Fulfilled', null],
      ],
    )
    const [, shipped] = of('PO-1')
    assert.deepEqual(
      shipped!.parcels!.map((one) => [one.trackingNumber, one.company, one.shippedOn]),
      [
        ['1Z999AA10123456784', 'UPS', '2026-11-22'],
        ['9400100000000000000000', 'UPS', '2026-11-22'],
      ],
    )
    assert.equal(shipped!.shipTo!.zip, '85001')
    assert.deepEqual(
      of('PO-2').map(({ status }) => status),
      ['Not Fulfilled'],
    )
    // Two orders have this PO: nobody knows whose the parcel is.
    assert.deepEqual(
      of('PO-3').map(({ status, parcels }) => [status, parcels?.length]),
      [
        ['Submitted', undefined],
        ['Submitted', undefined],
      ],
    )
  })

  test('without a full acknowledgement nothing can be found: a lost order is left to a person', () => {
    const plain = rig('plain', { answers: [] }).connector
    assert.deepEqual([plain.recovery, plain.find], ['one_shot', undefined])
    assert.equal(rig('full').connector.recovery, 'file')
  })

  test('that lacks a column is said to, and the others are read', async () => {
    const t = rig('columns')
    t.answer('ack1.csv', 'po,no,sku,ordered,zip\r\nPO-1,77,A-1,2,85001\r\n')
    t.answer('ack2.csv', ACK + ours('PO-2'))
    const told: string[] = []
    await assert.rejects(async () => {
      for await (const { po } of t.connector.updates!(t.session(NOW + HOUR), NOW, [])) told.push(po)
    }, /ack1\.csv: the file has no column units/)
    assert.deepEqual(told, ['PO-2'])
    // It may be the one that tells of the order: nothing proves its absence.
    assert.equal((await t.connector.find!(t.session(), orderOf())).outcome, 'unreachable')
  })

  test('that is still being written tells no news, and proves an order all the same', async () => {
    const t = rig('half')
    const order = orderOf()
    t.answer('ack1.csv', ACK + ours(order.po, 0, 0), NOW + HOUR)
    assert.deepEqual(await t.news(), [])
    const found = await t.connector.find!(t.session(NOW + HOUR), order)
    assert.equal(found.outcome === 'answered' && found.orders.length, 1)
    assert.equal((await t.news([], NOW + HOUR + 2 * MINUTE)).length, 1)
  })

  test('nothing is written where there is no folder, or where a setting would lead elsewhere', async () => {
    const { connector, session, path } = rig('places', { path: 'in/{user}-{po}.txt' })
    const at = (user: string) => ({ ...session(), settings: { user } })
    assert.equal((await connector.submit(at('../out'), orderOf())).outcome, 'rejected')
    assert.equal((await connector.submit(at('4711'), orderOf())).outcome, 'accepted')
    rmSync(join(path, 'in'), { recursive: true })
    const lost = await connector.submit(at('4711'), orderOf())
    assert.match(lost.outcome === 'not_sent' ? lost.reason : lost.outcome, /ENOENT/)
    assert.throws(() => readFileSync(join(path, 'in')), { code: 'ENOENT' })
  })

  test('names who wants the copy of a license, and by when', () => {
    const { paperwork } = rig('papers', {
      licenseCopies: { to: '{ffl_address}', businessDays: 3 },
    }).connector
    assert.deepEqual(paperwork!(orderOf({ ffl: FFL }), { ffl_address: 'ffl@acme.example' }), {
      what: 'a copy of the license 1-57-033-01-9E-67890 of DESERT ARMS LLC, if they have none',
      recipients: ['ffl@acme.example'],
      subject: 'License for PO W-1-ABCD-010',
      businessDays: 3,
    })
    assert.equal(paperwork!(orderOf(), {}), null)
    assert.equal(rig('no-papers').connector.paperwork, undefined)
  })

  test('a kind that is not described, and what cannot be written, never leave', async () => {
    const { connector, session, path } = rig('kinds')
    assert.equal(
      (await connector.submit(session(), orderOf({ shipToStore: true }))).outcome,
      'review',
    )
    const gun = orderOf({ lines: [{ ...orderOf().lines[0]!, fflRequired: true }] })
    assert.equal((await connector.submit(session(), gun)).outcome, 'rejected')
    const odd = orderOf({ lines: [{ ...orderOf().lines[0]!, distsku: 'A\t1' }] })
    assert.equal((await connector.submit(session(), odd)).outcome, 'rejected')
    assert.throws(() => readFileSync(join(path, 'in/W-1-ABCD-010.txt')), { code: 'ENOENT' })
  })
})

describe('an order by mail', () => {
  const made = makeCertificate({ now: Date.now() })
  /** A real mail server, and what it was given. */
  async function withMail<R>(
    options: SMTPServerOptions,
    work: (url: string, got: string[]) => Promise<R>,
  ): Promise<R> {
    const got: string[] = []
    const server = new SMTPServer({
      key: made.key,
      cert: made.certificate,
      authOptional: true,
      closeTimeout: 50,
      onData(stream, _session, done) {
        let text = ''
        stream
          .on('data', (piece: Buffer) => (text += piece.toString()))
          .on('end', () => {
            got.push(text)
            done()
          })
      },
      ...options,
    })
    // What a client breaks off is its own business.
    server.on('error', () => {})
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.server.address() as AddressInfo
    try {
      return await work(`localhost:${port}`, got)
    } finally {
      await new Promise<void>((done) => server.close(done))
    }
  }
  const submit = (
    server: string,
    {
      ca = made.certificate,
      refusal = () => null,
      ...more
    }: { ca?: string; refusal?: () => string | null } & Partial<PurchaseOrder> = {},
  ) => {
    const { distributor, connector } = connectorOf(template('mge'))
    const settings = {
      order_address: 'orders@mge.example',
      dealer_number: '12',
      dealer_name: 'Shop',
    }
    const egress = { mail: { server, from: 'orders@shop.example', ca } }
    return connector.submit(sessionOf(distributor, { settings, egress, refusal }), orderOf(more))
  }

  test('goes out over TLS, with its file', async () => {
    await withMail({ secure: true }, async (host, got) => {
      assert.deepEqual(await submit(`smtps://${host}`), { outcome: 'accepted', number: null })
      assert.equal(got.length, 1)
      assert.match(got[0]!, /^To: orders@mge\.example\r?$/m)
      assert.match(got[0]!, /Subject: Order W-1-ABCD-010/)
      assert.match(got[0]!, /filename=MGE-W-1-ABCD-010\.csv/)
    })
    await withMail({}, async (host, got) => {
      assert.equal((await submit(`smtp://${host}`)).outcome, 'accepted')
      assert.equal(got.length, 1)
    })
  })

  test('never without TLS, to a server with another certificate, or without a server', async () => {
    await withMail({ hideSTARTTLS: true, disabledCommands: ['STARTTLS'] }, async (host, got) => {
      assert.equal((await submit(`smtp://${host}`)).outcome, 'not_sent')
      assert.deepEqual(got, [])
    })
    await withMail({ secure: true }, async (host, got) => {
      const other = makeCertificate({ now: Date.now() }).certificate
      assert.equal((await submit(`smtps://${host}`, { ca: other })).outcome, 'not_sent')
      assert.deepEqual(got, [])
    })
    assert.equal((await submit('smtps://localhost:1')).outcome, 'not_sent')
    const { distributor, connector } = connectorOf(template('mge'))
    const settings = { order_address: 'a@b.example' }
    assert.equal(
      (await connector.submit(sessionOf(distributor, { settings }), orderOf())).outcome,
      'not_sent',
    )
  })

  test('a wrong login or a server that is busy took nothing; a refused address is a refusal', async () => {
    const withAuth: SMTPServerOptions = {
      secure: true,
      authOptional: false,
      onAuth: (_auth, _session, done) => done(new Error('no')),
    }
    await withMail(withAuth, async (host) =>
      assert.equal((await submit(`smtps://u:p@${host}`)).outcome, 'not_sent'),
    )
    const refusing = (code: number): SMTPServerOptions => ({
      secure: true,
      onRcptTo: (_to, _session, done) =>
        done(Object.assign(new Error('no such user'), { responseCode: code })),
    })
    await withMail(refusing(550), async (host) =>
      assert.equal((await submit(`smtps://${host}`)).outcome, 'rejected'),
    )
    await withMail(refusing(450), async (host) =>
      assert.equal((await submit(`smtps://${host}`)).outcome, 'not_sent'),
    )
  })

  test('a message that must not leave any more once the server waits for it does not', async () => {
    let why: string | null = null
    const slow: SMTPServerOptions = {
      secure: true,
      onRcptTo: (_to, _session, done) => {
        why = 'another node may be about to send'
        done()
      },
    }
    await withMail(slow, async (host, got) => {
      const { outcome } = await submit(`smtps://${host}`, { refusal: () => why })
      assert.equal(outcome, 'not_sent')
      // What is broken off is no message.
      assert.ok(got.every((text) => !text.includes('Subject')))
    })
  })

  test('a message that was begun and not answered is not known, and never taken for refused', async () => {
    const { createServer } = await import('node:tls')
    // A server that takes the message, and goes away before it says so.
    const server = createServer({ key: made.key, cert: made.certificate }, (socket) => {
      let isMessage = false
      let text = ''
      socket.on('error', () => {}).write('220 mail\r\n')
      socket.on('data', (bytes) => {
        text = isMessage ? text + bytes.toString() : bytes.toString()
        if (isMessage) return void (text.endsWith('\r\n.\r\n') && socket.destroy())
        isMessage = text.startsWith('DATA')
        const isGreeting = text.startsWith('EHLO')
        socket.write(isMessage ? '354 go on\r\n' : isGreeting ? '250 mail\r\n' : '250 ok\r\n')
      })
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    try {
      assert.equal((await submit(`smtps://localhost:${port}`)).outcome, 'unknown')
    } finally {
      server.close()
    }
  })
})

describe('a document with faults', () => {
  const faults = (value: object) =>
    readDocument(JSON.stringify(value), new Set(Object.keys(presets))).faults.map(
      ({ at, message }) => `${at}: ${message}`,
    )

  test('is told all of them at once, each with its place', () => {
    const told = faults({
      distid: 'A',
      name: 'Acme',
      extra: 1,
      connections: { main: { kind: 'ftp', host: 'x', user: '{u}' } },
      feeds: [
        {
          kind: 'catalog',
          id: 'Bad Id',
          source: { connection: 'main', path: 'x', read: { as: 'delimitd' } },
          required: [],
          key: ['a'],
          map: {},
          classify: [{ when: [{ column: 'c', is: ['x'] }], set: { productClass: 'XX' } }],
        },
      ],
    })
    for (const part of [
      /^distid: /,
      /^writtenFrom: is required$/,
      /^extra: is not known here$/,
      /^connections\.main\.password: is required$/,
      /^feeds\.0\.id: /,
      /^feeds\.0\.source\.read/,
      /^feeds\.0\.required: /,
      /^feeds\.0\.map\.price: is required$/,
      /^feeds\.0\.classify\.0/,
    ])
      assert.ok(
        told.some((one) => part.test(one)),
        `${part}: ${told.join(' | ')}`,
      )
  })

  test('names what does not exist: a connection, a setting, a place in a template', () => {
    const base = {
      distid: 'ACME',
      name: 'Acme',
      writtenFrom: 'x',
      connections: {
        main: { kind: 'ftp', host: 'ftp.acme.example', user: '{nobody}', password: 'x' },
      },
    }
    const told = faults({
      ...base,
      feeds: [{ kind: 'preset', id: 'nothing', source: { connection: 'other', path: 'x' } }],
      orders: {
        by: 'file',
        connection: 'main',
        path: 'in/order.txt',
        po: { max: 20 },
        templates: { customer: { escape: 'csv', head: '{shipTo.planet}', line: '{line.sku}' } },
      },
    })
    assert.deepEqual(told, [
      'connections.main.user: there is no setting "nobody"',
      'connections.main.password: must be a setting in braces, such as {password}: a document is no place for it',
      'feeds.0.id: no preset "nothing" comes with the program',
      'feeds.0.source.connection: there is no connection "other"; known are main',
      'orders.templates.customer.head: {shipTo.planet} is not known here',
      'orders.templates.customer.line: has no {line.sku} or no {line.qty}: nobody would know what is ordered',
      'orders.templates.customer.line: must end its row: put \\r\\n or \\n behind it',
      'orders.path: has no {po}: every order needs a name of its own',
    ])
  })

  test('no JSON is one fault', () =>
    assert.match(readDocument('{', new Set()).faults[0]!.message, /this is not JSON/))

  test('says of each mistake what is meant', () => {
    const whole = {
      distid: 'ACME',
      name: 'Acme',
      writtenFrom: 'x',
      settings: { user: { label: 'User' }, password: { label: 'Password', secret: true } },
      connections: {
        main: { kind: 'ftp', host: 'ftp.acme.example', user: '{user}', password: '{password}' },
        web: { kind: 'http', url: 'https://acme.example/a', headers: { key: '{password}' } },
      },
      feeds: [feedOf({ path: 'out/{user}_items*.csv' })],
      orders: {
        by: 'file',
        connection: 'main',
        path: 'in/{user}-{po}.csv',
        po: { max: 20, chars: 'A-Z0-9-' },
        templates: { customer: { escape: 'csv', line: '{line.sku},{line.qty}\r\n' } },
        answers: [
          {
            source: { connection: 'main', path: 'out/ship*.csv', read: CSV },
            tells: 'shipment',
            columns: { po: 'po', tracking: 'no' },
          },
        ],
      },
    }
    assert.deepEqual(faults(whole), [])
    const mail = { ...whole.orders, by: 'mail', to: '{user}', subject: '{po}' }
    const { connection: _c, path: _p, ...byMail } = mail
    assert.deepEqual(faults({ ...whole, orders: byMail }), [])
    for (const [place, value, told] of [
      ['connections/main/port', '21', 'must be a number, without quotation marks'],
      ['connections/main/host', 'ftp://acme.example', /name of a server alone/],
      ['connections/main/kind', 'ftpes', 'must be one of folder, http, ftp, ftps, sftp'],
      ['connections/main', { kind: 'folder', path: 'feeds' }, /whole path of a folder/],
      ['connections/web/url', 'https://acme.example/a?key=1', /a query stands in the path/],
      ['connections/web/headers', { key: '{nobody}' }, 'there is no setting "nobody"'],
      ['settings/password', { label: 'Password' }, 'must be true: it is used as a password'],
      ['settings/Account', { label: 'A' }, 'must be small letters, digits and _'],
      ['feeds/0/source/read', { as: 'csv' }, 'must be one of delimited, fixed, json, xml'],
      ['feeds/0/source/path', 'out/*_*.csv', 'has more than one *'],
      ['feeds/0/source/path', '*/items.csv', 'a * stands in the last part of it alone'],
      ['feeds/0/everyMinutes', 0, 'must be 1 or more'],
      ['orders/path', 'in/{acount}-{po}.csv', /^{acount} is not known here/],
      ['orders/path', 'in/{customer.name}-{po}.csv', /^{customer.name} is not known here/],
      ['orders/path', '../{po}.csv', 'leads out of the folder'],
      ['orders/path', 'in/*{po}.csv', /has a \*/],
      ['orders/po/chars', 'A-F0-9', /write others out/],
      ['orders/templates/customer/head', '{ship to}', '{ship to} would be written as it stands'],
      ['orders/answers/0/columns', { po: 'po' }, 'is required: a shipment tells a number'],
    ] as const) {
      const changed = structuredClone(whole) as unknown as Record<string, unknown>
      const steps = place.split('/')
      const last = steps.pop()!
      const at = steps.reduce((one, step) => one[step] as Record<string, unknown>, changed)
      at[last] = value
      const [first] = readDocument(JSON.stringify(changed), new Set()).faults
      assert.ok(first, place)
      if (typeof told === 'string') assert.equal(first.message, told, place)
      else assert.match(first.message, told, place)
    }
    for (const [member, value, told] of [
      ['to', 'orders', 'must be one address, or one setting in braces'],
      ['to', 'a@acme.example, b@acme.example', 'must be one address, or one setting in braces'],
      ['attachment', 'order.csv', 'has no {po}: every order needs a name of its own'],
    ] as const)
      assert.deepEqual(faults({ ...whole, orders: { ...byMail, [member]: value } }), [
        `orders.${member}: ${told}`,
      ])
    assert.match(faults([])[0]!, /must be an object in { }/)
    // What an editor puts in front of a file is no fault.
    assert.deepEqual(readDocument(`\uFEFF${JSON.stringify(whole)}`, new Set()).faults, [])
  })

  test('may use the settings of the distributor that it adds to', () => {
    const text = JSON.stringify({
      distid: 'AMC',
      name: 'AmChar',
      writtenFrom: 'x',
      connections: {
        web: { kind: 'http', url: 'https://amchar.example', headers: { key: '{api_key}' } },
      },
      feeds: [feedOf({ connection: 'web' })],
    })
    assert.deepEqual(readDocument(text, new Set(), builtin).faults, [])
    assert.equal(readDocument(text, new Set()).faults.length, 1)
    const again = { ...JSON.parse(text), settings: { api_key: { label: 'Key' } } } as object
    assert.match(
      readDocument(JSON.stringify(again), new Set(), builtin).faults[0]!.message,
      /is a setting of the entry already/,
    )
  })

  test('the templates have none', () => {
    for (const [name, document] of Object.entries(TEMPLATES))
      assert.deepEqual(faults(document), [], name)
  })
})
