/**
 * The ATF's monthly list: every form of its file, what is told of its rows, and what a second one
 * changes.
 */
import assert from 'node:assert/strict'
import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { expiryDate } from '../../lib/ffls/license.js'
import { zipOf } from '../../lib/ffls/lists/rows.js'
import {
  HEADER,
  HEADER_2013,
  JUNE,
  MAY,
  cells,
  counts,
  dealers,
  file,
  listedOnes,
  quoted,
  refuses,
  scratch,
  stored,
  take,
  text,
  withApp,
  workbook,
  zipFile,
} from './lists.js'
import type { Row } from './lists.js'

describe('the file of a list', () => {
  const rows: Row[] = [
    {
      LIC_SEQN: '00150',
      LICENSE_NAME: 'SALAZAR-MORET, CHARLES',
      BUSINESS_NAME: 'NULL',
      PREMISE_STATE: 'PR',
    },
    {
      LIC_SEQN: '00151',
      BUSINESS_NAME: 'PEÑA\'S "OLD" GUNS | AMMO',
      MAIL_STREET: 'SUITE 2, FLOOR 1',
    },
    { LIC_SEQN: '00152', VOICE_PHONE: 'NULL', PREMISE_ZIP_CODE: '312011234' },
  ]
  const dashes = HEADER.map((name) => '-'.repeat(name.length)).join('\t')
  const variants: [what: string, content: string | Buffer][] = [
    [
      'tabs and the header of 2013, with a line of dashes',
      text(rows, { header: HEADER_2013 }).replace('\n', `\n${dashes}\n`),
    ],
    ['tabs and the header of today', text(rows)],
    ['commas', text(rows, { separator: ',' })],
    ['pipes', text(rows, { separator: '|' })],
    [
      'every cell quoted',
      [HEADER, ...rows.map(cells)]
        .map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(','))
        .join('\r\n') + '\r\n',
    ],
    ['header in lower case', text(rows, { header: HEADER.map((name) => name.toLowerCase()) })],
    [
      'header without underscores',
      text(rows, { header: HEADER.map((name) => name.replaceAll('_', '')) }),
    ],
    [
      'VOICE_TELEPHONE',
      text(rows, { header: HEADER.map((name) => name.replace('PHONE', 'TELEPHONE')) }),
    ],
    [
      'columns in another order',
      [HEADER, ...rows.map(cells)]
        .map((row) =>
          row
            .toReversed()
            .map((cell) => quoted(cell, ','))
            .join(','),
        )
        .join('\n'),
    ],
    ['carriage returns', text(rows, { newline: '\r\n' })],
    ['a byte-order mark', `\uFEFF${text(rows)}`],
    ['Windows-1252', Buffer.from(text(rows), 'latin1')],
    ['UTF-16', Buffer.from(`\uFEFF${text(rows)}`, 'utf16le')],
    ['gzip', gzipSync(text(rows))],
    ['blank lines', text(rows).replaceAll('\n', '\n\n')],
    ['no newline at its end', text(rows.toReversed()).trimEnd()],
    ['a workbook', workbook([HEADER, ...rows.map(cells)])],
    [
      'a workbook of numbers',
      workbook([
        HEADER_2013,
        ...rows.map((row) =>
          cells(row).map((cell) =>
            /^\d+$/.test(cell) ? Number(cell) : cell === 'NULL' ? null : cell,
          ),
        ),
      ]),
    ],
    [
      'a workbook with another sheet before it',
      workbook([['Read me']], [HEADER, ...rows.map(cells)]),
    ],
  ]
  for (const [what, content] of variants) {
    test(`${what}: the same dealers`, () =>
      withApp(async (t) => {
        const result = await t.app.operator.ffls.import({ file: file(content) }, { asOf: MAY })
        assert.deepEqual(
          [result.rows, result.rejected, result.cut_off, ...counts(result)],
          [3, 0, null, 3, 0, 0, 0, 0],
        )
        const [first, second, third] = await stored(t)
        const { row: _row, ...columns } = first!
        assert.deepEqual(columns, {
          id: '1-58-00150',
          license_number: '1-58-021-01-8E-00150',
          license_type: '01',
          expires_on: '2028-05-01',
          valid_until: null,
          license_name: 'SALAZAR-MORET, CHARLES',
          business_name: null,
          premise_street: '12 MILL RD',
          premise_city: 'AGUADA',
          premise_state: 'PR',
          premise_zip: '00602',
          mail_street: 'PO BOX 1',
          mail_city: 'AGUADA',
          mail_state: 'PR',
          mail_zip: '00602',
          voice_phone: '4785550100',
          email: null,
          fee_longgun: null,
          fee_handgun: null,
          residential: 0,
          contact_required: 0,
          marked_on_file: 0,
          sot_on_file: 0,
          listed: 1,
          source: 'atf',
          updated_at: MAY,
          own_phone: null,
        })
        assert.deepEqual(
          [second!.business_name, second!.mail_street],
          ['PEÑA\'S "OLD" GUNS | AMMO', 'SUITE 2, FLOOR 1'],
        )
        assert.deepEqual([third!.voice_phone, third!.premise_zip], [null, '31201-1234'])
      }))
  }

  test('zeros that a spreadsheet lost come back', () =>
    withApp(async (t) => {
      const row = {
        LIC_REGN: '6.0',
        LIC_DIST: '1',
        LIC_CNTY: '3',
        LIC_TYPE: '1',
        LIC_XPRDTE: '0l',
        LIC_SEQN: '7',
        PREMISE_STATE: 'ME',
        PREMISE_ZIP_CODE: '4072',
        MAIL_STATE: 'PR',
        MAIL_ZIP_CODE: '602',
        VOICE_PHONE: '2075550100.0',
      }
      await take(t, [row])
      const [dealer] = await stored(t)
      assert.deepEqual(
        [dealer!.license_number, dealer!.premise_zip, dealer!.mail_zip, dealer!.voice_phone],
        ['6-01-003-01-0L-00007', '04072', '00602', '2075550100'],
      )
    }))

  const zips: [given: string, state: 'ME' | 'VA' | 'PR', zip: string | null][] = [
    ['04072', 'ME', '04072'],
    ['4072', 'ME', '04072'],
    ['602', 'PR', '00602'],
    ['040721234', 'ME', '04072-1234'],
    ['04072-1234', 'ME', '04072-1234'],
    ['040720000', 'ME', '04072'],
    ['40721234', 'ME', '04072-1234'],
    ['20111000', 'VA', '20111'],
    ['236666', 'VA', '23666'],
    ['23666\\', 'VA', '23666'],
    ['23666.', 'VA', '23666'],
    ['23666-', 'VA', '23666'],
    ['', 'VA', null],
    ['2', 'VA', null],
    ['00000', 'VA', null],
    ['2366O', 'VA', null],
    ['2366612345', 'VA', null],
  ]
  for (const [given, state, zip] of zips)
    test(`ZIP "${given}" of ${state}: ${zip}`, () => assert.equal(zipOf(given, state), zip))

  const cuts: [what: string, end: (line: string) => string, isCut: boolean][] = [
    ['in the middle of a cell', (line) => line.slice(0, 60), true],
    ['at the end of a cell', (line) => line.split('\t').slice(0, 12).join('\t'), true],
    ['in the telephone number', (line) => line.slice(0, -4), true],
    ['within quotes', (line) => line.replace('DOE, JANE', '"DOE, J').split('J')[0]!, true],
    ['nowhere', (line) => line, false],
    ['after NULL', (line) => line.replace('4785550100', 'NULL'), false],
  ]
  for (const [what, end, isCut] of cuts) {
    test(`cut off ${what}: the last line ${isCut ? 'is told of and never taken' : 'is taken'}`, () =>
      withApp(async (t) => {
        const lines = text(dealers(3)).trimEnd().split('\n')
        const result = await t.app.operator.ffls.import(
          { file: file([...lines.slice(0, -1), end(lines.at(-1)!)].join('\n')) },
          { asOf: MAY },
        )
        assert.deepEqual(
          [result.added, result.rejected, result.cut_off?.line ?? null],
          isCut ? [2, 0, 4] : [3, 0, null],
        )
      }))
  }

  const none: [what: string, content: string | Buffer | null, says: RegExp][] = [
    ['nothing', '', /it is empty/],
    ['blank lines', '\n \n', /it is empty/],
    ['an HTML page', '<!DOCTYPE html><html>Sign in</html>', /HTML page/],
    ['XML', '<?xml version="1.0"?><a/>', /HTML or XML/],
    [
      'other columns',
      'SKU,NAME,PRICE\n1,x,2\n',
      /has no column LIC_REGN, LIC_DIST, .*PREMISE_ZIP_CODE; its first row is SKU, NAME, PRICE/,
    ],
    [
      'a missing column',
      text(dealers(1)).replace('LIC_SEQN', 'NUMBER').replace('PREMISE_STREET', 'STREET'),
      /has no column LIC_SEQN, PREMISE_STREET; its first row is LIC_REGN/,
    ],
    ['no header', text(dealers(2)).split('\n').slice(1).join('\n'), /has no column LIC_REGN/],
    ['a header alone', text([]), /a header and no rows/],
    ['a damaged gzip file', gzipSync(text(dealers(50))).subarray(0, 150), /cut off or damaged/],
    ['an old workbook', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /save it as \.xlsx/],
    [
      'a zip file that is not a workbook',
      zipFile({ 'list.txt': text(dealers(1)) }),
      /not a workbook that can be read/,
    ],
    [
      'half a workbook',
      workbook([HEADER, ...dealers(50).map(cells)]).subarray(0, 900),
      /not a workbook that can be read/,
    ],
    ['an empty workbook', workbook([]), /it is empty/],
    [
      'a workbook of something else',
      workbook([
        ['SKU', 'NAME'],
        [1, 'x'],
      ]),
      /has no column LIC_REGN/,
    ],
    ['a picture', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), /has no column LIC_REGN/],
    ['no file', null, /cannot read/],
  ]
  for (const [what, content, says] of none) {
    test(`${what}: is no list, and the directory stays`, () =>
      withApp(async (t) => {
        await take(t, dealers(2))
        const kept = await stored(t)
        await assert.rejects(
          t.app.operator.ffls.import({
            file: content === null ? join(scratch, 'nowhere') : file(content),
          }),
          refuses(says),
        )
        assert.deepEqual(await stored(t), kept)
      }))
  }
  test('a folder is not a list', () =>
    withApp((t) =>
      assert.rejects(t.app.operator.ffls.import({ file: scratch }), refuses(/cannot read/)),
    ))
})

describe('rows', () => {
  const rejected: [row: Row, reason: string][] = [
    [{ LIC_REGN: '2' }, 'the region is none of 1, 3, 4, 5, 6, 8, 9'],
    [{ LIC_REGN: '' }, 'the region is none of 1, 3, 4, 5, 6, 8, 9'],
    [{ LIC_DIST: '' }, 'the district is not a number of 2 digits'],
    [{ LIC_DIST: '123' }, 'the district is not a number of 2 digits'],
    [{ LIC_CNTY: 'X' }, 'the county is not a number of 3 digits'],
    [{ LIC_TYPE: '' }, 'the license type is not a number of 2 digits'],
    [{ LIC_XPRDTE: '8I' }, 'the expiry code is not a digit and a letter from A to M without I'],
    [{ LIC_XPRDTE: 'E' }, 'the expiry code is not a digit and a letter from A to M without I'],
    [{ LIC_SEQN: '123456' }, 'the sequence is not a number of 5 digits'],
    [{ LICENSE_NAME: '', BUSINESS_NAME: 'NULL' }, 'there is no name'],
    [{ PREMISE_STATE: 'XX' }, 'the premise is in no known state'],
    [{ PREMISE_ZIP_CODE: 'NULL' }, 'the premise has no ZIP of 5 or 9 digits'],
    [{ PREMISE_CITY: '' }, 'the premise has no street or city'],
    [{ PREMISE_STREET: ' ' }, 'the premise has no street or city'],
    [{ LICENSE_NAME: 'A\u0007B' }, 'LICENSE_NAME holds the control character U+0007; remove it'],
    [{ BUSINESS_NAME: 'A'.repeat(201) }, 'BUSINESS_NAME is longer than 200 characters'],
    [{ VOICE_PHONE: '4785550100\tmore' }, 'the row has 18 columns, the header has 17'],
  ]
  test('that cannot be read are told with line and reason, the reasons counted, the others taken', () =>
    withApp(async (t) => {
      const content = text([
        ...dealers(3, 'GA', 500),
        ...rejected.map(([row], i) => ({ LIC_SEQN: String(i + 1), ...row })),
        ...rejected.slice(0, 1).map(([row]) => row),
      ]).replace('"4785550100\tmore"', '4785550100\tmore')
      const result = await t.app.operator.ffls.import({ file: file(content) }, { asOf: MAY })
      assert.deepEqual(
        [result.rows, result.added, result.rejected],
        [rejected.length + 4, 3, rejected.length + 1],
      )
      assert.deepEqual(
        result.rejects.slice(0, -1).map(({ line, reason }) => [line, reason]),
        rejected.map(([, reason], i) => [5 + i, reason]),
      )
      assert.equal(
        Object.values(result.reasons).reduce((sum, n) => sum + n, 0),
        result.rejected,
      )
      assert.equal(result.reasons['the region is none of 1, 3, 4, 5, 6, 8, 9'], 3)
      assert.match(result.rejects[0]!.text, /^2 \| 58 \| 021 \| 01/)
    }))

  test('of a dealer that stands there twice: the later license is taken, the other told', () =>
    withApp(async (t) => {
      const result = await take(t, [
        { LIC_XPRDTE: '7E' },
        { LIC_XPRDTE: '9E' },
        { LIC_XPRDTE: '8E' },
      ])
      assert.deepEqual(
        [result.added, result.rejected, (await stored(t))[0]!.license_number],
        [1, 2, '1-58-021-01-9E-00001'],
      )
    }))

  test('of other types are skipped, and --types says which are taken', () =>
    withApp(async (t) => {
      const rows = ['01', '02', '03', '06', '07', '08', '09', '10', '11', '06'].map((type, i) => ({
        LIC_TYPE: type,
        LIC_SEQN: String(i + 1),
      }))
      const result = await take(t, rows)
      assert.deepEqual(
        [result.rows, result.added, result.rejected, result.skipped],
        [10, 7, 0, { '03': 1, '06': 2 }],
      )
      assert.deepEqual((await take(t, rows, { types: ['1', '03'] })).skipped, {
        '02': 1,
        '06': 2,
        '07': 1,
        '08': 1,
        '09': 1,
        '10': 1,
        '11': 1,
      })
      assert.equal(
        (await stored(t)).filter(({ listed }) => listed).length,
        8,
        'a list of some types does not revoke others',
      )
      for (const types of [['05'], [], ['01', '']])
        await assert.rejects(
          take(t, rows, { types }),
          refuses(/types: "(05|)" is not a type|types: "00"/),
        )
    }))

  test('a row that is rejected or broken still says that the dealer is there', () =>
    withApp(async (t) => {
      await take(t, dealers(10))
      const rows = dealers(10)
      rows[3]!.PREMISE_ZIP_CODE = 'none'
      const broken = text(rows)
        .replace('00005\t"DOE, JANE"', '00005\t"DOE, JANE')
        .replace('00005\tDOE, JANE', '00005\t"DOE, JANE')
      const result = await t.app.operator.ffls.import({ file: file(broken) }, { asOf: JUNE })
      assert.deepEqual([result.rejected, result.gone, result.unchanged], [2, 0, 8])
      assert.equal((await listedOnes(t)).length, 10)
    }))
})

describe('the expiry of a license', () => {
  const examples: [code: string, asOf: string, day: string][] = [
    ['4L', '2013-05-10', '2014-11-01'],
    ['8D', '2013-05-10', '2008-04-01'],
    ['7E', '2013-05-10', '2017-05-01'],
    ['7H', '2012-12-31', '2007-08-01'],
    ['0L', '2013-05-10', '2010-11-01'],
    ['9A', '2026-05-10', '2029-01-01'],
    ['0M', '2026-05-10', '2030-12-01'],
    ['1M', '2026-05-10', '2021-12-01'],
    ['6J', '2026-05-10', '2026-09-01'],
    ['6H', '2026-05-10', '2026-08-01'],
  ]
  for (const [code, asOf, day] of examples)
    test(`${code} in a list of ${asOf}: ${day}`, () =>
      assert.equal(expiryDate(code, Date.parse(asOf)), day))

  test('lies within five years before the list and four after, in the year and month of its code', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 9 }),
        fc.constantFrom(...'ABCDEFGHJKLM'),
        fc.date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true }),
        (digit, letter, list) => {
          const [year, month, day] = expiryDate(`${digit}${letter}`, list.getTime())
            .split('-')
            .map(Number) as [number, number, number]
          assert.ok(year >= list.getUTCFullYear() - 5 && year <= list.getUTCFullYear() + 4)
          assert.deepEqual([year % 10, month, day], [digit, 'ABCDEFGHJKLM'.indexOf(letter) + 1, 1])
        },
      ),
    )
  })

  test("is told by the file's modification time where nobody says when the list was made", () =>
    withApp(async (t) => {
      const path = file(text([{ LIC_XPRDTE: '4L' }]))
      utimesSync(path, new Date('2013-05-10'), new Date('2013-05-10'))
      assert.equal(
        (await t.app.operator.ffls.import({ file: path })).as_of,
        '2013-05-10T00:00:00.000Z',
      )
      assert.equal((await stored(t))[0]!.expires_on, '2014-11-01')
      utimesSync(path, new Date('2090-05-10'), new Date('2090-05-10'))
      assert.equal(
        (await t.app.operator.ffls.import({ file: path }, { dryRun: true })).as_of,
        '2026-11-21T12:00:00.000Z',
        'a clock that is ahead is not believed',
      )
    }))
})

describe('a second list', () => {
  test('tells what is new, renewed, changed and gone, and the directory is the list', () =>
    withApp(async (t) => {
      await take(t, dealers(20))
      const june = dealers(20).slice(1)
      june[0]!.LIC_XPRDTE = '9E'
      june[1]!.PREMISE_STREET = '14 MILL RD'
      const result = await take(t, [...june, ...dealers(2, 'OH')], { asOf: JUNE })
      assert.deepEqual(counts(result), [2, 1, 1, 17, 1])
      assert.deepEqual(
        [result.renewals, result.changes, result.losses],
        [
          [{ from: '1-20-021-01-8E-00002', to: '1-20-021-01-9E-00002', name: 'DOE & DAUGHTERS' }],
          [
            {
              license_number: '1-20-021-01-8E-00003',
              name: 'DOE & DAUGHTERS',
              columns: ['premise_street'],
            },
          ],
          [{ license_number: '1-20-021-01-8E-00001', name: 'DOE & DAUGHTERS', state: 'GA' }],
        ],
      )
      const rows = await stored(t)
      assert.deepEqual(
        rows.map(({ id }) => id),
        [...dealers(20), ...dealers(2, 'OH')]
          .map(({ LIC_DIST, LIC_SEQN }) => `1-${LIC_DIST}-${LIC_SEQN}`)
          .sort(),
      )
      assert.deepEqual(
        [rows[0]!.listed, rows[1]!.expires_on, rows[2]!.premise_street],
        [0, '2029-05-01', '14 MILL RD'],
      )
      assert.deepEqual(
        counts(await take(t, [...dealers(1), ...june, ...dealers(2, 'OH')], { asOf: JUNE })),
        [0, 0, 1, 21, 0],
        'who comes back is listed again',
      )
      assert.equal((await stored(t))[0]!.listed, 1)
    }))

  test('keeps what the operator set, and documents, over renewal, change, loss and return', () =>
    withApp(async (t) => {
      const { ffls } = t.app.operator
      await take(t, dealers(10))
      const own = {
        fee_longgun: 25,
        fee_handgun: 20.5,
        email: 'front@dealer.example',
        residential: true,
        contact_required: true,
        on_file: true,
        sot: true,
        reason: 'seen at the counter',
      }
      await ffls.set('1-20-00001', own)
      await t.app.ctx.db
        .insertInto('dealer_document')
        .values({
          dealer_id: '1-20-00001',
          kind: 'ffl',
          object_key: 'k',
          content_type: 'application/pdf',
          stored_at: 1,
        })
        .execute()
      await t.app.ctx.db
        .insertInto('dealer_on_file')
        .values({ distid: 'RSR', dealer_id: '1-20-00001' })
        .execute()
      const kept = async () => {
        const {
          fee_longgun,
          fee_handgun,
          email,
          residential,
          contact_required,
          marked_on_file,
          sot_on_file,
          documents,
          on_file_with,
        } = await ffls.show('1-20-00001')
        return {
          fee_longgun,
          fee_handgun,
          email,
          residential,
          contact_required,
          marked_on_file,
          sot_on_file,
          documents,
          on_file_with,
        }
      }
      const set = await kept()
      assert.deepEqual(set, {
        fee_longgun: 25,
        fee_handgun: 20.5,
        email: 'front@dealer.example',
        residential: true,
        contact_required: true,
        marked_on_file: true,
        sot_on_file: true,
        documents: ['ffl'],
        on_file_with: ['RSR'],
      })
      const [first, ...rest] = dealers(10)
      for (const list of [
        [{ ...first, LIC_XPRDTE: '9E', PREMISE_STREET: '1 NEW RD' }, ...rest],
        rest,
        dealers(10),
      ]) {
        t.clock.advance(1)
        await take(t, list, { asOf: JUNE + t.clock.ms })
        assert.deepEqual(await kept(), set)
      }
    }))

  test("brings its telephone number, but takes none away, and never the operator's", () =>
    withApp(async (t) => {
      const phone = async () => (await stored(t))[0]!.voice_phone
      await take(t, [{ VOICE_PHONE: '4785550100' }])
      await take(t, [{ VOICE_PHONE: 'NULL' }], { asOf: JUNE })
      assert.equal(await phone(), '4785550100')
      assert.equal(
        (await t.app.operator.ffls.set('1-58-00001', { phone: '(478) 555-0199' })).own_phone,
        true,
      )
      for (const code of ['8E', '9E']) {
        assert.equal(
          (await take(t, [{ VOICE_PHONE: '4785550101', LIC_XPRDTE: code }], { asOf: JUNE + 1 }))
            .changed,
          0,
        )
        assert.equal(await phone(), '4785550199')
      }
      await t.app.operator.ffls.set('1-58-00001', { phone: null })
      await take(t, [{ VOICE_PHONE: '4785550101', LIC_XPRDTE: '9E' }], { asOf: JUNE + 2 })
      assert.equal(await phone(), '4785550101')
    }))

  test('without some columns leaves what they said', () =>
    withApp(async (t) => {
      await take(t, dealers(3))
      const kept = await stored(t)
      const columns = HEADER.slice(0, HEADER.indexOf('MAIL_STREET')).filter(
        (name) => name !== 'BUSINESS_NAME',
      )
      const short = [
        columns,
        ...dealers(3).map((row) => columns.map((name) => cells(row)[HEADER.indexOf(name)]!)),
      ]
        .map((row) => `${row.join('\t')}\n`)
        .join('')
      assert.deepEqual(
        counts(await t.app.operator.ffls.import({ file: file(short) }, { asOf: JUNE })),
        [0, 0, 0, 3, 0],
      )
      await t.app.operator.ffls.import(
        { file: file(short.replace('12 MILL RD', '14 MILL RD')) },
        { asOf: JUNE },
      )
      const [first, ...rest] = await stored(t)
      assert.deepEqual(
        [first, ...rest],
        [{ ...kept[0], premise_street: '14 MILL RD', updated_at: JUNE }, ...kept.slice(1)],
      )
    }))

  test('with a renewal ends an extension that was given to the license before, and tells it', () =>
    withApp(async (t) => {
      const { ffls } = t.app.operator
      await take(t, dealers(3))
      await assert.rejects(
        ffls.set('1-20-00001', { valid_until: '2031-05-02', reason: 'letter' }),
        refuses(/must be at most 2031-05-01, 3 years after the license's own date/),
      )
      for (const id of ['1-20-00001', '1-20-00002'])
        await ffls.set(id, { valid_until: '2031-05-01', reason: 'letter of the ATF' })
      assert.deepEqual((await take(t, dealers(3), { asOf: JUNE })).ended_extensions, [])
      const result = await take(
        t,
        dealers(3).map((row, i) => (i === 0 ? { ...row, LIC_XPRDTE: '9E' } : row)),
        { asOf: JUNE + 1 },
      )
      assert.deepEqual(
        [result.renewed, result.ended_extensions],
        [
          1,
          [
            {
              license_number: '1-20-021-01-8E-00001',
              name: 'DOE & DAUGHTERS',
              valid_until: '2031-05-01',
            },
          ],
        ],
      )
      assert.deepEqual(
        (await stored(t)).map(({ valid_until }) => valid_until),
        [null, '2031-05-01', null],
      )
      // A distributor's list renews too.
      await ffls.onFile({ distid: 'RSR', file: file('1-20-021-01-9E-00002\n') }, { asOf: JUNE + 2 })
      assert.equal((await stored(t))[1]!.valid_until, null)
    }))

  test('that is older turns nothing back: no license, no address, no loss', () =>
    withApp(async (t) => {
      await take(
        t,
        [
          ...dealers(10).map((row) => ({ ...row, LIC_XPRDTE: '9E', PREMISE_STREET: '14 MILL RD' })),
          ...dealers(1, 'GA', 100),
        ],
        { asOf: JUNE },
      )
      const kept = await stored(t)
      const result = await take(t, dealers(11), { asOf: MAY })
      assert.deepEqual([...counts(result), result.outdated], [1, 0, 0, 0, 0, 10])
      assert.deepEqual(
        (await stored(t)).filter(({ id }) => id !== '1-20-00011'),
        kept,
      )
    }))

  test('with an earlier license of a dealer counts, since it is the newest word', () =>
    withApp(async (t) => {
      await take(t, [{ LIC_XPRDTE: '9E', LIC_TYPE: '07' }])
      const result = await take(t, [{ LIC_XPRDTE: '8E', PREMISE_STREET: '1 NEW RD' }], {
        asOf: JUNE,
      })
      assert.deepEqual(counts(result), [0, 1, 0, 0, 0])
      const [dealer] = await stored(t)
      assert.deepEqual(
        [dealer!.license_number, dealer!.license_type, dealer!.expires_on, dealer!.premise_street],
        ['1-58-021-01-8E-00001', '01', '2028-05-01', '1 NEW RD'],
      )
    }))

  test('the same again changes nothing', () =>
    withApp(async (t) => {
      const rows = [...dealers(30), ...dealers(5, 'OH')]
      await take(t, rows)
      const kept = await stored(t)
      assert.deepEqual(counts(await take(t, rows)), [0, 0, 0, 35, 0])
      assert.deepEqual(counts(await take(t, rows, { asOf: JUNE })), [0, 0, 0, 35, 0])
      assert.deepEqual(await stored(t), kept)
    }))

  test('in a dry run tells the same and changes nothing', () =>
    withApp(async (t) => {
      await take(t, dealers(20))
      const june = file(
        text([
          ...dealers(20)
            .filter((_, i) => i !== 10)
            .map((row, i) => (i === 0 ? { ...row, LIC_XPRDTE: '9E' } : row)),
          ...dealers(1, 'OH'),
        ]),
      )
      const before = [
        await stored(t),
        await t.app.ctx.read.selectFrom('audit').selectAll().execute(),
        await t.app.ctx.read.selectFrom('state').selectAll().execute(),
      ]
      const dry = await t.app.operator.ffls.import({ file: june }, { asOf: JUNE, dryRun: true })
      assert.deepEqual(
        [
          await stored(t),
          await t.app.ctx.read.selectFrom('audit').selectAll().execute(),
          await t.app.ctx.read.selectFrom('state').selectAll().execute(),
        ],
        before,
      )
      assert.deepEqual(dry, await t.app.operator.ffls.import({ file: june }, { asOf: JUNE }))
      assert.deepEqual(counts(dry), [1, 1, 0, 18, 1])
    }))

  test('is told to other processes in every step, and audited once', () =>
    withApp(async (t) => {
      const state = async () =>
        (
          await t.app.ctx.read
            .selectFrom('state')
            .select('value')
            .where('name', '=', 'dealers')
            .executeTakeFirstOrThrow()
        ).value
      const start = await state()
      await take(t, dealers(900))
      assert.equal((await state()) - start, 3)
      await take(t, dealers(900))
      assert.equal((await state()) - start, 3, 'nothing changed')
      const audited = await t.app.ctx.read
        .selectFrom('audit')
        .select(['actor', 'detail'])
        .where('action', '=', 'ffls.import')
        .execute()
      assert.equal(audited.length, 2)
      const detail = JSON.parse(audited[0]!.detail) as Record<string, unknown>
      assert.deepEqual(
        [detail['added'], detail['rows'], detail['as_of']],
        [900, 900, '2026-05-10T00:00:00.000Z'],
      )
      assert.match(String(detail['file']), /^list-\d+$/, 'its name, no path')
    }))

  test('waits for another process that writes', () =>
    withApp(async (t) => {
      const other = openFile(filesIn(t.app.dir).record, { synchronous: 'FULL' })
      try {
        other.exec('BEGIN IMMEDIATE')
        const committed = new Promise<void>((resolve) => {
          setTimeout(() => resolve(void other.exec('COMMIT')), 600)
        })
        assert.equal((await take(t, dealers(900))).added, 900)
        await committed
        assert.equal((await stored(t)).length, 900)
      } finally {
        other.close()
      }
    }))

  test('shows its progress', () =>
    withApp(async (t) => {
      const seen: unknown[][] = []
      await t.app.operator.ffls.import(
        { file: file(text(dealers(900))) },
        { asOf: MAY, onProgress: (...step) => seen.push(step) },
      )
      assert.deepEqual(
        seen.filter(([stage]) => stage === 'writing'),
        [400, 800, 900].map((done) => ['writing', done, 900, done]),
      )
      const read = seen.findLast(([stage]) => stage === 'reading')!
      assert.equal(read[1], read[2])
    }))
})
