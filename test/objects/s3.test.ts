import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'minio'
import { DAY, MINUTE } from '../../lib/core/clock.js'
import { diskStore } from '../../lib/objects/disk.js'
import { memoryStore } from '../../lib/objects/memory.js'
import { s3Store } from '../../lib/objects/s3.js'
import type { S3Options } from '../../lib/objects/s3-calls.js'
import { listUploads } from '../../lib/objects/s3-lists.js'
import type { ObjectStore } from '../../lib/objects/store.js'
import { createTestApp } from '../../server/testing/index.js'
import { json, runProcess, start, stop } from '../server/launcher.js'
import { inFrontOf, nobody } from './s3-fakes.js'
import type { Hook } from './s3-fakes.js'
import { startS3Server, whyNoS3Server } from './s3-server.js'
import type { S3Server } from './s3-server.js'
import { oneFolder } from '../harness/record.js'

const skip = whyNoS3Server() ?? false
if (skip !== false) console.error(skip)

let scratch: string
let s3: S3Server
let admin: Client

before(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-objects-s3-'))
  if (skip !== false) return
  s3 = await startS3Server()
  const { hostname, port } = new URL(s3.endpoint)
  admin = new Client({
    endPoint: hostname,
    port: Number(port),
    useSSL: false,
    region: s3.region,
    ...s3.owner,
    pathStyle: true,
  })
  await admin.makeBucket('files')
})
after(async () => {
  await s3?.stop()
  rmSync(scratch, { recursive: true, force: true })
})

const optionsOf = (other: Partial<S3Options> = {}): S3Options => ({
  endpoint: s3.endpoint,
  bucket: 'files',
  region: s3.region,
  ...s3.owner,
  pathStyle: true,
  now: Date.now,
  ...other,
})
let prefixes = 0
/** A store of its own, in the one bucket. */
const fresh = (other: Partial<S3Options> = {}) =>
  s3Store(optionsOf({ prefix: `test-${++prefixes}`, ...other }))
const source = (bytes: Buffer) => {
  const file = join(scratch, randomBytes(6).toString('hex'))
  writeFileSync(file, bytes)
  return file
}
const large = randomBytes(6_000_000)
const csv = { contentType: 'text/csv' }
const read = async (url: string, init?: RequestInit) => {
  const response = await fetch(url, init)
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  }
}

const stores: [name: string, needsServer: boolean, make: () => ObjectStore][] = [
  [
    'on disk',
    false,
    () =>
      diskStore({
        dir: mkdtempSync(join(scratch, 'store-')),
        now: Date.now,
        random: randomBytes,
        publicUrl: () => 'http://shop.test',
        signingKey: () => 'k',
      }),
  ],
  ['in memory', false, () => memoryStore({ now: Date.now })],
  ['in S3', true, () => fresh()],
  ['in S3 without a prefix', true, () => s3Store(optionsOf())],
]
for (const [name, needsServer, make] of stores) {
  describe(`a store ${name}`, { skip: needsServer && skip }, () => {
    test('keeps bytes and files, replaces and removes them', async () => {
      const store = make()
      assert.equal(await store.has('a/b.pdf'), false)
      await store.put('a/b.pdf', Buffer.from('one'), { contentType: 'application/pdf' })
      assert.deepEqual(
        [await store.has('a/b.pdf'), await store.has('a'), await store.has('a/b')],
        [true, false, false],
      )
      await store.put('a/b.pdf', source(Buffer.from('two')), csv)
      await store.put('a/b.pdf', source(large), csv)
      assert.equal(await store.has('a/b.pdf'), true)
      assert.equal(
        store.get !== undefined,
        name !== 'on disk',
        'a folder keeps no copy of the journal',
      )
      if (store.get) {
        assert.ok(Buffer.from(await store.get('a/b.pdf')).equals(large))
        await assert.rejects(store.get('never/there'))
      }
      for (let i = 0; i < 2; i++) await store.remove('a/b.pdf')
      await store.remove('never/there')
      assert.equal(await store.has('a/b.pdf'), false)
      await assert.rejects(store.put('c', join(scratch, 'no such file'), csv), { code: 'ENOENT' })
      assert.equal(await store.has('c'), false)
    })

    test('lists keys below a prefix, in order, with the time of their change', async () => {
      const store = make()
      assert.deepEqual(await store.list('b'), [])
      const keys = [
        'b/2',
        'b/1',
        'a',
        'b/c/3',
        'bb/4',
        'b.c/x.tar.gz',
        'B/0',
        'b-/0',
        'b/10',
        '007',
        '1e5',
        '0x10',
      ]
      for (const key of keys) await store.put(key, Buffer.from(key), csv)
      const found = async (prefix: string) => (await store.list(prefix)).map(({ key }) => key)
      assert.deepEqual(
        (await found('')).filter((key) => keys.includes(key)),
        [...keys].sort(),
      )
      assert.deepEqual(await found('b/'), ['b/1', 'b/10', 'b/2', 'b/c/3'])
      assert.deepEqual(await found('b/1'), ['b/1', 'b/10'])
      assert.deepEqual(await found('b.c/'), ['b.c/x.tar.gz'])
      assert.deepEqual(await found('x/'), [])
      const { changedAt } = (await store.list('a'))[0]!
      assert.ok(Math.abs(changedAt - Date.now()) < MINUTE && Number.isInteger(changedAt))
      for (const key of keys) await store.remove(key)
    })

    test('takes no key that could lead elsewhere', async () => {
      const store = make()
      for (const key of [
        '',
        '/',
        '../a',
        'a/../b',
        'a//b',
        'a/',
        '/a',
        '.hidden',
        'a b',
        'a%2fb',
        'ä',
        'a?b',
        'x'.repeat(513),
      ]) {
        for (const act of [
          () => store.put(key, Buffer.from('x'), csv),
          () => store.url(key, { expiresIn: 60 }),
          () => store.has(key),
          () => store.remove(key),
        ])
          await assert.rejects(act, /not an object key/, key)
      }
    })

    test('is whole while it is replaced, whoever replaces it', async () => {
      const store = make()
      await Promise.all(
        [1, 2, 3].map((value) => store.put('same', Buffer.alloc(5_300_000, value), csv)),
      )
      assert.equal(await store.has('same'), true)
      if (!needsServer) return
      const { bytes } = await read(await store.url('same', { expiresIn: 60 }))
      assert.ok([1, 2, 3].some((value) => bytes.equals(Buffer.alloc(5_300_000, value))))
      await store.remove('same')
    })
  })
}

describe('a signed URL of S3', { skip }, () => {
  let store: ObjectStore
  before(async () => {
    store = fresh()
    await store.put('exports/a.v1.csv.gz', source(large), { contentType: 'application/gzip' })
    await store.put('empty', Buffer.alloc(0), csv)
  })
  const url = async (key = 'exports/a.v1.csv.gz', fileName?: string) =>
    store.url(key, { expiresIn: 60, ...(fileName !== undefined && { fileName }) })
  const statusOf = async (address: string, init?: RequestInit) => (await read(address, init)).status

  test('is read by anybody, and keeps what was stored and its type', async () => {
    const { status, headers, bytes } = await read(await url())
    assert.deepEqual(
      [
        status,
        headers.get('content-type'),
        headers.get('content-length'),
        headers.get('content-disposition'),
      ],
      [200, 'application/gzip', '6000000', 'attachment'],
    )
    assert.ok(bytes.equals(large))
    const empty = await read(await url('empty'))
    assert.deepEqual(
      [empty.status, empty.bytes.length, empty.headers.get('content-type')],
      [200, 0, 'text/csv'],
    )
    assert.equal(await statusOf(await url('gone')), 404)
  })

  test('names the file as it was asked for', async () => {
    const { headers } = await read(await url('empty', 'Ä "b" (c)\'s!*%41.pdf'))
    assert.equal(
      headers.get('content-disposition'),
      "attachment; filename=\"_ _b_ (c)'s!*_41.pdf\"; filename*=UTF-8''%C3%84%20%22b%22%20%28c%29%27s%21%2A%2541.pdf",
    )
  })

  test('has ranges', async () => {
    const { status, headers, bytes } = await read(await url(), {
      headers: { range: 'bytes=5242870-5242889' },
    })
    assert.deepEqual([status, headers.get('content-range')], [206, 'bytes 5242870-5242889/6000000'])
    assert.ok(bytes.equals(large.subarray(5_242_870, 5_242_890)), 'over the border of two parts')
    assert.equal(await statusOf(await url(), { headers: { range: 'bytes=6000000-' } }), 416)
  })

  test('changed in any part, without its signature, or for another method it is refused', async () => {
    const address = await url('empty', 'a.csv')
    const signature = new URL(address).searchParams.get('X-Amz-Signature')!
    const changed = [
      address.replace('/empty', '/exports/a.v1.csv.gz'),
      address.replace('a.csv', 'b.csv'),
      address.replace('Expires=60', 'Expires=61'),
      address.replace('/files/', '/other/'),
      address.replace(signature, `${signature.startsWith('0') ? '1' : '0'}${signature.slice(1)}`),
      address.replace(signature, '0'.repeat(64)),
      `${address}&response-content-type=text%2Fhtml`,
    ]
    for (const one of changed) assert.equal(await statusOf(one), 403, one)
    assert.ok((await statusOf(address.split('?')[0]!)) >= 400)
    for (const method of ['PUT', 'DELETE'])
      assert.equal(await statusOf(address, { method }), 403, method)
    assert.ok((await statusOf(address, { method: 'POST' })) >= 400)
    assert.equal(await statusOf(address), 200)
  })

  test('ends when its time is over, and takes no time that S3 would not', async () => {
    const expiring = s3Store(optionsOf({ prefix: 'expiring' }))
    await expiring.put('a', Buffer.from('x'), csv)
    const address = await expiring.url('a', { expiresIn: 1 })
    assert.equal(await statusOf(await expiring.url('a', { expiresIn: 60 })), 200)
    await sleep(2_100)
    assert.equal(await statusOf(address), 403)
    const early = s3Store(optionsOf({ prefix: 'expiring', now: () => Date.now() - 10 * MINUTE }))
    assert.equal(
      await statusOf(await early.url('a', { expiresIn: 599 })),
      403,
      'its seconds are counted from the given time',
    )
    assert.equal(await statusOf(await early.url('a', { expiresIn: 700 })), 200)
    for (const expiresIn of [0, -1, 0.5, 604_801, Number.NaN])
      await assert.rejects(expiring.url('a', { expiresIn }), /1 to 604800 whole seconds/)
  })

  test('leads to the public address, while our own calls use the other', async () => {
    let calls = 0
    await using front = await inFrontOf(s3.endpoint, {
      meanwhile: () => {
        calls++
        return false
      },
    })
    const store = fresh({ publicEndpoint: front.endpoint })
    await store.put('a', Buffer.from('x'), csv)
    assert.equal(await store.has('a'), true)
    assert.equal(calls, 0)
    const address = await store.url('a', { expiresIn: 60 })
    assert.ok(address.startsWith(`${front.endpoint}/files/`))
    assert.deepEqual([await statusOf(address), calls], [200, 1])
    assert.equal((await store.check()).verdict, 'works')
  })
})

describe('a large file in S3', { skip }, () => {
  const unfinished = async (prefix: string) => (await listUploads(admin, 'files', prefix)).length
  const isPart =
    (number: number): Hook =>
    ({ method, url }) =>
      method === 'PUT' && new RegExp(`partNumber=${number}\\b`).test(url!)
  const refusing =
    (hook: Hook): Hook =>
    (request, response) => {
      if (!hook(request, response)) return false
      response.writeHead(500).end()
      return true
    }

  test('whose upload fails is never seen, and leaves no part behind', async () => {
    await using front = await inFrontOf(s3.endpoint, { meanwhile: refusing(isPart(2)) })
    const prefix = `failing-${++prefixes}`
    const store = fresh({ prefix, endpoint: front.endpoint })
    await store.put('a', Buffer.from('before'), csv)
    await assert.rejects(store.put('a', source(large), csv), {
      name: 'StoreFault',
      kind: 'unreachable',
      message: /^S3 at 127\.0\.0\.1:\d+ answers 500$/,
    })
    await assert.rejects(store.put('b', large, csv), { kind: 'unreachable' })
    assert.deepEqual([await store.has('b'), await unfinished(prefix)], [false, 0])
    const reader = fresh({ prefix })
    assert.equal((await read(await reader.url('a', { expiresIn: 60 }))).bytes.toString(), 'before')
    assert.deepEqual(
      (await reader.list('')).map(({ key }) => key),
      ['a'],
    )
  })

  test('that was put together though the answer was lost is whole', async () => {
    await using front = await inFrontOf(s3.endpoint, {
      after: refusing(({ method, url }) => method === 'POST' && /uploadId=/.test(url!)),
    })
    const prefix = `lost-${++prefixes}`
    await assert.rejects(fresh({ prefix, endpoint: front.endpoint }).put('a', large, csv), {
      kind: 'unreachable',
    })
    assert.ok((await read(await fresh({ prefix }).url('a', { expiresIn: 60 }))).bytes.equals(large))
    assert.equal(await unfinished(prefix), 0)
  })

  test('that becomes shorter meanwhile is not stored', async () => {
    const file = source(large)
    const prefix = `shrinking-${++prefixes}`
    await using front = await inFrontOf(s3.endpoint, {
      meanwhile: (request, response) => {
        if (isPart(1)(request, response)) truncateSync(file, 5_500_000)
        return false
      },
    })
    await assert.rejects(
      fresh({ prefix, endpoint: front.endpoint }).put('a', file, csv),
      /became shorter/,
    )
    assert.deepEqual([await fresh({ prefix }).list(''), await unfinished(prefix)], [[], 0])
  })

  test('of a process that died is removed when it is a day old', async () => {
    const prefix = `dead-${++prefixes}`
    for (const key of ['exports/a', 'other/b']) {
      const uploadID = await admin.initiateNewMultipartUpload('files', `${prefix}/${key}`, {})
      await admin.uploadPart(
        {
          bucketName: 'files',
          objectName: `${prefix}/${key}`,
          uploadID,
          partNumber: 1,
          headers: {},
        },
        large,
      )
    }
    const store = fresh({ prefix })
    assert.deepEqual([await store.has('exports/a'), await store.list('')], [false, []])
    await store.tidy('exports/')
    assert.equal(await unfinished(prefix), 2, 'it may be on its way')
    await fresh({ prefix, now: () => Date.now() + DAY + MINUTE }).tidy('exports/')
    assert.equal(await unfinished(prefix), 1, "and nobody else's")
    await store.put('exports/a', large, csv)
    assert.ok((await read(await store.url('exports/a', { expiresIn: 60 }))).bytes.equals(large))
  })
})

describe('what is set wrong', { skip }, () => {
  test('is named by the self-test in one line, without the secret, and every call says the same', async () => {
    const table: [other: Partial<S3Options>, verdict: string, line: RegExp][] = [
      [{}, 'works', /^files are kept in bucket "files" of S3 at 127\.0\.0\.1:\d+$/],
      [
        { bucket: 'no-such-bucket' },
        'wrong',
        /^S3 at 127\.0\.0\.1:\d+ has no bucket "no-such-bucket"$/,
      ],
      [
        s3.stranger,
        'wrong',
        /forbids it: access key "test:stranger" lacks the right s3:PutObject on bucket "files"$/,
      ],
      [
        { secretKey: 'not-the-secret' },
        'wrong',
        /refuses the signature: the secret key is not that of access key "test:owner"$/,
      ],
      [
        { region: 'eu-west-1' },
        'wrong',
        /^the region "eu-west-1" is wrong for bucket "files" at 127\.0\.0\.1:\d+: the server says "us-east-1"$/,
      ],
      [
        { endpoint: await nobody() },
        'doubtful',
        /^S3 at 127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)$/,
      ],
      [
        { endpoint: s3.endpoint.replace('http:', 'https:') },
        'wrong',
        /has no TLS that is accepted here \(EPROTO\)/,
      ],
      [
        { publicEndpoint: await nobody() },
        'doubtful',
        /^a signed URL cannot be read at 127\.0\.0\.1:\d+ from this machine \(ECONNREFUSED\)/,
      ],
    ]
    for (const [other, verdict, line] of table) {
      const store = fresh(other)
      const found = await store.check()
      assert.equal(found.verdict, verdict, found.line)
      assert.match(found.line, line)
      assert.ok(
        !found.line.includes(other.secretKey ?? s3.owner.secretKey) && !found.line.includes('\n'),
        found.line,
      )
      if (verdict === 'works' || other.publicEndpoint !== undefined) continue
      for (const act of [
        () => store.put('a', Buffer.from('x'), csv),
        () => store.put('a', large, csv),
        () => store.has('a'),
        () => store.list(''),
      ]) {
        await assert.rejects(
          act,
          (error: Error) =>
            error.name === 'StoreFault' &&
            !error.message.includes('\n') &&
            !error.message.includes(other.secretKey ?? s3.owner.secretKey),
        )
      }
    }
    assert.deepEqual(await s3Store(optionsOf()).list('self-test/'), [])
  })

  test('at the public address is found too: another server, a changed host, a bucket open to all', async () => {
    const at = async (meanwhile: Hook) => {
      await using front = await inFrontOf(s3.endpoint, { meanwhile })
      return await fresh({ publicEndpoint: front.endpoint }).check()
    }
    const host = await at((request) => {
      request.headers.host = 'inner:1'
      return false
    })
    assert.equal(host.verdict, 'wrong', host.line)
    assert.match(
      host.line,
      /^a signed URL cannot be read at 127\.0\.0\.1:\d+, which answers 403 SignatureDoesNotMatch/,
    )
    const other = await at((_request, response) => {
      response.end('welcome')
      return true
    })
    assert.deepEqual(
      [other.verdict, /answers something else/.test(other.line)],
      ['wrong', true],
      other.line,
    )
    const open = await at(({ url }, response) => {
      if (!url!.includes('?')) response.end()
      return !url!.includes('?')
    })
    assert.deepEqual(
      [open.verdict, open.line],
      ['wrong', 'bucket "files" is public: anybody reads it without a signature; make it private'],
    )
    const down = await at((_request, response) => {
      response.writeHead(502).end()
      return true
    })
    assert.equal(down.verdict, 'doubtful', down.line)
  })
})

describe('the command line', { skip }, () => {
  const variables = () => ({
    ENDPOINT: s3.endpoint,
    BUCKET: 'files',
    REGION: s3.region,
    ACCESS_KEY: s3.owner.accessKey,
    SECRET_KEY: s3.owner.secretKey,
    PREFIX: 'cli',
  })
  async function under<T>(values: Record<string, string>, act: () => T | Promise<T>): Promise<T> {
    for (const [name, value] of Object.entries(values))
      process.env[`QUARTERMASTER_S3_${name}`] = value
    try {
      return await act()
    } finally {
      for (const name of Object.keys(process.env))
        if (name.startsWith('QUARTERMASTER_S3_')) delete process.env[name]
    }
  }

  test(
    'keeps documents in the bucket that the environment names',
    { skip: oneFolder },
    async () => {
      const dir = join(scratch, 'shop')
      const pdf = source(Buffer.from('%PDF-1.4 license'))
      await under(variables(), async () => {
        await json(dir, 'init')
        await json(
          dir,
          'ffls',
          'add',
          '1-57-033-01-9E-67890',
          '--name',
          'Pine Ridge Arms',
          '--street',
          '12 Mill Rd',
          '--city',
          'Macon',
          '--state',
          'GA',
          '--zip',
          '31201',
          '--reason',
          'seen',
        )
        assert.equal(
          (await runProcess(dir, 'ffls', 'document', '1-57-033-01-9E-67890', 'ffl', pdf)).status,
          0,
        )
        const { child } = await start(dir, 'serve')
        assert.equal(await stop(child), 0)
      })
      const [found] = await fresh({ prefix: 'cli' }).list('documents/')
      assert.match(found!.key, /^documents\/[0-9a-f]{32}\.pdf$/)
      assert.ok(!existsSync(join(dir, 'objects')) || readdirSync(join(dir, 'objects')).length === 0)
      const wrong = await under({ ...variables(), BUCKET: 'no-such-bucket' }, () =>
        runProcess(dir, 'ffls', 'document', '1-57-033-01-9E-67890', 'ffl', pdf),
      )
      assert.deepEqual(
        [wrong.status, /^S3 at 127\.0\.0\.1:\d+ has no bucket "no-such-bucket"\n$/.test(wrong.err)],
        [1, true],
        wrong.err,
      )
    },
  )

  test('does not serve with a wrong setting, and serves without a server that is down', async () => {
    const dir = join(scratch, 'serving')
    const wrong = await under({ ...variables(), SECRET_KEY: 'not-the-secret' }, () =>
      runProcess(dir, 'serve', '--port', '0'),
    )
    assert.equal(wrong.status, 2)
    assert.match(
      wrong.err,
      /^QUARTERMASTER_S3_\*: S3 at 127\.0\.0\.1:\d+ refuses the signature: .*\n$/,
    )
    assert.ok(!wrong.err.includes('not-the-secret'))
    const { child } = await under({ ...variables(), ENDPOINT: await nobody() }, () =>
      start(dir, 'serve'),
    )
    assert.equal(await stop(child), 0)
  })

  test('an app without the store that is down answers for it as the contract says', async () => {
    await using t = await createTestApp({
      objects: s3Store(optionsOf({ endpoint: await nobody() })),
    })
    assert.equal((await t.json('/v1/ping')).status, 200)
    assert.equal(
      (await t.json('/objects/a', { key: null })).status,
      401,
      'no file is read through the server',
    )
  })
})
