/** How a node comes to PostgreSQL, and what a value is once it is here. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { pause } from '../../lib/core/async/wait.js'
import { readAddress } from '../../lib/db/postgres/address.js'
import { openPostgres, unfit } from '../../lib/db/postgres/connect.js'
import type { Postgres } from '../../lib/db/postgres/connect.js'
import { loadPg } from '../../lib/db/postgres/driver.js'
import { missing, startServer } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'

describe('the address of a database', () => {
  test('is read from one line, with its characters as they are meant', () => {
    assert.deepEqual(readAddress('postgresql://us%40er:p%2Fw%25@db.shop.test/shop\n'), {
      host: 'db.shop.test',
      port: 5432,
      database: 'shop',
      user: 'us@er',
      password: 'p/w%',
      tls: { rejectUnauthorized: true },
      connectTimeout: 5_000,
    })
    const { host, port, password, tls } = readAddress('postgres://u@[::1]:6000/d')
    assert.deepEqual([host, port, password, tls], ['::1', 6000, undefined, false])
    assert.equal(readAddress('postgres://u@x/d?host=/run/pg&connect_timeout=9').host, '/run/pg')
  })

  test('asks whoever is beyond this machine to prove who it is, unless it says otherwise', () => {
    const tlsOf = (text: string) => readAddress(`postgres://u:p@${text}`).tls
    assert.deepEqual(tlsOf('db.test/d'), { rejectUnauthorized: true })
    assert.deepEqual(tlsOf('db.test/d?sslmode=verify-full'), { rejectUnauthorized: true })
    assert.deepEqual(tlsOf('db.test/d?sslmode=require'), { rejectUnauthorized: false })
    assert.equal(tlsOf('db.test/d?sslmode=disable'), false)
    assert.equal(tlsOf('127.0.0.1/d'), false)
    assert.deepEqual(tlsOf('localhost/d?sslmode=verify-full'), { rejectUnauthorized: true })
    const byAuthority = tlsOf('db.test/d?sslmode=verify-ca')
    assert.ok(byAuthority && byAuthority.rejectUnauthorized)
    assert.equal(byAuthority.checkServerIdentity?.(), undefined)
  })

  for (const [text, says] of [
    ['', /the file is empty/],
    ['postgres://u:sEcret@h/d\npostgres://u:sEcret@h/e', /more than one line/],
    ['mysql://u:sEcret@h/d', /must begin with postgres:/],
    ['postgres://u:sEcret#1@h/d', /database: must be one name|cannot be read/],
    ['postgres://u:sEcret@h:99999/d', /cannot be read/],
    ['postgres://u:sEcret%zz@h/d', /password: cannot be read; a percent sign/],
    ['postgres://:sEcret@h/d', /user: is missing/],
    ['postgres://u:sEcret@h/', /database: must be one name/],
    ['postgres://u:sEcret@h/d?sslmode=prefer', /sslmode: must be one of disable, require/],
    ['postgres://u:sEcret@h/d?sslmode=require&sslmode=disable', /sslmode: is there twice/],
    ['postgres://u:sEcret@h/d?target_session_attrs=any', /target_session_attrs: is not known/],
    ['postgres://u:sEcret@h/d?p=sEcret', /p: is not known/],
    ['postgres://u:sEcret@h/d?sslrootcert=/no/such.pem', /sslrootcert: cannot read .*\(ENOENT\)/],
    ['postgres://u:sEcret@h/d?connect_timeout=soon', /connect_timeout: must be 1 to 999 seconds/],
  ] as const)
    test(`is refused by its field: ${text.replace('\n', ' ')}`, () => {
      assert.throws(
        () => readAddress(text),
        ({ message }: Error) =>
          says.test(message) && !message.includes('\n') && !message.includes('sEcret'),
      )
    })
})

describe('a server is refused', () => {
  const good = {
    version: '15.3',
    number: 150_003,
    encoding: 'UTF8',
    standby: 0,
    path: 'quartermaster',
    timeouts: [5_000, 30_000],
  } as const
  for (const [what, given, says] of [
    ['that is too old', { number: 140_011, version: '14.11' }, /14\.11 is too old: 15 or newer/],
    ['that is a standby', { standby: 1 }, /is a standby/],
    ['behind a pooler that drops settings', { path: '"$user", public' }, /PgBouncer with ignore/],
    ['that waits longer than we do', { timeouts: [5_000, 0] }, /are lost on the way/],
    ['that keeps locks for nobody', { timeouts: [0, 30_000] }, /are lost on the way/],
  ] as const)
    test(what, () => {
      assert.match(unfit({ ...good, ...given }) ?? '', says)
    })

  test('never for what is right', () => {
    assert.equal(unfit(good), null)
  })
})

test('a package that is not installed is missed with one line', () => {
  const find = () => {
    throw Object.assign(new Error('Cannot find module'), { code: 'MODULE_NOT_FOUND' })
  }
  assert.throws(() => loadPg(find), /^Error: the package pg, .*`npm install pg@8`$/)
})

describe('PostgreSQL', { skip: missing }, () => {
  let server: TestServer
  let postgres: Postgres
  const certificates = mkdtempSync(join(tmpdir(), 'qm-tls-'))

  before(async () => {
    server = await startServer()
    postgres = await openPostgres(await server.database())
  })
  after(async () => {
    await postgres?.close()
    await server?.close()
    rmSync(certificates, { recursive: true, force: true })
  })

  const refused = (text: string, says: RegExp) =>
    assert.rejects(
      openPostgres(text),
      ({ message }: Error) =>
        says.test(message) && !message.includes('\n') && !message.includes('sEcret'),
    )

  test('says what is wrong with how it was asked, and never the password', async () => {
    await refused(server.address({ password: 'sEcret' }), /the password of postgres is wrong/)
    await refused(server.address({ database: 'none' }), /none at .*: there is no such database/)
    await refused(server.address({ user: 'nobody_here' }), /the password of nobody_here is wrong/)
    await refused(
      server.address({ port: 1 }),
      /database postgres at 127\.0\.0\.1:1: .*ECONNREFUSED/,
    )
    await refused(`postgres://postgres@127.0.0.1:${server.port}/postgres`, /needs a password/)
  })

  test('is refused with another encoding than UTF-8', async () => {
    const options = "encoding 'SQL_ASCII' locale_provider libc locale 'C' template template0"
    await refused(await server.database(options), /its encoding is SQL_ASCII: create it with/)
  })

  test('without TLS is refused where TLS is demanded', async () => {
    for (const mode of ['require', 'verify-ca', 'verify-full'])
      await refused(
        server.address({ parameters: `?sslmode=${mode}` }),
        /the server has no TLS; sslmode=disable/,
      )
  })

  test('has to prove who it is, as sslmode says', async () => {
    const tls = await startServer()
    const startAs = async (name: string) => {
      const { ca, key, certificate } = makeCertificate(certificates, tls.dir, name)
      await tls.crash()
      await tls.start(['ssl=on', `ssl_cert_file=${certificate}`, `ssl_key_file=${key}`])
      return ca
    }
    try {
      const ca = await startAs('DNS:db.shop.test')
      const text = (parameters: string) => tls.address({ parameters })
      const isTls = async (parameters: string) => {
        const opened = await openPostgres(text(parameters))
        const { rows } = await sql<{ ssl: number }>`select ssl from pg_stat_ssl
          where pid = pg_backend_pid()`.execute(opened.db)
        await opened.close()
        return rows[0]!.ssl
      }
      assert.equal(await isTls('?sslmode=disable'), 0)
      assert.equal(await isTls('?sslmode=require'), 1)
      assert.equal(await isTls(`?sslmode=verify-ca&sslrootcert=${ca}`), 1)
      await refused(text('?sslmode=verify-ca'), /its certificate is refused .*sslrootcert names/)
      // It is made out to a name, and not to the address.
      await refused(text(`?sslmode=verify-full&sslrootcert=${ca}`), /its certificate is refused/)
      await startAs('IP:127.0.0.1')
      assert.equal(await isTls(`?sslmode=verify-full&sslrootcert=${ca}`), 1)
      await refused(text('?sslmode=verify-full'), /its certificate is refused/)
      writeFileSync(join(certificates, 'no.pem'), 'no')
      await refused(
        text(`?sslmode=verify-full&sslrootcert=${join(certificates, 'no.pem')}`),
        /sslrootcert: .*no\.pem is not a PEM file/,
      )
    } finally {
      await tls.close()
    }
  })

  test('gives numbers as SQLite does, and throws where one would be rounded', async () => {
    const { rows } = await sql`select 9007199254740991::bigint as most, -5::bigint as minus,
      sum(n) as total, count(*) as count, bool_and(n > 0) as yes, bool_or(n > 9) as no,
      '\\x00ff'::bytea as bytes, null::bigint as none
      from (values (1::bigint), (2)) as numbers (n)`.execute(postgres.db)
    assert.deepEqual(rows[0], {
      most: 9_007_199_254_740_991,
      minus: -5,
      total: 3,
      count: 2,
      yes: 1,
      no: 0,
      bytes: Buffer.from([0, 255]),
      none: null,
    })
    for (const number of ['9007199254740992', '-9223372036854775808'])
      await assert.rejects(
        sql`select ${sql.lit(number)}::bigint as n`.execute(postgres.db),
        (error: Error) => error instanceof RangeError && error.message.startsWith(number),
      )
    // The connection is as good as before.
    assert.deepEqual((await sql`select 1 as n`.execute(postgres.db)).rows, [{ n: 1 }])
  })

  test('knows whose connections these are, and where their tables stand', async () => {
    const named = await openPostgres(await server.database(), { application: 'node 3' })
    const { rows } = await sql<Record<string, string>>`select
      current_setting('application_name') as name, current_setting('search_path') as path,
      current_setting('statement_timeout') as timeout`.execute(named.db)
    await named.close()
    assert.deepEqual(rows, [{ name: 'node 3', path: 'quartermaster', timeout: '30s' }])
  })

  test('waits for the disk whatever the server would do, or for the standby where it does', async () => {
    for (const [theirs, ours] of [
      ['off', 'on'],
      ['local', 'on'],
      ['remote_apply', 'remote_apply'],
    ]) {
      const address = await server.database()
      const name = new URL(address).pathname.slice(1)
      await server.run(address, `alter database ${name} set synchronous_commit = ${theirs}`)
      const opened = await openPostgres(address)
      for (const db of [opened.db, opened.read]) {
        const { rows } = await sql<{ commits: string }>`
          select current_setting('synchronous_commit') as commits`.execute(db)
        assert.deepEqual(rows, [{ commits: ours }])
      }
      await opened.close()
    }
  })

  test('is left without a connection that stays, also where no statement ran', async () => {
    const address = await server.database()
    const opened = await openPostgres(address, { application: 'closed' })
    await opened.close()
    await assert.rejects(sql`select 1`.execute(opened.db), /after calling end/)
    const left = "select from pg_stat_activity where application_name = 'closed'"
    // A server takes a moment to notice.
    while ((await server.run(address, left)).rows.length > 0) await pause(20)
  })
})

/** An authority, and a server of it, which is called so. */
function makeCertificate(dir: string, owned: string, name: string) {
  const path = (file: string) => join(dir, file)
  const openssl = (line: string) =>
    execFileSync('openssl', line.split(' '), { cwd: dir, stdio: 'ignore' })
  if (!existsSync(path('ca.pem')))
    openssl('req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=authority')
  writeFileSync(path('names'), `subjectAltName=${name}`)
  openssl('req -newkey rsa:2048 -nodes -keyout db.key -out db.csr -subj /CN=server')
  openssl(
    'x509 -req -in db.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile names -out db.pem',
  )
  const { uid, gid } = statSync(owned)
  chmodSync(dir, 0o755)
  chmodSync(path('db.key'), 0o600)
  chownSync(path('db.key'), uid, gid)
  return { ca: path('ca.pem'), key: path('db.key'), certificate: path('db.pem') }
}
