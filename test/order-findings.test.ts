/** Faults of the order engine that the simulation found, each in its smallest form. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { openJournalFile } from '../lib/orders/journal-file.js'
import { guardFolder } from './simulation/files.js'

test('lines that a dead process wrote and never synced are synced before anybody counts on them', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'qm-findings-'))
  let guard = guardFolder(dir, { point: () => undefined })
  try {
    writeFileSync(join(dir, 'orders.journal'), 'one\n')
    await (await openJournalFile(dir)).close()
    let isWriting = false
    guard = guardFolder(dir, { point: (name) => isWriting && name === 'journal: before the sync' ? new Promise<never>(() => {}) : undefined })
    const file = await openJournalFile(dir)
    isWriting = true
    void file.append(['two'])
    await new Promise((resolve) => { setImmediate(resolve) })
    // Killed: the kernel still has the line. The next life opens the file, and then the power goes.
    guard.died((unsafe) => unsafe)
    guard = guardFolder(dir, { point: () => undefined })
    await openJournalFile(dir)
    guard.died(() => 0)
    assert.equal(readFileSync(join(dir, 'orders.journal'), 'utf8'), 'one\ntwo\n')
  } finally {
    guard.release()
    rmSync(dir, { recursive: true, force: true })
  }
})
