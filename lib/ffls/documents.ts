/**
 * Copies of dealers' licenses: who may read one, and how the operator stores it (contract "FFL
 * directory").
 */
import type { Selectable } from 'kysely'
import { MB, figure } from '../core/figures.js'
import { audit } from '../accounts/audit.js'
import type { FflsCall, FflsCtx } from './ctx.js'
import { ApiError, invalid } from '../core/errors.js'
import { findDealer } from './find.js'
import { parseLicense } from './license.js'
import type { DealerDocumentTable } from '../db/tables/ffls.js'
import { present } from '../core/present.js'

export type DocumentKind = DealerDocumentTable['kind']

/** An order of a subscriber, with the license that it ships to as the record has it. */
export interface NamedOrder {
  order_id: string
  ffl: string | null
}

/** Seconds that the URL of a document works. */
export const DOCUMENT_SECONDS = 900

/**
 * The first order that names this very license number, dashes and case aside; null when none does.
 * A mask is not a license number.
 */
export function documentAccess(orders: readonly NamedOrder[], license: string): string | null {
  const wanted = parseLicense(license)?.number
  if (wanted === undefined) return null
  return (
    orders.find(({ ffl }) => ffl !== null && parseLicense(ffl)?.number === wanted)?.order_id ?? null
  )
}

/**
 * The subscriber's visible fulfillment orders that name this very license, the newest first; one is
 * enough.
 */
async function ordersNaming(
  { read, subscriber }: FflsCall,
  license: string,
): Promise<readonly NamedOrder[]> {
  const wanted = parseLicense(license)?.number
  if (wanted === undefined) return []
  return read
    .selectFrom('fulfillment_order')
    .select(['order_id', 'ffl'])
    .where('subscriber_id', '=', subscriber.id)
    .where('ffl', '=', wanted)
    .where('visible', '=', 1)
    .orderBy('id', 'desc')
    .limit(1)
    .execute()
}

export interface DocumentInput {
  license_number: string
  document_type: DocumentKind
}

/** A URL of a dealer's document for a subscriber with an order to that dealer. */
export async function readDocument(
  ctx: FflsCall,
  { license_number, document_type }: DocumentInput,
): Promise<{ associated_order_id: string; expires_in_seconds: number; url: string }> {
  const order = documentAccess(await ordersNaming(ctx, license_number), license_number)
  if (order === null) throw new ApiError('ffl_not_associated_with_order')
  const url = await documentUrl(ctx, {
    dealerId: present(parseLicense(license_number), 'the license of an order').id,
    kind: document_type,
  })
  return { associated_order_id: order, expires_in_seconds: DOCUMENT_SECONDS, url }
}

/**
 * A URL of a document. A dealer stays itself with a renewal, so an order of before finds the
 * document of today.
 */
export async function documentUrl(
  ctx: FflsCtx,
  { dealerId, kind }: { dealerId: string; kind: DocumentKind },
): Promise<string> {
  const document = await storedDocument(ctx, dealerId, kind)
  if (!document)
    throw new ApiError('document_not_on_file', {
      message: `The dealer has no ${kind.toUpperCase()} document on file.`,
    })
  const isThere = await ctx.objects.has(document.object_key).catch((error: unknown) => {
    ctx.log.error(
      { err: error, object: document.object_key },
      'the object store cannot be asked for a document',
    )
    return false
  })
  if (!isThere) throw new ApiError('document_file_unavailable')
  return ctx.objects.url(document.object_key, {
    expiresIn: DOCUMENT_SECONDS,
    fileName: `${dealerId}-${kind}.${EXTENSIONS[document.content_type] ?? 'bin'}`,
  })
}

async function storedDocument(
  { read }: Pick<FflsCtx, 'read'>,
  dealerId: string,
  kind: DocumentKind,
): Promise<Selectable<DealerDocumentTable> | undefined> {
  return read
    .selectFrom('dealer_document')
    .selectAll()
    .where('dealer_id', '=', dealerId)
    .where('kind', '=', kind)
    .executeTakeFirst()
}

const EXTENSIONS: Record<string, string> = {
  'application/pdf': 'pdf',
  'image/jpeg': 'jpg',
  'image/png': 'png',
}
/** What a file of each type begins with. */
const BEGINNINGS: readonly (readonly [string, Buffer])[] = [
  ['application/pdf', Buffer.from('%PDF-')],
  ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff])],
  ['image/png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
]

/** 10 MB. */
export const MAX_DOCUMENT = 10 * MB

/**
 * The type of a document by its first bytes. Throws for one of another type, an empty one and one
 * that is too large.
 */
export function documentType(bytes: Uint8Array): string {
  if (bytes.length > MAX_DOCUMENT)
    throw invalid(
      'file',
      `must be at most 10 MB (${figure(MAX_DOCUMENT)} bytes), and has ${figure(bytes.length)}`,
    )
  const [type] = BEGINNINGS.find(([, start]) => start.equals(bytes.subarray(0, start.length))) ?? []
  if (type === undefined) throw invalid('file', 'must be a PDF, JPEG or PNG file')
  return type
}

/**
 * Keeps a document, in the place of the one before. The license may be masked. Returns the dealer's
 * own number.
 */
export async function storeDocument(
  ctx: FflsCtx,
  { license_number, document_type, bytes }: DocumentInput & { bytes: Uint8Array },
): Promise<{ license_number: string; content_type: string }> {
  const contentType = documentType(bytes)
  const dealer = await findDealer(ctx, license_number)
  const key = `documents/${ctx.random(16).toString('hex')}.${EXTENSIONS[contentType]}`
  await ctx.objects.put(key, bytes, { contentType })
  const before = await ctx.engine.atomic(ctx, async (tx) => {
    const replaced = await storedDocument(tx, dealer.id, document_type)
    await tx.db
      .replaceInto('dealer_document')
      .values({
        dealer_id: dealer.id,
        kind: document_type,
        object_key: key,
        content_type: contentType,
        stored_at: tx.now(),
      })
      .execute()
    await audit(tx, 'ffl.document.store', {
      license_number: dealer.license_number,
      document_type,
      content_type: contentType,
      bytes: bytes.length,
      object_key: key,
    })
    return replaced
  })
  if (before) await ctx.objects.remove(before.object_key)
  return { license_number: dealer.license_number, content_type: contentType }
}

/** A dealer's document. Throws `document_not_on_file` when there is none. */
export async function findDocument(
  ctx: Pick<FflsCtx, 'read'>,
  { license_number, document_type }: DocumentInput,
): Promise<Selectable<DealerDocumentTable> & { license_number: string }> {
  const dealer = await findDealer(ctx, license_number)
  const document = await storedDocument(ctx, dealer.id, document_type)
  if (!document)
    throw new ApiError('document_not_on_file', {
      message: `${dealer.license_number} has no ${document_type.toUpperCase()} document on file.`,
    })
  return { ...document, license_number: dealer.license_number }
}

/** A URL of a document for the operator, who need not have ordered from its dealer. */
export async function documentForOperator(
  ctx: FflsCtx,
  input: DocumentInput,
): Promise<{ url: string; expires_in_seconds: number }> {
  const { dealer_id: dealerId, kind } = await findDocument(ctx, input)
  return { url: await documentUrl(ctx, { dealerId, kind }), expires_in_seconds: DOCUMENT_SECONDS }
}

/** Removes a document and its file. Returns the dealer's own number. */
export async function removeDocument(
  ctx: FflsCtx,
  input: DocumentInput,
): Promise<{ license_number: string }> {
  const { license_number, object_key } = await ctx.engine.atomic(ctx, async (tx) => {
    const document = await findDocument(tx, input)
    await tx.db
      .deleteFrom('dealer_document')
      .where('dealer_id', '=', document.dealer_id)
      .where('kind', '=', document.kind)
      .execute()
    await audit(tx, 'ffl.document.remove', {
      license_number: document.license_number,
      document_type: document.kind,
      object_key: document.object_key,
    })
    return document
  })
  await ctx.objects.remove(object_key)
  return { license_number }
}
