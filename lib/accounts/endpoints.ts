import { dayOf } from '../core/clock.js'
import { endpoint } from '../core/endpoint.js'
import type { Ctx } from '../core/ctx.js'
import { Account, Ping, Usage } from './shapes.js'
import { TIERS } from './tiers.js'

/** Who calls. A library caller without a key has the limits of nobody; it is shown as `library`, enterprise. */
function callerOf(ctx: Ctx) {
  const tier = ctx.key?.tier ?? 'enterprise'
  return { key_name: ctx.key?.name ?? 'library', tier, limits: { ...TIERS[tier] } }
}

export const ping = endpoint('ping', {
  summary: 'Check a key',
  result: Ping,
  errors: [],
  example: { result: { pong: true, key_name: 'web shop', tier: 'standard' } },
  run: async (ctx) => {
    const { key_name, tier } = callerOf(ctx)
    return { pong: true as const, key_name, tier }
  },
})

export const account = endpoint('account', {
  summary: 'Key, tier, IP allowlist, limits and distributors',
  result: Account,
  errors: [],
  example: {
    result: {
      key_name: 'web shop', contact_email: 'owner@shop.example', tier: 'standard', ip_whitelist: ['203.0.113.7'],
      limits: { per_minute: 60, per_day: 10_000 }, configured_distributors: ['RSR Group', 'Lipseys'], active_distributors: ['RSR Group'],
    },
  },
  run: async (ctx) => {
    const entries = Object.entries(ctx.configurations.of(ctx.subscriber).document.distributors)
    const { key_name, tier, limits } = callerOf(ctx)
    return {
      key_name,
      contact_email: ctx.key?.contactEmail ?? ctx.subscriber.email,
      tier,
      ip_whitelist: [...ctx.key?.allowlist ?? []],
      limits,
      configured_distributors: entries.map(([name]) => name),
      active_distributors: entries.filter(([, entry]) => entry.active).map(([name]) => name),
    }
  },
})

export const usage = endpoint('usage', {
  summary: 'Request counts of this key',
  result: Usage,
  errors: [],
  example: {
    result: {
      tier: 'standard', limits: { per_minute: 60, per_day: 10_000 }, today: 42, this_month: 1_204,
      by_endpoint_today: [{ endpoint: 'GET /v1/products/{upc}', requests: 40 }, { endpoint: 'GET /v1/ping', requests: 2 }],
      by_day_last_7: [{ day: '2026-11-20', requests: 0 }, { day: '2026-11-21', requests: 42 }],
    },
  },
  run: async (ctx) => {
    const { tier, limits } = callerOf(ctx)
    const counts = ctx.limits.usage(ctx.key?.id ?? '')
    return {
      tier, limits,
      today: counts.today,
      this_month: counts.thisMonth,
      by_endpoint_today: counts.byEndpointToday,
      by_day_last_7: counts.byDayLast7.map(({ day, requests }) => ({ day: dayOf(day), requests })),
    }
  },
})
