/** Rows of the ATF's list to dealers. */
import type { Selectable } from 'kysely'
import { textFault } from '../../core/text.js'
import { countyOf } from '../../places/counties.js'
import { stateCode } from '../../places/states.js'
import { placeOfZip } from '../../places/zips.js'
import { REGIONS, expiryDate, parseLicense } from '../license.js'
import type { License } from '../license.js'
import type { DealerTable } from '../../db/tables/ffls.js'

/** What a list tells of a dealer. All else is the operator's. */
export type ListedDealer = Pick<
  Selectable<DealerTable>,
  | 'id'
  | 'license_number'
  | 'license_type'
  | 'expires_on'
  | 'license_name'
  | 'business_name'
  | 'premise_street'
  | 'premise_city'
  | 'premise_state'
  | 'premise_zip'
  | 'mail_street'
  | 'mail_city'
  | 'mail_state'
  | 'mail_zip'
  | 'voice_phone'
>

/**
 * The columns by what is left of their names without case and punctuation: they were written in
 * several ways over the years.
 */
const COLUMNS = {
  LIC_REGN: ['licregn'],
  LIC_DIST: ['licdist'],
  LIC_CNTY: ['liccnty'],
  LIC_TYPE: ['lictype'],
  LIC_XPRDTE: ['licxprdte'],
  LIC_SEQN: ['licseqn'],
  LICENSE_NAME: ['licensename', 'licenseename'],
  BUSINESS_NAME: ['businessname'],
  PREMISE_STREET: ['premisestreet'],
  PREMISE_CITY: ['premisecity'],
  PREMISE_STATE: ['premisestate'],
  PREMISE_ZIP_CODE: ['premisezipcode', 'premisezip'],
  MAIL_STREET: ['mailstreet'],
  MAIL_CITY: ['mailcity'],
  MAIL_STATE: ['mailstate'],
  MAIL_ZIP_CODE: ['mailzipcode', 'mailzip'],
  VOICE_PHONE: ['voicephone', 'voicetelephone'],
} as const
export type Column = keyof typeof COLUMNS
const NAMES = Object.keys(COLUMNS) as Column[]
const OPTIONAL = new Set<Column>([
  'BUSINESS_NAME',
  'MAIL_STREET',
  'MAIL_CITY',
  'MAIL_STATE',
  'MAIL_ZIP_CODE',
  'VOICE_PHONE',
])

/** Where each column stands; -1 for one that the list does not have. */
export type Places = Record<Column, number>

export function placesOf(header: readonly string[]): Places {
  const names = header.map((name) => name.toLowerCase().replaceAll(/[^a-z]/g, ''))
  return Object.fromEntries(
    NAMES.map((column) => [
      column,
      names.findIndex((name) => (COLUMNS[column] as readonly string[]).includes(name)),
    ]),
  ) as Places
}

const STORED: Partial<Record<Column, keyof ListedDealer>> = {
  BUSINESS_NAME: 'business_name',
  MAIL_STREET: 'mail_street',
  MAIL_CITY: 'mail_city',
  MAIL_STATE: 'mail_state',
  MAIL_ZIP_CODE: 'mail_zip',
  VOICE_PHONE: 'voice_phone',
}

/** What a list without some columns says nothing of: it is not a word that there is none. */
export function absentColumns(places: Places): ReadonlySet<keyof ListedDealer> {
  return new Set(
    NAMES.filter((column) => places[column] < 0)
      .map((column) => STORED[column])
      .filter((column) => column !== undefined),
  )
}

/** Columns without which no dealer can be read. */
export function missingColumns(places: Places): Column[] {
  return NAMES.filter((column) => places[column] < 0 && !OPTIONAL.has(column))
}

/**
 * The parts of a license number: digits that a spreadsheet dropped come back, and what fits no form
 * is named.
 */
const PARTS: readonly [column: Column, width: number, form: RegExp, fault: string][] = [
  ['LIC_REGN', 1, /^[134-689]$/, `the region is none of ${[...REGIONS].join(', ')}`],
  ['LIC_DIST', 2, /^\d{2}$/, 'the district is not a number of 2 digits'],
  ['LIC_CNTY', 3, /^\d{3}$/, 'the county is not a number of 3 digits'],
  ['LIC_TYPE', 2, /^\d{2}$/, 'the license type is not a number of 2 digits'],
  [
    'LIC_XPRDTE',
    2,
    /^\d[A-HJ-M]$/,
    'the expiry code is not a digit and a letter from A to M without I',
  ],
  ['LIC_SEQN', 5, /^\d{5}$/, 'the sequence is not a number of 5 digits'],
]

/** A cell without what a spreadsheet, or the export of a database, makes of it. */
const cleaned = (cell: string | undefined) => {
  const text = (cell ?? '').replaceAll(/\s+/g, ' ').trim()
  return text === 'NULL' ? '' : text
}

/** The license of a row, or what is wrong with it. */
export function licenseOf(cells: readonly string[], places: Places): License | { reason: string } {
  const parts: string[] = []
  for (const [column, width, form, fault] of PARTS) {
    const cell = cleaned(cells[places[column]]).toUpperCase()
    const digits = /^0*(\d+?)(\.0+)?$/.exec(cell)?.[1]
    const part = digits?.padStart(width, '0') ?? cell
    if (!form.test(part)) return { reason: fault }
    parts.push(part)
  }
  return parseLicense(parts.join(''))!
}

/** Nobody's name or street is longer; a cell that is lost its end. */
const LONGEST = 200

/**
 * The dealer of a row whose license is known, or why there is none. `asOf`: when the list was made,
 * ms.
 */
export function readDealer(input: {
  cells: readonly string[]
  places: Places
  license: License
  asOf: number
}): ListedDealer | { reason: string } {
  const { cells, places, license, asOf } = input
  const text = (column: Column) => cleaned(cells[places[column]])
  const fault = NAMES.map((column) => faultOf(column, text(column))).find((found) => found !== null)
  if (fault) return { reason: fault }
  const premise = premiseOf({
    street: text('PREMISE_STREET'),
    city: text('PREMISE_CITY'),
    state: text('PREMISE_STATE'),
    zip: text('PREMISE_ZIP_CODE'),
  })
  if ('reason' in premise) return premise
  const name = text('LICENSE_NAME') || text('BUSINESS_NAME')
  if (name === '') return { reason: 'there is no name' }
  const mailState = text('MAIL_STATE')
  return {
    id: license.id,
    license_number: license.number,
    license_type: license.type,
    expires_on: expiryDate(license.expiryCode, asOf),
    license_name: name,
    business_name: text('BUSINESS_NAME') || null,
    ...premise,
    mail_street: text('MAIL_STREET') || null,
    mail_city: text('MAIL_CITY') || null,
    mail_state: stateCode(mailState) ?? (mailState || null),
    // It may be abroad.
    mail_zip: zipOf(text('MAIL_ZIP_CODE'), stateCode(mailState)) ?? (text('MAIL_ZIP_CODE') || null),
    voice_phone: phoneOf(text('VOICE_PHONE')),
  }
}

function faultOf(column: Column, text: string): string | null {
  if (text.length > LONGEST) return `${column} is longer than ${LONGEST} characters`
  const fault = textFault(text)
  return fault && `${column} ${fault}`
}

type Premise = Pick<
  ListedDealer,
  'premise_street' | 'premise_city' | 'premise_state' | 'premise_zip'
>

/** A place that can be shipped to, or what is wrong with it. */
export function premiseOf({
  street,
  city,
  state,
  zip,
}: {
  street: string
  city: string
  state: string
  zip: string
}): Premise | { reason: string } {
  const code = stateCode(state)
  if (code === null) return { reason: 'the premise is in no known state' }
  const digits = zipOf(zip, code)
  if (digits === null) return { reason: 'the premise has no ZIP of 5 or 9 digits' }
  if (street.trim() === '' || city.trim() === '')
    return { reason: 'the premise has no street or city' }
  return {
    premise_street: street.trim(),
    premise_city: city.trim(),
    premise_state: code,
    premise_zip: digits,
  }
}

/**
 * A ZIP as 5 digits or 5+4; null for what is none. Lost zeros come back: 602 is 00602. Of 6 to 8
 * digits the first five count, as in 20111000, unless they lie in another state and with the zeros
 * before them they do not: 40031234 is 04003-1234 in Maine.
 */
export function zipOf(text: string, state: string | null): string | null {
  if (!/^[\d\s.\\/-]+$/.test(text)) return null
  const digits = text.replace(/\.0+$/, '').replaceAll(/\D/g, '')
  if (digits.length < 3 || digits.length > 9 || Number(digits) === 0) return null
  if (digits.length <= 5) return digits.padStart(5, '0')
  const full = digits.padStart(9, '0')
  const isWhole =
    digits.length === 9 ||
    (digits.length > 6 &&
      state !== null &&
      !isIn(digits.slice(0, 5), state) &&
      isIn(full.slice(0, 5), state))
  return isWhole
    ? full.endsWith('0000')
      ? full.slice(0, 5)
      : `${full.slice(0, 5)}-${full.slice(5)}`
    : digits.slice(0, 5)
}

function isIn(zip: string, state: string): boolean {
  return placeOfZip(zip)?.counties.some((fips) => countyOf(fips)?.state === state) ?? false
}

/** Ten digits; null for what is not a telephone number. */
export function phoneOf(text: string): string | null {
  const digits = text
    .replace(/\.0+$/, '')
    .replaceAll(/\D/g, '')
    .replace(/^1(?=\d{10}$)/, '')
  return digits.length === 10 ? digits : null
}
