/**
 * What a connector makes of everything that may go wrong while it brings a feed. Between it and the
 * simulator stands a relay that spoils answers on the wire.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request as send } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { MINUTE } from '../../lib/core/clock.js'
import { JsonFault } from '../../lib/distributors/session/json-rows.js'
import { Logins, loginsOf } from '../../lib/distributors/session/logins.js'
import { openSession } from '../../lib/distributors/session/open-session.js'
import { simulated } from '../../lib/distributors/builtin/index.js'
import type { Session } from '../../lib/distributors/session/session.js'
import { openStandAlone } from '../../lib/simulator/stand-alone.js'
import type { StandAlone } from '../../lib/simulator/stand-alone.js'
import { writeDemoFeeds, writeOtherFeeds, demoFeedDir } from '../../lib/simulator/demo/feeds.js'

const NOON = Date.UTC(2026, 10, 21, 12)
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** What the relay does with one answer. */
type Spoil = (body: Buffer, from: IncomingMessage, response: ServerResponse) => void

let dir: string
let alone: StandAlone
let clock = NOON
before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'qm-account-'))
  await writeDemoFeeds(demoFeedDir(dir), { asOf: NOON, offers: 600 })
  await writeOtherFeeds(demoFeedDir(dir), { asOf: NOON, offers: 600 })
  alone = await openStandAlone({ dir, now: () => clock, log: silent })
})
after(() => {
  alone.close()
  rmSync(dir, { recursive: true, force: true })
})

const cut: Spoil = (body, from, response) => {
  response.writeHead(200, { ...from.headers, 'content-length': body.length })
  response.write(body.subarray(0, body.length / 2), () => response.destroy())
}
/** Ends as if it were whole: nothing says how long it was to be. */
const cutQuietly: Spoil = (body, from, response) => {
  response.useChunkedEncodingByDefault = false
  response.setHeader('connection', 'close')
  response.writeHead(200, { 'content-type': from.headers['content-type']! })
  response.end(body.subarray(0, body.length / 2))
}
const page: Spoil = (_body, _from, response) => {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
  response.end('<!DOCTYPE html><html><body>Down for maintenance</body></html>')
}
const tooMany: Spoil = (_body, _from, response) => {
  response.writeHead(429, { 'retry-after': '7200' })
  response.end('{"message":"too-many-requests"}')
}
const packed: Spoil = (body, from, response) => {
  const bytes = gzipSync(body)
  response.writeHead(200, {
    'content-type': from.headers['content-type']!,
    'content-encoding': 'gzip',
    'content-length': bytes.length,
  })
  response.end(bytes)
}
/** Byte for byte where a sign may be split, and the rest at once. */
const inPieces: Spoil = (body, from, response) => {
  response.writeHead(200, { 'content-type': from.headers['content-type']! })
  for (let at = 0; at < 3_000; at += 7) response.write(body.subarray(at, at + 7))
  response.end(body.subarray(Math.ceil(3_000 / 7) * 7))
}

interface Bringing {
  settings?: Record<string, unknown>
  /** By the end of the path; for the first such answer alone. */
  spoil?: Record<string, Spoil>
  /** Changes a request on its way. */
  alter?: (headers: IncomingHttpHeaders, path: string) => void
  preset?: string
  logins?: Logins
}

interface Brought {
  text: string
  holds: number[]
  asked: string[]
  seen: IncomingMessage[]
}

/** Brings a feed by way of the relay. */
async function bring(distid: string, options: Bringing = {}): Promise<Brought> {
  const { spoil = {}, alter, logins = new Logins(() => clock) } = options
  const { distributor, simulator } = simulated.get(distid)!
  const target = new URL(alone.distributors.find((one) => one.distid === distid)!.address)
  const left = { ...spoil }
  const [asked, seen]: [string[], IncomingMessage[]] = [[], []]
  const relay = createServer((request, response) => {
    const path = request.url!.split('?')[0]!
    asked.push(path.slice(path.lastIndexOf('/') + 1))
    seen.push(request)
    const headers: IncomingHttpHeaders = { ...request.headers }
    alter?.(headers, path)
    const onward = send(
      { host: '127.0.0.1', port: target.port, method: request.method, path: request.url, headers },
      (from) => {
        const pieces: Buffer[] = []
        from
          .on('data', (piece: Buffer) => pieces.push(piece))
          .on('end', () => {
            const name = Object.keys(left).find(
              (end) => path.endsWith(end) || request.url!.endsWith(end),
            )
            const way = name === undefined ? undefined : left[name]
            if (name !== undefined) delete left[name]
            if (way) return way(Buffer.concat(pieces), from, response)
            response.writeHead(from.statusCode!, from.headers)
            response.end(Buffer.concat(pieces))
          })
      },
    )
    request.pipe(onward)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => relay.once('listening', resolve))
  const own = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`
  const file = join(dir, `${distid}.feed`)
  rmSync(file, { force: true })
  const holds: number[] = []
  try {
    const plain = openSession(distributor, {
      settings: { ...simulator.credentials, ...options.settings },
      signal: AbortSignal.timeout(20_000),
      now: () => clock,
      login: loginsOf({ logins }, { distid, mode: 'simulator' }),
    })
    const egress = { hosts: [], simulator: {} }
    const session: Session = {
      ...plain,
      http: plain.httpAt(own + target.pathname, egress),
      stream: plain.streamAt(own + target.pathname, egress),
      streamFrom: ({ url, ...call }, take) =>
        plain.streamAt('', egress)({ ...call, method: 'GET', path: url }, take),
    }
    const preset = options.preset ?? Object.keys(distributor.feeds!)[0]!
    const { outcome } = await distributor.feeds![preset]!.bring(session, {
      file,
      mark: null,
      holdUntil: async (time) => void holds.push(time - clock),
    })
    assert.equal(outcome, 'written')
    return { text: readFileSync(file, 'utf8'), holds, asked, seen }
  } catch (error) {
    throw Object.assign(error as Error, { holds, asked })
  } finally {
    relay.closeAllConnections()
    relay.close()
  }
}

const rows = (text: string) => text.split('\r\n').length - 2

/** Where the rows come, by distributor. */
const FEEDS = {
  LIP: 'CatalogFeed',
  CSSI: '.csv',
  TSW: 'DailyItemUpdate',
  '2AW': 'feed/productV2',
  ORI: 'method=get_catalog',
} as const

for (const [distid, path] of Object.entries(FEEDS))
  describe(`${distid}, a feed that is not what it should be`, () => {
    const next = () => void (clock += 21 * MINUTE)
    test('is the same packed, and in pieces of a few bytes', async () => {
      const whole = await bring(distid)
      assert.ok(rows(whole.text) > 100)
      next()
      assert.equal((await bring(distid, { spoil: { [path]: packed } })).text, whole.text)
      next()
      assert.equal((await bring(distid, { spoil: { [path]: inPieces } })).text, whole.text)
      next()
    })

    test('cut off in the middle is no feed', async () => {
      await assert.rejects(bring(distid, { spoil: { [path]: cut } }), {
        message: /the connection was broken off/,
      })
      next()
    })

    // A CSV says nothing of its end: the guard looks at its last line.
    if (distid !== 'CSSI')
      test('cut off without a word is no feed either', () =>
        assert.rejects(bring(distid, { spoil: { [path]: cutQuietly } }), {
          message: /cut off in the middle/,
        }))

    test('a page in HTML is none', async () => {
      await assert.rejects(bring(distid, { spoil: { [path]: page } }), {
        message: /page in HTML/,
      })
      next()
    })

    test('HTTP 429 is told', async () => {
      await assert.rejects(bring(distid, { spoil: { [path]: tooMany } }), {
        message: /HTTP 429/,
      })
      next()
    })

    test('a wrong login is asked with twice, and not again', async () => {
      const wrong = { api_password: 'not-it', api_token: 'not-it', connection_key: 'not-it' }
      const logins = new Logins(() => clock)
      const settings = Object.fromEntries(
        Object.entries(wrong).filter(
          ([name]) => name in simulated.get(distid)!.simulator.credentials,
        ),
      )
      for (let turn = 0; turn < 2; turn++)
        await assert.rejects(bring(distid, { settings, logins }), {
          message: /the login was refused/,
        })
      await assert.rejects(bring(distid, { settings, logins }), (error) => {
        assert.match(String(error), /refused 2 times and is not tried for an hour/)
        assert.deepEqual((error as { asked?: string[] }).asked, [])
        return true
      })
    })
  })

describe("Lipsey's", () => {
  test('a token that is taken no more is asked for anew, once', async () => {
    let turn = 0
    const { asked, text } = await bring('LIP', {
      alter: (headers, path) => {
        if (path.endsWith('CatalogFeed') && turn++ === 0) headers['token'] = 'stale'
      },
    })
    assert.deepEqual(asked, ['login', 'CatalogFeed', 'login', 'CatalogFeed'])
    assert.ok(rows(text) > 100)
    await assert.rejects(
      bring('LIP', {
        alter: (headers, path) => {
          if (path.endsWith('CatalogFeed')) headers['token'] = 'stale'
        },
      }),
      { message: 'the token of a new login was not taken' },
    )
  })

  test('prices: nobody asks before nextUpdate', async () => {
    const { holds, text } = await bring('LIP', { preset: 'lipseys-pricing' })
    assert.ok(rows(text) > 100)
    assert.equal(holds.length, 1)
    assert.equal((clock + holds[0]!) % (60 * MINUTE), 0)
    assert.ok(holds[0]! > 0 && holds[0]! <= 60 * MINUTE, String(holds[0]))
  })

  test('an item without what the catalog needs is told by name', () =>
    assert.rejects(
      bring('LIP', {
        spoil: {
          CatalogFeed: (body, from, response) => {
            response.writeHead(200, { 'content-type': from.headers['content-type']! })
            response.end(body.toString().replaceAll('"fflRequired"', '"ffl"'))
          },
        },
      }),
      { message: 'no item of items/CatalogFeed has fflRequired' },
    ))

  test('what is not JSON is told as that', () =>
    assert.rejects(
      bring('LIP', {
        spoil: {
          CatalogFeed: (body, from, response) => {
            response.writeHead(200, { 'content-type': from.headers['content-type']! })
            response.end(body.toString().replace('},{', '},,{'))
          },
        },
      }),
      JsonFault,
    ))
})

describe('Chattanooga', () => {
  test('waits for 20 minutes, and longer where it is told so', async () => {
    const { holds, seen, asked } = await bring('CSSI')
    assert.deepEqual(holds, [20 * MINUTE])
    assert.equal(asked[0], 'product-feed')
    assert.match(asked[1]!, /\.csv$/)
    assert.match(String(seen[0]!.headers['authorization']), /^Basic DEMO-SID:/)
    for (const request of seen.slice(1)) assert.equal(request.headers['authorization'], undefined)
    await assert.rejects(bring('CSSI'), (error) => {
      assert.match(String(error), /asked too soon.*429/)
      assert.deepEqual((error as { holds?: number[] }).holds, [20 * MINUTE])
      return true
    })
    clock += 21 * MINUTE
    await assert.rejects(bring('CSSI', { spoil: { 'product-feed': tooMany } }), (error) => {
      assert.deepEqual((error as { holds?: number[] }).holds, [120 * MINUTE])
      return true
    })
    clock += 121 * MINUTE
  })

  test('an address that is named must be one of the internet, over https', async () => {
    const { distributor, simulator } = simulated.get('CSSI')!
    const session = openSession(distributor, {
      settings: simulator.credentials,
      signal: AbortSignal.timeout(5_000),
      now: () => clock,
    })
    for (const [url, why] of [
      ['http://feeds.example/a.csv', /not asked over https/],
      ['https://127.0.0.1/a.csv', /no name of the internet/],
      ['https://[::1]/a.csv', /no name of the internet/],
      ['https://localhost/a.csv', /no name of the internet/],
      ['https://feeds.example:8443/a.csv', /a port or a login/],
      ['https://user:word@feeds.example/a.csv', /a port or a login/],
      ['nowhere', /that is none/],
    ] as const)
      await assert.rejects(
        session.streamFrom({ url }, async () => {}),
        { message: why },
        url,
      )
  })
})
