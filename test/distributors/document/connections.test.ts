/** Feeds of documents over real sockets and servers: what comes, and what is told where none does. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { distributorOf } from '../../../lib/distributors/document/distributor.js'
import type { DistributorDocument } from '../../../lib/distributors/document/schema.js'
import { NO_VSFTPD, startVsftpd } from '../vsftpd.js'
import { documentOf, feedOf, NOW, sessionOf } from './rig.js'

const ROWS = 'item,name,price,qty,kind\r\nA-1,Dot,10.00,3,optic\r\n'
let dir: string
before(() => {
  dir = mkdtempSync(join(tmpdir(), 'qm-document-'))
})
after(() => rmSync(dir, { recursive: true, force: true }))

/** The rows that a feed brings, or why it brings none. */
async function bring(document: DistributorDocument, options: Parameters<typeof sessionOf>[1] = {}) {
  const distributor = distributorOf(document)
  const file = join(dir, 'feed')
  const brought = await distributor.feeds!['acme']!.bring(sessionOf(distributor, options), {
    file,
    mark: null,
    holdUntil: async () => {},
  })
  return { ...brought, text: readFileSync(file, 'utf8') }
}

const folder = (name: string, files: Record<string, string | Buffer>) => {
  const path = join(dir, name)
  mkdirSync(path, { recursive: true })
  for (const [file, content] of Object.entries(files)) writeFileSync(join(path, file), content)
  return { kind: 'folder', path }
}

describe('a folder of this machine', () => {
  test('the newest file that fits is taken, and the same one again is not', async () => {
    const main = folder('newest', {
      'inv_1.csv': ROWS,
      'inv_2.csv': ROWS.replace('3', '4'),
      'other.csv': '',
    })
    for (const [name, minutes] of [
      ['inv_1.csv', 5],
      ['inv_2.csv', 60],
    ] as const)
      utimesSync(join(main.path, name), NOW / 1_000 - minutes * 60, NOW / 1_000 - minutes * 60)
    const document = documentOf(main, { feeds: [feedOf({ path: 'inv_*.csv' })] })
    const first = await bring(document)
    assert.equal(first.text, ROWS)
    const distributor = distributorOf(document)
    const again = await distributor.feeds!['acme']!.bring(sessionOf(distributor), {
      file: join(dir, 'again'),
      mark: first.mark!,
      holdUntil: async () => {},
    })
    assert.equal(again.outcome, 'unchanged')
  })

  test('nothing outside of it is read, by a name or by a link', async () => {
    writeFileSync(join(dir, 'secret.csv'), ROWS)
    const main = folder('inside', {})
    symlinkSync(join(dir, 'secret.csv'), join(main.path, 'link.csv'))
    for (const path of ['../secret.csv', 'link.csv', 'none.csv'])
      await assert.rejects(
        bring(documentOf(main, { feeds: [feedOf({ path })] })),
        /outside of|there is no/,
      )
    await assert.rejects(
      bring(documentOf({ kind: 'folder', path: join(dir, 'gone') }, { feeds: [feedOf({})] })),
      /cannot be read \(ENOENT\)/,
    )
  })

  test('gzip, zip and UTF-16 are unpacked; a damaged one is no feed', async () => {
    spawnSync('python3', [
      '-c',
      `import zipfile; z=zipfile.ZipFile(${JSON.stringify(join(dir, 'a.zip'))},'w',` +
        `zipfile.ZIP_DEFLATED); z.writestr('folder/','') ; z.writestr('folder/items.csv', ` +
        `${JSON.stringify(ROWS)})`,
    ])
    const main = folder('packed', {
      'items.gz': gzipSync(ROWS),
      'cut.gz': gzipSync(ROWS.repeat(50)).subarray(0, 60),
      'items.zip': readFileSync(join(dir, 'a.zip')),
      'no.zip': 'PK, but not really',
      'wide.csv': Buffer.from(`\uFEFF${ROWS}`, 'utf16le'),
    })
    const of = (source: object) => bring(documentOf(main, { feeds: [feedOf(source as never)] }))
    assert.equal((await of({ path: 'items.gz', unpack: 'gzip' })).text, ROWS)
    assert.equal((await of({ path: 'items.zip', unpack: 'zip' })).text, ROWS)
    assert.equal((await of({ path: 'wide.csv', encoding: 'utf-16le' })).text, ROWS)
    await assert.rejects(of({ path: 'cut.gz', unpack: 'gzip' }), /no whole gzip file/)
    await assert.rejects(of({ path: 'no.zip', unpack: 'zip' }), /no whole zip file/)
  })

  test('JSON, XML and fixed columns become the rows that the preset reads', async () => {
    const main = folder('forms', {
      'items.json': JSON.stringify({
        data: {
          list: [
            { item: 'A-1', more: { name: 'Dot' }, price: 10, qty: 3, kind: ['optic', 'sight'] },
          ],
        },
      }),
      'items.xml':
        '<?xml version="1.0"?><list><row><item>A-1</item><name>Dot &amp; ' +
        'Co</name><price>10</price><qty>3</qty></row></list>',
      'items.txt': 'HEADER\r\nA-1  Dot   0010.00003\r\n',
      'list.json': '[1,2',
      'other.json': '{"data":{"rows":[]}}',
    })
    const of = (source: object, map = {}) =>
      bring(
        documentOf(main, {
          feeds: [
            feedOf(source as never, {
              map: {
                name: { from: ['more.name', 'name'] },
                price: { from: ['price'] },
                qty: { from: ['qty'] },
                ...map,
              },
            }),
          ],
        }),
      )
    const json = await of({ path: 'items.json', read: { as: 'json', rows: 'data.list' } })
    assert.match(
      json.text,
      /^item,price,qty,more\.name,name,kind\r\nA-1,10,3,Dot,,optic\|sight\r\n$/,
    )
    const xml = await of({ path: 'items.xml', read: { as: 'xml' } })
    assert.match(xml.text, /A-1,10,3,,Dot & Co,/)
    const columns = [
      ['item', 1, 5],
      ['name', 6, 6],
      ['price', 12, 7],
      ['qty', 19, 3],
    ].map(([name, start, length]) => ({ name, start, length }))
    const fixed = await of({ path: 'items.txt', read: { as: 'fixed', skipLines: 1, columns } })
    assert.match(fixed.text, /A-1,0010\.00,003,,Dot,/)
    await assert.rejects(
      of({ path: 'list.json', read: { as: 'json', rows: '' } }),
      /cut off in the middle/,
    )
    await assert.rejects(
      of({ path: 'other.json', read: { as: 'json', rows: 'data.list' } }),
      /no list at "data\.list"/,
    )
    await assert.rejects(of({ path: 'items.json', read: { as: 'xml' } }), /cannot be read as xml/)
  })

  test('a file that is joined has to have a row of the first', async () => {
    const main = folder('joined', {
      'items.csv': 'item,name\r\nA-1,Dot\r\nA-2,Sight\r\n',
      'stock.csv': 'sku,price,qty\r\nA-1,10,3\r\n',
      'none.csv': 'sku,price,qty\r\nZ,1,1\r\n',
    })
    const of = (path: string) =>
      bring(
        documentOf(main, {
          feeds: [
            feedOf(
              {},
              {
                join: {
                  connection: 'main',
                  path,
                  read: feedOf({})['source'] && {
                    as: 'delimited',
                    format: { delimiter: ',', quote: '"', header: true },
                  },
                  on: { ours: 'item', theirs: 'sku' },
                  columns: ['price', 'qty'],
                },
              },
            ),
          ],
        }),
      )
    assert.match((await of('stock.csv')).text, /A-1,10,3,Dot,\r\nA-2,,,Sight,/)
    await assert.rejects(of('none.csv'), /none\.csv has no row of items\.csv/)
  })
})

describe('HTTP', () => {
  const asked: string[] = []
  let url: string
  let close: () => void
  before(async () => {
    const server = createServer((request, response) => {
      const { method, url: path, headers } = request
      asked.push(
        `${method} ${path} ${headers['x-key'] ?? ''} ${headers.authorization ?? ''}`.trim(),
      )
      if (request.url === '/v2/token') {
        let body = ''
        request
          .on('data', (piece) => (body += String(piece)))
          .on('end', () => {
            const isGood = new URLSearchParams(body).get('client_secret') === 'secret-word'
            response
              .writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' })
              .end(JSON.stringify(isGood ? { access_token: 'a-token' } : {}))
          })
        return
      }
      if (request.url!.startsWith('/v2/page'))
        return void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Log in</p>')
      if (request.headers['x-key'] === 'wrong') return void response.writeHead(403).end()
      response.writeHead(200, { 'content-type': 'text/csv' }).end(ROWS)
    }).listen(0, '127.0.0.1')
    await new Promise((done) => server.once('listening', done))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
    close = () => server.close()
  })
  after(() => close())

  test('headers and queries bear what the shop has entered', async () => {
    asked.length = 0
    const document = documentOf(
      { kind: 'http', url, headers: { 'x-key': '{password}' } },
      { feeds: [feedOf({ path: 'items?who={user}' })] },
    )
    assert.equal((await bring(document, { settings: { user: 'a&b', password: 'k' } })).text, ROWS)
    assert.deepEqual(asked, ['GET /v2/items?who=a%26b k'])
    const distributor = distributorOf(document)
    const login = (password: string) =>
      sessionOf(distributor, { settings: { user: 'a', password } })
    assert.equal(await distributor.check!(login('k')), 'valid')
    assert.equal(await distributor.check!(login('wrong')), 'invalid')
    await assert.rejects(
      bring(document, { settings: { user: 'a', password: 'wrong' } }),
      /login was refused/,
    )
  })

  test('a token is asked for with client credentials, and a wrong secret is told', async () => {
    asked.length = 0
    const document = documentOf(
      {
        kind: 'http',
        url,
        oauth: { path: 'token', clientId: '{user}', clientSecret: '{password}' },
      },
      { feeds: [feedOf({ path: 'items' })] },
    )
    assert.equal((await bring(document)).text, ROWS)
    assert.deepEqual(asked, ['POST /v2/token', 'GET /v2/items  Bearer a-token'])
    const distributor = distributorOf(document)
    assert.equal(await distributor.check!(sessionOf(distributor)), 'valid')
    assert.equal(
      await distributor.check!(sessionOf(distributor, { settings: { user: 'x', password: 'no' } })),
      'invalid',
    )
  })

  test('a page in HTML is no feed, and a private address has to be let in', async () => {
    const document = documentOf({ kind: 'http', url }, { feeds: [feedOf({ path: 'page' })] })
    await assert.rejects(bring(document), /page in HTML/)
    await assert.rejects(
      bring(document, { egress: { privateHosts: [] } }),
      /private or local address/,
    )
  })
})

test('FTPS, at a server that we did not write', { skip: NO_VSFTPD }, async () => {
  const server = await startVsftpd((root) => {
    mkdirSync(join(root, 'out'))
    writeFileSync(join(root, 'out', 'items.csv'), ROWS)
  })
  try {
    const { host, port } = server.login
    const document = documentOf(
      { kind: 'ftps', host, port, user: '{user}', password: '{password}' },
      { feeds: [feedOf({ path: 'out/*.csv' })] },
    )
    const distributor = distributorOf(document)
    const plain = sessionOf(distributor, { settings: { user: 'anonymous', password: 'x' } })
    // Its certificate is its own: it is trusted here as a simulator's is.
    const session = {
      ...plain,
      ftpOf: (to: Parameters<typeof plain.ftpOf>[0]) => plain.ftpAt(to, server.egress),
    }
    const file = join(dir, 'ftps')
    await distributor.feeds!['acme']!.bring(session, {
      file,
      mark: null,
      holdUntil: async () => {},
    })
    assert.equal(readFileSync(file, 'utf8'), ROWS)
    // Without that trust nothing is sent.
    await assert.rejects(
      bring(document, { settings: { user: 'anonymous', password: 'x' } }),
      /certificate/,
    )
  } finally {
    server.close()
  }
})

const PLACE = resolve('node_modules/ssh2-sftp-client')

describe('SFTP', () => {
  test(
    'says which package is missing',
    { skip: existsSync(PLACE) && 'the package is here' },
    async () => {
      const document = documentOf(
        {
          kind: 'sftp',
          host: 'localhost',
          user: '{user}',
          password: '{password}',
          hostKey: `SHA256:${'A'.repeat(43)}`,
        },
        { feeds: [feedOf({})] },
      )
      await assert.rejects(bring(document), /npm install ssh2-sftp-client/)
    },
  )
})
