/** A connector's HTTP: where it may connect to, and what it knows of a call that failed. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect, createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { DAY } from '../../../lib/core/clock.js'
import { addressOf, checkHost } from '../../../lib/distributors/session/egress.js'
import type { Egress } from '../../../lib/distributors/session/egress.js'
import { CallFault, callHttp } from '../../../lib/distributors/session/http.js'
import type { HttpCall } from '../../../lib/distributors/session/http.js'
import { openSession } from '../../../lib/distributors/session/open-session.js'
import { streamHttp } from '../../../lib/distributors/session/stream.js'
import type { TakePieces } from '../../../lib/distributors/session/stream.js'
import { makeCertificate } from '../../../lib/simulator/wire/certificate.js'

const NOW = Date.UTC(2026, 10, 22)
const SIMULATOR: Egress = { hosts: [], simulator: {} }
const open: Server[] = []
after(() => open.forEach((server) => server.close()))

async function listening(server: Server): Promise<number> {
  open.push(server)
  server.on('connection', (socket) => socket.unref())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function served(answer: RequestListener): Promise<{ url: string; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = []
  const port = await listening(
    createServer((request, response) => {
      seen.push(request)
      answer(request, response)
    }),
  )
  return { url: `http://127.0.0.1:${port}/orders?page=1`, seen }
}

const call = (url: string, more: Partial<HttpCall> = {}, egress = SIMULATOR) =>
  callHttp(
    egress,
    { method: 'POST', url, body: '{"po":"1"}', ...more },
    new AbortController().signal,
  )

async function fails(work: Promise<unknown>, message: RegExp, sent: boolean): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof CallFault, String(error))
    assert.match(error.message, message)
    assert.equal(error.sent, sent, error.message)
    return true
  })
}

describe('a call', () => {
  test('gets status, headers and body, whatever the status is', async () => {
    const { url, seen } = await served((request, response) => {
      response.writeHead(422, { 'x-quota': '7' })
      request.pipe(response)
    })
    const { status, headers, body } = await call(url, { headers: { Token: 'abc' } })
    assert.deepEqual([status, headers.get('x-quota'), String(body)], [422, '7', '{"po":"1"}'])
    const [{ method, url: path, headers: sent } = {} as IncomingMessage] = seen
    assert.deepEqual([method, path, sent['token']], ['POST', '/orders?page=1', 'abc'])
  })

  test('unpacks an answer, up to its limit', async () => {
    const { url } = await served((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      response.end(gzipSync(Buffer.alloc(5_000, 'a')))
    })
    assert.equal((await call(url, { maxBytes: 5_000 })).body.length, 5_000)
    await fails(call(url, { maxBytes: 4_999 }), /larger than 4999 bytes/, true)
  })

  test('gets all of a long answer whose sender closes at once, however it is split', async () => {
    const piece = Buffer.alloc(70_000, 'x')
    const { url } = await served((_request, response) => {
      response.writeHead(200, { connection: 'close' })
      for (let i = 0; i < 5; i++) response.write(piece)
      response.end()
      response.socket?.end()
    })
    const bytes = await Promise.all(
      Array.from({ length: 50 }, async () => (await call(url)).body.length),
    )
    assert.deepEqual([...new Set(bytes)], [350_000])
  })

  test('follows no redirect', async () => {
    const other = await served((_request, response) => response.end())
    const { url } = await served((_request, response) => {
      response.writeHead(307, { location: other.url })
      response.end()
    })
    assert.equal((await call(url)).status, 307)
    assert.deepEqual(other.seen, [])
  })

  test('is made once: what breaks off after it was sent is not sent again', async () => {
    const { url, seen } = await served((request) => request.socket.destroy())
    await fails(call(url), /broken off/, true)
    await fails(call(url, { method: 'GET' }), /broken off/, true)
    assert.equal(seen.length, 2)
  })

  test('takes a fresh connection each time', async () => {
    const ports = new Set<number | undefined>()
    const { url } = await served((request, response) => {
      ports.add(request.socket.remotePort)
      response.end('ok')
    })
    for (let i = 0; i < 3; i++) await call(url)
    assert.equal(ports.size, 3)
  })

  test('that is cut off, too large, too slow or stands still says so, and may have arrived', async () => {
    const answers = {
      cut: (response: ServerResponse) => {
        response.writeHead(200, { 'content-length': 100 })
        response.write('half')
        setImmediate(() => response.destroy())
      },
      large: (response: ServerResponse) => response.end(Buffer.alloc(101)),
      late: () => {},
      still: (response: ServerResponse) => response.writeHead(200).write('half'),
    }
    const { url } = await served((request, response) => {
      answers[new URL(request.url!, 'http://a').pathname.slice(1) as keyof typeof answers](response)
    })
    const at = (name: keyof typeof answers) => url.replace('orders', name)
    await fails(call(at('cut')), /broken off/, true)
    await fails(call(at('large'), { maxBytes: 100 }), /larger than 100 bytes/, true)
    await fails(call(at('late'), { answerTimeout: 1_000 }), /no answer for 1 seconds/, true)
    await fails(call(at('still'), { stallTimeout: 1_000 }), /stood still for 1 seconds/, true)
  })

  test('to nobody, or that was stopped before, was not sent', async () => {
    const port = await listening(createTcpServer())
    open.at(-1)!.close()
    await fails(call(`http://127.0.0.1:${port}/`), /the connection is refused/, false)
    const { url, seen } = await served((_request, response) => response.end())
    await fails(
      callHttp(SIMULATOR, { method: 'GET', url }, AbortSignal.abort()),
      /given up|stopped/,
      false,
    )
    assert.deepEqual(seen, [])
  })
})

describe('TLS', () => {
  const secure = async (made: ReturnType<typeof makeCertificate>) => {
    const server = createSecureServer(
      { cert: made.certificate, key: made.key },
      (_request, response) => response.end('safe'),
    )
    return `https://localhost:${await listening(server)}/`
  }
  const trusting = (certificate: string): Egress => ({ hosts: [], simulator: { certificate } })

  test("of a simulator is trusted by its own certificate, and by nobody else's", async () => {
    const [mine, other] = [makeCertificate({ now: NOW }), makeCertificate({ now: NOW })]
    const url = await secure(mine)
    assert.equal(String((await call(url, {}, trusting(mine.certificate))).body), 'safe')
    await fails(call(url, {}, trusting(other.certificate)), /not one that is trusted/, false)
    await fails(call(url), /not one that is trusted/, false)
  })

  test('of another host, or that has ended, is refused', async () => {
    const strange = makeCertificate({ now: NOW, names: ['ftps.example'] })
    await fails(
      call(await secure(strange), {}, trusting(strange.certificate)),
      /that of another host/,
      false,
    )
    const old = makeCertificate({ now: NOW, after: -DAY })
    await fails(call(await secure(old), {}, trusting(old.certificate)), /has expired/, false)
  })
})

describe('a call that must not leave any more once its connection is there', () => {
  const made = makeCertificate({ now: NOW })
  const egress: Egress = { hosts: [], simulator: { certificate: made.certificate } }
  const fault = 'another node may be about to send'

  /** A server whose handshake waits until `goOn` is called; `seen` is what it was asked. */
  async function slowServer(): Promise<{
    url: string
    seen: string[]
    met: Promise<void>
    goOn: () => void
  }> {
    const seen: string[] = []
    const secure = createSecureServer(
      { cert: made.certificate, key: made.key },
      (request, response) => {
        seen.push(`${request.method} ${request.url}`)
        response.end('{}')
      },
    )
    let goOn = () => {}
    let meet = () => {}
    const met = new Promise<void>((resolve) => {
      meet = resolve
    })
    const port = await listening(
      createTcpServer((socket) => {
        goOn = () => void secure.emit('connection', socket)
        meet()
      }),
    )
    return { url: `https://localhost:${port}/orders`, seen, met, goOn: () => goOn() }
  }

  const session = (refusal: () => string | null) =>
    openSession(
      { name: 'Test' },
      { settings: {}, signal: new AbortController().signal, now: () => NOW, refusal },
    )

  for (const how of ['a call', 'one with a long answer'] as const)
    test(`${how} sends nothing`, async () => {
      const { url, seen, met, goOn } = await slowServer()
      let why: string | null = null
      const { httpAt, streamAt } = session(() => why)
      const ask = () =>
        how === 'a call'
          ? httpAt(url, egress)({ method: 'POST', path: '', body: '{"po":"1"}' })
          : streamAt(url, egress)({ method: 'POST', path: '', body: '{"po":"1"}' }, async () => {})
      const late = ask()
      await met
      why = fault
      goOn()
      await fails(late, new RegExp(fault), false)
      // One that is refused before makes no connection.
      await fails(ask(), new RegExp(fault), false)
      assert.deepEqual(seen, [])
    })
})

describe('where a connector may connect to', () => {
  const real: Egress = { hosts: ['api.distributor.example', 'localhost', '10.1.2.3'] }

  test("are the distributor's hosts and no others", () => {
    checkHost(real, 'API.distributor.example')
    assert.throws(() => checkHost(real, 'api.distributor.example.evil.example'), /is not a host/)
    assert.throws(() => checkHost(real, 'distributor.example'), /is not a host/)
  })

  test('is never a private address, whatever name leads there', async () => {
    await assert.rejects(addressOf(real, 'localhost'), /a private or local address/)
    await assert.rejects(addressOf(real, '10.1.2.3'), /a private or local address/)
    await fails(
      call('https://localhost/', {}, real),
      /a private or local address, where no distributor is/,
      false,
    )
  })

  test('is this machine alone for a simulator', async () => {
    for (const host of ['api.distributor.example', '10.1.2.3', '128.0.0.1', '127.0.0.1.example'])
      assert.throws(() => checkHost(SIMULATOR, host), /simulator is nowhere else/, host)
    assert.deepEqual(await addressOf(SIMULATOR, '127.0.0.1'), { address: '127.0.0.1', family: 4 })
  })

  test('is over https, unless it is a simulator', async () => {
    await fails(call('http://api.distributor.example/', {}, real), /over https alone/, false)
  })
})

describe("the operator's proxy", () => {
  const proxied = async (status: number, to: number) => {
    const asked: { path: string | undefined; login: string | undefined }[] = []
    const proxy = createServer()
    proxy.on('connect', (request, client) => {
      asked.push({ path: request.url, login: request.headers['proxy-authorization'] })
      client.on('error', () => {})
      if (status !== 200) return client.end(`HTTP/1.1 ${status} No\r\n\r\n`)
      const target = connect(to, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n')
        client.pipe(target).pipe(client)
      })
      target.on('error', () => client.destroy())
    })
    const port = await listening(proxy)
    return { asked, proxy: `http://me:s%20cret@127.0.0.1:${port}` }
  }

  test('is asked with its login for the host by name', async () => {
    const made = makeCertificate({ now: NOW })
    const server = createSecureServer(
      { cert: made.certificate, key: made.key },
      (_request, response) => response.end('through'),
    )
    const { proxy, asked } = await proxied(200, await listening(server))
    const egress: Egress = { hosts: [], simulator: { certificate: made.certificate }, proxy }
    assert.equal(String((await call('https://localhost/', {}, egress)).body), 'through')
    assert.deepEqual(asked, [
      { path: 'localhost:443', login: `Basic ${Buffer.from('me:s cret').toString('base64')}` },
    ])
  })

  test('that refuses has sent nothing, and is not asked for another host', async () => {
    const { proxy, asked } = await proxied(403, 0)
    const egress: Egress = { hosts: ['api.distributor.example'], proxy }
    await fails(
      call('https://api.distributor.example/', {}, egress),
      /the proxy refuses api.distributor.example: HTTP 403/,
      false,
    )
    await fails(call('https://other.example/', {}, egress), /is not a host/, false)
    assert.equal(asked.length, 1)
  })
})

describe('a long answer', () => {
  const stream = (
    url: string,
    more: Partial<HttpCall> = {},
    take: TakePieces = async (pieces) => {
      for await (const piece of pieces) assert.ok(piece.length > 0)
    },
  ) => streamHttp(SIMULATOR, { method: 'GET', url, ...more }, new AbortController().signal, take)
  const answering = async (bytes: number, more: { gzip?: boolean } = {}) => {
    const body = Buffer.alloc(bytes, 'a')
    return served((_request, response) => {
      response.writeHead(200, more.gzip ? { 'content-encoding': 'gzip' } : {})
      response.end(more.gzip ? gzipSync(body) : body)
    })
  }

  test('is handed on whole, packed or not, up to its limit of bytes', async () => {
    for (const gzip of [false, true]) {
      const { url } = await answering(300_000, { gzip })
      let bytes = 0
      const { status, isTaken, body } = await stream(url, { maxBytes: 300_000 }, async (pieces) => {
        for await (const piece of pieces) bytes += piece.length
      })
      assert.deepEqual([status, isTaken, body.length, bytes], [200, true, 0, 300_000])
      await fails(stream(url, { maxBytes: 299_999 }), /larger than 299999 bytes/, true)
    }
  })

  test('of another status, or in HTML, is told instead', async () => {
    for (const [status, type] of [
      [500, 'application/json'],
      [200, 'text/html; charset=utf-8'],
    ] as const) {
      const { url } = await served((_request, response) => {
        response.writeHead(status, { 'content-type': type })
        response.end('why')
      })
      const answer = await stream(url, {}, async () => assert.fail('it was handed on'))
      assert.deepEqual([answer.status, answer.isTaken, String(answer.body)], [status, false, 'why'])
    }
  })

  test('that stands still is given up, however slow its taker may be', async () => {
    const { url } = await served((_request, response) => {
      response.writeHead(200, { 'content-length': '20' })
      response.write('a'.repeat(10))
      setTimeout(() => response.write('b'.repeat(5)), 50)
    })
    await fails(stream(url, { stallTimeout: 300 }), /stood still for 0\.3 seconds/, true)
    const slow = await answering(200_000)
    await stream(slow.url, { stallTimeout: 100 }, async (pieces) => {
      for await (const piece of pieces) {
        assert.ok(piece.length > 0)
        await new Promise((resolve) => setTimeout(resolve, 150))
      }
    })
  })

  test('that is cut off, or packed and damaged, is a fault', async () => {
    const cut = await served((_request, response) => {
      response.writeHead(200, { 'content-length': '100000' })
      response.write('a'.repeat(50_000), () => response.destroy())
    })
    await fails(stream(cut.url), /broken off/, true)
    const whole = gzipSync(Buffer.from(Array.from({ length: 9_000 }, (_, i) => `${i}`).join()))
    const damaged = await served((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      response.end(whole.subarray(0, whole.length / 2))
    })
    await fails(stream(damaged.url), /cut off or damaged/, true)
  })

  test('whose taker has had enough is broken off with what the taker says', async () => {
    const { url } = await answering(5_000_000)
    const enough = new Error('enough')
    await assert.rejects(
      stream(url, {}, async (pieces) => {
        for await (const piece of pieces) if (piece.length > 0) throw enough
      }),
      (error) => error === enough,
    )
  })

  test('that nobody waits for any longer ends', async () => {
    const { url } = await served((_request, response) => {
      response.writeHead(200)
      response.write('a')
    })
    const ending = new AbortController()
    setTimeout(() => ending.abort(), 50)
    const call = streamHttp(SIMULATOR, { method: 'GET', url }, ending.signal, async (pieces) => {
      for await (const piece of pieces) assert.equal(String(piece), 'a')
    })
    await fails(call, /given up/, true)
  })
})
