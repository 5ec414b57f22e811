/**
 * API keys: shown once, kept as SHA-256, and the way from a key to its subscriber.
 */
import type { Key, Subscriber } from './caller.js'
import { hash as digest } from 'node:crypto'
import { dayOf } from '../core/clock.js'
import { ApiError, invalid } from '../core/errors.js'
import type { AccountsCtx } from './ctx.js'
import { nameFault } from '../core/text.js'
import { query } from '../db/query.js'
import { all } from '../db/reading.js'
import { touch } from '../db/state.js'
import type { Engine } from '../db/engine.js'
import { audit } from './audit.js'
import { MAX_ALLOWLIST, compileAllowlist, parseAllowlistEntry } from './allowlist.js'
import type { EndpointCount } from './limits/queries.js'
import { findSubscriber, isEmail } from './subscribers.js'
import { TIERS, TIER_NAMES } from './tiers.js'
import type { ApiKeyTable, Tier } from '../db/tables/accounts.js'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const KEY_LENGTH = 40

/** Forty characters of A-Z and 0-9, each drawn evenly: 206 bits. */
export function makeKey(random: (bytes: number) => Buffer): string {
  let key = ''
  while (key.length < KEY_LENGTH) {
    for (const byte of random(KEY_LENGTH)) {
      // 252 is the greatest multiple of 36 in a byte; what lies above would favour the first
      // letters.
      if (byte < 252 && key.length < KEY_LENGTH) key += ALPHABET[byte % 36]
    }
  }
  return key
}

function hashKey(key: string): Buffer {
  return digest('sha256', key, 'buffer')
}

const allKeys = query((db) => db.selectFrom('api_key').selectAll())

export interface KeyIndex {
  /** The key of this text, whatever its status. */
  find(text: string): Key | undefined
  /** Whether an enabled key may be used from this address. */
  lets(address: string): boolean
}

/** All keys. Every process sees a change of keys or allowlists with its next call. */
export function keyIndex(engine: Engine): KeyIndex {
  const known = engine.remember('keys', function* () {
    const rows = yield* all(allKeys)
    return new Map(rows.map((row) => [row.hash.toString('hex'), fromRow(row)]))
  })
  return {
    find: (text) => known().get(digest('sha256', text, 'hex')),
    lets: (address) =>
      [...known().values()].some(({ status, allows }) => status === 'enabled' && allows(address)),
  }
}

function fromRow(row: ApiKeyTable): Key {
  const allowlist = JSON.parse(row.allowlist) as string[]
  return {
    id: row.id,
    subscriberId: row.subscriber_id,
    name: row.name,
    contactEmail: row.contact_email,
    tier: row.tier,
    poTag: row.po_tag,
    allowlist,
    status: row.status,
    allows: compileAllowlist(allowlist),
  }
}

export interface NewKey {
  /** Name or id. */
  subscriber: string
  name: string
  email?: string
  tier: Tier
  /** Addresses and CIDR ranges; a key without one answers 403 `ip_whitelist_required`. */
  ips?: readonly string[]
}

/** Issues a key. The returned text is the only copy. */
export async function createKey(
  ctx: AccountsCtx,
  input: NewKey,
): Promise<{ id: string; key: string }> {
  if (!(input.tier in TIERS)) throw invalid('tier', `must be one of ${TIER_NAMES.join(', ')}`)
  const name = input.name.trim()
  const fault = nameFault(name)
  if (name === '' || name.length > 100 || fault)
    throw invalid('name', fault ?? 'must be 1 to 100 characters')
  if (input.email !== undefined && !isEmail(input.email))
    throw invalid('email', `"${input.email}" is not an e-mail address`)
  const allowlist = checkedAllowlist(input.ips ?? [])
  const key = makeKey(ctx.random)
  const id = ctx.random(6).toString('hex')
  await ctx.engine.atomic(ctx, async (tx) => {
    const subscriber = await findSubscriber(tx, input.subscriber)
    await tx.db
      .insertInto('api_key')
      .values({
        id,
        subscriber_id: subscriber.id,
        name,
        contact_email: input.email ?? subscriber.email,
        tier: input.tier,
        hash: hashKey(key),
        po_tag: poTag(key),
        allowlist: JSON.stringify(allowlist),
        status: 'enabled',
        created_at: ctx.now(),
      })
      .execute()
    await audit(tx, 'keys.create', { id, subscriber: subscriber.id, tier: input.tier, allowlist })
    await touch(tx.db, 'keys')
  })
  return { id, key }
}

function poTag(key: string): string {
  return (key.slice(0, 2) + key.slice(-2)).toUpperCase()
}

function checkedAllowlist(entries: readonly string[]): string[] {
  const canonical = [...new Set(entries.map((entry) => parseAllowlistEntry(entry)))]
  if (canonical.length > MAX_ALLOWLIST)
    throw invalid(
      'ip',
      `a key takes at most ${MAX_ALLOWLIST} entries, this would be ${canonical.length}`,
    )
  return canonical
}

/**
 * Adds (`allow`) or removes (`deny`) entries of a key's allowlist; returns the list as it is then.
 */
export async function changeAllowlist(
  ctx: AccountsCtx,
  keyId: string,
  change: { allow?: readonly string[]; deny?: readonly string[] },
): Promise<string[]> {
  return ctx.engine.atomic(ctx, async (tx) => {
    const before = JSON.parse((await keyRow(tx, keyId)).allowlist) as string[]
    const denied = (change.deny ?? []).map((entry) => parseAllowlistEntry(entry))
    const missing = denied.find((entry) => !before.includes(entry))
    if (missing)
      throw invalid(
        'ip',
        `${missing} is not on the allowlist, which holds: ${before.join(', ') || 'nothing'}`,
      )
    const after = checkedAllowlist([
      ...before.filter((entry) => !denied.includes(entry)),
      ...(change.allow ?? []),
    ])
    await tx.db
      .updateTable('api_key')
      .set({ allowlist: JSON.stringify(after) })
      .where('id', '=', keyId)
      .execute()
    await audit(tx, 'keys.allowlist', { id: keyId, allowlist: after })
    await touch(tx.db, 'keys')
    return after
  })
}

/** Enables, disables or cancels a key. Cancelling is for good. */
export async function setKeyStatus(
  ctx: AccountsCtx,
  keyId: string,
  status: ApiKeyTable['status'],
): Promise<void> {
  await ctx.engine.atomic(ctx, async (tx) => {
    const row = await keyRow(tx, keyId)
    if (row.status === 'cancelled' && status !== 'cancelled')
      throw invalid('id', `key ${keyId} was cancelled; issue a new one`)
    await tx.db.updateTable('api_key').set({ status }).where('id', '=', keyId).execute()
    await audit(tx, 'keys.status', { id: keyId, status })
    await touch(tx.db, 'keys')
  })
}

/** Gives a key a new text; name, tier, allowlist and usage stay. The old text stops at once. */
export async function rotateKey(
  ctx: AccountsCtx,
  keyId: string,
): Promise<{ id: string; key: string }> {
  const key = makeKey(ctx.random)
  await ctx.engine.atomic(ctx, async (tx) => {
    const row = await keyRow(tx, keyId)
    if (row.status === 'cancelled')
      throw invalid('id', `key ${keyId} was cancelled; issue a new one`)
    await tx.db
      .updateTable('api_key')
      .set({ hash: hashKey(key), po_tag: poTag(key) })
      .where('id', '=', keyId)
      .execute()
    await audit(tx, 'keys.rotate', { id: keyId })
    await touch(tx.db, 'keys')
  })
  return { id: keyId, key }
}

/** Keys of one subscriber, or all; never their text. */
export async function listKeys(ctx: AccountsCtx, subscriber?: string) {
  const owner = subscriber === undefined ? null : await findSubscriber(ctx, subscriber)
  const rows = await ctx.read
    .selectFrom('api_key')
    .innerJoin('subscriber', 'subscriber.id', 'api_key.subscriber_id')
    .select([
      'api_key.id',
      'api_key.name',
      'api_key.tier',
      'api_key.status',
      'api_key.allowlist',
      'api_key.created_at',
      'subscriber.name as subscriber',
    ])
    .$if(owner !== null, (query) => query.where('api_key.subscriber_id', '=', owner!.id))
    .orderBy('api_key.created_at')
    .orderBy('api_key.id')
    .execute()
  return rows.map((row) => ({
    ...row,
    allowlist: JSON.parse(row.allowlist) as string[],
    created_at: new Date(row.created_at).toISOString(),
  }))
}

/** A subscriber's key by its id, whatever its status; 404 where it has none of this id. */
export async function keyById(
  { read }: Pick<AccountsCtx, 'read'>,
  subscriber: Subscriber,
  keyId: string,
): Promise<Key> {
  const row = await read
    .selectFrom('api_key')
    .selectAll()
    .where('id', '=', keyId)
    .where('subscriber_id', '=', subscriber.id)
    .executeTakeFirst()
  if (!row)
    throw new ApiError('not_found', {
      message: `${subscriber.name} has no key ${keyId}; \`keys list\` shows them`,
    })
  return fromRow(row)
}

export interface KeyUsage {
  tier: Tier
  limits: { per_minute: number; per_day: number }
  /** Requests of this UTC day, of this UTC month, and of each of seven days, oldest first. */
  today: number
  this_month: number
  by_endpoint_today: EndpointCount[]
  by_day_last_7: { day: string; requests: number }[]
}

/** What a key has asked for. 404 for one that there is not. */
export async function keyUsage(ctx: AccountsCtx, keyId: string): Promise<KeyUsage> {
  const { tier } = await keyRow(ctx, keyId)
  return usageOf(ctx, keyId, tier)
}

/** The counts of a key as they are answered. */
export async function usageOf(
  { limits }: Pick<AccountsCtx, 'limits'>,
  keyId: string,
  tier: Tier,
): Promise<KeyUsage> {
  const counts = await limits.usage(keyId)
  return {
    tier,
    limits: { ...TIERS[tier] },
    today: counts.today,
    this_month: counts.thisMonth,
    by_endpoint_today: counts.byEndpointToday,
    by_day_last_7: counts.byDayLast7.map(({ day, requests }) => ({ day: dayOf(day), requests })),
  }
}

async function keyRow(ctx: AccountsCtx, keyId: string): Promise<ApiKeyTable> {
  const row = await ctx.db
    .selectFrom('api_key')
    .selectAll()
    .where('id', '=', keyId)
    .executeTakeFirst()
  if (!row)
    throw new ApiError('not_found', {
      message: `there is no key ${keyId}; \`keys list\` shows them`,
    })
  return row
}
