/**
 * `fraud export` and `import`, as a person or a script calls them, and two installations that share
 * signals.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import {
  A,
  answer,
  audited,
  B,
  batch,
  changed,
  FARM,
  fileOf,
  HASH,
  HOUSE,
  installation,
  OTHER,
  refuses,
  REPORT,
  rows,
  scratch,
  SHARED,
  tell,
  tries,
} from './cli.js'
import { lastLine, run, runProcess, start, stop } from '../server/launcher.js'
import { pattern } from '../harness/pattern.js'

describe('fraud export', () => {
  test('writes a file that is there for its owner alone, and holds no value', async () => {
    const dir = await installation('export', [
      [A, HOUSE],
      [B, FARM],
    ])
    await tell(dir, 'partner', 'coast', '--key', fileOf('export.key', SHARED))
    const out = join(scratch, 'out.ndjson')
    assert.equal(await tries(dir, 'export', 'coast', '--out', out), '2 reports would be written.\n')
    assert.ok(!existsSync(out))
    assert.equal(
      await tell(dir, 'export', 'coast', '--out', out),
      `2 reports are in ${out}, as hashes under the key that is shared with coast.\n`,
    )
    assert.equal(statSync(out).mode & 0o777, 0o600)
    const text = readFileSync(out, 'utf8')
    assert.doesNotMatch(text, /birch|orchard|customer|rifle|arms of/i)
    for (const secret of [
      SHARED,
      ...rows(dir, 'SELECT id FROM subscriber'),
      ...rows(dir, 'SELECT hash FROM fraud_signal'),
    ])
      assert.ok(!text.includes(String(secret)), String(secret))
    assert.deepEqual(await answer(dir, 'export', 'coast', '--out', join(scratch, 'again.ndjson')), {
      partner: 'coast',
      reports: 2,
      unreadable: 0,
      dry_run: false,
    })
    assert.deepEqual(audited(dir).slice(1), [
      'cli fraud export {"partner":"coast","reports":2}',
      'cli fraud export {"partner":"coast","reports":2}',
    ])

    const refused: [args: string[], code: 'usage' | 'invalid_parameter', says: RegExp][] = [
      [
        ['coast', '--out', out],
        'invalid_parameter',
        /: out: .*out\.ndjson is there already; name another file$/,
      ],
      [
        ['coast', '--out', join(scratch, 'no', 'folder')],
        'invalid_parameter',
        /: out: cannot write .*no\/folder \(ENOENT\)$/,
      ],
      [
        ['lakes', '--out', join(scratch, 'new')],
        'invalid_parameter',
        /: partner: "lakes" is not a partner; known are coast; `fraud partner` makes one$/,
      ],
      [['coast'], 'usage', /^--out is missing\. For example: quartermaster fraud export /],
      [[], 'usage', /^<PARTNER> is missing/],
    ]
    for (const [args, code, says] of refused) await refuses(dir, ['export', ...args], code, says)
    assert.equal(readFileSync(out, 'utf8'), text)
    assert.ok(!existsSync(join(scratch, 'new')))
  })

  test('leaves a report out that cannot be opened, and says so', async () => {
    const dir = await installation('half', [
      [A, HOUSE],
      [B, FARM],
    ])
    await tell(dir, 'partner', 'coast', '--key', fileOf('half.key', SHARED))
    changed(dir, "UPDATE fraud_report SET payload = '' WHERE id = 1")
    const out = join(scratch, 'half.ndjson')
    assert.equal(
      await tries(dir, 'export', 'coast', '--out', out),
      '1 reports would be written.\n1 reports cannot be opened and are left out; the log names them.\n',
    )
    assert.deepEqual(await answer(dir, 'export', 'coast', '--out', out), {
      partner: 'coast',
      reports: 1,
      unreadable: 1,
      dry_run: false,
    })
  })

  test('leaves no half of a file where it fails', async () => {
    const dir = await installation('failed', [[A, HOUSE]])
    await tell(dir, 'partner', 'coast', '--key', fileOf('failed.key', SHARED))
    changed(dir, 'ALTER TABLE fraud_report RENAME TO elsewhere')
    const out = join(scratch, 'failed.ndjson')
    const done = await run(dir, 'fraud', 'export', 'coast', '--out', out)
    assert.deepEqual([done.status, existsSync(out)], [1, false])
  })
})

describe('fraud import', () => {
  let dir: string
  before(async () => {
    dir = await installation('import')
    await tell(dir, 'partner', 'coast', '--key', fileOf('import.key', SHARED))
    await tell(dir, 'partner', 'lakes', '--key', fileOf('lakes.key', OTHER))
    await tell(dir, 'import', 'coast', batch('last.ndjson', {}))
  })

  const DAY = 86_400_000
  const next = { made_at: Date.now() + DAY / 2 }
  const altered: Record<string, [make: (good: string) => string, says: RegExp]> = {
    'was changed': [
      (good) => fileOf('b', good.replace('2026-06-02', '2025-06-02')),
      pattern(
        /was cut off or changed, or sealed with another key than the one that is shared with /,
        /coast: have it sent again, or compare the keys$/,
      ),
    ],
    'was cut off': [
      (good) => fileOf('b', good.slice(0, good.indexOf('{"reports'))),
      /was cut off or changed/,
    ],
    'was cut off within a line': [
      (good) => fileOf('b', good.slice(0, -20)),
      /is not a batch of signals; `fraud export` writes one$/,
    ],
    'lost a report': [
      (good) => fileOf('b', good.replace(`${REPORT}\n`, '')),
      /was cut off or changed/,
    ],
    'was given one more': [
      (good) => fileOf('b', good.replace(REPORT, `${REPORT}\n${REPORT}`)),
      /was cut off or changed/,
    ],
    'goes on': [
      () => batch('b', next, { behind: `${REPORT}\n` }),
      /goes on behind its seal; have it sent again$/,
    ],
    'is foreign': [
      () => batch('b', next, { secret: OTHER }),
      /sealed with another key than the one that is shared with coast/,
    ],
    'says another count': [() => batch('b', next, { reports: 2 }), /holds 1 reports, and says 2$/],
    'is of other rules': [
      () => batch('b', { ...next, form: 2 }),
      /other rules of spelling \(2, not 1\): both sides need the same$/,
    ],
    'is of nobody': [() => batch('b', { ...next, installation: undefined }), /is not a batch/],
    'is of another installation': [
      () => batch('b', { ...next, installation: '00'.repeat(16) }),
      pattern(
        /comes from another installation than coast's batches before; if it was set up anew, /,
        /end the partnership with `fraud partner coast --remove`, and begin again$/,
      ),
    ],
    ...Object.fromEntries(
      Object.entries({
        'an unknown day': ['2026-06-02', '2026-06-31'],
        'a day of no form': ['"last":"2026-06-03"', '"last":"1"'],
        'a day that is to come': ['"last":"2026-06-03"', '"last":"9999-12-31"'],
        'days in disorder': ['"first":"2026-06-02"', '"first":"2026-06-04"'],
        'a day of long ago': ['"first":"2026-06-02"', '"first":"1970-01-01"'],
        'no dealer': ['"dealer":"d"', '"dealer":""'],
        'an endless dealer': ['"dealer":"d"', `"dealer":"${'d'.repeat(65)}"`],
        'a signal twice': ['[[', `[[1,"${HASH}"],[`],
        'a signal of no kind': ['[[1,', '[[10,'],
        'a hash of more than 64 bits': [HASH, '9223372036854775808'],
        'no strong signal': ['[[1,', '[[5,'],
        'too many signals': [
          '[[',
          `[${Array.from({ length: 400 }, (_, n) => `[7,"${n}"],`).join('')}[`,
        ],
      }).map(([what, [from, to]]): [string, (typeof altered)[string]] => [
        `says ${what}`,
        [
          () => batch('b', next, { report: REPORT.replace(from!, to!) }),
          /says what cannot be: the (days|dealer|signals) of report 1; /,
        ],
      ]),
    ),
    'has a line without end': [
      () => batch('b', next, { report: `{"x":"${'x'.repeat(40_000)}"}` }),
      /is not a batch/,
    ],
    'is of another version': [() => batch('b', { ...next, batch: 2 }), /is not a batch/],
    'comes from the future': [
      () => batch('b', { made_at: Date.now() + 3 * DAY }),
      /was made in the future: a clock is wrong, here or there$/,
    ],
    'is older': [
      () => batch('b', { made_at: Date.now() - DAY }),
      /is not newer than the batch that was taken in last; have a new one made$/,
    ],
    'came before': [() => join(scratch, 'last.ndjson'), /is not newer/],
    'is empty': [() => fileOf('b', ''), /is not a batch/],
    'is null': [() => fileOf('b', 'null\n'), /is not a batch/],
    'is a list of numbers': [() => fileOf('b', '1\n2\n'), /is not a batch/],
    'holds a null': [(good) => fileOf('b', good.replace(REPORT, 'null')), /is not a batch/],
    'is a spreadsheet': [() => fileOf('b', 'upc,name\n'), /is not a batch/],
    'is not there': [() => join(scratch, 'nowhere'), /nowhere is not there$/],
    'is a folder': [() => scratch, /cannot be read \(EISDIR\)$/],
  }
  for (const [what, [make, says]] of Object.entries(altered)) {
    test(`refuses a file that ${what}, whole`, async () => {
      await refuses(
        dir,
        ['import', 'coast', make(readFileSync(batch('good.ndjson', next), 'utf8'))],
        'invalid_parameter',
        new RegExp(`^invalid_parameter: file: .*${says.source}`),
      )
    })
  }

  test('refuses a partner that nobody named, and a file of another partner', async () => {
    await refuses(
      dir,
      ['import', 'nobody', batch('b', next)],
      'invalid_parameter',
      /: partner: "nobody" is not a partner; known are coast, lakes; `fraud partner` makes one$/,
    )
    await refuses(
      dir,
      ['import', 'lakes', batch('b', next)],
      'invalid_parameter',
      /: file: .* sealed with another key than the one that is shared with lakes/,
    )
    await refuses(dir, ['import', 'coast'], 'usage', /^<FILE> is missing/)
    assert.equal(audited(dir).length, 3)
    writeFileSync(join(dir, 'keys', 'fraud-partner-lakes'), OTHER.slice(2))
    await refuses(
      dir,
      ['import', 'lakes', batch('b', next)],
      'failed',
      /fraud-partner-lakes is damaged: it must be 64 hex digits, as the partner has them; restore it/,
    )
  })
})

describe('two installations', () => {
  test("share signals over a file: a server counts the other's dealers, and the newer batch holds", async () => {
    const [there, here] = [
      await installation('there', [
        [A, HOUSE],
        [B, HOUSE],
        [B, FARM],
      ]),
      await installation('here', [[A, HOUSE]]),
    ]
    const file = fileOf('agreed.key', SHARED)
    for (const dir of [there, here]) await tell(dir, 'partner', 'coast', '--key', file)
    const { key } = lastLine(
      await run(
        here,
        'keys',
        'create',
        '--subscriber',
        A,
        '--name',
        'web',
        '--ip',
        '127.0.0.1',
        '--json',
      ),
    ) as unknown as { key: string }
    const { child, first } = await start(here, 'serve')
    try {
      const check = async ({ notes: _own, ...body }: Record<string, string>) => {
        const response = await fetch(`${first.url}/v1/fraud/check`, {
          method: 'POST',
          headers: { 'x-api-key': key },
          body: JSON.stringify(body),
        })
        const { fraud } = (
          (await response.json()) as {
            data: {
              fraud: {
                matched: boolean
                report_count: number
                reported_by_you: boolean
                notes: string[]
              }
            }
          }
        ).data
        return [fraud.matched, fraud.report_count, fraud.reported_by_you, fraud.notes.length]
      }
      assert.deepEqual(
        [await check(HOUSE), await check(FARM)],
        [
          [true, 1, true, 1],
          [false, 0, false, 0],
        ],
      )
      const one = join(scratch, 'one.ndjson')
      assert.deepEqual(await runProcess(there, 'fraud', 'export', 'coast', '--out', one), {
        status: 0,
        out: `3 reports are in ${one}, as hashes under the key that is shared with coast.\n`,
        err: '',
      })
      assert.equal(
        await tell(here, 'import', 'coast', one, '--dry-run'),
        '3 reports of 2 dealers would be taken in.\n',
      )
      assert.deepEqual(await check(FARM), [false, 0, false, 0])
      assert.equal(
        await tell(here, 'import', 'coast', one),
        '3 reports of 2 dealers are taken in, 0 older ones removed.\n',
      )
      assert.deepEqual(
        [
          await check({ ...HOUSE, email: 'new@customer.example' }),
          await check({ ...FARM, shipping_address_1: '77 ORCHARD LN' }),
        ],
        [
          [true, 3, true, 1],
          [true, 1, false, 0],
        ],
      )

      await tell(there, 'erase', '--subscriber', B)
      await tell(there, 'rotate-key')
      const two = join(scratch, 'two.ndjson')
      await tell(there, 'export', 'coast', '--out', two)
      assert.deepEqual(await answer(here, 'import', 'coast', two), {
        partner: 'coast',
        reports: 1,
        dealers: 1,
        removed: 3,
        dry_run: false,
      })
      assert.deepEqual(
        [
          await check({ ...HOUSE, phone: '' }),
          await check({ ...FARM, email: 'sam@customer.example' }),
        ],
        [
          [true, 2, true, 1],
          [false, 0, false, 0],
        ],
      )
      const refused = await runProcess(here, 'fraud', 'import', 'coast', one)
      assert.deepEqual(
        [
          refused.status,
          refused.out,
          /^invalid_parameter: file: .* is not newer/.test(refused.err),
        ],
        [1, '', true],
        refused.err,
      )
      // What a partner sent is not passed on, and this installation's own reports are not the
      // partner's.
      assert.equal(
        (await answer(here, 'export', 'coast', '--out', join(scratch, 'back.ndjson')))['reports'],
        1,
      )
      assert.deepEqual(audited(here), [
        'cli fraud partner {"name":"coast"}',
        'cli fraud import {"partner":"coast","reports":3,"removed":0}',
        'cli fraud import {"partner":"coast","reports":1,"removed":3}',
        'cli fraud export {"partner":"coast","reports":1}',
      ])
    } finally {
      assert.equal(await stop(child), 0)
    }
  })
})
