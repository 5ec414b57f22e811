/** What a page is shown of the log: the newest lines, as they were written. */
import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { open } from '../../lib/app/open.js'
import { openLog } from '../../server/log.js'
import { until } from '../exports/child.js'

interface Line {
  level: string
  message: string
  fields: Record<string, unknown>
}

test('the log shows its newest thousand lines, the newest first, by level and by text', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'qm-log-'))
  const path = join(dir, 'log')
  const file = openSync(path, 'w')
  try {
    const log = openLog('debug', file)
    await using app = await open({ dir: join(dir, 'state'), worker: false, log })
    const list = (input: object) => app.operate('log.list', input) as Promise<Line[]>
    const messages = async (input: object) => (await list(input)).map(({ message }) => message)
    for (let n = 1; n <= 3_000; n++) log.info({ n }, 'a line of many')
    log.warn({ distid: 'RSR', password: 'hunter2' }, 'a feed is late')
    log.error({ err: new Error('no room') }, 'the catalog is not written')

    const all = await list({ limit: 1_000 })
    assert.equal(all.length, 1_000)
    assert.deepEqual([all[0]?.level, all[0]?.message], ['error', 'the catalog is not written'])
    assert.match(JSON.stringify(all[0]?.fields['err']), /no room/)
    assert.deepEqual(all.at(-1)?.fields, { n: 2_003 })
    assert.equal((await list({ limit: 2 })).length, 2)
    assert.deepEqual(await messages({ level: 'warn' }), [
      'the catalog is not written',
      'a feed is late',
    ])
    assert.deepEqual(
      (await list({ contains: 'FEED IS' })).map(({ fields }) => fields),
      [{ distid: 'RSR', password: '********' }],
    )
    // All of them are written where they belong, too.
    await until(() => readFileSync(path, 'utf8').trimEnd().split('\n').length === 3_002)
  } finally {
    closeSync(file)
    rmSync(dir, { recursive: true })
  }
})
