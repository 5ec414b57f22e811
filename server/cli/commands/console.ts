/** Who may use the console. */
import { consoleAddress, linkAddress } from '../../../lib/console/address.js'
import { makeLink, resetUser } from '../../../lib/console/links.js'
import type { Link } from '../../../lib/console/links.js'
import { consoleOperations } from '../../../lib/console/operations.js'
import { endSession, listSessions } from '../../../lib/console/sessions.js'
import { FIRST, ROLES, listUsers, removeUser } from '../../../lib/console/users.js'
import type { Role } from '../../../lib/console/users.js'
import type { App } from '../../../lib/app/open.js'
import { UsageError, optional } from '../command.js'
import type { Command, Invocation } from '../command.js'
import { carriesOut } from '../operation-help.js'
import { perform, withApp } from '../with-app.js'

async function showLink(app: App, { out, dryRun }: Invocation, link: Link): Promise<void> {
  const { name, role, token, expires_at } = link
  if (dryRun) {
    out.line(`A link for ${name} (${role}) would be made.`)
    return out.result({ name, role, dry_run: true })
  }
  const url = linkAddress(await consoleAddress(app.ctx), token)
  out.line(`For ${name} (${role}), once, within fifteen minutes:\n\n  ${url}\n`)
  out.result({ name, role, url, expires_at })
}

async function link(invocation: Invocation): Promise<void> {
  const { dir, values, dryRun } = invocation
  const role = (optional(values, 'role') ?? 'operator') as Role
  if (!ROLES.includes(role)) throw new UsageError(`--role must be ${ROLES.join(' or ')}`)
  const name = optional(values, 'name') ?? FIRST
  await withApp(dir, async (app) =>
    showLink(app, invocation, await perform(app, dryRun, (ctx) => makeLink(ctx, { name, role }))),
  )
}

async function reset(invocation: Invocation): Promise<void> {
  const { dir, values, dryRun } = invocation
  const name = optional(values, 'name') ?? FIRST
  await withApp(dir, async (app) =>
    showLink(app, invocation, await perform(app, dryRun, (ctx) => resetUser(ctx, name))),
  )
}

async function users({ dir, values, out, dryRun }: Invocation): Promise<void> {
  const gone = optional(values, 'remove')
  await withApp(dir, async (app) => {
    if (gone !== undefined) await perform(app, dryRun, (ctx) => removeUser(ctx, gone))
    const all = await listUsers(app.ctx)
    out.table(all.map((one) => ({ ...one })))
    out.result({ users: all, ...(gone !== undefined && { removed: gone, dry_run: dryRun }) })
  })
}

async function sessions({ dir, values, out, dryRun }: Invocation): Promise<void> {
  const ended = optional(values, 'revoke')
  await withApp(dir, async (app) => {
    if (ended !== undefined) await perform(app, dryRun, (ctx) => endSession(ctx, ended))
    const all = await listSessions(app.ctx)
    out.table(all.map((one) => ({ ...one })))
    out.result({ sessions: all, ...(ended !== undefined && { revoked: ended, dry_run: dryRun }) })
  })
}

const NAME = { name: { type: 'string' } } as const
const FIRST_BY_DEFAULT = { name: `${FIRST} by default` }

export const consoleCommands: Command[] = [
  carriesOut(consoleOperations, 'console.link', {
    name: 'console link',
    effect: 'writes',
    options: { ...NAME, role: { type: 'string' } },
    adds: FIRST_BY_DEFAULT,
    example: 'quartermaster console link --name pat --role viewer',
    run: link,
  }),
  carriesOut(consoleOperations, 'console.reset', {
    name: 'console reset',
    effect: 'writes',
    options: NAME,
    adds: FIRST_BY_DEFAULT,
    example: 'quartermaster console reset --name pat',
    run: reset,
  }),
  carriesOut(consoleOperations, 'console.users', {
    name: 'console users',
    effect: 'writes',
    options: { remove: { type: 'string' } },
    acts: { remove: 'console.remove' },
    members: { remove: 'name' },
    example: 'quartermaster console users',
    run: users,
  }),
  carriesOut(consoleOperations, 'console.sessions', {
    name: 'console sessions',
    effect: 'writes',
    options: { revoke: { type: 'string' } },
    acts: { revoke: 'console.revoke' },
    members: { revoke: 'id' },
    example: 'quartermaster console sessions --revoke 9f2c41d07ab3',
    run: sessions,
  }),
]
