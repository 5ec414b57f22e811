/** What a distributor's files tell of orders: which it has, what is short, what was shipped. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAY, MINUTE } from '../../core/clock.js'
import { writtenDay } from '../days.js'
import { FeedFault } from '../account-feed.js'
import type { FoundOrder, OpenOrder, OrderUpdate, Parcel } from '../fulfillment.js'
import { leftParcel } from '../left-parcel.js'
import type { Session } from '../session/session.js'
import { fits, withFiles } from './connections.js'
import type { FilesConnection } from './connections.js'
import { rowsIn } from './rows.js'
import type { Row } from './rows.js'
import type { AnswerFile, Connection } from './schema.js'
import { fillPlace } from './template.js'

/** What one file tells of one order. */
export interface Answer {
  readonly tells: AnswerFile['tells']
  readonly po: string
  readonly number: string | null
  /** Null where items, units or ZIP are not told. */
  readonly content: Content | null
  readonly isShort: boolean
  readonly isNothing: boolean
  readonly parcels: readonly Parcel[]
  readonly reason: string | null
  /** Milliseconds since 1970. */
  readonly at: number
}

interface Content {
  readonly lines: readonly { readonly distsku: string; readonly qty: number }[]
  readonly shipTo: { readonly name?: string; readonly zip: string }
}

/** Bytes of an answer. */
const LARGEST = 32 * 1_048_576
/** Their clock, or the zone that it tells the time of, may differ from ours by so much. */
export const CLOCKS_DIFFER = DAY
/** A file that was changed so long ago is written by nobody any more, milliseconds. */
const SETTLED = MINUTE

type Connections = Readonly<Record<string, Connection>>

export interface Answers {
  /** The oldest first. */
  readonly answers: readonly Answer[]
  /** Of the first file that could not be read; the others were. */
  readonly fault: FeedFault | null
}

/**
 * Every answer in files that were changed from `since` on. `onlyWhole`: a file that was changed just
 * now is left for the next time, since half of it says something else.
 */
export async function answersSince(
  session: Session,
  connections: Connections,
  answers: readonly AnswerFile[],
  { since, onlyWhole }: { since: number; onlyWhole: boolean },
): Promise<Answers> {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-answers-'))
  const found: Answer[] = []
  let fault: FeedFault | null = null
  try {
    for (const answer of answers) {
      const { connection: name, path, read } = answer.source
      const connection = connections[name] as FilesConnection
      await withFiles(session, connection, async (files) => {
        for (const one of await listed(files, fillPlace(path, session.settings))) {
          const at = one.modifiedAt ?? (await files.modified(one.path)) ?? session.now()
          if (at < since || (onlyWhole && Math.abs(session.now() - at) < SETTLED)) continue
          const file = join(folder, 'answer')
          if ((await files.download(one.path, file, LARGEST)) === null) continue
          try {
            const seenAt = Math.min(at, session.now())
            found.push(...(await ordersIn(answer, rowsIn(file, read), seenAt)))
          } catch (error) {
            if (!(error instanceof FeedFault)) throw error
            fault ??= new FeedFault(`${one.path}: ${error.message}`)
          }
        }
      })
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return { answers: found.toSorted((a, b) => a.at - b.at), fault }
}

type Files = Parameters<Parameters<typeof withFiles>[2]>[0]

async function listed(files: Files, path: string) {
  if (!path.includes('*')) return [{ path, modifiedAt: null }]
  const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '.'
  const name = path.slice(path.lastIndexOf('/') + 1)
  const entries = await files.entries(folder)
  return entries
    .filter((one) => fits(one.name, name))
    .map((one) => ({
      path: folder === '.' ? one.name : `${folder}/${one.name}`,
      modifiedAt: one.modifiedAt,
    }))
}

interface Draft {
  readonly rows: Row[]
}

/**
 * The rows of each order together. Throws a FeedFault for a file that lacks a column: what it says
 * would be taken for something else.
 */
export async function ordersIn(
  { tells, columns, source }: AnswerFile,
  rows: AsyncIterable<Row>,
  at: number,
): Promise<Answer[]> {
  const cell = (row: Row, column: string | undefined) =>
    column === undefined ? '' : String(row(column) ?? '').trim()
  const drafts = new Map<string, Draft>()
  // Members that hold nothing may be left out of the other forms.
  const unseen = new Set(source.read.as === 'delimited' ? namesOf(columns) : [columns.po])
  let isEmpty = true
  for await (const row of rows) {
    isEmpty = false
    for (const name of unseen) if (row(name) !== undefined) unseen.delete(name)
    const po = cell(row, columns.po)
    if (po === '') continue
    const key = JSON.stringify([po, cell(row, columns.number), cell(row, columns.zip)])
    const draft = drafts.get(key) ?? { rows: [] }
    draft.rows.push(row)
    drafts.set(key, draft)
  }
  if (!isEmpty && unseen.size > 0)
    throw new FeedFault(`the file has no column ${[...unseen].join(', ')}`)
  return [...drafts.values()].map(({ rows: own }) => {
    const [first] = own as [Row]
    const counted = own.map((row) => ({
      distsku: cell(row, columns.item),
      ordered: countIn(cell(row, columns.ordered)),
      units: countIn(cell(row, columns.units)),
    }))
    const isCounted = counted.every(({ distsku, ordered }) => distsku !== '' && ordered !== null)
    const zip = cell(first, columns.zip)
    const name = cell(first, columns.name)
    const sum = (of: 'ordered' | 'units') =>
      counted.reduce((total, one) => total + (one[of] ?? 0), 0)
    const isMeasured = isCounted && counted.every(({ units }) => units !== null)
    return {
      tells,
      po: cell(first, columns.po),
      number: cell(first, columns.number) || null,
      content:
        isCounted && zip !== ''
          ? {
              lines: linesOf(counted),
              shipTo: { ...(name !== '' && { name }), zip },
            }
          : null,
      isShort: isMeasured && sum('units') < sum('ordered'),
      isNothing: isMeasured && sum('units') === 0,
      parcels: parcelsIn(own, (row, column) => cell(row, column), columns),
      reason:
        [...new Set(own.map((row) => cell(row, columns.reason)))].filter(Boolean).join('; ') ||
        null,
      at,
    }
  })
}

/** Of several columns for parcels one is enough. */
const namesOf = ({ tracking, ...others }: AnswerFile['columns']): string[] => [
  ...Object.values(others),
  ...(typeof tracking === 'string' ? [tracking] : (tracking?.slice(0, 1) ?? [])),
]

const countIn = (text: string): number | null =>
  /^\d{1,7}(\.0+)?$/.test(text) ? Number(text) : null

/** An item that stands in several rows was ordered as often as the most says. */
function linesOf(counted: readonly { distsku: string; ordered: number | null }[]) {
  const lines = new Map<string, number>()
  for (const { distsku, ordered } of counted)
    lines.set(distsku, Math.max(ordered ?? 0, lines.get(distsku) ?? 0))
  return [...lines].map(([distsku, qty]) => ({ distsku, qty }))
}

function parcelsIn(
  rows: readonly Row[],
  cell: (row: Row, column: string | undefined) => string,
  columns: AnswerFile['columns'],
): Parcel[] {
  const parcels = new Map<string, Parcel>()
  for (const row of rows)
    for (const column of [columns.tracking ?? []].flat())
      for (const number of cell(row, column).split(/[\s,;|]+/))
        if (/^(?=.*\d)[\w-]{8,40}$/.test(number) && !parcels.has(number)) {
          const carrier = cell(row, columns.carrier)
          parcels.set(
            number,
            leftParcel(number, writtenDay(cell(row, columns.day)), {
              ...(carrier !== '' && { carrier }),
              method: cell(row, columns.method) || null,
            }),
          )
        }
  return [...parcels.values()]
}

/** Orders by what the answers show of them, each once. */
export function foundIn(answers: readonly Answer[]): FoundOrder[] {
  const found = new Map<string, FoundOrder>()
  for (const { po, number, content, at } of answers)
    if (content) {
      const key = keyOf(po, content)
      if (!found.has(key) || number !== null)
        found.set(key, {
          number,
          po,
          lines: [...content.lines],
          shipTo: content.shipTo,
          placedAt: at,
        })
    }
  return [...found.values()]
}

const keyOf = (po: string, { lines, shipTo }: Content) =>
  JSON.stringify([
    po.toUpperCase(),
    shipTo.zip.slice(0, 5),
    lines.map(({ distsku, qty }) => [distsku.toUpperCase(), qty]).toSorted(),
  ])

/**
 * The news in answers. One that names a PO alone is of the order that another one shows under it,
 * where there is no second.
 */
export function* newsIn(
  answers: readonly Answer[],
  open: readonly OpenOrder[],
): Generator<OrderUpdate> {
  const shown = new Map<string, Map<string, { content: Content; isShort: boolean }>>()
  for (const { po, content, isShort, tells } of answers)
    if (content) {
      const known =
        shown.get(po.toUpperCase()) ?? new Map<string, { content: Content; isShort: boolean }>()
      const key = keyOf(po, content)
      known.set(key, {
        content,
        isShort: (tells === 'acknowledgement' && isShort) || known.get(key)?.isShort === true,
      })
      shown.set(po.toUpperCase(), known)
    }
  const placedAt = new Map(open.map((one) => [one.po.toUpperCase(), one.placedAt]))
  for (const answer of answers) {
    const { po, number, tells, parcels, reason } = answer
    const known = [...(shown.get(po.toUpperCase())?.values() ?? [])]
    if (answer.content === null && known.length > 1) continue
    const content = answer.content ?? known[0]?.content
    const wasShort = known.length === 1 && known[0]!.isShort
    const update = {
      number,
      po,
      // News are never older than the order.
      at: Math.max(answer.at, (placedAt.get(po.toUpperCase()) ?? -Infinity) + MINUTE),
      ...(content && { lines: [...content.lines], shipTo: content.shipTo }),
    }
    if (tells === 'problem' || (tells === 'acknowledgement' && answer.isNothing))
      yield {
        ...update,
        status: 'Not Fulfilled',
        reason: reason ?? 'it commits no unit of the order',
      }
    else if (tells === 'acknowledgement')
      yield { ...update, status: answer.isShort ? 'Partially Fulfilled' : 'Submitted' }
    else if (parcels.length > 0)
      yield {
        ...update,
        status: wasShort || answer.isShort ? 'Partially Fulfilled' : 'Fulfilled',
        parcels: [...parcels],
      }
  }
}
