/** Subscribers: the shops. One configuration, one order history, one or more keys. */
import type { Subscriber } from './caller.js'
import { ApiError, invalid } from '../core/errors.js'
import { nearest } from '../core/text.js'
import { nameFault } from '../core/text.js'
import type { AccountsCtx } from './ctx.js'
import { touch } from '../db/state.js'
import { caseAside, folded } from '../db/words.js'
import { audit } from './audit.js'
import { addDataKey } from './data-keys.js'

/** Registers a shop. Names are unique, case aside. */
export async function createSubscriber(
  ctx: AccountsCtx,
  input: { name: string; email: string },
): Promise<Subscriber> {
  const name = input.name.trim()
  const fault = nameFault(name)
  if (name === '' || name.length > 100 || fault)
    throw invalid('name', fault ?? 'must be 1 to 100 characters')
  if (!isEmail(input.email)) throw invalid('email', `"${input.email}" is not an e-mail address`)
  const id = `s_${ctx.random(8).toString('hex')}`
  return ctx.engine.atomic(ctx, async (tx) => {
    const taken = await tx.db
      .selectFrom('subscriber')
      .select('id')
      .where(caseAside('name'), '=', folded(name))
      .executeTakeFirst()
    if (taken) throw invalid('name', `there is a subscriber "${name}" already (${taken.id})`)
    await tx.db
      .insertInto('subscriber')
      .values({ id, name, email: input.email, created_at: ctx.now() })
      .execute()
    await addDataKey(tx, id)
    await audit(tx, 'subscribers.create', { id, name })
    await touch(tx.db, 'keys')
    return { id, name, email: input.email }
  })
}

export function isEmail(text: string): boolean {
  return text.length <= 254 && /^[^\s@<>"]+@[^\s@<>".]+(\.[^\s@<>".]+)+$/.test(text)
}

export async function listSubscribers(ctx: AccountsCtx) {
  const rows = await ctx.read
    .selectFrom('subscriber')
    .leftJoin('api_key', 'api_key.subscriber_id', 'subscriber.id')
    .select((query) => [
      'subscriber.id',
      'subscriber.name',
      'subscriber.email',
      'subscriber.created_at',
      query.fn.count<number>('api_key.id').as('keys'),
    ])
    .groupBy('subscriber.id')
    .orderBy('subscriber.created_at')
    .execute()
  return rows.map((row) => ({ ...row, created_at: new Date(row.created_at).toISOString() }))
}

/** By name (case aside) or id; 404 where there is none. */
export async function findSubscriber(
  ctx: Pick<AccountsCtx, 'db'>,
  nameOrId: string,
): Promise<Subscriber> {
  const row = await ctx.db
    .selectFrom('subscriber')
    .select(['id', 'name', 'email'])
    .where((query) =>
      query.or([query('id', '=', nameOrId), query(caseAside('name'), '=', folded(nameOrId))]),
    )
    .executeTakeFirst()
  if (!row)
    throw new ApiError('not_found', {
      message:
        `there is no subscriber "${nameOrId}"; ${await closeName(ctx, nameOrId)}` +
        '`subscribers list` shows them',
    })
  return row
}

/** A name that is spelled much like it, or goes on from it. */
async function closeName({ db }: Pick<AccountsCtx, 'db'>, given: string): Promise<string> {
  const rows = await db
    .selectFrom('subscriber')
    .select('name')
    .orderBy(caseAside('name'))
    .limit(1_000)
    .execute()
  const names = rows.map(({ name }) => name)
  const longer = names.filter((name) => name.toLowerCase().startsWith(given.toLowerCase()))
  const close = longer.length === 1 ? longer[0] : nearest(given, names)
  return given !== '' && close ? `did you mean "${close}"? ` : ''
}
