/** Zanders' files: read piece by piece, in an old encoding, with sales, breaks and restrictions. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { silentLog } from '../../../lib/core/log.js'
import { feeds } from '../../../lib/distributors/builtin/zanders/account-feed.js'
import { catalog, COLUMNS, quantity } from '../../../lib/distributors/builtin/zanders/feed.js'
import { rowOf, rowOfCsv, unitPrice } from '../../../lib/distributors/builtin/zanders/feed-rows.js'
import { folderOf } from '../../../lib/distributors/builtin/zanders/files.js'
import { compilePreset } from '../../../lib/distributors/generic/generic.js'
import type { CatalogRow } from '../../../lib/distributors/generic/rows.js'
import { openSession } from '../../../lib/distributors/session/open-session.js'
import { parseXml, XmlFault } from '../../../lib/distributors/session/xml.js'
import type { XmlElement } from '../../../lib/distributors/session/xml.js'
import { XmlItems } from '../../../lib/distributors/session/xml-items.js'
import { SET_STATES, hasState } from '../../../lib/places/state-set.js'
import { FtpSimulator } from '../../../lib/simulator/wire/ftp-simulator.js'

/** Noon of 2026-11-21 in Central time. */
const NOW = Date.UTC(2026, 10, 21, 18)
const FIXTURES = '../shared/data/fixtures'
const isThere = existsSync(join(FIXTURES, 'zanders__zandersinv.xml'))
const skip = isThere ? false : 'there is no ../shared/data'

function itemsIn(bytes: Buffer, piece = bytes.length): XmlElement[] {
  const items: XmlElement[] = []
  const reader = new XmlItems((item) => void items.push(item))
  for (let at = 0; at < bytes.length; at += piece) reader.push(bytes.subarray(at, at + piece))
  reader.end()
  return items
}
const win = (text: string) => Buffer.from(text, 'latin1')

describe('items of a long file in XML', () => {
  const file = win(
    '<?xml version="1.0"?>\r\n<NewDataSet>\n<I><N>1</N><D><![CDATA[a < b & "c"]]></D></I>\n' +
      '<I/><I><N>Men\x92s \x80 caf\xe9 &amp; more</N></I>\n</NewDataSet>\n',
  )

  test('come whole, however small the pieces are', () => {
    for (const piece of [1, 2, 3, 7, 64, 1_000]) {
      const items = itemsIn(file, piece)
      assert.deepEqual(
        items.map(({ name, children }) => [name, ...children.map(({ text }) => text)]),
        [
          ['I', '1', 'a < b & "c"'],
          ['I', 'Men\u2019s \u20ac caf\u00e9 & more'],
        ],
      )
    }
  })

  test('are read as UTF-8 where the file says so', () => {
    for (const head of ['<?xml version="1.0" encoding="UTF-8"?>', '\uFEFF']) {
      const [item] = itemsIn(Buffer.from(`${head}<R><I>caf\u00e9</I></R>`), 3 + head.length)
      assert.equal(item!.text, 'caf\u00e9')
    }
  })

  test('a file that is cut off anywhere is none, and neither is anything else', () => {
    const end = file.toString('latin1').trimEnd().length
    for (let at = 0; at < end; at++) assert.throws(() => itemsIn(file.subarray(0, at)), XmlFault)
    for (const text of [
      '<!DOCTYPE r [<!ENTITY a "b">]><R><I>&a;</I></R>',
      '<R><I>&a;</I></R>',
      '<R>words<I>1</I></R>',
      '<R><I>1</I></S>',
      '<R><I>1</I></R><R></R>',
      '<R><I><N>1</I></R>',
      'no such file',
    ])
      assert.throws(() => itemsIn(win(text)), XmlFault, text)
  })
})

const row = (inner: string, today = '2026-11-21') =>
  rowOf(parseXml(`<ZandersDataOut><ITEMNO>1</ITEMNO>${inner}</ZandersDataOut>`), today)
const sale = (start: string, end: string) =>
  `<ITEMPRICE>20.00</ITEMPRICE><ITEMSALESTART>${start}</ITEMSALESTART>` +
  `<ITEMSALEEND>${end}</ITEMSALEEND><ITEMSALEPRICE>15.00</ITEMSALEPRICE>`
const attribute = (title: string, data = title) =>
  `<ATTRIBUTE><TITLE><![CDATA[${title}]]></TITLE><DATA><![CDATA[${data}]]></DATA></ATTRIBUTE>`

/** What the preset makes of rows, on a day. */
function offersOf(rows: readonly ReadonlyMap<string, string>[], at = NOW): CatalogRow[] {
  const compiled = compilePreset(catalog, COLUMNS, at)
  return rows.map(
    (one) => compiled.read(COLUMNS.map((column) => one.get(column) ?? '')) as CatalogRow,
  )
}

describe('an item of the catalog', () => {
  test('has its sale price from the first to the last day of the sale', () => {
    const price = (start: string, end: string) =>
      offersOf([row(`${sale(start, end)}<ITEMQTYAVAIL>1</ITEMQTYAVAIL>`)])[0]!.price
    for (const [start, end, cents] of [
      ['2026-11-21', '2026-11-21', 1_500],
      ['2026-11-22', '2026-11-30', 2_000],
      ['2026-11-01', '2026-11-20', 2_000],
      ['11/01/2026', '11/30/2026 12:00:00 AM', 1_500],
      ['2026-11-01T00:00:00', '2026-11-30T00:00:00', 1_500],
      // Nobody can tell whether it is on.
      ['', '2026-11-30', 2_000],
      ['2026-11-01', '', 2_000],
      ['soon', 'later', 2_000],
    ] as const)
      assert.equal(price(start, end), cents, `${start} to ${end}`)
    // The same file, the day after the sale.
    const rows = [row(sale('2026-11-01', '2026-11-21'))]
    assert.equal(offersOf(rows, Date.UTC(2026, 10, 22))[0]!.price, 2_000)
  })

  test('costs what one unit costs, not what many do', () => {
    const pairs = (...all: [price: string, from: string][]) =>
      unitPrice(all.map(([price, from]) => ({ price, from })))
    assert.equal(pairs(['16.46', '1'], ['14.00', '10']), '16.46')
    assert.equal(pairs(['14.00', '10'], ['16.46', '1']), '16.46')
    assert.equal(pairs(['16.46', '']), '16.46')
    assert.equal(pairs(['14.00', '10'], ['12.00', '50']), '14.00')
    assert.equal(pairs(['0', '1'], ['', ''], ['12.00', '5']), '12.00')
    assert.equal(pairs(), '')
    const cells = { ITEMNUMBER: '1', price1: '9.00', qty1: '12', price2: '10.00', qty2: '1' }
    assert.equal(rowOfCsv(cells).get('price1'), '10.00')
    const breaks =
      '<ITEMQTYPRICING><ITEMQTY>1</ITEMQTY><ITEMPRICE>7.50</ITEMPRICE></ITEMQTYPRICING>'
    assert.equal(row(breaks).get('price1'), '7.50')
  })

  test('is not shipped to a state that an attribute names', () => {
    const states = (inner: string) => {
      const [offer] = offersOf([
        row(`<ALLOWDIRECTSHIP>Y</ALLOWDIRECTSHIP>
        <ITEMSERIALIZED>N</ITEMSERIALIZED><ITEMCATEGORYNAME>ACCESSORIES</ITEMCATEGORYNAME>${inner}`),
      ])
      const { restrictedStates, dropShip } = offer!
      return [SET_STATES.filter((state) => hasState(restrictedStates!, state)).join(' '), dropShip]
    }
    for (const [inner, expected, isShipped] of [
      ['', '', true],
      [attribute('NO SALE TO CALIFORNIA'), 'CA', true],
      [attribute('No Sale To  New York'), 'NY', true],
      [attribute('NO SALE TO CA, MA AND NJ'), 'CA MA NJ', true],
      [
        attribute('NO SALE TO CALIFORNIA') + attribute('NO SALE TO THE STATE OF HAWAII'),
        'CA HI',
        true,
      ],
      [attribute('NO SALE TO CALIFORNIA', 'N'), '', true],
      // No state: nobody can tell to which door it may go.
      [attribute('NO SALE TO CHICAGO'), '', false],
      [attribute('NO SALE TO ILLINOIS, COOK COUNTY'), 'IL', false],
    ] as const)
      assert.deepEqual(states(inner), [expected, isShipped], inner)
  })

  test('is a firearm where it is serialized', () => {
    const of = (serialized: string, category: string) =>
      offersOf([
        row(
          `<ITEMSERIALIZED>${serialized}</ITEMSERIALIZED><ITEMCATEGORYNAME>${category}</ITEMCATEGORYNAME>` +
            '<ALLOWDIRECTSHIP>Y</ALLOWDIRECTSHIP>',
        ),
      ])[0]!
    assert.deepEqual([of('Y', 'PISTOL').fflReq, of('Y', 'PISTOL').productClass], [true, 'FA'])
    assert.equal(of('N', 'ACCESSORIES').dropShip, true)
    // Two columns that do not agree send nothing to a customer.
    assert.equal(of('N', 'PISTOL').dropShip, false)
    assert.equal(of('', 'ACCESSORIES').dropShip, false)
  })

  test('is read from the files of others', { skip }, () => {
    const bytes = readFileSync(join(FIXTURES, 'zanders__zandersinv.xml'))
    const items = itemsIn(bytes, 1_000)
    assert.equal(items.length, 30)
    const offers = offersOf(items.map((item) => rowOf(item, '2026-11-21')))
    assert.ok(offers.every(({ price, upc }) => price !== null && upc !== null))
    const [pistol, ...others] = offers.filter(({ fflReq }) => fflReq)
    assert.deepEqual(
      [pistol!.stockid, pistol!.price, pistol!.map, pistol!.qty, pistol!.dropShip, others.length],
      ['000012', 46_400, 61_000, 0, false, 0],
    )
    assert.ok(hasState(pistol!.restrictedStates!, 'CA'))
    assert.equal(pistol!.attributes['Caliber'], '9MM LUGER')
    assert.equal(itemsIn(readFileSync(join(FIXTURES, 'zanders__liveinv.xml'))).length, 30)
  })
})

const FILES = {
  'zandersinv.xml':
    '<?xml version="1.0"?><NewDataSet><ZandersDataOut><ITEMNO>1</ITEMNO><ITEMUPC><TITLE>UPC</TITLE>' +
    '<DATA>085000000019</DATA></ITEMUPC><ITEMDESCRIPTION><DATA>Men\x92s, "best"</DATA></ITEMDESCRIPTION>' +
    '<ITEMPRICE>20</ITEMPRICE><ITEMQTYAVAIL>3</ITEMQTYAVAIL><ITEMSERIALIZED>N</ITEMSERIALIZED>' +
    '</ZandersDataOut></NewDataSet>',
  'zandersinv.csv':
    'available,itemnumber,upc,desc1,price1,qty1,price2,qty2,serialized\r\n' +
    '3,1,085000000019,"Men\x92s",9.00,10,10.00,1,N\r\n',
  'liveinv.xml':
    '<?xml version="1.0"?><NewDataSet><ZandersDataOut><ITEMNO>1</ITEMNO><AVAILABLE>4</AVAILABLE>' +
    '<ITEMQTYPRICING><ITEMQTY>9</ITEMQTY><ITEMPRICE>1.00</ITEMPRICE></ITEMQTYPRICING>' +
    '</ZandersDataOut></NewDataSet>',
  'liveinv.csv': 'itemnumber,available,price1,price2,price3,qty1,qty2,qty3\r\n1,4,1,,,9,,\r\n',
}
type Files = Partial<Record<string, string>>

/** Brings a feed from a server that has these files in its folder; rows by column. */
async function bring(
  preset: string,
  files: Files,
  settings: Record<string, unknown> = {},
): Promise<Record<string, string>[]> {
  const dir = mkdtempSync(join(tmpdir(), 'qm-zanders-'))
  const server = new FtpSimulator(
    {
      logIn: (user, password) => user === 'me' && password === 'hush',
      handle: ({ act: { path } }) => {
        const text = path.startsWith('/Inventory/Mine/') ? files[path.slice(16)] : undefined
        return {
          answer:
            text === undefined
              ? { refused: 550, text: 'No such file' }
              : { file: win(text), modifiedAt: NOW - 3_600_000 },
        }
      },
    },
    { log: silentLog },
  )
  const file = join(dir, 'feed')
  try {
    const own = { ftp_user: 'me', ftp_password: 'hush', ftp_folder: 'Mine', ...settings }
    const { signal } = new AbortController()
    const plain = openSession({ name: 'Zanders' }, { settings: own, signal, now: () => NOW })
    const at = { host: 'localhost', port: await server.port(), isSecure: false }
    const session = { ...plain, ftp: plain.ftpAt(at, { hosts: [], simulator: {} }) }
    const brought = await feeds[preset]!.bring(session, {
      file,
      mark: null,
      holdUntil: async () => {},
    })
    assert.deepEqual([brought.outcome, brought.asOf], ['written', NOW - 3_600_000])
    const text = readFileSync(file, 'utf8')
    assert.ok(!existsSync(`${file}.raw`))
    return parse(text, { columns: true }) as Record<string, string>[]
  } finally {
    server.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

describe('the feed of an account', () => {
  test('is the XML, or the CSV where there is no XML', async () => {
    const [xml] = await bring(catalog.id, FILES)
    assert.deepEqual(
      [xml!['itemnumber'], xml!['desc1'], xml!['price1'], xml!['available']],
      ['1', 'Men\u2019s, "best"', '20', '3'],
    )
    const [csv] = await bring(catalog.id, { 'zandersinv.csv': FILES['zandersinv.csv'] })
    assert.deepEqual([csv!['desc1'], csv!['price1']], ['Men\u2019s', '10.00'])
    // Without the flags' columns: this file does not tell.
    assert.ok(!('no sale to CA' in csv!) && 'no sale to CA' in xml!)
    for (const name of ['liveinv.xml', 'liveinv.csv'] as const)
      assert.deepEqual(await bring(quantity.id, { [name]: FILES[name] }), [
        { itemnumber: '1', available: '4' },
      ])
  })

  test('is none where it is cut off, is another thing, or is not there', async () => {
    const cut = { 'zandersinv.xml': FILES['zandersinv.xml'].slice(0, -9) }
    await assert.rejects(bring(catalog.id, cut), /cut off in the middle/)
    const page = { 'zandersinv.xml': '<html><body>Down</body></html>' }
    await assert.rejects(bring(catalog.id, page), /the file is no feed/)
    const bare = '<NewDataSet><ZandersDataOut><ITEMNO>1</ITEMNO></ZandersDataOut></NewDataSet>'
    await assert.rejects(
      bring(catalog.id, { 'zandersinv.xml': bare }),
      /no item of the feed has upc, desc1, price1, available, serialized/,
    )
    await assert.rejects(bring(catalog.id, {}), /there is no Inventory\/Mine\/zandersinv\.xml/)
    const broken = { 'zandersinv.csv': 'itemnumber,upc\r\n"1,2\r\n' }
    await assert.rejects(bring(catalog.id, broken), /its rows cannot be read/)
  })

  test('needs a login for files, and says nothing of it', async () => {
    await assert.rejects(bring(catalog.id, FILES, { ftp_user: '' }), /enter fulfillment\.ftp_user/)
    await assert.rejects(bring(catalog.id, FILES, { ftp_password: 'wrong-word' }), (error) => {
      assert.match((error as Error).message, /^the login was refused$/)
      return true
    })
  })

  test('lies in a folder of the account, which is one name', () => {
    for (const folder of ['Mine', '/Inventory/Mine', 'Inventory/Mine/', 'inventory/Mine'])
      assert.equal(folderOf({ ftp_folder: folder }), 'Inventory/Mine')
    for (const folder of [undefined, '', '/Inventory', '/'])
      assert.equal(folderOf({ ftp_folder: folder }), 'Inventory')
    for (const folder of ['..', '../etc', 'a/b', 'a\r\nDELE b', '-x'])
      assert.throws(() => folderOf({ ftp_folder: folder }), /not the name of one folder/)
  })
})
