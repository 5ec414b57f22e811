/**
 * The bulk export through the client: from the descriptor to a file that is whole, or none at all.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { HOUR } from '../../lib/core/clock.js'
import { connect, downloadCatalog, RemoteError } from '../../lib/connect.js'
import type { DownloadOptions, Progress, Shop } from '../../lib/connect.js'
import { memoryStore } from '../../lib/objects/memory.js'
import { createServer } from '../../server/index.js'
import type { Listening } from '../../server/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { rowsIn, servedShop } from '../exports/shop.js'
import { answer, cut, done, rawServer, refusal } from './raw-server.js'
import type { RawServer, Reply } from './raw-server.js'

let dir: string
before(() => {
  dir = mkdtempSync(join(tmpdir(), 'qm-download-'))
})
after(() => rmSync(dir, { recursive: true }))
let folders = 0
/** A folder of the test's own. */
const folder = () => {
  const made = join(dir, String(++folders))
  mkdirSync(made)
  return made
}

describe('a download from a real server', () => {
  let t: TestApp
  let server: Listening
  let stop: () => Promise<void>
  let shop: Shop
  before(async () => {
    ;({ t, server, stop } = await servedShop())
    shop = connect(server.url, t.key)
  })
  after(() => stop())

  test('is the whole catalog with its attributes, and tells how far it is', async () => {
    t.clock.advance(HOUR)
    const at = folder()
    const seen: Progress[] = []
    const { bytes, changed, rows, ...rest } = await downloadCatalog(
      shop,
      join(at, 'catalog.parquet'),
      { attributes: join(at, 'attributes.csv.gz'), onProgress: (progress) => seen.push(progress) },
    )
    const file = readFileSync(join(at, 'catalog.parquet'))
    assert.deepEqual(
      [changed, rows, bytes, 'url' in rest, 'attributes_feed' in rest],
      [true, 2, file.length, false, false],
    )
    assert.deepEqual(
      (await rowsIn(file)).map(({ name }) => name),
      ['Knife', 'Rifle'],
    )
    assert.equal(
      gunzipSync(readFileSync(join(at, 'attributes.csv.gz')))
        .toString()
        .split('\n')[1],
      '860001234510,LIP,Color,Blue',
    )
    assert.deepEqual(
      readdirSync(at).toSorted(),
      ['attributes.csv.gz', 'catalog.parquet'],
      'no draft is left',
    )
    assert.deepEqual(
      seen.filter((progress) => progress.bytes === progress.total).map((progress) => progress.file),
      ['catalog', 'attributes'],
    )
    assert.ok(
      seen.some(
        (progress) =>
          progress.file === 'catalog' && progress.bytes === bytes && progress.total === bytes,
      ),
    )
  })

  test('touches nothing while the version is still right', async () => {
    t.clock.advance(HOUR)
    const at = folder()
    const attributes = join(at, 'attributes.csv.gz')
    const { export_version: version } = await downloadCatalog(shop, join(at, 'catalog.parquet'), {
      attributes,
    })
    for (const name of readdirSync(at)) writeFileSync(join(at, name), 'what was there')
    t.clock.advance(HOUR)
    const again = await downloadCatalog(shop, join(at, 'catalog.parquet'), {
      attributes,
      last_version: version,
    })
    assert.deepEqual([again.changed, again.export_version, again.bytes], [false, version, 0])
    assert.deepEqual(
      readdirSync(at).map((name) => readFileSync(join(at, name), 'utf8')),
      ['what was there', 'what was there'],
    )
    t.clock.advance(HOUR)
    const stream = new WritableStream<Uint8Array>()
    await downloadCatalog(shop, stream, { attributes, last_version: version })
    assert.equal(stream.locked, false)
  })

  test("goes into streams of the caller's as well, which are closed at the end", async () => {
    t.clock.advance(HOUR)
    const pieces = [[], []] as Uint8Array[][]
    let closed = 0
    const [to, attributes] = pieces.map(
      (mine) =>
        new WritableStream<Uint8Array>({
          write: (piece) => {
            mine.push(piece)
          },
          close: () => {
            closed++
          },
        }),
    )
    const { bytes } = await downloadCatalog(shop, to!, { attributes: attributes! })
    const [catalog, feed] = pieces.map((mine) => Buffer.concat(mine))
    assert.deepEqual(
      [catalog!.length, closed, gunzipSync(feed!).toString().split('\n').length],
      [bytes, 2, 4],
    )
    assert.equal((await rowsIn(new Uint8Array(catalog!))).length, 2)
  })

  test('asks for nothing when the file could not be written: an export costs twenty minutes', async () => {
    t.clock.advance(HOUR)
    await assert.rejects(downloadCatalog(shop, join(dir, 'nowhere', 'catalog.parquet')), {
      code: 'ENOENT',
    })
    await assert.rejects(downloadCatalog(shop, dir), /is a folder: name the file/)
    await assert.rejects(
      downloadCatalog(shop, join(dir, 'x.parquet'), { signal: AbortSignal.abort() }),
      { code: 'aborted', outcome: 'not_sent' },
    )
    const at = folder()
    assert.equal(
      (
        await downloadCatalog(shop, join(at, 'catalog.parquet'), {
          attributes: join(at, 'attributes.csv.gz'),
        })
      ).rows,
      2,
    )
  })

  test('says that a URL has expired', async () => {
    t.clock.advance(HOUR)
    const slow: Shop = {
      ...shop,
      products: {
        ...shop.products,
        catalog: async (input) => {
          const descriptor = await shop.products.catalog(input)
          t.clock.advance(60_000)
          return descriptor
        },
      },
    }
    const at = folder()
    await assert.rejects(downloadCatalog(slow, join(at, 'catalog.parquet'), { expires_in: 60 }), {
      name: 'RemoteError',
      code: 'invalid_url',
      status: 403,
      message: /it has expired/,
    })
    assert.deepEqual(readdirSync(at), [])
  })

  test('of an embedded app that listens nowhere is answered by its server in this process', async () => {
    t.app.listensAt('http://nobody.invalid')
    const inProcess = createServer(t.app)
    const at = folder()
    await downloadCatalog(t.app.as(t.subscriber), join(at, 'catalog.parquet'), {
      fetch: (request) => inProcess.fetch(request),
    })
    assert.equal((await rowsIn(readFileSync(join(at, 'catalog.parquet')))).length, 2)
    await assert.rejects(
      downloadCatalog(t.app.as(t.subscriber), join(at, 'other.parquet'), { attempts: 1 }),
      { code: 'unreachable', message: /nobody\.invalid/ },
    )
  })
})

/** Stands for a file that is long enough to break in the middle. */
const FILE = Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(300_000, 'x'), Buffer.from('PAR1')])
const ETAG = '"one"'
const DESCRIPTOR = {
  version: 'v',
  export_version: 'e',
  changed: true,
  format: 'parquet' as const,
  compression: 'snappy' as const,
  rows: 1,
  restrictions_applied: true,
  custom_pricing_applied: false,
  retail_pricing_applied: false,
  expires_in_seconds: 60,
}
/** Sends this much of an answer and goes away. */
const broken = (bytes: number, whole = answer(200, FILE, { etag: ETAG })) =>
  whole.subarray(0, whole.length - FILE.length + bytes)
const rest = (from: number, { etag = ETAG, total = FILE.length, said = from } = {}) =>
  answer(206, FILE.subarray(from), {
    etag,
    'content-range': `bytes ${said}-${FILE.length - 1}/${total}`,
  })

/**
 * A shop whose server tells of an export at this address, of itself where none is given; what else
 * it is asked it answers with the replies.
 */
async function shopOf(replies: Reply[], url?: string) {
  const store: RawServer = await rawServer(
    (socket) => {
      const data = {
        ...DESCRIPTOR,
        url: url ?? `${store.url}/catalog?signature=abc`,
        attributes_feed: { format: 'csv.gz', url: `${store.url}/attributes` },
      }
      socket.end(done(data))
    },
    ...replies,
  )
  return { store, shop: connect(store.url, 'CANARY') }
}

/** What became of a download, and of the file that was there before it. */
async function fromStore(
  replies: Reply[],
  { attributes, url, ...options }: DownloadOptions & { url?: string } = {},
) {
  const { store, shop } = await shopOf(replies, url)
  const at = folder()
  const path = join(at, 'catalog.parquet')
  writeFileSync(path, 'what was there')
  const waits: number[] = []
  const network = {
    random: () => 1,
    sleep: async (seconds: number) => {
      waits.push(seconds)
    },
    ...options,
  }
  const outcome = await downloadCatalog(shop, path, {
    ...(attributes !== undefined && {
      attributes: typeof attributes === 'string' ? join(at, attributes) : attributes,
    }),
    ...network,
  }).catch((error: unknown) => error)
  await store[Symbol.asyncDispose]()
  assert.ok(
    store.asked.every(({ headers }, i) => i === 0 || headers['x-api-key'] === undefined),
    'the key is for the API alone',
  )
  return { outcome, waits, asked: store.asked.slice(1), at, file: readFileSync(path) }
}

describe('a download from a store', () => {
  test('carries no key, and asks for the bytes as they are', async () => {
    const { outcome, asked, file } = await fromStore([answer(200, FILE)])
    assert.deepEqual(
      [(outcome as { bytes: number }).bytes, file.equals(FILE), asked[0]!.path],
      [FILE.length, true, '/catalog?signature=abc'],
    )
    assert.deepEqual(
      [asked[0]!.headers['accept-encoding'], asked[0]!.headers['range']],
      ['identity', undefined],
    )
  })

  for (const [what, reply] of [
    ['goes on where the connection broke', (from) => rest(from)],
    [
      'begins anew at a store that knows no ranges, and keeps each byte once',
      () => answer(200, FILE, { etag: ETAG }),
    ],
  ] satisfies [string, (from: number) => Buffer][]) {
    test(what, async () => {
      let from = 0
      const { outcome, file, asked, waits } = await fromStore([
        broken(100_000),
        (socket, { headers }) => {
          from = Number(/^bytes=(\d+)-$/.exec(headers['range']!)![1])
          socket.end(reply(from))
        },
      ])
      assert.ok(!(outcome instanceof Error), String(outcome))
      assert.ok(from > 0 && from <= 100_000)
      assert.deepEqual(
        [file.equals(FILE), asked[1]!.headers['if-range'], waits],
        [true, ETAG, [0.5]],
      )
    })
  }

  test('breaks off as often as the attempts last, and leaves what was there', async () => {
    const go: Reply = (socket, { headers }) => {
      const from = Number(/\d+/.exec(headers['range']!)![0])
      const bytes = rest(from)
      socket.end(bytes.subarray(0, bytes.length - (FILE.length - from) + 10))
    }
    const { outcome, file, at, asked } = await fromStore([broken(1_000), go, go, go])
    assert.deepEqual(
      [(outcome as RemoteError).code, String(file), readdirSync(at), asked.length],
      ['connection_lost', 'what was there', ['catalog.parquet'], 3],
    )
  })

  for (const [what, replies, code, status, asks] of [
    ['a file that is not Parquet', [answer(200, '<html>Sign in</html>')], 'damaged_file', 0, 1],
    ['a Parquet file that has no end', [answer(200, FILE.subarray(0, -4))], 'damaged_file', 0, 1],
    ['a file of two marks alone', [answer(200, 'PAR1PAR1')], 'damaged_file', 0, 1],
    ['nothing at all', [answer(200, '')], 'damaged_file', 0, 1],
    [
      'a file that changed under its address',
      [broken(100_000), answer(200, FILE, { etag: '"two"' })],
      'damaged_file',
      0,
      2,
    ],
    [
      'a rest of another length',
      [broken(100_000), rest(100, { total: FILE.length + 1 })],
      'damaged_file',
      0,
      2,
    ],
    ['a rest from elsewhere', [broken(100_000), rest(100, { said: 50 })], 'damaged_file', 0, 2],
    [
      'a length that never comes',
      [
        ...Array<Reply>(3).fill((socket) =>
          socket.end(
            Buffer.concat([
              Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${FILE.length + 5}\r\n\r\n`),
              FILE,
            ]),
          ),
        ),
      ],
      'connection_lost',
      0,
      3,
    ],
    [
      'a URL that has expired',
      [
        answer(
          403,
          '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>',
        ),
      ],
      'invalid_url',
      403,
      1,
    ],
    ['a file that is gone', [answer(404, '')], 'not_found', 404, 1],
    ['a redirect', [answer(307, '', { location: 'http://127.0.0.1:1/' })], 'redirected', 307, 1],
    [
      'a store that is down',
      [...Array<Reply>(3).fill(answer(503, ''))],
      'unreadable_answer',
      503,
      3,
    ],
    ['a store that always goes away', [cut, cut, cut], 'connection_lost', 0, 3],
    [
      'an expiry while it goes on',
      [broken(100_000), refusal(403, 'invalid_url')],
      'invalid_url',
      403,
      2,
    ],
  ] satisfies [string, Reply[], string, number, number][]) {
    test(`keeps nothing of ${what}`, async () => {
      const { outcome, file, at, asked } = await fromStore(replies)
      assert.ok(outcome instanceof RemoteError, String(outcome))
      assert.deepEqual(
        [outcome.code, outcome.status, asked.length, String(file), readdirSync(at)],
        [code, status, asks, 'what was there', ['catalog.parquet']],
      )
    })
  }

  test('waits for bytes as long as the timeout, however long the whole takes', async () => {
    const slowly: Reply = (socket) => {
      const bytes = answer(200, FILE)
      let at = 0
      const send = () => {
        socket.write(bytes.subarray(at, (at += 80_000)))
        if (at < bytes.length) setTimeout(send, 200)
        else socket.end()
      }
      send()
    }
    assert.ok((await fromStore([slowly], { timeout: 0.5, attempts: 1 })).file.equals(FILE))
    const { outcome, at } = await fromStore(
      [(socket) => socket.write(answer(200, FILE).subarray(0, 5_000))],
      { timeout: 0.1, attempts: 1 },
    )
    assert.deepEqual(
      [(outcome as RemoteError).code, readdirSync(at)],
      ['timeout', ['catalog.parquet']],
    )
  })

  test('keeps the catalog back when its attributes fail', async () => {
    const gz = gzipSync('upc,distid,attribute_name,attribute_value\n')
    const good = await fromStore([answer(200, FILE), answer(200, gz)], {
      attributes: 'attributes.csv.gz',
    })
    assert.ok(good.file.equals(FILE) && readFileSync(join(good.at, 'attributes.csv.gz')).equals(gz))
    const bad = await fromStore([answer(200, FILE), answer(200, 'upc,distid\n')], {
      attributes: 'attributes.csv.gz',
    })
    assert.deepEqual(
      [(bad.outcome as RemoteError).code, String(bad.file), readdirSync(bad.at)],
      ['damaged_file', 'what was there', ['catalog.parquet']],
    )
    const wrong = new Error('cannot be closed')
    const late = await fromStore([answer(200, FILE), answer(200, gz)], {
      attributes: new WritableStream({
        close: () => {
          throw wrong
        },
      }),
    })
    assert.deepEqual(
      [late.outcome, String(late.file), readdirSync(late.at)],
      [wrong, 'what was there', ['catalog.parquet']],
    )
  })

  test('ends with what the caller throws, and with the signal', async () => {
    const wrong = new Error("the caller's own")
    const thrown = await fromStore([answer(200, FILE)], {
      onProgress: () => {
        throw wrong
      },
    })
    assert.deepEqual([thrown.outcome, readdirSync(thrown.at)], [wrong, ['catalog.parquet']])
    const ending = new AbortController()
    const aborted = await fromStore(
      [
        broken(10_000),
        (socket) => {
          ending.abort()
          socket.destroy()
        },
      ],
      { signal: ending.signal },
    )
    assert.deepEqual(
      [(aborted.outcome as RemoteError).code, readdirSync(aborted.at)],
      ['aborted', ['catalog.parquet']],
    )
  })

  test("a stream of the caller's that fails ends it, and one that is left half written is aborted", async () => {
    const whole = await shopOf([answer(200, FILE)])
    const full = new Error('the disk is full')
    await assert.rejects(
      downloadCatalog(
        whole.shop,
        new WritableStream({
          write: () => {
            throw full
          },
        }),
      ),
      full,
    )
    const half = await shopOf([answer(200, FILE.subarray(0, -4))])
    let reason: unknown
    await assert.rejects(
      downloadCatalog(
        half.shop,
        new WritableStream({
          abort: (why) => {
            reason = why
          },
        }),
      ),
      { code: 'damaged_file' },
    )
    assert.equal((reason as RemoteError).code, 'damaged_file')
    for (const { store } of [whole, half]) await store[Symbol.asyncDispose]()
  })

  test(
    'aborts streams that it had not begun, so that nobody waits at their other end',
    { timeout: 10_000 },
    async () => {
      const reasons = async (shop: Shop) => {
        const ends = [
          new TransformStream<Uint8Array, Uint8Array>(),
          new TransformStream<Uint8Array, Uint8Array>(),
        ] as const
        const read = ends.map(({ readable }) =>
          readable
            .getReader()
            .read()
            .then(
              () => 'read',
              (error: RemoteError) => error.code,
            ),
        )
        await assert.rejects(
          downloadCatalog(shop, ends[0].writable, { attributes: ends[1].writable, attempts: 1 }),
          RemoteError,
        )
        return Promise.all(read)
      }
      const lost = await shopOf([answer(403, '')])
      assert.deepEqual(await reasons(lost.shop), ['invalid_url', 'invalid_url'])
      await lost.store[Symbol.asyncDispose]()
      await using server = await rawServer(
        refusal(429, 'catalog_polled_too_early', { 'retry-after': '1200' }),
      )
      assert.deepEqual(await reasons(connect(server.url, 'x')), [
        'catalog_polled_too_early',
        'catalog_polled_too_early',
      ])
    },
  )

  test('was aborted while it was asked for: a fetch that throws at once because of that is heard, too', async () => {
    const unheard: unknown[] = []
    const note = (reason: unknown) => {
      unheard.push(reason)
    }
    process.on('unhandledRejection', note)
    const ending = new AbortController()
    const { shop, store } = await shopOf([])
    const asked = {
      products: {
        catalog: async () => {
          ending.abort()
          return shop.products.catalog()
        },
      },
    } as unknown as Shop
    const fetch = (request: Request) => {
      request.signal.throwIfAborted()
      return globalThis.fetch(request)
    }
    await assert.rejects(
      downloadCatalog(asked, join(folder(), 'catalog.parquet'), { signal: ending.signal, fetch }),
      { code: 'aborted' },
    )
    await new Promise(setImmediate)
    process.off('unhandledRejection', note)
    assert.deepEqual(unheard, [])
    await store[Symbol.asyncDispose]()
  })

  test('says of an app that keeps its files in memory that no URL leads there', async () => {
    const { outcome, asked } = await fromStore([], {
      url: await memoryStore({ now: () => 0 }).url('exports/a.parquet', { expiresIn: 60 }),
    })
    assert.deepEqual([(outcome as RemoteError).code, asked.length], ['invalid_url', 0])
    assert.match((outcome as RemoteError).message, /no address on the network \(memory:\)/)
  })
})

test('two downloads into one file do not mix', async () => {
  const at = folder()
  const path = join(at, 'catalog.parquet')
  const other = Buffer.concat([
    Buffer.from('PAR1'),
    Buffer.alloc(200_000, 'y'),
    Buffer.from('PAR1'),
  ])
  const shops = [await shopOf([answer(200, FILE)]), await shopOf([answer(200, other)])]
  await Promise.all(shops.map(({ shop }) => downloadCatalog(shop, path)))
  assert.ok([FILE, other].some((file) => readFileSync(path).equals(file)))
  assert.deepEqual(readdirSync(at), ['catalog.parquet'])
  for (const { store } of shops) await store[Symbol.asyncDispose]()
})
