/** The operator's operations on who may use the console. */
import * as z from 'zod'
import type { AccountsCtx } from '../accounts/ctx.js'
import { operationsOf } from '../core/endpoint/operation.js'
import { Nothing, Time, nothing } from '../core/endpoint/operation-shapes.js'
import { makeLink, resetUser } from './links.js'
import { endSession, listSessions } from './sessions.js'
import { ROLES, listUsers, removeUser } from './users.js'

const operation = operationsOf<AccountsCtx>()

const Name = z.string().min(1).describe('what the person is called')
const Link = z
  .object({
    name: z.string(),
    role: z.enum(ROLES),
    token: z.string().describe('The only time that it is told; the link is /#link=TOKEN'),
    expires_at: Time,
  })
  .meta({ component: 'ConsoleLink', about: 'A link that works once, for fifteen minutes' })

export const consoleOperations = [
  operation('console.users', {
    summary: 'Who may use the console',
    effect: 'reads',
    input: {},
    result: z.array(
      z.object({
        name: z.string(),
        role: z.enum(ROLES),
        password_set: z.boolean(),
        totp: z.boolean(),
        created_at: Time,
        sessions: z.int().describe('Sign-ins that hold'),
      }),
    ),
    run: (ctx) => listUsers(ctx),
  }),
  operation('console.link', {
    summary: 'A link with which somebody sets a password; it works once, for fifteen minutes',
    effect: 'writes',
    asksAgain: true,
    input: {
      name: Name,
      role: z
        .enum(ROLES)
        .default('operator')
        .describe('operator, or viewer, who changes nothing; of somebody new'),
    },
    result: Link,
    run: makeLink,
  }),
  operation('console.reset', {
    summary: 'Take away password, second factor and sign-ins of somebody, and make a link',
    effect: 'writes',
    asksAgain: true,
    input: { name: Name },
    result: Link,
    errors: ['not_found'],
    run: (ctx, { name }) => resetUser(ctx, name),
  }),
  operation('console.remove', {
    summary: 'Take somebody away, with all sign-ins',
    effect: 'writes',
    asksAgain: true,
    input: { name: Name },
    result: Nothing,
    errors: ['not_found'],
    run: (ctx, { name }) => nothing(removeUser(ctx, name)),
  }),
  operation('console.sessions', {
    summary: 'The sign-ins that hold, the newest first',
    effect: 'reads',
    input: {},
    result: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        role: z.enum(ROLES),
        since: Time,
        expires_at: Time,
        last_seen: Time.describe('To a minute'),
        address: z.string(),
        agent: z.string().describe('What the browser calls itself'),
      }),
    ),
    run: (ctx) => listSessions(ctx),
  }),
  operation('console.revoke', {
    summary: 'End a sign-in at once',
    effect: 'writes',
    input: { id: z.string().min(1).describe('the id of the sign-in') },
    result: Nothing,
    errors: ['not_found'],
    run: (ctx, { id }) => nothing(endSession(ctx, id)),
  }),
] as const
