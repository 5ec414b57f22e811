/** People who may use the console. */
import { audit } from '../accounts/audit.js'
import type { AccountsCtx } from '../accounts/ctx.js'
import { ApiError, invalid } from '../core/errors.js'
import { nameFault } from '../core/text.js'
import { OPERATOR } from '../core/storage/secrets.js'
import type { ConsoleUserTable } from '../db/tables/console.js'
import { caseAside, folded } from '../db/words.js'
import type { Selectable } from 'kysely'

export type User = Selectable<ConsoleUserTable>
export type Role = ConsoleUserTable['role']
export const ROLES = ['operator', 'viewer'] as const satisfies readonly Role[]

/** Who the first one is called, unless somebody says otherwise. */
export const FIRST = 'operator'

export interface ListedUser {
  name: string
  role: Role
  password_set: boolean
  totp: boolean
  created_at: string
  /** Sign-ins that hold. */
  sessions: number
}

/** Everybody, by name. */
export async function listUsers({
  read,
  now,
}: Pick<AccountsCtx, 'read' | 'now'>): Promise<ListedUser[]> {
  const rows = await read
    .selectFrom('console_user')
    .selectAll()
    .select((user) =>
      user
        .selectFrom('console_session')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('user_id', '=', 'console_user.id')
        .where('expires_at', '>', now())
        .as('sessions'),
    )
    .orderBy(caseAside('name'))
    .execute()
  return rows.map((row) => ({
    name: row.name,
    role: row.role,
    password_set: row.password !== null,
    totp: row.totp !== null,
    created_at: new Date(row.created_at).toISOString(),
    sessions: row.sessions ?? 0,
  }))
}

/** By name, case aside; undefined where there is none. */
export function userNamed(
  { db }: Pick<AccountsCtx, 'db'>,
  name: string,
): Promise<User | undefined> {
  return db
    .selectFrom('console_user')
    .selectAll()
    .where(caseAside('name'), '=', folded(name))
    .executeTakeFirst()
}

/** Forgets what somebody did wrong who has come in. */
export async function forgetTries({ db }: Pick<AccountsCtx, 'db'>, name: string): Promise<void> {
  await db.deleteFrom('console_try').where(caseAside('name'), '=', folded(name)).execute()
}

export async function presentUser(ctx: Pick<AccountsCtx, 'db'>, name: string): Promise<User> {
  const user = await userNamed(ctx, name)
  if (!user)
    throw new ApiError('not_found', {
      message: `nobody is called "${name}"; \`console users\` shows who may use the console`,
    })
  return user
}

/** The one of this name; made where there is none. Throws 400 where its role is another. */
export async function ensureUser(
  tx: AccountsCtx,
  { name: given, role }: { name: string; role: Role },
): Promise<User> {
  const name = given.trim()
  const fault = nameFault(name)
  if (fault || !/^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,59}$/u.test(name))
    throw invalid('name', fault ?? 'must be 1 to 60 letters, digits, blanks and . _ @ -')
  const known = await userNamed(tx, name)
  if (known && known.role !== role)
    throw invalid('role', `${known.name} is ${known.role}; remove it first to make it ${role}`)
  if (known) return known
  const user = {
    id: `u_${tx.random(8).toString('hex')}`,
    name,
    role,
    password: null,
    totp: null,
    totp_step: 0,
    created_at: tx.now(),
  }
  await tx.db.insertInto('console_user').values(user).execute()
  await audit(tx, 'console.add', { name, role })
  return user
}

/** Whether anybody has a password, so that the console is in use. */
export async function isInUse({ read }: Pick<AccountsCtx, 'read'>): Promise<boolean> {
  const row = await read
    .selectFrom('console_user')
    .select('id')
    .where('password', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Takes somebody away, with all sign-ins. Throws 400 where no operator would be left. */
export async function removeUser(ctx: AccountsCtx, name: string): Promise<void> {
  await ctx.engine.atomic(ctx, async (tx) => {
    const user = await presentUser(tx, name)
    const others = await tx.db
      .selectFrom('console_user')
      .select('id')
      .where('role', '=', 'operator')
      .where('id', '<>', user.id)
      .executeTakeFirst()
    if (user.role === 'operator' && !others)
      throw invalid('name', `${user.name} is the only operator: add another one first`)
    await tx.db.deleteFrom('console_user').where('id', '=', user.id).execute()
    await audit(tx, 'console.remove', { name: user.name })
  })
}

/** Where the secret of somebody's second factor is sealed to. */
export const totpPlace = (user: Pick<User, 'id'>) => `second factor of ${user.id}`

export function openTotp({ secrets }: Pick<AccountsCtx, 'secrets'>, user: User): string | null {
  return user.totp === null ? null : secrets.of(OPERATOR).open(user.totp, totpPlace(user))
}
