/** Lists of dealers that the suites make up, and what the directory holds of them. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { crc32, deflateRawSync } from 'node:zlib'
import { isApiError } from '../../lib/core/errors.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'

export let scratch: string
before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-ffls-'))
})
after(() => rmSync(scratch, { recursive: true, force: true }))

let files = 0
/** A file with this content, `list-1` and so on. */
export function file(content: string | Buffer): string {
  const path = join(scratch, `list-${++files}`)
  writeFileSync(path, content)
  return path
}

export async function withApp(act: (t: TestApp) => Promise<void>): Promise<void> {
  const t = await createTestApp()
  try {
    await act(t)
  } finally {
    await t.close()
  }
}

export const HEADER_2013 = [
  'Lic Regn',
  'Lic Dist',
  'Lic Cnty',
  'Lic Type',
  'Lic Xprdte',
  'Lic Seqn',
  'License Name',
  'Business Name',
  'Premise Street',
  'Premise City',
  'Premise State',
  'Premise Zip Code',
  'Mail Street',
  'Mail City',
  'Mail State',
  'Mail Zip Code',
  'Voice Phone',
]
export const HEADER = HEADER_2013.map((name) => name.toUpperCase().replaceAll(' ', '_'))
export const MAY = Date.UTC(2026, 4, 10)
export const JUNE = Date.UTC(2026, 5, 10)

/** Cells by column; what is not given is a shop in Georgia. */
export type Row = Partial<Record<(typeof HEADER)[number], string>>
export const PLACES: Record<string, [city: string, zip: string]> = {
  GA: ['MACON', '31201'],
  TX: ['WYLIE', '75098'],
  ME: ['SACO', '04072'],
  PR: ['AGUADA', '00602'],
  OH: ['AKRON', '44308'],
}

export function cells(row: Row): string[] {
  const state = row['PREMISE_STATE'] ?? 'GA'
  const [city, zip] = PLACES[state] ?? ['SOMEWHERE', '31201']
  const all: Row = {
    LIC_REGN: '1',
    LIC_DIST: '58',
    LIC_CNTY: '021',
    LIC_TYPE: '01',
    LIC_XPRDTE: '8E',
    LIC_SEQN: '00001',
    LICENSE_NAME: 'DOE, JANE',
    BUSINESS_NAME: 'DOE & DAUGHTERS',
    PREMISE_STREET: '12 MILL RD',
    PREMISE_CITY: city,
    PREMISE_STATE: state,
    PREMISE_ZIP_CODE: zip,
    MAIL_STREET: 'PO BOX 1',
    MAIL_CITY: city,
    MAIL_STATE: state,
    MAIL_ZIP_CODE: zip,
    VOICE_PHONE: '4785550100',
    ...row,
  }
  return HEADER.map((name) => all[name]!)
}

export const quoted = (cell: string, separator: string) =>
  cell.includes(separator) || cell.includes('"') || cell.includes('\n')
    ? `"${cell.replaceAll('"', '""')}"`
    : cell

/** The text of a list. */
export function text(
  rows: readonly Row[],
  { header = HEADER, separator = '\t', newline = '\n' } = {},
): string {
  return [header, ...rows.map(cells)]
    .map((row) => row.map((cell) => quoted(cell, separator)).join(separator) + newline)
    .join('')
}

/** So many dealers of a state, from a sequence on. */
export const dealers = (count: number, state = 'GA', from = 1): Row[] =>
  Array.from({ length: count }, (_, i) => ({
    PREMISE_STATE: state,
    LIC_DIST: String(20 + Object.keys(PLACES).indexOf(state)),
    LIC_SEQN: String(from + i).padStart(5, '0'),
  }))

export const take = (
  t: TestApp,
  rows: readonly Row[],
  {
    asOf = MAY,
    ...input
  }: { asOf?: number; revoke?: string[]; accept?: boolean; types?: string[] } = {},
) => t.app.operator.ffls.import({ file: file(text(rows)), ...input }, { asOf })
export const stored = (t: TestApp) =>
  t.app.ctx.read.selectFrom('dealer').selectAll().orderBy('id').execute()
export const listedOnes = async (t: TestApp) =>
  (await stored(t)).filter(({ listed }) => listed === 1).map(({ id }) => id)
export const counts = ({
  added,
  renewed,
  changed,
  unchanged,
  gone,
}: {
  added: number
  renewed: number
  changed: number
  unchanged: number
  gone: number
}) => [added, renewed, changed, unchanged, gone]

export const refuses = (message: RegExp) => (error: unknown) => {
  assert.ok(isApiError(error) && error.code === 'invalid_parameter', String(error))
  assert.match(error.message, message)
  return true
}

/** A zip file, as a workbook is one. */
export function zipFile(entries: Record<string, string>): Buffer {
  const [parts, directory]: [Buffer[], Buffer[]] = [[], []]
  let at = 0
  for (const [name, content] of Object.entries(entries)) {
    const packed = deflateRawSync(content)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(Buffer.byteLength(content), 18)
    common.writeUInt16LE(name.length, 22)
    const offset = Buffer.alloc(14)
    offset.writeUInt32LE(at, 10)
    parts.push(Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed)
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), common, offset, Buffer.from(name))
    at += 30 + name.length + packed.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  for (const place of [8, 10]) end.writeUInt16LE(parts.length / 4, place)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, central, end])
}

const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

const relationship = (i: number) =>
  `<Relationship Id="rId${i}" Type="${RELATIONSHIPS}/worksheet" Target="worksheets/sheet${i}.xml"/>`

/** The least that a workbook is: sheets of texts and numbers. */
export function workbook(...sheets: (string | number | null)[][][]): Buffer {
  const escaped = (value: string) => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const cell = (value: string | number | null, place: string) =>
    value === null
      ? ''
      : typeof value === 'number'
        ? `<c r="${place}"><v>${value}</v></c>`
        : `<c r="${place}" t="inlineStr"><is><t>${escaped(value)}</t></is></c>`
  const cells = (values: (string | number | null)[], place: number) =>
    values.map((value, k) => cell(value, `${String.fromCharCode(65 + k)}${place}`)).join('')
  const sheet = (rows: (string | number | null)[][]) => {
    const told = rows.map((row, i) => `<row r="${i + 1}">${cells(row, i + 1)}</row>`)
    return `<worksheet><sheetData>${told.join('')}</sheetData></worksheet>`
  }
  const all = sheets.map((_, i) => i + 1)
  return zipFile({
    'xl/workbook.xml':
      `<workbook xmlns:r="${RELATIONSHIPS}"><sheets>` +
      all.map((i) => `<sheet name="S${i}" sheetId="${i}" r:id="rId${i}"/>`).join('') +
      '</sheets></workbook>',
    'xl/_rels/workbook.xml.rels': `<Relationships>${all.map(relationship).join('')}</Relationships>`,
    ...Object.fromEntries(all.map((i) => [`xl/worksheets/sheet${i}.xml`, sheet(sheets[i - 1]!)])),
  })
}
