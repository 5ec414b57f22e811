/** Links that work once: how somebody comes in who has no password, or has lost it. */
import { hash as digest } from 'node:crypto'
import { audit } from '../accounts/audit.js'
import type { AccountsCtx } from '../accounts/ctx.js'
import { MINUTE } from '../core/clock.js'
import type { ConsoleLinkTable } from '../db/tables/console.js'
import { FIRST, ensureUser, forgetTries, isInUse, presentUser } from './users.js'
import type { Role, User } from './users.js'

/** How long a link works. */
export const LINK_LIFE = 15 * MINUTE

export type LinkKind = ConsoleLinkTable['kind']

export interface LinkInput {
  name?: string | undefined
  role?: Role | undefined
  /** `sign_in` lets in at once; `set_password`, the default, first has a password set. */
  kind?: LinkKind | undefined
}

export interface Link {
  name: string
  role: Role
  /** Shown once. */
  token: string
  expires_at: string
}

/** Makes a link for somebody, who is added where nobody has the name. */
export async function makeLink(
  ctx: AccountsCtx,
  { name = FIRST, role = 'operator', kind = 'set_password' }: LinkInput = {},
): Promise<Link> {
  const token = ctx.random(32).toString('base64url')
  const expires = ctx.now() + LINK_LIFE
  return ctx.engine.atomic(ctx, async (tx) => {
    const user = await ensureUser(tx, { name, role })
    await tx.db
      .deleteFrom('console_link')
      .where((link) => link.or([link('expires_at', '<=', tx.now()), link('user_id', '=', user.id)]))
      .execute()
    await tx.db
      .insertInto('console_link')
      .values({ hash: hashOf(token), user_id: user.id, kind, expires_at: expires })
      .execute()
    await audit(tx, 'console.link', { name: user.name, role, kind })
    return { name: user.name, role, token, expires_at: new Date(expires).toISOString() }
  })
}

/** The first link, while nobody has a password; null from then on. */
export async function firstLink(
  ctx: AccountsCtx,
  kind: LinkKind = 'set_password',
): Promise<Link | null> {
  return (await isInUse(ctx)) ? null : makeLink(ctx, { kind })
}

/** Whom a token lets in, and how; null where it is unknown, used or too old. */
export async function linkOf(
  tx: AccountsCtx,
  token: string,
): Promise<{ user: User; kind: LinkKind } | null> {
  const row = await tx.db
    .selectFrom('console_link')
    .innerJoin('console_user', 'console_user.id', 'console_link.user_id')
    .selectAll('console_user')
    .select('console_link.kind')
    .where('console_link.hash', '=', hashOf(token))
    .where('console_link.expires_at', '>', tx.now())
    .executeTakeFirst()
  if (!row) return null
  const { kind, ...user } = row
  return { user, kind }
}

/** It works no more. */
export async function useLink(tx: AccountsCtx, token: string): Promise<void> {
  await tx.db.deleteFrom('console_link').where('hash', '=', hashOf(token)).execute()
}

/**
 * For who is locked out: password, second factor, waits and sign-ins of somebody are gone, and a
 * link sets a new password.
 */
export async function resetUser(ctx: AccountsCtx, name: string): Promise<Link> {
  const { name: known, role } = await ctx.engine.atomic(ctx, async (tx) => {
    const user = await presentUser(tx, name)
    await tx.db
      .updateTable('console_user')
      .set({ password: null, totp: null, totp_step: 0 })
      .where('id', '=', user.id)
      .execute()
    await tx.db.deleteFrom('console_session').where('user_id', '=', user.id).execute()
    await forgetTries(tx, user.name)
    await audit(tx, 'console.reset', { name: user.name })
    return user
  })
  return makeLink(ctx, { name: known, role })
}

export const hashOf = (token: string): Buffer => digest('sha256', token, 'buffer')
