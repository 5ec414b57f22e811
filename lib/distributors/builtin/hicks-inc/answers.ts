/**
 * What lies in the folders of Hicks Inc.: orders that were taken, orders that were not and why, and
 * the parcels of all. Both kinds of order files hold the rows of ours; the second has a column in
 * front of each and a message behind it. So a row is read from where its PO stands.
 */
import { DAY, MINUTE } from '../../../core/clock.js'
import type { FoundOrder, Parcel } from '../../fulfillment.js'
import { leftParcel } from '../../left-parcel.js'
import type { FtpFiles } from '../../session/ftp.js'
import type { Known } from '../../session/session.js'
import { PROBLEMS, TAKEN, TRACKING } from './account.js'

/** An order as an answer has it. */
export interface Answer {
  readonly po: string
  readonly lines: readonly { readonly distsku: string; readonly qty: number }[]
  readonly shipTo: { readonly name: string; readonly address1: string; readonly zip: string }
  /** When its file was written, milliseconds since 1970; null where the server does not tell. */
  readonly at: number | null
  /** In their words why it was not taken; null for one that was. */
  readonly problem: string | null
}

/** Parcels under a PO. */
export interface Tracked {
  readonly number: string | null
  readonly parcels: readonly Parcel[]
}

/** Bytes of an answer, and of the list of parcels. */
const LARGEST = 1_048_576
const LARGEST_LIST = 32 * 1_048_576
/** A file that was changed so long ago is written by nobody any more, milliseconds. */
const SETTLED = MINUTE
/** Their clock, or the zone that it tells the time of, may differ from ours by so much. */
export const CLOCKS_DIFFER = DAY
/** Columns from the PO to the message of a problem. */
const MESSAGE = 20
/** Columns in front of a PO. */
const MOST_IN_FRONT = 2

/** Every order that the files tell of which were written from `since` on. */
export async function answersSince(
  files: FtpFiles,
  known: Known,
  { since, now }: { since: number; now: number },
): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const folder of [TAKEN, PROBLEMS])
    for (const { name, modifiedAt } of await files.entries(folder)) {
      if (!/\.txt$/i.test(name)) continue
      const path = `${folder}/${name}`
      const at = modifiedAt ?? (await files.modified(path))
      if ((at ?? Infinity) < since) continue
      const key = `${path} ${at}`
      const before = known.get(key) as { order: Omit<Answer, 'at'> | null } | undefined
      const bytes = before ? null : await files.read(path, LARGEST)
      if (!before && bytes === null) continue
      const isSettled = at !== null && now - at > SETTLED
      const order = before
        ? before.order
        : readOrder(bytes!.toString('latin1'), { isProblem: folder === PROBLEMS, isSettled })
      if (isSettled) known.set(key, { order })
      if (order) answers.push({ ...order, at })
    }
  return answers.toSorted((a, b) => (a.at ?? Infinity) - (b.at ?? Infinity))
}

/** The one order of a file; null where it, or a row of it, cannot be understood. */
export function readOrder(
  text: string,
  { isProblem, isSettled }: { isProblem: boolean; isSettled: boolean },
): Omit<Answer, 'at'> | null {
  const lines = text.split(/\r?\n/)
  const last = lines.pop() ?? ''
  if (isSettled) lines.push(last)
  else if (last.trim() !== '') return null
  const rows = lines
    .filter((line) => line.trim() !== '')
    .map((line) => rowOf(line.split('\t').map((cell) => cell.trim())))
  const [first] = rows
  if (!first || rows.some((row) => row === null || !isSameOrder(row, first))) return null
  const messages = rows.flatMap((row) => row!.message || [])
  return {
    po: first.po,
    shipTo: first.shipTo,
    lines: rows.map((row) => row!.line),
    problem: isProblem ? [...new Set(messages)].join('; ') || 'no reason is given' : null,
  }
}

type Row = NonNullable<ReturnType<typeof rowOf>>

/** From the PO on, which a state and a ZIP at their places behind it tell from all other cells. */
function rowOf(cells: readonly string[]) {
  for (let at = 0; at <= MOST_IN_FRONT; at++) {
    const [po = '', name = '', address1 = '', , , state = '', zip = '', distsku = '', units = ''] =
      cells.slice(at)
    const isRow = /^[\w.-]+$/.test(po) && /^[A-Z]{2}$/i.test(state) && /^\d{5}(-?\d{4})?$/.test(zip)
    if (!isRow) continue
    if (distsku === '' || !/^[1-9]\d{0,6}$/.test(units)) return null
    const message = cells[at + MESSAGE] ?? ''
    return {
      po,
      shipTo: { name, address1, zip },
      line: { distsku, qty: Number(units) },
      message,
    }
  }
  return null
}

/** A file has one order, and one destination. */
const isSameOrder = (row: Row, first: Row): boolean =>
  row.po === first.po &&
  row.shipTo.zip === first.shipTo.zip &&
  row.shipTo.name === first.shipTo.name

/** Parcels by PO, in capitals. */
export async function trackedIn(files: FtpFiles): Promise<ReadonlyMap<string, Tracked>> {
  const bytes = await files.read(TRACKING, LARGEST_LIST)
  const tracked = new Map<string, { number: string | null; parcels: Map<string, Parcel> }>()
  // A row that is being written has no end yet.
  for (const line of (bytes?.toString('latin1') ?? '').split(/\r?\n/).slice(0, -1)) {
    const [po = '', carrier = '', tracking = '', , number = ''] = line
      .split('\t')
      .map((cell) => cell.trim())
    if (po === '' || !/^(?=.*\d)[\w-]{8,40}$/.test(tracking)) continue
    const key = po.toUpperCase()
    const known = tracked.get(key) ?? { number: null, parcels: new Map<string, Parcel>() }
    known.number ??= number || null
    known.parcels.set(tracking, leftParcel(tracking, null, carrier === '' ? {} : { carrier }))
    tracked.set(key, known)
  }
  return new Map(
    [...tracked].map(([po, { number, parcels }]) => [
      po,
      { number, parcels: [...parcels.values()] },
    ]),
  )
}

/** What is told of the same order, however often, has the same key. */
export const keyOf = ({ po, shipTo, lines }: Pick<Answer, 'po' | 'shipTo' | 'lines'>): string =>
  JSON.stringify([
    po.toUpperCase(),
    shipTo.zip.slice(0, 5),
    lines.map(({ distsku, qty }) => [distsku.toUpperCase(), qty]).toSorted(),
  ])

export const foundFrom = ({ po, lines, shipTo, at }: Answer): FoundOrder => ({
  number: null,
  po,
  lines: [...lines],
  shipTo,
  ...(at !== null && { placedAt: at }),
})
