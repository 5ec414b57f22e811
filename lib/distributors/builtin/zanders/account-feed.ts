/** Zanders' catalog and quantities as its files give them to an account: XML, or CSV without it. */
import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { TextDecoder } from 'node:util'
import { CsvError, parse } from 'csv-parse'
import { nextTurn } from '../../../core/async/wait.js'
import { centralDay } from '../../days.js'
import { FeedFault } from '../../account-feed.js'
import type { AccountFeed, FeedBrought, FeedWanted } from '../../account-feed.js'
import type { FtpFiles } from '../../session/ftp.js'
import { bringFile, sizeOf } from '../../session/feed-file.js'
import { RowFile } from '../../session/row-file.js'
import type { Session } from '../../session/session.js'
import { XmlFault } from '../../session/xml.js'
import type { XmlElement } from '../../session/xml.js'
import { XmlItems } from '../../session/xml-items.js'
import { COLUMNS, catalog, quantity } from './feed.js'
import { rowOf, rowOfCsv } from './feed-rows.js'
import type { Row } from './feed-rows.js'
import { CATALOG, CATALOG_CSV, folderOf, QUANTITIES, QUANTITIES_CSV, withFiles } from './files.js'

/** A feed as it lies there: in XML, in CSV, and what a row of each becomes. */
interface Source {
  readonly xml: string
  readonly csv: string
  readonly columns: readonly string[]
  /** Columns of the CSV, where that is all there is. */
  readonly csvColumns: readonly string[]
  /** Without these nothing follows from an item. */
  readonly needed: readonly string[]
  item(item: XmlElement, today: string): Row
}

const CSV_COLUMNS =
  'itemnumber upc desc1 desc2 manufacturer mfgpnumber category price1 mapprice msrp available ' +
  'serialized weight'
/** An item of either file in XML. */
const ITEM = 'ZandersDataOut'

const SOURCES: Readonly<Record<string, Source>> = {
  [catalog.id]: {
    xml: CATALOG,
    csv: CATALOG_CSV,
    columns: COLUMNS,
    csvColumns: CSV_COLUMNS.split(' '),
    needed: ['itemnumber', 'upc', 'desc1', 'price1', 'available', 'serialized'],
    item: rowOf,
  },
  [quantity.id]: {
    xml: QUANTITIES,
    csv: QUANTITIES_CSV,
    columns: ['itemnumber', 'available'],
    csvColumns: ['itemnumber', 'available'],
    needed: ['itemnumber', 'available'],
    item: ({ children }) =>
      new Map(
        children.flatMap(({ name, text }) =>
          name === 'ITEMNO' || name === 'AVAILABLE'
            ? [[name === 'ITEMNO' ? 'itemnumber' : 'available', text.trim()]]
            : [],
        ),
      ),
  },
}

export const feeds: Readonly<Record<string, AccountFeed>> = Object.fromEntries(
  Object.entries(SOURCES).map(([id, source]) => [
    id,
    { bring: (session, wanted) => bring(session, wanted, source) } satisfies AccountFeed,
  ]),
)

async function bring(session: Session, wanted: FeedWanted, source: Source): Promise<FeedBrought> {
  const raw = `${wanted.file}.raw`
  try {
    const { brought, isXml } = await withFiles(session, (files) =>
      download(files, session, { ...wanted, file: raw }, source),
    )
    if (brought.outcome === 'written')
      await convert(session, { raw, to: wanted.file, isXml }, source)
    return brought
  } finally {
    await rm(raw, { force: true })
  }
}

async function download(
  files: FtpFiles,
  session: Session,
  wanted: FeedWanted,
  { xml, csv }: Source,
): Promise<{ brought: FeedBrought; isXml: boolean }> {
  const folder = folderOf(session.settings)
  // A server that tells no sizes has to be tried.
  const isXml =
    (await hasFile(files, `${folder}/${xml}`)) || !(await hasFile(files, `${folder}/${csv}`))
  const path = `${folder}/${isXml ? xml : csv}`
  return { brought: await bringFile(files, session.now, wanted, path), isXml }
}

const hasFile = async (files: FtpFiles, path: string): Promise<boolean> =>
  (await sizeOf(files, path)) !== null

/** Writes the rows of a file that was brought, in the form that the preset reads. */
async function convert(
  session: Session,
  { raw, to, isXml }: { raw: string; to: string; isXml: boolean },
  source: Source,
): Promise<void> {
  const rows = new RowFile(to, isXml ? source.columns : source.csvColumns)
  const missing = new Set(source.needed)
  const take = (row: Row) => {
    for (const name of missing) if ((row.get(name) ?? '') !== '') missing.delete(name)
    rows.add((column) => row.get(column))
  }
  try {
    if (isXml) await readXml(session, raw, { source, take, rows })
    else await readCsv(raw, { take, rows })
    if (rows.rows > 0 && missing.size > 0)
      throw new FeedFault(`no item of the feed has ${[...missing].join(', ')}`)
    await rows.close()
  } finally {
    await rows.abandon()
  }
}

interface Taking {
  readonly rows: RowFile
  readonly take: (row: Row) => void
}

async function readXml(
  session: Session,
  raw: string,
  { source, take, rows }: Taking & { source: Source },
): Promise<void> {
  const today = centralDay(session.now())
  const items = new XmlItems((item) => {
    if (item.name !== ITEM) throw new FeedFault(`the file is no feed: it has no ${ITEM}`)
    take(source.item(item, today))
  })
  try {
    for await (const piece of createReadStream(raw) as AsyncIterable<Buffer>) {
      items.push(piece)
      await rows.flush()
      // Others have their turn.
      await nextTurn()
      session.signal.throwIfAborted()
    }
    items.end()
  } catch (error) {
    if (!(error instanceof XmlFault)) throw error
    throw new FeedFault(`the file is no feed: ${error.message}`)
  }
}

async function readCsv(raw: string, { take, rows }: Taking): Promise<void> {
  const decoder = new TextDecoder('windows-1252')
  const texts = async function* () {
    for await (const piece of createReadStream(raw) as AsyncIterable<Buffer>)
      yield decoder.decode(piece, { stream: true })
  }
  const cells = parse({ columns: true, bom: true, trim: true })
  const source = Readable.from(texts()).once('error', (error) => cells.destroy(error))
  try {
    for await (const row of source.pipe(cells) as AsyncIterable<Record<string, string>>) {
      take(rowOfCsv(row))
      await rows.flush()
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw new FeedFault(`the file is no feed: its rows cannot be read (${error.code})`)
  } finally {
    source.destroy()
  }
}
