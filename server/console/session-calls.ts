/** The calls about signing in: `/operator/session/...`. */
import * as z from 'zod'
import { checkPart, refuseFaults } from '../../lib/core/endpoint/endpoint.js'
import { SECOND } from '../../lib/core/clock.js'
import type { Fault } from '../../lib/core/errors.js'
import type { AccountsCtx } from '../../lib/accounts/ctx.js'
import { csrfOf, endSession, listSessions } from '../../lib/console/sessions.js'
import type { From, Session } from '../../lib/console/sessions.js'
import {
  changePassword,
  disableTotp,
  enableTotp,
  openSignIn,
  proposeTotp,
} from '../../lib/console/sign-in.js'
import type { SignedIn } from '../../lib/console/sign-in.js'
import { Refusal } from './refusals.js'

const text = z.string().max(1_000)

const StartInput = z.strictObject({
  token: text.optional(),
  name: text.optional(),
  password: text.optional(),
  totp: text.optional(),
})
const PasswordInput = z.strictObject({ password: text })
const TotpInput = z.strictObject({ secret: text, code: text })
const RevokeInput = z.strictObject({ id: text })

/** What a page knows of its sign-in. */
export interface SessionState {
  signed_in: boolean
  name: string | null
  role: 'operator' | 'viewer' | null
  /** Sent back as x-csrf with each call. */
  csrf: string | null
  password_set: boolean
  totp: boolean
  expires_at: string | null
  /** Until then nothing asks for the password again. */
  confirmed_until: string | null
}

export interface SessionCalls {
  state(session: Session | null, token: string | null): SessionState
  /** Signs in; throws a Refusal for who may not. */
  start(input: unknown, from: From): Promise<{ token: string; state: SessionState }>
  /** A call of somebody who has signed in; undefined for one that there is not. */
  call(name: string, session: Session, input: unknown): Promise<unknown> | undefined
}

export function openSessionCalls(ctx: AccountsCtx): SessionCalls {
  const signIn = openSignIn(ctx)
  const acting = ({ name }: Session): AccountsCtx => ({ ...ctx, actor: `console:${name}` })

  const calls: Record<string, (session: Session, input: unknown) => Promise<unknown>> = {
    end: (session) => endSession(acting(session), session.id),
    async confirm(session, input) {
      const outcome = await signIn.confirm(session, checked(PasswordInput, input).password)
      if (typeof outcome === 'object') throw waiting(outcome.ms)
      if (outcome !== 'signed_in') throw new Refusal('wrong_password')
      return null
    },
    password(session, input) {
      // The first one replaces nothing that somebody else could know.
      if (session.user.password !== null) refuseUnconfirmed(ctx, session)
      return changePassword(acting(session), session, checked(PasswordInput, input).password)
    },
    list: () => listSessions(ctx),
    revoke: (session, input) => endSession(acting(session), checked(RevokeInput, input).id),
    async 'totp/propose'(session) {
      refuseUnconfirmed(ctx, session)
      return proposeTotp(ctx, session)
    },
    async 'totp/enable'(session, input) {
      refuseUnconfirmed(ctx, session)
      return enableTotp(acting(session), session, checked(TotpInput, input))
    },
    async 'totp/disable'(session) {
      refuseUnconfirmed(ctx, session)
      return disableTotp(acting(session), session)
    },
  }

  return {
    state: stateOf,
    async start(input, from) {
      const { token, password, ...given } = checked(StartInput, input)
      const signed =
        token === undefined
          ? await signIn.byPassword({ ...given, password: password ?? '' }, from)
          : await signIn.byLink(token, password, from)
      if (signed.outcome !== 'signed_in') throw refusalOf(signed)
      return { token: signed.token, state: stateOf(signed.session, signed.token) }
    },
    call: (name, session, input) =>
      Object.hasOwn(calls, name)
        ? Promise.resolve().then(() => calls[name]!(session, input))
        : undefined,
  }
}

function stateOf(session: Session | null, token: string | null): SessionState {
  const iso = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString())
  return {
    signed_in: session !== null,
    name: session?.name ?? null,
    role: session?.role ?? null,
    csrf: session && token !== null ? csrfOf(token) : null,
    password_set: typeof session?.user.password === 'string',
    totp: typeof session?.user.totp === 'string',
    expires_at: iso(session?.expiresAt),
    confirmed_until: iso(session?.confirmedUntil),
  }
}

/** Throws where the password was not given within the last five minutes. */
export function refuseUnconfirmed(
  { now }: Pick<AccountsCtx, 'now'>,
  { confirmedUntil, user }: Session,
): void {
  if (confirmedUntil <= now())
    throw new Refusal('confirm_password', { details: { password_set: user.password !== null } })
}

function refusalOf(signed: Exclude<SignedIn, { outcome: 'signed_in' }>): Refusal {
  switch (signed.outcome) {
    case 'no_link':
      return new Refusal('link_invalid')
    case 'set_password':
      return new Refusal('set_password', { details: { name: signed.name } })
    case 'totp':
      return new Refusal('code_needed')
    case 'wait':
      return waiting(signed.ms)
    case 'wrong':
      return new Refusal('wrong_password')
  }
}

const waiting = (ms: number) =>
  new Refusal('too_many_tries', { retryAfter: Math.max(1, Math.ceil(ms / SECOND)) })

function checked<S extends z.ZodType>(shape: S, input: unknown): z.output<S> {
  const faults: Fault[] = []
  const value = checkPart(shape, input, faults)
  refuseFaults(faults)
  return value
}
