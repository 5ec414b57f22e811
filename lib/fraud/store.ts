/** Reports as they are kept: signals as keyed hashes, what was sent sealed for its reporter alone (decisions 9.1). */
import type { Insertable } from 'kysely'
import type { OperatorCtx } from '../core/ctx.js'
import type { FraudKey, FraudKeys } from './keys.js'
import { STRONG } from './shapes.js'
import type { FraudReport } from './shapes.js'
import type { Signals } from './signals.js'
import type { FraudReportTable } from './tables.js'

/** Kinds of what a report holds. The strong ones stand in `fraud_signal` too, by which they are found. */
export const KINDS = { shipping_address_1: 1, billing_address_1: 2, email: 3, phone: 4, name: 5, ip: 6, item: 7, itemKey: 8, itemName: 9 } as const

/** As JSON writes them: 64 bits do not fit into its numbers, but SQLite reads them as what they are. */
export const jsonOf = (hashes: readonly bigint[]) => `[${hashes.join()}]`

/** Hashes of one report's signals by kind. */
export type Hashes = readonly (readonly [kind: number, hash: bigint])[]

/** What of these signals is kept, under one key. */
export function hashesOf(key: FraudKey, { strong, names, ips, items }: Signals): Hashes {
  const found = new Map<string, readonly [number, bigint]>()
  const put = (kind: number, field: string, value: string) => void found.set(`${kind} ${value}`, [kind, key.hash(field, value)])
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

/** Tells reports of one dealer apart: by their strong signals alone. */
export function strongDigest(key: FraudKey, { strong }: Signals): string {
  return key.digest('strong signals', JSON.stringify(STRONG.map((name) => strong.get(name) ?? null)))
}

export interface NewReport {
  subscriberId: string
  body: FraudReport
  signals: Signals
}

/** Writes a report, or takes the place of the one that the subscriber made of the same strong signals. In a transaction. */
export async function saveReport(tx: OperatorCtx, keys: FraudKeys, { subscriberId, body, signals }: NewReport): Promise<void> {
  const strong = keys.all.filter(({ name }) => name.startsWith('local ')).map((key) => strongDigest(key, signals))
  const before = await tx.db.selectFrom('fraud_report').select(['id', 'reported_at']).where('dealer', '=', subscriberId).where('strong', 'in', strong).execute()
  await removeReports(tx, before.map(({ id }) => id))
  await insertReport(tx, {
    subscriber_id: subscriberId, dealer: subscriberId, partner: null, batch: null, key: keys.current.name, strong: strongDigest(keys.current, signals),
    reported_at: Math.min(tx.now(), ...before.map(({ reported_at: at }) => at)), updated_at: tx.now(),
  }, { subscriberId, body }, hashesOf(keys.current, signals))
}

export async function insertReport(tx: OperatorCtx, row: Omit<Insertable<FraudReportTable>, 'id' | 'payload'>, sealed: { subscriberId: string; body: FraudReport } | null, hashes: Hashes): Promise<void> {
  const { id } = await tx.db.insertInto('fraud_report').values({ ...row, payload: '' }).returning('id').executeTakeFirstOrThrow()
  if (sealed) {
    const payload = tx.secrets.of(sealed.subscriberId).seal(JSON.stringify(sealed.body), placeOf(id))
    await tx.db.updateTable('fraud_report').set({ payload }).where('id', '=', id).execute()
  }
  await writeHashes(tx, id, hashes)
}

export async function writeHashes(tx: OperatorCtx, id: number, hashes: Hashes): Promise<void> {
  const strong = hashes.filter(([kind]) => kind <= KINDS.phone)
  await tx.db.insertInto('fraud_evidence').values(hashes.map(([kind, hash]) => ({ report: id, kind, hash }))).execute()
  await tx.db.insertInto('fraud_signal').values(strong.map(([, hash]) => ({ hash, report: id }))).execute()
}

/** Removes reports with all that is kept of them. */
export async function removeReports(tx: OperatorCtx, ids: readonly number[]): Promise<void> {
  for (const id of ids) {
    await removeHashes(tx, id)
    await tx.db.deleteFrom('fraud_report').where('id', '=', id).execute()
  }
}

export async function removeHashes(tx: OperatorCtx, id: number): Promise<void> {
  await tx.db.deleteFrom('fraud_signal').where('report', '=', id)
    .where('hash', 'in', (query) => query.selectFrom('fraud_evidence').select('hash').where('report', '=', id).where('kind', '<=', KINDS.phone)).execute()
  await tx.db.deleteFrom('fraud_evidence').where('report', '=', id).execute()
}

const placeOf = (id: number) => `fraud report ${id}`

/** What a subscriber sent. Throws where it is not what was sealed. */
export function openReport({ secrets }: Pick<OperatorCtx, 'secrets'>, { id, subscriber_id: owner, payload }: { id: number; subscriber_id: string; payload: string }): FraudReport {
  return JSON.parse(secrets.of(owner).open(payload, placeOf(id))) as FraudReport
}

/** Reports of one subscriber of which every strong signal that is given, and that they hold, matches, and at least one does. */
export async function ownReports(ctx: OperatorCtx, keys: FraudKeys, subscriberId: string, { strong }: Signals): Promise<number[]> {
  const given = keys.all.flatMap((key) => [...strong].map(([name, value]) => ({ name, hash: key.hash(name, value) })))
  if (given.length === 0) return []
  const found = await ctx.read.selectFrom('fraud_signal').innerJoin('fraud_report', 'id', 'report').select('report').distinct()
    .where('hash', 'in', given.map(({ hash }) => hash)).where('subscriber_id', '=', subscriberId).execute()
  const contradicts = (report: number) => [...strong.keys()].map((name) => ctx.read.selectFrom('fraud_evidence').select('kind').where('report', '=', report).where('kind', '=', KINDS[name])
    .where('hash', 'not in', given.filter((each) => each.name === name).map(({ hash }) => hash)).executeTakeFirst())
  const own: number[] = []
  for (const { report } of found) if ((await Promise.all(contradicts(report))).every((row) => row === undefined)) own.push(report)
  return own
}
