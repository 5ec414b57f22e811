import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MINUTE } from '../../lib/core/clock.js'
import { s3Store } from '../../lib/objects/s3.js'
import type { S3Options } from '../../lib/objects/s3-calls.js'
import { startProcess } from '../server/launcher.js'
import { answering, s3Error, silent } from './s3-fakes.js'
import type { Fake } from './s3-fakes.js'

const SECRET = 'wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY'
const options: S3Options = {
  endpoint: 'http://127.0.0.1:1',
  bucket: 'files',
  region: 'us-east-1',
  accessKey: 'AKIAIOSFODNN7EXAMPLE',
  secretKey: SECRET,
  pathStyle: true,
  now: Date.now,
}
const storeAt = ({ endpoint }: { endpoint: string }, other: Partial<S3Options> = {}) =>
  s3Store({ ...options, endpoint, ...other })
const csv = { contentType: 'text/csv' }

describe('an S3 server that refuses', () => {
  /** Asked for when it is needed: this suite may wait for others. */
  const off = () => new Date(Date.now() - 20 * MINUTE)
  const table: [
    what: string,
    fake: Parameters<typeof answering>[0],
    verdict: string,
    line: RegExp,
  ][] = [
    [
      'an access key',
      s3Error(403, 'InvalidAccessKeyId', {
        members: '<AWSAccessKeyId>AKIAIOSFODNN7EXAMPLE</AWSAccessKeyId>',
      }),
      'wrong',
      /does not know the access key "AKIAIOSFODNN7EXAMPLE"$/,
    ],
    [
      'a right',
      s3Error(403, 'AccessDenied'),
      'wrong',
      /lacks the right s3:PutObject on bucket "files"$/,
    ],
    [
      'the clock, by its Date',
      (...of) =>
        s3Error(403, 'RequestTimeTooSkewed', {
          headers: { date: off().toUTCString() },
          members:
            '<RequestTime>20261122T050000Z</RequestTime>' +
            `<ServerTime>${off().toISOString()}</ServerTime>` +
            '<MaxAllowedSkewMilliseconds>900000</MaxAllowedSkewMilliseconds>',
        })(...of),
      'wrong',
      /^this machine's clock is off: 20 minutes ahead of that of S3 at 127\.0\.0\.1:\d+; set it/,
    ],
    [
      'the clock, behind',
      (...of) =>
        s3Error(403, 'RequestTimeTooSkewed', {
          headers: { date: new Date(Date.now() + 31 * MINUTE).toUTCString() },
        })(...of),
      'wrong',
      /clock is off: 31 minutes behind that of S3/,
    ],
    [
      'what it takes for expired, with a Date that tells why',
      (...of) => s3Error(403, 'AccessDenied', { headers: { date: off().toUTCString() } })(...of),
      'wrong',
      /clock is off: 20 minutes ahead/,
    ],
    [
      'the region, by its XML',
      s3Error(400, 'AuthorizationHeaderMalformed', { members: '<Region>eu-central-1</Region>' }),
      'wrong',
      /^the region "us-east-1" is wrong for bucket "files" at .*: the server says "eu-central-1"$/,
    ],
    [
      'the region, by its header',
      s3Error(301, 'PermanentRedirect', {
        headers: { 'x-amz-bucket-region': 'eu-north-1' },
        members: '<Endpoint>files.s3.eu-north-1.amazonaws.com</Endpoint>',
      }),
      'wrong',
      /the server says "eu-north-1"$/,
    ],
    [
      'the address',
      s3Error(301, 'PermanentRedirect', { members: '<Endpoint>files.s3.example</Endpoint>' }),
      'wrong',
      /^bucket "files" is not at .*: the server says files\.s3\.example$/,
    ],
    [
      'the bucket',
      s3Error(404, 'NoSuchBucket', { members: '<BucketName>files</BucketName>' }),
      'wrong',
      /has no bucket "files"$/,
    ],
    ['everything for now', s3Error(503, 'SlowDown'), 'doubtful', /answers 503$/],
    ['everything, inside', s3Error(500, 'InternalError'), 'doubtful', /answers 500$/],
    ['with words of its own', s3Error(400, 'EntityTooSmall\n<b>'), 'wrong', /answers 400/],
    [
      'since it is not an S3 server',
      (_request, response) =>
        response
          .writeHead(404, { 'content-type': 'text/html' })
          .end('<html><body>Not found</body></html>'),
      'wrong',
      /answers 404 without a reason to what needs s3:PutObject: is it an S3 server\?$/,
    ],
    [
      'since it takes everything',
      (_request, response) => response.end('ok'),
      'wrong',
      /^what answers in the place of S3 gives no list of a bucket/,
    ],
    [
      'by hanging up',
      (request) => request.socket.destroy(),
      'doubtful',
      /cannot be reached \(ECONNRESET\)$/,
    ],
    [
      'by hanging up in the middle',
      (request, response) => {
        response.writeHead(403, { 'content-length': '1000' }).write('<Error>')
        setTimeout(() => request.socket.destroy(), 20)
      },
      'doubtful',
      /cannot be reached \(ECONNRESET\)$/,
    ],
  ]
  for (const [what, fake, verdict, line] of table) {
    test(`${what}: one line says so`, async () => {
      await using server = await answering(fake)
      const found = await storeAt(server).check()
      assert.deepEqual([found.verdict, line.test(found.line)], [verdict, true], found.line)
      const store = storeAt(server)
      for (const act of [
        () => store.has('a'),
        () => store.list(''),
        () => store.put('a', Buffer.alloc(6_000_000), csv),
      ]) {
        const message = await (act() as Promise<unknown>).then(
          () => '',
          (error: Error) => error.message,
        )
        assert.ok(!message.includes('\n') && !message.includes(SECRET), message)
      }
    })
  }

  test('the clock of a server without a Date is read from what it says', async () => {
    await using server = await answering((request, response) => {
      response.sendDate = false
      s3Error(403, 'RequestTimeTooSkewed', {
        members: `<ServerTime>${off().toISOString()}</ServerTime>`,
      })(request, response)
    })
    await assert.rejects(storeAt(server).remove('a'), {
      kind: 'refused',
      message: /20 minutes ahead/,
    })
  })

  test('has() throws for all that is not "not there"', async () => {
    for (const status of [400, 401, 403, 405, 429, 500, 503]) {
      await using server = await answering((_request, response) => response.writeHead(status).end())
      await assert.rejects(storeAt(server).has('a'), { name: 'StoreFault' }, String(status))
    }
    await using gone = await answering((_request, response) => response.writeHead(404).end())
    await assert.rejects(storeAt(gone).has('a'), /has no bucket "files"/)
  })

  test('a failed request is asked once', async () => {
    let asked = 0
    await using server = await answering((_request, response) => {
      asked++
      response.writeHead(503).end()
    })
    await assert.rejects(storeAt(server).remove('a'), { kind: 'unreachable' })
    assert.equal(asked, 1)
  })

  test('completion may fail with a 200, and the upload is given up then', async () => {
    const aborted: string[] = []
    await using server = await answering((request, response) => {
      request.resume()
      const { method, url } = request
      if (method === 'DELETE') {
        aborted.push(url!)
        response.writeHead(204).end()
      } else if (method === 'PUT') response.writeHead(200, { etag: '"0"' }).end()
      else if (url!.includes('uploads'))
        response.end(
          '<InitiateMultipartUploadResult><UploadId>a+b/c==</UploadId></InitiateMultipartUploadResult>',
        )
      else
        response.end(
          '<Error><Code>InternalError</Code><Message>We encountered an internal error. Please ' +
            'try again.</Message></Error>',
        )
    })
    await assert.rejects(storeAt(server).put('a', Buffer.alloc(6_000_000), csv), {
      name: 'StoreFault',
      message: /InternalError/,
    })
    assert.deepEqual(aborted, ['/files/a?uploadId=a%2Bb%2Fc%3D%3D'])
  })
})

test('a list of several pages is asked for page by page, and what is not a key of ours is left out', async () => {
  const asked: (string | null)[] = []
  const entry = (key: string) =>
    `<Contents><Key>${key}</Key><LastModified>2026-11-21T12:00:00.000Z</LastModified></Contents>`
  await using server = await answering(({ url }, response) => {
    const token = new URL(url!, 'http://x').searchParams.get('continuation-token')
    asked.push(token)
    const page =
      token === null
        ? '<IsTruncated>true</IsTruncated>' +
          '<NextContinuationToken>a&amp;b/+=!</NextContinuationToken>' +
          ['qm/b', 'qm/', 'qm/x y'].map(entry).join('')
        : `<IsTruncated>false</IsTruncated>${entry('qm/a')}${entry('qm/007')}`
    response.end(`<ListBucketResult>${page}</ListBucketResult>`)
  })
  const at = Date.UTC(2026, 10, 21, 12)
  assert.deepEqual(await storeAt(server, { prefix: 'qm' }).list(''), [
    { key: '007', changedAt: at },
    { key: 'a', changedAt: at },
    { key: 'b', changedAt: at },
  ])
  assert.deepEqual(asked, [null, 'a&b/+=!'])
})

describe('an S3 server that never answers', () => {
  test('holds a caller for the time limit and no longer', async () => {
    await using server: Fake = await silent()
    const store = storeAt(server)
    const began = performance.now()
    const late = {
      name: 'StoreFault',
      kind: 'unreachable',
      message: /^S3 at 127\.0\.0\.1:\d+ did not answer within 10 seconds$/,
    }
    const [check] = await Promise.all([
      store.check(),
      assert.rejects(store.has('a'), late),
      assert.rejects(store.remove('a'), late),
      assert.rejects(store.put('a', Buffer.from('x'), csv), { kind: 'unreachable' }),
    ])
    assert.equal(check.verdict, 'doubtful')
    assert.ok(performance.now() - began < 60_000)
    assert.match(await store.url('a', { expiresIn: 60 }), /^http:/, 'a URL asks nobody')
  })
})

describe('the settings of S3', () => {
  test('are checked before anybody is asked, and name what is wrong', () => {
    const table: [other: Partial<S3Options>, message: RegExp][] = [
      [{ endpoint: 's3.example' }, /^endpoint: must be as/],
      [{ endpoint: 'ftp://s3.example' }, /^endpoint: /],
      [{ endpoint: 'https://s3.example/files' }, /^endpoint: .*without a path/],
      [{ endpoint: `https://u:${SECRET}@s3.example` }, /^endpoint: /],
      [{ publicEndpoint: 'cdn' }, /^publicEndpoint: /],
      [{ bucket: 'Files' }, /^bucket: "Files"/],
      [{ bucket: 'a' }, /^bucket: /],
      [{ bucket: '10.0.0.1' }, /^bucket: /],
      [{ region: '' }, /^region: /],
      [{ region: 'eu west' }, /^region: /],
      [{ accessKey: '' }, /^accessKey: /],
      [{ secretKey: '' }, /^secretKey: /],
      [{ prefix: '../x' }, /^prefix: /],
      [{ prefix: 'a b' }, /^prefix: /],
    ]
    for (const [other, message] of table)
      assert.throws(
        () => s3Store({ ...options, ...other }),
        (error: Error) => message.test(error.message) && !error.message.includes(SECRET),
        JSON.stringify(other),
      )
    for (const other of [
      { endpoint: 'https://s3.example/' },
      { endpoint: 'http://[::1]:9000' },
      { prefix: '/a/b/' },
      { prefix: '' },
    ])
      assert.ok(s3Store({ ...options, ...other }))
  })

  test('decide where URLs lead', async () => {
    const start = async (other: Partial<S3Options>) =>
      (await s3Store({ ...options, ...other }).url('a', { expiresIn: 60 })).split('?')[0]
    assert.equal(await start({ endpoint: 'https://s3.example' }), 'https://s3.example/files/a')
    assert.equal(
      await start({ endpoint: 'https://s3.example', pathStyle: false }),
      'https://files.s3.example/a',
    )
    assert.equal(
      await start({
        endpoint: 'https://s3.eu-central-1.amazonaws.com',
        region: 'eu-central-1',
        pathStyle: false,
      }),
      'https://files.s3.eu-central-1.amazonaws.com/a',
    )
    assert.equal(
      await start({
        endpoint: 'http://10.0.0.5:9000',
        publicEndpoint: 'https://files.shop.example',
        prefix: 'qm/',
      }),
      'https://files.shop.example/files/qm/a',
    )
    assert.equal(await start({ endpoint: 'http://[::1]:9000' }), 'http://[::1]:9000/files/a')
  })

  test('of the environment are whole or not there, and a fault names the variable', async () => {
    const dir = join(tmpdir(), 'qm-no-such-shop')
    const all = {
      ENDPOINT: 'http://127.0.0.1:9',
      BUCKET: 'files',
      REGION: 'us-east-1',
      ACCESS_KEY: 'a',
      SECRET_KEY: SECRET,
    }
    const under = (values: Record<string, string>) =>
      startProcess(['serve', '--port', '0', '--dir', dir], {
        env: Object.fromEntries(
          Object.entries(values).map(([name, value]) => [`QUARTERMASTER_S3_${name}`, value]),
        ),
      })
    for (const missing of Object.keys(all)) {
      const { status, err } = await under({ ...all, [missing]: '' })
      assert.equal(status, 2)
      assert.match(
        err,
        new RegExp(
          `^QUARTERMASTER_S3_${missing} is missing, but .* are set: set it to .*, or unset ` +
            `all QUARTERMASTER_S3_\\* to keep files in the state folder\n$`,
        ),
      )
      assert.ok(!err.includes(SECRET))
    }
    for (const [name, value] of [
      ['ENDPOINT', 'here'],
      ['PUBLIC_ENDPOINT', 'there'],
      ['BUCKET', 'My Bucket'],
      ['PREFIX', 'a b'],
      ['PATH_STYLE', 'yes'],
    ] as const) {
      const { status, err } = await under({ ...all, [name]: value })
      assert.deepEqual([status, err.startsWith(`QUARTERMASTER_S3_${name}`)], [2, true], err)
    }
  })
})
