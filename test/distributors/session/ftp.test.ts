/**
 * A connector's FTP: against a server that we did not write, and against one that misbehaves as it
 * is told to.
 */
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Egress } from '../../../lib/distributors/session/egress.js'
import { FtpFault, withFtp } from '../../../lib/distributors/session/ftp.js'
import type { FtpFiles, FtpLogin } from '../../../lib/distributors/session/ftp.js'
import { makeCertificate } from '../../../lib/simulator/wire/certificate.js'
import { freePort, NO_VSFTPD, startVsftpd } from '../vsftpd.js'
import type { Vsftpd } from '../vsftpd.js'

const BIG = Buffer.alloc(3_000_000, 'feed row\r\n')

async function fails(
  work: Promise<unknown>,
  message: RegExp,
  { sent = false, code = null }: { sent?: boolean; code?: number | null } = {},
): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof FtpFault, String(error))
    assert.match(error.message, message)
    assert.deepEqual({ sent: error.sent, code: error.code }, { sent, code }, error.message)
    return true
  })
}

describe(
  "Debian's vsftpd, with TLS for commands and data and one TLS session for both",
  { skip: NO_VSFTPD },
  () => {
    let served: Vsftpd
    let login: FtpLogin
    let dir: string
    let egress: Egress

    before(async () => {
      served = await startVsftpd((root) => {
        for (const folder of ['incoming', 'outgoing']) mkdirSync(join(root, folder))
        writeFileSync(join(root, 'outgoing', 'feed.txt'), BIG)
        writeFileSync(join(root, 'outgoing', 'empty.txt'), '')
        chmodSync(join(root, 'incoming'), 0o777)
      })
      ;({ dir, egress, login } = served)
    })
    after(() => served.close())

    const session = <R>(work: (files: FtpFiles) => Promise<R>) =>
      withFtp(egress, login, new AbortController().signal, work)

    test('hands out files by their exact names, whole, and null for what is not there', () =>
      session(async (files) => {
        assert.equal(await files.size('/outgoing/feed.txt'), BIG.length)
        assert.deepEqual(await files.read('/outgoing/feed.txt', BIG.length), BIG)
        assert.deepEqual(await files.read('/outgoing/empty.txt', 10), Buffer.alloc(0))
        const to = join(dir, 'feed')
        assert.equal(await files.download('/outgoing/feed.txt', to, BIG.length), BIG.length)
        assert.ok(readFileSync(to).equals(BIG))
        assert.equal(await files.size('/outgoing/none.txt'), null)
        assert.equal(await files.read('/outgoing/none.txt', 10), null)
        assert.equal(await files.download('/outgoing/none.txt', join(dir, 'none'), 10), null)
        assert.equal(existsSync(join(dir, 'none')), false)
      }))

    test('of a file beyond the limit leaves nothing', async () => {
      const to = join(dir, 'large')
      await fails(
        session((files) => files.download('/outgoing/feed.txt', to, BIG.length - 1)),
        /is larger than 2999999 bytes/,
      )
      assert.equal(existsSync(to), false)
    })

    test('takes a file under a draft name and then its own, or at once', async () => {
      const seen = join(dir, 'root', 'incoming')
      await session(async (files) => {
        await files.upload('/incoming/EORD-1.txt', Buffer.from('one'), { draft: '/incoming/.1' })
        await files.upload('/incoming/EORD-2.txt', Buffer.from('two'))
        assert.deepEqual((await files.names('/incoming')).sort(), ['EORD-1.txt', 'EORD-2.txt'])
      })
      assert.deepEqual(readdirSync(seen).sort(), ['EORD-1.txt', 'EORD-2.txt'])
      assert.equal(readFileSync(join(seen, 'EORD-1.txt'), 'utf8'), 'one')
    })

    test('that refuses a file has got nothing', () =>
      fails(
        session((files) => files.upload('/outgoing/x.txt', Buffer.from('x'))),
        /could not be written: 553/,
        { code: 553 },
      ))

    test('that refuses the login, or has another certificate, has got nothing', async () => {
      const signal = new AbortController().signal
      const nothing = async () => {}
      await fails(
        withFtp(egress, { ...login, user: 'nobody' }, signal, nothing),
        /login was refused/,
        {
          code: 530,
        },
      )
      const other = makeCertificate({ now: Date.now() }).certificate
      await fails(
        withFtp({ hosts: [], simulator: { certificate: other } }, login, signal, nothing),
        /certificate/,
      )
    })
  },
)

/** A server that answers each command as `replies` says; `null` breaks the connection off. */
async function scripted(
  replies: (command: string, argument: string, control: Socket) => string | null,
): Promise<{ login: FtpLogin; server: Server; commands: string[] }> {
  const commands: string[] = []
  const server = createServer((control) => {
    control.unref()
    control.on('error', () => {})
    control.write('220 ready\r\n')
    control.on('data', (data) => {
      for (const line of String(data).split('\r\n').filter(Boolean)) {
        const [command = '', ...rest] = line.split(' ')
        commands.push(command)
        const reply = replies(command, rest.join(' '), control)
        if (reply === null) control.destroy()
        else control.write(`${reply}\r\n`)
      }
    })
  })
  const port = await new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  )
  server.unref()
  const login = { host: '127.0.0.1', port, user: 'me', password: 'x', isSecure: false }
  return { login, server, commands }
}

describe('a server that misbehaves', () => {
  const egress: Egress = { hosts: [], simulator: {} }
  const open: Server[] = []
  after(() => open.forEach((server) => server.close()))

  /** A data port that takes everything, or hands out `bytes`. */
  async function dataPort(bytes?: string): Promise<{ port: number; got: string[] }> {
    const got: string[] = []
    const server = createServer((socket) => {
      socket.unref()
      socket.on('error', () => {})
      socket.on('data', (data) => got.push(String(data)))
      if (bytes !== undefined) socket.end(bytes)
    })
    open.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { port: (server.address() as AddressInfo).port, got }
  }

  const usual: Record<string, string> = {
    OPTS: '200 ok',
    USER: '331 password',
    PASS: '230 in',
    FEAT: '211 none',
    TYPE: '200 ok',
    STRU: '200 ok',
    EPSV: '500 no',
  }
  const passive = (address: string, port: number) =>
    `227 (${address.replaceAll('.', ',')},${port >> 8},${port & 255})`

  /** `lateFrom`: with that command, nothing may be written any more. */
  async function uploads(
    answers: Record<string, string | null>,
    options?: { draft: string },
    lateFrom?: string,
  ): Promise<{ work: Promise<unknown>; commands: string[]; got: string[] }> {
    const { port, got } = await dataPort()
    let isLate = false
    const { login, server, commands } = await scripted((command, _argument, control) => {
      isLate ||= command === lateFrom
      const known: Record<string, string | null> = {
        ...usual,
        PASV: passive('127.0.0.1', port),
        STOR: '150 go on',
        ...answers,
      }
      const reply = known[command]
      if (command === 'STOR' && reply === '150 go on')
        setTimeout(() => control.write('226 done\r\n'), 20)
      return reply === undefined ? '502 no' : reply
    })
    open.push(server)
    const work = withFtp(
      egress,
      login,
      new AbortController().signal,
      (files) => files.upload('order.txt', Buffer.from('HL'), options),
      () => {
        if (isLate) throw new Error('another node may be about to send')
      },
    )
    return { work, commands, got }
  }

  test('is asked for data where it was asked before, whatever address it names', async () => {
    const { port } = await dataPort('the file')
    const { login, server } = await scripted((command, _argument, control) => {
      if (command === 'PASV') return passive('203.0.113.7', port)
      if (command !== 'RETR') return usual[command] ?? '502 no'
      setImmediate(() => control.write('226 done\r\n'))
      return '150 here it comes'
    })
    open.push(server)
    const text = await withFtp(egress, login, new AbortController().signal, (files) =>
      files.read('file.txt', 100),
    )
    assert.equal(String(text), 'the file')
  })

  test('whose data port is refused has got nothing', async () => {
    const port = await freePort()
    const { work } = await uploads({ PASV: passive('127.0.0.1', port), STOR: '150 go on' })
    await fails(work, /ECONNREFUSED/)
  })

  test('that breaks off in the middle of an order may have read it', async () => {
    const { work } = await uploads({ STOR: null })
    await fails(work, /could not be written/, { sent: true })
    const full = await uploads({ STOR: '452 no room' })
    await fails(full.work, /could not be written: 452/, { sent: true, code: 452 })
  })

  test('that refuses an order before its data has got nothing', async () => {
    const { work } = await uploads({ STOR: '550 may not' })
    await fails(work, /could not be written: 550/, { code: 550 })
  })

  test('that breaks off in a draft has got nothing; in giving it its name, it may have', async () => {
    const draft = { draft: 'order.tmp' }
    await fails((await uploads({ STOR: null }, draft)).work, /could not be written/)
    const lost = await uploads({ RNFR: '350 to', RNTO: null }, draft)
    await fails(lost.work, /could not be named/, { sent: true })
    const refused = await uploads({ RNFR: '350 to', RNTO: '553 no', DELE: '250 gone' }, draft)
    await fails(refused.work, /could not be named: 553/, { code: 553 })
    assert.equal(refused.commands.at(-1), 'DELE', 'the draft is removed')
  })

  test('that took so long that nothing may be written any more got nothing', async () => {
    const late = /another node may be about to send/
    for (const step of ['PASS', 'PASV']) {
      const { work, commands } = await uploads({}, undefined, step)
      await fails(work, late)
      assert.ok(!commands.includes('STOR'), step)
    }
    const draft = await uploads({}, { draft: 'order.tmp' }, 'STOR')
    await fails(draft.work, late)
    assert.deepEqual(draft.got, [])
    // A file of that name may be there, with nothing in it.
    const atOnce = await uploads({}, undefined, 'STOR')
    await fails(atOnce.work, late, { sent: true })
    assert.deepEqual(atOnce.got, [])
  })

  test('that took so long with a draft gets no other name for it', async () => {
    let isLate = false
    const { port, got } = await dataPort()
    const { login, server, commands } = await scripted((command, _argument, control) => {
      if (command !== 'STOR')
        return command === 'PASV' ? passive('127.0.0.1', port) : (usual[command] ?? '502 no')
      setTimeout(() => {
        isLate = true
        control.write('226 done\r\n')
      }, 20)
      return '150 go on'
    })
    open.push(server)
    const work = withFtp(
      egress,
      login,
      new AbortController().signal,
      (files) => files.upload('order.txt', Buffer.from('HL'), { draft: 'order.tmp' }),
      () => {
        if (isLate) throw new Error('another node may be about to send')
      },
    )
    await fails(work, /could not be named: another node/)
    assert.deepEqual([got, commands.at(-1)], [['HL'], 'STOR'])
  })

  test('that is not one, says nothing or does without TLS is a fault, and got nothing', async () => {
    const { login, server, commands } = await scripted((command) => usual[command] ?? '502 no')
    open.push(server)
    const secure = { ...login, isSecure: true }
    const signal = new AbortController().signal
    await fails(
      withFtp(egress, secure, signal, async () => {}),
      /502/,
      { code: 502 },
    )
    assert.ok(!commands.includes('PASS'), 'no password without TLS')
    await fails(
      withFtp({ hosts: ['ftp.example'] }, login, signal, async () => {}),
      /is not a host of this distributor/,
    )
  })
})
