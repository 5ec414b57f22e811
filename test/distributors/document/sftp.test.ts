/** A document's feed over SFTP, at Debian's sshd. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { distributorOf } from '../../../lib/distributors/document/distributor.js'
import type { DistributorDocument } from '../../../lib/distributors/document/schema.js'
import { Logins, loginsOf } from '../../../lib/distributors/session/logins.js'
import { freePort } from '../vsftpd.js'
import { documentOf, feedOf, NOW, sessionOf } from './rig.js'

const ROWS = 'item,name,price,qty,kind\r\nA-1,Dot,10.00,3,optic\r\n'

async function bring(
  document: DistributorDocument,
  file: string,
  options: Parameters<typeof sessionOf>[1],
): Promise<string> {
  const distributor = distributorOf(document)
  const wanted = { file, mark: null, holdUntil: async () => {} }
  await distributor.feeds!['acme']!.bring(sessionOf(distributor, options), wanted)
  return readFileSync(file, 'utf8')
}

const LENT = resolve('scripts/conformance/node_modules/ssh2-sftp-client')
const PLACE = resolve('node_modules/ssh2-sftp-client')
const NO_SSHD =
  process.getuid?.() === 0 && existsSync('/usr/sbin/sshd') && existsSync(LENT)
    ? false
    : 'sshd or ssh2-sftp-client is not installed, or this is not root'

describe('SFTP', () => {
  test('at a server that we did not write, whose key is known', { skip: NO_SSHD }, async () => {
    // The package is an optional one: it is lent for this test.
    symlinkSync(LENT, PLACE)
    const root = mkdtempSync('/tmp/qm-sshd-')
    const { port, hostKey, stop } = await startSshd(root)
    const file = join(root, 'feed')
    try {
      mkdirSync(join(root, 'out'))
      writeFileSync(join(root, 'out', 'items.csv'), ROWS)
      const sftp = (key: string) => ({
        kind: 'sftp',
        host: '127.0.0.1',
        port,
        user: '{user}',
        password: '{password}',
        hostKey: key,
      })
      const feeds = [feedOf({ path: join(root, 'out', '*.csv') })]
      // No password of this machine is known to a test: the login is refused, at the right host.
      const { username } = userInfo()
      const settings = { user: username, password: 'not-it' }
      const logins = new Logins(() => NOW)
      const login = loginsOf({ logins }, { distid: 'ACME', mode: 'live' })
      await assert.rejects(
        bring(documentOf(sftp(hostKey), { feeds }), file, { settings, login }),
        /the login was refused/,
      )
      await assert.rejects(
        bring(documentOf(sftp(`SHA256:${'B'.repeat(43)}`), { feeds }), file, { settings }),
        new RegExp(`shows the key ${hostKey.replaceAll('+', '\\+')}`),
      )
      assert.notEqual(PASSWORD, '', 'a user could not be made')
      const good = { user: USER, password: PASSWORD }
      assert.equal(
        await bring(documentOf(sftp(hostKey), { feeds }), file, { settings: good }),
        ROWS,
      )
    } finally {
      stop()
      rmSync(PLACE, { force: true })
      rmSync(root, { recursive: true, force: true })
    }
  })
})

/** A user of this machine for the time of the test. */
const USER = 'qmsftp'
let PASSWORD = ''

async function startSshd(root: string) {
  spawnSync('chmod', ['755', root])
  spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(root, 'host')])
  const shown = spawnSync('ssh-keygen', ['-lf', join(root, 'host.pub')]).stdout.toString()
  const hostKey = /SHA256:\S+/.exec(shown)![0]
  const made = spawnSync('useradd', ['-M', '-d', root, '-s', '/bin/sh', USER])
  if (made.status === 0) {
    PASSWORD = `p${Math.round(performance.now() * 1_000)}word`
    spawnSync('chpasswd', { input: `${USER}:${PASSWORD}\n` })
  }
  mkdirSync('/run/sshd', { recursive: true })
  const port = await freePort()
  const options = [
    `Port=${port}`,
    'ListenAddress=127.0.0.1',
    `HostKey=${join(root, 'host')}`,
    'PasswordAuthentication=yes',
    'KbdInteractiveAuthentication=no',
    'UsePAM=no',
    'Subsystem=sftp internal-sftp',
    `PidFile=${join(root, 'pid')}`,
  ]
  const server = spawn(
    '/usr/sbin/sshd',
    ['-D', '-e', '-f', '/dev/null', ...options.flatMap((one) => ['-o', one])],
    { stdio: 'ignore' },
  )
  await pause(300)
  const stop = () => {
    server.kill()
    if (PASSWORD) spawnSync('userdel', [USER])
  }
  return { port, hostKey, stop }
}
