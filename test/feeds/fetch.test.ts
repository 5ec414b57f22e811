import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { presets } from '../../lib/distributors/builtin/index.js'
import { UnreadableFile, digestFile, openBytes } from '../../lib/feeds/fetch/bytes.js'
import { checkFeed } from '../../lib/feeds/check.js'
import { isPrivate } from '../../lib/core/net/addresses.js'
import { fetchFeed, redact } from '../../lib/feeds/fetch/fetch.js'
import type { FetchInput } from '../../lib/feeds/fetch/fetch.js'
import { ACME, HEADER, NOON, acmeFeed, acmeRow, bench } from './bench.js'

const BODY = acmeFeed(100)

/** A server on loopback that answers as told, and a folder for downloads. */
async function serving(
  answer: RequestListener,
  run: (url: string, into: string) => Promise<void>,
): Promise<void> {
  const into = mkdtempSync(join(tmpdir(), 'qm-fetch-'))
  const server = createServer(answer).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  try {
    await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}/feed.csv`, into)
  } finally {
    server.closeAllConnections()
    server.close()
    rmSync(into, { recursive: true, force: true })
  }
}

const get = (location: string, into: string, more: Partial<FetchInput> = {}) =>
  fetchFeed({ location, into, now: NOON, allowPrivate: true, ...more })

describe('fetching a feed', () => {
  test('a file comes whole, under a name of ours, with the time that it was made', () =>
    serving(
      (request, response) => {
        response.setHeader('last-modified', 'Sat, 21 Nov 2026 11:00:00 GMT').end(BODY)
        assert.equal(request.headers['x-token'], 'abc')
      },
      async (url, into) => {
        const fetched = await get(url, into, { headers: { 'x-token': 'abc' } })
        assert.equal(readFileSync(fetched.file, 'utf8'), BODY)
        assert.deepEqual([fetched.asOf, fetched.bytes], [NOON - 3_600_000, BODY.length])
        assert.deepEqual(readdirSync(into), [fetched.file.slice(into.length + 1)])
        assert.doesNotMatch(fetched.file, /csv/)
      },
    ))

  const times: [what: string, header: string | null, asOf: number][] = [
    ['none', null, NOON],
    ['in the future', 'Sun, 22 Nov 2026 11:00:00 GMT', NOON],
    ['nonsense', 'yesterday', NOON],
  ]
  for (const [what, header, asOf] of times) {
    test(`Last-Modified: ${what}`, () =>
      serving(
        (_, response) => {
          if (header) response.setHeader('last-modified', header)
          response.end(BODY)
        },
        async (url, into) => assert.equal((await get(url, into)).asOf, asOf),
      ))
  }

  const faults: [
    what: string,
    answer: RequestListener,
    message: RegExp,
    more?: Partial<FetchInput>,
  ][] = [
    ['an error', (_, response) => response.writeHead(500).end(), /the server answered 500$/],
    ['nothing there', (_, response) => response.writeHead(404).end(), /the server answered 404$/],
    [
      'a redirect',
      (_, response) =>
        response.writeHead(302, { location: 'http://169.254.169.254/?key=secret' }).end(),
      /redirects \(302\) to http:\/\/169\.254\.169\.254\/\?…; set that as the location/,
    ],
    [
      'less than announced',
      (_, response) => {
        response
          .writeHead(200, { 'content-length': String(BODY.length) })
          .write(BODY.slice(0, 500), () => response.destroy())
      },
      /the download was cut off after \d+ of \d+ bytes$/,
    ],
    [
      'a broken chunked body',
      (_, response) => {
        response.write(BODY.slice(0, 500), () => response.destroy())
      },
      /the download was cut off after \d+ bytes$/,
    ],
    [
      'more than allowed, announced',
      (_, response) => response.end(BODY),
      /the file is larger than 1000 bytes$/,
      { maxBytes: 1_000 },
    ],
    [
      'more than allowed, not announced',
      (_, response) => {
        response.write(BODY)
        response.end()
      },
      /the file is larger than 1000 bytes$/,
      { maxBytes: 1_000 },
    ],
    ['silence', () => {}, /it took longer than 0\.2 seconds$/, { timeoutMs: 200 }],
    [
      'a body that never ends',
      (_, response) => {
        response.write(BODY)
      },
      /it took longer than 0\.2 seconds$/,
      { timeoutMs: 200 },
    ],
    [
      'a private address',
      (_, response) => response.end(BODY),
      /127\.0\.0\.1 is a private or local address; set the source with --allow-private/,
      { allowPrivate: false },
    ],
  ]
  for (const [what, answer, message, more] of faults) {
    test(`${what}: an error that names the location, and nothing is left behind`, () =>
      serving(answer, async (url, into) => {
        const location = url.replace('http://', 'http://user:pa%40ss@') + '?token=secret'
        await assert.rejects(get(location, into, more), (error: Error) => {
          assert.match(error.message, message)
          assert.ok(error.message.startsWith(`${url}?…: `), error.message)
          assert.doesNotMatch(error.message, /user|pa%40ss|pa@ss|secret/)
          return true
        })
        assert.deepEqual(readdirSync(into), [])
      }))
  }

  for (const when of ['before it', 'during it']) {
    test(`a download is given up by its signal ${when}`, () => {
      const giveUp = new AbortController()
      return serving(
        (_, response) => {
          response.write(BODY, () => giveUp.abort())
        },
        async (url, into) => {
          if (when === 'before it') giveUp.abort()
          await assert.rejects(
            get(url, into, { signal: giveUp.signal }),
            /the download was stopped$/,
          )
          assert.deepEqual(readdirSync(into), [])
        },
      )
    })
  }

  test('a redirect to a path names the whole location, without its secrets', () =>
    serving(
      (_, response) => response.writeHead(301, { location: '/login?session=secret' }).end(),
      async (url, into) => {
        await assert.rejects(get(url, into), (error: Error) =>
          error.message.includes(`to ${url.replace('/feed.csv', '/login?…')}; set`),
        )
      },
    ))

  test('a user and password in the URL are sent', () =>
    serving(
      (request, response) => {
        response.end(Buffer.from(request.headers.authorization!.slice(6), 'base64'))
      },
      async (url, into) => {
        const { file } = await get(url.replace('http://', 'http://user:pa%40ss@'), into)
        assert.equal(readFileSync(file, 'utf8'), 'user:pa@ss')
      },
    ))

  test('a failed download leaves the file of the last one', () => {
    let broken = false
    return serving(
      (_, response) => (broken ? response.writeHead(503).end() : response.end(BODY)),
      async (url, into) => {
        const { file } = await get(url, into)
        broken = true
        await assert.rejects(get(url, into), /503/)
        assert.equal(readFileSync(file, 'utf8'), BODY)
      },
    )
  })

  test('a name that leads to a private address is refused by its address', () =>
    serving(
      (_, response) => response.end(BODY),
      async (url, into) => {
        await assert.rejects(
          get(url.replace('127.0.0.1', 'localhost'), into, { allowPrivate: false }),
          /is a private or local address/,
        )
      },
    ))

  test('a name that nobody knows, and a port where nobody listens', async () => {
    const into = mkdtempSync(join(tmpdir(), 'qm-fetch-'))
    try {
      await assert.rejects(
        get('http://no-such-host.invalid/x', into),
        /no-such-host\.invalid\/x: the name of the server (is not known|cannot be looked up)/,
      )
      await assert.rejects(get('http://127.0.0.1:1/x', into), /the server refuses the connection/)
    } finally {
      rmSync(into, { recursive: true, force: true })
    }
  })

  test('a local file is used in place, by path or URL, with its own time', async () => {
    const into = mkdtempSync(join(tmpdir(), 'qm-fetch-'))
    try {
      const file = join(into, 'feed one.csv')
      writeFileSync(file, BODY)
      utimesSync(file, 1_000, 1_000)
      for (const location of [file, String(pathToFileURL(file))])
        assert.deepEqual(await get(location, into), { file, asOf: 1_000_000, bytes: BODY.length })
      utimesSync(file, NOON / 1000 + 60, NOON / 1000 + 60)
      assert.equal((await get(file, into)).asOf, NOON, 'not later than now')
      await assert.rejects(get(join(into, 'none'), into), /none: there is no such file$/)
      await assert.rejects(get(into, into), /this is not a file$/)
    } finally {
      rmSync(into, { recursive: true, force: true })
    }
  })

  test('private addresses in all their clothes', () => {
    for (const address of [
      '127.0.0.1',
      '10.1.2.3',
      '172.31.0.1',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '0.0.0.0',
      '224.0.0.1',
      '::1',
      '::',
      'fe80::1%eth0',
      'fd00::1',
      '::ffff:127.0.0.1',
      '::ffff:a00:1',
      '64:ff9b::a00:1',
      '64:ff9b::cb00:7107',
      '::a00:1',
      '::cb00:7107',
      '::ffff:ffff',
      '2002::1',
      '2002:cb00:7107::1',
      '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
      'no address',
    ]) {
      assert.equal(isPrivate(address), true, address)
    }
    for (const address of ['8.8.8.8', '172.32.0.1', '192.169.0.1', '2600::1', '::ffff:8.8.8.8'])
      assert.equal(isPrivate(address), false, address)
  })

  test('what a message shows of a location', () => {
    const table: [string, string][] = [
      ['https://u:p@x.example/a?b=c', 'https://x.example/a?…'],
      ['https://x.example/a@b', 'https://x.example/a@b'],
      ['https://u:p%2F@x.example', 'https://x.example'],
      ['/var/feeds/a?.csv', '/var/feeds/a?.csv'],
      ['C:\\feeds\\a#1.csv', 'C:\\feeds\\a#1.csv'],
      ['https://x.example/a?b=c#d', 'https://x.example/a?…'],
      ['https://x.example/a#token', 'https://x.example/a#…'],
      ['https://x.example?q=u@x', 'https://x.example?…'],
      ['file:///a.csv?b', 'file:///a.csv?…'],
      ['https://u:p/w@x.example', 'https://…'],
      ['https://u:p@w@x.example/a', 'https://x.example/a'],
    ]
    for (const [location, shown] of table) assert.equal(redact(location), shown)
  })
})

describe("reading a file's bytes", () => {
  const readAll = async (file: string, limits?: Parameters<typeof openBytes>[2]) => {
    const source = await openBytes(file, 'seed', limits)
    try {
      const pieces: Buffer[] = []
      for (let piece = await source.next(); piece !== null; piece = await source.next())
        pieces.push(Buffer.from(piece))
      return {
        content: Buffer.concat(pieces),
        digest: source.digest(),
        read: source.bytesRead,
        size: source.size,
      }
    } finally {
      await source.close()
    }
  }

  test('plain and gzip give the same bytes, and the digest of what lies on disk', () =>
    bench(async (feeds) => {
      const content = Buffer.from(BODY.repeat(700))
      for (const stored of [
        content,
        gzipSync(content),
        Buffer.concat([gzipSync(content.subarray(0, 1_000)), gzipSync(content.subarray(1_000))]),
      ]) {
        const file = feeds.file('x', stored)
        const { content: seen, digest, read, size } = await readAll(file)
        assert.ok(seen.equals(content))
        assert.deepEqual([read, size], [stored.length, stored.length])
        assert.equal(digest, await digestFile(file, 'seed'))
        assert.notEqual(digest, await digestFile(file, 'another'))
      }
    }))

  test('the digest sees every changed byte, and every block that changed places', () =>
    bench(async (feeds) => {
      const content = Buffer.alloc(200_000, 'abc')
      const digests = new Set([await digestFile(feeds.file('x', content), '')])
      for (const at of [0, 65_535, 65_536, 131_072, 199_999]) {
        const changed = Buffer.from(content)
        changed[at]! ^= 1
        digests.add(await digestFile(feeds.file('x', changed), ''))
      }
      const blocks = Array.from({ length: 3 }, (_, i) => Buffer.alloc(65_536, `${i}`))
      digests.add(await digestFile(feeds.file('x', Buffer.concat(blocks)), ''))
      digests.add(await digestFile(feeds.file('x', Buffer.concat(blocks.reverse())), ''))
      assert.equal(digests.size, 8)
    }))

  test('a bomb stops at the limits, by its size and by its ratio', () =>
    bench(async (feeds) => {
      const bomb = feeds.file('bomb.gz', gzipSync(Buffer.alloc(60_000_000)))
      await assert.rejects(
        readAll(bomb),
        (error) =>
          error instanceof UnreadableFile &&
          /unpacks to more than 16777216 bytes/.test(error.message),
      )
      const honest = feeds.file('x.gz', gzipSync(BODY.repeat(100)))
      await assert.rejects(
        readAll(honest, { maxBytes: 100_000, maxRatio: 200 }),
        /unpacks to more than 100000 bytes/,
      )
      assert.ok(
        (await readAll(honest, { maxBytes: 1_000_000, maxRatio: 200 })).content.length > 100_000,
      )
    }))

  test('gzip that is cut off gives what it has and then an error', () =>
    bench(async (feeds) => {
      const whole = gzipSync(BODY.repeat(100))
      await assert.rejects(
        readAll(feeds.file('x.gz', whole.subarray(0, whole.length - 9))),
        /the gzip file is cut off or damaged/,
      )
      assert.equal(gunzipSync(whole).length, BODY.length * 100)
    }))

  test('a file that is not there is an exception, not a refusal', () =>
    bench(async (feeds) => {
      await assert.rejects(feeds.take(ACME, { file: join(feeds.dir, 'none') }), /ENOENT/)
      assert.equal(feeds.catalog.inTransaction, false)
    }))
})

describe('checking a preset on a file', () => {
  test('shows the first mapped and rejected rows and writes nothing', () =>
    bench(async (feeds) => {
      const rows =
        acmeFeed(100, (i) => acmeRow(i, i % 10 === 0 ? 'free' : '5.00')) + acmeRow(1) + '\n'
      const checked = await checkFeed({
        preset: ACME,
        file: feeds.file('x.csv', rows),
        rows: 20,
        asOf: NOON,
      })
      assert.deepEqual(
        [checked.reasons, checked.rows, checked.rejected, checked.cut_off, checked.offers.length],
        [[], 101, 11, false, 20],
      )
      assert.deepEqual(
        [checked.offers[0]!['stockid'], checked.offers[0]!['unit_price']],
        ['SKU1', 5],
      )
      assert.deepEqual(checked.refused, ['11 of 101 rows are bad (10.8 %; at most 1 % may be)'])
      assert.deepEqual(
        [checked.rejects.length, checked.rejects[0]!.line, checked.rejects.at(-1)],
        [
          11,
          11,
          {
            line: 102,
            reason: 'duplicate key: an earlier row has the same item number',
            text: acmeRow(1),
          },
        ],
      )
      assert.equal(feeds.offers().length, 0)
    }))

  test('says why a file is not a feed of the preset', () =>
    bench(async (feeds) => {
      const check = (preset: string, content: string) =>
        checkFeed({
          preset: presets[preset]!,
          file: feeds.file('x', content),
          rows: 20,
          asOf: NOON,
        })
      assert.deepEqual((await check('davidsons', `${HEADER}\n`)).reasons, [
        'the header has no column "Item #", "Dealer Price", "Quantity", "UPC Code", "Gun Type"',
      ])
      assert.deepEqual((await check('zanders', 'upc;msrp;price1;available\n1;2;3;4\n')).reasons, [
        'the header has no column "itemnumber or upc", "upc", "price1", "available"; with a ' +
          'semicolon as separator the file would fit',
      ])
      assert.equal((await check('rsr-quantity', 'AB-1,0000005\nAB-2,00')).cut_off, false)
      assert.equal((await check('rsr-quantity', 'AB-1,0000005\nAB-2')).cut_off, true)
    }))

  test('shows item numbers and counts of a stock feed', () =>
    bench(async (feeds) => {
      const checked = await checkFeed({
        preset: presets['rsr-quantity']!,
        file: feeds.file('x', 'AB-1,0000005\n'),
        rows: 20,
        asOf: NOON,
      })
      assert.deepEqual(checked.offers, [{ stockid: 'AB-1', qty_on_hand: 5 }])
    }))
})
