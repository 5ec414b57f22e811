/**
 * `ffls import`, `on-file`, `set`, `add` and `show`, as a person or a script calls them, beside a
 * server and through a kill.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { LAUNCHER, get, json, lastLine, run, runProcess, start, stop } from '../server/launcher.js'
import { pattern } from '../harness/pattern.js'

let scratch: string
before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-cli-ffls-'))
})
after(() => rmSync(scratch, { recursive: true, force: true }))

const HEADER =
  'LIC_REGN|LIC_DIST|LIC_CNTY|LIC_TYPE|LIC_XPRDTE|LIC_SEQN|LICENSE_NAME|BUSINESS_NAME|' +
  'PREMISE_STREET|PREMISE_CITY|PREMISE_STATE|PREMISE_ZIP_CODE|' +
  'MAIL_STREET|MAIL_CITY|MAIL_STATE|MAIL_ZIP_CODE|VOICE_PHONE'
const row = (i: number, code = '8E') =>
  `1|58|021|01|${code}|${String(i).padStart(5, '0')}|DOE, JANE|DOE ARMS ${i}|12 MILL ` +
  'RD|MACON|GA|31201|PO BOX 1|MACON|GA|31201|4785550100'

/** A list of dealers `from` to `to`. */
function list(from: number, to: number, code?: string): string {
  const path = join(scratch, `list-${from}-${to}-${code ?? ''}.txt`)
  writeFileSync(
    path,
    [HEADER, ...Array.from({ length: to - from + 1 }, (_, i) => row(from + i, code)), ''].join(
      '\n',
    ),
  )
  return path
}

async function installation(name: string): Promise<string> {
  const dir = join(scratch, name)
  await json(dir, 'init')
  return dir
}

/** All that is stored of dealers, and how many of them. */
function stored(dir: string): { count: number; rows: unknown[] } {
  const raw = openFile(filesIn(dir).record, { synchronous: 'FULL', readonly: true })
  try {
    const rows = raw
      .prepare('SELECT * FROM dealer ORDER BY id')
      .all()
      .map((dealer) => ({ ...(dealer as object), row: null }))
    return {
      count: rows.length,
      rows: [...rows, ...raw.prepare('SELECT * FROM dealer_on_file ORDER BY 1, 2').all()],
    }
  } finally {
    raw.close()
  }
}

const count = (dir: string) => {
  const raw = openFile(filesIn(dir).record, { synchronous: 'FULL', readonly: true })
  try {
    return raw
      .prepare('SELECT count(*) FROM dealer WHERE updated_at > 1770000000000')
      .pluck()
      .get() as number
  } finally {
    raw.close()
  }
}

const AS_OF = ['--as-of', '2026-05-10']
const LATER = ['--as-of', '2026-06-10']

describe('ffls import', () => {
  test('expiring tells whose license ends soon, and refuses days that are none', async () => {
    const dir = await installation('expiring')
    const today = new Date()
    const next = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 1))
    const code = `${next.getUTCFullYear() % 10}${'ABCDEFGHJKLM'[next.getUTCMonth()]!}`
    await json(dir, 'ffls', 'import', list(1, 3, code))
    assert.match(
      (await run(dir, 'ffls', 'expiring')).out,
      /^No license of a dealer that you work with ends soon\.$/m,
    )
    await json(dir, 'ffls', 'set', '1-58-00002', '--on-file', 'yes')
    const { dealers } = (await json(dir, 'ffls', 'expiring')) as unknown as {
      dealers: { license_number: string; expiration_date: string }[]
    }
    assert.deepEqual(
      dealers.map((one) => [one.license_number, one.expiration_date]),
      [[`1-58-021-01-${code}-00002`, next.toISOString().slice(0, 10)]],
    )
    assert.match((await run(dir, 'ffls', 'expiring', '--days', '60')).out, /DOE ARMS 2/)
    for (const days of ['soon', '1.5'])
      assert.equal((await run(dir, 'ffls', 'expiring', '--days', days)).status, 2)
    assert.equal((await run(dir, 'ffls', 'expiring', '--days', '367')).status, 1)
  })

  test('tells people what changed, and programs all of it', async () => {
    const dir = await installation('import')
    const first = await run(dir, 'ffls', 'import', list(1, 30), ...AS_OF)
    assert.equal(first.status, 0, first.err)
    assert.equal(
      first.out,
      '30 rows as of 2026-05-10: 0 of other types skipped, 0 rejected.\nDealers: 30 new, 0 ' +
        'renewed, 0 changed, 0 unchanged, 0 gone.\n',
    )
    assert.equal(first.err, '', 'no bar in a pipe')
    const second = join(scratch, 'second.txt')
    writeFileSync(
      second,
      [
        HEADER,
        row(1, '9E'),
        ...Array.from({ length: 28 }, (_, i) => row(i + 2)),
        row(31),
        '1|58|021|06|8E|00032|x',
        '2|58',
        'cut off',
      ].join('\n'),
    )
    const kept = stored(dir)
    const dry = await run(dir, 'ffls', 'import', second, ...LATER, '--revoke', 'GA', '--dry-run')
    assert.equal(
      dry.out,
      [
        '32 rows as of 2026-06-10: 1 of other types skipped, 1 rejected.',
        'The list is cut off: line 34 was not taken (cut off).',
        'rows  reason',
        '1     the region is none of 1, 3, 4, 5, 6, 8, 9',
        'line  reason                                     text',
        '33    the region is none of 1, 3, 4, 5, 6, 8, 9  2 | 58',
        'Dealers: 1 new, 1 renewed, 0 changed, 28 unchanged, 1 gone.',
        'Renewed:',
        'from                  to                    name',
        '1-58-021-01-8E-00001  1-58-021-01-9E-00001  DOE ARMS 1',
        'Gone:',
        'license_number        name         state',
        '1-58-021-01-8E-00030  DOE ARMS 30  GA',
        'This was a dry run: nothing was changed.',
        '',
      ].join('\n'),
    )
    assert.deepEqual(stored(dir), kept)
    const { dry_run: wasDry, ...said } = (await json(
      dir,
      'ffls',
      'import',
      second,
      ...LATER,
      '--dry-run',
    )) as Record<string, unknown>
    const { dry_run: isDry, ...done } = (await json(
      dir,
      'ffls',
      'import',
      second,
      ...LATER,
    )) as Record<string, unknown>
    assert.deepEqual([wasDry, isDry, said], [true, false, done])
    assert.deepEqual(
      [done['added'], done['renewed'], done['gone'], done['kept']],
      [1, 1, 0, [{ state: 'GA', missing: 1, known: 30, reason: 'the list is cut off' }]],
    )
    assert.match(
      (await run(dir, 'ffls', 'import', second, ...LATER, '--accept', '--dry-run')).out,
      /1 gone\.\nGone:\nlicense_number .*\n1-58-021-01-8E-00030 /,
    )
    assert.match(
      (await run(dir, 'ffls', 'import', second, ...LATER)).out,
      pattern(
        /--revoke STATE those of one state:\nstate  missing  known  reason\n/,
        /GA     1        29     the list is cut off\n$/,
      ),
    )
  })

  const misused: [args: string[], status: number, says: RegExp][] = [
    [['import'], 2, /<FILE> is missing/],
    [['import', 'x', '--as-of', 'soon'], 2, /--as-of "soon" is not a date/],
    [['import', 'x', '--types', ''], 2, /--types must not be empty/],
    [['import', 'nowhere.txt'], 1, /invalid_parameter: file: cannot read nowhere\.txt/],
    [['import', 'x', '--types', '01,05'], 1, /types: "05" is not a type of license/],
    [['import', 'x', '--revoke', ''], 1, /revoke: "" is not a state/],
    [['on-file', 'RSR'], 2, /<FILE> is missing/],
    [['on-file', 'RSR', 'x', '--subscriber', 's'], 2, /name either a FILE or the account/],
    [['on-file', 'RSR', '--subscriber', 'nobody'], 1, /there is no subscriber "nobody"/],
    [['on-file', 'NOPE', 'x'], 1, /not a known distributor/],
    [['set', '1-58-00001'], 2, /there is nothing to set/],
    [['set', '1-58-00001', '--fee-longgun', 'x'], 2, /--fee-longgun "x" is not an amount/],
    [['set', '1-58-00001', '--sot', 'maybe'], 2, /--sot must be yes or no/],
    [['set', '1-58-00001', '--sot', 'yes'], 1, /not_found: No dealer has the license/],
    [['show', 'x'], 1, /not_found/],
    [['add', 'x', '--name', 'n'], 2, /--street is missing/],
  ]
  let empty: string
  before(async () => {
    empty = await installation('misused')
  })
  for (const [args, status, says] of misused) {
    test(`\`ffls ${args.join(' ')}\` says what is wrong`, async () => {
      const failed = await run(empty, 'ffls', ...args)
      assert.equal(failed.status, status, failed.err)
      assert.match(failed.err, says)
      assert.equal(failed.err.trim().split('\n').length, 1)
    })
  }

  test('killed in the middle and run again ends as if it had run through', async () => {
    const [killed, whole] = [await installation('killed'), await installation('whole')]
    const [before, after] = [list(1, 10_000), list(2_001, 20_000, '9E')]
    for (const dir of [killed, whole]) {
      await json(dir, 'ffls', 'import', before, ...AS_OF)
      await json(dir, 'ffls', 'set', '1-58-02500', '--fee-longgun', '30')
    }
    const reached: number[] = []
    // Among those that are gone, then among those that were renewed.
    for (const least of [400, 6_000]) {
      const child = spawn(
        process.execPath,
        [LAUNCHER, 'ffls', 'import', after, ...LATER, '--accept', '--dir', killed],
        { stdio: 'ignore' },
      )
      const ended = new Promise((resolve) => child.once('exit', resolve))
      while (child.exitCode === null && count(killed) < least)
        await new Promise((resolve) => setTimeout(resolve, 2))
      child.kill('SIGKILL')
      await ended
      reached.push(count(killed))
    }
    assert.ok(
      reached.every((done) => done > 0 && done < 20_000),
      `killed after ${reached.join(', ')} of 20,000`,
    )
    await json(killed, 'ffls', 'import', after, ...LATER, '--accept')
    await json(whole, 'ffls', 'import', after, ...LATER, '--accept')
    assert.deepEqual(stored(killed), stored(whole))
    const again = (await json(killed, 'ffls', 'import', after, ...LATER)) as Record<string, unknown>
    assert.deepEqual([again['unchanged'], again['added'], again['gone']], [18_000, 0, 0])
  })

  test('a server beside it answers and writes on, and shows the dealers at once', async (t) => {
    const dir = await installation('beside')
    await json(dir, 'subscribers', 'create', '--name', 'Shop', '--email', 'owner@shop.example')
    const { key } = (await json(
      dir,
      'keys',
      'create',
      '--subscriber',
      'Shop',
      '--name',
      'web',
      '--ip',
      '127.0.0.1',
      '--tier',
      'enterprise',
    )) as unknown as { key: string }
    const { child, first } = await start(dir, 'serve')
    try {
      let [longest, asked] = [0, 0]
      let running = true
      const importing = runProcess(
        dir,
        'ffls',
        'import',
        list(1, 20_000),
        ...AS_OF,
        '--json',
      ).finally(() => {
        running = false
      })
      while (running) {
        const began = Date.now()
        assert.equal((await get(`${first.url}/v1/ping`, key)).status, 200)
        longest = Math.max(longest, Date.now() - began)
        // A write of another process takes its turn between two steps.
        if (asked++ % 40 === 0)
          assert.equal(
            (
              await runProcess(
                dir,
                'subscribers',
                'create',
                '--name',
                `Shop ${asked}`,
                '--email',
                'owner@shop.example',
              )
            ).status,
            0,
          )
      }
      const { status, err, ...done } = await importing
      assert.equal(status, 0, err)
      assert.equal(lastLine({ status, err, ...done })['added'], 20_000)
      t.diagnostic(`${asked} answers during the import, the slowest after ${longest} ms`)
      assert.equal((await get(`${first.url}/v1/ffls/1-58-021-01-8E-20000`, key)).status, 200)
      await json(dir, 'ffls', 'set', '1-58-20000', '--fee-handgun', '19.50')
      const { body } = await get(`${first.url}/v1/ffls/1-58-021-01-8E-20000`, key)
      assert.equal((body.data as { transfer_fee_handgun: number }).transfer_fee_handgun, 19.5)
    } finally {
      assert.equal(await stop(child), 0)
    }
  })
})

describe('ffls on-file, set, add and show', () => {
  test('from a list to a dealer with fees, a mark and a later end', async () => {
    const dir = await installation('dealer')
    await json(dir, 'ffls', 'import', list(1, 3), ...AS_OF)
    const marks = join(scratch, 'rsr.txt')
    writeFileSync(
      marks,
      `DOE ARMS;12 MILL RD;MACON;GA;31201;1-58-021-01-9E-00001\nNEW ARMS;1 PINE ` +
        `ST;MACON;GA;312011234;1-58-021-07-9E-00009\n`,
    )
    const kept = stored(dir)
    const dry = await run(dir, 'ffls', 'on-file', 'RSR', marks, ...LATER, '--dry-run')
    assert.match(
      dry.out,
      pattern(
        /^2 rows as of 2026-06-10: 0 of other types skipped, 0 rejected\.\nOn file with RSR: /,
        /2 new, 0 as before, 0 no longer\. Dealers: 1 added, 1 renewed\.\nRenewed:\n.*\n/,
        /1-58-021-01-8E-00001 {2}1-58-021-01-9E-00001 .*\nThis was a dry run: /,
        /nothing was changed\.\n$/,
      ),
    )
    assert.deepEqual(stored(dir), kept)
    const marked = (await json(dir, 'ffls', 'on-file', 'RSR', marks, ...LATER)) as Record<
      string,
      unknown
    >
    assert.deepEqual(
      [marked['marked'], marked['added'], marked['renewed'], marked['dry_run']],
      [2, 1, 1, false],
    )
    writeFileSync(marks, '1-58-021-01-9E-00001\n')
    assert.match(
      (await run(dir, 'ffls', 'on-file', 'RSR', marks)).out,
      /1 of 2 marks are kept although the list lacks them: the list holds less than 70 % .*; --force removes them\.\n$/,
    )
    assert.equal(
      ((await json(dir, 'ffls', 'on-file', 'RSR', marks, '--force')) as Record<string, unknown>)[
        'unmarked'
      ],
      1,
    )

    const settings = [
      '--fee-longgun',
      '$25',
      '--fee-handgun',
      '20.50',
      '--email',
      'front@dealer.example',
      '--phone',
      '478-555-0199',
      '--residential',
      'yes',
      '--contact-required',
      'yes',
      '--on-file',
      'no',
      '--sot',
      'yes',
    ]
    const later = ['--valid-until', '2029-12-31', '--reason', 'letter of the ATF']
    const before = stored(dir)
    const would = await json(dir, 'ffls', 'set', '1-58-00001', ...settings, ...later, '--dry-run')
    assert.deepEqual(stored(dir), before)
    const { dry_run: _dry, ...said } = would as Record<string, unknown>
    assert.deepEqual(await json(dir, 'ffls', 'set', '1-58-00001', ...settings, ...later), said)
    assert.match(
      (await run(dir, 'ffls', 'set', '1-58-00001', '--valid-until', '2030-12-31')).err,
      /invalid_parameter: reason: is missing/,
    )
    const shown = await run(dir, 'ffls', 'show', '15800001')
    for (const [name, value] of Object.entries({
      license_number: '1-58-021-01-9E-00001',
      fee_longgun: '25',
      fee_handgun: '20.5',
      valid_until: '2029-12-31',
      residential: 'yes',
      marked_on_file: 'no',
      on_file_with: 'RSR',
      documents: '-',
      active: 'yes',
    })) {
      assert.match(shown.out, new RegExp(`^${name} +${value}$`, 'm'))
    }
    assert.equal(
      (
        (await json(dir, 'ffls', 'set', '1-58-00001', '--fee-longgun', 'none')) as Record<
          string,
          unknown
        >
      )['fee_longgun'],
      null,
    )
    assert.match(
      (
        await run(
          dir,
          'ffls',
          'set',
          '1-58-00001',
          '--valid-until',
          '2032-05-02',
          '--reason',
          'letter',
        )
      ).err,
      /invalid_parameter: valid_until: must be at most 2032-05-01/,
    )
    assert.match(shown.out, /^own_phone +yes$/m)
    const renewal = (await json(
      dir,
      'ffls',
      'import',
      list(1, 3, '0E'),
      '--as-of',
      '2026-07-10',
    )) as Record<string, unknown>
    assert.deepEqual(renewal['ended_extensions'], [
      { license_number: '1-58-021-01-9E-00001', name: 'DOE ARMS 1', valid_until: '2029-12-31' },
    ])
    const { voice_phone, valid_until } = (await json(dir, 'ffls', 'show', '1-58-00001')) as Record<
      string,
      unknown
    >
    assert.deepEqual([voice_phone, valid_until], ['4785550199', null])

    const own = [
      'ffls',
      'add',
      '1-58-021-01-9E-00077',
      '--name',
      'Own Arms',
      '--street',
      '1 Mill Rd',
      '--city',
      'Macon',
      '--state',
      'GA',
      '--zip',
      '31201',
      '--reason',
      'license seen',
    ]
    assert.match(
      (await run(dir, ...own, '--dry-run')).out,
      /^license_number {4}1-58-021-01-9E-00077$[\s\S]*This was a dry run/m,
    )
    assert.equal((await run(dir, 'ffls', 'show', '1-58-00077')).status, 1)
    assert.equal(((await json(dir, ...own)) as Record<string, unknown>)['source'], 'operator')
    assert.match((await run(dir, ...own)).err, /is there already/)
  })
})
