/** Debian's vsftpd: an FTP server that we did not write, over TLS, for files that a test lays out. */
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Egress } from '../../lib/distributors/session/egress.js'
import type { FtpLogin } from '../../lib/distributors/session/ftp.js'
import { makeCertificate } from '../../lib/simulator/wire/certificate.js'

/** Why it cannot be started here; false where it can. */
export const NO_VSFTPD =
  process.getuid?.() === 0 && spawnSync('sh', ['-c', 'command -v vsftpd']).status === 0
    ? false
    : 'vsftpd is not installed, or this is not root'

export interface Vsftpd {
  /** A folder of the test's own; `root` in it is what is served. */
  dir: string
  egress: Egress
  login: FtpLogin
  close(): void
}

/** Serves what `fill` lays into the root, to anybody who trusts its certificate. */
export async function startVsftpd(fill: (root: string) => void): Promise<Vsftpd> {
  const dir = mkdtempSync(join(tmpdir(), 'qm-vsftpd-'))
  const root = join(dir, 'root')
  mkdirSync(root)
  fill(root)
  chmodSync(dir, 0o755)
  chmodSync(root, 0o555)
  const made = makeCertificate({ now: Date.now() })
  writeFileSync(join(dir, 'cert.pem'), made.certificate)
  writeFileSync(join(dir, 'key.pem'), made.key)
  const port = await freePort()
  const settings = {
    listen: 'YES',
    listen_address: '127.0.0.1',
    listen_port: port,
    background: 'NO',
    anonymous_enable: 'YES',
    local_enable: 'NO',
    write_enable: 'YES',
    anon_upload_enable: 'YES',
    anon_other_write_enable: 'YES',
    anon_umask: '022',
    anon_root: root,
    ssl_enable: 'YES',
    allow_anon_ssl: 'YES',
    force_anon_data_ssl: 'YES',
    force_anon_logins_ssl: 'YES',
    require_ssl_reuse: 'YES',
    rsa_cert_file: join(dir, 'cert.pem'),
    rsa_private_key_file: join(dir, 'key.pem'),
    seccomp_sandbox: 'NO',
    xferlog_enable: 'NO',
  }
  const file = join(dir, 'vsftpd.conf')
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(file, lines.join(''))
  const server = spawn('vsftpd', [file], { stdio: 'ignore' })
  while (!(await answers(port))) await pause(20)
  return {
    dir,
    egress: { hosts: [], simulator: { certificate: made.certificate } },
    login: { host: 'localhost', port, user: 'anonymous', password: 'x', isSecure: true },
    close() {
      server.kill()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** A port that nobody listens at. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Whether it greets whoever connects, and lets him go: before that it may break off the first one. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    let isGreeted = false
    createConnection(port, '127.0.0.1')
      .once('data', function (this: Socket) {
        isGreeted = true
        this.end('QUIT\r\n')
      })
      .on('error', () => {})
      .once('close', () => resolve(isGreeted))
      .resume()
  })
}
