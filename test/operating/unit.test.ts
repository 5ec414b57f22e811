/** The systemd unit: read by systemd, and held against what the server does. */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, test } from 'node:test'
import { connect } from '../../lib/connect.js'
import { page } from '../docs/blocks.js'
import { hearStream } from '../server/process-errors.js'
import { LAUNCHER } from '../server/launcher.js'
import { makeShop, ready } from './shop.js'
import { UNIT, permittedCalls, settings } from './unit.js'

const scratch = mkdtempSync(join(tmpdir(), 'qm-unit-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

const runs = (...words: string[]) => spawnSync(words[0]!, words.slice(1)).status === 0
const noSystemd = runs('systemd-analyze', '--version') ? false : 'systemd is not installed'
const noTrace = runs('strace', '-f', '--seccomp-bpf', '-o', '/dev/null', 'true')
  ? noSystemd
  : 'strace is not installed, or nothing may be traced here'

describe('the systemd unit', () => {
  test('is one that systemd understands in every line', { skip: noSystemd }, () => {
    const file = join(scratch, 'quartermaster.service')
    const text = readFileSync(UNIT, 'utf8')
    // What is not installed here.
    const here = text.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`)
    assert.notEqual(here, text)
    writeFileSync(file, here.replace(/^(User|Group)=.*\n/gm, ''))
    const verify = () =>
      spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
    assert.deepEqual([verify().status, verify().stderr], [0, ''])
    writeFileSync(file, here.replace('ProtectSystem=strict', 'ProtectSystem=strictly'))
    assert.match(verify().stderr, /protect system value, ignoring: strictly/)
  })

  test('is as closed as the page says', { skip: noSystemd }, () => {
    const said = execFileSync(
      'systemd-analyze',
      ['security', '--offline=true', '--no-pager', UNIT],
      { encoding: 'utf8' },
    )
    const [, figure] = /Overall exposure level for quartermaster\.service: ([\d.]+) OK/.exec(said)!
    const [, told] = /exposure level of ([\d.]+)/.exec(page('deploying.md'))!
    assert.equal(figure, told)
  })

  test('does not start the server again after 2 and 70, as the page has it', () => {
    assert.deepEqual(settings('RestartPreventExitStatus'), ['2 70'])
    assert.deepEqual(settings('Restart'), ['on-failure'])
  })

  test(
    'leaves a server all that it needs to start, export and stop',
    { skip: noTrace },
    async () => {
      const [dir, trace] = [join(scratch, 'state'), join(scratch, 'trace')]
      const key = await makeShop(dir, '127.0.0.1')
      // What the filter refuses fails here as it does there: with EPERM, in the children too.
      const refused = `!${[...permittedCalls()].map((call) => `?${call}`).join()}`
      const told = ['-f', '--seccomp-bpf', '-qq', '-e', 'signal=none', '-o', trace]
      const words = [...told, '-e', `trace=${refused}`, '-e', `inject=${refused}:error=EPERM`]
      const serve = ['serve', '--dir', dir, '--port', '0', '--admin', '127.0.0.1:0', '--json']
      const child = spawn('strace', [...words, process.execPath, LAUNCHER, ...serve], {
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      })
      try {
        hearStream(child.stderr)
        const first = await new Promise<string>((resolve, reject) => {
          createInterface({ input: child.stdout }).once('line', resolve)
          child.once('exit', (code) => reject(new Error(`ended with ${code}`)))
        })
        const { url, admin } = JSON.parse(first) as { url: string; admin: string }
        await ready(admin)
        const shop = connect(url, key)
        assert.equal((await shop.products.search({})).total, 1)
        assert.ok((await shop.products.catalog({})).changed)
        const ended = new Promise((resolve) => child.once('exit', resolve))
        // The server, which its tracer follows.
        const [server] = execFileSync('pgrep', ['-P', String(child.pid)], {
          encoding: 'utf8',
        }).split('\n')
        process.kill(Number(server), 'SIGTERM')
        assert.equal(await ended, 0)
      } finally {
        // With the server and its children, if they are still there.
        if (child.exitCode === null) process.kill(-child.pid!, 'SIGKILL')
      }
      const calls = readFileSync(trace, 'utf8').matchAll(/^\d+ +(?:<\.\.\. )?(\w+)/gm)
      // V8 looks whether there are keys for memory, and goes without; SQLite, where it runs as
      // root, gives files to the owner of the database, who has them already.
      const known = ['pkey_alloc', 'fchown']
      const others = [...calls].map(([, call]) => call!).filter((call) => !known.includes(call))
      assert.deepEqual([...new Set(others)], [])
    },
  )
})
