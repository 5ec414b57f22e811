import { changeAllowlist, createKey, rotateKey, setKeyStatus } from '../../../lib/accounts/keys.js'
import { createSubscriber } from '../../../lib/accounts/subscribers.js'
import type { Tier } from '../../../lib/db/tables/accounts.js'
import { argument, UsageError, list, optional, required } from '../command.js'
import type { Command, Invocation } from '../command.js'
import { perform, withApp } from '../with-app.js'
import { carriesOut } from '../operation-help.js'
import { accountOperations } from '../../../lib/accounts/operations.js'

const CREATE_SUBSCRIBER =
  'quartermaster subscribers create --name "Main Street Guns" --email owner@shop.example'
const CREATE_KEY =
  'quartermaster keys create --subscriber "Main Street Guns" --name "web shop" --tier ' +
  'standard --ip 203.0.113.7'

/** Shows a new key; the only time that anybody sees it. */
function showKey({ out }: Invocation, { id, key }: { id: string; key: string }): void {
  out.line(`Key ${id}. This is the only time that it is shown:\n\n  ${key}\n`)
  out.result({ key, id })
}

function setStatus(verb: string, status: 'enabled' | 'disabled' | 'cancelled'): Command {
  return carriesOut(accountOperations, 'keys.setStatus', {
    part: status,
    name: `keys ${verb}`,
    effect: 'writes',
    positionals: ['<ID>'],
    example: `quartermaster keys ${verb} 9f2c41d07ab3`,
    run: ({ dir, args, out, dryRun }) =>
      withApp(dir, async (app) => {
        const id = argument(args, 0)
        await perform(app, dryRun, (ctx) => setKeyStatus(ctx, id, status))
        out.line(`Key ${id} ${dryRun ? 'would be' : 'is'} ${status}.`)
        out.result({ id, status, dry_run: dryRun })
      }),
  })
}

function changeList(verb: 'allow' | 'deny'): Command {
  const example = `quartermaster keys ${verb} 9f2c41d07ab3 --ip 203.0.113.7`
  return carriesOut(accountOperations, 'keys.allowlist', {
    part: verb,
    name: `keys ${verb}`,
    effect: 'writes',
    positionals: ['<ID>'],
    options: { ip: { type: 'string', multiple: true } },
    members: { ip: verb },
    example,
    run: async ({ dir, args, values, out, dryRun }) => {
      const id = argument(args, 0)
      const ips = list(values, 'ip')
      if (ips.length === 0) throw new UsageError(`--ip is missing. For example: ${example}`)
      await withApp(dir, async (app) => {
        const allowlist = await perform(app, dryRun, (ctx) =>
          changeAllowlist(ctx, id, { [verb]: ips }),
        )
        out.line(
          `Allowlist of key ${id}${dryRun ? ' would be' : ''}: ` +
            `${allowlist.join(', ') || 'empty, so the key answers 403 ip_whitelist_required'}`,
        )
        out.result({ id, allowlist, ...(dryRun && { dry_run: true }) })
      })
    },
  })
}

/** A key without an address answers everybody with 403, which looks like a key that does not work. */
const noAddressYet = (id: string) =>
  'No address may use it yet: every call is 403 ip_whitelist_required. Allow the address of the ' +
  `server that will call:\n  quartermaster keys allow ${id} --ip 203.0.113.7`

async function createShop({ dir, values, out, dryRun }: Invocation): Promise<void> {
  const input = {
    name: required(values, 'name', CREATE_SUBSCRIBER),
    email: required(values, 'email', CREATE_SUBSCRIBER),
  }
  await withApp(dir, async (app) => {
    const { id, name, email } = await perform(app, dryRun, (ctx) => createSubscriber(ctx, input))
    out.line(dryRun ? `${name} would be registered.` : `Subscriber ${id}: ${name}`)
    // The real run draws another id.
    out.result(dryRun ? { name, email, dry_run: true } : { id, name, email })
  })
}

async function issueKey(invocation: Invocation): Promise<void> {
  const { values, out, dryRun } = invocation
  const email = optional(values, 'email')
  const input = {
    subscriber: required(values, 'subscriber', CREATE_KEY),
    name: required(values, 'name', CREATE_KEY),
    tier: (optional(values, 'tier') ?? 'standard') as Tier,
    ips: list(values, 'ip'),
    ...(email !== undefined && { email }),
  }
  await withApp(invocation.dir, async (app) => {
    const made = await perform(app, dryRun, (ctx) => createKey(ctx, input))
    if (!dryRun) {
      showKey(invocation, made)
      if (input.ips.length === 0) out.line(noAddressYet(made.id))
      return
    }
    out.line(`A ${input.tier} key "${input.name}" would be issued for ${input.subscriber}.`)
    if (input.ips.length === 0) out.line('No address could use it yet: give one with --ip.')
    out.result({ subscriber: input.subscriber, name: input.name, tier: input.tier, dry_run: true })
  })
}

export const accountCommands: Command[] = [
  carriesOut(accountOperations, 'subscribers.create', {
    name: 'subscribers create',
    effect: 'writes',
    options: { name: { type: 'string' }, email: { type: 'string' } },
    example: CREATE_SUBSCRIBER,
    run: createShop,
  }),
  carriesOut(accountOperations, 'subscribers.list', {
    name: 'subscribers list',
    effect: 'reads',
    example: 'quartermaster subscribers list',
    run: ({ dir, out }) =>
      withApp(dir, async (app) => {
        const subscribers = await app.operator.subscribers.list()
        out.table(subscribers)
        out.result({ subscribers })
      }),
  }),
  carriesOut(accountOperations, 'keys.create', {
    name: 'keys create',
    effect: 'writes',
    options: {
      subscriber: { type: 'string' },
      name: { type: 'string' },
      email: { type: 'string' },
      tier: { type: 'string' },
      ip: { type: 'string', multiple: true },
    },
    members: { ip: 'ips' },
    example: CREATE_KEY,
    run: issueKey,
  }),
  carriesOut(accountOperations, 'keys.list', {
    name: 'keys list',
    effect: 'reads',
    options: { subscriber: { type: 'string' } },
    example: 'quartermaster keys list --subscriber "Main Street Guns"',
    run: ({ dir, values, out }) =>
      withApp(dir, async (app) => {
        const keys = await app.operator.keys.list(optional(values, 'subscriber'))
        out.table(keys)
        out.result({ keys })
      }),
  }),
  changeList('allow'),
  changeList('deny'),
  setStatus('disable', 'disabled'),
  setStatus('enable', 'enabled'),
  setStatus('cancel', 'cancelled'),
  carriesOut(accountOperations, 'keys.rotate', {
    name: 'keys rotate',
    effect: 'writes',
    positionals: ['<ID>'],
    example: 'quartermaster keys rotate 9f2c41d07ab3',
    run: (invocation) =>
      withApp(invocation.dir, async (app) => {
        const { args, out, dryRun } = invocation
        const id = argument(args, 0)
        const made = await perform(app, dryRun, (ctx) => rotateKey(ctx, id))
        if (!dryRun) return showKey(invocation, made)
        out.line(`Key ${id} would get a new text.`)
        out.result({ id, dry_run: true })
      }),
  }),
]
