/**
 * The documents of distributors that nodes share: rows of their database, so that every node has the
 * same ones. A node reads them when it starts, as one folder does. One that a node cannot use, such
 * as one of a newer release, keeps it from nothing else: it is left out, and told of.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import type { Kysely } from 'kysely'
import { audit } from '../../../accounts/audit.js'
import { invalid } from '../../../core/errors.js'
import { filesIn } from '../../../db/sqlite/folder.js'
import { GONE } from '../../../db/tables/nodes.js'
import type { DistributorDocumentTable } from '../../../db/tables/nodes.js'
import type { Tables } from '../../../db/tables/tables.js'
import type { DistributorsCtx } from '../../ctx.js'
import type { Distributor } from '../../distributor.js'
import { changeMode } from '../../modes.js'
import { makeRegistry } from '../../registry.js'
import { readDocument } from '../read.js'
import type { DistributorDocument } from '../schema.js'
import { OTHER_WAY, orderingOf, textOf } from './add.js'
import type { Known } from './add.js'
import { refuseShared } from './apart.js'
import { distidIn, documentFiles } from './folder.js'
import { knownBy, lackText, lacksOf } from './lacks.js'
import type { KnownDocument } from './lacks.js'
import {
  documentsOfNodes,
  putShared,
  removeShared,
  sharedDigests,
  sharedDocuments,
} from './queries.js'
import { faultText, withDocument } from './with-document.js'

/** What a node has of the documents of its database. */
export interface SharedDocuments {
  readonly known: readonly KnownDocument[]
  /** Files of its own folder that the database has no document for: they are not used. */
  readonly strayFiles: readonly string[]
}

/** Characters of a fault: a document of another release may have many. */
const FAULT = 400

/** A document that the database has, as a node takes it. */
type Row = DistributorDocumentTable

/** The distributors with those of the documents, and what a node has to tell of these. */
export async function readShared(
  db: Kysely<Tables>,
  known: Known,
  dir: string,
): Promise<SharedDocuments & { distributors: readonly Distributor[] }> {
  const rows = await sharedDocuments(db)
  const taken = takeEach(rows, known, dir)
  return { ...taken, strayFiles: strayFilesIn(dir, rows) }
}

/** Takes one after the other, and leaves out what cannot stand beside those before it. */
function takeEach(rows: readonly Row[], { distributors, presets }: Known, dir: string) {
  const ids = new Set(Object.keys(presets))
  const documents: DistributorDocument[] = []
  let all = distributors
  /** Returns why it cannot be used. */
  function take({ distid, text }: Row): string | null {
    const { document, faults } = readDocument(text, ids, distributors)
    if (document === null) return faults.map(faultText).join('; ')
    if (document.distid !== distid) return `it is a document of ${document.distid}`
    try {
      const more = withDocument(all, document)
      refuseShared([...documents, document], dir)
      makeRegistry(more, presets)
      documents.push(document)
      all = more
      return null
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
  const known = rows.map((row): KnownDocument => ({
    distid: row.distid,
    sha256: createHash('sha256').update(row.text).digest('hex'),
    fault: take(row)?.slice(0, FAULT) ?? null,
  }))
  return { known, documents, distributors: all }
}

/** Those of a folder that was moved are the ones that have moved with it. */
function strayFilesIn(dir: string, rows: readonly Row[]): string[] {
  if (existsSync(filesIn(dir).record)) return []
  const stored = new Set(rows.map(({ distid }) => distid))
  return documentFiles(dir).flatMap(({ file, text }) =>
    stored.has(distidIn(text) ?? basename(file, '.json')) ? [] : [file],
  )
}

/**
 * Throws 400 where a node that starts with the document, and with the others of the database, would
 * have to leave one out.
 */
export async function tryShared(
  db: Kysely<Tables>,
  known: Known,
  dir: string,
  document: DistributorDocument,
): Promise<void> {
  tryAmong(await sharedDocuments(db), known, dir, document)
}

function tryAmong(
  rows: readonly Row[],
  known: Known,
  dir: string,
  document: DistributorDocument,
): void {
  const others = rows.filter(({ distid }) => distid !== document.distid)
  const { documents, distributors } = takeEach(others, known, dir)
  try {
    const all = withDocument(distributors, document)
    refuseShared([...documents, document], dir)
    makeRegistry(all, known.presets)
  } catch (error) {
    throw invalid('document', error instanceof Error ? error.message : String(error))
  }
}

/**
 * Keeps a document in the database; each node knows it from its next start on. One of the same
 * distid is replaced; where that was live and orders elsewhere or in another way, it has to go live
 * again. Throws 400 where something is in its way.
 */
export async function addShared(
  ctx: DistributorsCtx,
  known: Known,
  document: DistributorDocument,
): Promise<{ isNew: boolean; wasLive: boolean }> {
  const { distid } = document
  return ctx.engine.atomic(ctx, async (tx) => {
    const rows = await sharedDocuments(tx.db)
    tryAmong(rows, known, ctx.engine.dir, document)
    await putShared(tx.db, distid, textOf(document))
    await audit(tx, 'distributors.document', {
      distid,
      added: true,
      sha256: createHash('sha256').update(JSON.stringify(document)).digest('hex'),
    })
    const row = rows.find((one) => one.distid === distid)
    const ids = new Set(Object.keys(known.presets))
    const before = row ? readDocument(row.text, ids, known.distributors).document : null
    const isAgreed = before !== null && orderingOf(before) === orderingOf(document)
    const wasLive = !isAgreed && (await isLive(tx.db, distid))
    if (wasLive) await changeMode(tx, { distid, mode: 'simulator', reason: OTHER_WAY })
    return { isNew: row === undefined, wasLive }
  })
}

/** As the transaction has it: what is remembered may be a moment old. */
const isLive = async (db: Kysely<Tables>, distid: string): Promise<boolean> =>
  (
    await db
      .selectFrom('distributor_mode')
      .select('mode')
      .where('distid', '=', distid)
      .executeTakeFirst()
  )?.mode === 'live'

/** Takes a document away. Throws 400 where there is none. */
export async function dropShared(ctx: DistributorsCtx, distid: string): Promise<void> {
  await ctx.engine.atomic(ctx, async (tx) => {
    if (!(await removeShared(tx.db, distid)))
      throw invalid('distid', `there is no document of "${distid}" in the database`)
    await audit(tx, 'distributors.document', { distid, added: false })
  })
}

/**
 * Throws 400 while a node that serves knows another document of a distributor than the database has:
 * it might lead, and would order in another way than was agreed.
 */
export async function refuseStale(
  { read }: Pick<DistributorsCtx, 'read'>,
  distid: string,
): Promise<void> {
  const stored = await sharedDigests(read)
  for (const { host, dir, documents } of await documentsOfNodes(read, GONE)) {
    const lacks = lacksOf(knownBy(documents), stored).filter((one) => one.distid === distid)
    if (lacks.length > 0)
      throw invalid(
        'distid',
        `the node ${host}:${dir} does not have its document as the database has it now: ` +
          `${lackText(lacks)}. Start that node again first`,
      )
  }
}
