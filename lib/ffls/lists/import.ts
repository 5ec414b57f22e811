/** `ffls import`: the ATF's monthly list of licensees becomes the directory. */
import { basename } from 'node:path'
import { nextTurn } from '../../core/async/wait.js'
import { audit } from '../../accounts/audit.js'
import type { FflsCtx } from '../ctx.js'
import { invalid } from '../../core/errors.js'
import { KEPT_TEXT } from '../../feeds/read/lines.js'
import type { BrokenLine } from '../../feeds/read/lines.js'
import { stateCode } from '../../places/states.js'
import type { StateCode } from '../../places/states.js'
import {
  STEP,
  delistDealers,
  inChunks,
  knownDealers,
  patiently,
  putDealers,
} from '../dealer-store.js'
import { compareList } from './diff.js'
import type { KeptState, KnownDealer, Plan } from './diff.js'
import { readListFile } from './file.js'
import { readListOrder, saveListOrder } from './line-order.js'
import type { OrderedRow } from './line-order.js'
import type { ListFile } from './file.js'
import { NAMED, Rejects, TWICE, shown, timeOfList, typesOf } from './report.js'
import type { ListInput, ListOptions, ListReport } from './report.js'
import { absentColumns, licenseOf, missingColumns, phoneOf, placesOf, readDealer } from './rows.js'
import type { ListedDealer, Places } from './rows.js'
import { present } from '../../core/present.js'

export interface ImportResult extends ListReport {
  added: number
  renewed: number
  changed: number
  unchanged: number
  /** Dealers of whom a newer list is known, which stands. */
  outdated: number
  gone: number
  /** States in which the list may not revoke. */
  kept: KeptState[]
  /** The first of each kind. */
  renewals: { from: string; to: string; name: string }[]
  changes: { license_number: string; name: string; columns: string[] }[]
  losses: { license_number: string; name: string; state: string }[]
  /**
   * Extensions of the operator's that end, since the license that they were given to was renewed.
   */
  ended_extensions: { license_number: string; name: string; valid_until: string }[]
}

export interface ImportInput extends ListInput {
  /** States in which the list may revoke whatever it holds. */
  revoke?: readonly string[]
  /** It may do so in all states: the operator knows that it is whole. */
  accept?: boolean
}

/**
 * Takes in a list. A file that is not a list is a 400. Dealers that it lacks are taken off where it
 * is shown to be whole around them; elsewhere they stay until the operator accepts it, or another
 * list decides.
 */
export async function importDealers(
  ctx: FflsCtx,
  input: ImportInput,
  options: ListOptions = {},
): Promise<ImportResult> {
  const types = typesOf(input.types)
  const revoke = new Set((input.revoke ?? []).map(stateOf))
  const asOf = timeOfList(ctx, input.file, options.asOf)
  const { onProgress } = options
  const list = await readList(
    await readListFile({
      file: input.file,
      fits: headerFit,
      onProgress: onProgress && ((...progress) => onProgress('reading', ...progress)),
    }),
    { types, asOf },
  )
  const plan = compareList({
    known: await knownDealers(ctx),
    order: await readListOrder(ctx),
    listed: list.dealers,
    mentioned: list.mentioned,
    rows: list.rows,
    absent: list.absent,
    asOf,
    types,
    cutOff: list.report.cut_off !== null,
    revoke,
    accept: input.accept === true,
  })
  const result = { ...list.report, ...resultOf(plan) }
  if (options.dryRun) return result
  await apply(ctx, plan, asOf, onProgress)
  const {
    rejects: _rejects,
    renewals: _renewals,
    changes: _changes,
    losses: _losses,
    ...counts
  } = result
  await patiently(() =>
    ctx.engine.atomic(ctx, (tx) =>
      audit(tx, 'ffls.import', {
        file: basename(input.file),
        revoke: [...revoke],
        accept: input.accept === true,
        ...counts,
        cut_off: counts.cut_off?.line ?? null,
      }),
    ),
  )
  return result
}

function stateOf(text: string): StateCode {
  const code = stateCode(text)
  if (code === null) throw invalid('revoke', `"${text}" is not a state`)
  return code
}

/**
 * Known columns first; where there are none, the separator that finds the most cells shows best
 * what the file is.
 */
function headerFit(cells: readonly string[]): number {
  return Object.values(placesOf(cells)).filter((place) => place >= 0).length * 1_000 + cells.length
}

interface ReadList {
  dealers: Map<string, ListedDealer>
  mentioned: Set<string>
  rows: OrderedRow[]
  absent: ReadonlySet<keyof ListedDealer>
  report: ListReport
}

async function readList(
  file: ListFile,
  { types, asOf }: { types: ReadonlySet<string>; asOf: number },
): Promise<ReadList> {
  const { places, rows, cutOff, width } = partsOf(file)
  const rejects = new Rejects()
  const [dealers, mentioned] = [new Map<string, ListedDealer>(), new Set<string>()]
  const ordered: OrderedRow[] = []
  for (const fault of file.broken) {
    rejects.add(fault)
    // A line with a quote too many is not a row, but says that the license exists.
    const license = licenseOf(fault.text.replaceAll('"', '').split(/[\t,|;]/), places)
    if (!('reason' in license)) mentioned.add(license.id)
  }
  for (const [i, { line, cells }] of rows.entries()) {
    if (i % STEP === 0) await nextTurn()
    const found = licenseOf(cells, places)
    const state = stateCode(cells[places.PREMISE_STATE] ?? '')
    if (!('reason' in found) && state !== null) ordered.push({ id: found.id, state })
    const license = rejects.licenseOf({ line, cells }, found, types)
    if (!license) continue
    const reject = (reason: string) => rejects.add(shown(line, cells, reason))
    const dealer = isOfWidth(cells, width)
      ? readDealer({ cells, places, license, asOf })
      : { reason: `the row has ${cells.length} columns, the header has ${width}` }
    const other = dealers.get(license.id)
    if ('reason' in dealer) {
      reject(dealer.reason)
      mentioned.add(license.id)
    } else if (other && other.expires_on >= dealer.expires_on) reject(TWICE)
    else {
      if (other)
        rejects.add({
          line,
          reason: TWICE,
          text: `${other.license_number}, in a line before this one`,
        })
      dealers.set(dealer.id, dealer)
    }
  }
  const report = {
    as_of: new Date(asOf).toISOString(),
    rows: rows.length + file.broken.length,
    ...rejects.report(),
    cut_off: cutOff,
  }
  return { dealers, mentioned, rows: ordered, absent: absentColumns(places), report }
}

/** Cells beyond the header are fine as long as they are blank. */
function isOfWidth(cells: readonly string[], width: number): boolean {
  return cells.length >= width && cells.slice(width).every((cell) => cell.trim() === '')
}

/**
 * The header, and the rows without the line of dashes under it and without a cut-off end. Throws
 * when it is not a list.
 */
function partsOf(file: ListFile): {
  places: Places
  width: number
  rows: ListFile['rows']
  cutOff: BrokenLine | null
} {
  const [header, ...all] = file.rows
  const places = placesOf(header?.cells ?? [])
  const missing = missingColumns(places)
  if (missing.length > 0) {
    const found = (header?.cells ?? []).map((name) => name.trim()).filter((name) => name !== '')
    throw invalid(
      'file',
      `this is not a list of the ATF: it has no column ${missing.join(', ')}; its first row ` +
        `is ${found.join(', ').slice(0, KEPT_TEXT) || 'blank'}`,
    )
  }
  const width = present(header, 'the header').cells.findLastIndex((name) => name.trim() !== '') + 1
  const rows = all.filter(({ cells }) => !cells.every((cell) => /^-*$/.test(cell.trim())))
  if (rows.length === 0 && file.broken.length === 0 && file.cutOff === null)
    throw invalid('file', 'this list has a header and no rows')
  const last = rows.at(-1)
  if (!file.unterminated || !last || !isCutOff(last.cells, places, width))
    return { places, width, rows, cutOff: file.cutOff }
  return {
    places,
    width,
    rows: rows.slice(0, -1),
    cutOff: shown(last.line, last.cells, 'the line is cut off'),
  }
}

/** Whether a last line without a newline lacks columns, or the end of its last one. */
function isCutOff(cells: readonly string[], places: Places, width: number): boolean {
  const end = cells[width - 1]?.trim() ?? ''
  return (
    cells.length < width ||
    (places.VOICE_PHONE === width - 1 ? end !== 'NULL' && phoneOf(end) === null : end === '')
  )
}

function resultOf({
  added,
  renewed,
  changed,
  unchanged,
  outdated,
  gone,
  kept,
}: Plan): Omit<ImportResult, keyof ListReport> {
  const name = ({ business_name, license_name }: KnownDealer) => business_name ?? license_name
  return {
    added: added.length,
    renewed: renewed.length,
    changed: changed.length,
    unchanged,
    outdated,
    gone: gone.length,
    kept,
    renewals: renewed.slice(0, NAMED).map(({ before, after }) => ({
      from: before.license_number,
      to: after.license_number,
      name: name(after),
    })),
    changes: changed.slice(0, NAMED).map(({ before, after }) => ({
      license_number: after.license_number,
      name: name(after),
      columns: (Object.keys(after) as (keyof KnownDealer)[]).filter(
        (column) => column !== 'updated_at' && after[column] !== before[column],
      ),
    })),
    ended_extensions: renewed.flatMap(({ before }) =>
      before.valid_until
        ? [
            {
              license_number: before.license_number,
              name: name(before),
              valid_until: before.valid_until,
            },
          ]
        : [],
    ),
    losses: gone.slice(0, NAMED).map((dealer) => ({
      license_number: dealer.license_number,
      name: name(dealer),
      state: dealer.premise_state,
    })),
  }
}

/**
 * Those that are gone go first: what a list brings would otherwise raise its share of a state when
 * a run is broken off.
 */
async function apply(
  ctx: FflsCtx,
  { gone, added, renewed, changed, order }: Plan,
  asOf: number,
  onProgress: ListOptions['onProgress'],
): Promise<void> {
  const puts = [
    ...renewed.map(({ after }) => after),
    ...changed.map(({ after }) => after),
    ...added,
  ]
  const total = gone.length + puts.length
  let done = 0
  const step = (count: number) => onProgress?.('writing', (done += count), total, done)
  await inChunks(ctx, gone, (tx, chunk) => delistDealers(tx, chunk, asOf), step)
  await inChunks(ctx, puts, putDealers, step)
  // Last: a run that was broken off judges by the list before this one again.
  if (order) await patiently(() => ctx.engine.atomic(ctx, (tx) => saveListOrder(tx, order)))
}
