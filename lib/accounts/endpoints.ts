import { endpointsOf } from '../core/endpoint/endpoint.js'
import type { AccountsCall } from './ctx.js'
import { usageOf } from './keys.js'
import { Account, Ping, Usage } from './shapes.js'
import { TIERS } from './tiers.js'

const endpoint = endpointsOf<AccountsCall>()

/**
 * Who calls. A library caller without a key has the limits of nobody; it is shown as `library`,
 * enterprise.
 */
function callerOf(ctx: AccountsCall) {
  const tier = ctx.key?.tier ?? 'enterprise'
  return { key_name: ctx.key?.name ?? 'library', tier, limits: { ...TIERS[tier] } }
}

export const ping = endpoint('ping', {
  summary: 'Check a key',
  description: 'Answers when the key, its allowlist and its limits let the call in.',
  result: Ping,
  errors: [],
  example: { result: { pong: true, key_name: 'demo key', tier: 'enterprise' } },
  run: async (ctx) => {
    const { key_name, tier } = callerOf(ctx)
    return { pong: true as const, key_name, tier }
  },
})

export const account = endpoint('account', {
  summary: 'Key, tier, IP allowlist, limits and distributors',
  description:
    'Keys and allowlists are changed by the operator; a change of the allowlist holds within a second.',
  result: Account,
  errors: [],
  example: {
    result: {
      key_name: 'demo key',
      contact_email: 'owner@demo-shop.example',
      tier: 'enterprise',
      ip_whitelist: ['127.0.0.1', '::1'],
      limits: { per_minute: 1_000, per_day: 1_000_000 },
      configured_distributors: ['RSR Group', 'Lipseys', 'Chattanooga Shooting Supplies'],
      active_distributors: ['RSR Group', 'Lipseys', 'Chattanooga Shooting Supplies'],
    },
  },
  run: async (ctx) => {
    const { document } = await ctx.configurations.of(ctx.subscriber)
    const entries = Object.entries(document.distributors)
    const { key_name, tier, limits } = callerOf(ctx)
    return {
      key_name,
      contact_email: ctx.key?.contactEmail ?? ctx.subscriber.email,
      tier,
      ip_whitelist: [...(ctx.key?.allowlist ?? [])],
      limits,
      configured_distributors: entries.map(([name]) => name),
      active_distributors: entries.filter(([, entry]) => entry.active).map(([name]) => name),
    }
  },
})

export const usage = endpoint('usage', {
  summary: 'Request counts of this key',
  description:
    'Every call with a valid key from an allowed address counts, this one too; days and months are those of UTC.',
  result: Usage,
  errors: [],
  example: {
    result: {
      tier: 'enterprise',
      limits: { per_minute: 1_000, per_day: 1_000_000 },
      today: 3,
      this_month: 3,
      by_endpoint_today: [
        { endpoint: 'GET /v1/account', requests: 1 },
        { endpoint: 'GET /v1/ping', requests: 1 },
        { endpoint: 'GET /v1/usage', requests: 1 },
      ],
      by_day_last_7: [
        ...['15', '16', '17', '18', '19', '20'].map((day) => ({
          day: `2026-11-${day}`,
          requests: 0,
        })),
        { day: '2026-11-21', requests: 3 },
      ],
    },
  },
  run: async (ctx) => usageOf(ctx, ctx.key?.id ?? '', callerOf(ctx).tier),
})
