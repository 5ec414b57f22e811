/** Sign-ins: each holds for twelve hours, and can be ended by whoever sees the list. */
import { createHmac } from 'node:crypto'
import { audit } from '../accounts/audit.js'
import type { AccountsCtx } from '../accounts/ctx.js'
import { HOUR, MINUTE } from '../core/clock.js'
import { ApiError } from '../core/errors.js'
import { cleaned } from '../core/text.js'
import { hashOf } from './links.js'
import type { Role, User } from './users.js'

/** How long a sign-in holds, and how long after the password nothing asks for it again. */
export const SESSION_LIFE = 12 * HOUR
export const CONFIRMED = 5 * MINUTE
/** How exact the time of the last call is. */
const SEEN = MINUTE

/** Where a call comes from. */
export interface From {
  address: string
  agent: string
}

export interface Session {
  id: string
  user: User
  name: string
  role: Role
  expiresAt: number
  confirmedUntil: number
}

/** Begins one; the token is for the cookie, and kept as a digest alone. */
export async function beginSession(
  tx: AccountsCtx,
  user: User,
  { address, agent }: From,
): Promise<{ token: string; session: Session }> {
  const token = tx.random(32).toString('base64url')
  const now = tx.now()
  const session = {
    id: tx.random(6).toString('hex'),
    expires_at: now + SESSION_LIFE,
    confirmed_until: now + CONFIRMED,
  }
  await tx.db.deleteFrom('console_session').where('expires_at', '<=', now).execute()
  await tx.db
    .insertInto('console_session')
    .values({
      ...session,
      user_id: user.id,
      hash: hashOf(token),
      created_at: now,
      seen_at: now,
      address: cleaned(address, 60),
      agent: cleaned(agent, 200),
    })
    .execute()
  return {
    token,
    session: {
      id: session.id,
      user,
      name: user.name,
      role: user.role,
      expiresAt: session.expires_at,
      confirmedUntil: session.confirmed_until,
    },
  }
}

/** The sign-in of a token, while it holds. */
export async function sessionOf(
  ctx: Pick<AccountsCtx, 'read' | 'db' | 'now'>,
  token: string,
): Promise<Session | null> {
  const row = await ctx.read
    .selectFrom('console_session')
    .innerJoin('console_user', 'console_user.id', 'console_session.user_id')
    .selectAll('console_user')
    .select([
      'console_session.id as session',
      'console_session.expires_at',
      'console_session.seen_at',
      'console_session.confirmed_until',
    ])
    .where('console_session.hash', '=', hashOf(token))
    .executeTakeFirst()
  const now = ctx.now()
  if (!row || row.expires_at <= now) return null
  const { session: id, expires_at: expiresAt, seen_at: seenAt, confirmed_until, ...user } = row
  if (now - seenAt >= SEEN)
    await ctx.db.updateTable('console_session').set({ seen_at: now }).where('id', '=', id).execute()
  return {
    id,
    user,
    name: user.name,
    role: user.role,
    expiresAt,
    confirmedUntil: confirmed_until,
  }
}

/** What a page sends along with each call: another site cannot read it. */
export function csrfOf(token: string): string {
  return createHmac('sha256', token).update('a call of the page').digest('base64url')
}

/** The password was given again. */
export async function confirmSession(tx: AccountsCtx, { id }: Pick<Session, 'id'>): Promise<void> {
  await tx.db
    .updateTable('console_session')
    .set({ confirmed_until: tx.now() + CONFIRMED })
    .where('id', '=', id)
    .execute()
}

export interface ListedSession {
  id: string
  name: string
  role: Role
  since: string
  expires_at: string
  /** To a minute. */
  last_seen: string
  address: string
  agent: string
}

/** The sign-ins that hold, the newest first. */
export async function listSessions({
  read,
  now,
}: Pick<AccountsCtx, 'read' | 'now'>): Promise<ListedSession[]> {
  const rows = await read
    .selectFrom('console_session')
    .innerJoin('console_user', 'console_user.id', 'console_session.user_id')
    .selectAll('console_session')
    .select(['console_user.name', 'console_user.role'])
    .where('expires_at', '>', now())
    .orderBy('console_session.created_at', 'desc')
    .execute()
  const iso = (ms: number) => new Date(ms).toISOString()
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    role: row.role,
    since: iso(row.created_at),
    expires_at: iso(row.expires_at),
    last_seen: iso(row.seen_at),
    address: row.address,
    agent: row.agent,
  }))
}

/** Ends a sign-in at once. 404 for one that does not hold. */
export async function endSession(ctx: AccountsCtx, id: string): Promise<void> {
  await ctx.engine.atomic(ctx, async (tx) => {
    const row = await tx.db
      .deleteFrom('console_session')
      .where('id', '=', id)
      .returning('user_id')
      .executeTakeFirst()
    if (!row)
      throw new ApiError('not_found', {
        message: `there is no sign-in ${id}; \`console sessions\` shows them`,
      })
    await audit(tx, 'console.sign_out', { session: id })
  })
}
