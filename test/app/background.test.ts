/** The worker of long work, on a machine that has no descriptor left. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openBackground } from '../../lib/app/background/background.js'
import { open } from '../../lib/app/open.js'
import { silentLog } from '../../lib/core/log.js'

/** More than a worker opens while it starts and builds. */
const MOST = 40
const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0

const dir = mkdtempSync(join(tmpdir(), 'qm-background-'))
before(async () => (await open({ dir, log: silentLog })).close())
after(() => rmSync(dir, { recursive: true, force: true }))

/** Opens files until none can be opened; returns them. */
function takeAll(): number[] {
  const taken: number[] = []
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'))
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'EMFILE')
    return taken
  }
}

/** Few enough to be taken all. */
function limitDescriptors(): void {
  const limit = readdirSync('/proc/self/fd').length + 2 * MOST
  execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${limit}:`])
}

const skip = hasPrlimit ? false : 'no prlimit here'

test(
  'a worker that lost its descriptors before its first build goes on once there are some',
  {
    skip,
  },
  async () => {
    limitDescriptors()
    const background = openBackground({ log: silentLog })
    const build = () => background.run('buildSnapshot', { dir })
    // It runs then; what it never built it need not keep.
    assert.equal(await background.run('keepSnapshot', { dir }), true)
    const taken = takeAll()
    await assert.rejects(build())
    for (const one of taken) closeSync(one)
    assert.equal((await build()).parts.rows, 0)
    await background.close()
  },
)

test(
  'a worker that had too few descriptors to start is replaced by one that works once there are some',
  { skip },
  async () => {
    limitDescriptors()
    let failed = 0
    for (let free = 0; free <= MOST; free++) {
      const background = openBackground({ log: silentLog })
      const build = () => background.run('buildSnapshot', { dir })
      const taken = takeAll()
      for (const one of taken.splice(0, free)) closeSync(one)
      const first = await build().then(
        () => null,
        (error: unknown) => error,
      )
      for (const one of taken) closeSync(one)
      if (first !== null) failed++
      assert.equal((await build()).parts.rows, 0, `with ${free} descriptors at first: ${first}`)
      await background.close()
    }
    assert.ok(failed > 5 && failed < MOST, `${failed} of them failed at first`)
  },
)
