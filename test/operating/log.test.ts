/** The log in a file, turned over by logrotate with the file of data/operating while a server runs. */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { userInfo, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { LAUNCHER, json, stop } from '../server/launcher.js'
import { makeShop } from './shop.js'

const scratch = mkdtempSync(join(tmpdir(), 'qm-log-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

const LOGROTATE = ['/usr/sbin/logrotate', '/usr/bin/logrotate'].find(
  (file) => spawnSync(file, ['--version']).status === 0,
)
const skip = LOGROTATE === undefined && 'logrotate is not installed'

test(
  'logrotate turns the log over while the server goes on writing, and no line is lost',
  { skip },
  async () => {
    const [dir, logs] = [join(scratch, 'state'), join(scratch, 'logs')]
    mkdirSync(logs)
    await makeShop(dir, '127.0.0.1')
    const file = join(logs, 'quartermaster.log')
    // As systemd opens it for StandardError=append:.
    const handle = openSync(file, 'a')
    const words = ['serve', '--dir', dir, '--port', '0', '--admin', 'none', '--json']
    const child = spawn(process.execPath, [LAUNCHER, ...words], {
      stdio: ['ignore', 'pipe', handle],
    })
    closeSync(handle)
    try {
      await new Promise((resolve) =>
        createInterface({ input: child.stdout! }).once('line', resolve),
      )
      /** Has the server log something: the catalog is another file than it was. */
      const provoke = async () => {
        const [catalog, before] = [join(dir, 'catalog.db'), readFileSync(file, 'utf8')]
        const whole = readFileSync(catalog)
        writeFileSync(catalog, Buffer.alloc(whole.length, 'x'))
        while (readFileSync(file, 'utf8') === before) {
          assert.equal(child.exitCode, null)
          await sleep(20)
        }
        writeFileSync(catalog, whole)
      }
      await provoke()
      const first = readFileSync(file, 'utf8')
      const rules = readFileSync(join('data', 'operating', 'logrotate.conf'), 'utf8')
      const { uid, gid } = userInfo()
      const [user, group] = ['passwd', 'group'].map(
        (kind, i) =>
          execFileSync('getent', [kind, String([uid, gid][i])], { encoding: 'utf8' }).split(
            ':',
          )[0]!,
      )
      const own = rules
        .replace('/var/log/quartermaster', logs)
        .replace('su quartermaster quartermaster', `su ${user} ${group}`)
      const config = join(scratch, 'logrotate.conf')
      writeFileSync(config, own, { mode: 0o644 })
      execFileSync(LOGROTATE!, ['--force', '--state', join(scratch, 'rotated'), config])
      // The server may have written more meanwhile, to either of the two.
      assert.ok(readFileSync(join(logs, 'quartermaster.log.1'), 'utf8').startsWith(first))
      assert.ok(!readFileSync(file, 'utf8').includes(first))
      await provoke()
      for (const line of readFileSync(file, 'utf8').trim().split('\n')) assert.ok(JSON.parse(line))
      assert.deepEqual(readdirSync(logs).toSorted(), ['quartermaster.log', 'quartermaster.log.1'])
    } finally {
      assert.equal(await stop(child), 0)
    }
    assert.ok(await json(dir, 'feeds', 'status'))
  },
)
