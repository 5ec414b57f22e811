/** nginx and Caddy of Debian, with the files of data/operating, in front of a real server. */
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { start, stop } from '../server/launcher.js'
import { SITE, ask, caddy, freePort, makeCertificate, nginx } from './proxy.js'
import type { Ask } from './proxy.js'
import { makeShop, ready } from './shop.js'

/** The address that the shop's key is good for, and another one. */
const [SHOP, STRANGER] = ['127.0.0.5', '127.0.0.6']
const MB = 1_048_576

for (const proxy of [nginx, caddy])
  describe(`behind ${proxy.name}`, { skip: proxy.missing ?? false }, () => {
    let folder: string
    let port: number
    let ca: string
    let key: string
    const children: ChildProcess[] = []

    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'qm-proxy-'))
      const front = join(folder, 'proxy')
      mkdirSync(front)
      ca = readFileSync(makeCertificate(front).cert, 'utf8')
      const dir = join(folder, 'state')
      key = await makeShop(dir, SHOP)
      port = await freePort()
      const options = ['--trust-proxy', '127.0.0.1', '--public-url', `https://${SITE}:${port}`]
      const { child, first } = await start(dir, 'serve', ...options)
      children.push(child)
      await ready(first.admin)
      children.push(await proxy.start(front, port, Number(new URL(first.url).port)))
    })
    after(async () => {
      await Promise.all(children.map(stop))
      rmSync(folder, { recursive: true, force: true })
    })

    const call = (path: string, options: Partial<Ask> = {}) =>
      ask({
        port,
        ca,
        path,
        from: SHOP,
        ...options,
        headers: { 'x-api-key': key, ...options.headers },
      })
    const codeOf = (body: Buffer) =>
      (JSON.parse(body.toString()) as { error?: { code: string } }).error?.code

    test('a caller is known by its own address, over TLS', async () => {
      assert.equal((await call('/v1/ping')).status, 200)
      const other = await call('/v1/ping', { from: STRANGER })
      assert.deepEqual([other.status, codeOf(other.body)], [403, 'ip_not_allowed'])
      await assert.rejects(call('/v1/ping', { ca: undefined }), { code: /SELF_SIGNED/ })
    })

    test('an X-Forwarded-For that a caller made up opens nothing', async () => {
      for (const made of [
        SHOP,
        `${SHOP}, ${SHOP}`,
        '127.0.0.1',
        `${SHOP}, 127.0.0.1`,
        'unknown',
        '',
      ]) {
        const { status, body } = await call('/v1/ping', {
          from: STRANGER,
          headers: { 'x-forwarded-for': made },
        })
        assert.deepEqual([status, codeOf(body)], [403, 'ip_not_allowed'], made)
      }
    })

    test('an export is downloaded by the URL that it was given, and no log has its signature', async () => {
      let answer = await call('/v1/products/catalog')
      // On a machine that is very busy the first one is not there within a minute: a caller asks again.
      while (answer.status === 503) answer = await call('/v1/products/catalog')
      assert.equal(answer.status, 200)
      const { data } = JSON.parse(answer.body.toString()) as {
        data: { url: string }
      }
      const url = new URL(data.url)
      assert.equal(url.origin, `https://${SITE}:${port}`)
      assert.match(url.pathname, /^\/objects\//)
      const file = await ask({ port, ca, path: url.pathname + url.search, from: STRANGER })
      assert.equal(file.status, 200)
      assert.equal(file.body.subarray(0, 4).toString(), 'PAR1')
      const wrong = await ask({ port, ca, path: `${url.pathname}?expires=1&signature=x` })
      assert.notEqual(wrong.status, 200)
      if (proxy.accessLog === undefined) return
      assert.match(proxy.accessLog(join(folder, 'proxy')), / GET \/objects\/\S+ 200 /)
      assert.doesNotMatch(proxy.accessLog(join(folder, 'proxy')), /signature|\?/)
    })

    test('a body of 1 MB passes, and a larger one is refused by the server itself', async () => {
      const send = (bytes: number) =>
        call('/v1/config/validate', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"configuration":{}}'.padEnd(bytes, ' '),
        })
      const fits = await send(MB)
      assert.equal(fits.status, 200, fits.body.toString().slice(0, 200))
      const large = await send(MB + 1)
      assert.deepEqual([large.status, codeOf(large.body)], [413, 'payload_too_large'])
    })
  })
