/** Debian's nginx and Caddy with the files that the guide gives, in front of a server. */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { request } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The name that the files have for the site. */
export const SITE = 'shop.example'

export interface Proxy {
  name: string
  /** Why it cannot be tried here, if it cannot. */
  missing: string | undefined
  /** Starts it in a folder on `port`, for a server on `upstream`. */
  start(folder: string, port: number, upstream: number): Promise<ChildProcess>
  /** The log of requests that it writes, if it writes one. */
  accessLog?: (folder: string) => string
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** A certificate that only whoever is given it trusts. */
export function makeCertificate(folder: string): { cert: string; key: string } {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=${SITE}`
  const alternative = ['-addext', `subjectAltName=DNS:${SITE}`]
  execFileSync('openssl', [...words.split(' '), ...alternative, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  })
  return { cert, key }
}

const isThere = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
const given = (name: string) => readFileSync(join('data', 'operating', name), 'utf8')

/** A file of the guide with what differs here put in; each text to replace must stand in it. */
function adapted(text: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((now, [from, to]) => {
    assert.ok(now.includes(from), `the file has no "${from}"`)
    return now.replaceAll(from, to)
  }, text)
}

/** Starts a proxy and waits until it answers. */
async function started(port: number, command: string, words: string[], env = process.env) {
  const child = spawn(command, words, { stdio: ['ignore', 'ignore', 'pipe'], env })
  let said = ''
  child.stderr.on('data', (data: Buffer) => (said += data.toString()))
  const answers = () =>
    ask({ port, ca: undefined, path: '/' }).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== 'ECONNREFUSED',
    )
  while (!(await answers())) {
    assert.equal(child.exitCode, null, said)
    await sleep(20)
  }
  return child
}

export const nginx: Proxy = {
  name: 'nginx',
  missing: isThere('nginx') ? undefined : 'nginx is not installed',
  async start(folder, port, upstream) {
    const { cert, key } = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => {
      mkdirSync(join(folder, kind))
      return `${kind}_temp_path ${join(folder, kind)};`
    })
    const site = adapted(given('nginx.conf'), {
      'listen 80;': `listen 127.0.0.1:${await freePort()};`,
      'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
      'http://127.0.0.1:8080;': `http://127.0.0.1:${upstream};`,
      '/etc/ssl/shop.example/fullchain.pem': cert,
      '/etc/ssl/shop.example/privkey.pem': key,
      '/var/log/nginx/': `${folder}/`,
    })
    const file = join(folder, 'whole.conf')
    // As root it would give its work to a user who may not look into the folder.
    const user = process.getuid?.() === 0 ? 'user root; ' : ''
    const main = `${user}daemon off; pid ${folder}/pid; error_log stderr error; events {}`
    writeFileSync(file, `${main}\nhttp {\n${temporary.join('\n')}\n${site}}\n`)
    return started(port, 'nginx', ['-p', folder, '-c', file])
  },
  accessLog: (folder) => readFileSync(join(folder, 'quartermaster.log'), 'utf8'),
}

export const caddy: Proxy = {
  name: 'Caddy',
  missing: isThere('caddy') ? undefined : 'Caddy is not installed',
  start(folder, port, upstream) {
    const file = join(folder, 'Caddyfile')
    // A certificate of ours, since no authority gives one for this name.
    const site = adapted(given('Caddyfile'), {
      '\trequest_body {': `\ttls ${folder}/cert.pem ${folder}/key.pem\n\trequest_body {`,
    })
    const options = '{\n\tadmin off\n\tauto_https disable_redirects\n}\n'
    writeFileSync(file, `${options}${site}`)
    return started(port, 'caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
      ...process.env,
      HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
      QUARTERMASTER_SITE: `${SITE}:${port}`,
      QUARTERMASTER_UPSTREAM: `127.0.0.1:${upstream}`,
    })
  },
}

/** Caddy before several nodes, whose admin listeners have one port. */
export async function startBeforeNodes(
  folder: string,
  port: number,
  { nodes, adminPort }: { nodes: readonly string[]; adminPort: number },
): Promise<ChildProcess> {
  const file = join(folder, 'Caddyfile')
  const site = adapted(given('nodes.Caddyfile'), {
    '\trequest_body {': `\ttls ${folder}/cert.pem ${folder}/key.pem\n\trequest_body {`,
    'import *.caddy': '',
  })
  writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`)
  return started(port, 'caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
    ...process.env,
    HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
    QUARTERMASTER_SITE: `${SITE}:${port}`,
    QUARTERMASTER_NODES: nodes.join(' '),
    QUARTERMASTER_ADMIN_PORT: String(adminPort),
  })
}

export interface Ask {
  port: number
  /** What is trusted; undefined trusts what public authorities sign. */
  ca: string | undefined
  path: string
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string
  /** An address of this machine to call from. */
  from?: string
}

/** Asks the site over TLS, and checks its certificate. */
export function ask({ port, ca, path, method = 'GET', headers = {}, body, from }: Ask) {
  return new Promise<{ status: number; body: Buffer }>((resolve, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        servername: SITE,
        headers: { host: `${SITE}:${port}`, ...headers },
        agent: false,
        ...(ca !== undefined && { ca }),
        ...(from !== undefined && { localAddress: from }),
      },
      (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.once('end', () =>
          resolve({ status: response.statusCode!, body: Buffer.concat(parts) }),
        )
        response.once('error', reject)
      },
    )
    call.once('error', reject)
    call.end(body)
  })
}
