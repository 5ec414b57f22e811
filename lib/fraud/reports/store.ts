/**
 * Reports as they are kept: signals as keyed hashes, what was sent sealed for its reporter alone.
 */
import type { Insertable } from 'kysely'
import type { FraudCtx } from '../ctx.js'
import type { Reading } from '../../db/query.js'
import { all, lookWithin } from '../../db/reading.js'
import { keysOfNow } from '../keys/keyring.js'
import type { FraudKey, FraudKeys } from '../keys/keys.js'
import { STRONG } from '../shapes.js'
import type { FraudReport } from '../shapes.js'
import type { Signals } from '../signals/signals.js'
import type { FraudReportTable } from '../../db/tables/fraud.js'
import { KINDS } from './kinds.js'
import { newestNotes } from './queries.js'

/** Hashes of one report's signals by kind. */
export type Hashes = readonly (readonly [kind: number, hash: bigint])[]

/** What is kept of one report's signals. */
export interface StoredHashes {
  /** Under the report's own key. */
  own: Hashes
  /** What is counted, under every other key where the same value may stand. */
  mirrored: Hashes
}

/** What of these signals is kept, under one key. */
export function hashesOf(key: FraudKey, { strong, names, ips, items }: Signals): Hashes {
  const found = new Map<string, readonly [number, bigint]>()
  const put = (kind: number, field: string, value: string) =>
    void found.set(`${kind} ${value}`, [kind, key.hash(field, value)])
  for (const [name, value] of strong) put(KINDS[name], name, value)
  for (const name of names) put(KINDS.name, 'name', name)
  for (const ip of ips) put(KINDS.ip, 'ip', ip)
  for (const { identity, keys, name } of items) {
    put(KINDS.item, 'item', identity)
    for (const each of keys) put(KINDS.itemKey, 'item key', each)
    if (name !== null) put(KINDS.itemName, 'item name', name)
  }
  return [...found.values()]
}

/** What of these signals is kept of a report made here. */
export function hashesToStore({ current, mirrors }: FraudKeys, signals: Signals): StoredHashes {
  return {
    own: hashesOf(current, signals),
    mirrored: mirrors
      .flatMap((key) => hashesOf(key, signals))
      .filter(([kind]) => kind <= KINDS.item),
  }
}

/**
 * Tell reports of one dealer apart, by their strong signals alone: a digest for each key that one
 * may be kept under, that of now last.
 */
export function strongDigests({ local }: FraudKeys, { strong }: Signals): string[] {
  const text = JSON.stringify(STRONG.map((name) => strong.get(name) ?? null))
  return local.map((key) => key.digest('strong signals', text))
}

/**
 * A transaction that writes reports. Over nodes they take turns: one that goes through many would
 * otherwise be undone by every single report that somebody sends meanwhile, until it is given up.
 */
export const writeReports = <C extends FraudCtx, T>(
  ctx: C,
  write: (tx: C) => Promise<T>,
): Promise<T> => ctx.engine.atomic(ctx, write, { inTurn: true })

export interface NewReport {
  subscriberId: string
  body: FraudReport
  signals: Signals
}

/**
 * Writes a report, or changes the one that the subscriber made of the same strong signals. In a
 * transaction.
 */
export async function saveReport(
  tx: FraudCtx,
  { subscriberId, body, signals }: NewReport,
): Promise<void> {
  const keys = await lookWithin(tx.db, () => keysOfNow(tx))
  const strong = strongDigests(keys, signals)
  const before = await tx.db
    .selectFrom('fraud_report')
    .select(['id', 'reported_at'])
    .where('dealer', '=', subscriberId)
    .where('strong', 'in', strong)
    .orderBy('id')
    .execute()
  const [same, ...twins] = before
  await removeReports(
    tx,
    twins.map(({ id }) => id),
  )
  const row = {
    subscriber_id: subscriberId,
    dealer: subscriberId,
    partner: null,
    batch: null,
    key: keys.current.name,
    mirrors: keys.mirrored,
    unreadable: 0,
    strong: strong.at(-1)!,
    reported_at: Math.min(tx.now(), ...before.map(({ reported_at: at }) => at)),
    updated_at: tx.now(),
  }
  // It stays the same report: whoever goes through all of them, to share them or to hash them anew,
  // does not miss it.
  if (same) await replaceHashes(tx, same.id, hashesToStore(keys, signals))
  const id =
    same?.id ?? (await insertReport(tx, { ...row, payload: '' }, hashesToStore(keys, signals)))
  await tx.db
    .updateTable('fraud_report')
    .set({ ...row, ...sealed(tx, { id, subscriberId, body }) })
    .where('id', '=', id)
    .execute()
}

/**
 * Three texts: signals are opened when a key is replaced, notes in every check of their writer, and
 * a raw order may be a megabyte.
 */
function sealed(
  { secrets }: FraudCtx,
  { id, subscriberId, body }: { id: number; subscriberId: string; body: FraudReport },
): Pick<FraudReportTable, 'payload'> & { notes: string; extra: string } {
  const { notes, order_json: json, order_id: order, order_source: source, ...signals } = body
  const seal = (part: Part, value: unknown) =>
    secrets.of(subscriberId).seal(JSON.stringify(value), placeOf(id, part))
  return {
    payload: seal('signals', signals),
    notes: notes === null ? '' : seal('notes', notes),
    extra: seal('extra', { order_json: json, order_id: order, order_source: source }),
  }
}

type Part = 'signals' | 'notes' | 'extra'
const placeOf = (id: number, part: Part) => `fraud report ${id} ${part}`

export async function insertReport(
  tx: FraudCtx,
  row: Omit<Insertable<FraudReportTable>, 'id'>,
  kept: StoredHashes,
): Promise<number> {
  const { id } = await tx.db
    .insertInto('fraud_report')
    .values(row)
    .returning('id')
    .executeTakeFirstOrThrow()
  await writeHashes(tx, id, kept)
  return id
}

async function writeHashes(
  tx: FraudCtx,
  report: number,
  { own, mirrored }: StoredHashes,
): Promise<void> {
  const rows = [
    ...own.map(([kind, hash]) => ({ report, own: 1 as const, kind, hash })),
    ...mirrored.map(([kind, hash]) => ({ report, own: 0 as const, kind, hash })),
  ]
  if (rows.length > 0) await tx.db.insertInto('fraud_evidence').values(rows).execute()
  const strong = own.filter(([kind]) => kind <= KINDS.phone)
  if (strong.length > 0)
    await tx.db
      .insertInto('fraud_signal')
      .values(strong.map(([, hash]) => ({ hash, report })))
      .execute()
}

/** Puts other hashes in the place of a report's. */
export async function replaceHashes(
  tx: FraudCtx,
  report: number,
  kept: StoredHashes,
): Promise<void> {
  await tx.db.deleteFrom('fraud_signal').where('report', '=', report).execute()
  await tx.db.deleteFrom('fraud_evidence').where('report', '=', report).execute()
  await writeHashes(tx, report, kept)
}

/** Removes reports; the database removes all that is kept of them. */
export async function removeReports(tx: FraudCtx, ids: readonly number[]): Promise<void> {
  for (const id of ids) await tx.db.deleteFrom('fraud_report').where('id', '=', id).execute()
}

/**
 * What a subscriber sent, but for its notes and its order. Throws where it is not what was sealed.
 */
export function openReport(
  { secrets }: Pick<FraudCtx, 'secrets'>,
  { id, subscriber_id: owner, payload }: { id: number; subscriber_id: string; payload: string },
): FraudReport {
  const signals = JSON.parse(secrets.of(owner).open(payload, placeOf(id, 'signals'))) as Omit<
    FraudReport,
    'notes' | 'order_id' | 'order_source'
  >
  return { ...signals, notes: null, order_id: null, order_source: null }
}

/** The notes of a report; null where they are not what was sealed, which the log tells. */
function openNotes(
  { secrets, log }: Pick<FraudCtx, 'secrets' | 'log'>,
  owner: string,
  { id, notes }: { id: number; notes: string },
): string | null {
  try {
    return JSON.parse(secrets.of(owner).open(notes, placeOf(id, 'notes'))) as string
  } catch (error) {
    log.error({ err: error, report: id }, 'the notes of a fraud report cannot be opened')
    return null
  }
}

/** The notes of those of these reports that are the subscriber's own, the newest first. */
export function* notesOf(
  ctx: FraudCtx,
  subscriberId: string,
  reports: readonly { id: number; mine: number }[],
): Reading<string[]> {
  const mine = reports.filter((report) => report.mine === 1).map(({ id }) => id)
  const rows = yield* all(newestNotes, { reports: mine })
  return rows.flatMap((row) => openNotes(ctx, subscriberId, row) ?? [])
}

/**
 * Reports of one subscriber of which every strong signal that is given, and that they hold,
 * matches, and at least one does. In a transaction.
 */
export async function ownReports(
  tx: FraudCtx,
  subscriberId: string,
  { strong }: Signals,
): Promise<number[]> {
  const { local } = await lookWithin(tx.db, () => keysOfNow(tx))
  const hashes = local.flatMap((key) => [...strong].map(([name, value]) => key.hash(name, value)))
  if (hashes.length === 0) return []
  const found = await tx.db
    .selectFrom('fraud_report')
    .select('id')
    .where('subscriber_id', '=', subscriberId)
    .where('id', 'in', (query) =>
      query.selectFrom('fraud_signal').select('report').where('hash', 'in', hashes),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('fraud_evidence')
            .select('kind')
            .whereRef('report', '=', 'fraud_report.id')
            .where('own', '=', 1)
            .where(
              'kind',
              'in',
              [...strong.keys()].map((name) => KINDS[name]),
            )
            .where('hash', 'not in', hashes),
        ),
      ),
    )
    .execute()
  return found.map(({ id }) => id)
}
