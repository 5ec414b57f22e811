/** The documents of distributors that nodes share. On PostgreSQL alone. */
import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { DistributorDocumentTable, NodeTable } from '../../../db/tables/nodes.js'
import type { Tables } from '../../../db/tables/tables.js'

type Db = Kysely<Tables>

const documentsOf = (db: Db) => db.withTables<{ distributor_document: DistributorDocumentTable }>()

/** All of them, in the order of their distids. */
export const sharedDocuments = (db: Db): Promise<DistributorDocumentTable[]> =>
  documentsOf(db)
    .selectFrom('distributor_document')
    .select(['distid', 'text'])
    .orderBy('distid')
    .execute()

/** SHA-256 of each, in hex, in the order of their distids. */
export const sharedDigests = (db: Db): Promise<{ distid: string; sha256: string }[]> =>
  documentsOf(db)
    .selectFrom('distributor_document')
    .select(['distid', sql<string>`encode(sha256(convert_to(text, 'UTF8')), 'hex')`.as('sha256')])
    .orderBy('distid')
    .execute()

/** Keeps a document, in place of that of its distid where there is one. */
export async function putShared(db: Db, distid: string, text: string): Promise<void> {
  await documentsOf(db)
    .insertInto('distributor_document')
    .values({ distid, text })
    .onConflict((conflict) => conflict.column('distid').doUpdateSet({ text }))
    .execute()
}

/** Whether there was one. */
export async function removeShared(db: Db, distid: string): Promise<boolean> {
  const { numDeletedRows } = await documentsOf(db)
    .deleteFrom('distributor_document')
    .where('distid', '=', distid)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** What the nodes that were seen within so many milliseconds have read of them. */
export const documentsOfNodes = (
  db: Db,
  seen: number,
): Promise<Pick<NodeTable, 'host' | 'dir' | 'documents'>[]> =>
  db
    .withTables<{ node: NodeTable }>()
    .selectFrom('node')
    .select(['host', 'dir', 'documents'])
    .where('seen_at', '>', sql<number>`now_ms() - ${seen}`)
    .orderBy('host')
    .orderBy('dir')
    .execute()
