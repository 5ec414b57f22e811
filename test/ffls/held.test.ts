/** `ffls held`: what the last lists lack and may not take away. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { json, run } from '../server/launcher.js'

let scratch: string
before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-cli-held-'))
})
after(() => rmSync(scratch, { recursive: true, force: true }))

const HEADER =
  'LIC_REGN|LIC_DIST|LIC_CNTY|LIC_TYPE|LIC_XPRDTE|LIC_SEQN|LICENSE_NAME|BUSINESS_NAME|' +
  'PREMISE_STREET|PREMISE_CITY|PREMISE_STATE|PREMISE_ZIP_CODE|' +
  'MAIL_STREET|MAIL_CITY|MAIL_STATE|MAIL_ZIP_CODE|VOICE_PHONE'

function file(name: string, lines: readonly string[]): string {
  const path = join(scratch, name)
  writeFileSync(path, [...lines, ''].join('\n'))
  return path
}

const sequence = (i: number) => String(i).padStart(5, '0')

/** The ATF's list of the first dealers of Georgia. */
const dealers = (many: number) =>
  file(`dealers-${many}.txt`, [
    HEADER,
    ...Array.from(
      { length: many },
      (_, i) =>
        `1|58|021|01|9E|${sequence(i)}|DOE, JANE|DOE ARMS ${i}|12 MILL RD|MACON|GA|31201|||||`,
    ),
  ])

/** A distributor's list of the first dealers whose license it has. */
const marks = (many: number) =>
  file(`marks-${many}.txt`, [
    'LICENSE',
    ...Array.from({ length: many }, (_, i) => `1-58-021-01-9E-${sequence(i)}`),
  ])

async function take(dir: string, ...words: string[]): Promise<void> {
  const { status, err } = await run(dir, 'ffls', ...words)
  assert.equal(status, 0, err)
}

describe('ffls held', () => {
  test('shows what waits, and by which commands it is decided; whole lists end it', async () => {
    const dir = join(scratch, 'held')
    await json(dir, 'init')
    const nothing = 'Nothing is held: the last lists took away what they lack.\n'
    assert.equal((await run(dir, 'ffls', 'held')).out, nothing)
    assert.deepEqual(await json(dir, 'ffls', 'held'), { held: [] })

    await take(dir, 'import', dealers(30), '--as-of', '2026-05-10')
    await take(dir, 'on-file', 'RSR', marks(30), '--as-of', '2026-05-10')
    assert.equal((await run(dir, 'ffls', 'held')).out, nothing)

    await take(dir, 'import', dealers(10), '--as-of', '2026-06-10')
    const { held: ofAtf } = (await json(dir, 'ffls', 'held')) as Record<string, unknown[]>
    assert.equal(ofAtf!.length, 1)
    const { reason, ...atf } = ofAtf![0] as Record<string, unknown>
    assert.deepEqual(atf, {
      distid: null,
      as_of: '2026-06-10T00:00:00.000Z',
      state: 'GA',
      missing: 20,
      known: 30,
    })

    await take(dir, 'on-file', 'RSR', marks(12), '--as-of', '2026-06-11')
    const { out } = await run(dir, 'ffls', 'held')
    const [head, rsr, ga, ...told] = out.trimEnd().split('\n')
    assert.match(head!, /^list +state +missing +known +as_of +reason$/)
    assert.match(rsr!, /^RSR +- +18 +30 +2026-06-11 +\S/)
    assert.match(ga!, /^ATF +GA +20 +30 +2026-06-10 +\S/)
    assert.ok(ga!.endsWith(String(reason)), ga)
    assert.match(told[0]!, /`ffls import FILE --accept`, or `--revoke STATE` for one state\.$/)
    assert.match(told[1]!, /`ffls on-file RSR FILE --force`\.$/)
    assert.equal(told.length, 2)

    await take(dir, 'import', dealers(10), '--as-of', '2026-06-12', '--accept')
    const { held: left } = (await json(dir, 'ffls', 'held')) as Record<string, unknown[]>
    assert.deepEqual(
      left!.map((one) => (one as { distid: string }).distid),
      ['RSR'],
    )
    assert.doesNotMatch((await run(dir, 'ffls', 'held')).out, /--accept/)
    await take(dir, 'on-file', 'RSR', marks(12), '--as-of', '2026-06-13', '--force')
    assert.equal((await run(dir, 'ffls', 'held')).out, nothing)
  })
})
