import { TIER_NAMES } from '../../lib/accounts/tiers.js'
import type { Tier } from '../../lib/accounts/tiers.js'
import { list, optional, required } from '../command.js'
import type { Command, Invocation } from '../command.js'
import { withApp } from '../with-app.js'

const CREATE_SUBSCRIBER = 'quartermaster subscribers create --name "Main Street Guns" --email owner@shop.example'
const CREATE_KEY = 'quartermaster keys create --subscriber "Main Street Guns" --name "web shop" --tier standard --ip 203.0.113.7'

/** Shows a new key; the only time that anybody sees it. */
function showKey({ out }: Invocation, { id, key }: { id: string; key: string }): void {
  out.line(`Key ${id}. This is the only time that it is shown:\n\n  ${key}\n`)
  out.result({ key, id })
}

function setStatus(verb: string, status: 'enabled' | 'disabled' | 'cancelled', summary: string): Command {
  return {
    name: `keys ${verb}`, summary, positionals: ['<ID>'],
    example: `quartermaster keys ${verb} 9f2c41d07ab3`,
    run: ({ dir, args: [id], out, dryRun }) => withApp(dir, async (app) => {
      if (!dryRun) await app.operator.keys.setStatus(id!, status)
      out.line(`Key ${id} ${dryRun ? 'would be' : 'is'} ${status}.`)
      out.result({ id, status, dry_run: dryRun })
    }),
  }
}

function changeList(verb: 'allow' | 'deny', summary: string): Command {
  return {
    name: `keys ${verb}`, summary, positionals: ['<ID>'],
    options: { ip: { type: 'string', multiple: true } },
    help: { ip: 'IPv4 or IPv6 address or CIDR range; may be repeated' },
    example: `quartermaster keys ${verb} 9f2c41d07ab3 --ip 203.0.113.7`,
    run: ({ dir, args: [id], values, out, dryRun }) => withApp(dir, async (app) => {
      const ips = list(values, 'ip')
      if (ips.length === 0) required(values, 'ip', `quartermaster keys ${verb} ${id} --ip 203.0.113.7`)
      if (dryRun) return out.line(`Would ${verb} ${ips.join(', ')}.`)
      const allowlist = await app.operator.keys.allowlist(id!, { [verb]: ips })
      out.line(`Allowlist of key ${id}: ${allowlist.join(', ') || 'empty, so the key answers 403 ip_whitelist_required'}`)
      out.result({ id, allowlist })
    }),
  }
}

export const accountCommands: Command[] = [
  {
    name: 'subscribers create', summary: 'Register a shop',
    options: { name: { type: 'string' }, email: { type: 'string' } },
    help: { name: 'the shop\'s name, unique', email: 'its contact address' },
    example: CREATE_SUBSCRIBER,
    run: ({ dir, values, out, dryRun }) => withApp(dir, async (app) => {
      const input = { name: required(values, 'name', CREATE_SUBSCRIBER), email: required(values, 'email', CREATE_SUBSCRIBER) }
      if (dryRun) return out.line(`Would register ${input.name}.`)
      const subscriber = await app.operator.subscribers.create(input)
      out.line(`Subscriber ${subscriber.id}: ${subscriber.name}`)
      out.result(subscriber)
    }),
  },
  {
    name: 'subscribers list', summary: 'All shops',
    example: 'quartermaster subscribers list',
    run: ({ dir, out }) => withApp(dir, async (app) => {
      const subscribers = await app.operator.subscribers.list()
      out.table(subscribers)
      out.result({ subscribers })
    }),
  },
  {
    name: 'keys create', summary: 'Issue an API key; it is shown once',
    options: { subscriber: { type: 'string' }, name: { type: 'string' }, email: { type: 'string' }, tier: { type: 'string' }, ip: { type: 'string', multiple: true } },
    help: {
      subscriber: 'name or id of the shop', name: 'what the key is for', email: 'contact, the shop\'s by default',
      tier: `${TIER_NAMES.join(', ')}; standard by default`, ip: 'registered server address or CIDR range; may be repeated',
    },
    example: CREATE_KEY,
    run: (invocation) => withApp(invocation.dir, async (app) => {
      const { values, out, dryRun } = invocation
      const input = {
        subscriber: required(values, 'subscriber', CREATE_KEY), name: required(values, 'name', CREATE_KEY),
        tier: (optional(values, 'tier') ?? 'standard') as Tier, ips: list(values, 'ip'),
        ...optional(values, 'email') !== undefined && { email: optional(values, 'email')! },
      }
      if (dryRun) return out.line(`Would issue a ${input.tier} key for ${input.subscriber}.`)
      showKey(invocation, await app.operator.keys.create(input))
    }),
  },
  {
    name: 'keys list', summary: 'Keys with their tier, status and allowlist; never their text',
    options: { subscriber: { type: 'string' } },
    help: { subscriber: 'only this shop\'s' },
    example: 'quartermaster keys list --subscriber "Main Street Guns"',
    run: ({ dir, values, out }) => withApp(dir, async (app) => {
      const keys = await app.operator.keys.list(optional(values, 'subscriber'))
      out.table(keys)
      out.result({ keys })
    }),
  },
  changeList('allow', 'Register server addresses of a key'),
  changeList('deny', 'Remove server addresses of a key'),
  setStatus('disable', 'disabled', 'Refuse a key until it is enabled again'),
  setStatus('enable', 'enabled', 'Let a disabled key in again'),
  setStatus('cancel', 'cancelled', 'End a key for good'),
  {
    name: 'keys rotate', summary: 'Give a key a new text; the old one stops at once', positionals: ['<ID>'],
    example: 'quartermaster keys rotate 9f2c41d07ab3',
    run: (invocation) => withApp(invocation.dir, async (app) => {
      const id = invocation.args[0]!
      if (invocation.dryRun) return invocation.out.line(`Would rotate key ${id}.`)
      showKey(invocation, await app.operator.keys.rotate(id))
    }),
  },
]
