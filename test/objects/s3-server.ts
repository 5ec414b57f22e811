/**
 * A real S3 server for tests: OpenStack Swift with its s3api, from Debian's packages, in a
 * temporary folder on free ports of loopback. It checks signatures as Amazon's does. A shell holds
 * all of it and waits for our end of a pipe to close, so that nothing of it outlives this process,
 * however that ends.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface S3Server {
  /** `http://127.0.0.1:PORT`. */
  endpoint: string
  region: string
  /** May do everything in its account, in which buckets are made. */
  owner: { accessKey: string; secretKey: string }
  /** Is known, and may do nothing. */
  stranger: { accessKey: string; secretKey: string }
  /** What the server wrote about itself. */
  log(): string
  stop(): Promise<void>
}

const PARTS = ['account', 'container', 'object'] as const
/** Debian's own, which has the packages' modules; there may be another one in PATH. */
const PYTHON = '/usr/bin/python3'
const PACKAGES = 'swift-proxy swift-account swift-container swift-object memcached'

/** Why no server can be started on this machine; null where one can. */
export function whyNoS3Server(): string | null {
  const missing = [...PARTS, 'proxy']
    .map((part) => `swift-${part}-server`)
    .concat('memcached')
    .filter((name) => !findProgram(name))
  return missing.length === 0
    ? null
    : `no S3 server here: ${missing.join(', ')} missing (apt-get install --no-install-recommends ${PACKAGES})`
}

function findProgram(name: string): string | undefined {
  return `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/bin`
    .split(':')
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path))
}

/** Starts a server without any bucket and waits until it answers. */
export async function startS3Server({ region = 'us-east-1' } = {}): Promise<S3Server> {
  const dir = mkdtempSync(join(tmpdir(), 'qm-s3-'))
  const [proxy, cache, ...ports] = await freePorts(2 + PARTS.length)
  try {
    configure(dir, { proxy: proxy!, cache: cache!, ports, region })
  } catch (error) {
    rmSync(dir, { recursive: true, force: true })
    throw error
  }
  const user = userInfo().username
  const commands = [
    `${findProgram('memcached')} -l 127.0.0.1 -p ${cache} -m 16${user === 'root' ? ' -u root' : ''}`,
    ...[...PARTS, 'proxy'].map(
      (part) => `${PYTHON} ${findProgram(`swift-${part}-server`)} ${dir}/${part}.conf -v`,
    ),
  ]
  // The shell reads until the pipe closes, which the kernel does for whoever is killed. Each server
  // leaves its process group, so they are ended by their ids; what they stored is thrown away, so
  // at once.
  const script = [
    'pids=',
    ...commands.map(
      (command, i) => `${command} >${dir}/log/${i} 2>&1 </dev/null & pids="$pids $!"`,
    ),
    'cat >/dev/null',
    'kill -KILL $pids',
    'wait',
    `rm -rf ${dir}`,
  ].join('\n')
  const shell = spawn('bash', ['-c', script], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { ...process.env, SWIFT_CONF_DIR: dir },
  })
  const ended = new Promise<void>((resolve) => shell.once('exit', () => resolve()))
  // A suite that forgets to stop it can still end.
  shell.unref()
  ;(shell.stdin as Socket).unref()

  const endpoint = `http://127.0.0.1:${proxy}`
  const server: S3Server = {
    endpoint,
    region,
    owner: { accessKey: 'test:owner', secretKey: 'owner-secret-0123456789' },
    stranger: { accessKey: 'test:stranger', secretKey: 'stranger-secret-0123456789' },
    log: () =>
      readdirSync(join(dir, 'log'))
        .map((name) => readFileSync(join(dir, 'log', name), 'utf8'))
        .join('\n'),
    async stop() {
      shell.ref()
      shell.stdin.end()
      await ended
    },
  }
  try {
    await listen([...ports, cache!, proxy!])
  } catch (error) {
    const log = server.log()
    await server.stop()
    throw new Error(`${(error as Error).message}\n${log.slice(-2_000)}`, { cause: error })
  }
  return server
}

/**
 * Until all of it listens: the one in front remembers who did not answer it. Loaded cores take
 * their time for five processes.
 */
async function listen(ports: readonly number[]): Promise<void> {
  for (const port of ports) {
    for (let tries = 0; !(await isOpen(port)); tries++) {
      if (tries > 300) throw new Error(`the S3 server does not listen on port ${port}`)
      await sleep(200)
    }
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
      .once('connect', () => resolve(true))
      .once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

interface Layout {
  proxy: number
  cache: number
  /** One for each of PARTS. */
  ports: number[]
  region: string
}

function configure(dir: string, { proxy, cache, ports, region }: Layout): void {
  for (const folder of ['log', 'data/disk', 'cache'])
    mkdirSync(join(dir, folder), { recursive: true })
  const write = (name: string, sections: Record<string, Record<string, string | number>>) =>
    writeFileSync(
      join(dir, name),
      Object.entries(sections)
        .map(([section, values]) =>
          [
            `[${section}]`,
            ...Object.entries(values).map(([key, value]) => `${key} = ${value}`),
            '',
          ].join('\n'),
        )
        .join('\n'),
    )
  const common = {
    bind_ip: '127.0.0.1',
    workers: 0,
    user: userInfo().username,
    swift_dir: dir,
    log_address: '/dev/null',
    log_level: 'WARNING',
  }
  write('swift.conf', {
    'swift-hash': {
      swift_hash_path_prefix: 'quartermaster',
      swift_hash_path_suffix: 'quartermaster',
    },
    'storage-policy:0': { name: 'one', default: 'yes' },
  })
  for (const [i, part] of PARTS.entries()) {
    write(`${part}.conf`, {
      DEFAULT: {
        ...common,
        bind_port: ports[i]!,
        devices: join(dir, 'data'),
        mount_check: 'false',
        disable_fallocate: 'true',
        recon_cache_path: join(dir, 'cache'),
      },
      'pipeline:main': { pipeline: `${part}-server` },
      [`app:${part}-server`]: { use: `egg:swift#${part}` },
    })
  }
  const filters = [
    'catch_errors',
    'gatekeeper',
    'cache',
    'listing_formats',
    's3api',
    'tempauth',
    'slo',
    'dlo',
    'versioned_writes',
  ]
  const settings: Record<string, Record<string, string | number>> = {
    cache: { memcache_servers: `127.0.0.1:${cache}` },
    s3api: {
      location: region,
      s3_acl: 'false',
      dns_compliant_bucket_names: 'true',
      allow_multipart_uploads: 'true',
    },
    tempauth: {
      user_test_owner: 'owner-secret-0123456789 .admin',
      user_test_stranger: 'stranger-secret-0123456789',
    },
    slo: { min_segment_size: 1 },
    versioned_writes: { allow_versioned_writes: 'true' },
  }
  write('proxy.conf', {
    DEFAULT: { ...common, bind_port: proxy },
    'pipeline:main': { pipeline: [...filters, 'proxy-server'].join(' ') },
    'app:proxy-server': {
      use: 'egg:swift#proxy',
      account_autocreate: 'true',
      allow_account_management: 'true',
    },
    ...Object.fromEntries(
      filters.map((name) => [
        `filter:${name}`,
        { use: `egg:swift#${name === 'cache' ? 'memcache' : name}`, ...settings[name] },
      ]),
    ),
  })
  makeRings(dir, ports)
}

/**
 * Which disk holds what: one disk, one copy. In one process, since each start of Python costs a
 * second.
 */
function makeRings(dir: string, ports: number[]): void {
  const program = [
    'import sys',
    'from swift.common.ring import RingBuilder',
    'folder = sys.argv[1]',
    'for name, port in (pair.split("=") for pair in sys.argv[2:]):',
    '    builder = RingBuilder(4, 1, 1)',
    '    builder.add_dev(dict(id=0, region=1, zone=1, weight=1.0, device="disk", meta="", ' +
      'ip="127.0.0.1", port=int(port), replication_ip="127.0.0.1", replication_port=int(port)))',
    '    builder.rebalance()',
    '    builder.get_ring().save(f"{folder}/{name}.ring.gz")',
  ].join('\n')
  const { status, stderr } = spawnSync(
    PYTHON,
    ['-c', program, dir, ...PARTS.map((part, i) => `${part}=${ports[i]}`)],
    { encoding: 'utf8', env: { ...process.env, SWIFT_CONF_DIR: dir } },
  )
  if (status !== 0) throw new Error(`the rings of the S3 server cannot be made: ${stderr}`)
}

/** Ports that were free a moment ago, held until all are known. */
async function freePorts(count: number): Promise<number[]> {
  const held = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return server
    }),
  )
  const ports = held.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
