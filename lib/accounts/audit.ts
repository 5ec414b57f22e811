/**
 * The audit: every act of an operator, each row chained to the one before it by a keyed digest.
 */
import type { AccountsCtx } from './ctx.js'
import { OPERATOR } from '../core/storage/secrets.js'
import type { Secrets } from '../core/storage/secrets.js'
import type { Engine } from '../db/engine.js'
import { query } from '../db/query.js'
import { value } from '../db/reading.js'

export interface AuditRow {
  /** From 1, without gaps. */
  seq: number
  /** Milliseconds since 1970. */
  at: number
  actor: string
  action: string
  /** JSON. */
  detail: string
}

/** Written when rows of an older release are taken into the chain. */
export const JOINED = 'audit.join'

/** Records an operator's act in the transaction of the act itself. `detail` holds no secret. */
export async function audit(ctx: AccountsCtx, action: string, detail: unknown): Promise<void> {
  const { actor } = ctx
  await ctx.engine.atomic(ctx, (tx) =>
    append(tx, { at: tx.now(), actor, action, detail: JSON.stringify(detail) }),
  )
}

async function append(
  { db, secrets }: Pick<AccountsCtx, 'db' | 'secrets'>,
  act: Omit<AuditRow, 'seq'>,
): Promise<void> {
  const last = await db
    .selectFrom('audit')
    .select('mac')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  // Its number is the table's own to give: a number that was cut off is not given again, so that
  // the gap shows.
  const { seq } = await db
    .insertInto('audit')
    .values({ ...act, mac: '' })
    .returning('seq')
    .executeTakeFirstOrThrow()
  await db
    .updateTable('audit')
    .set({ mac: auditMac(secrets, { seq, ...act }, last?.mac ?? '') })
    .where('seq', '=', seq)
    .execute()
}

/**
 * The digest that closes a row; its key is the operator's data key, which the database holds in
 * wrapped form only.
 */
export function auditMac(
  secrets: Pick<Secrets, 'of'>,
  { seq, at, actor, action, detail }: AuditRow,
  prev: string,
): string {
  return secrets
    .of(OPERATOR)
    .fingerprint(JSON.stringify(['audit', seq, at, actor, action, detail, prev]))
}

const firstMac = query((db) => db.selectFrom('audit').select('mac').orderBy('seq').limit(1))

/** Rows that are taken into the chain together. */
const WINDOW = 500

/**
 * Takes the rows that an older release wrote into the chain, once: a later time would leave its own
 * row behind.
 */
export async function joinAudit(ctx: {
  engine: Engine
  db: AccountsCtx['db']
  read: AccountsCtx['read']
  secrets: Secrets
  now: () => number
}): Promise<void> {
  // The first row of a chain that was joined, or that this release began, has its digest.
  if ((await ctx.engine.look(() => value(firstMac))) !== '') return
  await ctx.engine.atomic(ctx, async (tx) => {
    let [prev, after, rows] = ['', 0, 0]
    for (;;) {
      const some = await tx.db
        .selectFrom('audit')
        .selectAll()
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(WINDOW)
        .execute()
      // Another process that started at this moment has done it.
      if (rows === 0 && some[0]?.mac !== '') return
      if (some.length === 0) break
      for (const row of some) {
        prev = auditMac(tx.secrets, row, prev)
        await tx.db.updateTable('audit').set({ mac: prev }).where('seq', '=', row.seq).execute()
        after = row.seq
      }
      rows += some.length
    }
    await append(tx, {
      at: tx.now(),
      actor: 'upgrade',
      action: JOINED,
      detail: JSON.stringify({ rows, up_to: after }),
    })
  })
}

export interface ListedAct {
  seq: number
  at: string
  actor: string
  action: string
  /** What was done, with its values; no secret. */
  detail: unknown
}

export interface ListAuditInput {
  /** Acts before this number; the newest where it is not given. */
  before?: number | undefined
  /** By whom, as `cli` or `console:pat`. */
  actor?: string | undefined
  /** What they begin with: `keys.` for all that was done to keys. */
  action?: string | undefined
  limit?: number | undefined
}

/** The acts of operators, the newest first. */
export async function listAudit(
  { read }: Pick<AccountsCtx, 'read'>,
  { before, actor, action, limit = 100 }: ListAuditInput = {},
): Promise<ListedAct[]> {
  const rows = await read
    .selectFrom('audit')
    .select(['seq', 'at', 'actor', 'action', 'detail'])
    .$if(before !== undefined, (query) => query.where('seq', '<', before!))
    .$if(actor !== undefined, (query) => query.where('actor', '=', actor!))
    // The beginning is compared as it is: a percent sign or a dot means nothing in it.
    .$if(action !== undefined, (query) =>
      query.where(({ eb, fn, val }) =>
        eb(fn('substr', ['action', val(1), val(action!.length)]), '=', action!),
      ),
    )
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ at, detail, ...row }) => ({
    ...row,
    at: new Date(at).toISOString(),
    detail: JSON.parse(detail) as unknown,
  }))
}
