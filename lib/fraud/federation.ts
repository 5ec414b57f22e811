/**
 * Signals shared between two installations that agreed on a key: a file of hashes under that key, sealed by it. Who has the
 * file without the key learns nothing; who has both learns whether a value that he knows was reported, and counts.
 *
 *     {"batch":1,"form":1,"made_at":1795262400000,"reports":2}
 *     {"dealer":"…","first":"2026-06-02","last":"2026-11-19","signals":[[1,"-812…"],[3,"77…"]]}
 *     {"seal":"…"}
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { audit } from '../accounts/audit.js'
import { DAY, dayOf } from '../core/clock.js'
import type { OperatorCtx } from '../core/ctx.js'
import { invalid, isApiError } from '../core/errors.js'
import { touch } from '../db/state.js'
import { FORM, checkPartner, partnerKey, partnersIn, writePartner } from './keys.js'
import type { FraudKey } from './keys.js'
import { withoutPremises } from './premises.js'
import { signalsOf } from './signals.js'
import { KINDS, hashesOf, insertReport, openReport, removeReports } from './store.js'
import type { Hashes } from './store.js'

const BATCH = 1
const NO_BATCH = 'is no batch of signals; `fraud export` writes one'
/** Reports that one transaction takes. */
const AT_ONCE = 100
/** A report has at most so many signals: 4 strong ones, names, an IP, and 50 items with their keys and names. */
const MOST_SIGNALS = 300

/** Keeps the key that was agreed on, 64 hex digits. Throws 400 where it or the name is none, or the name is a partner's already. */
export async function addPartner(ctx: OperatorCtx, name: string, secret: string, { dryRun = false } = {}): Promise<void> {
  if (!dryRun) ctx.fraudKeys()
  try {
    (dryRun ? checkPartner : writePartner)(ctx.engine.dir, name, secret.trim().toLowerCase())
  } catch (error) {
    throw invalid('partner', error instanceof Error ? error.message : String(error))
  }
  if (dryRun) return
  await ctx.engine.atomic(ctx, async (tx) => {
    await touch(tx.db, 'fraud')
    await audit(tx, 'fraud partner', { name })
  })
}

/** The key that is shared with a partner. Throws 400 where there is none. */
export function sharedKey({ engine }: OperatorCtx, name: string): FraudKey {
  const key = partnerKey(engine.dir, name)
  if (!key) throw invalid('partner', `"${name}" is no partner; known are ${partnersIn(engine.dir).join(', ') || 'none'}; \`fraud partner\` makes one`)
  return key
}

/** The lines of a batch of all reports that were made here. Those of other partners are not passed on. */
export async function* exportBatch(ctx: OperatorCtx, partner: string, { dryRun = false } = {}): AsyncGenerator<string> {
  const key = sharedKey(ctx, partner)
  const sum = createHash('sha256')
  const sealed = (line: string) => {
    sum.update(`${line}\n`)
    return line
  }
  const rows = ctx.read.selectFrom('fraud_report').select(['id', 'subscriber_id', 'payload', 'reported_at', 'updated_at']).where('partner', 'is', null)
  const { reports } = await ctx.read.selectFrom('fraud_report').select((query) => query.fn.countAll<number>().as('reports')).where('partner', 'is', null).executeTakeFirstOrThrow()
  yield sealed(JSON.stringify({ batch: BATCH, form: FORM, made_at: ctx.now(), reports }))
  for (let last = 0; ;) {
    const some = await rows.where('id', '>', last).orderBy('id').limit(AT_ONCE).execute()
    for (const { id, subscriber_id: owner, payload, reported_at: first, updated_at: latest } of some) {
      const body = openReport(ctx, { id, subscriber_id: owner!, payload })
      const signals = hashesOf(key, withoutPremises(ctx, body, signalsOf(body)))
      // Days and pseudonyms: the partner must not tell our dealers apart by anything but their number.
      yield sealed(JSON.stringify({ dealer: key.digest('dealer', owner!), first: dayOf(first), last: dayOf(latest), signals: signals.map(([kind, hash]) => [kind, String(hash)]) }))
    }
    if (some.length < AT_ONCE) break
    last = some.at(-1)!.id
  }
  // Before the seal, without which a batch is worth nothing.
  if (!dryRun) await ctx.engine.atomic(ctx, (tx) => audit(tx, 'fraud export', { partner, reports }))
  yield JSON.stringify({ seal: key.digest('batch', sum.digest('hex')) })
}

interface Header {
  made_at: number
  reports: number
}

export interface Imported {
  reports: number
  dealers: number
  removed: number
}

/**
 * Takes a partner's batch in: it takes the place of the one before. Throws 400 where the file is no batch, was changed, is of
 * other rules, or is not newer than the last; then nothing is changed.
 */
export async function importBatch(ctx: OperatorCtx, partner: string, path: string, { dryRun = false } = {}): Promise<Imported> {
  const key = sharedKey(ctx, partner)
  const header = await verify(ctx, key, partner, path)
  const dealers = new Set<string>()
  let reports = 0
  let waiting: Shared[] = []
  const write = async () => {
    const some = waiting
    waiting = []
    if (!dryRun && some.length > 0) await ctx.engine.atomic(ctx, async (tx) => { for (const shared of some) await takeIn(tx, key, partner, header, shared) })
  }
  for await (const line of linesOf(path)) {
    const shared = sharedOf(line)
    if (!shared) continue
    dealers.add(shared.dealer)
    reports++
    waiting.push(shared)
    if (waiting.length === AT_ONCE) await write()
  }
  await write()
  if (dryRun) return { reports, dealers: dealers.size, removed: 0 }
  const removed = await removeOlder(ctx, partner, header)
  await ctx.engine.atomic(ctx, async (tx) => {
    await tx.db.replaceInto('fraud_partner').values({ name: partner, made_at: header.made_at, reports }).execute()
    await audit(tx, 'fraud import', { partner, reports, removed })
  })
  return { reports, dealers: dealers.size, removed }
}

function linesOf(path: string): AsyncIterable<string> {
  return createInterface({ input: createReadStream(path), crlfDelay: Infinity })
}

/** Reads the whole file once before anything of it is believed. */
async function verify(ctx: OperatorCtx, key: FraudKey, partner: string, path: string): Promise<Header> {
  const refuse = (why: string) => invalid('file', `${path} ${why}`)
  const sum = createHash('sha256')
  let header: (Header & { batch?: unknown; form?: unknown }) | null = null
  let seal: string | null = null
  let reports = 0
  try {
    for await (const line of linesOf(path)) {
      const value = objectOf(line)
      if (seal !== null) throw refuse('goes on behind its seal; have it sent again')
      if (typeof value['seal'] === 'string') seal = value['seal']
      else sum.update(`${line}\n`)
      if (header === null) header = value as unknown as Header
      else if (seal === null) reports += sharedOf(line) ? 1 : 0
    }
  } catch (error) {
    if (error instanceof SyntaxError) throw refuse(NO_BATCH)
    const { code } = error as NodeJS.ErrnoException
    if (isApiError(error) || code === undefined) throw error
    throw refuse(code === 'ENOENT' ? 'is not there' : `cannot be read (${code})`)
  }
  if (!header || header.batch !== BATCH || typeof header.made_at !== 'number') throw refuse(NO_BATCH)
  if (seal !== key.digest('batch', sum.digest('hex'))) throw refuse(`was cut off or changed, or sealed with another key than the one that is shared with ${partner}: have it sent again, or compare the keys`)
  if (header.form !== FORM) throw refuse(`was made by a release with other rules of spelling (${String(header.form)}, not ${FORM}): both sides need the same`)
  if (reports !== header.reports) throw refuse(`holds ${reports} reports, and says ${header.reports}`)
  if (header.made_at > ctx.now() + DAY) throw refuse('was made in the future: a clock is wrong, here or there')
  const before = await ctx.read.selectFrom('fraud_partner').select('made_at').where('name', '=', partner).executeTakeFirst()
  if (before && header.made_at <= before.made_at) throw refuse('is not newer than the batch that was taken in last; have a new one made')
  return header
}

interface Shared {
  dealer: string
  first: number
  last: number
  hashes: Hashes
}

/** The object of a line. Throws a SyntaxError for a line that is none. */
function objectOf(line: string): Record<string, unknown> {
  const value = JSON.parse(line) as unknown
  if (typeof value !== 'object' || value === null) throw new SyntaxError('no object')
  return value as Record<string, unknown>
}

/** A report of a batch; null for a line that is none. */
function sharedOf(line: string): Shared | null {
  const { dealer, first, last, signals } = objectOf(line)
  if (typeof dealer !== 'string' || typeof first !== 'string' || typeof last !== 'string' || !Array.isArray(signals)) return null
  const kinds: readonly unknown[] = Object.values(KINDS)
  const hashes = signals.slice(0, MOST_SIGNALS).flatMap((signal): [number, bigint][] => {
    const [kind, hash] = Array.isArray(signal) ? signal as unknown[] : []
    return kinds.includes(kind) && typeof hash === 'string' && /^-?\d{1,19}$/.test(hash) && BigInt.asIntN(64, BigInt(hash)) === BigInt(hash) ? [[kind as number, BigInt(hash)]] : []
  })
  const [from, to] = [Date.parse(first), Date.parse(last)]
  return Number.isNaN(from) || Number.isNaN(to) || !hashes.some(([kind]) => kind <= KINDS.phone) ? null : { dealer, first: from, last: to, hashes }
}

async function takeIn(tx: OperatorCtx, key: FraudKey, partner: string, { made_at: batch }: Header, { dealer, first, last, hashes }: Shared): Promise<void> {
  const name = `${partner}:${dealer}`
  const strong = key.digest('strong signals', hashes.filter(([kind]) => kind <= KINDS.phone).map(([kind, hash]) => `${kind} ${hash}`).sort().join())
  const before = await tx.db.selectFrom('fraud_report').select('id').where('dealer', '=', name).where('strong', '=', strong).execute()
  await removeReports(tx, before.map(({ id }) => id))
  await insertReport(tx, { subscriber_id: null, dealer: name, partner, batch, key: key.name, strong, reported_at: first, updated_at: last }, null, hashes)
}

async function removeOlder(ctx: OperatorCtx, partner: string, { made_at: batch }: Header): Promise<number> {
  let removed = 0
  for (;;) {
    const some = await ctx.engine.atomic(ctx, async (tx) => {
      const rows = await tx.db.selectFrom('fraud_report').select('id').where('partner', '=', partner).where('batch', '<>', batch).limit(AT_ONCE).execute()
      await removeReports(tx, rows.map(({ id }) => id))
      return rows.length
    })
    if (some === 0) return removed
    removed += some
  }
}
