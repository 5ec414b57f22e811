/** Signing in, by a link or a password, and what somebody changes of how they do. */
import pLimit from 'p-limit'
import { audit } from '../accounts/audit.js'
import type { AccountsCtx } from '../accounts/ctx.js'
import { MINUTE, SECOND } from '../core/clock.js'
import { invalid } from '../core/errors.js'
import { OPERATOR } from '../core/storage/secrets.js'
import { caseAside, folded } from '../db/words.js'
import { linkOf, useLink } from './links.js'
import { checkPassword, hashPassword, isPassword } from './password.js'
import { beginSession, confirmSession } from './sessions.js'
import type { From, Session } from './sessions.js'
import { newTotpSecret, stepOfCode, totpAddress } from './totp.js'
import { FIRST, forgetTries, openTotp, totpPlace, userNamed } from './users.js'
import type { User } from './users.js'

export type SignedIn =
  | { outcome: 'signed_in'; token: string; session: Session }
  /** The link is unknown, used or too old. */
  | { outcome: 'no_link' }
  /** The link is for somebody who has to set a password with it. */
  | { outcome: 'set_password'; name: string }
  | { outcome: 'wrong' }
  /** The password is right, and a code is needed with it. */
  | { outcome: 'totp' }
  /** Too many were wrong: the next one is looked at after so many milliseconds. */
  | { outcome: 'wait'; ms: number }

/** Wrong ones without a wait, the first wait, and the longest. */
const FREE = 4
const FIRST_WAIT = SECOND
const LONGEST_WAIT = 15 * MINUTE
/** Names that are remembered: of longer ago, each starts anew. */
const NAMES = 1_000

export interface SignIn {
  byLink(token: string, password: string | undefined, from: From): Promise<SignedIn>
  byPassword(
    input: { name?: string | undefined; password: string; totp?: string | undefined },
    from: From,
  ): Promise<SignedIn>
  /** Gives the password again; from then on nothing asks for it for five minutes. */
  confirm(session: Session, password: string): Promise<SignedIn['outcome'] | { ms: number }>
}

/** Tries come one after the other: several at once would each find that no wait is due. */
export function openSignIn(ctx: AccountsCtx): SignIn {
  const inTurn = pLimit(1)
  return {
    byLink: (token, password, from) => inTurn(() => signInByLink(ctx, token, password, from)),
    byPassword: (input, from) => inTurn(() => signInByPassword(ctx, input, from)),
    confirm: (session, password) => inTurn(() => confirm(ctx, session, password)),
  }
}

async function signInByLink(
  ctx: AccountsCtx,
  token: string,
  password: string | undefined,
  from: From,
): Promise<SignedIn> {
  const link = await linkOf(ctx, token)
  if (!link) return { outcome: 'no_link' }
  const { user, kind } = link
  if (kind === 'set_password' && password === undefined)
    return { outcome: 'set_password', name: user.name }
  const kept = password === undefined ? null : await newPassword(ctx, user, password)
  return ctx.engine.atomic(actingAs(ctx, user), async (tx): Promise<SignedIn> => {
    // Somebody else may have used it meanwhile.
    if (!(await linkOf(tx, token))) return { outcome: 'no_link' }
    await useLink(tx, token)
    if (kept !== null) await putPassword(tx, user, kept)
    await audit(tx, 'console.sign_in', { name: user.name, by: 'link', address: from.address })
    return { outcome: 'signed_in', ...(await beginSession(tx, await fresh(tx, user), from)) }
  })
}

async function signInByPassword(
  ctx: AccountsCtx,
  { name = FIRST, password, totp }: { name?: string; password: string; totp?: string },
  from: From,
): Promise<SignedIn> {
  const tried = await tryPassword(ctx, name, password, totp)
  if (tried.outcome !== 'right') return tried
  const { user } = tried
  return ctx.engine.atomic(actingAs(ctx, user), async (tx): Promise<SignedIn> => {
    await audit(tx, 'console.sign_in', { name: user.name, by: 'password', address: from.address })
    return { outcome: 'signed_in', ...(await beginSession(tx, user, from)) }
  })
}

async function confirm(
  ctx: AccountsCtx,
  session: Session,
  password: string,
): Promise<SignedIn['outcome'] | { ms: number }> {
  const tried = await tryPassword(ctx, session.name, password, null)
  if (tried.outcome === 'wait') return { ms: tried.ms }
  if (tried.outcome !== 'right') return tried.outcome
  await ctx.engine.atomic(ctx, (tx) => confirmSession(tx, session))
  return 'signed_in'
}

type Tried = Exclude<SignedIn, { outcome: 'signed_in' }> | { outcome: 'right'; user: User }

/**
 * Looks at a password, and at a code where somebody has a second factor; null asks for none. A try
 * counts as wrong before it is looked at: whoever kills the server in between has gained nothing.
 */
async function tryPassword(
  ctx: AccountsCtx,
  name: string,
  password: string,
  totp: string | null | undefined,
): Promise<Tried> {
  const before = await failuresOf(ctx, name)
  const left = before.waitUntil - ctx.now()
  // A longer one comes from a clock that was wrong.
  if (left > 0 && left <= LONGEST_WAIT) return { outcome: 'wait', ms: left }
  await countFailure(ctx, name, before.failures + 1)
  const user = await userNamed(ctx, name)
  if (!(await isPassword(password, user?.password ?? null)) || !user) {
    if (before.failures + 1 > FREE)
      await audit(ctx, 'console.refused', { name, failures: before.failures + 1 })
    return { outcome: 'wrong' }
  }
  const secret = totp === null ? null : openTotp(ctx, user)
  if (secret !== null && totp === undefined) {
    await countFailure(ctx, name, before.failures)
    return { outcome: 'totp' }
  }
  const step =
    secret === null ? null : stepOfCode(secret, totp!, { now: ctx.now(), after: user.totp_step })
  if (secret !== null && step === null) return { outcome: 'wrong' }
  await ctx.engine.atomic(ctx, async (tx) => {
    if (step !== null)
      await tx.db
        .updateTable('console_user')
        .set({ totp_step: step })
        .where('id', '=', user.id)
        .execute()
    await forgetTries(tx, name)
  })
  return { outcome: 'right', user }
}

async function failuresOf(
  { db }: Pick<AccountsCtx, 'db'>,
  name: string,
): Promise<{ failures: number; waitUntil: number }> {
  const row = await db
    .selectFrom('console_try')
    .select(['failures', 'wait_until'])
    .where(caseAside('name'), '=', folded(name))
    .executeTakeFirst()
  return { failures: row?.failures ?? 0, waitUntil: row?.wait_until ?? 0 }
}

async function countFailure(ctx: AccountsCtx, name: string, failures: number): Promise<void> {
  const wait =
    failures <= FREE ? 0 : Math.min(FIRST_WAIT * 2 ** (failures - FREE - 1), LONGEST_WAIT)
  await ctx.engine.atomic(ctx, async ({ db, now }) => {
    const { count } = await db
      .selectFrom('console_try')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    if (count >= NAMES) await db.deleteFrom('console_try').where('wait_until', '<', now()).execute()
    await db
      .replaceInto('console_try')
      .values({ name, failures, wait_until: now() + wait })
      .execute()
  })
}

const actingAs = (ctx: AccountsCtx, { name }: Pick<User, 'name'>): AccountsCtx => ({
  ...ctx,
  actor: `console:${name}`,
})

async function fresh(tx: AccountsCtx, { id }: User): Promise<User> {
  return tx.db.selectFrom('console_user').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

function newPassword(ctx: AccountsCtx, { name }: User, password: string): Promise<string> {
  checkPassword(password, name)
  return hashPassword(password, ctx.random)
}

async function putPassword(tx: AccountsCtx, user: User, kept: string): Promise<void> {
  await tx.db
    .updateTable('console_user')
    .set({ password: kept })
    .where('id', '=', user.id)
    .execute()
  await forgetTries(tx, user.name)
  await audit(tx, 'console.password', { name: user.name })
}

/** Sets somebody's own password; their other sign-ins end. Throws 400 for a text that is none. */
export async function changePassword(
  ctx: AccountsCtx,
  session: Session,
  password: string,
): Promise<void> {
  const kept = await newPassword(ctx, session.user, password)
  await ctx.engine.atomic(ctx, async (tx) => {
    await putPassword(tx, session.user, kept)
    await tx.db
      .deleteFrom('console_session')
      .where('user_id', '=', session.user.id)
      .where('id', '<>', session.id)
      .execute()
  })
}

/** A secret for a second factor; it holds once a code of it is given. */
export function proposeTotp(
  ctx: AccountsCtx,
  { name }: Session,
): { secret: string; address: string } {
  const secret = newTotpSecret(ctx.random)
  return { secret, address: totpAddress(secret, name) }
}

/** Turns the second factor on. Throws 400 where the code is none of the secret's. */
export async function enableTotp(
  ctx: AccountsCtx,
  { user }: Session,
  { secret, code }: { secret: string; code: string },
): Promise<void> {
  if (!/^[A-Z2-7]{32}$/.test(secret)) throw invalid('secret', 'is not one that was proposed')
  const step = stepOfCode(secret, code, { now: ctx.now(), after: 0 })
  if (step === null)
    throw invalid('code', 'is not the code of now: look at the clock of the telephone')
  await ctx.engine.atomic(ctx, async (tx) => {
    await tx.db
      .updateTable('console_user')
      .set({ totp: tx.secrets.of(OPERATOR).seal(secret, totpPlace(user)), totp_step: step })
      .where('id', '=', user.id)
      .execute()
    await audit(tx, 'console.totp', { name: user.name, on: true })
  })
}

/** Turns it off. */
export async function disableTotp(ctx: AccountsCtx, { user }: Session): Promise<void> {
  await ctx.engine.atomic(ctx, async (tx) => {
    await tx.db
      .updateTable('console_user')
      .set({ totp: null, totp_step: 0 })
      .where('id', '=', user.id)
      .execute()
    await audit(tx, 'console.totp', { name: user.name, on: false })
  })
}
