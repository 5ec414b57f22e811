/**
 * Workbooks that are made to fill the memory, and those at the edge of what a list may be (`ffls
 * import`).
 */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { WORKBOOK, readTables } from '../../lib/ffls/lists/workbook.js'
import {
  HEADER,
  cells,
  dealers,
  file,
  refuses,
  stored,
  take,
  withApp,
  workbook,
  zipFile,
} from './lists.js'

/** A workbook whose one sheet holds these cells. */
function sheetOf(data: string, more: Record<string, string> = {}): Buffer {
  return zipFile({
    'xl/workbook.xml':
      '<workbook ' +
      'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet ' +
      'name="S" sheetId="1" r:id="rId1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="rId1" ' +
      'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" ' +
      'Target="worksheets/sheet1.xml"/></Relationships>',
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${data}</sheetData></worksheet>`,
    ...more,
  })
}

const cell = (place: string) => `<c r="${place}"><v>1</v></c>`
const FAR = sheetOf(`<row r="1">${cell('A1')}</row><row r="1048576">${cell('XFD1048576')}</row>`)

const CHILD = [
  './duckdb.mjs',
  '../../lib/app/background/duckdb.mjs',
  '../../lib/app/background/duckdb.ts',
]
  .map((name) => fileURLToPath(new URL(name, import.meta.url)))
  .find((found) => existsSync(found))!

/** The child itself, as an import starts it, and the most memory that it took, in megabytes. */
async function memoryOf(
  path: string,
  child = CHILD,
): Promise<{ said: { error?: string; result?: unknown }; megabytes: number }> {
  const tell =
    'import { readFileSync } from "node:fs"; process.on("exit", () => ' +
    'process.stderr.write("HWM " + (/VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", ' +
    '"utf8"))?.[1] ?? process.resourceUsage().maxRSS) + "\\n"))'
  return new Promise((resolve, reject) => {
    const started = fork(child, [], {
      execArgv: ['--import', `data:text/javascript,${encodeURIComponent(tell)}`],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    let words = ''
    let said = {}
    started.stderr!.on('data', (chunk: Buffer) => {
      words += String(chunk)
    })
    started.on('message', (message: object) => {
      said = message
    })
    started.once('error', reject)
    started.once('close', () =>
      resolve({ said, megabytes: Number(/HWM (\d+)/.exec(words)?.[1] ?? NaN) / 1_024 }),
    )
    started.send({ kind: 'workbook', file: path })
  })
}

describe('a workbook with a cell at XFD1048576', () => {
  test(
    'is refused by its dimensions, in 1.4 KB, and its reader takes no more memory than for any other file',
    { skip: !existsSync('/proc/self/status') && 'needs /proc' },
    async () => {
      const path = file(FAR)
      assert.ok(statSync(path).size < 1_500)
      const [bomb, small] = [
        await memoryOf(path),
        await memoryOf(file(sheetOf(`<row r="1">${cell('A1')}</row>`))),
      ]
      assert.match(
        bomb.said.error!,
        /reaches to row 1048576, column 16384; a list has at most 300,000 rows and 256 columns; save it as text/,
      )
      assert.deepEqual(small.said.result, [[{ line: 1, cells: ['1'] }]])
      assert.ok(bomb.megabytes < 200, `${bomb.megabytes} MB`)
      assert.ok(
        bomb.megabytes < small.megabytes + 50,
        `${bomb.megabytes} MB in place of ${small.megabytes}`,
      )
    },
  )

  test('is a 400 of the import, and the directory stays', () =>
    withApp(async (t) => {
      await take(t, dealers(2))
      const kept = await stored(t)
      const before = process.memoryUsage.rss()
      await assert.rejects(
        t.app.operator.ffls.import({ file: file(FAR) }),
        refuses(
          /file: this is not a list of dealers: it is not a workbook that can be read: .*reaches to row 1048576/,
        ),
      )
      assert.ok(process.memoryUsage.rss() - before < 300 * 1_048_576)
      assert.deepEqual(await stored(t), kept)
    }))
})

test('a workbook is read where DuckDB is not installed, which only exports and metrics need', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'qm-alone-'))
  try {
    const alone = join(folder, 'duckdb.mjs')
    copyFileSync(CHILD, alone)
    const { said } = await memoryOf(file(sheetOf(`<row r="1">${cell('A1')}</row>`)), alone)
    assert.deepEqual(said.result, [[{ line: 1, cells: ['1'] }]])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

describe('the bounds of a workbook', () => {
  const rows = (last: number, place: string) =>
    sheetOf(`<row r="1">${cell('A1')}</row><row r="${last}">${cell(`${place}${last}`)}</row>`)
  const good: [what: string, content: Buffer][] = [
    ['300,000 rows', rows(WORKBOOK.rows, 'A')],
    ['256 columns', rows(2, 'IV')],
    ['six million cells', rows(WORKBOOK.cells / 200, 'GR')],
  ]
  for (const [what, content] of good)
    test(`${what} are read`, async () => {
      assert.equal((await readTables(file(content)))[0]!.length, 2)
    })

  /** A zip file in which every entry says that it is of this size. */
  const lying = (content: Buffer, size: number) => {
    const made = Buffer.from(content)
    for (const [mark, place] of [['PK\x01\x02', 24]] as const)
      for (
        let at = made.indexOf(mark, 0, 'latin1');
        at >= 0;
        at = made.indexOf(mark, at + 4, 'latin1')
      )
        made.writeUInt32LE(size, at + place)
    return made
  }
  const SMALL = sheetOf(`<row r="1">${cell('A1')}</row>`)
  const bad: [what: string, content: Buffer, says: RegExp][] = [
    ['300,001 rows', rows(WORKBOOK.rows + 1, 'A'), /reaches to row 300001/],
    ['257 columns', rows(2, 'IW'), /column 257/],
    ['more than six million cells', rows(WORKBOOK.cells / 200 + 1, 'GR'), /larger than any list/],
    ['a far row that has no cell', sheetOf('<row r="9999999"/>'), /row 9999999/],
    [
      'a far cell of another prefix, in other quotes',
      sheetOf("<x:row><x:c s=\" r='A1'\"  r = 'XFD1'/></x:row>"),
      /column 16384/,
    ],
    [
      'a place in entities',
      sheetOf('<row r="1"><c r="&#88;FD1"><v>1</v></c></row>'),
      /a place that is none/,
    ],
    ['a row of 1e6', sheetOf('<row r="1e6"/>'), /a place that is none/],
    ['a tag without end', sheetOf('<row r="1"><c r="A1'), /cannot be read/],
    [
      'a sheet under another name',
      sheetOf('', {
        'xl/other/far.xml': `<sheetData><row r="1">${cell('XFD1')}</row></sheetData>`,
      }),
      /column 16384/,
    ],
    [
      'four megabytes of nothing',
      sheetOf('', { 'xl/sharedStrings.xml': ' '.repeat(4 << 20) }),
      /more than a hundred times its size/,
    ],
    [
      '1,001 files',
      zipFile(Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`xl/${i}.xml`, '<a/>']))),
      /more than 1,000 files/,
    ],
    ['more in a file than it says', lying(SMALL, 10), /another size than it says/],
    ['less in a file than it says', lying(SMALL, 4_000), /another size than it says/],
    ['gigabytes, by its own word', lying(SMALL, 0x7fffffff), /more than 256 MB/],
  ]
  for (const [what, content, says] of bad)
    test(`${what}: refused`, async () => {
      await assert.rejects(readTables(file(content)), says)
    })

  test('ten thousand dealers are read as before', () =>
    withApp(async (t) => {
      const list = workbook([HEADER, ...dealers(10_000).map(cells)])
      const { added } = await t.app.operator.ffls.import({ file: file(list) })
      assert.equal(added, 10_000)
    }))
})
